#!/bin/bash
# Equal digests, equal runs: every change of one behaviour changes the digest, also where no packet
# shows it (a computation behind a transfer, a wait for hosts), in packets and in streams.
source "${SRC:?source directory}/tests/lib/shell.sh"
in_a_folder_of_its_own

# The second job waits for the hosts of the first; gradients of the last layer hide the backward
# computation of the first.
cat >scenario.json <<'JSON'
{
  "name": "digest",
  "stop": { "after": "1s" },
  "topology": { "kind": "leaf-spine", "spines": 2, "leaves": 3, "hosts_per_leaf": 2,
                "link": { "rate": "10Gbps", "delay": "1us" } },
  "jobs": [
    { "name": "first", "workers": 4, "all_reduce": "ring", "iterations": 2, "overlap": "layers",
      "model": { "layers": [ { "gradient": "100KB", "forward": "10us", "backward": "10us" },
                             { "gradient": "400KB", "forward": "12us", "backward": "30us" } ] } },
    { "name": "waits", "workers": 5, "all_reduce": "ring", "arrival": { "at": "2us" },
      "model": { "layers": [ { "gradient": "50KB" } ] } }
  ],
  "flows": [ { "size": "20KB", "count": 3, "arrival": { "at": "5us" } } ]
}
JSON

# changes FIDELITY < POINTER=VALUE...: each gives a digest of its own
changes() {
	local fidelity=$1 change digest
	declare -A seen=()
	while read -r change; do
		ends 0 run scenario.json --json --quiet --fidelity "$fidelity" --set "${change:-/seed=1}"
		digest=$(jq -r .digest out 2>/dev/null) || true
		[[ $digest =~ ^[0-9a-f]{16}$ ]] || continue # told by ends
		[[ ! -v seen[$digest] ]] || fail "$fidelity: \"$change\" has the digest of \"${seen[$digest]}\""
		seen[$digest]=$change
	done
}

# Of every fidelity; the empty line is the scenario as it is.
cat >common <<'CHANGES'

/seed=2
/jobs/0/model/layers/0/backward=20us
/jobs/0/model/layers/0/backward=10.001us
/jobs/0/model/layers/1/backward=31us
/jobs/0/model/layers/0/forward=11us
/jobs/0/model/layers/0/gradient=100004B
/jobs/0/iterations=3
/jobs/0/compute_scale=1.01
/jobs/0/compute_jitter=0.01
/jobs/0/start_jitter=1us
/jobs/0/send_jitter=1us
/jobs/0/stragglers/workers=1
/jobs/0/placement=spread
/jobs/0/placement=random
/jobs/1/arrival/at=0s
/jobs/1/arrival/at=1ns
/jobs/1/arrival/at=2.001us
/jobs/1/arrival/spread=1us
/jobs/1/enabled=false
/cluster/controller_latency=1.001us
/flows/0/size=20001B
/flows/0/count=4
/flows/0/arrival/at=5.001us
/topology/link/rate=10.001Gbps
/topology/link/delay=1.001us
/topology/switch/latency=501ns
/topology/host/latency=1ns
/schemes/ring/step_latency=1ns
/stop/when=flows_done
CHANGES
changes packet < <(
	cat common
	cat <<'CHANGES'
/topology/link/loss=0.001
/topology/host/jitter=1ns
/topology/host/nic=fifo
/topology/switch/buffer=3KB
/topology/switch/ecn/threshold=1pkt
/topology/classes=control-first
/topology/wire_overhead=false
/tcp/mss=1459
/tcp/initial_window=9
/tcp/min_rto=20us
/schemes/ring/ack_every=1
/schemes/ring/transport=reno
CHANGES
)
changes fluid <common

# NetReduce: losses, so that timeouts show.
cat >scenario.json <<'JSON'
{
  "name": "netreduce",
  "seed": 6,
  "stop": { "after": "10s" },
  "topology": { "kind": "leaf-spine", "spines": 2, "leaves": 3, "hosts_per_leaf": 2,
                "link": { "rate": "10Gbps", "delay": "1us", "loss": 0.01 }, "switch": { "ecn": { "threshold": "20KB" } } },
  "jobs": [ { "workers": 6, "all_reduce": "netreduce", "model": { "layers": [ { "gradient": "400KB" } ] } } ],
  "flows": [ { "size": "200KB", "pairs": [ [ 0, 4 ], [ 1, 4 ] ] } ]
}
JSON
changes packet <<'CHANGES'

