#!/bin/bash
# The same scenario and seed give the same digest: run twice, with gcc -O0 and
# -O3 and clang -O2 (if it is installed), with and without results; another seed
# gives another one, another name does not. Random scenarios, too: the same digests from all builds.
source "${SRC:?source directory}/tests/lib/shell.sh"
in_a_folder_of_its_own
number=20 # of random scenarios

# Everything that draws random numbers or uses floating point: losses, jitter,
# RED, Poisson arrivals, size tables, random placement, DCTCP, stragglers.
cat >scenario.json <<'JSON'
{
  "name": "determinism",
  "stop": { "when": "jobs_done", "after": "10s" },
  "topology": { "kind": "fat-tree", "k": 4,
                "link": { "rate": "7Gbps", "delay": "1us", "loss": 0.0003 },
                "host": { "jitter": "300ns", "latency": "200ns", "reduction_rate": "9Gbps" },
                "switch": { "buffer": "60KB", "ecn": { "kmin": "5pkt", "kmax": "30pkt", "pmax": 0.2 } } },
  "tcp": { "ack_every": 2 },
  "jobs": [
    { "name": "ring", "count": 3, "workers": { "min": 3, "max": 6 }, "all_reduce": "ring", "iterations": 2,
      "placement": "random", "arrival": { "poisson_gap": "500us" },
      "model": { "layers": [ { "gradient": "200KB", "forward": "100us", "backward": "200us" } ] } },
    { "name": "sw", "count": 4, "workers": 5, "all_reduce": "switchml", "iterations": 2, "placement": "spread",
      "model": { "layers": [ { "gradient": "30KB", "forward": "10us", "backward": "20us" },
                             { "gradient": "70KB", "forward": "10us", "backward": "20us" } ] },
      "overlap": "layers", "compute_jitter": 0.1, "start_jitter": "5us", "stragglers": { "workers": 1, "slowdown": 1.7 } },
    { "name": "ps", "count": 2, "workers": 3, "servers": { "count": 2, "placement": "workers" }, "all_reduce": "ps",
      "placement": "random", "model": { "layers": [ { "gradient": "90KB" } ] } },
    { "name": "stream", "workers": 3, "servers": 2, "all_reduce": "ps_stream", "model": { "layers": [ { "gradient": "40KB" } ] } },
    { "name": "atp", "count": 2, "workers": 4, "all_reduce": "atp", "placement": "random", "model": { "layers": [ { "gradient": "60KB" } ] } },
    { "name": "esa", "count": 2, "workers": 4, "all_reduce": "esa", "placement": "random", "overlap": "layers", "iterations": 2,
      "model": { "send_order": [1, 0, 0, 1], "layers": [ { "gradient": "30KB", "forward": "10us" }, { "gradient": "30KB" } ] },
      "send_jitter": "20us" },
    { "name": "panama", "workers": 4, "all_reduce": "panama", "placement": "spread", "model": { "layers": [ { "gradient": "90KB" } ] } }
  ],
  "schemes": { "atp": { "memory": "4KB" }, "esa": { "memory": "4KB", "initial_timeout": "2ms", "max_timeout": "4ms" },
               "panama": { "trees": 2, "aggregate_above": "1B", "recovery": true } },
  "flows": [
    { "name": "web", "size": { "cdf": "websearch" }, "arrival": { "poisson_load": 0.2 }, "stop": "jobs_done" },
    { "name": "reno", "transport": "reno", "pairs": "permutation", "size": "100KB" }
  ]
}
JSON

# digest PROGRAM ARGUMENT...
digest() {
	local program=$1
	shift
	"$program" run --json --quiet scenario.json "$@" 2>/dev/null | jq -r .digest
}

# same WHAT PROGRAM ARGUMENT...
same() {
	local what=$1 found
	shift
	found=$(digest "$@")
	[[ $found == "$reference" ]] || fail "$what: digest $found, not $reference"
}

# random_digests PROGRAM: of some small scenarios of everything
random_digests() {
	for ((i = 0; i < number; i++)); do
		"$1" run --json --quiet "random-$i.json" 2>/dev/null | jq -r .digest
	done
}

