#!/bin/bash
# Random scenarios: valid, various, the same everywhere; sixty of them (30 without CI) run as they should (random/run),
# and what is wrong in results would be seen (random/consistent). Thousands: tests/random/run --count 5000.
# shellcheck disable=SC2016 # the single quotes hold awk and jq programs
source "${SRC:?source directory}/tests/lib/shell.sh"
: "${RANDOM_SCENARIO:?the program that makes scenarios}"
in_a_folder_of_its_own

# --- the generator ---

mkdir drawn
for ((i = 0; i < 200; i++)); do
	"$RANDOM_SCENARIO" 7 $i >drawn/$i.json
	"$RANDOM_SCENARIO" 7 $i calm >drawn/calm-$i.json
done
ends 0 check --quiet drawn/*.json
# with mistakes of what is checked first, all else of each is looked at all the same
ends 3 check --quiet drawn/*.json --set /stop/when=measured_done --set /stop/estimate=0.1
jq -s . drawn/[0-9]*.json >all
holds '[.[].jobs[]?.all_reduce] | unique == $schemes' all --argjson schemes "$("$INASIM" list schemes --json | jq '[.schemes[] | select(.all_reduce).name] | sort')"
holds '[.[].topology.kind] | unique == $kinds' all --argjson kinds "$("$INASIM" list topologies --json | jq '[.topologies[].name] | sort')"
for feature in '.topology.graph.switches[]? | objects | .aggregation | strings' '.topology.switch.pause' '.topology.switch.aggregation' '.topology.graph.switches[]? | objects | .aggregation == false' '.topology.link.loss' '.topology.host.jitter' '.flows' '.cluster' \
	'.topology.host.gpus' '.topology.host.nics' '.schemes.ring.channels' '.jobs[]?.inside_chunk' '.topology.host.gpus | objects | .wiring' '.jobs[]?.inside' '.jobs[]?.fusion_cycle' '.schemes.switchml.message' \
	'.jobs[]?.stragglers' '.jobs[]?.arrival.trace?' '.jobs[]?.arrival.poisson_load?' '.schemes.esa.memory' '.flows[]?.size.cdf?' \
	'.tcp.recovery' '.tcp.spray' '.roce.recovery' '.roce.spray' '.roce.reorder' '.tcp.control.cubic.slow_start' '.tcp.control.dctcp.g' '.tcp.control.swift.hop' '.schemes.esa.server_reminders' '.schemes.ring.transport' '.stop.estimate' '.jobs[]?.sharding' '.jobs[]?.reduce_scatter' '.jobs[]?.all_gather' '[.jobs[]? | .enabled] | .[0] == false' '.jobs[]?.model?.layers?[]?.all_to_all' '.jobs[]?.model?.roles?' '.jobs[]?.pipeline' '.topology.host.inside' \
	'.topology.graph.switches[]? | . == "p0"' '.jobs[]?.model?.groups?[]? | .name == "rails"'; do
	holds "[.[] | select([$feature] | any)] | length >= 3" all
done
# a change of the generator is a change of what was measured with it, and no compiler may make one
checks=$((checks + 1))
[[ $(for ((i = 0; i < 100; i++)); do cat drawn/$i.json drawn/calm-$i.json; done | cksum) == "1749126100 525818" ]] ||
	fail "other scenarios than before: $(for ((i = 0; i < 100; i++)); do cat drawn/$i.json drawn/calm-$i.json; done | cksum)"

# --- a wrong cell is seen ---

"$RANDOM_SCENARIO" 1 91 >scenario.json
ends 0 run --quiet scenario.json --out good --set '/output/series={"every":"100us"}'
checks=$((checks + 1))
"$SRC/tests/random/consistent" good >out || fail "good results: $(cat out)"
# wrong TABLE COLUMN VALUE WORDS: with this in the second row, that is said
wrong() {
	rm -rf bad
	cp -r good bad
	awk -F, -v OFS=, -v column="$2" -v value="$3" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == column) n = i }
		NR == 3 { $n = value } 1' "good/$1" >"bad/$1"
	checks=$((checks + 1))
	! "$SRC/tests/random/consistent" bad >out || fail "$1 with $2 = $3 passes"
	says out "$4"
}
wrong jobs.csv jct_s 1 'jobs.csv line 3: JCT'
wrong jobs.csv throughput_share 1.01 'faster than its link'
wrong jobs.csv exchange_s 0.5 'jobs.csv line 3: algbw'
wrong jobs.csv compute_s -0.001 'negative time'
wrong jobs.csv timeouts 7 'aggregation.timeouts is 0 in the summary, 7 in the table'
wrong iterations.csv finish_s 1 'iterations.csv line 3: duration'
wrong links.csv drops 3 'a drop in a lossless network'
wrong links.csv utilization 1.5 'links.csv line 3: utilization 1.5'
wrong links.csv bytes 1000000000 'utilization is not that of the bytes'
wrong links.csv bytes 1 'frames below 64 bytes'
wrong series/network.csv mean_utilization 0.9 'utilization of all samples'
wrong series/network.csv max_utilization 1.001 'busier than always'
wrong jobs.csv refused why 'jobs.csv line 3: refused, and ran'
for ((i = 0; i < 200; i++)); do # one whose second job is refused
	"$RANDOM_SCENARIO" 1 $i >scenario.json
	"$INASIM" run --quiet scenario.json --out good --force 2>err || true
	awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "refused") n = i } NR == 3 { found = $n != "" } END { exit !found }' \
		good/jobs.csv && break
done
wrong jobs.csv refused '' 'neither finished nor refused'

# --- many ---

checks=$((checks + 1))
"$SRC/tests/random/run" --count "$(sample 16 60)" --keep kept "$INASIM" >found || fail "$(head -n 10 found)"

finish "$checks checks; $(cat found)"
