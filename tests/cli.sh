#!/bin/bash
# The program as its users meet it: exit codes, what goes to which stream, JSON
# that parses, signals, figures. Not here: exit code 5 (a violated check is a bug,
# no scenario makes one), 1 (compare.sh, regress.sh), and a deadlock, for which no
# scenario is known either.
source "${SRC:?source directory}/tests/lib/shell.sh"
in_a_folder_of_its_own

cat >small.json <<'JSON'
{
  "name": "small",
  "topology": { "kind": "star", "hosts": 4 },
  "jobs": [ { "workers": 2, "all_reduce": "ring", "model": { "layers": [ { "gradient": "100KB", "forward": "10us" } ] } } ],
  "flows": [ { "pairs": "permutation", "size": "50KB" } ]
}
JSON
cat >endless.json <<'JSON'
{ "name": "endless", "topology": { "kind": "star", "hosts": 4 }, "flows": [ { "pairs": [[0, 1]], "size": "1000TB" } ] }
JSON
cat >late.json <<'JSON'
{
  "name": "late", "stop": { "after": "5ms" },
  "topology": { "kind": "star", "hosts": 4 },
  "jobs": [ { "name": "vgg", "workers": 4, "all_reduce": "ring", "model": "vgg16" },
            { "name": "next", "workers": 4, "all_reduce": "ring", "model": "vgg16" } ],
  "flows": [ { "pairs": [[0, 1]], "size": "1GB" } ]
}
JSON
echo '{ "name": "wrong" }' >wrong.json

# --- the event log ---

ends 0 run small.json --out logged --events 0s..1s --quiet
holds '.digest == "'"$("$INASIM" run small.json --json | jq -r .digest)"'"' logged/summary.json
holds ".events == $(($(wc -l <logged/events.csv) - 1))" logged/summary.json
says logged/events.csv '^1,0,control,arrivals of flow group 0,acts,,,,,,,[0-9a-f]{16}$'
ends 0 run small.json --set /flows/0/enabled=false --out logged --events 0s..1s --quiet # nothing of it arrives
says logged/events.csv '^1,0,control,numbers of disabled flow group 0,acts,'
grep 'arrivals of flow' logged/events.csv >outside || true
silent outside
ends 0 run small.json --out logged --events 0s..1s --quiet
says logged/events.csv 'arrival,h[0-9] -> switch,tcp data flow [0-9]+ seq 0 payload 1460 size 1518 ECT'
says logged/events.csv 'tcp data flow .* ECT push,'
ends 0 run small.json --set /jobs/0/all_reduce=switchml --out logged --events 0s..1s --quiet
says logged/events.csv 'switchml aggregation job 0 chunk [0-9]+ source [01] slot [0-9]+ size 180 version,'
grep -E 'switchml.* (push|bypass)' logged/events.csv >outside || true
silent outside
for scheme in netreduce panama; do
	ends 0 run small.json --set /jobs/0/all_reduce=$scheme --set /schemes/panama/aggregate_above=0B --out logged --events 0s..1s --quiet
	says logged/events.csv ',accelerator of switch 0,'
done

# what happened to aggregators adds up to what switches count; chunks are numbers in the job
# column TABLE NAME PATTERN: rows of events.csv whose cell matches; sum FILE NAME
column() { awk -F, -v name="$2" -v pattern="$3" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) at = i; next } $at ~ pattern { n++ } END { print n + 0 }' "$1"; }
sum() { awk -F, -v name="$2" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) at = i; next } { n += $at } END { print n + 0 }' "$1"; }
for scheme in switchml esa; do
	ends 0 run small.json --set /jobs/0/all_reduce=$scheme --set /topology/hosts=5 --out logged --events 0s..1s --quiet
	for pair in add:packets_aggregated complete:results collide:collisions preempt:preemptions; do
		checks=$((checks + 1))
		[[ $(column logged/events.csv did "(^|[+])${pair%:*}([+]|$)") == $(sum logged/aggregators.csv "${pair#*:}") ]] ||
			fail "$scheme: events.csv and aggregators.csv differ: $pair"
	done
	checks=$((checks + 1))
	chunks=$(awk -F, '$6 != "" && NR > 1 { if ($8 > most) most = $8; seen[$8]++ } END { print most + 1 == length(seen) }' logged/events.csv)
	[[ $chunks == 1 ]] || fail "$scheme: chunks are not numbered from 0 without gaps"
done
ends 0 run small.json --out logged --events 10us..20us --quiet
awk -F, 'NR > 1 && ($2 < 10e-6 || $2 > 20e-6)' logged/events.csv >outside
silent outside
ends 2 run small.json --events 0s..1s
says err 'give --out DIR'
ends 2 run small.json --out logged --events 1ms
says err '--events takes FROM..TO'
ends 2 run small.json --out logged --events 2ms..1ms
says err '--events takes FROM..TO'

# --- usage ---

ends 2
says err '^usage:'
silent out
ends 0 --help
says out '^  inasim check            validate only'
says out '^  inasim export topology  print the network'
silent err
for verb in init run check explain help list formula schema regress plot why manual; do
	ends 0 "$verb" --help
	says out "^usage: inasim $verb"
	silent err
	ends 0 "$verb" --version
	says out '^inasim [0-9]'
	ends 2 "$verb" --colour
	says err "$verb has no option \"--colour\""
	silent out
done
ends 0 sweep --version
says out '^inasim [0-9]'
for verb in 'export topology' 'export fct' 'import topology'; do
	# shellcheck disable=SC2086 # two words
	ends 0 $verb --help
	says out "^usage: inasim $verb"
done
ends 0 run --help
says out '--fidelity F +packet, fluid .*, or analytic'
ends 0 --version
says out 'Release build|Debug build|RelWithDebInfo build|MinSizeRel build'
says out 'GSL [0-9].*cJSON [0-9]'
ends 2 chekc small.json
says err 'did you mean "check"'
for verb in run check explain formula plot why; do
	ends 2 "$verb"
	says err "$verb needs "
done
for words in 'run' 'plot' 'report' 'sweep run'; do # "$UNSET": not the root of the file system
	# shellcheck disable=SC2086 # words
	ends 2 $words small.json --out ''
	says err '^inasim: --out needs a path; found ""$'
done
ends 2 regress ''
says err '^inasim: argument 1 of regress is empty; see inasim regress --help$'
ends 2 compare small.json ''
says err '^inasim: argument 2 of compare is empty'
ends 2 run --out
says err '--out needs a value'
ends 2 run --quiet=yes small.json
says err '--quiet takes no value'
ends 2 run -quiet small.json
says err 'run has no option "-quiet" \(did you mean --quiet\?\)'
ends 2 run --oot x small.json
says err 'did you mean --out'
ends 2 run --set seed=3 small.json
says err '--set takes /pointer=value'
ends 2 run --set /seed small.json
ends 2 explain small.json late.json
ends 2 list everything
ends 2 schema small.json
ends 2 schema --plan --results
says err '--plan or --results, not both'
ends 2 plot --term gif .
ends 2 plot --figure nonsense .
ends 2 plot --together . .
ends 2 plot --together --out figures --figure job_timeline . .
ends 2 plot --together --out figures --x load . .
ends 2 plot --out figures . .
ends 2 plot --label one .
says err '--label needs --together for result directories such as \.'
ends 2 plot --xlabel time .
says err 'are for one figure; say which with --figure'
ends 2 plot --y a --ylabel one --ylabel two .
ends 2 plot --panels --together --out figures . .
ends 2 plot --font 'Sans;exit' .
ends 2 plot --font Sans,9 .
says err '--font takes NAME, or with --size NAME,POINTS'
ends 2 compare --json --latex . .
ends 2 plot --together --out figures --label one . .
ends 2 plot --size 3.5 .

