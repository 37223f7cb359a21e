#!/bin/bash
# Work that was refused, not finished, or done by another scheme is seen wherever a number of it stands: status and
# exit code of a run, summary.json, sweep.csv, status of a sweep, comparisons, figures.
# shellcheck disable=SC2016 # the single quotes hold jq programs
source "${SRC:?source directory}/tests/lib/shell.sh"
in_a_folder_of_its_own

# One job has four workers below each of two leaves, where an accelerator of 2 MB has no room for the windows of all four
# (2.8 MB); the other two have two workers. No placement of "large" is tried but the one that it lists.
cat >base.json <<'JSON'
{
  "name": "some",
  "topology": { "kind": "leaf-spine", "leaves": 4, "spines": 4, "hosts_per_leaf": 4, "switch": { "pause": true } },
  "jobs": [
    { "name": "large", "workers": [0, 1, 2, 3, 4, 5, 6, 7], "all_reduce": "ring", "arrival": { "at": "3ms" },
      "model": { "layers": [ { "gradient": "2MB" } ] } },
    { "name": "small", "count": 2, "workers": 2, "all_reduce": "ring",
      "model": { "layers": [ { "gradient": "200KB" } ] } }
  ]
}
JSON
# scheme NAME [MEMORY]: options that give all jobs a scheme
scheme() {
	echo "--set /jobs/0/all_reduce=$1 --set /jobs/1/all_reduce=$1 ${2:+--set /schemes/$1/memory=$2}"
}

# --- a run ---

# shellcheck disable=SC2046
{
	ends 0 run base.json $(scheme netreduce 24MB) --out all
	ends 4 run base.json $(scheme netreduce 2MB) --out part
}
says err '^schemes refused jobs; the run ended at 0\.[0-9]+ s with unfinished work:$'
says err '^  job 2 \(large\): refused: the accelerator of a switch has no room'
says out '^some: refused after 0\.[0-9]+ s of simulated time$'
says out '^warning: schemes refused 1 of 3 jobs; the first \(large\): the accelerator'
holds '.end_reason == "refused" and .jobs.finished == 2 and .jobs.refused == 1 and .jobs.count == 3' part/summary.json
holds '.warnings[0] | test("^schemes refused 1 of 3 jobs")' part/summary.json
holds '.end_reason == "all_done" and .jobs.refused == 0 and .jobs.substituted == 0' all/summary.json
# whatever ends the run
for when in jobs_done time; do
	# shellcheck disable=SC2046
	ends 4 run base.json $(scheme netreduce 2MB) --set "/stop={\"when\":\"$when\",\"after\":\"100ms\"}"
	says out '^some: refused after '
done
# nobody ran at all
# shellcheck disable=SC2046
ends 4 run base.json $(scheme nvls) --set /jobs/1/placement=spread --out none
says out '^some: refused after 0\.003000 s'
holds '.jobs.finished == 0 and .jobs.refused == 3' none/summary.json
# another scheme by design: done, and said
# shellcheck disable=SC2046
ends 0 run base.json $(scheme panama) --out other
holds '.end_reason == "all_done" and .jobs.substituted == 3 and .jobs.finished == 3' other/summary.json

# --- a sweep ---

echo '{ "name": "states", "base": "base.json", "replications": 3, "axes": [
	{ "name": "scheme", "pointers": ["/jobs/0/all_reduce", "/jobs/1/all_reduce"], "values": ["ring", "panama", "netreduce"] },
	{ "name": "memory", "pointer": "/schemes/netreduce/memory", "values": ["24MB", "2MB"] } ],
	"exclude": [ { "scheme": ["ring", "panama"], "memory": "2MB" } ] }' >plan.json
ends 4 sweep run plan.json 0-11 --out states
ends 4 sweep collect plan.json --out states
says out '^states in states: 12 points, 6 done, 3 substituted, 3 refused; 0 to run$'
says out '^  point 9 .*: refused, attempts: 1: schemes refused jobs; .* job 2 \(large\): refused: '
ends 4 sweep status plan.json --out states --json
holds '.status.done == 6 and .status.substituted == 3 and .status.refused == 3 and (.failed | length) == 3' out
ends 4 sweep run plan.json 9 --out states # a result, and not run again
says err 'refused before, not run again'
ends 0 sweep run plan.json 3 --out states
says err 'substituted before, skipped'
checks=$((checks + 1))
[[ $(grep -oE ',(done|refused|substituted),' states/sweep.csv | tr -d , | sort | uniq -c | xargs) == "6 done 3 refused 3 substituted" ]] ||
	fail "not these statuses: $(cut -d, -f5-7 states/sweep.csv)"
