#!/bin/bash
# Does every warning of models/scenario/warnings.c and results_remarks.c appear where it should, with its
# number, and nowhere else? Each has a scenario that it is said of and, one value away, one that it is
# not said of. The scenarios that the project ships have none.
source "${SRC:?source directory}/tests/lib/shell.sh"
in_a_folder_of_its_own

# warned FILE PATTERN OPTION...: check says it, also to machines, and --strict refuses
warned() {
	ends 0 check "$1" "${@:3}"
	says err "warning: $2"
	ends 3 check --strict "$1" "${@:3}"
	ends 0 check --json "$1" "${@:3}"
	holds 'any(.[]; .severity == "warning")' out
}

# not_warned FILE OPTION...: nothing at all to warn of
not_warned() {
	ends 0 check --strict "$@"
}

# --- jobs that will be refused ---

cat >domains.json <<'JSON'
{ "name": "domains", "topology": { "kind": "leaf-spine", "leaves": 2, "spines": 1, "hosts_per_leaf": 4, "switch": { "pause": true } },
  "jobs": [ { "workers": 4, "all_reduce": "nvls", "model": { "layers": [ { "gradient": "1MB" } ] } } ] }
JSON
not_warned domains.json
warned domains.json 'NVLS adds up below one switch, and the largest has 4 hosts: jobs of 5 workers are refused' \
	--set /jobs/0/workers=5

# --- load ---

cat >flows.json <<'JSON'
{ "name": "flows", "topology": { "kind": "leaf-spine", "leaves": 2, "spines": 2, "hosts_per_leaf": 4 },
  "stop": { "when": "time", "after": "5ms" },
  "flows": [ { "size": "100KB", "arrival": { "poisson_load": 0.5 } } ] }
JSON
not_warned flows.json
# 1538 bytes on the wire for 1460 of payload: 0.95 x 1.0534 > 1 > 0.94 x 1.0534
warned flows.json 'the offered load of 0\.95 .* takes 1\.001 ' --set /flows/0/arrival/poisson_load=0.95 \
	--set /topology/oversubscription=0.5
not_warned flows.json --set /flows/0/arrival/poisson_load=0.94 --set /topology/oversubscription=0.5
# 4 of 7 other hosts are in the other rack; 0.5 x 4/7 x 4 x 1.0534
warned flows.json 'flows offer 1\.204 times what the links between racks .* 0\.5714 .* have 0\.25 ' \
	--set /topology/oversubscription=4
not_warned flows.json --set /topology/oversubscription=3
ends 0 explain flows.json --set /topology/oversubscription=4
says out 'links between racks: 1\.143 \(0\.5714 of the traffic leaves its rack; up-links have 0\.25 '
incast=(--set '/flows/0={"size":"100KB","pairs":"incast","fan_in":4,"receiver":0,"arrival":{"poisson_load":0.5}}')
warned flows.json '0\.5 of hosts x link rate is 4\.214 times what the link of the one receiver' "${incast[@]}"
not_warned flows.json "${incast[@]}" --set /flows/0/arrival/poisson_load=0.1

# --- hosts ---

cat >jobs.json <<'JSON'
{ "name": "jobs", "topology": { "kind": "star", "hosts": 8, "host": { "jitter": "1us" } },
  "jobs": [ { "count": 2, "workers": 4, "all_reduce": "ring",
              "model": { "layers": [ { "gradient": "100KB", "backward": "1ms" } ] } } ] }
JSON
not_warned jobs.json
warned jobs.json 'the 3 jobs that arrive at 0 s need 12 places .* there are 8: 2 run at once' --set /jobs/0/count=3
not_warned jobs.json --set /jobs/0/count=3 --set '/jobs/0/arrival={"at":"0s","spread":"1s"}'
not_warned jobs.json --set /jobs/0/count=4 --set /topology/host/slots=2
warned jobs.json 'the 2 jobs .* need 10 places .* there are 8: 1 run' --set /jobs/0/all_reduce=ps --set /jobs/0/servers=1
pace=(--set /jobs/0/count=50 --set /jobs/0/arrival='{"poisson_gap":"400us"}')
warned jobs.json 'jobs arrive faster .* computing alone would keep 10 places .* there are 8' "${pace[@]}"
not_warned jobs.json "${pace[@]}" --set /jobs/0/arrival/poisson_gap=600us
warned jobs.json 'jobs arrive faster .* computing alone would keep 10 places' "${pace[@]}" --set '/jobs/0/workers={"min":1,"max":7}'
not_warned jobs.json "${pace[@]}" --set '/jobs/0/workers={"min":1,"max":5}'
pace+=(--set '/jobs/0/model={"layers":[{"gradient":"1KB","backward":"500us"},{"gradient":"1KB","backward":"500us"}]}' --set /jobs/0/overlap=layers)
warned jobs.json 'jobs arrive faster .* computing alone would keep 10 places' "${pace[@]}" --set '/jobs/0/pipeline={"stages":2}'
not_warned jobs.json "${pace[@]}" --set '/jobs/0/pipeline={"stages":2,"microbatches":3}'

# --- ECN ---

ecn=/topology/switch/ecn
not_warned flows.json --set $ecn='{"threshold":"85pkt"}'
warned flows.json 'marks from 129030 bytes on; 85 full frames at 10 Gbps are, in proportion, 1\.2903e\+06 bytes at the 100 Gbps' \
	--set /topology/link/rate=100Gbps --set $ecn='{"threshold":"85pkt"}'