# --- check ---

ends 0 check small.json late.json
says out '^small.json: valid: [0-9]+ hosts, '
says out '^late.json: valid: '
says err '^late.json:4:13: /jobs/0: warning: the 2 jobs .* need 8 places on hosts, .* there are 4: 1 run at once'
ends 0 check --quiet small.json
silent out
ends 0 check --json small.json
holds '. == []' out
ends 6 check --json wrong.json small.json nothing.json # one document
holds '[.[] | .file] | unique == ["nothing.json", "wrong.json"]' out
checks=$((checks + 1))
[[ $(jq -s length out) == 1 ]] || fail "check --json of several prints $(jq -s length out) documents"
ends 3 check wrong.json small.json
says err '^wrong.json:1:1: /: the key "topology" is missing'
says out '^small.json: valid: [0-9]+ hosts, '
ends 3 check --json wrong.json
silent err
holds '.[0] | .file == "wrong.json" and .line == 1 and .column == 1 and (.message | length > 0)' out
ends 6 check nothing.json
says err 'nothing.json: cannot be read: No such file'
ends 6 check .
ends 6 check /dev/zero
says err '/dev/zero: cannot be read: neither a regular file nor a pipe'
ends 0 check <(cat small.json)
"$INASIM" run --quiet --json /dev/stdin < <(cat small.json) >out || fail "a scenario from standard input"
holds '.scenario == "small"' out
ends 6 check <(yes ' ')
says err 'cannot be read: larger than 256MiB'
ends 6 check small.json nothing.json wrong.json
ends 0 check --seed 7 --fidelity packet --set /name=other small.json
ends 3 check --seed seven small.json
says err 'command line: --set /seed'

# --- what is legal, probably a mistake ---

# a frame and its ACK over two links: 2 x (1538 + 84 bytes) at 5 Gbps, 4 x 20 us, twice a switch of 500 ns
jq '.topology.link = { rate: "5Gbps", delay: "20us" } | .tcp.initial_rto = "50us"' small.json >hasty.json
ends 0 check hasty.json
says out '^hasty.json: valid: '
says err '^hasty.json:[0-9]+:[0-9]+: /tcp/initial_rto: warning: 5e-05 s is shorter than the round trip .*, 8\.61904e-05 s:'
ends 0 check --json hasty.json
holds 'length == 1 and .[0].severity == "warning" and .[0].pointer == "/tcp/initial_rto"' out
ends 0 check --quiet hasty.json
silent err
ends 0 run hasty.json
says err '/tcp/initial_rto: warning: '
says out '^small: all_done after'
ends 0 explain hasty.json
says err '/tcp/initial_rto: warning: '
ends 0 run --quiet hasty.json
silent err
ends 0 check hasty.json --set /tcp/initial_rto=100us
silent err
ends 0 check hasty.json --set '/topology/link/delay="1us"'
silent err
ends 0 check hasty.json --fidelity analytic # has no timeouts
silent err
echo '{ "base": "hasty.json", "name": "hasty", "axes": [] }' >hasty-plan.json
ends 0 sweep plan hasty-plan.json

# Small packets beside full frames, in queues that count packets.
cat >small-packets.json <<'JSON'
{ "name": "s", "topology": { "kind": "star", "hosts": 4, "switch": { "ecn": { "threshold": "85pkt" } } },
  "jobs": [ { "workers": 2, "all_reduce": "switchml", "model": { "layers": [ { "gradient": "100KB" } ] } } ],
  "flows": [ { "size": "1MB", "pairs": [ [ 2, 3 ] ] } ] }
JSON
ends 0 check small-packets.json
says err '/topology/switch/ecn: warning: .* counts those of switchml, 180 bytes, .* frames of 1518 bytes .* "129030B"'
ends 0 run small-packets.json
says err '/topology/switch/ecn: warning: '
while read -r -a options; do
	ends 0 check small-packets.json "${options[@]}"
	silent err
done <<'OPTIONS'
--set /topology/switch/ecn=true
--set /topology/switch/ecn={"threshold":"129kB"}
--set /flows/0/enabled=false
--set /jobs/0/all_reduce=ring
--set /jobs/0/all_reduce=panama --set /schemes/panama={"aggregate_above":"0B","trees":1}
--set /jobs/0/enabled=false --set /stop/when=flows_done
OPTIONS

# Accelerators that are slower than links, for which PAUSE has no room.
jq '.topology.link = { rate: "25Gbps" } | .jobs[0].all_reduce = "panama" | .topology.switch = {} |
	.schemes.panama = { aggregate_above: "0B", trees: 1 }' small-packets.json >slow.json
