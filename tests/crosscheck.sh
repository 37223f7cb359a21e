#!/bin/bash
# The verb crosscheck: fidelities agree where it is promised, and it says so when they do not.
# How well they agree at random is measured by hand (models/crosscheck/README.md).
source "${SRC:?source directory}/tests/lib/shell.sh"
if [[ ! -x $(dirname "$INASIM")/inasim-fluid ]]; then
	echo "crosscheck: skipped, libsimgrid was not found when this was built"
	exit 77
fi
in_a_folder_of_its_own

# scenario NAME SCHEME TOPOLOGY [MORE]: one job alone, 10 MB
scenario() {
	cat >"$1.json" <<-JSON
		{ "name": "$1", "topology": $3,
		  "schemes": { "switchml": { "elements_per_packet": 256 }, "panama": { "aggregate_above": "0B" },
		               "switchml_star": { "aggregate_above": "0B" } },
		  "jobs": [ { "name": "$2", "workers": 4, "all_reduce": "$2", "placement": "spread", ${4:-}
		              "model": { "layers": [ { "gradient": "10MB" } ] } } ] }
	JSON
}

# --- every scheme alone, on one switch and on a fat tree: what is promised holds ---

files=()
for scheme in $("$INASIM" list schemes --json | jq -r '.schemes[].name'); do
	scenario "$scheme-star" "$scheme" '{ "kind": "star", "hosts": 8 }'
	scenario "$scheme-tree" "$scheme" '{ "kind": "fat-tree", "k": 4 }'
	files+=("$scheme-star.json" "$scheme-tree.json")
done
for scheme in ps ps_stream; do
	scenario "$scheme-one" "$scheme" '{ "kind": "star", "hosts": 8 }' '"servers": 1,'
	files+=("$scheme-one.json")
