#!/bin/bash
# The verbs of sweeps as engines use them: points that finish, that are too long or
# too large, that are killed with and without the process that looks after them,
# that two run at once; and the same tables in the end.
source "${SRC:?source directory}/tests/lib/shell.sh"
in_a_folder_of_its_own

# cell FILE ROW COLUMN: of a table without quoted commas before the column
cell() {
	awk -F, -v row="$2" -v column="$3" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == column) at = i }
		NR == row + 2 { print $at }' "$1"
}

cat >base.json <<'JSON'
{
  "name": "tiny", "topology": { "kind": "star", "hosts": 8 },
  "stop": { "when": "jobs_done" }, "schemes": { "switchml": { "slots": 64 } },
  "jobs": [ { "name": "j", "workers": 4, "iterations": 2, "all_reduce": "ring",
              "model": { "layers": [ { "gradient": "2MB", "forward": "10us" } ] } } ],
  "flows": [ { "name": "bg", "size": { "cdf": "websearch" }, "arrival": { "poisson_load": 0.3 }, "stop": "jobs_done" } ]
}
JSON
cat >plan.json <<'JSON'
{ "name": "small", "base": "base.json", "replications": 2,
  "axes": [ { "name": "scheme", "pointer": "/jobs/0/all_reduce", "values": ["ring", "switchml"] },
            { "name": "load", "pointer": "/flows/0/arrival/poisson_load", "range": { "from": 0.1, "to": 0.3, "step": 0.2 } } ] }
JSON

# --- plan

ends 0 sweep plan plan.json --json
holds '(.points | length == 8) and (.points | map(.hash) | unique | length == 8)' out
holds '.axes == [{"name": "scheme", "values": ["ring", "switchml"]}, {"name": "load", "values": ["0.1", "0.3"]}]' out
holds '.points[5] | .axes == {"scheme": "switchml", "load": "0.1"} and .replication == 1' out
cp out before.json
sed 's/"tiny"/"other"/' base.json >other.json
sed 's/base.json/other.json/' plan.json >renamed.json
ends 0 sweep plan renamed.json --json
checks=$((checks + 1))
[[ $(jq -c '[.points[].hash]' out) != $(jq -c '[.points[].hash]' before.json) ]] || fail "another scenario, the same hashes"

# --- an axis for some schemes: ring is one point, and the baseline of all values; what no point has is told

cat >memory.json <<'JSON'
{ "name": "memory", "base": "base.json", "set": { "/flows/0/enabled": false },
  "axes": [ { "name": "scheme", "pointer": "/jobs/0/all_reduce", "values": ["ring", "switchml", "atp"] },
            { "name": "slots", "pointer": "/schemes/switchml/slots", "only": { "scheme": "switchml" },
              "log": { "from": 16, "to": 200, "factor": 4 } } ],
  "exclude": [ { "scheme": "atp" } ] }
JSON
ends 0 sweep plan memory.json
says out '^ +0  ring      -      '
says out '^  scheme: ring 1, switchml 2, atp 0$'
says out '^  slots: 16 1, 64 1, - 1$'
says err '^memory.json:[0-9:]*: /axes/0/values/2: warning: no point is left with scheme atp'
says err ': /axes/1/log: warning: ends at 64, below "to", 200,'
ends 0 sweep plan memory.json --json
holds '[.points[].axes] == [{scheme: "ring"}, {scheme: "switchml", slots: "16"}, {scheme: "switchml", slots: "64"}]' out
ends 0 sweep run memory.json 0-2 --quiet
ends 0 sweep collect memory.json
checks=$((checks + 1))
[[ $(cut -d, -f5,6 results/memory/sweep.csv | paste -sd' ') == "scheme,slots ring, switchml,16 switchml,64" ]] ||
	fail "cells: $(cut -d, -f5,6 results/memory/sweep.csv)"
ends 0 compare results/memory --by scheme --json
holds '[.rows[] | select(.metric == "jobs.jct_s.mean") | [.of.slots, .of.scheme, .ratio != null]] ==
	[["16", "switchml", true], ["64", "switchml", true], ["-", "ring", false]]' out

