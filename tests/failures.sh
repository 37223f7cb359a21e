#!/bin/bash
# Links and switches that fail. A flow on a link that is down for a while ends at the time that its transport's
# timeouts say; behind a spine that has failed it goes on after its first timeout, by another spine; with no way
# left it ends unfinished, with exit code 4 and when and why. Each link, switch and host of a small network
# fails under each scheme at random moments, and is repaired: all ends, sums are right, memory of switches is
# free (exit code 5 otherwise). Every tenth is run
# again, which shows that digests repeat. What is never repaired ends or fails with a
# reason. Names and times that make no sense are among the wrong scenarios of invalid.txt.
#   tests/failures.sh [--count N] [--seed S]    so many of the random ones; 60 of seed 1
source "${SRC:?source directory}/tests/lib/shell.sh"
count=60 seed=1
while [[ ${1:-} ]]; do
	case $1 in
	--count) count=$2 ;;
	--seed) seed=$2 ;;
	esac
	shift 2
done
in_a_folder_of_its_own

leaf_spine='"kind": "leaf-spine", "leaves": 2, "spines": 2, "hosts_per_leaf": 3, "link": { "rate": "10Gbps",
	"delay": "1us" }, "uplink": { "rate": "10Gbps", "delay": "1us" }'

scenario() { # TOPOLOGY EVENTS REST
	echo "{ \"name\": \"t\", \"topology\": { $1 }, \"failures\": { \"events\": [ $2 ] ${4:-} }, $3 }" >t.json
}

cell() { # COLUMN FILE: of its first row
	awk -F, -v want="$1" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == want) n = i } NR == 2 { print $n }' "$2"
}

# late LEAST MOST: the flow takes so many microseconds longer than alone
late() {
	checks=$((checks + 1))
	awk -v fct="$(cell fct_s r/flows.csv)" -v ideal="$(cell ideal_fct_s r/flows.csv)" -v a="$1" -v b="$2" \
		'BEGIN { late = (fct - ideal) * 1e6; exit !(late >= a && late <= b) }' ||
		fail "the flow is not $1 to $2 us late: $(cat r/flows.csv t.json)"
}

# --- one flow ---

