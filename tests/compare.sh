#!/bin/bash
# inasim compare on real runs: what stands in the table is what the result files
# say, identical runs have ratio 1 everywhere, exit codes, and what it refuses.
# The numbers of intervals are tested in unit/test_compare.c and test_inference.c.
# shellcheck disable=SC2016 # the single quotes hold jq programs
source "${SRC:?source directory}/tests/lib/shell.sh"
in_a_folder_of_its_own

cat >base.json <<'JSON'
{
  "name": "small", "stop": { "warmup": "1ms" },
  "topology": { "kind": "star", "hosts": 16 },
  "jobs": [ { "name": "train", "workers": 4, "iterations": 25, "all_reduce": "ring", "arrival": { "at": "1ms" },
              "model": { "layers": [ { "gradient": "500KB", "forward": "100us" } ] } } ],
  "flows": [ { "pairs": "uniform", "size": { "cdf": "websearch" }, "arrival": { "poisson_load": 0.4 },
               "stop": "jobs_done" } ]
}
JSON
# run OUT ARGUMENT...
run() {
	local out=$1 code=0
	shift
	"$INASIM" run --quiet base.json --out "$out" "$@" 2>err || code=$?
	((code == 0 || code == 4)) || fail "run $*: $code: $(cat err)"
}
run ring
run again
run ina --set /jobs/0/all_reduce=switchml
run late --set /stop/after=3ms
run seed7 --seed 7
run quiet --set '/flows=[]'

# --- a run and itself ---

ends 0 compare ring again --tolerance 0
silent err
says out '^A  ring: small, seed 1, all_done, jobs 1/1, flows [0-9]+/[0-9]+$'
says out 'B  again: .* \(same digest as A\)$'
says out '^B ran the same scenario as A$'
says out '^  B .* 1 +25 in both$'
ends 0 compare ring again --json
holds '[.rows[] | select(.basis == "common") | .ratio | .value == 1 and .low == null] | length > 2 and all' out
holds '[.rows[] | select(.excludes_1)] == []' out
holds '.runs[1].differences == []' out

# --- a scheme that ran as another ---

run below --set /jobs/0/all_reduce=panama
ends 0 compare ring below
says out '^   warning: not as configured: train \(panama\): 1 ran as ring$'
ends 0 compare ring below --json
holds '.runs | map(.warnings) == [[], ["not as configured: train (panama): 1 ran as ring"]]' out
echo '{ "name": "below", "base": "base.json", "set": { "/stop/when": "time", "/stop/after": "3ms" },
	"axes": [ { "name": "scheme", "pointer": "/jobs/0/all_reduce", "values": [ "ring", "panama" ] } ] }' >below.json
ends 0 sweep run below.json 0-1 --out below-points
ends 0 sweep collect below.json --out below-points
ends 0 compare below-points --by scheme --metric flows.fct_s.p50
says out '^   warning: 1 of 2 points: not as configured: train \(panama\): 1 ran as ring$'

# --- another scheme, same random numbers ---

ends 0 compare ring ina
says out '^B differs from A in$'
says out '^  /jobs/0/all_reduce: "ring" -> "switchml"$'
checks=$((checks + 1))
awk 'length > 100 { exit 1 }' out || fail "lines of more than 100 columns"
ends 0 compare ring ina --latex --metric jobs.iteration_s.mean --metric flows.fct_s.p50
says out '^% *\\usepackage\{booktabs\}$'
says out '^\\multicolumn\{5\}\{@\{\}l\}\{Iteration time, mean \(ms\)\} \\\\$'
says out '^ina & [0-9.]+ & [0-9.]+ & [0-9.]+ & 25 in both \\\\$' # all flows finished: no column for that
says out '^% ratio: to ring\.'
checks=$((checks + 1))
sed '/^\\begin{tabular}/,/^\\end{tabular}/d' out | grep -v '^%' && fail "not all is table or comment"
checks=$((checks + 1))
[[ $(grep -c '&' out) == $(awk -F' & ' '/&/ { rows[NF]++ } END { for (n in rows) print rows[n] }' out) ]] ||
	fail "rows of unlike lengths: $(cat out)"
