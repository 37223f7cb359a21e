#!/bin/bash
# What repeats is skipped, and nothing of the result changes: digest, events and tables are those of
# the same run without. Scenarios are drawn from a fixed seed: networks, numbers of jobs, formats,
# slots, layers, stragglers, spreads; a third of them must skip something, and one that draws a random
# number for every packet must skip nothing.
source "${SRC:?source directory}/tests/lib/shell.sh"
in_a_folder_of_its_own
RANDOM=11

one_of() {
	shift $((RANDOM % $#))
	echo "$1"
}

scenario() {
	local topology j separator=
	topology=$(one_of '"kind":"star","hosts":16' \
		'"kind":"leaf-spine","leaves":4,"spines":2,"hosts_per_leaf":4' '"kind":"fat-tree","k":4')
	printf '{"name":"repeats","seed":%d,"topology":{%s,"link":{"rate":"%s"},"host":{"nic_jitter":"%s"}},
		"schemes":{"switchml":{%s}},"jobs":[' "$RANDOM" "$topology" \
		"$(one_of 10Gbps 40Gbps 100Gbps)" "$(one_of 0ns 121ns 1us)" \
		"$(one_of '"slots":128' '"slots":512' '"slots":384' '"format":"rdma"' '"timeout_rule":"adaptive"')"
	for ((j = 0; j < 1 + $1 % 3; j++)); do
		printf '%s{"all_reduce":"switchml","workers":%d,"iterations":%d,"compute_jitter":%s,
			"arrival":{"at":"%dus"},"model":{"layers":[{"gradient":"%dMB","backward":"%dus"},
			{"gradient":"%dkB","forward":"20us"}]}}' "$separator" $((2 + RANDOM % 4)) \
			$((1 + RANDOM % 2)) "$(one_of 0 0 0.1)" $((RANDOM % 300)) $((2 + RANDOM % 4)) \
			$((RANDOM % 100)) $((1 + RANDOM % 3000))
		separator=,
	done
	printf ']}\n'
}

# both_ways NAME: runs NAME.json with and without; `skipped` is what was skipped
both_ways() {
	local what='[.digest, .events, .packet_hops]' table
	ends 0 run "$1.json" --out "$1.skips" --quiet
	ends 0 run "$1.json" --out "$1.full" --quiet --no-fast-forward
	for table in jobs iterations links aggregators; do
		same "$1.skips/$table.csv" "$1.full/$table.csv"
	done
	[[ $(jq -c "$what" "$1.skips/manifest.json") == "$(jq -c "$what" "$1.full/manifest.json")" ]] ||
		fail "another digest: $(cat "$1.json")"
	[[ $(jq .packet_hops_skipped "$1.full/manifest.json") == 0 ]] || fail "--no-fast-forward skips"
	skipped=$(jq .packet_hops_skipped "$1.skips/manifest.json")
}

number=24 skipping=0
for ((i = 0; i < number; i++)); do
	scenario "$i" >"$i.json"
	both_ways "$i"
	((skipped == 0)) || skipping=$((skipping + 1))
done
((3 * skipping >= number)) || fail "only $skipping of $number scenarios skip something"

cat >draws.json <<'JSON'
{"name":"draws","topology":{"kind":"star","hosts":4,"host":{"jitter":"100ns"}},
 "jobs":[{"all_reduce":"switchml","workers":4,"model":{"layers":[{"gradient":"4MB"}]}}]}
JSON
both_ways draws
((skipped == 0)) || fail "a run that draws for every packet skips"

finish "$skipping of $number scenarios skip something, all have the same results"
