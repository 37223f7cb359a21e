# What build, nightly and coverage share: names of targets, and what each starts from.
# They run in the source folder.
# shellcheck shell=bash
source tests/lib/table.sh

fuzz_out=build-fuzz

# targets: the names of all
targets() {
	basename -s .c tests/fuzz/fuzz_*.c | sed 's/^fuzz_//'
}

# corpus NAME: where new inputs of a target are kept, then the folders of its seeds
corpus() {
	mkdir -p "$fuzz_out/corpus-$1" "$fuzz_out/seeds/$1"
	echo "$fuzz_out/corpus-$1"
	echo "$fuzz_out/seeds/$1"
	[[ ! -d tests/fuzz/corpus/$1 ]] || echo "tests/fuzz/corpus/$1"
	[[ $1 != scenario ]] || echo scenarios
}

# files FOLDER NAME...: the files of a folder as one input of tests/fuzz/files.h; a NAME
# may stand for another: AS=NAME. The shorter, the faster is the fuzzer: what no
# reader looks at is left out
files() {
	local name
	for name in "${@:2}"; do
		[[ -f $1/${name#*=} ]] || continue
		echo "=== ${name%%=*}"
		case $name in
		*summary.json) jq -c 'del(.network, .aggregation, .checks, .flows.by_size, .load)' "$1/${name#*=}" ;;
		*manifest.json) jq -c '{files, digest, scenario: (.scenario | del(.schemes, .transport))}' "$1/${name#*=}" ;;
		*) cat "$1/${name#*=}" ;;
		esac
	done
}

# make_seeds: into $fuzz_out/seeds, from the tables of wrong files, from what a few small runs
# and a sweep leave behind, from traces and references
make_seeds() {
	local seeds=$fuzz_out/seeds work file
	rm -rf "$seeds"
	mkdir -p "$seeds"/{scenario,conf,plan,data,program,results,breakdown,sweep,reference}
	unpack tests/invalid.txt "$seeds/scenario"
	cp "$seeds"/scenario/json_*.json "$seeds/conf"
	unpack tests/invalid_plans.txt "$seeds/plan"
	work=$(mktemp -d)
	for file in "$seeds"/scenario/*.csv traces/cdf/*.csv traces/jobs/*.csv; do
		head -n 20 "$file" >"$work/x.csv"
		files "$work" x.csv >"$seeds/data/$(basename "$file")"
	done
	files traces models/profiles.csv models/layers/{alexnet,vgg16}.csv >"$seeds/data/models"
	files traces/programs {x.0.et,x.1.et}=all_reduce_4npus_1MB.0.et >"$seeds/program/all_reduce"
	seeds_of_runs "$work" "$seeds"
	seeds_of_references "$work" "$seeds/reference"
	rm -rf "$work"
}

seeds_of_runs() {
	local work=$1 seeds=$2 program=$fuzz_out/inasim tables seed run file
	cat >"$work/x.json" <<-'END'
		{ "name": "x", "topology": { "kind": "star", "hosts": 4 },
		  "flows": [ { "count": 12, "size": "20KB", "arrival": { "poisson_load": 0.5 } } ],
		  "jobs": [ { "workers": 4, "all_reduce": "ring", "iterations": 12,
		      "model": { "layers": [ { "gradient": "10KB" } ] } } ] }
	END
	cat >"$work/plan.json" <<-'END'
		{ "name": "p", "base": "x.json", "replications": 2,
		  "axes": [ { "name": "workers", "pointer": "/jobs/0/workers", "values": [2, 4] } ] }
	END
	for seed in 1 2; do
		"$program" run "$work/x.json" --seed "$seed" --out "$work/run$seed" --quiet >/dev/null
	done
	tables=(summary.json manifest.json flows.csv jobs.csv iterations.csv)
	for run in 1 2; do
		files "$work" "${tables[@]/#/a/}" >/dev/null
		mv "$work/run$run" "$work/$([[ $run == 1 ]] && echo a || echo b)"
	done
	files "$work" "${tables[@]/#/a/}" "${tables[@]/#/b/}" >"$seeds/results/two"
	files "$work" a/summary.json a/manifest.json b/summary.json b/manifest.json >"$seeds/results/summaries"
	"$program" run "$work/x.json" --why --out "$work/why" --quiet >/dev/null
	files "$work/why" why.csv why-groups.csv why-links.csv why-hottest.csv links.csv jobs.csv flows.csv iterations.csv >"$seeds/breakdown/run"
	sed 's/"count": 12/"count": 550/' "$work/x.json" >"$work/long.json"
	"$program" run "$work/long.json" --out "$work/long" --quiet >/dev/null
	files "$work" a/summary.json=long/summary.json a/flows.csv=long/flows.csv a/manifest.json=long/manifest.json \
		>"$seeds/results/long"
	files "$work" {a,b}/summary.json=long/summary.json {a,b}/flows.csv=long/flows.csv \
		{a,b}/manifest.json=long/manifest.json >"$seeds/results/longs"
	"$program" sweep run "$work/plan.json" 0-3 --out "$work/s" --quiet >/dev/null
	for file in "$work"/s/points/*/summary.json; do
		jq -c '{seed, digest, jobs: {jct_s: .jobs.jct_s}, flows: {fct_s: .flows.fct_s}}' "$file" >"$work/short"
		mv "$work/short" "$file"
	done
	"$program" sweep collect "$work/plan.json" --out "$work/s" >/dev/null
	seeds_of_sweep "$work" "$seeds/sweep"
}