ends 0 check slow.json
silent err
ends 0 check slow.json --set /schemes/panama/accelerator_latency={\"bus\":64}
says err 'warning: 64 bits pass 12.8 Gbps a port, links have up to 25; those need 128 bits'
ends 0 check slow.json --set /schemes/panama/accelerator_latency={\"bus\":128}
silent err
ends 0 check slow.json --set /schemes/panama/accelerator_latency=1us
silent err
ends 3 check slow.json --set /schemes/panama/accelerator_latency={\"bus\":64} --set /topology/switch/pause=true
says err '/bus: 64 bits pass 12.8 Gbps a port'

# What fluid cannot know: windows beside flows. Without flows or jobs, and as packets, there is no
# warning.
cat >beside.json <<'JSON'
{ "name": "beside", "fidelity": "fluid", "topology": { "kind": "leaf-spine", "leaves": 2, "spines": 2, "hosts_per_leaf": 4 },
  "jobs": [ { "workers": [0, 4], "all_reduce": "panama", "model": { "layers": [ { "gradient": "8MB" } ] } } ],
  "flows": [ { "size": "8MB", "count": 1, "pairs": [[1, 5]] } ],
  "schemes": { "panama": { "aggregate_above": "0B", "trees": 1 } } }
JSON
ends 0 check beside.json
says err '^beside.json:1:[0-9]+: /fidelity: warning: do not rank schemes beside flows by fluid'
ends 0 run beside.json
says err '/fidelity: warning: do not rank schemes beside flows by fluid'
while read -r -a options; do
	ends 0 check beside.json "${options[@]}"
	silent err
done <<'OPTIONS'
--set /flows=[]
--set /flows/0/enabled=false
--set /jobs/0/enabled=false
--fidelity packet
--fidelity analytic
OPTIONS
for file in "$SRC"/scenarios/fluid/*.json; do
	[[ $file == */shared-uplink.json ]] && continue # it shows how far off fluid is beside flows
	ends 0 check "$file"
	silent err
done

# Where all that workers may send to one server does not fit its port's buffer, a fixed timer may send the lost
# for ever (seeds 1, 4 and 6 here); at the edge, with another timer, under PAUSE or as streams there is no warning.
cat >crowd.json <<'JSON'
{ "name": "crowd", "topology": { "kind": "star", "hosts": 9, "link": { "rate": "25Gbps" },
                                 "switch": { "latency": "2us", "buffer": "100KB" } },
  "jobs": [ { "workers": 7, "servers": 1, "send_jitter": "20us", "all_reduce": "ps_stream",
              "model": { "layers": [ { "gradient": "800KB" } ] } } ] }
JSON
ends 0 check crowd.json
says err '^crowd.json:3:[0-9]+: /jobs/0/all_reduce: warning: 7 workers with 256 slots a server .* 322560 bytes at once, more than the 100000 '
ends 0 run crowd.json --seed 2 --out crowd
cells 'c["slots"] != 256 { print c["slots"] " slots, not those of the warning" }' crowd/jobs.csv
ends 0 check crowd.json --set /topology/switch/buffer=322559B
says err 'warning: 7 workers'
while read -r -a options; do
	ends 0 check crowd.json "${options[@]}"
	silent err
done <<'OPTIONS'
--set /topology/switch/buffer=322560B
--set /schemes/ps_stream={"timeout_rule":"doubling"}
--set /jobs/0/servers=2 --set /topology/switch/buffer=200KB
--set /topology/switch/pause=true --set /topology/switch/buffer=300KB --set /topology/switch/ecn=false
--set /jobs/0/enabled=false --set /flows=[{"size":"1KB","pairs":[[0,1]],"transport":"reno"}]
--fidelity fluid
OPTIONS

# --- a plan for a scenario, and the other way round ---

echo '{ "name": "plan", "base": "small.json", "axes": [] }' >plan.json
for verb in check run explain; do
	ends 3 "$verb" plan.json --seed 7 --set /topology/hosts=4
	says err '^plan.json:1:1: /: this is a sweep plan, not a scenario .*inasim sweep plan, run, '
	says err '^    \^$'
	[[ $(wc -l <err) == 3 ]] || fail "$verb says more of a plan than that it is one: $(<err)"
done
ends 3 sweep run small.json 0
says err '^small.json:1:1: /: this is a scenario, not a sweep plan .*inasim check, explain and run'
ends 2 sweep plan.json
says err 'there is no verb "sweep plan.json"'
says err 'inasim sweep run PLAN N'

# --- run: streams, results ---

ends 0 run small.json
says out '^small: all_done after'
silent err
[[ -z $(ls -d -- *.partial 2>/dev/null || true) ]] || fail "a run without --out leaves a directory"
ends 0 run --quiet small.json
silent out
silent err
ends 0 run --json small.json --out results/deep/small
holds '.scenario == "small" and .end_reason == "all_done"' out
says err '^results in results/deep/small$'
ends 0 run --quiet --json small.json --out results/deep/small # replaces it
silent err
jq -S 'del(.cpu_s, .packet_hops_per_cpu_s, .peak_rss_bytes)' out >printed
jq -S 'del(.cpu_s, .packet_hops_per_cpu_s, .peak_rss_bytes)' results/deep/small/summary.json >written
cmp -s printed written || fail "--json prints something else than summary.json"
ends 0 run --json small.json late.json --set /stop/when=time --set /stop/after=1us # one document
holds 'type == "array" and map(.scenario) == ["small", "late"]' out
ends 6 run --json wrong.json small.json nothing.json
holds 'length == 3 and .[1].scenario == "small" and .[0].errors[0].file == "wrong.json"
	and (.[0].errors[0].message | test("topology")) and .[2].errors[0].file == "nothing.json"' out
silent err
ends 3 run --json wrong.json
holds '.errors | length > 0 and .[0].severity == "error"' out
ends 6 run --json small.json --out small.json/results
holds '.errors[0].message | test("small.json/results")' out
ends 2 run --json small.json --out there --why --fidelity fluid
holds '.errors[0].message | test("--why follows packets")' out
ends 0 run --quiet small.json --out several small.json
holds '.end_reason == "all_done"' several/0/manifest.json
holds '.end_reason == "all_done"' several/1/manifest.json
ends 0 run small.json --set /stop/when=time --set /stop/after=1us # no job, no flow finishes
says out '^job +ring +0 +- +- +- +- +- +- +- +-$'
says out '^10KB-100KB +4 +0 +- +- +- +-$'
! grep -q 'p99 is left out' out || fail "no flow has finished, so it is not that there are few"
ends 0 run small.json
says out '^10KB-100KB +4 +4 +[0-9.]+ms +- +[0-9.]+ +-$'
says out '^p99 is left out for classes with less than 1000 finished flows'
! grep -q '^busbw: ' out || fail "a ring is no faster than a link"
ends 0 run small.json --set /topology/hosts=8 --set /jobs/0/workers=8 --set /jobs/0/all_reduce=switchml --set /flows/0/enabled=false \
	--set '/jobs/0/model={"layers":[{"gradient":"4MB"}]}'
says out '^busbw: 2 \(n - 1\) / n x gradient / time .* the 1.250 GB/s of a link$'
ends 0 run small.json --set /topology/hosts=8 --set '/topology/host={"gpus":{"count":2},"nics":{"count":2}}' --set /jobs/0/workers=4 --set /jobs/0/all_reduce=switchml \
	--set /schemes/switchml/elements_per_packet=256 --set /flows/0/enabled=false --set '/jobs/0/model={"layers":[{"gradient":"4MB"}]}'
says out '^busbw: 2 \(n - 1\) / n x gradient / time .* the 2.500 GB/s of the links of a machine$'
ends 0 run small.json --set '/jobs/0/model={"layers":[{"gradient":"4B","forward":"150s"}]}'
says out '^job +ring +1 +150.000s +150.000s +0.001ms +150.000s '
NO_COLOR=1 "$INASIM" run small.json >out 2>err
if grep -q $'\e' out err; then fail "colour where nobody asked for it"; fi
ends 0 run --quiet --seed 9 --set /jobs/0/workers=3 small.json --out seeded
holds '.seed == 9 and .scenario.seed == 9 and .scenario.jobs[0].workers == 3' seeded/manifest.json
holds '.command_line[1:4] == ["run", "--quiet", "--seed"]' seeded/manifest.json
holds '.command_line | index("/jobs/0/workers=3")' seeded/manifest.json
ends 0 run small.json --timeline 0s..3ms --out timed
holds '.command_line | index("0s..3ms")' timed/manifest.json # as it was typed
says err '^results in timed$'
! grep -q 'MB' err || fail "a small timeline is announced as a large one: $(<err)"

# --- run: what goes wrong ---

ends 3 run wrong.json --out wrong
[[ ! -e wrong && ! -e wrong.partial ]] || fail "an invalid scenario leaves a directory"
ends 6 run nothing.json
ends 6 run small.json --out small.json/results
says err 'small.json/results'
ends 6 run small.json --out /proc/results/small # no folder can be made there
says err '/proc/results/small.partial: No such file or directory'
mkdir precious && echo mine >precious/file
ends 6 run small.json --out precious
[[ $(<precious/file) == mine && ! -e precious.partial ]] || fail "somebody else's directory was touched"
# full ARGUMENT...: standard output is a full disk
full() {
	local code=0
	"$INASIM" "$@" >/dev/full 2>err || code=$?
	((code == 6)) || fail "inasim $*: exit code $code on a full disk, not 6"
	says err 'cannot write standard output'
}
if [[ -w /dev/full ]]; then
	full list
	full --version
	full run --help
	full run --json --set /stop/after=1us small.json # 4 would say that there is a summary
fi

# Several runs into one directory at once, which may hold results: some are told so, and one leaves
# its results, whole. What two of them can do to each other takes many rounds to show.
for ((round = 0; round < $(sample 30 100); round++)); do
	rm -f codes
	for _ in 1 2 3 4; do
		("$INASIM" run --quiet small.json --out crowded 2>>told || echo $? >>codes) &
	done
	wait
	checks=$((checks + 1))
	! grep -qv 6 codes 2>/dev/null || fail "at once: exit code $(grep -v 6 codes)"
	[[ -f crowded/manifest.json && -f crowded/summary.json && -f crowded/flows.csv ]] ||
		fail "at once: crowded has $(ls crowded)"
	[[ ! -e crowded/.writing ]] || fail "at once: a marker is left"
	[[ -z $(compgen -G 'crowded.*') ]] || fail "at once: $(compgen -G 'crowded.*')"
done
says told 'is being written by another run'
grep -vE '^inasim: crowded is being written by another run( \(process [0-9]+\))?$' told >other || true
silent other

ends 4 run late.json --out late
says out '^late: time_limit after 0.005000 s'
says err 'the time limit was reached at 0.005000000 s with unfinished work'
says err 'job 0 \(vgg\): 0 of 1 iterations'
says err 'job 1 \(next\): waits for 4 hosts'
says err 'connection host 0 -> host 1: [0-9]+ of 1000000000 bytes acknowledged'
holds '.end_reason == "time_limit"' late/manifest.json
ends 0 run --quiet --set '/stop/when=time' late.json # the planned end

# flows that were asked for and have not started are unfinished work, too
cat >few.json <<'JSON'
{ "name": "few", "topology": { "kind": "star", "hosts": 4 }, "stop": { "after": "10ms" },
  "flows": [ { "name": "many", "size": "1KB", "arrival": { "poisson_load": 0.001 }, "count": 1000 },
             { "name": "done", "size": "1KB", "pairs": [[0, 1]] } ] }
JSON
ends 4 run few.json
says err '^  flows \(many\): [0-9]+ of 1000 have started, the next would at 0\.01[0-9]* s$'
! grep -q 'flows (done)' err || fail 'a group that has made all its flows is said to wait'

# Streams that are closed: what is said there is in no file.
"$INASIM" run late.json --out mute <&- 2>&- >out && fail "ends as if all were done"
for file in late/*.csv; do
	same "$file" "mute/${file##*/}"