ends 0 compare ring ina --json
for run in ring ina; do
	label=$([[ $run == ring ]] && echo A || echo B)
	for metric in jobs.jct_s.mean jobs.iteration_s.mean flows.fct_s.p50 jobs.finished; do
		want=$(jq ".${metric}" "$run/summary.json")
		holds '.rows[] | select(.metric == $m and .of.run == $l) | .value.value == $w' out \
			--arg m "$metric" --arg l "$label" --argjson w "$want"
	done
	# Flows of the warm-up do not count.
	holds '.rows[] | select(.metric == "flows.fct_s.p50" and .of.run == $l) | .count == $w' out \
		--arg l "$label" --argjson w "$(jq .flows.count "$run/summary.json")"
done
holds '.rows[] | select(.metric == "jobs.iteration_s.mean" and .of.run == "B") |
	.basis == "common" and .ratio.n == 25 and .ratio.missing == 0 and .ratio.low == null and
	.spread > 0' out
# Without missing pairs the ratio is the quotient of the values.
holds '.rows | map(select(.metric == "jobs.iteration_s.mean")) |
	(.[1].value.value / .[0].value.value / .[1].ratio.value - 1) | fabs < 1e-12' out
# The flows that both runs hold, counted apart from the tables.
pairs=$(join -t, <(awk -F, '$12 && $13 { print $1 }' ring/flows.csv | sort) \
	<(awk -F, '$12 && $13 { print $1 }' ina/flows.csv | sort) | grep -cv flow_id)
holds '.rows[] | select(.metric == "flows.fct_s.p50" and .of.run == "B") |
	.basis == "common" and .ratio.n == $n' out --argjson n "$pairs"
cp out first
ends 0 compare ring ina --json
cmp -s out first || fail "the same comparison twice gives two texts"

# --- other seeds, unfinished work, nothing in common ---

run ina7 --seed 7 --set /jobs/0/all_reduce=switchml
ends 0 compare ring ina seed7 ina7 --metric jobs.iteration_s.mean # two sides of two seeds
says out '^A  ring: .* seed 1, '
says out '^A  seed7: .* seed 7, '
says out '^  B +[0-9]+/[0-9]+ .* 2 pairs +unresolved \(at least 1 more replication expected\)$'
ends 0 compare ring seed7 ina --metric jobs.iteration_s.mean --json
holds '.rows | length == 2 and .[0].value.n == 2 and .[1].ratio.missing == 1 and .[1].basis == "pairs"' out
# Jobs that are clones of one another say nothing of another seed.
run clones --set /jobs/0/count=4
ends 0 compare ring clones --metric jobs.jct_s.mean --json
holds '.rows[1] | .count == 4 and .value.low == null and .ratio.low == null and (.excludes_1 | not)' out
ends 0 compare ring late
says out '^B  late: .* time_limit, jobs 0/1'
says out '^finished: means and percentiles leave out what did not finish'
ends 0 compare ring late ina --metric jobs.jct_s.mean
says out '^  B +0/1 +-'
says out '^  C +1/1 '
ends 0 compare quiet ring --metric flows.fct_s.p50
says out '^  A +0/0 +-'

# --- metrics, tolerance ---

ends 0 compare ring ina --metric network.ecn_marks --metric jobs.by_name.train.jct_s.mean
says out '^network.ecn_marks$'
says out '^jobs.by_name.train.jct_s.mean$'
checks=$((checks + 1))
if grep -q '^jobs.jct_s.mean$' out; then fail "a metric that nobody asked for"; fi
ends 0 compare ring ina --tolerance 100000
ends 1 compare ring ina --tolerance 0
says out '^outside 1 \+- 0: jobs.iteration_s.mean, run B: '
silent err
ends 1 compare ring ina --tolerance 0 --json
holds '.tolerance == 0 and (.outside | length > 0)' out
ends 1 compare ring late --metric jobs.jct_s.mean --tolerance 0.5 # a number against none

# --- one run; fairness ---