warned flows.json 'marks from 1e\+06 bytes on; .* 129030 bytes at the 10 Gbps' --set $ecn='{"threshold":"1MB"}'
not_warned flows.json --set $ecn='{"threshold":"500KB"}'
warned flows.json 'no queue marks packets: marks begin at 129030 bytes, and ports drop what their buffers of 129000 bytes' \
	--set $ecn=true --set /topology/switch/buffer=129000B
warned flows.json 'no queue marks packets: marks begin at 85 packets, ' --set $ecn='{"threshold":"85pkt"}' --set /topology/switch/buffer=129000B
not_warned flows.json --set $ecn=true --set /topology/switch/buffer=130KB
# 8 x 1 us, 4 + 4 hops of 500 ns less 2, and two frames over four links: 19.2 us
warned flows.json 'marks from 10000 bytes on, far below the bandwidth-delay product .* 20[0-9]+\.?[0-9]* bytes' \
	--set $ecn='{"kmin":"10KB","kmax":"20KB","pmax":1}'
not_warned flows.json --set $ecn='{"threshold":"12KB"}'
not_warned flows.json --set $ecn=false
not_warned flows.json --set $ecn='{"threshold":"10KB"}' --set /flows/0/transport=reno
warned jobs.json 'marks from 2000 bytes on, far below the bandwidth-delay product' --set $ecn='{"threshold":"2KB"}'
not_warned jobs.json --set $ecn='{"threshold":"2KB"}' --set /schemes/ring/transport=reno

# --- parameter servers that answer packet by packet ---

# 7 x 794 x 180 bytes and 7 x 793 x 180, for 1,000,000 that a port of a server has: those of faster links between
# switches do not matter
cat >crowd.json <<'JSON'
{ "name": "crowd", "topology": { "kind": "leaf-spine", "leaves": 3, "spines": 1, "hosts_per_leaf": 4,
                                 "oversubscription": 0.1, "link": { "rate": "10Gbps" } },
  "jobs": [ { "workers": 7, "servers": 1, "send_jitter": "20us", "all_reduce": "ps_stream",
              "model": { "layers": [ { "gradient": "800KB" } ] } } ] }
JSON
warned crowd.json '7 workers with 794 slots .* 1000440 bytes at once, more than the 1000000 ' --set /schemes/ps_stream/slots=794
not_warned crowd.json --set /schemes/ps_stream/slots=793 --set /schemes/ps_stream/retransmission_timeout=2ms
# what fits into the buffer may still wait longer than the timer: 7 x 67 x 200 bytes on the wire take 0.7504 ms
slow=(--set /topology/link/rate=1Gbps --set /schemes/ps_stream/slots=67)
warned crowd.json '7 workers with 67 slots a server keep its link busy for 0.0007504 s, more than 0.75 of ' "${slow[@]}"
warned crowd.json '7 workers with 67 slots a server keep its link busy' "${slow[@]}" --set /topology/switch/pause=true
not_warned crowd.json "${slow[@]}" --set /schemes/ps_stream/slots=66
not_warned crowd.json "${slow[@]}" --set /schemes/ps_stream/retransmission_timeout=1.1ms
not_warned crowd.json "${slow[@]}" --set /schemes/ps_stream/timeout_rule=doubling
# as many slots as the run has, where the wait for the copies of all workers decides between 64 and 128 of them
cat >many.json <<'JSON'
{ "name": "many", "topology": { "kind": "star", "hosts": 54, "link": { "rate": "10Gbps" }, "wire_overhead": false,
                                "host": { "nic_jitter": "0s" }, "switch": { "ecn": false } },
  "jobs": [ { "workers": 26, "servers": 26, "all_reduce": "ps_stream", "model": { "layers": [ { "gradient": "100KB" } ] } } ] }
JSON
while read -r n slots overhead; do
	options=(--set "/jobs/0/workers=$n" --set "/jobs/0/servers=$n" --set "/topology/wire_overhead=$overhead")
	warned many.json "$n workers with $slots slots a server" "${options[@]}" --set /topology/switch/buffer=3KB
	ends 0 run --quiet many.json "${options[@]}" --out "many-$n"
	cells "c[\"slots\"] != $n * $slots { print c[\"slots\"] \" slots\" }" "many-$n/jobs.csv"
done <<'CASES'
26 3 false
27 5 false
25 6 true
CASES

# --- RoCE ---

cat >roce.json <<'JSON'
{ "name": "roce", "topology": { "kind": "star", "hosts": 4, "switch": { "pause": true } },
  "flows": [ { "size": "1MB", "pairs": [ [ 0, 1 ] ], "transport": "dcqcn" } ] }
JSON
not_warned roce.json
for transport in dcqcn roce roce_swift; do
	warned roce.json 'switches without "pause" drop what their buffers of [0-9]+ bytes a port do not hold' \
		--set /topology/switch={} --set /flows/0/transport=$transport
	not_warned roce.json --set /topology/switch/pause=false --set /flows/0/transport=$transport