# --- precision: as many replications as an interval wants

cat >precise.json <<'JSON'
{ "name": "precise", "base": "base.json", "replications": 20,
  "precision": { "of": "jobs.jct_s.mean", "within": 0.2, "least": 3 },
  "axes": [ { "name": "scheme", "pointer": "/jobs/0/all_reduce", "values": ["ring", "switchml"] },
            { "name": "load", "pointer": "/flows/0/arrival/poisson_load", "values": [0.02, 0.3] } ] }
JSON
# run_all DIR ORDER [PLAN]: all that is wanted, look after look, from one end or the other
run_all() {
	local list plan=${3:-precise.json}
	while list=$("$INASIM" sweep status "$plan" --out "$1" --pending | sort "$2") && [[ -n $list ]]; do
		# shellcheck disable=SC2086 # numbers
		ends 0 sweep run "$plan" $list --out "$1" --quiet
	done
	ends 0 sweep collect "$plan" --out "$1"
}
run_all precise -n
says out ' 38 of 80 points are needed so far'
# whatever the order, and whatever else there is, the tables are the same
"$INASIM" sweep run precise.json 19 79 --out again --quiet
run_all again -rn
checks=$((checks + 1))
cmp -s precise/sweep.csv again/sweep.csv && cmp -s precise/groups.csv again/groups.csv || fail "another order, other tables"
ends 0 compare precise --by scheme --baseline ring --metric jobs.jct_s.mean
# a point that runs again counts for nothing before it has: no others are wanted for it
for status in io killed; do
	jq --arg status $status '.status = $status' "again/points/$(cell again/sweep.csv 0 hash).json" >record.json
	cp record.json "again/points/$(cell again/sweep.csv 0 hash).json"
	ends 4 sweep status precise.json --out again
	"$INASIM" sweep status precise.json --out again --pending >out
	[[ $(<out) == 0 ]] || fail "$status: wanted are points $(paste -sd' ' out)"
done
# looks are after 3, 5, 8, 12, 18 and 20: the first at which the interval is narrow is the last
table_of() {
	awk -F, -v count="$2" '$3 == "jobs.jct_s.mean" {
		half = $9 - $5 > $5 - $8 ? $9 - $5 : $5 - $8
		print $1, $2, count ? count : $4, half <= 0.2 * $5 }' "$1/groups.csv"
}
table_of precise 0 >last
for count in 3 5 8 12 18 20; do
	jq ".replications = $count | del(.precision)" precise.json >fixed.json
	ends 0 sweep run fixed.json 0-$((4 * count - 1)) --out fixed --quiet # the points of before are done
	ends 0 sweep collect fixed.json --out fixed
	table_of fixed $count
done >looks
sort -k1,2 -k4,4r -k3,3n looks | awk '$4 && !seen[$1, $2]++ { print } !$4 && $3 == 20 && !seen[$1, $2]++ { print }' |
	sort >want
checks=$((checks + 1))
sort last | cmp -s - want || fail "replications: $(sort last | paste -sd';'), wanted $(paste -sd';' want)"
sed 's/jct_s.mean/jct_s.maen/' precise.json >typo.json
ends 3 sweep status typo.json --out precise
says err '^typo.json:2:24: /precision/of: results have no number "jobs.jct_s.maen"'
sed 's/"least": 3/"least": 21/' precise.json >typo.json
ends 3 sweep plan typo.json
says err '^typo.json:2:67: /precision/least: must be at most "replications" \(20\)'

# --- precision "by": until each comparison with the baseline has a verdict, or a budget is spent

