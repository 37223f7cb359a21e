#!/bin/bash
# The fluid fidelity from outside: SimGrid gives the same results as the program, and is started only when asked for;
# what packets alone could say is empty, series add up, and a SimGrid that is killed ends the run in words.
source "${SRC:?source directory}/tests/lib/shell.sh"
in_a_folder_of_its_own
: "${RANDOM_SCENARIO:?the program that makes scenarios}"

solver=$(dirname "$INASIM")/inasim-fluid
if [[ ! -x $solver ]]; then
	echo "fluid: built without libsimgrid" >&2
	exit 77
fi

# The program itself does not know SimGrid; the solver does, so the question makes sense.
checks=$((checks + 2))
! ldd "$INASIM" | grep simgrid >links || fail "the program links SimGrid"
ldd "$solver" | grep simgrid >links || fail "the solver does not link SimGrid"

# Nor does a run start it that does not ask for it: a program that stands alone has none to start.
mkdir alone
cp "$INASIM" alone/
cat >alone/inasim-fluid <<'SH'
#!/bin/sh
touch "$(dirname "$0")/started"
SH
chmod +x alone/inasim-fluid
scenario=$SRC/scenarios/fluid/shared-uplink.json
INASIM=$work/alone/inasim ends 0 run --quiet "$scenario" --fidelity packet --out packet
INASIM=$work/alone/inasim ends 0 run --quiet "$scenario" --fidelity analytic --set /fluid/solver=simgrid --out analytic
INASIM=$work/alone/inasim ends 0 run --quiet "$scenario" --out filling
checks=$((checks + 1))
[[ ! -e alone/started ]] || fail "a run that needs no SimGrid has started it"
INASIM=$work/alone/inasim ends 5 run --quiet "$scenario" --set /fluid/solver=simgrid --out gone
[[ -e alone/started ]] || fail "a fluid run has not started the solver beside the program"
says err "the SimGrid process ended unexpectedly"
holds '.fidelity == "fluid" and .end_reason == "violation"' gone/summary.json