done
"$INASIM" run late.json --out mute <&- >&- 2>&- && fail "ends as if all were done"
for file in late/*.csv; do
	same "$file" "mute/${file##*/}"
done

# --- out of memory ---

if limits_memory; then
	echo '{ "name": "many", "topology": { "kind": "star", "hosts": 4 },
		"flows": [ { "pairs": "uniform", "count": 5000000, "size": "1KB" } ] }' >many.json
	for _ in 1 2; do # what the first leaves is not in the way of the second
		code=0
		(ulimit -v 100000 && "$INASIM" run small.json many.json --out scarce) >out 2>err || code=$?
		((code == 7)) || fail "out of memory: exit code $code"
		says err '^inasim: out of memory: asked for [0-9]+ bytes more, with at most [0-9]+ MB in use so far$'
		says err '^  scenario many, seed 1, time 0 ps, event 1$'
		says out '^small: all_done after'
		[[ ! -e scarce/1 && -f scarce/0/manifest.json ]] || fail "out of memory: $(ls scarce)"
	done
	cp scarce/0/manifest.json former.json # stays where a run does not get that far
	code=0
	(ulimit -v 100000 && "$INASIM" run many.json --out scarce/0 --force) 2>err || code=$?
	((code == 7)) || fail "out of memory: exit code $code"
	same scarce/0/manifest.json former.json
	echo '{ "name": "wide", "topology": { "kind": "star", "hosts": 60000 }, "flows": [ { "count": 1, "size": "1kB" } ] }' >wide.json
	(ulimit -v 55000 && "$INASIM" run wide.json) 2>err || true
	says err '^inasim: out of memory: asked for [0-9]{6,} bytes more' # of the whole table, not of a host
fi

# --- signals ---

# signalled SIGNAL OUT [twice]: starts an endless run and sends the signal as soon as it has its folder, and so
# listens; the code is in `code`
signalled() {
	local pid
	code=0
	rm -rf "$2.partial"
	"$INASIM" run endless.json --out "$2" >out 2>err </dev/null &
	pid=$!
	wait_for listens "$pid" "$2"
	kill -s "$1" "$pid" ${3:+"$pid"}
	wait "$pid" 2>/dev/null || code=$?
}

signalled INT interrupted
((code == 130)) || fail "SIGINT ends with $code, not 130"
says err '^inasim: interrupted after'
holds '.end_reason == "interrupted" and (.files | map(.name) | index("flows.csv"))' interrupted/manifest.json
holds '.end_reason == "interrupted" and .flows.count == 1 and .flows.finished == 0' interrupted/summary.json
[[ ! -e interrupted.partial ]] || fail "interrupted.partial is left"
for signal in TERM QUIT XCPU; do
	signalled $signal terminated
	((code == 130)) || fail "SIG$signal ends with $code, not 130"
	holds '.end_reason == "interrupted"' terminated/manifest.json
	[[ ! -e terminated.partial ]] || fail "SIG$signal leaves terminated.partial"
done
signalled KILL killed
((code == 137)) || fail "SIGKILL ends with $code, not 137"
[[ -d killed.partial && ! -e killed ]] || fail "a killed run looks finished"
[[ ! -e killed.partial/manifest.json ]] || fail "killed.partial has a manifest"
ends 0 run --quiet small.json --out killed # the next one clears it away
[[ ! -e killed.partial ]] || fail "killed.partial stays for ever"
signalled INT twins twice # as by timeout(1), which signals the process and its group
((code == 130)) || fail "SIGINT twice ends with $code, not 130"
holds '.end_reason == "interrupted"' twins/manifest.json

# An interrupted run does not replace one that came to its end, but another interrupted one.
ends 0 run --quiet endless.json --set '/flows/0/size="1KB"' --out ended
cp ended/manifest.json former.json
signalled INT ended
says err '^inasim: ended keeps the results of a run that was not interrupted; the results of this run are in ended.partial until'
same ended/manifest.json former.json
holds '.end_reason == "interrupted"' ended.partial/manifest.json
holds '.flows.count == 1' ended.partial/summary.json
ends 0 run --quiet endless.json --set '/flows/0/size="1KB"' --out ended
[[ ! -e ended.partial ]] || fail "the next run leaves what an interrupted one did not finish"
cp interrupted/manifest.json former.json
signalled INT interrupted
[[ ! -e interrupted.partial ]] || fail "an interrupted run does not replace an interrupted one"
! cmp -s interrupted/manifest.json former.json || fail "the former interrupted run stays"

# --- long runs ---

# what SIGUSR1 asks for, at any time; the run goes on
"$INASIM" run --quiet endless.json --out asked >out 2>err </dev/null &
pid=$!
wait_for listens "$pid" asked # before that a question would be its end
kill -USR1 "$pid"
wait_for grep -q ' bytes acknowledged' err
kill -INT "$pid"
wait "$pid" 2>/dev/null || true
says err '^endless: [0-9.]+ %.* of 1 flows, [0-9.]+ s at [0-9.e+-]+ m?s/s$'
says err '^  connection host [0-9]+ -> host [0-9]+: [0-9]+ of [0-9]+ bytes acknowledged'
says err '^inasim: interrupted after'