jq '.precision += { within: 0.02, by: "scheme", baseline: "switchml" }' precise.json >resolve.json
run_all resolve -n resolve.json
says out '^  2 of 2 comparisons of scheme with switchml are resolved by jobs.jct_s.mean, 0 ended without'
needed=$(sed -n 's/.*; \([0-9]*\) of 80 points are needed so far/\1/p' out)
holds '.looks == 6 and .margin == 0.02' resolve/sweep.json
run_all backwards -rn resolve.json
checks=$((checks + 1))
cmp -s resolve/sweep.csv backwards/sweep.csv || fail "another order, other replications"
ends 0 compare resolve --by scheme --baseline switchml --metric jobs.jct_s.mean --json
holds '[.rows[].verdict | select(.)] | length == 2 and all(test("faster by|the same within 2 %"))' out
ends 0 compare resolve --by scheme --baseline switchml --metric jobs.jct_s.mean --margin 9 --json
holds '[.rows[].verdict | select(.)] == ["the same within 900 %", "the same within 900 %"]' out
holds '[.rows[].value.n] | add == $n and .[0] == .[1] and .[2] == .[3]' out --argjson n "$needed"
jq '.precision += { within: 1e-6, cpu: "1ms" } | del(.precision.baseline) | .axes[0].values = ["switchml", "switchml_star"]' resolve.json >budget.json
run_all budget -n budget.json
says out '^  [0-2] of 2 comparisons of scheme with switchml .* or the budget of CPU time; 12 of 80 points'

# --- perturb: replications take perturbations in turn, the same for each scheme

cat >perturb.json <<'JSON'
{ "name": "perturb", "base": "base.json", "replications": 6,
  "axes": [ { "name": "scheme", "pointer": "/jobs/0/all_reduce", "values": ["ring", "switchml"] } ],
  "perturb": { "still": { "/topology/host/nic_jitter": "0s" },
               "100 ns": { "/topology/host/nic_jitter": "100ns", "/jobs/0/start_jitter": "100ns" },
               "1 us": { "/topology/host/nic_jitter": "1us", "/jobs/0/start_jitter": "1us" } } }
JSON
ends 0 sweep plan perturb.json
says out '12 points of 2 scheme, 6 replications over 3 perturbations'
ends 0 sweep run perturb.json 0-11 --out perturb --quiet
ends 0 sweep collect perturb.json --out perturb
for point in 0 4 8 11; do
	holds '[.scenario.topology.host.nic_jitter, .scenario.jobs[0].start_jitter] == [["0s", "0s"], ["100ns", "100ns"], ["1us", "1us"]][$p % 3]' \
		"perturb/points/$(cell perturb/sweep.csv "$point" hash)/manifest.json" --argjson p "$point"
done
ends 0 compare perturb --by scheme --metric jobs.jct_s.mean --json
holds '.rows[1] | .basis == "pairs" and .ratio.n == 6 and (.verdict | test("faster by|the same within|unresolved"))' out

# the seed of a point is that of its scenario, whoever set it
cat >seeds.json <<'JSON'
{ "name": "seeds", "base": "base.json",
  "axes": [ { "name": "case", "cases": { "usual": { "/name": "x" }, "other": { "/seed": 9 } } } ] }
JSON
ends 0 sweep plan seeds.json --json
holds '[.points[].seed] == [1, 9]' out

# a hash is of what the named files hold, and not of where they are
mkdir -p data other
printf 'size_bytes,cdf\n1000,0\n2000,1\n' >data/mine.csv
cp data/mine.csv other/mine.csv
for place in data other; do
	sed 's/websearch/mine/' base.json >$place/base.json
	cp plan.json $place/
done
hashes() {
	"$INASIM" sweep plan "$1/plan.json" --json | jq -c '[.points[].hash]'
}
checks=$((checks + 2))
[[ $(hashes data) == "$(hashes other)" ]] || fail "the same files elsewhere, other hashes"
printf 'size_bytes,cdf\n1000,0\n3000,1\n' >other/mine.csv
[[ $(hashes data) != "$(hashes other)" ]] || fail "another data file, the same hashes"

# --- nothing run yet

