#!/bin/bash
# Runs in several threads: the same files as in one, to the byte, but for times, memory and the number of
# threads; and who runs in one all the same says why. With PRESET=tsan: no two threads touch the same in
# a window.
source "${SRC:?source directory}/tests/lib/shell.sh"
in_a_folder_of_its_own

# scenario TOPOLOGY REST: 128 hosts
tree='"kind": "fat-tree", "k": 8'
racks='"kind": "leaf-spine", "leaves": 8, "spines": 3, "hosts_per_leaf": 16'
scenario() {
	printf '{ "name": "t", "topology": { %s }, %s }\n' "$1" "$2"
}
scenario "$tree" '"flows": [ { "name": "p", "size": "60kB", "pairs": "permutation" } ]' >permutation.json
scenario "$tree, \"classes\": \"control-first\"" '"tcp": { "ack_every": 2 },
	"flows": [ { "name": "f", "transport": "swift", "size": { "cdf": "websearch" }, "count": 80, "arrival": { "poisson_load": 0.5 } },
		   { "name": "i", "size": "20kB", "pairs": "incast", "fan_in": 30, "receiver": 9 } ],
	"stop": { "when": "time", "after": "2ms" },
	"output": { "series": { "every": "50us", "flows": true, "links": ["aggregation/up", 3] } }' >mixed.json
scenario "$racks, \"link\": { \"rate\": \"10Gbps\", \"loss\": 1e-3 },
	\"host\": { \"jitter\": \"2us\" }, \"switch\": { \"buffer\": \"30kB\" }" '"tcp": { "min_rto": "200us", "initial_rto": "300us" },
	"flows": [ { "name": "p", "transport": "reno", "size": "50kB", "pairs": "permutation" },
		   { "name": "f", "size": "100kB", "count": 60, "arrival": { "poisson_load": 0.5 } } ]' >lossy.json

# same_results DIR DIR
same_results() {
	local file
	diff -rq "$1" "$2" | grep -v -e manifest.json -e summary.json >differ || true
	silent differ
	for file in manifest summary; do
		jq 'del(.wall_s, .cpu_s, .packet_hops_per_cpu_s, .peak_rss_bytes, .start, .end, .command_line, .threads)' \
			"$1/$file.json" >one
		jq 'del(.wall_s, .cpu_s, .packet_hops_per_cpu_s, .peak_rss_bytes, .start, .end, .command_line, .threads)' \
			"$2/$file.json" >other
		same one other
	done
}

for name in permutation mixed lossy; do
	ends 0 run $name.json --quiet --out $name.1
	holds '.threads == 1' $name.1/manifest.json
	for threads in 2 3 4 8; do
		ends 0 run $name.json --quiet --out $name.$threads --threads $threads
		silent err
		holds ".threads == $threads" $name.$threads/manifest.json
		same_results $name.1 $name.$threads
	done
done

# --- in one all the same ---

# alone REASON ARGUMENT...
alone() {
	local reason=$1
	shift
	ends 0 run --out alone --force --threads 2 "$@"
	says err "^inasim: t: --threads 2 asked for, 1 used: .*$reason"
	holds '.threads == 1' alone/manifest.json
}
job='/jobs=[{"name":"j","workers":4,"all_reduce":"ring","model":{"layers":[{"gradient":"50kB"}]}}]'
alone 'a network without jobs' permutation.json --set "$job"
alone 'without flows over RoCE' permutation.json --set /flows/0/transport=dcqcn
alone 'switches without PAUSE' permutation.json --set /topology/switch/pause=true
alone 'sees events in order' permutation.json --events 0s..1us
alone 'more threads do not pay for flows below 100 kB on average' lossy.json --set /flows/1/size=99kB
printf 'start_s,src,dst,size_bytes\n0,1,2,9000000\n0.000001,3,90,50000\n0.000002,5,9,60000\n' >short.csv
alone 'more threads do not pay for flows' permutation.json --set '/flows/0={"name":"f","arrival":{"trace":"short.csv"}}'
alone 'more threads do not pay with less than 128 hosts' permutation.json --set /topology/k=4
alone 'needs packet fidelity' permutation.json --fidelity analytic
scenario '"kind": "star", "hosts": 128' '"flows": [ { "name": "p", "size": "6kB", "pairs": "permutation" } ]' >star.json
alone 'needs a pod of its own' star.json

# fewer than asked for, and nothing said where nothing was asked or wanted
ends 0 run permutation.json --threads 9
says err '^inasim: t: --threads 9 asked for, 8 used: a thread needs a pod'
for arguments in '--threads 2' '--threads 1' ''; do
	# shellcheck disable=SC2086 # words
	ends 0 run permutation.json $arguments
	silent err
done
ends 0 run star.json --threads 2 --quiet
silent err

for bad in 0 -1 two 1.5 '' 5000; do
	ends 2 run permutation.json --threads "$bad"
	says err "^inasim: --threads takes a number from 1 to 4096; found \"$bad\"$"
done
ends 2 check permutation.json --threads 2

finish "$checks checks"
