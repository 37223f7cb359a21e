#!/bin/bash
# Aggregation in some switches: where sums are added, what that costs (closed forms), who is refused.
source "${SRC:?source directory}/tests/lib/shell.sh"
in_a_folder_of_its_own

# Three racks below two spines; a server in the first. Sums of 4000 chunks, 264 ns a frame.
cat >racks.json <<'JSON'
{
  "name": "racks",
  "topology": {
    "kind": "graph", "switch": { "ecn": false }, "host": { "nic_jitter": "0s" },
    "graph": {
      "hosts": [ "a[0-1]", "server", "b[0-1]", "c[0-1]" ],
      "switches": [ "la", { "name": "lb" }, { "name": "lc" }, { "name": "s0" }, { "name": "s1" } ],
      "links": [ { "from": "a[0-1]", "to": "la" }, { "from": "server", "to": "la" },
                 { "from": "b[0-1]", "to": "lb" }, { "from": "c[0-1]", "to": "lc" },
                 { "from": "la", "to": "s[0-1]" }, { "from": "lb", "to": "s[0-1]" }, { "from": "lc", "to": "s[0-1]" } ]
    }
  },
  "schemes": { "atp": { "initial_window": "64KB", "max_window": "64KB", "memory": "16MB" }, "esa": { "initial_window": "64KB", "max_window": "64KB", "memory": "16MB" },
               "panama": { "aggregate_above": "0B" } },
  "jobs": [ { "workers": [ 0, 1, 3, 4, 5, 6 ], "all_reduce": "atp",
              "model": { "layers": [ { "gradient": "1024000B" } ] } } ]
}
JSON
sum() { awk -F, -v name="$1" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) at = i; next } { n += $at } END { print n + 0 }' run/aggregators.csv; }
# added SCHEME SUMS FRAMES WHAT [SET...]: contributions that switches add to a chunk; frames (or "busiest") of a
# chunk on the busiest link, which is what the job takes, within 2 %
added() {
	local scheme=$1 sums=$2 frames=$3 what=$4
	shift 4
	ends 0 run racks.json --quiet --out run --set /jobs/0/all_reduce="$scheme" "$@"
	checks=$((checks + 1))
	[[ $frames != busiest ]] || frames=$(awk -F, 'NR > 1 && $7 > most { most = $7 } END { print most / 4000 }' run/links.csv)
	[[ $frames == [1236] ]] || fail "$scheme, $what: $frames packets of a chunk on the busiest link"
	(($(sum packets_aggregated) == 4000 * sums)) || fail "$scheme, $what: $(sum packets_aggregated) added, not 4000 * $sums"
	holds ".jobs.jct_s.mean / (4000 * $frames * 264e-9) | . > 0.99 and . < 1.02" run/summary.json
	ran_as=$(jq -r '.jobs.ran_as[0] // "all add"' run/summary.json)
}
pass() { (($# == 0)) || printf -- '--set /topology/graph/switches/%s/aggregation=false ' "$@"; }

for scheme in atp esa; do
	added $scheme 8 1 "all" # 2 in b, 2 in c; 2 workers and 2 racks in a
	added $scheme 8 1 "the tier of racks" --set /topology/switch/aggregation=tier1
	added $scheme 0 6 "none: all to the server" --set /topology/switch/aggregation=none
	added $scheme 0 6 "no rack" --set /topology/switch/aggregation=tier2
	# shellcheck disable=SC2046
	added $scheme 8 1 "spines pass" $(pass 3 4)
	# two workers of c and the sum of b go to a, each over a spine of its own choice
	# shellcheck disable=SC2046
	added $scheme 7 busiest "rack c passes" $(pass 2)
	checks=$((checks + 1))
	[[ $ran_as == "job ($scheme): 1 ran as $scheme with 2 of 3 switches adding up" ]] || fail "$scheme, rack c passes: $ran_as"
	holds '.jobs.slowdown.mean == null' run/summary.json # no closed form
	# the sums of b and c, and what a's workers send, meet at the server's link
	ends 0 run racks.json --quiet --out run --set /jobs/0/all_reduce=$scheme \
		--set /topology/graph/switches/0='{ "name": "la", "aggregation": false }'
	checks=$((checks + 1))
	(($(sum packets_aggregated) == 4000 * 4 && $(sum fallbacks) == 4000 * 4)) ||
		fail "$scheme, level 1 passes: $(sum packets_aggregated) added, $(sum fallbacks) to the server"
done

# Under SwitchML and NetReduce the next switch above adds: a rack that passes sends what its workers
# send up its one link, so a chunk takes as long as its two. SwitchML's results come down that link
# once and are copied; NetReduce's are packets of connections, one for each worker.
# passed SCHEME FRAMES WHAT PASSES UP DOWN: frames of a chunk on the busiest link; packets of rack c's link, up and down
passed() {
	local scheme=$1 frames=$2 what=$3 which=$4 up=$5 down=$6
	# shellcheck disable=SC2046,SC2086
	ends 0 run racks.json --quiet --out run --set /jobs/0/all_reduce=$scheme $(pass $which)
	checks=$((checks + 2))
	holds ".checks.exactly_once | .checked == 6 * $chunks and .violations == 0" run/summary.json
	holds ".jobs.jct_s.mean / ($chunks * $frames * $frame) | . > 0.99 and . < 1.03" run/summary.json
	awk -F, -v up=$((chunks * up)) -v down=$((chunks * down)) -v acks=$acks '
		NR > 1 && $2 == "lc" && $3 ~ /^s/ { u += $7 } NR > 1 && $3 == "lc" && $2 ~ /^s/ { d += $7 }
		END { exit !(u >= up && u <= up + acks && d >= down && d <= down + acks) }' run/links.csv ||
		fail "$scheme, $what: the link of rack c carries other packets than $up up and $down down of each chunk"
	holds '(.jobs.ran_as | join(" ")) == (if $adds == 4 then "" else "job (\($of)): 1 ran as \($of) with \($adds) of 4 switches adding up" end)' \
		run/summary.json --arg of $scheme --argjson adds $((4 - $(wc -w <<<"$which")))
	for sw in $which; do
		checks=$((checks + 1))
		! grep -q "^$(jq -r ".topology.graph.switches[$sw].name? // \"la\"" racks.json)," run/aggregators.csv || fail "$scheme, $what: $sw adds"
	done
}
chunks=8000 frame=160e-9 acks=0 # 180 bytes and gaps
passed switchml 1 "all" "" 1 1
passed switchml 2 "rack c passes" 2 2 1
passed switchml 2 "racks b and c pass" "1 2" 2 1
chunks=1020 frame=882e-9 acks=20 # 1,082 bytes and gaps
passed netreduce 1 "all" "" 1 1
passed netreduce 2 "rack c passes" 2 2 2
passed netreduce 2 "racks b and c pass" "1 2" 2 2

# A tier that passes between two that add: racks add 2 each of 8 workers, the root 4 sums, of which two share a link.
cat >tiers.json <<'JSON'
{ "name": "racks",
  "topology": { "kind": "graph", "switch": { "ecn": false }, "host": { "nic_jitter": "0s" },
    "graph": { "hosts": [ "h[0-7]" ],
      "switches": [ "root", { "name": "a[0-1]", "aggregation": false }, "e[0-3]" ],
      "links": [ { "from": "h[0-1]", "to": "e0" }, { "from": "h[2-3]", "to": "e1" }, { "from": "h[4-5]", "to": "e2" },
                 { "from": "h[6-7]", "to": "e3" }, { "from": "e[0-1]", "to": "a0" }, { "from": "e[2-3]", "to": "a1" },
                 { "from": "a[0-1]", "to": "root" } ] } },
  "jobs": [ { "workers": 8, "model": { "layers": [ { "gradient": "1024000B" } ] } } ] }
JSON
while read -r scheme chunks frame; do
	for loss in 0 0.003; do
		ends 0 run tiers.json --quiet --out run --set /jobs/0/all_reduce="$scheme" --set /topology/link/loss=$loss
		holds ".checks.exactly_once | .checked == 8 * $chunks and .violations == 0" run/summary.json
		checks=$((checks + 1))
		(($(sum packets_aggregated) == 12 * chunks)) || fail "$scheme, tier 2 passes, loss $loss: $(sum packets_aggregated) added"
		[[ $loss != 0 ]] || holds ".jobs.jct_s.mean / ($chunks * 2 * $frame) | . > 0.99 and . < 1.03" run/summary.json
	done
done <<'SCHEMES'
switchml 8000 160e-9
netreduce 1020 882e-9
SCHEMES

# What repeats is skipped as elsewhere: here one worker sends past rack c.
for run in with without; do
	# shellcheck disable=SC2046
	ends 0 run racks.json --quiet --out $run --set /jobs/0/all_reduce=switchml --set /jobs/0/model/layers/0/gradient=50MB \
		--set '/jobs/0/workers=[0,1,3,4,5]' \
		$(pass 2) $([[ $run == with ]] || echo --no-fast-forward)
done
holds '.digest == $other' with/summary.json --arg other "$(jq -r .digest without/summary.json)"
holds '.packet_hops_skipped > 0.5 * .packet_hops' with/manifest.json

# Losses on c1's link: sums are exact; what repairs them crosses rack c to the worker that asked, and no other.
for format in s19 rdma; do
	jq '.topology.graph.links[3] = { from: "c0", to: "lc" } | .topology.graph.links += [ { from: "c1", to: "lc", loss: 0.01 } ] |
		.topology.graph.switches[2].aggregation = false | .jobs[0].all_reduce = "switchml" |
		.schemes.switchml = { format: "'$format'" }' racks.json >lossy.json
	ends 0 run lossy.json --quiet --out run
	holds '.checks.exactly_once.violations == 0 and .jobs.finished == 1' run/summary.json
	checks=$((checks + 1))
	awk -F, -v chunks="$(jq '.checks.exactly_once.checked / 6' run/summary.json)" '
		NR > 1 && $3 == "lc" && $2 ~ /^s/ { into += $7 } NR > 1 && $2 == "lc" && $3 ~ /^c/ { out += $7 }
		END { exit !(into > chunks && out == into + chunks) }' run/links.csv ||
		fail "SwitchML, $format: repairs go to others, too"
done
ends 0 run lossy.json --quiet --out run --set /jobs/0/all_reduce=netreduce
holds '.checks.exactly_once.violations == 0 and .jobs.finished == 1' run/summary.json

# A root that passes is avoided, whatever the draw; where all do, or under schemes whose whole tree
# must add, the job is refused.
for scheme in switchml panama netreduce sharp; do
	for seed in 1 2 3; do
		for spine in 3 4; do
			# shellcheck disable=SC2046
			ends 0 run racks.json --quiet --out run --set /jobs/0/all_reduce=$scheme --set /seed=$seed $(pass $spine)
			holds '.jobs.finished == 1 and .jobs.refused == 0' run/summary.json
			checks=$((checks + 1))
			! grep -q "^s$((spine - 3)),.*" run/aggregators.csv || fail "$scheme adds at a spine that passes"
		done
	done
	for which in "3 4" 2; do
		[[ $which == 2 && $scheme =~ switchml|netreduce ]] && continue
		# shellcheck disable=SC2046,SC2086
		ends 4 run racks.json --out run --set /jobs/0/all_reduce=$scheme $(pass $which)
		says out '^warning: schemes refused 1 of 1 jobs; the first .job.: switch '$([[ $which == 2 ]] && echo lc || echo 's[01]')' of its tree adds nothing up'
	done
done

# Memory of single switches: the one with the least decides how many slots SwitchML has, wherever it stands. 1,100 bytes
# hold 4 slots of 256 (two versions of 32 elements), so 8,000 chunks take 2,000 round trips of 4 links (1 us, and 160 ns for
# a frame) and 3 switches of 500 ns: 12.28 ms.
own() { echo "--set /topology/graph/switches/$1={\"name\":\"$2\",\"aggregation\":\"$3\"}"; }
for place in "1 lb" "2 lc" "3 s0"; do
	read -r number name <<<"$place"
	# shellcheck disable=SC2046
	ends 0 run racks.json --quiet --out run --set /jobs/0/all_reduce=switchml $(pass 4) $(own "$number" "$name" 1100B)
	holds '.jobs.ran_as[0] | test("switchml with 4 of 64 slots")' run/summary.json
	holds '.jobs.jct_s.mean / 12.28e-3 | . > 0.999 and . < 1.001' run/summary.json
	checks=$((checks + 1))
	grep -q "^$name,switchml,1100," run/aggregators.csv || fail "$name has not 1100 bytes: $(<run/aggregators.csv)"
done
# too little is told with the switch; ATP, ESA and SHARP have one size for all
for scheme in switchml netreduce panama; do
	# shellcheck disable=SC2046
	ends 4 run racks.json --out run --set /jobs/0/all_reduce=$scheme $(own 2 lc 100B)
	says out '^warning: schemes refused 1 of 1 jobs; the first .job.: switch lc of its tree has too little memory'
	# shellcheck disable=SC2046
	ends 0 run racks.json --quiet --out run --set /jobs/0/all_reduce=$scheme $(own 2 lc 40MB)
	holds '.jobs.finished == 1' run/summary.json
done
# shellcheck disable=SC2046
ends 4 run racks.json --out run --set /jobs/0/all_reduce=switchml --set /schemes/switchml/slots=memory $(own 2 lc 100B)
says out 'switch lc of its tree has too little memory'
# shellcheck disable=SC2046
ends 0 run racks.json --quiet --out run --set /jobs/0/all_reduce=ring $(own 2 lc 100B)
for scheme in atp esa sharp; do
	# shellcheck disable=SC2046
	ends 3 check racks.json --set /jobs/0/all_reduce=$scheme $(own 2 lc 1MB)
	says err "job \"job\": $scheme .*; switch \"lc\" has memory of its own"
done
# shellcheck disable=SC2046
ends 3 check racks.json --set /jobs/0/all_reduce=ring --set /jobs/0/sharding=optimizer --set /jobs/0/reduce_scatter=sharp $(own 2 lc 1MB)
says err 'job "job": sharp .*; switch "lc" has memory of its own'
# shellcheck disable=SC2046
ends 3 check racks.json $(own 2 lc 7B)

# an all-gather of a job that has begun is never refused: SHARP's runs on hosts, as one by a ring does
for gather in ring sharp; do
	ends 0 run racks.json --quiet --out $gather --set /jobs/0/all_reduce=ring --set /jobs/0/sharding=full --set /jobs/0/all_gather=$gather \
		--set /topology/switch/aggregation=none
done
checks=$((checks + 1))
[[ $(jq .jobs.jct_s.mean ring/summary.json) == $(jq .jobs.jct_s.mean sharp/summary.json) ]] || fail "SHARP's all-gather without switches is no ring"
# an all-gather only copies: it runs over switches that add nothing
ends 0 run racks.json --quiet --out run --set /jobs/0/sharding=full --set /jobs/0/all_gather=shards \
	--set /topology/switch/aggregation=none
holds '.jobs.finished == 1' run/summary.json

# streams know no such switches, and tiers have names
ends 3 check racks.json --set /fidelity=fluid --set /topology/switch/aggregation=none
says err 'switches that add nothing up run as packets only'
ends 3 check racks.json --set /topology/switch/aggregation=spine
says err '"spine" is not a tier of switches here; allowed: "all", "none", or a tier from "tier1" to "tier2"'

# what adds is explained, and goes with a network that is written down
ends 0 explain racks.json $(pass 2 3)
says out 'switches that add gradients up: tier1 2 of 3, tier2 1 of 2'
ends 0 explain racks.json
! grep -q 'switches that add' out || fail "explain tells of switches that all add"

finish "$checks checks"