ends 4 sweep status plan.json --out empty
says out '8 points, 8 missing; 8 to run'
ends 4 sweep collect plan.json --out empty
checks=$((checks + 2))
[[ $(wc -l <empty/sweep.csv) == 9 ]] || fail "not one row a point"
[[ $(cell empty/sweep.csv 7 status) == missing ]] || fail "a point that was not run is $(cell empty/sweep.csv 7 status)"

# --- run, skip, collect

ends 0 sweep run plan.json 0-6 --out whole
says err '^point 3 .scheme=ring load=0.3 replication=1.: done'
ends 4 sweep status plan.json --out whole
ends 0 sweep status plan.json --out whole --pending
checks=$((checks + 1))
[[ $(<out) == 7 ]] || fail "pending: $(tr '\n' ' ' <out)"
ends 0 sweep run plan.json 6 7 --out whole
says err '^point 6 .*done before, skipped'
ends 0 sweep collect plan.json --out whole
ends 0 sweep status plan.json --out whole
same plan.json whole/plan.json
holds '.name == "small" and .replications == 2 and (.axes | map(.name)) == ["scheme", "load"]' whole/sweep.json
holds '.metrics | index("jobs.jct_s.mean") != null and index("flows.by_size.0.count") != null and index("jobs.by_name.j.jct_s.mean") != null' whole/sweep.json
holds '.metrics | map(select(test("cpu|rss|wall|seed"))) == []' whole/sweep.json
checks=$((checks + 2))
[[ $(head -n 1 whole/sweep.csv) == "point,hash,replication,seed,scheme,load,status,$(jq -r '.metrics | join(",")' whole/sweep.json),warnings" ]] ||
	fail "header of sweep.csv"
point=$("$INASIM" sweep plan plan.json --json | jq -r '.points[5].hash')
[[ $(cell whole/sweep.csv 5 jobs.jct_s.mean) == "$(jq .jobs.jct_s.mean "whole/points/$point/summary.json")" ]] ||
	fail "sweep.csv and summary.json differ"
holds '.status == "done" and .attempts == 1 and .exit_code == 0 and .signal == null and .cpu_s > 0 and .peak_rss_bytes > 1e5' "whole/points/$point.json"

checks=$((checks + 2))
[[ $(grep -c '' whole/groups.csv) == $((1 + 4 * $(jq '.metrics | length' whole/sweep.json))) ]] ||
	fail "groups.csv: not one row for each combination and metric"
mean=$(awk -F, '$1 == "switchml" && $2 == "0.1" && $3 == "jobs.jct_s.mean" { print $5 }' whole/groups.csv)
awk -v mean="$mean" -v a="$(cell whole/sweep.csv 4 jobs.jct_s.mean)" -v b="$(cell whole/sweep.csv 5 jobs.jct_s.mean)" \
	'BEGIN { d = mean - (a + b) / 2; exit !(mean > 0 && d < 1e-12 && d > -1e-12) }' ||
	fail "groups.csv: mean $mean"

# the scenario of a point, run by hand, is the point
ends 0 run base.json --json --set /jobs/0/all_reduce=switchml --set /flows/0/arrival/poisson_load=0.1 \
	--seed "$(cell whole/sweep.csv 5 seed)"
checks=$((checks + 1))
[[ $(jq -r .digest out) == "$(jq -r .digest "whole/points/$point/summary.json")" ]] || fail "digest of point 5"

# a point whose results were deleted is missing
cp -r whole holed
rm -r "holed/points/$point"
ends 4 sweep status plan.json --out holed
says out '1 missing, 7 done; 1 to run'
ends 0 sweep run plan.json 5 --out holed
ends 0 sweep collect plan.json --out holed
same whole/sweep.csv holed/sweep.csv

# records of another plan are counted and left alone
sed 's/"replications": 2/"replications": 1/' plan.json >fewer.json
ends 0 sweep collect fewer.json --out holed
says out '4 points of other plans'
checks=$((checks + 1))
[[ $(wc -l <holed/sweep.csv) == 5 ]] || fail "rows of points that the plan does not name"

# --- limits