done
not_warned roce.json --set /topology/switch={} --set /flows/0/transport=dctcp
warned roce.json 'no queue marks packets, and DCQCN slows down for marks only' --set $ecn=false
not_warned roce.json --set $ecn=false --set /flows/0/transport=roce
not_warned roce.json --set $ecn='{"kmin":"5KB","kmax":"200KB","pmax":0.01}'
# PAUSE below the threshold of marks is refused where somebody heeds marks
small=(--set /topology/switch/buffer=60KB)
not_warned roce.json "${small[@]}" --set /flows/0/transport=roce
ends 3 check roce.json "${small[@]}"
says err 'PAUSE stops a queue .* before ECN marks'
not_warned roce.json "${small[@]}" --set $ecn=false --set /flows/0/transport=dctcp
warned roce.json 'a "fifo" NIC accepts at once all that a source may send' --set /topology/host/nic=fifo
not_warned roce.json --set /topology/host/nic=fifo --set /roce/window=64KB
not_warned roce.json --set /topology/host/nic=bytes
# a port of 1 MB takes 800 us at 10 Gbps, and an idle round trip 7: 5 ports on the way of a fat tree
warned roce.json '0\.0008 s is shorter than a round trip .* 0\.000806904 s' --set /roce/nack_again=0s --set /roce/rto=800us
not_warned roce.json --set /roce/rto=810us
warned roce.json '0\.0008 s is shorter than a round trip .* full' --set /roce/nack_again=800us
not_warned roce.json --set /roce/nack_again=810us
not_warned roce.json --set /roce/nack_again=0s
tree=(--set '/topology={"kind":"fat-tree","k":4,"switch":{"pause":true}}')
warned roce.json '0\.004 s is shorter than .* 0\.00402271 s' "${tree[@]}" --set /roce/rto=4ms
not_warned roce.json "${tree[@]}" --set /roce/rto=5ms
warned roce.json 'has no effect: nothing runs over RoCE' --set /flows/0/transport=dctcp --set /roce/mtu=1000
warned roce.json 'has no effect: nothing runs over TCP' --set /tcp/mss=1000
warned jobs.json 'has no effect: NetReduce has its own .*/schemes/netreduce/roce' --set /jobs/0/all_reduce=netreduce \
	--set /roce/mtu=512
not_warned roce.json --set /roce/mtu=1000

# --- Swift ---

# The target is 25 us and the idle round trip but for the last link: 2 links and frames of 1538 and 84 bytes at 10 Gbps, 1.3 us.
while read -r transport place; do
	swift=(--set /flows/0/transport=$transport --set /topology/switch/pause=false --set '/topology/host={"latency":"0s"}')
	warned flows.json 'the target of [0-9.e-]+ s is shorter than the round trip of an idle path' "${swift[@]}" --set /topology/link/delay=12.5us
	not_warned flows.json "${swift[@]}" --set /topology/link/delay=11.8us
	warned flows.json 'the target of 2.5e-05 s' "${swift[@]}" --set /topology/link/delay=5us --set "/$place/control/swift/hop=0s"
done <<'TRANSPORTS'
swift tcp
roce_swift roce
TRANSPORTS
not_warned flows.json --set /topology/link/delay=12us

# --- lock-step ---

cat >step.json <<'JSON'
{ "name": "step", "topology": { "kind": "star", "hosts": 12, "host": { "nic_jitter": "0s" } },
  "jobs": [ { "workers": 4, "all_reduce": "panama", "model": { "layers": [ { "gradient": "50MB" } ] } } ],
  "flows": [ { "size": "1MB", "pairs": [ [ 6, 0 ] ] } ] }
JSON
warned step.json 'all 4 workers hand their gradients over in the same picosecond'
for jitter in /topology/host/jitter=1us /topology/host/nic_jitter=1us /topology/host={} /jobs/0/compute_jitter=0.1 /jobs/0/send_jitter=1us /jobs/0/start_jitter=1us \
	/jobs/0/all_reduce=switchml; do
	not_warned step.json --set $jitter
done
not_warned step.json --set /flows/0/enabled=false
not_warned step.json --fidelity analytic
warned step.json 'all 4 workers' --set /flows/0/enabled=false --set /jobs/0/all_reduce=atp --set /jobs/0/count=2
not_warned step.json --set /flows/0/enabled=false --set /jobs/0/all_reduce=atp

# --- keys ---

while read -r pointer value why; do
	warned jobs.json "has no effect: $why" --set "$pointer=$value"
done <<'KEYS'
/jobs/0/gpu "v100" the layers say how long
/jobs/0/inside "master" machines have one GPU
/jobs/0/inside_chunk "1MB" there are no stages
/jobs/0/prefetch 2 parameters are not sharded
/jobs/0/pipeline/activations "1MB" there is one stage
/jobs/0/send_jitter_per "tensor" there is no
/jobs/0/stragglers/slowdown 3 no worker is slow
/jobs/0/max_steps 5 no job has more iterations
/jobs/0/fallback "ring" nothing fails
/jobs/0/restart_delay "1ms" nothing fails
/failures/reroute_delay "2ms" nothing fails
/failures/controller_delay "2ms" nothing fails
/schemes/switchml/memory "2MB" no job has this scheme
/topology/host/gpus/rate "9GBps" machines have one GPU
/topology/host/gpus/latency "2us" machines have one GPU
/topology/host/gpus/wiring "mesh" machines have one GPU
/topology/host/gpus/shared true machines have one GPU
/topology/host/nics/wiring "rails" machines have one NIC
KEYS
echo '{ "layers": [ { "gradient": "100KB", "backward": "1ms" } ] }' >own.json
mix=(--set /jobs/0/gpu=v100 --set '/jobs/0/model={"mix":[{"model":"own.json"},{"model":"vgg16"}]}')
not_warned jobs.json "${mix[@]}"
warned jobs.json 'has no effect: the layers say how long' "${mix[@]}" --set /jobs/0/model/mix/1/model=own.json
not_warned jobs.json --set '/failures={"events":[{"fails":"switches","at":"1ms"}],"controller_delay":"2ms"}' --set /jobs/0/fallback=ring
stages=(--set /jobs/0/overlap=layers --set '/jobs/0/pipeline={"stages":2,"activations":"1MB"}' --set /jobs/0/workers=2
	--set '/jobs/0/model={"layers":[{"gradient":"1MB"},{"gradient":"1MB"}]}' --set /jobs/0/all_reduce=ps)
