#!/bin/bash
# What check says of packet-hops is within a factor of 2 of what runs counted: of all scenarios, by
# their references, so that nothing is run.
source "${SRC:?source directory}/tests/lib/shell.sh"
in_a_folder_of_its_own

# A queue of other traffic slows ESA down tenfold, and SwitchML among unlike hosts fivefold, and the traffic goes on as
# long: no counting of bytes can know.
off=' why-esa-beside-websearch cluster-cluster '

compared=0
while read -r scenario; do
	name=${scenario#"$SRC"/scenarios/} name=${name%.json} name=${name//\//-}
	[[ -f $SRC/traces/reference/$name.json ]] || continue # a plan
	hops=$(jq -r '.summary.packet_hops // empty' "$SRC/traces/reference/$name.json")
	"$INASIM" check "$scenario" >out 2>err </dev/null || fail "check $scenario: $(<err)"
	if [[ -z $hops ]]; then
		says out 'valid: [0-9]+ hosts, [0-9]+ jobs?$' # of streams
		continue
	fi
	says out 'valid: [0-9]+ hosts, [0-9]+ jobs?, about [0-9.e+]+ packet-hops( or more)?, [0-9.e+-]+ s on this machine'
	if ((hops == 0)); then # all stays inside a machine
		says out ', about 0 packet-hops,'
		continue
	fi
	estimate=$(sed -E 's/.* ([0-9.e+]+) packet-hops.*/\1/' out)
	compared=$((compared + 1))
	ratio=$(awk -v a="$estimate" -v b="$hops" 'BEGIN { print a / b }')
	if [[ $off == *" $name "* ]]; then
		awk -v r="$ratio" 'BEGIN { exit r < 0.5 }' && fail "$name is close now ($ratio): take it off the list"
	else
		awk -v r="$ratio" 'BEGIN { exit r < 0.5 || r > 2 }' || fail "$name: $estimate packet-hops, and a run has $hops"
	fi
done < <(find "$SRC/scenarios" -name '*.json' ! -path '*/papers/*' | sort)

# Flows that go on as long as jobs make it the least: not those with an end of their own.
beside=$SRC/scenarios/quickstart/job.json
ends 0 check "$beside"
says out ', about [0-9.e+]+ packet-hops or more, [0-9.e+-]+ s on this machine: flows go on as long as the jobs do$'
ends 0 check "$beside" --set /flows/0/enabled=false
says out ', about [0-9.e+]+ packet-hops, [0-9.e+-]+ s on this machine$'
ends 0 check "$beside" --set /flows/0/count=10
says out ', about '
ends 0 sweep plan "$SRC/scenarios/sweeps/load.json"
says out '; about [0-9.e+]+ packet-hops or more, .* of CPU time on this machine, since flows go on as long as the jobs do;'
ends 0 sweep plan "$SRC/scenarios/sweeps/load.json" --json
holds '.points | all(.at_least == (.axes.load != "0"))' out

# Stages without replicas have nothing to add up.
cat >stages.json <<'JSON'
{ "name": "stages", "topology": { "kind": "star", "hosts": 4 },
  "jobs": [ { "workers": 2, "all_reduce": "switchml", "overlap": "layers", "pipeline": { "stages": 2 },
              "model": { "layers": [ { "gradient": "1MB" }, { "gradient": "1MB" } ] } } ] }
JSON
ends 0 check stages.json
says out ', about [0-9] packet-hops,'

checks=$((checks + 1))
((compared >= 50)) || fail "only $compared scenarios"

finish "$compared scenarios"