cat >long.json <<'JSON'
{ "name": "long", "topology": { "kind": "star", "hosts": 16 },
  "flows": [ { "size": "10KB", "count": 16, "pairs": "permutation" } ] }
JSON
cat >limits.json <<'JSON'
{ "name": "limits", "base": "long.json", "limits": { "time": "400ms" },
  "axes": [ { "name": "work", "cases": { "small": { "/flows/0/count": 16 }, "long": { "/flows/0/size": "1TB" } } } ] }
JSON
ends 0 sweep run limits.json 0 --time-limit none # however slow the machine
ends 4 sweep run limits.json 0-1
ends 4 sweep collect limits.json
says out '2 points, 1 done, 1 timeout; 0 to run'
says out 'more than 0.4 s of CPU time'
ends 4 sweep run limits.json 1
says err 'timeout before, not run again'
echo '{ "name": "lone", "base": "base.json", "axes": [], "set": { "/jobs/0/iterations": 1000000 } }' >lone.json
ends 4 sweep run lone.json 0 --time-limit 50ms
says err '^point 0: timeout after '
ends 4 sweep status lone.json
says out '1 point, 1 timeout; '
says out '^  point 0: timeout, attempts: 1: '
ends 0 sweep status limits.json --pending --time-limit 300ms
checks=$((checks + 2))
[[ ! -s out ]] || fail "a lower limit is no reason to try again"
ends 0 sweep status limits.json --pending --time-limit 500ms
[[ $(<out) == 1 ]] || fail "a higher time limit is one"
ends 4 sweep run limits.json 1 --time-limit 500ms
says err 'timeout after [0-9.]+ s: more than 0.5 s of CPU time'

if limits_memory; then
	sed 's/"time": "400ms"/"memory": "30MB"/; s/limits"/memory"/; s/"memory": {/"limits": {/
		s/"long": .*} } }/"large": { "\/flows\/0\/count": 300000 } } }/' limits.json >memory.json
	ends 4 sweep run memory.json 0-1
	ends 4 sweep collect memory.json
	says out '2 points, 1 done, 1 memory; 0 to run'
	says out 'more than 30 MB: inasim: out of memory'
	checks=$((checks + 3))
	[[ $(cut -d, -f6 results/memory/sweep.csv | tr '\n' ' ') == "status done memory " ]] ||
		fail "status column: $(cut -d, -f6 results/memory/sweep.csv | tr '\n' ' ')"
	ends 0 sweep status memory.json --pending --memory-limit 20MB
	[[ ! -s out ]] || fail "a lower memory limit is no reason to try again"
	ends 0 sweep status memory.json --pending --memory-limit none
	[[ $(<out) == 1 ]] || fail "a higher memory limit is one"
	ends 0 sweep run memory.json 1 --memory-limit 4GB
	holds '.status == "done" and .limits.memory_bytes == 4000000000 and .peak_rss_bytes > 30e6' \
		"results/memory/points/$(cell results/memory/sweep.csv 1 hash).json"
fi
ends 2 sweep run limits.json 1 --time-limit 5
ends 2 sweep run limits.json 2
ends 2 sweep run limits.json 1-
ends 2 sweep run limits.json
ends 2 sweep
ends 0 sweep --help
ends 0 sweep collect --help

# an end of simulated time with work left is a result
sed 's/"10KB"/"1MB"/; s/"flows"/"stop": { "after": "100us" }, "flows"/' long.json >cut.json
echo '{ "name": "cut", "base": "cut.json" }' >unfinished.json
ends 4 sweep run unfinished.json 0
ends 4 sweep collect unfinished.json
says out '1 unfinished; 0 to run'
checks=$((checks + 1))
[[ $(cell results/cut/sweep.csv 0 flows.count) == 16 && $(cell results/cut/sweep.csv 0 flows.finished) == 0 ]] ||
	fail "an unfinished point has no metrics"

# --- killed