warned jobs.json 'has no effect: stages have theirs on hosts of their workers' "${stages[@]}" --set /jobs/0/servers=2
not_warned jobs.json "${stages[@]}"
sharded=(--set /jobs/0/workers=2 --set /jobs/0/overlap=layers --set /jobs/0/sharding=full --set /jobs/0/all_reduce=ps)
warned jobs.json 'has no effect: the scheme of "reduce_scatter" has none' "${sharded[@]}" --set /jobs/0/reduce_scatter=shards \
	--set /jobs/0/servers=1
not_warned jobs.json "${sharded[@]}" --set /jobs/0/servers=1
not_warned jobs.json --set '/topology/host={"gpus":{"count":8,"rate":"9GBps","latency":"2us","shared":true},"nics":{"count":2,"wiring":"rails"}}' \
	--set /jobs/0/workers=2 --set /jobs/0/inside_chunk=1MB
switchml=(--set /jobs/0/all_reduce=switchml)
warned jobs.json 'has no effect: "format" is not rdma' "${switchml[@]}" --set /schemes/switchml/message=2
not_warned jobs.json "${switchml[@]}" --set '/schemes/switchml={"format":"rdma","message":2}'
warned jobs.json 'has no effect: "timeout_rule" is not doubling' "${switchml[@]}" --set /schemes/switchml/timeout_threshold=9
not_warned jobs.json "${switchml[@]}" --set '/schemes/switchml={"timeout_threshold":9,"timeout_rule":"doubling"}'
warned jobs.json 'has no effect: "timeout_rule" is not adaptive' "${switchml[@]}" --set /schemes/switchml/timeout_min=1ms
not_warned jobs.json "${switchml[@]}" --set '/schemes/switchml={"timeout_min":"1ms","timeout_rule":"adaptive"}'
panama=(--set /jobs/0/all_reduce=panama --set /schemes/panama/retransmission_timeout=1ms)
warned jobs.json 'has no effect: without "recovery"' "${panama[@]}"
not_warned jobs.json "${panama[@]}" --set /schemes/panama/recovery=true
panama=(--set /jobs/0/all_reduce=panama)
warned jobs.json 'has no effect: "fraction" is 1' "${panama[@]}" --set /schemes/panama/fraction_rounding=down
not_warned jobs.json "${panama[@]}" --set '/schemes/panama={"fraction_rounding":"down","fraction":0.9}'
warned jobs.json 'has no effect: jobs have one tree' "${panama[@]}" --set '/schemes/panama={"order":"strict","trees":1}'
warned jobs.json 'has no effect: jobs have one tree' "${panama[@]}" --set '/schemes/panama={"order":"strict","only_tree":2}'
not_warned jobs.json "${panama[@]}" --set '/schemes/panama={"order":"strict","trees":2}'
netreduce=(--set /jobs/0/all_reduce=netreduce --set /schemes/netreduce/roce/ack_every=2)
warned jobs.json 'has no effect: its own "ack_every" replaces it' "${netreduce[@]}"
netreduce=(--set /jobs/0/all_reduce=netreduce --set /topology/switch/pause=false)
warned jobs.json 'has no effect: "transport" has no Swift' "${netreduce[@]}" --set /schemes/netreduce/roce/control/swift/beta=0.5
netreduce+=(--set /schemes/netreduce/roce/control/dcqcn/g=0.1)
not_warned jobs.json "${netreduce[@]}"
warned jobs.json 'has no effect: "transport" is not dcqcn' "${netreduce[@]}" --set /schemes/netreduce/transport=roce
warned jobs.json 'switches without "pause" drop' --set /jobs/0/all_reduce=netreduce
not_warned jobs.json --set /jobs/0/all_reduce=netreduce --set /schemes/netreduce/ack_every=2 --set /topology/switch/pause=false
atp=(--set /jobs/0/all_reduce=atp --set /jobs/0/count=1 --set /schemes/atp/positions=50)
warned jobs.json 'has no effect: "index" is neither position nor rehash' "${atp[@]}"
not_warned jobs.json "${atp[@]}" --set /schemes/atp/index=position
for key in remaining=job ratio=measured priority_scale=8; do
	esa=(--set /jobs/0/all_reduce=esa --set /jobs/0/count=1 --set "/schemes/esa/$key")
	not_warned jobs.json "${esa[@]}"
	warned jobs.json 'has no effect: "preemption" is not priority' "${esa[@]}" --set /schemes/esa/preemption=coin
done
warned jobs.json 'has no effect: "workers" lists hosts' --set '/jobs/0/workers=[0,1]' --set /jobs/0/count=1 \
	--set /jobs/0/placement=spread
