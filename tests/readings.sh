#!/bin/bash
# Readings that decide what a page says: they do so at every spread of hosts.
source "${SRC:?source directory}/tests/lib/shell.sh"
in_a_folder_of_its_own

# number FILTER ARGUMENT...: of the summary of a run
number() {
	"$INASIM" run --quiet --json "${@:2}" 2>err | jq "$1"
}

# above WHAT A B: A > B
above() {
	checks=$((checks + 1))
	awk -v a="$2" -v b="$3" 'BEGIN { exit !(a > b) }' || fail "$1: $2 is not above $3"
}

mean_short() {
	number '.flows.by_size[0].fct_s.mean * 1e6' "$SRC/scenarios/panama/shared-cluster.json" --set /jobs/0/arrival/poisson_load=0.6 "$@"
}

slots_128() {
	number '.jobs.communication_s.mean * 1e3' "$SRC/scenarios/switchml/loss-1e-3.json" --set /jobs/0/model/layers/0/gradient=20MB "$@"
}

beside_websearch() {
	number 'if .network.drops == 0 then .jobs.jct_s.mean * 1e3 else 0 end' "$SRC/scenarios/netreduce/beside-websearch.json" "$@"
}

# A lone job of ESA on a fat tree; by default its chunks never meet each other.
lone_esa() {
	cat >lone.json <<-'EOF'
		{ "name": "lone", "topology": { "kind": "fat-tree", "k": 4, "link": { "rate": "100Gbps", "delay": "1us" } },
		  "jobs": [ { "workers": 8, "placement": "compact", "all_reduce": "esa", "model": { "layers": [ { "gradient": "10MB" } ] } } ] }
	EOF
	number '.jobs.communication_s.mean * 1e3' lone.json "$@"
}

for jitter in 0s 100ns 1us; do
	spread=(--set "/topology/host/nic_jitter=$jitter")

	# PANAMA figure 8: a ring by NewReno, which heeds no marks, delays short flows by more than one by DCTCP, both by more than trees.
	trees=$(mean_short "${spread[@]}")
	dctcp=$(mean_short "${spread[@]}" --set /jobs/0/all_reduce=ring)
	reno=$(mean_short "${spread[@]}" --set /jobs/0/all_reduce=ring --set /schemes/ring/transport=reno)
	above "$jitter: a ring's short flows, us" "$dctcp" "$trees"
	above "$jitter: NewReno's short flows, us" "$reno" "$dctcp"

	# SwitchML figure 6: 128 slots stay near line rate (25 ms) if a packet is lost with 1 % once up and once down, not if on every link.
	once=$(slots_128 "${spread[@]}" --set /topology/link/loss=0.0012555)
	every=$(slots_128 "${spread[@]}" --set /topology/link/loss=0.01)
	above "$jitter: 128 slots, losses once up and down, ms" 60 "$once"
	above "$jitter: 128 slots, losses on every link, ms" "$every" 150

	# NetReduce: where nothing is lost, a timer below what queues hold triples the time at least.
	short=$(beside_websearch "${spread[@]}" --set /schemes/netreduce/roce/rto=1ms)
	long=$(beside_websearch "${spread[@]}")
	above "$jitter: NetReduce, timers of 1 and 67 ms, ms" "$short" "$(awk "BEGIN { print 3 * $long }")"

	# How close fluid is: what ESA's lone job loses to its own chunks, and to windows that these halve, needs `index: hash`.
	apart=$(lone_esa "${spread[@]}" --set /schemes/esa/halve_on=loss)
	above "$jitter: ESA's chunks apart, 1.01 of fluid, ms" 3.14 "$apart"
	hash=$(lone_esa "${spread[@]}" --set /schemes/esa/halve_on=loss --set /schemes/esa/index=hash)
	above "$jitter: ESA's chunks by hash, ms" "$hash" 3.14
done
finish "$checks comparisons hold"