# The process that simulates is the only child of the one that looks after it.
cat >forever.json <<'JSON'
{ "name": "forever", "base": "long.json", "set": { "/flows/0/size": "1TB" } }
JSON
# What bash starts in the background ignores SIGINT unless told otherwise.
start() {
	env --default-signal=INT "$INASIM" sweep run forever.json 0 --out killed "$@" 2>err </dev/null &
	parent=$!
	wait_for has_child "$parent"
	child=$(child_of "$parent")
}
record=killed/points/$("$INASIM" sweep plan forever.json --json | jq -r '.points[0].hash')

# by its owner: the point says so, and is to be run again
for attempt in 1 2 3; do
	start
	kill -KILL "$child"
	code=0
	wait "$parent" || code=$?
	checks=$((checks + 1))
	((code == 137)) || fail "killed: exit code $code"
	holds '.status == "killed" and .signal == 9 and .exit_code == null and .attempts == '$attempt "$record.json"
done
ends 0 sweep status forever.json --out killed --pending
checks=$((checks + 1))
[[ $(<out) == 0 && $(ls killed/points) == "${record##*/}.json" ]] || fail "killed: $(ls killed/points)"

# interrupted or killed, the parent takes the child along, and it is no attempt that counts
for signal in INT TERM KILL; do
	start
	kill "-$signal" "$parent"
	code=0
	wait "$parent" 2>/dev/null || code=$?
	checks=$((checks + 1))
	((code == 128 + $(kill -l $signal))) || fail "SIG$signal: exit code $code"
	wait_for gone "$child"
	holds '.status == "killed" and .attempts == 3' "$record.json"
done
rm -r killed
start
kill -KILL "$parent"
wait "$parent" 2>/dev/null || true
wait_for gone "$child"
checks=$((checks + 1))
[[ ! -e $record.json && -e $record.partial ]] || fail "after SIGKILL of the parent: $(ls killed/points)"

# the next attempt removes what it left behind
ends 4 sweep run forever.json 0 --out killed --time-limit 200ms
checks=$((checks + 1))
[[ $(ls killed/points) == "${record##*/}.json" ]] || fail "rubbish: $(ls killed/points)"

# nohup: a terminal that goes away does not interrupt
rm -r killed
trap '' HUP
start
kill -HUP "$parent"
sleep 0.3
checks=$((checks + 1))
has_child "$parent" || fail "SIGHUP, though ignored, ended the run"
kill -TERM "$parent"
wait "$parent" || true
trap - HUP

# What the limit counts is CPU time, not that of a machine that does something else. The kernel counts it
# by ticks for the limit and exactly for the record: the two may differ by a few ticks.
rm -r killed
start --time-limit 300ms
kill -STOP "$child"
sleep 0.5
kill -CONT "$child"
wait "$parent" || true
says err 'timeout after [0-9.]+ s: more than 0.3 s of CPU time$'
holds '.status == "timeout" and .cpu_s > 0.1 and .wall_s > 0.5' "$record.json"

# --- two at once

rm -r killed
start
ends 4 sweep run forever.json 0 --out killed
says err "skipped: .*-$parent is running it"
ends 4 sweep status forever.json --out killed
says out "to run, 1 of them running$"
says out "point 0: running for [0-9]+ s by .*-$parent$"
ends 4 sweep status forever.json --out killed --json
holds '.running | length == 1 and .[0].point == 0' out
kill -TERM "$parent"
wait "$parent" || true

# batch systems signal the whole group: that is an interruption, too
rm -r killed
setsid "$INASIM" sweep run forever.json 0 --out killed 2>err </dev/null &
parent=$!
wait_for has_child "$parent"
kill -TERM -- "-$parent"
code=0
wait "$parent" || code=$?
checks=$((checks + 2))
((code == 143)) || fail "signalled as a group: exit code $code"
[[ ! -e $record.json ]] || fail "an interruption left $(<"$record.json")"

# six at once: one result, nothing left behind
pids=()
for ((i = 0; i < 6; i++)); do
	"$INASIM" sweep run plan.json 0 --out six 2>/dev/null &
	pids+=($!)