warned jobs.json 'has no effect: nothing runs over TCP' --set /jobs/0/all_reduce=switchml --set /tcp/mss=1000
warned jobs.json 'has no effect: schemes have their own "ack_every"' --set /tcp/ack_every=4
not_warned jobs.json --set /jobs/0/all_reduce=esa --set /jobs/0/count=1 --set '/tcp={"mss":1000,"ack_every":4}'
not_warned jobs.json --set /jobs/0/all_reduce=sharp --set /tcp/mss=1000
lossless=(--set /topology/switch/pause=true)
warned jobs.json 'has no effect: schemes have their own "ack_every"' "${lossless[@]}" --set /schemes/ring/transport=roce --set /roce/ack_every=4
not_warned jobs.json "${lossless[@]}" --set /jobs/0/all_reduce=sharp --set /schemes/sharp/below/ring/transport=roce --set /roce/mtu=512
not_warned jobs.json --set /tcp/mss=1000
not_warned jobs.json --set /topology/host/gpus/count=8 --set /jobs/0/inside=master
not_warned jobs.json --set /jobs/0/all_reduce=panama --set /tcp/mss=1000 # small jobs run a ring
not_warned jobs.json --set /schemes/switchml/memory=2MB --set /schemes/ring/transport=reno
not_warned jobs.json --set /jobs/0/stragglers='{"workers":1,"slowdown":3}' --set /jobs/0/send_jitter=1us \
	--set /jobs/0/send_jitter_per=tensor

# --- traces ---

trace=(--set '/jobs=[{"model":"resnet50","all_reduce":"ring","arrival":{"trace":"trace.csv"}}]' --fidelity fluid)
printf 'job_id,submit_s,gpus,duration_s,user,vc\nx-1,0,2,1,eve,a\n' >trace.csv
warned jobs.json 'these columns of the trace have no effect: user, vc$' "${trace[@]}"
warned jobs.json 'these columns .*: user, vc, duration_s$' "${trace[@]}" --set /jobs/0/iterations=2
printf 'job_id,submit_s,gpus,duration_s,model,scheme\nx-1,0,2,1,,\n\ny,0.5,2,0.7,vgg16,\nz,1,2,1,,panama\n' >trace.csv
not_warned jobs.json "${trace[@]}"
warned jobs.json 'this column of the trace .*: duration_s' "${trace[@]}" --set /jobs/0/iterations=2
# what has no effect on the first job may have one on others
own=(--set '/jobs/0/model={"layers":[{"gradient":"100KB"}]}' --set /jobs/0/gpu=v100 --set /jobs/0/max_steps=5)
not_warned jobs.json "${trace[@]}" "${own[@]}"
# resnet50 computes 292.2 ms (64 / 219) an iteration on a P100, vgg16 415.6 ms (64 / 154)
ends 0 run jobs.json "${trace[@]}" --out trace
cells 'c["iterations"] "," c["model"] "," c["scheme"] "," c["trace_id"] != \
	(c["job_id"] == 0 ? "3,resnet50,ring,x-1" : c["job_id"] == 1 ? "2,vgg16,ring,y" : "3,resnet50,panama,z")' trace/jobs.csv
printf 'job_id,submit_s,gpus\nx-1,0,2\n' >trace.csv
not_warned jobs.json "${trace[@]}"
ends 3 check jobs.json "${trace[@]}" --set /jobs/0/iterations=duration
says err 'needs a column duration_s, which the trace does not have'
printf 'job_id,submit_s,gpus,scheme\nx-1,0,2,rang\n' >trace.csv
ends 3 check jobs.json "${trace[@]}"
says err 'column scheme: "rang" is not a scheme'
printf 'job_id,submit_s,gpus,model\nx-1,0,2,\nx-2,0,2,resnet51\n' >trace.csv
ends 3 check jobs.json "${trace[@]}"
says err '/jobs/0/arrival/trace: .*resnet51'
printf 'start_s,src,dst,size_bytes,port\n0,0,1,1000,80\n' >flows.csv
warned flows.json 'these columns of the trace have no effect: port$' --set '/flows=[{"arrival":{"trace":"flows.csv"}}]'
printf 'start_s,src,dst,size_bytes\n0,0,1,1000\n' >flows.csv
not_warned flows.json --set '/flows=[{"arrival":{"trace":"flows.csv"}}]'

# --- what ran as something else ---

ends 0 run step.json --set /jobs/0/model/layers/0/gradient=100KB --out ring
says err 'note: runs as ring: model "in place" with 100000 bytes of gradients \("aggregate_above" of panama decides\)$'
says out '^not as configured: job \(panama\): 1 ran as ring$'
holds '.jobs.ran_as == ["job (panama): 1 ran as ring"]' ring/summary.json
cells 'c["scheme"] != "panama" || c["ran_as"] != "ring"' ring/jobs.csv
ends 0 explain step.json --set /jobs/0/model/layers/0/gradient=100KB
says err 'note: runs as ring'
small=(--set /schemes/panama='{"trees":1,"aggregate_above":"0B"}' --set /jobs/0/model/layers/0/gradient=100KB)
ends 0 run step.json "${small[@]}" --out same
! grep -q 'not as configured' out || fail "a job that ran as given: $(grep 'not as configured' out)"
! grep -q 'note: ' err || fail "a note without a cause: $(cat err)"
holds '.jobs.ran_as == []' same/summary.json
cells 'c["ran_as"] != "panama"' same/jobs.csv
ends 0 run step.json "${small[@]}" --set /schemes/panama/trees=3 --out trees
says err 'note: runs as panama with 1 of 3 trees'
cells 'c["ran_as"] != "panama with 1 of 3 trees"' trees/jobs.csv
# two roots as near to both racks as each other, and behind one of them a switch of the highest tier
links='[["a","r"],["b","s"],["r","left"],["r","right"],["s","left"],["s","right"],["left","core"]]'
graph=$(jq -c '{ kind: "graph", graph: { hosts: ["a", "b"], switches: ["r", "s", "left", "right", "core"],
	links: map({ from: .[0], to: .[1] }) } }' <<<"$links")