ends 0 compare ring
says out '^jobs.jct_s.mean$'
silent err
checks=$((checks + 1))
if grep -Eq ' ratio|ratio:' out; then fail "a ratio of one run"; fi
ends 0 compare ring ina --json
# (sum x)^2 / (n sum x^2) of x = size_bytes / fct_s of the flows that count.
jain=$(awk -F, '$12 == 1 && $13 == 1 { x = $5 / $8; n++; s += x; q += x * x } END { printf "%.12g", s * s / n / q }' ring/flows.csv)
group=$(awk -F, 'NR == 2 { print $2 }' ring/flows.csv)
holds '.rows[] | select(.metric == "flows.by_name." + $g + ".jain" and .of.run == "A") |
	(.value.value / $j - 1 | fabs < 1e-9) and .count == $n' out --arg g "$group" --argjson j "$jain" \
	--argjson n "$(jq .flows.count ring/summary.json)"
holds '.flows.by_name[$g].jain / $j - 1 | fabs < 1e-9' ring/summary.json --arg g "$group" --argjson j "$jain"
holds '[.rows[] | select(.metric | startswith("jobs.by_name."))] == []' out # one job is no group
ends 0 compare ring --metric "flows.by_name.$group.jain"

# --- numbers that would mislead ---

# Two groups of jobs differ: no time is of both, in runs, sweeps and their figures; a name asks for it.
cat >unlike.json <<'JSON'
{ "name": "unlike", "topology": { "kind": "star", "hosts": 10 },
  "jobs": [ { "name": "small", "workers": 2, "iterations": 2, "all_reduce": "ring",
              "model": { "layers": [ { "gradient": "10KB", "forward": "10us" } ] } },
            { "name": "large", "workers": 4, "iterations": 4, "all_reduce": "switchml",
              "model": { "layers": [ { "gradient": "1MB", "forward": "10us" } ] } } ] }
JSON
cat >unlike-plan.json <<'JSON'
{ "name": "unlike", "base": "unlike.json", "replications": 2,
  "axes": [ { "name": "rate", "pointer": "/topology/link/rate", "values": ["10Gbps", "25Gbps"] } ] }
JSON
ends 0 run unlike.json --quiet --out unlike
ends 0 sweep run unlike-plan.json 0-3 --quiet --out unlikes
ends 0 sweep collect unlike-plan.json --out unlikes
for what in 'unlike unlike' 'unlikes --by rate'; do
	# shellcheck disable=SC2086 # its words
	ends 0 compare $what --json
	holds '[.rows[].metric] | contains(["jobs.by_name.small.jct_s.mean", "jobs.by_name.large.jct_s.mean"]) and
		all(. != "jobs.jct_s.mean" and . != "jobs.iteration_s.mean")' out
done
holds '[.rows[] | .value, .ratio, .difference | select(. != null) | .low, .high] | all(. == null)' out # two replications
ends 0 compare unlike unlike --metric jobs.iteration_s.mean --json
holds '.rows[0].value | .value > 0 and .low == null' out
holds '.rows[0].spread == null' out # six iterations of two kinds
ends 0 compare unlike --metric jobs.by_name.large.jct_s.mean
if command -v gnuplot >/dev/null; then
	ends 0 plot unlikes --term svg
	says out '/jobs.by_name.small.jct_s.mean-over-rate.svg$'
	says out '/jobs.by_name.large.jct_s.mean-over-rate.svg$'
	checks=$((checks + 1))
	if grep -q '/jobs.jct_s' out; then fail "a figure of jobs that differ"; fi
fi
# Values are over what each run finished, the ratio over what both did: it says so, with its two numbers.
ends 0 compare ring late --metric flows.fct_s.mean --json
holds '.rows[1] | .ratio.missing > 0 and .ratio.value != .value.value / .baseline and
	(.paired.value / .paired.baseline / .ratio.value - 1 | fabs < 1e-12)' out
both=$(join -t, <(awk -F, '$12 && $13 { print $1 "," $8 }' ring/flows.csv | sort -t, -k1,1) \
	<(awk -F, '$12 && $13 { print $1 "," $8 }' late/flows.csv | sort -t, -k1,1) |
	awk -F, '$1 != "flow_id" { n++; a += $2; b += $3 } END { printf "%d %.4g / %.4g", n, b / n, a / n }')