# Two references of one short run that differ in a number, with their index.
seeds_of_references() {
	local short='.summary |= {events, jobs: .jobs, flows: {fct_s: .flows.fct_s}} | .resolved |= {name}'
	jq -c "$short | .summary.odd = [1, true, null, {}]" traces/reference/fluid-shared-uplink.json >"$1/a.json"
	jq -c "$short | .summary.events += 1 | .summary.jobs = \"x\" | .summary.odd = [2, [], 1]" traces/reference/fluid-shared-uplink.json >"$1/b.json"
	{ head -c -1 traces/reference/fluid-shared-uplink.events; echo; } >"$1/events"
	jq -c '.folders = ["scenarios"] | .scenarios |= .[:2]' traces/reference/regress.json |
		sed 's#\.\./\.\./##g' >"$1/regress.json"
	files "$1" a.json a.events=events b.json b.events=events regress.json scenarios/c/x.json=x.json \
		scenarios/bench/star-64.json=x.json >"$2/two"
}

# The points get the hashes 1 to 4, which the target expects.
seeds_of_sweep() {
	local record number=0 names=() hash
	for record in "$1"/s/points/*.json; do
		number=$((number + 1))
		hash=$(basename "$record" .json)
		names+=("a/points/000000000000000$number.json=s/points/$hash.json"
			"a/points/000000000000000$number/summary.json=s/points/$hash/summary.json")
	done
	files "$1" "${names[@]}" >"$2/points"
	files "$1" a/sweep.json=s/sweep.json a/sweep.csv=s/sweep.csv >"$2/table"
	files "$1" {a,b}/sweep.json=s/sweep.json {a,b}/sweep.csv=s/sweep.csv >"$2/tables"
	wrong_tables "$2"
}

# Of the one table, with one mistake each: what json and csv say must fit.
wrong_tables() {
	local name edit
	while read -r name edit; do
		sed "$edit" "$1/table" >"$1/$name"
	done <<-'END'
		value_twice s/"4"/"2"/
		metric_twice s/"jobs.jct_s.max"/"jobs.jct_s.mean"/
		axis_twice s/"axes": \[/&{"name":"workers","values":["1"]},/
		column_unknown /"flows.fct_s.p50",/d
		hash s/^0,./0,z/
		status s/,done,/,odd,/
		level s/,4,done,/,5,done,/
		order s/^1,/7,/
		replication s/^\(1,[^,]*\),1,/\1,9,/
		same s/,4,done,.*/,4,done,1,1,1,1,1,1,1,1/
	END
}

# Inputs are folders and mostly tables of some lines, some 140 KB: more than libFuzzer's usual 4 KB.
fuzz_options=(-max_len=160000 -timeout=20 -rss_limit_mb=2048)

# in_memory: files of the targets (files.c), and copies of inputs that fail again, are in a folder that goes
# when the script ends
in_memory() {
	TMPDIR=$(mktemp -d /dev/shm/inasim-fuzz.XXXXXX)
	export TMPDIR
	fuzz_options+=(-artifact_prefix="$TMPDIR/")
	trap 'rm -rf "$TMPDIR"' EXIT
}

# executions LOG: how often, and how many edges of the program were reached, as libFuzzer says
executions() {
	sed -nE 's/^#([0-9]+): cov: ([0-9]+).*/\1 executions, \2 edges/p' "$1" | tail -n 1
}