ends 0 run step.json "${small[@]}" --set /topology="$graph" --set '/flows/0/pairs=[[0,1]]' --set /jobs/0/workers=2 \
	--set /schemes/panama/trees=2 --out graph
! grep -q 'note: ' err || fail "a note without a cause: $(cat err)"
cells 'c["ran_as"] != "panama"' graph/jobs.csv
# 1024 bytes hold 4 slots of two versions of 32 elements; 32 cover the 3.8 us of the way at 10 Gbps
for fidelity in packet fluid; do
	ends 0 run jobs.json --set /jobs/0/all_reduce=switchml --set /schemes/switchml/memory=1024B --set /jobs/0/count=1 \
		--fidelity $fidelity --out slots-$fidelity
	says err 'note: runs as switchml with 4 of 32 slots: .* \("memory" of switchml decides\)$'
	cells 'c["slots"] != 4 || c["ran_as"] != "switchml with 4 of 32 slots"' slots-$fidelity/jobs.csv
done
ends 0 run jobs.json --set /jobs/0/all_reduce=switchml --set '/schemes/switchml={"memory":"1024B","slots":4}' --set /jobs/0/count=1 --out four
cells 'c["ran_as"] != "switchml"' four/jobs.csv
# ... and of a scheme that never runs, as another reduces
ends 0 check jobs.json --set /jobs/0/all_reduce=switchml --set /schemes/switchml/memory=1024B --set /jobs/0/sharding=full \
	--set /jobs/0/reduce_scatter=shards
! grep -q 'runs as' err || fail "a note on a scheme that never runs: $(cat err)"
# ... also where all that the memory holds is asked for, which need not be a power of two
ends 0 run "$SRC/scenarios/switchml/tenants.json" --out tenants
says err 'note: runs as switchml with 125 of 512 slots'
cells 'c["ran_as"] != "switchml with 125 of 512 slots"' tenants/jobs.csv

# --- what only a run can know ---

pair=(--set /jobs/0/all_reduce=esa --set /topology/hosts=12 --set /jobs/0/servers=1)
ends 0 run jobs.json "${pair[@]}" --out idle
says out '^warning: switch memory was never contended: esa had 0 collisions in [0-9]+ packets added'
holds '.warnings | length == 1 and (.[0] | startswith("switch memory was never contended"))' idle/summary.json
ends 0 run jobs.json "${pair[@]}" --set /schemes/esa/memory=4KB --out contended
holds '.warnings == [] and .aggregation.collisions > 0' contended/summary.json
ends 0 run jobs.json "${pair[@]}" --set /jobs/0/count=1 --out one
holds '.warnings == []' one/summary.json
# two jobs share links of racks that their slots keep busy for longer than the timer
storm=(--set /jobs/0/all_reduce=switchml --set '/topology={"kind":"leaf-spine","leaves":4,"hosts_per_leaf":2,"spines":1}'
	--set /topology/link/rate=1Gbps --set /jobs/0/placement=spread --set /jobs/0/model/layers/0/gradient=2MB)
ends 0 run jobs.json "${storm[@]}" --set '/schemes/switchml={"format":"s19-mtu","slots":60}' --out storm
says out '^warning: timers of jobs ended before answers came: switches or servers sent [0-9.e+]+ sums again, of 2734,'
ends 0 run jobs.json "${storm[@]}" --set '/schemes/switchml={"format":"s19-mtu","slots":40}' --out calm
holds 'all(.warnings[]; startswith("timers") | not) and .aggregation.timeouts == 0' calm/summary.json
ends 0 run jobs.json "${storm[@]}" --set '/schemes/switchml={"format":"s19-mtu","slots":20}' --set /topology/link/loss=0.01 --out losses
holds 'all(.warnings[]; startswith("timers") | not) and .aggregation.timeouts > 500' losses/summary.json
# all of a window collides in one rack, and waits at the server's switch for the 50 ms of ATP's first timeout
cat >stuck.json <<'JSON'
{ "name": "stuck", "topology": { "kind": "leaf-spine", "leaves": 4, "spines": 1, "hosts_per_leaf": 4 },
  "schemes": { "atp": { "memory": "8192B", "initial_window": "9920B" } },
  "jobs": [ { "workers": [0, 1, 4, 2], "servers": [12], "all_reduce": "atp", "stragglers": { "workers": 1, "slowdown": 50 },
              "model": { "layers": [ { "gradient": "8192B", "forward": "1us" } ] } },
            { "workers": [3, 9], "servers": [8], "all_reduce": "atp", "arrival": { "at": "20us" },
              "model": { "layers": [ { "gradient": "24576B" } ] } } ] }
JSON
ends 0 run stuck.json --out stuck
says out '^warning: jobs waited for timers though nothing was lost: 1 for more .* for 50\.000 of its 50\.090 ms'
ends 0 run stuck.json --set /schemes/atp/memory=16384B --out moves
holds '.warnings == []' moves/summary.json
full=(--set '/flows=[{"size":"50MB","pairs":[[0,4],[1,5],[4,0],[5,1]]}]' --set /stop/after=20ms)
ends 0 run flows.json "${full[@]}" --set /topology/oversubscription=8 --out full --set /topology/spines=1
says out '^warning: the fabric was saturated throughout: links leaf/up had a mean utilization of 0\.9'
ends 0 run flows.json "${full[@]}" --set /topology/oversubscription=1 --out free --set /topology/spines=1
holds '.warnings == []' free/summary.json

# --- RoCE that sends more packets again than there are ---