# how much of an iteration is done counts
"$INASIM" run --quiet "$SRC/scenarios/switchml/tat-8-workers.json" --no-fast-forward --set /stop/after=10000s --out half \
	>out 2>err </dev/null &
pid=$!
wait_for listens "$pid" half
while kill -USR1 "$pid" 2>/dev/null && ! grep -qE '[1-9][0-9.]* %' err; do
	sleep 0.05
done
wait "$pid" || true
says err '^tat-8-workers: [0-9]*[1-9][0-9.]* %, (at most )?[0-9]+ s left, 0 of 1 iterations, '

# the line on a terminal fits, whatever its width
if command -v script >/dev/null; then
	script -qfec "stty cols 40; exec '$INASIM' run endless.json" /dev/null >lines 2>/dev/null </dev/null &
	pid=$!
	wait_for grep -q 'endless: [0-9.]* %' lines
	kill -TERM "$pid"
	wait "$pid" 2>/dev/null || true
	tr '\r' '\n' <lines >out
	says out '^endless: [0-9.]+ %'
	checks=$((checks + 1))
	[[ -z $(grep '^endless: [0-9.]* %' out | grep -E '^.{40}') ]] || fail "too long: $(head -n 3 out)"
fi

# the first four exchanges of a job that wait; the transfer between h3 and h4 is the fourth, behind three that are done
cat >stages.json <<'JSON'
{ "name": "stages", "topology": { "kind": "star", "hosts": 6 }, "stop": { "after": "28ms" },
  "jobs": [ { "workers": 6, "all_reduce": "ring", "overlap": "layers", "pipeline": { "stages": 6, "activations": "10MB" },
    "model": { "layers": [ { "gradient": "4B" }, { "gradient": "4B" }, { "gradient": "4B" },
                           { "gradient": "4B" }, { "gradient": "4B" }, { "gradient": "4B" } ] } } ] }
JSON
ends 4 run stages.json
says err 'point_to_point of job 0: worker 4 \(host 4\) waits for tensor 0, step 0, from host 3'

# no progress for long, and a loss that is only bad
cat >stalled.json <<'JSON'
{ "name": "stalled", "topology": { "kind": "star", "hosts": 10, "link": { "loss": 0.9 } },
  "jobs": [ { "workers": 8, "all_reduce": "switchml", "model": { "layers": [ { "gradient": "1MB" } ] } } ],
  "stop": { "when": "jobs_done", "after": "5s" } }
JSON
ends 4 run stalled.json
says err '^inasim: stalled: no job computed or received a sum between 0.000001000 s and [1-4].[0-9]+ s of simulated time; kill -USR1 [0-9]+ shows what each waits for$'
says err 'job 0 \(job\): 0 of 1 iterations, 8 sums of tensors outstanding at its workers, no progress since 0.000001000 s'
ends 4 run --quiet stalled.json
checks=$((checks + 1))
! grep -q 'no job computed' err || fail "--quiet warns"
ends 0 run stalled.json --set /topology/link/loss=0.2
checks=$((checks + 1))
! grep -q 'no job computed' err || fail "a job that goes on: $(<err)"

# --- results of another experiment ---

ends 0 run --quiet small.json --out mine
ends 0 run --quiet small.json --out mine --seed 2 # the same one
silent err
cp mine/manifest.json former.json
ends 6 run --quiet small.json --set /name=other --out mine
says err '^inasim: mine holds results of the scenario "small", not of "other": they are left alone; give another --out, or --force$'
same mine/manifest.json former.json
ends 0 run --quiet small.json --set /name=other --out mine --force
holds '.scenario.name == "other"' mine/manifest.json

# --- results of another version ---

# other FILTER: `former` holds the results of `mine`, and this has been done to its manifest
other() {
	rm -rf former
	cp -r mine former
	jq "$1" mine/manifest.json >former/manifest.json
}
ends 0 run --quiet small.json --out mine --force --why
for verb in why compare 'plot --quiet' report; do
	[[ $verb != plot* && $verb != report ]] || command -v gnuplot >/dev/null || continue
	other '.commit = "abc"'
	ends 0 "${verb% --quiet}" former
	says err '^inasim: former has results by another inasim, [0-9.]+ .abc.; this one is '
	other '.format = 77 | .version = "9.9"'
	# shellcheck disable=SC2086 # words
	ends 6 $verb former
	says err '^inasim: former has results of format 77, written by inasim 9.9 .*, reads format 1$'
	silent out
done
for filter in . 'del(.format)' 'del(.version, .commit)'; do # of before formats had numbers
	other "$filter"
	ends 0 why former
	silent err
done
cp -r former formerly
jq '.version = "0.0.9"' mine/manifest.json | tee former/manifest.json >formerly/manifest.json
ends 0 compare mine former formerly
says err '^inasim: former has results by another inasim, 0.0.9 .*; the same is true of 1 more$'
ends 6 compare mine former nothing
ends 0 sweep run plan.json 0 --quiet --out swept-before
ends 0 sweep collect plan.json --quiet --out swept-before
ends 0 report swept-before
silent err
sed -i "2s/,$(jq -r .version mine/manifest.json),/,0.0.9,/" swept-before/costs.csv
ends 0 report swept-before
says err '^inasim: swept-before has results by another inasim, 0.0.9 '

# --- models from files ---

mkdir -p shared/models
cat >shared/inline.json <<'JSON'
{
  "name": "own", "topology": { "kind": "star", "hosts": 4 },
  "jobs": [ { "workers": 4, "all_reduce": "ring", "overlap": "layers",
              "model": { "layers": [ { "gradient": "40KB", "forward": "9us" }, { "gradient": "90KB" } ], "send_order": [0, 1, 1] } } ]
}
JSON
jq '.jobs[0].model' shared/inline.json >shared/models/mine.json
jq '.jobs[0].model = "models/mine.json"' shared/inline.json >shared/file.json
jq '.jobs[0].model = { mix: [ { model: "models/mine.json" } ] }' shared/inline.json >shared/mix.json
printf 'job_id,submit_s,gpus,model\n1,0,4,models/mine.json\n' >shared/jobs.csv
jq '.jobs[0] += { model: "vgg16", arrival: { trace: "jobs" } } | del(.jobs[0].workers)' shared/inline.json >shared/trace.json
for form in inline file mix trace; do
	ends 0 run --quiet "shared/$form.json" --out "shared/$form"
	jq .sim_time_s "shared/$form/summary.json" >"shared/$form.time"
	same shared/inline.time "shared/$form.time"
done
says shared/mix/jobs.csv ',mine,' # its name in results
says shared/trace/jobs.csv ',mine,'
# Each job of a trace has the model that its row names, whatever form that of the group has; else the group's.
jq '.layers[0].gradient = "4KB"' shared/models/mine.json >shared/models/other.json
printf 'job_id,submit_s,gpus,model\n1,0,2,models/mine.json\n2,0,2,\n3,0,2,models/other.json\n4,0,2,models/mine.json\n' >shared/jobs.csv
jq '.jobs[0] += { arrival: { trace: "jobs" } } | del(.jobs[0].workers) | .topology.hosts = 8
	| .jobs[0].model = { layers: [ { gradient: "12KB", forward: "1us" } ] }' shared/inline.json >shared/parts.json