# looks PROGRAM: with sanitizers. Looking changes no run and touches nothing that is not its own: in random scenarios,
# and where it once did.
looks() {
	"$SRC/tests/random/run" --seed 31 --count 20 "$1" >looked || fail "looking: $(<looked)"
	# two jobs push each other's sums out of aggregators
	"$1" run --quiet --why --out pushed /dev/stdin >looked 2>&1 <<'JSON' || fail "--why: $(<looked)"
{ "name": "pushed", "topology": { "kind": "star", "hosts": 18 },
  "schemes": { "esa": { "memory": "20KB", "index": "hash", "halve_on": "loss" } }, "jobs": [
  { "all_reduce": "esa", "workers": 4, "compute_jitter": 0.05, "model": { "layers": [ { "gradient": "1171840B" },
    { "gradient": "6616B", "backward": "35us" }, { "gradient": "17180B", "backward": "194us" }, { "gradient": "72B", "forward": "10us" } ] } },
  { "all_reduce": "esa", "workers": 2, "model": { "layers": [ { "gradient": "3396B", "forward": "124us" }, { "gradient": "490264B", "backward": "148us" },
    { "gradient": "924B", "forward": "15us", "backward": "135us" }, { "gradient": "116B", "forward": "103us" } ] } } ] }
JSON
	# jobs that are off stand before those that run
	"$1" run --quiet --timeline 0s..300us --out disabled scenario.json --set /jobs/0/enabled=false \
		--set /jobs/1/enabled=false >looked 2>&1 || fail "--timeline: $(<looked)"
	# text and JSON of regress
	mkdir -p few && cp scenario.json few/one.json && mkdir -p few/ref && echo '{ "folders": [".."], "leave_out": ["ref-*"] }' >few/ref/regress.json
	"$1" regress few/ref --update first >looked 2>&1 && "$1" regress few/ref >looked 2>&1 &&
		"$1" regress few/ref --json >looked 2>&1 || fail "regress: $(<looked)"
}

# build NAME COMPILER FLAGS: the program without its tests, in a folder of its own
build() {
	cmake -S "$SRC" -B "$1" -DINASIM_TESTS=OFF -DCMAKE_BUILD_TYPE=None \
		-DCMAKE_C_COMPILER="$2" -DCMAKE_C_FLAGS="$3" >"$1.log" 2>&1 &&
		cmake --build "$1" --target inasim -j 2 >>"$1.log" 2>&1 && return
	tail -n 20 "$1.log" >&2
	return 1
}

reference=$(digest "$INASIM" --seed 1)
[[ $reference =~ ^[0-9a-f]{16}$ ]] || fail "no digest: \"$reference\""
same "the second run" "$INASIM" --seed 1
same "with results" "$INASIM" --seed 1 --out results
same "with a time series" "$INASIM" --seed 1 --out series --set /output/series/every=100us
same "with other names" "$INASIM" --seed 1 --set /name=x --set /jobs/0/name=x --set /flows/0/name=x --set /about=x
[[ $(digest "$INASIM" --seed 2) != "$reference" ]] || fail "seed 2 changes nothing"
[[ $(digest "$INASIM" --seed 1 --set /jobs/0/workers=6) != "$reference" ]] || fail "other workers change nothing"

for ((i = 0; i < number; i++)); do
	"${RANDOM_SCENARIO:?the program that makes scenarios}" 3 $i >"random-$i.json"
done
random_digests "$INASIM" >random-reference || true # digests are counted
(($(grep -cE '^[0-9a-f]{16}$' random-reference) == number)) || fail "random scenarios do not run"

variants=1
built=$(jq -r '.build | "\(.compiler)\(.flags)"' results/manifest.json)
while read -r name compiler flags; do
	[[ $name != gcc-O3 || $built != GNU*-O3* ]] || continue # that is the program under test
	if ! command -v "$compiler" >/dev/null; then
		echo "determinism: $compiler is not installed, $name skipped"
		continue
	fi
	if build "$name" "$compiler" "$flags"; then
		same "$name" "$name/inasim" --seed 1
		random_digests "$name/inasim" | cmp -s - random-reference || fail "$name: random scenarios have other digests"
		[[ $flags != *-fsanitize=* ]] || looks "$PWD/$name/inasim"
		variants=$((variants + 1))
	else
		fail "$name does not build"
	fi
	rm -rf "$name"
done <<'VARIANTS'
gcc-O0 gcc -O0 -g1 -fsanitize=address,undefined -fno-sanitize-recover=all
gcc-O3 gcc -O3
clang-O2 clang -O2
VARIANTS

finish "digest $reference from $variants builds"
