#!/bin/bash
# The end of a job as an estimate (--fast-forward SHARE): a job of equal iterations takes n times one
# of them, to the picosecond; drawn jobs with jitter end within the bound of the whole run, or are
# simulated as in it; one that loses packets is simulated until its losses show; results say what is an
# estimate and hang together; nobody gets one without asking.
# By hand: SRC=$PWD INASIM=$PWD/build/inasim tests/steady.sh SEED SCENARIOS
source "${SRC:?source directory}/tests/lib/shell.sh"
in_a_folder_of_its_own
RANDOM=${1:-7}
number=${2:-30} # of scenarios

# cell FILE COLUMN: of the first row
cell() {
	awk -F, -v column="$2" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i } NR == 2 { print $at[column] }' "$1"
}

# 1 us for the controller, then a thousand iterations of 300 us and no network
cat >alone.json <<'JSON'
{ "name": "alone", "topology": { "kind": "star", "hosts": 4, "host": { "nic_jitter": "0s" } },
  "jobs": [ { "workers": 1, "all_reduce": "ring", "iterations": 1000,
              "model": { "layers": [ { "gradient": "1MB", "forward": "100us", "backward": "200us" } ] } } ] }
JSON
ends 0 run alone.json --out alone --fast-forward 1%
says out '^alone: estimated after'
says out "estimated: the end of the job, from the 21 of 1000 iterations that were simulated"
holds '.end_reason == "estimated" and .iterations_simulated == 21 and .iterations == 1000' alone/manifest.json
holds '.jobs.estimated == 1 and .jobs.finished == 1 and .jobs.jct_s.mean == 0.300001' alone/summary.json
[[ $(cell alone/jobs.csv jct_s) == 0.300001 && $(cell alone/jobs.csv jct_half_width_s) == 0 ]] ||
	fail "1 us + 1000 x 300 us is $(cell alone/jobs.csv jct_s)"
[[ $(cell alone/jobs.csv iterations_done) == 21 && $(cell alone/jobs.csv compute_s) == 0.3 ]] ||
	fail "compute_s $(cell alone/jobs.csv compute_s)"
(($(wc -l <alone/iterations.csv) == 22)) || fail "iterations.csv has rows of what was not simulated"

# three workers have the last sum while the slow one still waits, and go on: 30 x (3 x 46 us + 92 us) / 4
cat >slow.json <<'JSON'
{ "name": "slow", "topology": { "kind": "star", "hosts": 4, "host": { "nic_jitter": "0s" } },
  "jobs": [ { "workers": 4, "all_reduce": "ring", "iterations": 30, "stragglers": { "workers": 1 },
              "model": { "layers": [ { "gradient": "10KB", "forward": "17us", "backward": "29us" } ] } } ] }
JSON
ends 0 run slow.json --out slow --fast-forward 1%
[[ $(cell slow/jobs.csv jct_half_width_s) == 0 && $(cell slow/jobs.csv compute_s) == 0.001725 ]] ||
	fail "30 x 57.5 us is $(cell slow/jobs.csv compute_s)"

# asked for only; and what is too short is simulated
ends 0 run alone.json --out whole
holds '.end_reason == "all_done" and .jobs.estimated == 0' whole/summary.json
[[ -z $(cell whole/jobs.csv jct_half_width_s) && $(cell whole/jobs.csv jct_s) == 0.300001 ]] || fail "whole"
ends 0 run alone.json --out short --set /jobs/0/iterations=20 --fast-forward 1%
says out '^alone: all_done after'
says out 'estimated: nothing, because '
holds '.jobs.estimated == 0' short/summary.json

# rare and dear: an iteration takes 177 us, and 2 ms more if it loses a packet, as the 173rd is the first to do.
# The first 21 would be certain of a JCT without losses.
cat >rare.json <<'JSON'
{ "name": "rare", "seed": 3, "topology": { "kind": "star", "hosts": 3, "link": { "loss": 0.001 } },
  "schemes": { "panama": { "aggregate_above": "0B", "recovery": true, "retransmission_timeout": "2ms" } },
  "jobs": [ { "workers": 2, "all_reduce": "panama", "iterations": 300,
              "model": { "layers": [ { "gradient": "600B", "forward": "20us", "backward": "150us" } ] } } ] }
JSON
ends 0 run rare.json --out rare --fast-forward 50%
says out '^estimated: nothing, because .* too few losses'
holds '.jobs.estimated == 0 and .network.losses > 0' rare/summary.json
awk -F, 'NR == 1 { next } $6 > 0.002 && !first { first = NR - 1 } END { exit first != 173 }' rare/iterations.csv ||
	fail "the 173rd iteration is not the first to lose a packet"