ends 0 run --quiet shared/parts.json --out shared/parts
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } { print $at["trace_id"], $at["model"], $at["gradient_bytes"] }' \
	shared/parts/jobs.csv | sort >found
printf '1 mine 130000\n2 in place 12000\n3 other 94000\n4 mine 130000\n' >wanted
same found wanted
# They are one row of the table, and one line of what ran as something else.
ends 0 run shared/parts.json --set /jobs/0/all_reduce=panama
name=$(jq -r '.jobs[0].name // "job"' shared/parts.json)
[[ $(grep -c "^$name  *panama  *4 " out) == 1 && $(grep -c "^$name  *panama" out) == 1 ]] || fail "rows of the jobs of a trace: $(cat out)"
says out "^not as configured: $name \(panama\): 4 ran as ring"

# What is in the file decides the result of a run, and of a point of a sweep.
echo '{ "name": "p", "base": "file.json", "axes": [] }' >shared/plan.json
ends 0 sweep plan shared/plan.json --json
cp out before
sed -i 's/90KB/80KB/' shared/models/mine.json
ends 0 sweep plan shared/plan.json --json
[[ $(jq .points[0].hash out) != $(jq .points[0].hash before) ]] || fail "another model, the same hash: $(cat out)"
ends 3 check small.json --set /jobs/0/model=mygpt
says err 'Your own: "model": \{ "layers": \[ \{ "gradient": "4MB", "forward": "1ms", "backward": "2ms" \} \] \}, or "model": "NAME.json"'
ends 3 check small.json --set /jobs/0/model=llama3_70b # not "did you mean llama2_70b"
says err 'no model "llama3_70b" with measured times; its training step is "model": \{ "llm": \{ "name": "llama3_70b"'

# --- a load of 0 is no flows ---

cat >load.json <<'END'
{ "name": "load", "topology": { "kind": "leaf-spine", "leaves": 2, "spines": 2, "hosts_per_leaf": 4 }, "schemes": { "ring": {} },
  "jobs": [ { "model": { "layers": [ { "gradient": "1MB" } ] }, "workers": 4, "iterations": 2, "all_reduce": "ring" } ],
  "flows": [ { "name": "web", "size": { "cdf": "websearch" }, "arrival": { "poisson_load": 0 }, "stop": "jobs_done" } ] }
END
jq 'del(.flows)' load.json >alone.json
checks=$((checks + 1))
[[ $("$INASIM" run load.json --json | jq -r .digest) == $("$INASIM" run alone.json --json | jq -r .digest) ]] ||
	fail "a load of 0 is another run than no flows"
ends 3 check load.json --set /flows/0/arrival/poisson_load=-0.1

# --- help, init, manual ---

ends 0 help
says out '^usage:'
ends 0 help run
says out '^usage: inasim run'
ends 0 help sweep # all verbs that begin with it
says out "sweep collect"
ends 0 help import
says out "import topology FILE"
ends 0 help sweep plan
says out '^usage: inasim sweep plan'
for key in nic_jitter host/nic_jitter /topology/host/nic_jitter; do
	ends 0 help "$key"
	says out '^/topology/host/nic_jitter$'
	says out '^  units +ps, ns, us'
	says out '^  source +our choice'
	says out '^  example +\{ "topology": \{ "host": \{ "nic_jitter": "1us" \} \} \}$'
done
ends 0 help /jobs/0/workers
says out '^/jobs/N/workers$'
says out '^  min +Fewest workers'
ends 0 help rate # two keys have this name
says out '^  /topology/link/rate +Bit rate'
says out '\[default "10Gbps"\]'
says out '^  /topology/uplink/rate '
ends 0 help base
says out '^of a sweep plan:$'
ends 2 help nic_jiter
says err 'there is no key or verb "nic_jiter" \(did you mean "nic_jitter"\?\)$'
silent out
ends 2 help replicaton # a key of sweep plans
says err 'did you mean "replications"\?\)$'
ends 2 help /jobs/workers
says err 'did you mean "/jobs/N/workers"\?\)$'
for found in tp:tensor rails:nics/wiring nvlink:host/gpus h100:resnet50 fat-tree:/topology/k Expert:all_to_all \
	load:flows/N/arrival/poisson_load; do # words that are no keys
	ends 0 help "${found%%:*}"
	says out "${found#*:}"
done
ends 0 help tp
silent err
ends 2 help xyzzyxyzzy
says err 'there is no key or verb "xyzzyxyzzy"; see inasim list keys, list metrics$'

ends 0 init
silent out
same scenario.json "$SRC/scenarios/first.json"
ends 0 check --strict scenario.json
ends 0 run --quiet scenario.json
echo mine >scenario.json
ends 6 init
says err 'scenario.json: it exists already'
says scenario.json '^mine$'
ends 6 init no/folder/x.json
for kind in h100-rail gb200 dgx-a100-ib tofino-100g; do # each runs in seconds, without a warning
	ends 0 init --kind $kind $kind.json
	ends 0 check --strict $kind.json
	ends 0 run $kind.json
	says out '^by-|^llama'
	silent err
done
ends 2 init --kind h100-rails x.json
says err 'there is no kind of cluster "h100-rails" \(did you mean "h100-rail"\?\); there are h100-rail, gb200'
ends 0 init other.json
[[ -s other.json ]] || fail "init: no other.json"

for asked in /jobs/0 /jobs/N jobs/0; do # an item of a list
	ends 0 help "$asked"
	says out '^/jobs$'
	says out '^  all_reduce '
done
ends 2 manual nroff
says err 'bash, zsh and fish'
for page in inasim.1 inasim-sweep.1 inasim-scenario.5; do
	ends 0 manual "$page"
	says out '^\.TH inasim'
	if command -v groff >/dev/null; then
		checks=$((checks + 1))
		groff -man -Tutf8 -ww out 2>warnings >/dev/null || fail "groff: $page"
		silent warnings
	fi
done
says out '^\.B /topology/link/rate$'
for shell in bash zsh fish; do
	ends 0 manual "$shell"
	same out "$SRC/scripts/completion/$shell"
	if command -v "$shell" >/dev/null; then
		"$shell" -n out || fail "$shell does not read its completion"
	fi