cat >roce.json <<'JSON'
{ "name": "roce", "topology": { "kind": "star", "hosts": 3, "link": { "rate": "100Gbps" },
                                "switch": { "buffer": "300KB", "pause": false } },
  "stop": { "when": "time", "after": "20ms" },
  "flows": [ { "name": "f", "transport": "roce", "pairs": [[1,0],[2,0]], "size": "10MB" } ] }
JSON
ends 0 run roce.json --out again
says out '^warning: flows over RoCE sent [0-9]+ packets again, [0-9.]+ times what they had to send: after a loss RoCE sends'
# 2 x 10 MB in packets of 1,024 bytes
cells '{ again += c["retransmissions"] } END { if (again / 19532 < 10) print again }' again/flows.csv
ends 0 run roce.json --set /topology/switch='{ "buffer": "2MB", "pause": true }' --out paused
holds '.warnings == []' paused/summary.json
holds '.network.drops == 0 and .flows.finished == 2' paused/summary.json

# --- fluid beside flows ---

beside='do not rank schemes beside flows by fluid'
for scheme in ring halving_doubling switchml panama esa ps_stream; do
	warned step.json "$beside" --fidelity fluid --set "/jobs/0/all_reduce=$scheme"
done
not_warned step.json --fidelity fluid --set /flows/0/enabled=false
not_warned step.json --fidelity fluid --set /jobs/0/enabled=false
ends 0 run step.json --fidelity fluid --quiet --out beside
holds '.warnings | length == 1 and (.[0] | startswith($text))' beside/summary.json --arg text "$beside"
ends 0 run step.json --set /topology/host={} --quiet --out packets
holds '.warnings == []' packets/summary.json
ends 0 compare packets beside
(($(grep -c "^   warning: $beside" out) == 1)) || fail "compare: $(grep warning out)"
ends 0 compare packets beside --json
holds '[.runs[].warnings | map(select(startswith($text))) | length] == [0, 1]' out --arg text "$beside"
ends 0 plot beside --figure job_timeline --term dumb
says err "^beside: $beside"
ends 0 plot packets beside --together --figure jct --term dumb --out together
says err "^beside: $beside"
cat >plan.json <<'JSON'
{ "base": "step.json", "name": "beside", "set": { "/topology/host": {} },
  "axes": [ { "name": "scheme", "pointer": "/jobs/0/all_reduce", "values": ["switchml", "ring"] },
            { "name": "by", "pointer": "/fidelity", "values": ["packet", "fluid"] } ] }
JSON
ends 0 sweep run plan.json 0-3 --out ranked --quiet
ends 0 sweep collect plan.json --out ranked
cells '(c["by"] == "fluid") != (c["warnings"] ~ /^"do not rank schemes beside flows/)' ranked/sweep.csv
ends 0 compare ranked --by scheme --metric jobs.jct_s.mean
says out "^   warning: 2 of 4 points: $beside"
ends 0 compare ranked --by scheme --metric jobs.jct_s.mean --json
holds '.sweeps[0].warnings | length == 1 and .[0].points == 2' out
ends 0 plot ranked --y jobs.jct_s.mean --term dumb
says err "^ranked: 2 of 4 points: $beside"

# A plan gives the warnings of its points, each once; what one scheme leaves idle another uses.
cat >wide.json <<'JSON'
{ "name": "wide", "topology": { "kind": "leaf-spine", "leaves": 2, "spines": 1, "hosts_per_leaf": 4,
	"link": { "rate": "10Gbps", "delay": "1us" } },
  "schemes": { "switchml": { "slots": 64 } },
  "jobs": [ { "model": "resnet50", "gpu": "a100", "workers": 4, "all_reduce": "switchml", "iterations": 1 } ],
  "flows": [ { "size": { "cdf": "websearch" }, "arrival": { "poisson_load": 0.1 }, "stop": "jobs_done" } ],
  "stop": { "when": "jobs_done", "after": "1s" } }
JSON
cat >plan.json <<'JSON'
{ "base": "wide.json", "name": "wide", "replications": 2,
  "axes": [ { "name": "scheme", "pointer": "/jobs/0/all_reduce", "values": ["switchml", "ring"] },
            { "name": "load", "pointer": "/flows/0/arrival/poisson_load", "values": [0.1, 0.6, 0.7] } ] }
JSON
ends 0 sweep plan plan.json --quiet
says err "^plan.json:1:11: /base: warning: the scenario's /flows/0/arrival: flows offer 1[.0-9]+ times what .* \\(8 points, the first is 2: scheme=switchml load=0.6 "
[[ $(grep -c 'warning: ' err) == 1 ]] || fail "more warnings of a plan: $(cat err)"
sed -i 's/"values": \["switchml", "ring"\]/"values": ["ring", "ps"]/' plan.json
ends 0 sweep plan plan.json --quiet
says err '/schemes/switchml: has no effect: .* \(12 points,'

# --- the same in every replication ---

cat >plan.json <<'JSON'
{ "base": "jobs.json", "name": "same", "replications": 3, "set": { "/topology/host": { "nic_jitter": "0s" } },
  "axes": [ { "name": "scheme", "pointer": "/jobs/0/all_reduce", "values": ["switchml", "switchml_star"] },
            { "name": "jitter", "pointer": "/jobs/0/start_jitter", "values": ["0s", "10us"] } ] }