/seed=2
/schemes/netreduce/window=1
/schemes/netreduce/message=169
/schemes/netreduce/rings=2
/schemes/netreduce/header=18
/schemes/netreduce/latency=1.001us
/schemes/netreduce/transport=roce
/schemes/netreduce/ack_every=1
/schemes/netreduce/roce/mtu=1000
/schemes/netreduce/roce/header=63
/schemes/netreduce/roce/write_header=17
/schemes/netreduce/roce/rto=999us
/schemes/netreduce/roce/nack_again=0s
/schemes/netreduce/roce/window=20KB
/schemes/netreduce/roce/first_psn=1
CHANGES

# SHARP: three jobs on one tree by turns, losses, operations of both kinds.
cat >scenario.json <<'JSON'
{
  "name": "sharp",
  "seed": 3,
  "stop": { "after": "10s" },
  "topology": { "kind": "leaf-spine", "spines": 2, "leaves": 3, "hosts_per_leaf": 4, "link": { "rate": "10Gbps", "delay": "1us", "loss": 0.02 } },
  "schemes": { "sharp": { "trees": 1, "lock": "operation", "osts": 16 } },
  "jobs": [ { "workers": 3, "count": 4, "all_reduce": "sharp", "placement": "spread", "overlap": "layers",
              "model": { "layers": [ { "gradient": "400KB" }, { "gradient": "9KB" } ] } } ]
}
JSON
changes packet <<'CHANGES'

/seed=2
/schemes/sharp/osts=100
/schemes/sharp/quota=0.1
/schemes/sharp/elements_per_packet=255
/schemes/sharp/header=57
/schemes/sharp/threshold=9000B
/schemes/sharp/window=5KB
/schemes/sharp/trees=2
/schemes/sharp/trees=0
/schemes/sharp/lock=exclusive
/schemes/sharp/lock_time=2001ns
/schemes/sharp/latency=101ns
/schemes/sharp/results=hop
/schemes/sharp/timeout=999us
CHANGES

# RoCE: two flows into one host, whose queue marks; the ring over it, too.
cat >scenario.json <<'JSON'
{
  "name": "roce",
  "topology": { "kind": "star", "hosts": 7, "link": { "rate": "100Gbps", "delay": "1us", "loss": 0.0005 },
                "switch": { "pause": true, "ecn": { "kmin": "20KB", "kmax": "80KB", "pmax": 0.5 } } },
  "schemes": { "ring": { "transport": "dcqcn" } },
  "jobs": [ { "workers": 4, "all_reduce": "ring", "model": { "layers": [ { "gradient": "400KB" } ] } } ],
  "flows": [ { "size": "4MB", "pairs": [[4, 6], [5, 6]], "transport": "dcqcn" } ]
}
JSON
changes packet <<'CHANGES'

/seed=2
/roce/mtu=1000
/roce/header=66
/roce/write_header=0
/roce/ack_every=2
/roce/rto=100us
/roce/nack_again=10us
/roce/window=64KB
/roce/first_psn=16777000
/roce/control/dcqcn/set=sigcomm15
/roce/control/dcqcn/set=hpcc
/roce/control/dcqcn/g=0.1
/roce/control/dcqcn/cnp_interval=10us
/roce/control/dcqcn/cut_interval=20us
/roce/control/dcqcn/alpha_timer=20us
/roce/control/dcqcn/increase_timer=20us
/roce/control/dcqcn/fast_recovery=3
/roce/control/dcqcn/rate_ai=1Gbps
/roce/control/dcqcn/rate_hai=5Gbps
/roce/control/dcqcn/min_rate=50Gbps
/roce/control/dcqcn/clamp_target=true
/flows/0/transport=roce
/flows/0/transport=roce_swift
/schemes/ring/transport=roce
/schemes/ring/transport=dctcp
CHANGES

# What is only looked at changes nothing.
ends 0 run scenario.json --json --quiet
digest=$(jq -r .digest out)
for look in /output/series/every=10us /stop/warmup=10us '/output/flow_classes=["1KB"]' /name=x; do
	ends 0 run scenario.json --json --quiet --out "look$((checks))" --set "$look"
	holds ".digest == \"$digest\"" out
done
# The same exchange between other hosts of one switch.
cat >scenario.json <<'JSON'
{
  "name": "hosts",
  "topology": { "kind": "star", "hosts": 9 },
  "jobs": [ { "workers": 4, "all_reduce": "ring", "placement": "random", "model": { "layers": [ { "gradient": "9KB" } ] } } ]
}
JSON
for fidelity in packet analytic; do
	changes "$fidelity" < <(printf '/seed=%d\n' 1 2 3)
done
finish "$checks checks"