# ... links that lose less than a packet in twenty such runs change nothing
ends 0 run rare.json --out none --fast-forward 50% --set /topology/link/loss=1e-6
holds '.jobs.estimated == 1' none/summary.json

# drawn
schemes=(ring switchml esa halving_doubling panama netreduce)
one_of() {
	shift $((RANDOM % $#))
	one=$1
}
estimated=0
for ((i = 0; i < number; i++)); do
	one_of '"kind":"star","hosts":12' '"kind":"leaf-spine","leaves":4,"spines":2,"hosts_per_leaf":3'
	topology=$one
	one_of 10Gbps 100Gbps
	rate=$one
	one_of 0s 100ns 1us
	jitter=$one
	one_of 0 0.02 0.1
	printf '{"name":"drawn","seed":%d,"topology":{%s,"link":{"rate":"%s"},"host":{"nic_jitter":"%s"}},
		"jobs":[{"all_reduce":"%s","workers":%d,"iterations":%d,"compute_jitter":%s,
		"model":{"layers":[{"gradient":"%dKB","forward":"%dus","backward":"%dus"},{"gradient":"60KB","backward":"30us"}]}}]}' \
		"$RANDOM" "$topology" "$rate" "$jitter" "${schemes[i % ${#schemes[@]}]}" $((2 + RANDOM % 3)) \
		$((100 + RANDOM % 100)) "$one" $((20 + RANDOM % 300)) $((RANDOM % 100)) \
		$((10 + RANDOM % 200)) >"$i.json"
	ends 0 run "$i.json" --out full --quiet
	ends 0 run "$i.json" --out estimate --quiet --fast-forward 2%
	# JCT of the whole run, JCT, half of its interval
	half=$(cell estimate/jobs.csv jct_half_width_s)
	echo "$(cell full/jobs.csv jct_s) $(cell estimate/jobs.csv jct_s) ${half:--}" >pairs
	awk '{ off = $2 / $1 - 1; if ($3 == "-" ? $1 != $2 : off * off > 0.02 ^ 2) exit 1 }' pairs ||
		fail "off by more than 2 %: $(cat pairs "$i.json")"
	! grep -qv -- '-$' pairs || estimated=$((estimated + 1))
	"$SRC/tests/random/consistent" estimate >out || fail "results do not hang together: $(cat out "$i.json")"
done
((3 * estimated > number)) || fail "only $estimated of $number are estimated"
# lossy and long enough: how many of the 95 % intervals hold the JCT of the whole run
lossy=8 inside=0 known=0
[[ -z ${NIGHTLY:-} ]] || lossy=100
schemes=(switchml ring panama netreduce)
for ((i = 0; i < lossy; i++)); do
	printf '{"name":"lossy","seed":%d,"topology":{"kind":"star","hosts":8,"link":{"rate":"100Gbps","loss":%s}},
		"tcp":{"min_rto":"1ms","initial_rto":"1ms"},
		"schemes":{"panama":{"recovery":true,"aggregate_above":"0B"}},
		"jobs":[{"all_reduce":"%s","workers":%d,"iterations":%d,"compute_jitter":0.05,
		"model":{"layers":[{"gradient":"%dB","forward":"20us","backward":"100us"}]}}]}' "$RANDOM" \
		"0.00$((1 + RANDOM % 9))" "${schemes[i % ${#schemes[@]}]}" $((2 + RANDOM % 3)) $((2000 + RANDOM % 4000)) \
		$((300 + RANDOM % 3000)) >lossy.json
	ends 0 run lossy.json --out whole-lossy --quiet
	ends 0 run lossy.json --out lossy --quiet --fast-forward 50%
	half=$(cell lossy/jobs.csv jct_half_width_s)
	[[ $half ]] || continue
	known=$((known + 1))
	echo "$(cell whole-lossy/jobs.csv jct_s) $(cell lossy/jobs.csv jct_s) $half" |
		awk '{ exit ($1 - $2) ^ 2 > $3 ^ 2 }' && inside=$((inside + 1))
done
echo "$known of $lossy lossy jobs estimated, the JCT of $inside within the interval"
((2 * known >= lossy && 4 * inside >= 3 * known)) || fail "$inside of $known within the interval, of $lossy"

ends 0 run 0.json --out again --quiet --fast-forward 0.02
ends 0 run 0.json --out same --quiet --set /stop/estimate=0.02
same again/jobs.csv same/jobs.csv
finish "$number scenarios within 2 %, $estimated of them estimated"