# Both solvers give the same times, within 1e-9, on each scenario that is fluid and on drawn ones: a max-min allocation is
# unique (Bertsekas and Gallager, section 6.5.2), so only rounding differs.
# alike SCENARIO
alike() {
	rm -rf filling simgrid
	ends 0 run --quiet "$1" --fidelity fluid --out filling
	ends 0 run --quiet "$1" --fidelity fluid --set /fluid/solver=simgrid --out simgrid
	for table in jobs flows links; do
		[[ -e filling/$table.csv ]] || continue
		checks=$((checks + 1))
		paste -d, filling/$table.csv simgrid/$table.csv | awk -F, '
			{ for (i = 1; i <= NF / 2; i++) {
				a = $i; b = $(i + NF / 2)
				if (a != b && (a + 0 <= 0 || a / b - 1 > 1e-9 || b / a - 1 > 1e-9)) print "line " NR ": " a ", " b
			} }' >differences
		[[ ! -s differences ]] || fail "$1, $table.csv, program and SimGrid: $(head -n 3 differences)"
	done
}
for fluid in "$SRC"/scenarios/fluid/*.json; do alike "$fluid"; done
for ((i = 0; i < $(sample 8 40 200); i++)); do
	"$RANDOM_SCENARIO" 7 $i calm >drawn.json
	! "$INASIM" check --quiet drawn.json --fidelity fluid >/dev/null 2>&1 || alike drawn.json
done

# By thirds: 161.3 and 191.8 ms (models/fluid/README.md).
ends 0 run --quiet "$scenario" --out fluid --set '/output/series={"every": "10ms", "links": ["leaf/up"], "flows": true}'
holds '[.jobs.jct_s.mean, .flows.fct_s.mean] | (.[0] - 0.16127 | fabs) < 2e-5 and (.[1] - 0.19178 | fabs) < 2e-5' fluid/summary.json
holds '.packet_hops == null and .network.drops == null and .aggregation.packets_aggregated == null' fluid/summary.json
ends 0 run --quiet "$SRC/scenarios/switchml/memory-short.json" --fidelity fluid --out memory
holds '.aggregation.memory_reserved_max == 1' memory/summary.json
holds '.packet_hops == null' fluid/manifest.json
ends 0 run --quiet "$scenario" --out lone --set /jobs/0/workers=1
holds '.jobs.slowdown.mean == null' lone/summary.json
ends 0 run --quiet "$scenario" --out again
checks=$((checks + 1))
[[ $(jq .digest fluid/summary.json) == $(jq .digest again/summary.json) ]] ||
	fail "another digest the second time, or with series"

# What only packets know changes nothing, and the summary says so.
ends 0 run "$scenario" --out classes --set /topology/classes=control-first
says out 'without effect on streams: /topology/classes'
checks=$((checks + 1))
[[ $(jq .digest fluid/summary.json) == $(jq .digest classes/summary.json) ]] ||
	fail "classes of traffic have an effect on streams"
ends 0 run "$scenario" --out paused --set /topology/switch/pause=true
says out 'without effect on streams: /topology/switch/pause'
ends 0 run "$scenario" --out plain
checks=$((checks + 1))
! grep 'without effect' out || fail "classes or PAUSE are not turned on"

# The uplink carries both jobs (67.18 MB on the wire each) and the flow (105.34 MB).
cells '
	c["packets"] != "" || c["drops"] != "" || c["max_queue_bytes"] != "" { print "counts packets: " $0 }
	c["from"] == "leaf0" && c["tier"] == "leaf" { got = c["bytes"] }
	END { if (got < 239707000 || got > 239708000) print "uplink: " got " bytes" }' fluid/links.csv
# In all samples it was full.
cells '
	c["time_s"] <= 0.19 && (c["max_utilization"] < 0.999 || c["max_utilization"] > 1.001) { print $0 }
	c["queued_bytes"] != "" { print "queues: " $0 }' fluid/series/network.csv
cells '
	c["aggregation_utilization"] c["control_queue_bytes"] c["max_queue_bytes"] c["packets"] != "" {
		print "classes: " $0
	}
	c["utilization_jain"] == "" { print "no index: " $0 }' fluid/series/links.csv
# The rows add up to the flow, the last one at its end.
cells '
	{ sum += c["goodput_bps"] * 0.01 / 8 }
	END { if (off(sum / 100e6, 1)) print "goodput of all samples: " sum " bytes" }' fluid/series/flows.csv
cells 'c["retransmissions"] != "" || c["timeouts"] != "" { print $0 }' fluid/flows.csv
holds '.flows | has("timeouts") and .timeouts == null' fluid/summary.json
cells 'c["retransmissions"] != "" || c["timeouts"] != "" { print $0 }' fluid/jobs.csv

# A signal to the whole group, as of timeout(1) and batch systems, ends the run in order: SimGrid
# waits for the run.
# goes_on OUT: a run of hours, in a group of its own; it has its number, SimGrid's child, when this returns
goes_on() {
	setsid "$INASIM" run --quiet "$SRC/scenarios/fluid/cluster-1024.json" --set /fluid/solver=simgrid --set /jobs/0/iterations=100000 \
		--out "$1" >out 2>err &
	run=$!
	wait_for has_child "$run"
	wait_for listens "$run" "$1"
}
goes_on stopped
kill -HUP -- "-$run"
kill -TERM -- "-$run"
code=0
wait "$run" || code=$?
checks=$((checks + 1))
((code == 130)) || fail "an interrupted run: exit code $code: $(head -n 5 err)"
holds '.end_reason == "interrupted"' stopped/manifest.json

# SimGrid killed in the middle of a run: exit code 5, in words, and no process is left.
goes_on killed
kill -KILL "$(child_of "$run")"
code=0
wait "$run" || code=$?
checks=$((checks + 1))
((code == 5)) || fail "killed solver: exit code $code: $(head -n 5 err)"
says err "the SimGrid process ended unexpectedly"

finish "$checks checks of fluid runs"