# RoCE without backoff looks every millisecond whether it goes on; up to an idle round trip passes between the
# failure and the last ACK, from which it counts
for down in 300:1 1700:2 3200:4; do
	scenario '"kind": "star", "hosts": 2' \
		"{ \"fails\": \"h1\", \"at\": \"100us\", \"repair_after\": \"${down%:*}us\" }" \
		'"roce": { "rto": "1ms", "backoff": 0, "window": "100kB" }, "flows": [ { "size": "1MB", "transport": "roce", "pairs": [[0, 1]] } ]'
	ends 0 run t.json --out r --force
	late $((${down#*:} * 1000 - 1)) $((${down#*:} * 1000 + 10))
done

# DCTCP: its timeout of 10 ms, then slow start; reroute_delay is over by then
scenario "$leaf_spine" '{ "fails": "spine0", "at": "2ms" }, { "fails": "spine1", "at": "2ms", "repair_after": "100us" }' \
	'"flows": [ { "size": "10MB", "pairs": [[0, 3]] } ]'
ends 0 run t.json --out r --force
late 10000 10500
says r/flows.csv "leaf0 spine1 leaf1,leaf1 spine1 leaf0"
says r/failures.csv "^spine0,0.002,0.003,,[1-9]"
says r/failures.csv "^spine1,0.002,,0.0021,"

# a failure that lasts is noticed, also when its link was up for too short a time before it
scenario "$leaf_spine" '{ "fails": "spine0", "mtbf": "500us", "mttr": "3ms" }' \
	'"flows": [ { "size": "50MB", "pairs": [[0, 3]] } ]'
ends 0 run t.json --out r --force
cells 'c["repaired_s"] - c["failed_s"] > 0.001 { lasted++; if (off(c["noticed_s"], c["failed_s"] + 0.001)) print "not noticed: " $0 }
	END { if (lasted < 10) print lasted + 0 " that last" }' r/failures.csv

# what is repaired in the moment that routing would notice goes unnoticed, in whatever order events come
scenario "$leaf_spine" '{ "fails": "links", "at": "2ms", "repair_after": "1ms" }' '"flows": [ { "size": "10MB", "pairs": [[0, 3]] } ]'
ends 0 run t.json --out r --force
cells 'c["noticed_s"] != "" || off(c["repaired_s"], 0.003)' r/failures.csv

# what a link loses counts for its last failure, whichever event it is of, named by either end
scenario '"kind": "star", "hosts": 2' '{ "fails": "h1", "at": "100us", "repair_after": "200us" },
	{ "fails": 3, "at": "1.15ms", "repair_after": "200us" }' \
	'"roce": { "rto": "1ms", "backoff": 0, "window": "100kB" }, "flows": [ { "size": "1MB", "transport": "roce", "pairs": [[0, 1]] } ]'
ends 0 run t.json --out r --force
says r/failures.csv "^h1 -> switch,0.0001,,0.0003,[1-9]"
holds ".network.losses == $(awk -F, 'NR > 1 { lost += $5 } END { print lost }' r/failures.csv)" r/summary.json
says r/failures.csv "^switch -> h1,0.00115,,0.00135,[1-9]"

# RoCE behind either spine goes on by the other, after its timeout at the latest
for spine in 0 1; do
	scenario "$leaf_spine" "{ \"fails\": \"spine$spine\", \"at\": \"2ms\" }" \
		'"roce": { "rto": "1ms", "window": "100kB" }, "flows": [ { "size": "10MB", "transport": "roce", "pairs": [[0, 3]] } ]' \
		', "reroute_delay": "200us"'
	ends 0 run t.json --out r --force
	late 0 1200
done

# no way left
scenario "$leaf_spine" '{ "fails": "h3", "at": "2ms" }' '"flows": [ { "size": "10MB", "pairs": [[0, 3], [1, 2]] } ],
	"output": { "series": { "every": "1ms", "flows": true } }'
ends 4 run t.json --out r --force
says err "flow 0 from host 0 to host 3 at 0.013000000 s: no way is left"
holds '.end_reason == "failed" and (.warnings[0] | test("cut off 1 of 2 flows")) and .flows.finished == 1' r/summary.json
active=$(tail -n 1 r/series/network.csv | cut -d, -f2) of_groups=$(tail -n 1 r/series/flows.csv | cut -d, -f3)
checks=$((checks + 1))
[[ $active == 0 && $of_groups == 0 ]] || fail "$active flows under way, $of_groups by group, after one was cut off"
scenario "$leaf_spine" '{ "fails": "leaf0 -> spine0", "at": "1ms" }, { "fails": 10, "at": "1ms" }' \
	'"jobs": [ { "model": { "layers": [ { "gradient": "20MB" } ] }, "workers": [0, 3], "all_reduce": "switchml" } ]' \
	', "reroute_delay": "200us", "controller_delay": "300us"'
ends 4 run t.json --out r --force
says err "job 0 \(job\): failed at 0.001500000 s: no way between its hosts is left"
says r/jobs.csv "failed at 0.001500000 s"

# the last ACKs of flow 0, which has ended, are no unfinished work
scenario '"kind": "star", "hosts": 4' '{ "fails": "h3", "at": "10us" }' '"flows": [ { "size": "2MB", "pairs": [[0, 1], [2, 3]] } ]' \
	', "reroute_delay": "50us", "controller_delay": "60us"'
ends 4 run t.json --out r --force
says err "1 flows were cut off, the first: flow 1 from host 2 to host 3"
checks=$((checks + 1))
! grep -q "connection" err || fail "a flow that has ended is told as unfinished: $(cat err)"

# a job that waits for a repair when the time is up: the repair was still to come
scenario '"kind": "star", "hosts": 3' '{ "fails": "switch", "at": "1ms", "repair_after": "100ms" }' \
	'"jobs": [ { "model": { "layers": [ { "gradient": "4MB" } ] }, "workers": 2, "all_reduce": "switchml" } ], "stop": { "after": "50ms" }'
ends 4 run t.json --out r --force
says err "the time limit was reached at 0.050000000 s"
holds '.end_reason == "time_limit" and .sim_time_s == 0.05' r/summary.json

# --- no tree ---

# each leaf has lost another spine: all reach each other, and no spine reaches all
no_tree() { # CODE FALLBACK AT
	scenario '"kind": "leaf-spine", "leaves": 3, "spines": 3, "hosts_per_leaf": 1' \
		"{ \"fails\": \"leaf0 -> spine0\", \"at\": \"$3\" }, { \"fails\": \"leaf1 -> spine1\", \"at\": \"$3\" }, { \"fails\": \"leaf2 -> spine2\", \"at\": \"$3\" }" \
		"\"jobs\": [ { \"model\": { \"layers\": [ { \"gradient\": \"4MB\" }, { \"gradient\": \"4MB\" } ] }, \"workers\": 3, \"iterations\": 2,
			\"all_reduce\": \"switchml\", \"fallback\": \"$2\", \"arrival\": { \"at\": \"1ms\" } } ]" \
		', "reroute_delay": "50us", "controller_delay": "60us"'
	ends "$1" run t.json --out r --force
}
no_tree 4 none 2ms
says err "failed at 0.002110000 s: no switch that works joins its workers"
no_tree 0 ring 2ms
says r/jobs.csv ',switchml then ring \(0.002110000 s\),'
no_tree 0 ps 2ms
says r/jobs.csv ',switchml then ps \(0.002110000 s\),'
no_tree 0 ps 0ms
says r/jobs.csv ',ps,'
no_tree 0 ring 0ms
says r/jobs.csv ',ring,'
no_tree 4 none 0ms
says r/jobs.csv "no switch that works joins its workers"
checks=$((checks + 1))
! grep -q "refused" out || fail "a job that failed is told as refused"

# a fat tree: the edges of hosts 0 and 3 have no aggregation switch in common, and no way leads down and up again by
# edge2, nor is that a root. A job that reaches into another pod needs a core, and there is none for all three
valley='{ "fails": "edge0 -> agg1", "at": "1ms" }, { "fails": "edge0 -> agg2", "at": "1ms" }, { "fails": "edge1 -> agg0", "at": "1ms" }'
scenario '"kind": "fat-tree", "k": 6' "$valley" \
	'"flows": [ { "size": "1MB", "pairs": [[0, 3], [0, 6], [0, 9], [3, 9]], "arrival": { "at": "20ms" } } ]'
ends 4 run t.json --out r --force
says err "flow [0-9] from host 0 to host 3 at 0.020000000 s: no way is left"
holds '.flows.finished == 3' r/summary.json
for workers in "0, 3" "0, 3, 9"; do
	scenario '"kind": "fat-tree", "k": 6' "$valley" "\"jobs\": [ { \"model\": { \"layers\": [ { \"gradient\": \"1MB\" } ] },
		\"workers\": [$workers], \"all_reduce\": \"switchml\", \"arrival\": { \"at\": \"20ms\" } } ]"
	ends 4 run t.json --out r --force
done

# --- another host ---

# moves CODE HOSTS EVENTS REST: 5 ms after the controller has heard of it a free host is in the place of a dead one
moves() {
	scenario "$leaf_spine" "$3" '"jobs": [ { "model": { "layers": [ { "gradient": "2MB", "backward": "100us" }, { "gradient": "1MB" } ] },
		"overlap": "layers", "workers": [0, 1, 2], "iterations": 3, "restart_delay": "5ms", '"${4:-\"all_reduce\": \"switchml\"}"' } ]' \
		', "reroute_delay": "50us", "controller_delay": "60us"'
	ends "$1" run t.json --out r --force
	checks=$((checks + 1))
	[[ $(cell hosts r/jobs.csv) == "$2" ]] || fail "hosts $(cell hosts r/jobs.csv), not $2: $(cat t.json)"
}
for all_reduce in ring double_tree halving_doubling ps ps_stream switchml atp esa panama switchml_star netreduce sharp; do
	given="\"all_reduce\": \"$all_reduce\"" other=3
	[[ $all_reduce != @(ps|ps_stream|atp|esa) ]] || given+=', "servers": 1' other=4
	moves 0 "0 1 2" '{ "fails": "h5", "at": "1s" }' "$given"
	jct=$(cell jct_s r/jobs.csv)
	moves 0 "0 $other 2" '{ "fails": "h1", "at": "2ms" }' "$given"
	checks=$((checks + 1))
	awk -v with="$(cell jct_s r/jobs.csv)" -v without="$jct" 'BEGIN { d = with - without; exit !(d > 0.0045 && d < 0.009) }' ||
		fail "$all_reduce: $(cell jct_s r/jobs.csv) s with another host, $jct s without failures"
done
moves 0 "0 3 2" '{ "fails": "h1", "at": "2ms" }' '"all_reduce": "ring", "sharding": "full", "all_gather": "multicast"'
moves 0 "0 3 2" '{ "fails": "h1", "at": "2ms" }' '"all_reduce": "ring", "sharding": "full", "reduce_scatter": "shards"'
moves 0 "0 4 2" '{ "fails": "h1", "at": "2ms" }, { "fails": "h3", "at": "3ms" }'
moves 0 "3 4 5" '{ "fails": "leaf0", "at": "2ms" }'
moves 4 "0 1 2" '{ "fails": "h1", "at": "2ms" }, { "fails": "leaf1", "at": "2ms" }'
says err "no free host can replace one that is cut off"

# a job that finds none fails, and leaves its hosts to the next
scenario '"kind": "star", "hosts": 4' '{ "fails": "h0", "at": "2ms" }' \
	'"jobs": [ { "model": { "layers": [ { "gradient": "20MB" } ] }, "workers": 4, "all_reduce": "ring", "restart_delay": "5ms" },
		{ "model": { "layers": [ { "gradient": "1MB" } ] }, "workers": 2, "all_reduce": "ring", "arrival": { "at": "1ms" } } ]'
