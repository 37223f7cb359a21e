#!/bin/bash
# Packets, fluid and closed form: every scheme is as close to fluid as it states (inasim list schemes), and
# scripts/crosscheck says so when it is not. How close they are at random is measured by hand
# (models/fluid/README.md).
# shellcheck disable=SC2016 # the single quotes hold jq programs
source "${SRC:?source directory}/tests/lib/shell.sh"
in_a_folder_of_its_own
export INASIM

# crosscheck CODE ARGUMENT...: the script ends so
crosscheck() {
	local expected=$1 code=0
	shift
	"$SRC/scripts/crosscheck" "$@" >out 2>err || code=$?
	checks=$((checks + 1))
	((code == expected)) || fail "crosscheck $*: exit code $code, not $expected: $(head -n 5 out err)"
}

# scenario NAME SCHEME TOPOLOGY [MORE]: one job alone, 10 MB, one parameter server where there are any
scenario() {
	local servers=
	case $2 in ps | ps_stream | atp | esa) servers='"servers": 1,' ;; esac
	cat >"$1.json" <<-JSON
		{ "name": "$1", "topology": $3,
		  "schemes": { "switchml": { "elements_per_packet": 256 }, "panama": { "aggregate_above": "0B" },
		               "switchml_star": { "aggregate_above": "0B" } },
		  "jobs": [ { "name": "$2", "workers": 4, "all_reduce": "$2", "placement": "spread", $servers ${4:-}
		              "model": { "layers": [ { "gradient": "10MB" } ] } } ] }
	JSON
}

# --- every scheme alone, on one switch and on a fat tree: what it states is judged, and holds; NVLS runs as packets only ---

"$INASIM" list schemes --json >schemes.json
stated=0
while IFS=$'\t' read -r scheme one_switch tiers; do
	scenario "$scheme-star" "$scheme" '{ "kind": "star", "hosts": 8, "switch": { "pause": false }, "host": { "nic_jitter": "0s" } }'
	scenario "$scheme-tree" "$scheme" '{ "kind": "fat-tree", "k": 4, "switch": { "pause": false }, "host": { "nic_jitter": "0s" } }'
	crosscheck 0 "$scheme-star.json" "$scheme-tree.json"
	silent err
	for bound in $one_switch $tiers; do
		[[ $bound == - ]] || stated=$((stated + 1))
	done
	checks=$((checks + 1))
	[[ $(awk '/communication/ { print ($6 == "within" ? $7 : "-") }' out | tr '\n' ' ') == "$one_switch $tiers " ]] ||
		fail "$scheme is not judged by $one_switch on one switch and $tiers over tiers: $(cat out)"
	# fluid is the closed form of an idle network
	for shape in star tree; do
		ends 0 run --quiet "$scheme-$shape.json" --fidelity fluid --out "fluid-$scheme-$shape"
		ends 0 run --quiet "$scheme-$shape.json" --fidelity analytic --out "closed-$scheme-$shape"
		ends 0 compare "closed-$scheme-$shape" "fluid-$scheme-$shape" --metric jobs.communication_s.mean --tolerance 1e-6
	done
done < <(jq -r '.schemes[] | select(.all_reduce and .name != "nvls") | [.name, (.fluid_tolerance | .one_switch // "-", .tiers // "-")] | @tsv' schemes.json)
checks=$((checks + 1))
((stated >= 9)) || fail "only $stated tolerances are stated"

# --- several servers, which nobody states anything of: as measured ---

scenario ps_stream-many ps_stream '{ "kind": "star", "hosts": 8, "host": { "nic_jitter": "0s" } }'
crosscheck 0 --tolerance 0.02 ps_stream-many.json -- --set /jobs/0/servers=4
scenario ps-many ps '{ "kind": "star", "hosts": 8, "host": { "nic_jitter": "0s" } }'
crosscheck 0 --tolerance 0.02 ps-many.json -- --set /jobs/0/servers=2 --set '/jobs/0/model/layers/0/gradient="20MB"'

# --- several jobs under one scheme: the end of the last ---

scenario two switchml '{ "kind": "star", "hosts": 8, "host": { "slots": 2, "nic_jitter": "0s" } }' '"count": 2,'
crosscheck 0 two.json
says out 'sim_time_s .* within 0.05'
scenario rings ring '{ "kind": "star", "hosts": 8, "host": { "slots": 2, "nic_jitter": "0s" } }' '"count": 2,'
crosscheck 0 rings.json
says out 'sim_time_s .*%  $'

# --- what is beyond a tolerance is exit code 1, and is named; nothing is judged that is not stated ---

crosscheck 1 --tolerance 1e-9 ring-star.json
says out 'jobs.communication_s.mean .* BEYOND 1e-9'
# timers that end before a packet can be back fill links with what is sent again, which fluid does not know
crosscheck 1 switchml-star.json -- --set '/schemes/switchml/retransmission_timeout="2us"' --set /topology/link/rate=1Gbps
says out 'BEYOND 0.02'
crosscheck 0 ring-star.json -- --set '/jobs/0/model/layers/0/gradient="9MB"'
says out 'communication.*%  $'
crosscheck 0 ps_stream-star.json -- --set /jobs/0/servers=4
says out 'communication.*%  $'

# --- usage, and runs that fail ---

crosscheck 2
says err 'needs scenarios'
crosscheck 2 --colour
crosscheck 3 ring-star.json -- --set /jobs/0/workers=99
crosscheck 6 not-there.json
crosscheck 4 ring-star.json -- --set /stop/after=1ms
says err 'as packet ended with exit code 4'

finish "$checks checks"
