#!/bin/bash
# What must not change a run, or change it in a known way: a network twice as fast with half of all times takes
# half the time, and hosts that nobody uses change nothing. Exactly so, to the picosecond, where no tie decides:
# ties fall by a hash of seed, time and port, so where eight seeds give the same times none does. Other units and
# groups that are switched off: random/run, with every random scenario.
# shellcheck disable=SC2016 # the single quotes hold awk and jq programs
source "${SRC:?source directory}/tests/lib/shell.sh"
: "${RANDOM_SCENARIO:?the program that makes scenarios}"
in_a_folder_of_its_own

# Of a scenario: small, and accelerators have a cycle by half of which any bus takes whole picoseconds.
cat >small.jq <<'JQ'
.jobs[].gradient_scale = 0.01 | .flows[]?.size_scale = 0.01 | .jobs[].placement = "compact" |
.schemes[("panama", "switchml_star")].accelerator_latency.cycle = "5.12ns"
JQ

# Of the scenario in a manifest, all keys of which have their values. ESA's priority is by milliseconds.
cat >twice.jq <<'JQ'
.scenario | walk(if type == "string" and test("^[0-9.]+(ps|ns|us|ms|s|m|h|[kMGT]?bps)$") then
	capture("^(?<n>[0-9.]+)(?<unit>[a-zA-Z]+)$") | "\((.n | tonumber) * (if .unit | endswith("bps") then 2 else 0.5 end))\(.unit)"
	else . end) | .schemes.esa.priority_scale? /= 2
JQ

# times DIR FACTOR: when each job and flow begins and ends, and the hosts of jobs
times() {
	local tables=()
	for table in jobs flows; do
		[[ ! -f $1/$table.csv ]] || tables+=("$1/$table.csv")
	done
	awk -F, -v factor="$2" 'FNR == 1 { for (i = 1; i <= NF; i++) name[i] = $i; next }
		{ for (i = 1; i <= NF; i++) c[name[i]] = $i
		  printf "%s %s %.12f %.12f %s\n", c["name"] c["group"], $1, factor * c["start_s"], factor * c["finish_s"], c["hosts"] }' "${tables[@]}" |
		LC_ALL=C sort
}

# no_tie_decides: other seeds of scenario.json give the same times
no_tie_decides() {
	for seed in 1 2 3 4 5 6 7; do
		rm -rf other
		"$INASIM" run --quiet scenario.json --seed $seed --out other
		cmp -s expected <(times other 1) || return 1
	done
}

# exact RELATION FILE: times are those expected
exact() {
	checks=$((checks + 1))
	cmp -s expected "$2" || fail "scenario $i, $1: $(diff expected "$2" | head -n 4)"
}

twice=0 idle=0
number=$(sample 24 60)
for ((i = 0; i < number; i++)); do
	"$RANDOM_SCENARIO" 1 "$i" calm | jq -f small.jq >scenario.json
	rm -rf run fast more
	"$INASIM" run --quiet scenario.json --out run
	times run 1 >expected
	no_tie_decides || continue
	# only where a byte takes whole picoseconds on the faster links, too
	if awk -F, 'NR > 1 && 4e12 / $6 != int(4e12 / $6) { odd = 1 } END { exit odd }' run/links.csv; then
		jq -f twice.jq run/manifest.json >fast.json
		"$INASIM" run --quiet fast.json --out fast
		times fast 2 >found
		exact "twice as fast" found
		twice=$((twice + 1))
	fi
	# accelerators of PANAMA divide their memory among all ports, and adders are as deep as there are ports
	if jq -e '.topology.kind != "fat-tree" and all(.jobs[].all_reduce; . != "panama" and . != "switchml_star")' scenario.json >/dev/null; then
		jq '.topology |= if .kind == "star" then .hosts += 3 else .leaves += 1 end' scenario.json >more.json
		"$INASIM" run --quiet more.json --out more
		times more 1 >found
		exact "idle hosts" found
		idle=$((idle + 1))
	fi
done
checks=$((checks + 1))
((3 * twice >= number && 6 * idle >= number)) || fail "only $twice and $idle scenarios in which no tie decides"

finish "$checks checks, $twice twice as fast, $idle with idle hosts"