ends 0 compare ring late --metric flows.fct_s.mean
says out "${both%% *} of [0-9]+ in both$"
says out "^ +of both: ${both#* }$"
says out 'the line below has the two numbers of the ratio'

# --- a sweep made of these runs ---

mkdir -p sweep/points
cat >sweep/sweep.json <<'JSON'
{ "name": "hand", "axes": [ { "name": "scheme", "values": ["ring", "switchml"] } ], "replications": 2,
  "metrics": ["jobs.jct_s.mean", "network.drops"] }
JSON
{
	echo 'point,hash,replication,seed,scheme,status,jobs.jct_s.mean,network.drops'
	point=0
	for scheme in ring switchml; do
		for replication in 0 1; do
			run "sweep/points/000000000000000$point" --seed $((replication + 1)) --set "/jobs/0/all_reduce=$scheme"
			echo "$point,000000000000000$point,$replication,$((replication + 1)),$scheme,done,$(
				jq -r '[.jobs.jct_s.mean, .network.drops] | @csv' "sweep/points/000000000000000$point/summary.json"
			)"
			point=$((point + 1))
		done
	done
} >sweep/sweep.csv
ends 0 compare sweep --by scheme
says out '^A  sweep: sweep hand, 4 of 4 points done, 2 replications$'
says out '^  ring +2/2 '
says out '^  switchml +2/2 .* 2 pairs +unresolved \(at least 1 more replication expected\)$'
ends 0 compare sweep --by scheme --baseline switchml --json
mean() { # of the JCTs of points $1 and $2
	jq -s '[.[].jobs.jct_s.mean] | add / length' "sweep/points/000000000000000$1/summary.json" \
		"sweep/points/000000000000000$2/summary.json"
}
holds '.rows[] | select(.metric == "jobs.jct_s.mean" and .of.scheme == "ring") |
	(.ratio.value / ($a / $b) - 1 | fabs < 1e-12) and .basis == "pairs" and .ratio.n == 2' out \
	--argjson a "$(mean 0 1)" --argjson b "$(mean 2 3)"
ends 0 compare sweep sweep --tolerance 0

# --- for print ---

ends 0 sweep run "$SRC/scenarios/sweeps/load.json" 0-17 --quiet --out load
ends 0 sweep collect "$SRC/scenarios/sweeps/load.json" --quiet --out load

ends 0 compare load --by scheme --metric jobs.by_name.vgg-ring.jct_s.mean --metric network.drops --json
cp out load.json
cell() { # SCHEME LOAD: as it must be printed, in ms, with two digits of half the interval
	jq -r --arg s "$1" --arg l "$2" '.rows[] | select(.of == { load: $l, scheme: $s } and .metric != "network.drops") | .value |
		[.value, .high - .value] | @tsv' load.json |
		awk '{ d = 1; for (h = $2 * 1000; h < 1; h *= 10) d++; if (h >= 10) d--; printf "%.*f +- %.*f\n", d, $1 * 1000, d, $2 * 1000 }'
}
table=(compare load --pivot scheme --metric jobs.by_name.vgg-ring.jct_s.mean --metric network.drops --label switchml=Switch_ML)
ends 0 "${table[@]}"
says out '^load +ring +Switch_ML$'
says out '^Job completion time of vgg-ring, mean \(ms\)$'
says out "^0.2 +$(cell ring 0.2 | sed 's/+/\\+/') +$(cell switchml 0.2 | sed 's/+/\\+/')$"
says out '^0.1 .* [0-9.]+\* \+- [0-9.]+$' # not resolved
says out '^\*: not resolved against ring$'
ends 0 "${table[@]}" --latex
says out '^\\begin\{tabular\}\{@\{\}lrr@\{\}\}$'
says out '^load & ring & Switch\\_ML \\\\$'
says out "^0.2 & $(cell ring 0.2 | sed 's/+-/\\$\\\\pm\\$/') & $(cell switchml 0.2 | sed 's/+-/\\$\\\\pm\\$/') \\\\\\\\$"
ends 0 "${table[@]}" --markdown
says out '^\| load \| ring \| Switch\\_ML \|$'
says out '^\|---\|---:\|---:\|$'
says out '^\| \*\*Job completion time of vgg-ring, mean \(ms\)\*\* \| \| \|$'
says out "^\| 0.2 \| $(cell ring 0.2 | sed 's/+-/±/') \| $(cell switchml 0.2 | sed 's/+-/±/') \|$"
checks=$((checks + 1))
[[ $(grep -c '^```$' out) == 4 ]] || fail "what is no table is no code: $(<out)"
ends 0 compare load --by scheme --label switchml=Switch_ML --metric jobs.by_name.vgg-ring.jct_s.mean --markdown
says out '^\| load \| scheme \| value \| ratio \| verdict \|$' # all points done, all jobs finished, all over three pairs
says out 'Switch\\_ML faster by [0-9.]+ to [0-9.]+ % \|$'
ends 0 compare ring ina --pivot run --label Ring --label 'In network' --metric jobs.jct_s.mean --markdown
says out '^\|  \| Ring \| In network \|$'
says out '^\| Job completion time, mean \(ms\) \| [0-9.]+ \| [0-9.]+ \|$'