# SCHEME MEMORY COLUMN VALUES: of its points, in order
column() {
	checks=$((checks + 1))
	[[ $(awk -F, -v name="$3" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i } NR > 1 && $at["scheme"] == "'"$1"'" &&
		$at["memory"] == "'"$2"'" { print $at[name] }' states/sweep.csv | xargs) == "$4" ]] || fail "$1 $2 $3 is not $4"
}
column netreduce 2MB jobs.count "3 3 3"
column netreduce 2MB jobs.finished "2 2 2"
column netreduce 2MB jobs.refused "1 1 1"
column panama 24MB jobs.substituted "3 3 3"
column ring 24MB jobs.substituted "0 0 0"
says states/sweep.csv 'refused,.*schemes refused 1 of 3 jobs; the first \(large\)'
says states/sweep.csv 'substituted,.*not as configured: large \(panama\): 1 ran as ring'
says states/groups.csv '^netreduce,2MB,jobs\.jct_s\.mean,3,.*,3,0,0$'
says states/groups.csv '^panama,24MB,jobs\.jct_s\.mean,3,.*,0,3,[01]$'

# --- compare ---

ends 0 compare states --by scheme --metric jobs.jct_s.mean --metric jobs.finished --metric network.drops
says out '^  24MB +ring +3/3 +9/9 +0\.00[0-9]+ '
says out '^ +panama +3/3 +9/9 +0\.00[0-9]+‡ .* 3 pairs'
says out '^  2MB +netreduce +0/3 +6/9 +0\.00[0-9]+† '
says out '^†: over survivors only'
says out '^‡: some of the jobs ran as another scheme'
ends 0 compare states --by memory --metric jobs.jct_s.mean --metric jobs.by_name.small.jct_s.mean --json
holds '.rows[] | select(.metric == "jobs.jct_s.mean" and .of.memory == "2MB") | .partial and .finished == 6 and .count == 9 and
	.points_done == 0 and .points == 3 and .same == false and .ratio.value == null and .difference == null' out
# a group of jobs that all finished, in runs that did not: less shared the network with it
holds '.rows[] | select(.metric == "jobs.by_name.small.jct_s.mean" and .of.memory == "2MB") | .partial and .finished == 6 and .count == 6' out
ends 0 compare states --by memory --metric jobs.jct_s.mean --survivors
says out '^ +2MB +0/3 +6/9 +0\.00[0-9]+† .* 0\.[0-9]+ '
ends 1 compare states --by memory --metric jobs.jct_s.mean --tolerance 0.9
ends 0 compare states --by scheme --metric jobs.jct_s.mean --latex
says out '& 0/3 & 6/9 & 0\.[0-9]+† \$\\pm\$ 0\.[0-9]+ &'
says out '\{†: over survivors only; ‡: some jobs ran as another scheme\}'

ends 0 compare all part other none --metric jobs.jct_s.mean --metric network.max_queue_bytes
says out '^B  part: some, seed 1, refused, jobs 2/3$'
says out '^  B +2/3 +0\.00[0-9]+† .* 2 of 3 in both$' # both sides did the same work
says out '^  B +[0-9]+† +-$'
says out '^  C +3/3 +0\.00[0-9]+‡ '
says out '^  D +0/3 '
ends 0 compare part none # nothing is the same where nobody ran
checks=$((checks + 1))
! grep -q 'same' out || fail "the same: $(cat out)"

# --- plot ---

if command -v gnuplot >gnuplot; then
	ends 0 plot states --y jobs.jct_s.mean --x scheme --by memory --term svg --out figures
	says figures/*-bars.dat '; 12 of 12 points shown, 3 with REFUSED jobs \(†: mean over survivors\), 3 by ANOTHER SCHEME \(‡\)$'
	says figures/*-bars.dat '^panel series x value low high replications mark name$'
	says figures/*-bars.dat '^1 [12] 2 0\.00046[0-9 .e-]* 3 1 "memory 2MB"$'
	says figures/*-bars.dat '^1 [12] 1 0\.0011[0-9 .e-]* 3 2 "memory 24MB"$'
	says figures/*-bars.svg '>†<'
	says figures/*-bars.svg '>‡<'
fi

finish "refused, unfinished and substituted work is seen"