ends 4 run t.json --out r --force
says r/jobs.csv '^0,.*failed at 0.018000000 s: no free host can replace'
says r/jobs.csv '^1,job,ring,in place,2,1,1,0.001,0.018001,'

# a job that comes later gets hosts that work
scenario "$leaf_spine" '{ "fails": "h1", "at": "1ms" }' \
	'"jobs": [ { "model": { "layers": [ { "gradient": "1MB" } ] }, "workers": 3, "arrival": { "at": "20ms" }, "all_reduce": "ring" } ]'
ends 0 run t.json --out r --force
checks=$((checks + 1))
[[ $(cell hosts r/jobs.csv) == "0 3 2" ]] || fail "hosts $(cell hosts r/jobs.csv)"

# --- a scheme that never sends again begins anew after any loss, even where the link is back by then ---

scenario '"kind": "star", "hosts": 4, "switch": { "pause": true }' '{ "fails": "h1", "at": "60us", "repair_after": "1us" }' \
	'"jobs": [ { "model": { "layers": [ { "gradient": "1MB" } ] }, "workers": 4, "all_reduce": "nvls" } ]' ', "controller_delay": "50us"'
ends 0 run t.json --out r --force
holds '.network.losses > 0 and .checks.exactly_once.violations == 0' r/summary.json