done
ends 0 manual bash
# completes WORDS... : what is offered for the last word
completes() {
	PATH=$(dirname "$INASIM"):$PATH bash -c 'source ./out; COMP_WORDS=(inasim "$@"); COMP_CWORD=$#; _inasim; echo "${COMPREPLY[*]}"' - "$@"
}
for pair in 'ex:explain export' 'export to:topology' 'sweep s:status' 'sweep run --for:--force' 'run --se:--seed --set' 'run sc:' \
	'run --fidelity f:fluid' 'plot --figure fct_c:fct_cdf' 'plot --y jobs.jct_s.m:jobs.jct_s.max jobs.jct_s.mean' \
	'compare --metric flows.time:flows.timeouts' 'plot --kind he:heat' 'formula pool_sl:pool_slots pool_slots_least' \
	'help oversub:oversubscription' 'list metr:metrics' 'run --set /jobs/0/all_r:/jobs/0/all_reduce=' \
	'manual inasim-sw:inasim-sweep.1'; do
	# shellcheck disable=SC2086 # words
	found=$(completes ${pair%%:*})
	checks=$((checks + 1))
	[[ $found == "${pair#*:}" ]] || fail "inasim ${pair%%:*} completes to \"$found\""
	[[ ${pair%%:*} != 'run sc' ]] && command -v fish >/dev/null || continue # fish completes files, too
	found=$(PATH=$(dirname "$INASIM"):$PATH fish -c "source '$SRC/scripts/completion/fish'
		complete -C 'inasim ${pair%%:*}'" | cut -f1 | sort | paste -sd' ')
	checks=$((checks + 1))
	found=${found//all_reduce=* \/jobs*/all_reduce=} # fish offers schemes with it
	[[ $found == "${pair#*:}" ]] || fail "in fish, inasim ${pair%%:*} completes to \"$found\""
done

words=$(PATH=$(dirname "$INASIM"):$PATH bash -c 'source ./out; COMP_WORDS=(inasim run --set /jobs/0/all_reduce = sw); COMP_CWORD=5
	_inasim; echo "${COMPREPLY[*]}"')
checks=$((checks + 1))
[[ $words == 'switchml switchml_star' ]] || fail "--set /jobs/0/all_reduce=sw completes to \"$words\""

# --- explain ---

# 1538 and 84 bytes on the wire of 10 Gbps over two links of 1 us each way, a switch of 500 ns and a host of 2 us each way
ends 0 explain small.json --set /topology/host/latency=2us
says out '^longest path of job "job" \(ring\): a frame of 1518 bytes and its ACK of 64: 4 links, 2 switches, host latency \(2us\) twice; 11.5952 us on an idle network; bandwidth-delay product 14494 bytes$'
says out '^longest path of flows ".*" \(dctcp\): .* 11.5952 us '
# 200 bytes twice over a link of 10 Gbps and 1 us, a switch and a host
ends 0 explain small.json --set /topology/host/latency=2us --set /jobs/0/all_reduce=switchml
says out '^longest path of job "job" \(switchml\): a packet of 180 bytes to the root and its sum to the workers: 2 links, 1 switches, host latency \(2us\) once; 4.82 us .* product 6025 bytes$'

# A line of explain --json is a pointer and a value: put together again they are a scenario.
assemble() {
	jq 'reduce .[] as $e ({}; setpath($e.pointer | split("/")[1:]
		| map(gsub("~1"; "/") | gsub("~0"; "~") | if test("^[0-9]+$") then tonumber else . end); $e.value))' "$1"
}
ends 0 explain small.json
says out '^/topology/link/rate +10Gbps +default: PANAMA section 7$'
says out '^/name +small +small.json:2$'
silent err
# Of schemes, those that jobs have or may fall back to, and those that the scenario sets.
schemes_of() {
	"$INASIM" explain "$@" 2>/dev/null | sed -n 's|^/schemes/\([a-z_]*\)/.*|\1|p' | uniq | paste -sd' '
}
for pair in 'ring:ring' 'panama:ring panama' 'switchml:switchml'; do
	found=$(schemes_of small.json --set "/jobs/0/all_reduce=${pair%%:*}")
	checks=$((checks + 1))
	[[ $found == "${pair#*:}" ]] || fail "explain of ${pair%%:*} shows the schemes \"$found\""
done
found=$(schemes_of small.json --set /schemes/atp/memory=2MB)
checks=$((checks + 1))
[[ $found == *atp* ]] || fail "explain leaves out what is set: $found"
for scenario in small.json late.json "$SRC"/scenarios/*.json; do
	ends 0 explain --json "$scenario"
	holds 'length > 30 and all(.[]; has("pointer") and has("value") and has("origin"))' out
	cp out before
	assemble out >again.json
	ends 0 explain --json again.json
	for file in before out; do
		jq -c '.[] | [.pointer, .value]' "$file" | LC_ALL=C sort >"$file.values"
	done
	cmp -s before.values out.values || fail "$scenario: what explain says does not resolve to itself"
done
jq .scenario seeded/manifest.json >resolved.json
ends 0 run --quiet resolved.json --out again
for key in .digest .scenario_hash; do
	[[ $(jq "$key" seeded/manifest.json) == $(jq "$key" again/manifest.json) ]] ||
		fail "the scenario in the manifest gives another $key"
done
for size in 4 8; do # of a program beside the scenario
	printf 'num_ranks 2\nrank 0 { send %sb to 1 }\nrank 1 { recv %sb from 0 }\n' $size $size >x.goal
	echo '{ "name": "x", "topology": { "kind": "star", "hosts": 2 }, "jobs": [ { "iterations": 1, "all_reduce": "ring", "model": "x.goal" } ] }' >x.json
	ends 0 run --quiet x.json --out "goal$size"
done
[[ $(jq .scenario_hash goal4/manifest.json) == $(jq .scenario_hash goal8/manifest.json) ]] || fail 'scenario_hash: of a file'
[[ $(jq .inputs_hash goal4/manifest.json) != $(jq .inputs_hash goal8/manifest.json) ]] || fail 'inputs_hash: of no file'
ends 3 explain wrong.json
silent out
ends 6 explain nothing.json

# --- list, schema, plot ---

ends 0 list
says out '^schemes$'
says out '^  ring '
ends 0 list --json
holds 'all(.schemes, .topologies, .transports, .models, .traces, .figures, .formulas; length > 0)' out
for kind in schemes topologies transports models traces figures formulas; do
	ends 0 list "$kind" --json
	holds "keys == [\"$kind\"] and all(.[] | .[]; .name and .help)" out
done
ends 0 list schemes --json
holds 'all(.schemes[]; .fluid_tolerance | keys == ["one_switch", "tiers", "together"] and all(.[]; . == null or (. > 0 and . < 0.1)))' out
# All of them: crosscheck.sh judges by these, so it does not notice one that is another
holds '[.schemes[] | { name } + .fluid_tolerance | [.one_switch, .tiers, .together, .name]] |
	(map(select(.[0:3] == [0.02, null, null])[3]) == ["ring", "halving_doubling", "ps", "ps_stream"]) and
	(map(select(.[0:3] == [0.02, 0.02, 0.05])[3]) == ["switchml", "panama", "switchml_star", "netreduce", "sharp"]) and
	(map(select(.[0:3] == [null, null, null])[3]) == ["double_tree", "atp", "esa", "nvls", "shards", "multicast"])' out
ends 0 list formulas --json
holds '.formulas[] | select(.name == "flat_ring") | .unit == "s" and .source == "NetReduce appendix A, equation 1" and (.inputs | map(.name) == ["gpus", "alpha", "bytes", "inter"])' out
holds 'all(.formulas[]; .source and (.inputs | length > 0) and all(.inputs[]; .help))' out
ends 0 list formulas
says out '^  flat_ring  +all-reduce by one flat ring'
says out ' of gpus \[alpha\] bytes inter; in s$'

# --- formula ---

ends 0 formula flat_ring gpus=32 alpha=1us bytes=100MB inter=12.5GBps
says out '^15[.]562 ms$'
silent err
ends 0 formula ring_over_ina workers=4
says out '^1[.]5$'
ends 0 formula flat_ring gpus=32 bytes=100MB inter=100Gbps --json
holds '.name == "flat_ring" and .unit == "s" and .value == 0.0155 and .inputs == { gpus: 32, alpha: 0, bytes: 1e8, inter: 1e11 }' out
ends 2 formula flat_rign
says err 'there is no formula "flat_rign" .did you mean "flat_ring"'
ends 2 formula gpus=32
says err 'give the name of the formula before gpus=32: formula NAME INPUT=VALUE...; see inasim list formulas'
ends 2 formula flat_ring gpus=32
says err 'flat_ring needs bytes=...: gradients of a worker'
says err 'flat_ring needs inter=...'
silent out
ends 2 formula flat_ring gpu=32 bytes=100MB inter=100Gbps gpus=32
says err 'flat_ring has no input "gpu" .did you mean "gpus"'
ends 2 formula flat_ring gpus=1 bytes=100MB inter=100Gbps
says err 'gpus must be from 2 to 1000000; found "1"'
ends 2 formula flat_ring gpus=2.5 bytes=100MB inter=100Gbps
says err 'gpus takes a whole number; found "2.5"'
ends 2 formula goodput payload=0 frame=100
says err 'payload must be from 1 to 65535 B; found "0"'
ends 2 formula flat_ring gpus=many bytes=100 inter=100Gbps gpus
says err 'gpus takes a number; found "many"'
says err 'bytes takes a number with a unit .B, '
says err 'inputs are NAME=VALUE; found "gpus"'
ends 2 formula flat_ring gpus=4 gpus=4 bytes=100MB inter=100Gbps
says err 'gpus is given twice'
ends 2 formula parallel_wins_from gpus=2
says err 'parallel_wins_from has no value for these inputs: gpus is more than 2'
ends 0 formula header_share payload=128B frame=180B # bytes with a unit, or without
says out '^0.2888888889$'
ends 0 formula header_share payload=128 frame=180
says out '^0.2888888889$'
ends 2 formula header_share payload=128us frame=180
says err 'payload takes a number with a unit'
ends 2 formula reduce_scatter workers=4 bytes=0.5B rate=1Gbps
says err 'bytes takes a whole number of B; found "0.5B"'
ends 2 formula reduce_scatter workers=4 bytes=1MB rate=0.5bps
says err 'rate takes a whole number of bps; found "0.5bps"'
checks=$((checks + 1))
! "$INASIM" list formulas | grep -q '"rule"' || fail "formulas name a value of slots that there is not"
ends 2 formula header_share payload=4 frame=1
says err 'header_share has no value for these inputs: payload is at most frame'
silent out
ends 0 formula header_share payload=4 frame=4
says out '^0$'

ends 0 schema
# shellcheck disable=SC2016 # "$schema" is a key
holds '."$schema" == "https://json-schema.org/draft/2020-12/schema" and .properties.topology' out
cp out schema.json
ends 0 schema --plan
cp out plan_schema.json
if python3 -c 'import jsonschema' 2>/dev/null; then
	find "$SRC/scenarios" -name '*.json' ! -path '*/papers/*' -not -path '*/sweeps/*' -print0 >list
	python3 - list <<'PYTHON' || fail "the schema refuses what the program accepts, or is none"
import json, sys
from jsonschema import Draft202012Validator
def validator_of(path):
    schema = json.load(open(path))
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)
validator = validator_of("schema.json")
plans = validator_of("plan_schema.json")
bad = 0
for path in ["small.json", "late.json"] + open(sys.argv[1]).read().split("\0")[:-1]:
    document = json.load(open(path))
    for error in (plans if "axes" in document else validator).iter_errors(document):
        print(path, list(error.path), error.message[:200], file=sys.stderr)
        bad += 1
if not any(True for _ in validator.iter_errors(json.load(open("wrong.json")))):
    print("wrong.json is valid", file=sys.stderr)
    bad += 1
sys.exit(bad > 0)
PYTHON
	checks=$((checks + 1))
fi
ends 0 schema --results
says out '^flows.csv$'
ends 0 schema --results --json
holds '.tables | map(.file) | index("jobs.csv") and index("summary.json")' out

ends 6 plot nothing
says err 'nothing'
ends 6 plot --x load results/deep/small
says err 'is not a collected sweep'
if command -v gnuplot >/dev/null; then
	ends 0 plot results/deep/small
	[[ -s results/deep/small/figures/link_utilization.png ]] || fail "no link_utilization.png"
	[[ -s results/deep/small/figures/job_timeline.png ]] || fail "no job_timeline.png"
	ends 0 plot --term svg --figure job_timeline results/deep/small
	[[ -s results/deep/small/figures/job_timeline.svg ]] || fail "no job_timeline.svg"
	ends 0 plot --term dumb --figure link_utilization results/deep/small
	says out '[*#A-D+]'
	ends 0 plot --term svg --quiet --figure link_utilization --figure network --out both results/deep/small
	says out 'both/link_utilization.svg$'
	says out 'both/network.svg$'
	ends 2 plot --figure network --figure nonsense results/deep/small
	says err 'there is no figure "nonsense"'
	ends 0 plot --term tikz --size 3.5in --font Sans,9 --xlabel 'Time_s' --figure job_timeline results/deep/small
	says results/deep/small/figures/job_timeline.tex 'Time\\_s'
	ends 0 plot --term eps --no-title --figure job_timeline results/deep/small
	[[ -s results/deep/small/figures/job_timeline.eps ]] || fail "no job_timeline.eps"
	# too little memory for gnuplot is not a gnuplot that is not installed
	if limits_memory; then
		code=0
		(ulimit -v 40000 && exec "$INASIM" plot --figure job_timeline results/deep/small) >out 2>err || code=$?
		((code == 6)) || fail "without memory for gnuplot plot ends with $code"
		says err '^inasim: gnuplot (failed|was killed by a signal)'
		[[ ! -e results/deep/small/figures/job_timeline.png ]] || fail "an old picture passes for the new one"
	fi
	# a plot that is killed takes gnuplot with it, and leaves no picture
	mkdir slow
	printf '#!/bin/sh\necho $$ >"%s/pid"\nexec sleep 60\n' "$PWD" >slow/gnuplot
	chmod +x slow/gnuplot
	PATH=$PWD/slow:$PATH "$INASIM" plot --figure job_timeline results/deep/small >out 2>err &
	plot=$!
	wait_for written pid
	kill -KILL "$plot"
	wait "$plot" 2>/dev/null || true
	[[ $(ls -A results/deep/small/figures) != *job_timeline.png* ]] || fail "a killed plot leaves a picture"
	wait_for gone "$(cat pid)"
	# a figure for which there is no data
	for figure in series packets slowdown; do
		ends 6 plot --quiet --figure "$figure" results/deep/small # asked for by its name
		silent out
		says err "^inasim: results/deep/small: no figure $figure: "
		[[ ! -e results/deep/small/figures/$figure.png ]] || fail "an empty $figure.png"
	done
	ends 0 plot results/deep/small
	says err '^results/deep/small: no figure series: .* no series/network.csv; .*output.series'
	ends 0 plot --quiet results/deep/small
	silent err
	mkdir bare
	cp results/deep/small/manifest.json bare
	ends 6 plot --quiet bare
	says err 'cannot read bare/'
	echo '{ "files": [] }' >bare/manifest.json
	ends 6 plot --quiet bare
	says err 'bare has no data for a figure'
fi

finish "$checks checks hold"