done
wait "${pids[@]}" || true
ends 0 sweep run plan.json 0 --out six
hash=$("$INASIM" sweep plan plan.json --json | jq -r '.points[0].hash')
checks=$((checks + 2))
[[ $(find six -mindepth 1 -maxdepth 2 | sort | xargs -n 1 basename | tr '\n' ' ') == "plan.json points $hash $hash.json " ]] ||
	fail "left behind: $(ls six six/points)"
cmp -s <(jq -S 'del(.cpu_s, .packet_hops_per_cpu_s, .peak_rss_bytes)' "six/points/$hash/summary.json") \
	<(jq -S 'del(.cpu_s, .packet_hops_per_cpu_s, .peak_rss_bytes)' "whole/points/$hash/summary.json") ||
	fail "six at once give another result"

# somebody else's lock blocks as long as it is held, and no longer
mkdir -p old/points/"$hash.partial"
echo "elsewhere-1" >"old/points/$hash.lock"
touch "old/points/$hash.partial/.writing"
flock "old/points/$hash.lock" sleep 60 &
holder=$!
wait_for has_child "$holder"
ends 4 sweep run plan.json 0 --out old
says err 'skipped: elsewhere-1 is running it'
kill "$(child_of "$holder")"
wait "$holder" || true
ends 4 sweep status plan.json --out old # a lock that nobody holds
says out 'to run$'
ends 0 sweep run plan.json 0 --out old
holds '.status == "done" and .attempts == 1' "old/points/$hash.json"
checks=$((checks + 1))
[[ $(find old/points -mindepth 1 -maxdepth 1 | sort | xargs -n 1 basename | tr '\n' ' ') == "$hash $hash.json " ]] ||
	fail "left behind: $(ls old/points)"

# a plan that can be read only once has no copy
ends 6 sweep run <(cat plan.json) 0 --out once
says err 'cannot copy /dev/fd/[0-9]+: '

# in a folder that cannot be listed (root can) nobody sees records of others
chmod 311 six/points
if ! ls six/points >/dev/null 2>&1; then
	ends 4 sweep status plan.json --out six --json
	holds '.others == 0' out
fi
chmod 755 six/points

# a lock is no link
mkdir -p linked/points
ln -s elsewhere "linked/points/$hash.lock"
checks=$((checks + 1))
code=0
timeout 20 "$INASIM" sweep run plan.json 0 --out linked 2>err || code=$?
((code == 6)) || fail "a link as lock: exit code $code"
says err 'cannot write linked/points: Too many levels of symbolic links$'

# why a point is not done: also where the last line is longer than the message
deep=$PWD/$(printf 'd%.0s' {1..240})/$(printf 'e%.0s' {1..240})
mkdir -p "$deep/points"
touch "$deep/points/$hash" # no folder for results
ends 6 sweep run plan.json 0 --out "$deep"
says err 'io after .*: .* is not a result directory'
says "$deep/points/$hash.log" 'is not a result directory'
# or where there is no log
mkdir -p nolog/points/"$hash.log"
ends 6 sweep run plan.json 0 --out nolog
says err 'io after .*: the log cannot be read: Is a directory$'

# --- killed over and over, four at a time: the same table in the end

for ((round = 0; round < 60; round++)); do
	pids=()
	mapfile -t list < <("$INASIM" sweep status plan.json --out stormy --pending)
	((${#list[@]} > 0)) || break
	for n in "${list[@]:0:4}"; do
		"$INASIM" sweep run plan.json "$n" --out stormy --quiet 2>/dev/null &
		pids+=($!)
	done
	sleep "0.0$((round % 4 + 1))"
	((round > 8)) || kill -KILL "${pids[@]:0:3}" 2>/dev/null || true
	wait "${pids[@]}" 2>/dev/null || true
done
ends 0 sweep collect plan.json --out stormy
same whole/sweep.csv stormy/sweep.csv
same whole/sweep.json stormy/sweep.json
same whole/groups.csv stormy/groups.csv

finish "$checks checks hold"
