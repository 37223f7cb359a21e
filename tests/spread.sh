#!/bin/bash
# The shipped scenarios of ESA and ATP do not collapse when workers lie apart: with idle NICs up to
# a full frame and 1 us late each takes at most twice as long as with none, be its servers on
# hosts of their own or beside workers. (Windows that halve for every result that others overtook
# take up to five times as long.) With windows that heed ECN marks alone testbed.json does collapse
# where servers stand beside workers: the queue is in a NIC, which marks nothing.
source "${SRC:?source directory}/tests/lib/shell.sh"
in_a_folder_of_its_own
esa=$SRC/scenarios/esa

# microseconds FILE JITTER OPTION...: the mean JCT
microseconds() {
	ends 0 run --json "$1" --set "/topology/host/nic_jitter=$2" "${@:3}"
	jq '1e6 * .jobs.jct_s.mean | round' out
}

# stays FILE OPTION...
stays() {
	local prompt spread late
	prompt=$(microseconds "$1" 0s "${@:2}")
	for spread in $(sample 1us 1us "121ns 1us"); do
		late=$(microseconds "$1" $spread "${@:2}")
		checks=$((checks + 1))
		((late < 2 * prompt)) || fail "$*: $late us with $spread, $prompt without"
	done
}

for scheme in esa atp; do
	both=(--set /jobs/0/all_reduce="$scheme" --set /jobs/1/all_reduce="$scheme"
		--set /jobs/0/iterations=3 --set /jobs/1/iterations=3)
	stays "$esa/eight-jobs-$scheme.json"
	stays "$esa/eight-jobs-$scheme.json" --set /topology/hosts=64
	stays "$esa/testbed.json" "${both[@]}"
	stays "$esa/testbed.json" "${both[@]}" --set "/jobs/0/servers=[8]" --set "/jobs/1/servers=[9]"
done
finish "four scenarios of ESA and ATP each, at a spread of 1 us"