done
ends 0 crosscheck "${files[@]}" --json
silent err
holds '.kept and (.scenarios | length) == $n' out --argjson n "${#files[@]}"
holds '[.scenarios[] | select(.kind == "one job alone")] | length >= 8' out
holds '[.scenarios[].items[] | select(.promised != null and .what == "job")] | all(.promised <= 0.1 and .kept)' out
holds '[.scenarios[] | .closed_form_s != null and (.closed_form_difference | fabs) <= 1e-6] | all' out
# ... and the numbers are those of run
holds '.scenarios[0].items[0].packet_s > 0' out
packet=$(jq '.scenarios[0].items[0].packet_s' out)
ends 0 run "${files[0]}" --out packet --quiet
checks=$((checks + 1))
[[ $(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "exchange_s") c = i } NR == 2 { print $c + 0 }' packet/jobs.csv) == \
	"$(awk -v p="$packet" 'BEGIN { print p + 0 }')" ]] || fail "exchange_s of run is not $packet"

# --- a broken promise is exit code 1, and is named ---

ends 1 crosscheck ring-star.json --tolerance 1e-9
says out 'job 0 \(ring\).*BROKEN: promised 1e-07 %'
says out '1 promises BROKEN'
ends 1 crosscheck ring-star.json --tolerance 1e-9 --json
holds '.kept == false and .kinds[0].broken == 1' out
ends 0 crosscheck ring-star.json --tolerance 0.02
says out 'closed form .* within 1e-06'

# --- what has not finished when the run ends has no time: "-", and null ---

cat >unfinished.json <<-JSON
	{ "name": "unfinished", "topology": { "kind": "star", "hosts": 8, "link": { "rate": "1Gbps" } }, "stop": { "when": "time", "after": "50ms" },
	  "jobs": [ { "name": "long", "workers": 4, "all_reduce": "ring", "model": { "layers": [ { "gradient": "100MB" } ] } } ],
	  "flows": [ { "name": "other", "size": "100MB", "pairs": [ [ 0, 5 ] ] } ] }
JSON
ends 0 crosscheck unfinished.json
says out '^  job 0 \(long\) +- +- +-$'
checks=$((checks + 1))
! grep -qi 'nan' out || fail "not a number: $(grep -i nan out)"
ends 0 crosscheck unfinished.json --json
holds '.scenarios[0].items[0] | .packet_s == null and .fluid_s == null and .difference == null' out

# --- a promised mean: of 50 jobs and more, and it can be broken when nothing else is ---

# Timers that end before a packet can be back fill links with what is sent again, which fluid does
# not know. Each job's difference is not promised; computing keeps the end of the last within 5 %.
cat >fifty.json <<-JSON
	{ "name": "fifty", "topology": { "kind": "star", "hosts": 100, "link": { "rate": "1Gbps" }, "host": { "nic_jitter": "0s" } },
	  "schemes": { "switchml": { "retransmission_timeout": "2us" } },
	  "jobs": [ { "count": 50, "workers": 2, "all_reduce": "switchml",
	              "model": { "layers": [ { "gradient": "20kB", "forward": "100ms" } ] } } ] }
JSON
ends 1 crosscheck fifty.json
says out 'mean: BROKEN: promised 5 %'
checks=$((checks + 1))
! grep -q 'promises BROKEN' out || fail 'a difference of one job is broken, too'
ends 1 crosscheck fifty.json --json
holds '.kept == false and (.kinds[0] | .items == 50 and .broken == 0 and .mean > 0.05 and .mean_kept == false)' out
ends 0 crosscheck fifty.json --set /jobs/0/count=49
ends 0 crosscheck fifty.json --set '/schemes/switchml/retransmission_timeout="1ms"'
says out 'mean: within 5 %'

# --- what no mechanism keeps is shown, not judged ---

# Two rings that meet on uplinks of 60 Gbps: under DCTCP the first keeps more than its share, and as
# it could not have taken all of an uplink later, all is done 10 % earlier than in fluid.
cat >rings.json <<-JSON
	{ "name": "rings", "topology": { "kind": "leaf-spine", "leaves": 3, "spines": 2, "hosts_per_leaf": 3, "oversubscription": 1,
	    "link": { "rate": "40Gbps", "delay": "500ns" }, "switch": { "buffer": "16MB", "ecn": { "threshold": "520kB" } } },
	  "seed": 14, "jobs": [
	    { "name": "late", "all_reduce": "ring", "workers": [5, 6, 7, 8], "iterations": 3,
	      "arrival": { "at": "1963us" }, "model": { "layers": [ { "gradient": "18237kB" } ] } },
	    { "name": "first", "all_reduce": "ring", "workers": [0, 1, 2, 3, 4], "iterations": 4,
	      "model": { "layers": [ { "gradient": "21116kB" } ] } } ] }
JSON
ends 0 crosscheck rings.json --json
holds '.kept and ([.scenarios[0].items[] | .promised == null] | all)' out
holds '.scenarios[0].items[] | select(.what == "end") | .difference < -0.05' out

# --- random scenarios: files that run by themselves, the same ones every time ---

ends 0 crosscheck --random 3 --seed 5 --out first --quiet --tolerance 1
ends 0 crosscheck --random 2 --seed 5 --out second --quiet --tolerance 1
for i in 0 1; do same "first/random-5-$i.json" "second/random-5-$i.json"; done
ends 0 check first/*.json

# --- usage, and scenarios that cannot be ---

ends 2 crosscheck
says err 'needs scenarios, or --random N'
ends 2 crosscheck ring-star.json --random 2
says err 'not both'
ends 2 crosscheck ring-star.json --seed 2
says err 'belong to --random'
ends 2 crosscheck --random 0 # would find everything in order
says err 'takes a whole number from 1 '
ends 2 crosscheck --random many
says err 'takes a whole number'
ends 2 crosscheck ring-star.json --tolerance 2
says err 'from 0 to 1'
ends 3 crosscheck ring-star.json --set /jobs/0/workers=99
says err 'workers, but the network has 8'
ends 6 crosscheck not-there.json
ends 4 crosscheck ring-star.json --set /stop/after=1ms
says err 'as packet ended with exit code 4'

# --- interrupted: its runs end, and what they left is removed ---

mkdir temporary
TMPDIR=$PWD/temporary "$INASIM" crosscheck ring-star.json --set '/jobs/0/iterations=100000' >out 2>err &
pid=$!
for ((i = 0; i < 300; i++)); do
	compgen -G 'temporary/inasim-crosscheck-*' >/dev/null && break
	sleep 0.02
done
sleep 0.2
kill -TERM "$pid"
code=0
wait "$pid" || code=$?
checks=$((checks + 2))
((code == 130)) || fail "interrupted: exit code $code, not 130"
[[ -z $(ls temporary) ]] || fail "interrupted: leaves $(ls temporary)"

# --- killed: no run goes on for nobody ---

"$INASIM" crosscheck ring-star.json --set '/jobs/0/iterations=100000' >out 2>err &
pid=$!
runs=
for ((i = 0; i < 300; i++)); do
	runs=$(pgrep -P "$pid" || true)
	[[ -z $runs ]] || break
	sleep 0.02
done
kill -KILL "$pid"
wait "$pid" 2>/dev/null || true
sleep 0.2
checks=$((checks + 1))
for run in $runs; do
	case $(ps -o stat= -p "$run" || true) in
	"" | Z*) ;; # nobody may have waited for it yet
	*) fail "killed: process $run went on" && kill -KILL "$run" ;;
	esac
done

finish "$checks checks"