JSON
ends 0 sweep plan plan.json
says out '^nothing drawn at random: 6 of 12 points, whose replications are the same but for ties'
ends 0 sweep plan plan.json --json
holds '[.points[] | .random == (.axes.jitter == "10us")] | all' out
ends 0 sweep run plan.json 0-11 --out same --quiet
ends 0 sweep collect plan.json --out same
says out '^the same in every replication: 2 of 4 groups'
cells '(c["jitter"] == "0s") != c["same"] || (c["low"] == "") != c["same"]' same/groups.csv
ends 0 compare same --by scheme --metric jobs.jct_s.mean
says out '^ +0s .* same'
says out '^same: every replication gave the same results'
ends 0 compare same --by scheme --metric jobs.jct_s.mean --json
holds '[.rows[] | .same == (.of.jitter == "0s")] | all' out
holds '[.rows[] | select(.same)] | all(.value.low == null and .ratio.low == null)' out
holds '[.rows[] | select(.same | not)] | all(.value.low != null)' out

# what fails at random moments, and the order of a ring
for members in '"/failures": { "events": [ { "fails": "h0", "AT": "1s", "REPAIR": "1ms" } ] }' '"/schemes/ring/order": "ORDER"'; do
	for random in true false; do
		words='s/AT/at/;s/REPAIR/repair_after/;s/ORDER/placement/'
		! $random || words='s/AT/mtbf/;s/REPAIR/mttr/;s/ORDER/random/'
		sed "$words" <<<"{ \"base\": \"jobs.json\", \"name\": \"drawn\", \"replications\": 2,
			\"set\": { \"/topology/host\": { \"nic_jitter\": \"0s\" }, $members } }" >plan.json
		ends 0 sweep plan plan.json --json
		holds "[.points[].random == $random] | length == 2 and all" out
	done
done

# --- rates ---

# 1 Tbps at a host behind 2 x 5 Gbps, and 2 x 5.1 Gbps
for name in leaf-spine graph; do
	[[ $name == graph ]] || topology='"kind": "leaf-spine", "leaves": 2, "spines": 2, "hosts_per_leaf": 2'
	[[ $name != graph ]] || topology='"kind": "graph", "graph": { "hosts": ["h[0-3]"], "switches": ["s[0-1]"],
		"links": [ { "from": "h[0-1]", "to": "s0" }, { "from": "h[2-3]", "to": "s1" }, { "from": "s0", "to": "s1", "count": 2 } ] }'
	echo "{ \"name\": \"rates\", \"topology\": { $topology, \"link\": { \"rate\": \"1Tbps\" }, \"uplink\": { \"rate\": \"5Gbps\" } },
		\"flows\": [ { \"size\": \"100KB\", \"pairs\": [[0, 3]] } ] }" >rates.json
	warned rates.json 'the link of host h0 has 1000 Gbps, .* together have 10 Gbps, 1/100 of it' --set /topology/switch/ecn=false
	not_warned rates.json --set /topology/switch/ecn=false --set /topology/uplink/rate=5.1Gbps
	ends 0 run rates.json --out rates
	says err 'warning: .*1/100 of it'
done

# --- failures ---

failing=(--set '/failures={"events":[{"fails":"spine0","mtbf":"1ms","mttr":"1ms"}]}')
not_warned flows.json "${failing[@]}"
warned flows.json 'is longer than "mtbf": what fails is down for 75 % of the time' "${failing[@]}" --set /failures/events/0/mttr=3ms
# of three the third falls into the first, which lasts longer than the second
twice=(--set '/failures={"events":[{"fails":"spine0","at":"3ms"},{"fails":"spine0","at":"0ms","repair_after":"2ms"}]}')
not_warned flows.json "${twice[@]}"
not_warned flows.json "${twice[@]}" --set /failures/events/0/at=2ms
not_warned flows.json "${twice[@]}" --set /failures/events/0/at=1ms --set /failures/events/0/fails=spine1
warned flows.json 'already down since 0 s by events/1; ' "${twice[@]}" --set /failures/events/0/at=1999us
not_warned flows.json "${twice[@]}" --set /failures/events/0/at=1999us --set /failures/events/0/aggregation_only=true
warned flows.json 'already down since 0.003 s by events/0; ' "${twice[@]}" --set /failures/events/1/at=4ms
between='{"fails":"spine0","at":"100us","repair_after":"100us"}'
warned flows.json 'already down since 0 s by events/1; ' "${twice[@]}" \
	--set /failures/events/0/at=1ms --set "/failures/events/-=$between"
holds 'map(select(.message | test("since 0 s by events/1"))) | length == 2' out

# --- what the project ships ---

export INASIM_TRACES=$SRC/traces
while read -r file; do
	jq -e 'has("base")' "$file" >/dev/null || ends 0 check --strict "$file" # plans are below
done < <(find "$SRC/scenarios" -name '*.json' ! -path '*/papers/*' ! -path '*/sweeps/*' ! -path '*/why/*' \
	! -name shared-uplink.json | sort)
# it shows what fluid has flows and jobs share, by thirds
ends 3 check --strict "$SRC/scenarios/fluid/shared-uplink.json"
[[ $(grep -c 'warning: ' err) == 1 ]] || fail "$(<err)"
# a user's, kept as it came
ends 3 check --strict "$SRC/scenarios/why/esa-beside-websearch.json"
[[ $(grep -c 'warning: ' err) == 2 ]] || fail "$(<err)"
for plan in $(grep -l '"base"' "$SRC"/scenarios/{sweeps,gallery,tutorial}/*.json); do
	mapfile -t set < <(jq -r '(.set // {}) | to_entries[] | "--set", "\(.key)=\(.value | tojson)"' "$plan")
	ends 0 check --strict "${plan%/*}/$(jq -r .base "$plan")" "${set[@]}"
done
((checks > 150)) || fail "only $checks checks"
finish "every warning is said where it should be, and nowhere else"