# a job that begins while a link of its tree is down, which routing does not know yet, has lost packets; NVLS does
# not send them again, so the controller begins anew, even if the link is up again by then
scenario '"kind": "star", "hosts": 4, "switch": { "pause": true }' '{ "fails": "h1", "at": "30us", "repair_after": "100us" }' \
	'"jobs": [ { "model": { "layers": [ { "gradient": "100kB" } ] }, "workers": [0, 1, 2], "all_reduce": "nvls", "arrival": { "at": "40us" } } ]'
ends 0 run t.json --out r --force
holds '.end_reason == "all_done"' r/summary.json

# --- what a job has counted before it begins anew counts when the run ends before it, too ---

scenario "$leaf_spine" '{ "fails": "leaf1", "at": "5ms", "repair_after": "1ms" }' \
	'"stop": { "when": "time", "after": "8ms" },
	"jobs": [ { "model": { "layers": [ { "gradient": "100MB" } ] }, "workers": 4, "all_reduce": "switchml" } ]'
ends 0 run t.json --out r --force --set /topology/link/loss=0.01
holds '.aggregation.retransmissions == $row and $row > 0' r/summary.json --argjson row "$(cell retransmissions r/jobs.csv)"

# --- what adds gradients in a switch fails, and its links do not ---

# a job that begins behind it takes as long as where these switches never add
adds() { # SCHEME SWITCH EVENTS [EXIT-CODE]
	local servers=''
	[[ $1 != atp ]] || servers=', "servers": 1'
	scenario "$leaf_spine, \"switch\": { $2 }" "$3" "\"jobs\": [ { \"model\": { \"layers\": [ { \"gradient\": \"1MB\" } ] }, \"workers\": 4,
		\"placement\": \"spread\", \"iterations\": 2, \"arrival\": { \"at\": \"1ms\" }, \"all_reduce\": \"$1\" $servers } ]"
	ends "${4:-0}" run t.json --out r --force
	jct=$(cell jct_s r/jobs.csv)
}
spines='{ "fails": "spine0", "aggregation_only": true, "at": "0s" }, { "fails": "spine1", "aggregation_only": true, "at": "0s" }'
leaves=${spines//spine/leaf}
for scheme in atp netreduce switchml; do
	for at in leaf:"$spines" spine:"$leaves"; do
		# ATP's servers take what no root adds; the others refuse
		[[ $scheme:$at == [ns]*:leaf:* ]] && code=4 || code=0
		adds $scheme "\"aggregation\": \"${at%%:*}\"" "{ \"fails\": \"h5\", \"at\": \"1s\" }" $code
		never=$jct
		adds $scheme "" "${at#*:}" $code
		checks=$((checks + 1))
		[[ $jct == "$never" ]] || fail "$scheme: $jct s where all but each $at has failed to add, $never s where others never do"
	done
done
# of two failures of the same one is over, and the other is not
adds switchml "" "$spines, ${spines//'"0s"'/'"0s", "repair_after": "500us"'}" 4
says r/jobs.csv 'spine[01] of its tree adds nothing up'
# ATP's packets that it should add are lost until the controller hears of it, those that it forwards are not
adds atp "" '{ "fails": "leaf1", "aggregation_only": true, "at": "1.2ms" }'
says r/failures.csv '^leaf1 aggregation,0.0012,0.0022,,[1-9]'
adds atp "" '{ "fails": "spine0", "aggregation_only": true, "at": "1.2ms" }, { "fails": "spine1", "aggregation_only": true, "at": "1.2ms" }'
says r/failures.csv '^spine1 aggregation,0.0012,0.0022,,0'

# --- what is down, over time ---

scenario "$leaf_spine" '{ "fails": "spine0", "at": "150us", "repair_after": "200us" }, { "fails": "h5", "at": "250us" }' \
	'"flows": [ { "size": "500kB", "pairs": [[0, 3]] } ], "output": { "series": { "every": "100us" } }'
ends 0 run t.json --out r --force
checks=$((checks + 1))
down=$(awk -F, 'NR > 1 && NR < 7 { print $NF }' r/series/network.csv | paste -sd' ')
[[ $down == '0 1 2 1 1' ]] || fail "down after each 100 us: $down"

# --- each scheme, each part, at random moments ---

parts=(leaf0 leaf1 spine0 spine1 h0 h1 h2 h3 h4 h5 "leaf0 -> spine0" "leaf0 -> spine1" "leaf1 -> spine0" "leaf1 -> spine1"
	leaf0+ leaf1+ spine0+ spine1+) # + only what adds there
schemes=(ring double_tree halving_doubling ps ps_stream switchml atp esa panama switchml_star netreduce sharp nvls shards multicast)
RANDOM=$seed
for ((i = 0; i < count; i++)); do
	scheme=${schemes[i % ${#schemes[@]}]} part=${parts[RANDOM % ${#parts[@]}]} at=$((RANDOM % 3000))
	only=""
	[[ $part != *+ ]] || only=', "aggregation_only": true'
	repair=", \"repair_after\": \"$((1 + RANDOM % 3000))us\"" code=0
	((RANDOM % 4)) || repair="" code=4
	servers=""
	[[ $scheme != @(ps|ps_stream|atp|esa) ]] || servers=", \"servers\": $((1 + i / ${#schemes[@]} % 2))"
	pause=""
	[[ $scheme != nvls ]] && ((RANDOM % 4)) || [[ $scheme == netreduce ]] || pause=', "switch": { "pause": true }'
	carried="\"$scheme\""
	[[ $scheme != multicast ]] || carried='"ring", "sharding": "full", "all_gather": "multicast"'
	[[ $scheme != shards ]] || carried='"ring", "sharding": "full", "reduce_scatter": "shards", "all_gather": "shards"'
	workers='4, "placement": "random"'
	[[ $scheme != nvls ]] || workers='[0, 1, 2]' # below one switch
	echo "{ \"name\": \"t\", \"seed\": $RANDOM, \"topology\": { $leaf_spine $pause }, \"stop\": { \"after\": \"100s\" },
		\"schemes\": { \"panama\": { \"aggregate_above\": \"1kB\" } },
		\"jobs\": [ { \"model\": { \"layers\": [ { \"gradient\": \"1MB\", \"backward\": \"200us\" }, { \"gradient\": \"300kB\" } ] },
			\"overlap\": \"layers\", \"workers\": $workers, \"iterations\": 2, \"all_reduce\": $carried $servers } ],
		\"flows\": [ { \"size\": \"50kB\", \"arrival\": { \"poisson_load\": 0.2 }, \"count\": 30 } ],
		\"failures\": { \"reroute_delay\": \"200us\", \"controller_delay\": \"300us\",
			\"events\": [ { \"fails\": \"${part%+}\" $only, \"at\": \"${at}us\" $repair } ] } }" >t.json
	got=0
	"$INASIM" run t.json --out r --force >out 2>err || got=$?
	checks=$((checks + 1))
	if ((got != 0 && got != code)) || grep -qE 'time_limit|deadlock' r/summary.json; then
		fail "run $i of seed $seed, $scheme, $part: exit code $got: $(head -n 5 err) $(cat t.json)"
	fi
	((i % 10)) || {
		first=$(jq .digest r/summary.json)
		"$INASIM" run t.json --out r2 --force >out 2>err || true
		[[ $first == "$(jq .digest r2/summary.json)" ]] || fail "run $i of seed $seed: another digest when it is run again"
	}
done
finish "$count random failures"