# --- what is refused ---

ends 2 compare load --pivot shceme --by scheme
says err 'no axis "shceme" .did you mean "scheme"'
ends 2 compare load --pivot scheme --label rnig=Ring
says err '--label of a sweep takes VALUE=TEXT'
ends 2 compare ring ina --label Ring
says err '2 directories need one --label each, found 1'
ends 2 compare ring ina --pivot run --json
says err '--json has no use for --pivot'
ends 2 compare ring ina --latex --markdown
says err 'give one of --json, --latex and --markdown'

ends 2 compare ring --tolerance 0.1
says err '--tolerance needs a second run'
silent out
ends 2 compare sweep
says err 'is a sweep: compare needs --by AXIS'
ends 2 compare sweep ring
says err 'sweep is a sweep and ring is a run'
ends 2 compare sweep --by shceme
says err 'no axis "shceme" .did you mean "scheme"'
ends 2 compare sweep --by scheme --baseline rnig
says err 'did you mean "ring"'
ends 2 compare ring ina --by scheme
ends 2 compare ring ina --metric jobs.jct_s.meen
says err 'no metric "jobs.jct_s.meen" .did you mean "jobs.jct_s.mean"'
ends 2 compare ring ina --margin -1
says err '--margin takes a share such as 0.05'
ends 0 compare ring seed7 ina ina7 late --json
holds '.rows[] | select(.metric == "jobs.jct_s.mean" and .of.run == "C") | .verdict == "no verdict (unfinished work)"' out
for tolerance in five '' -0.1 0.1x nan inf; do
	ends 2 compare ring ina --tolerance "$tolerance"
	says err '--tolerance takes a share'
done
ends 2 compare ring ina --tolarance 0.1
says err 'did you mean --tolerance'
ends 2 compare
says err 'compare needs result directories'
ends 0 compare --help
says out '^usage: inasim compare'
ends 6 compare ring nowhere
says err 'nowhere: there is no such directory'
ends 6 compare ring "$SRC/scenarios"
says err 'neither the result of a run'
ends 6 compare ring base.json
mkdir uncollected && echo '{}' >uncollected/plan.json
ends 6 compare uncollected --by scheme
says err 'a sweep that is not collected yet'
cp -r ina broken
awk -F, -v OFS=, 'NR == 2 { $13 = "maybe" } 1' ina/flows.csv >broken/flows.csv
ends 6 compare ring broken
says err 'broken/flows.csv:2: column finished: "maybe" is neither 0 nor 1'
silent out
cp ring/flows.csv broken/flows.csv
ends 6 compare ring broken
says err 'broken/flows.csv:[0-9]*: ends after [0-9]* rows, manifest.json says [0-9]*'
echo '{' >broken/summary.json
ends 6 compare ring broken
says err 'broken/summary.json:[0-9]+: is not a JSON object'
sed -i 's/,ring,/,rong,/' sweep/sweep.csv
ends 6 compare sweep --by scheme
says err 'sweep/sweep.csv:2: column scheme: "rong" is not a value of this axis'

finish "$checks checks hold"
