#!/bin/bash
# A network written as a graph runs as the built-in shape does: a fat tree of 8-port switches has the same
# digest and the same flows.csv, for flows and for every scheme. A
# ring of 64 switches, whose paths no packet has room for, keeps its closed form and loses nothing; a torus,
# parallel links, costs and racks of different sizes run under every scheme. Mistakes are told with their
# place. 16,000 hosts are set up in 200 MB, and not pair by pair. A built-in shape that is exported runs as before; files of HPCC,
# SimAI and csg-htsim are imported, or refused with their line.
source "${SRC:?source directory}/tests/lib/shell.sh"
in_a_folder_of_its_own
dir=$PWD

fat_tree() { # K: as sim/engine/topo/fat_tree.c joins it
	local h=$(($1 / 2)) pod j e hosts edges cores
	hosts=$((2 * h * h * h - 1)) edges=$((2 * h * h - 1)) cores=$((h * h - 1))
	echo "{ \"hosts\": [\"h[0-$hosts]\"], \"switches\": [\"edge[0-$edges]\", \"agg[0-$edges]\", \"core[0-$cores]\"], \"links\": ["
	for ((e = 0; e <= edges; e++)); do
		echo "{ \"from\": \"h[$((e * h))-$((e * h + h - 1))]\", \"to\": \"edge$e\" },"
	done
	for ((pod = 0; pod < 2 * h; pod++)); do
		for ((j = 0; j < h; j++)); do
			((pod + j)) && echo ","
			echo "{ \"from\": \"edge[$((pod * h))-$((pod * h + h - 1))]\", \"to\": \"agg$((pod * h + j))\" },"
			echo "{ \"from\": \"agg$((pod * h + j))\", \"to\": \"core[$((j * h))-$((j * h + h - 1))]\" }"
		done
	done
	echo "] }"
}

digest() { # NAME: of a run
	grep -o '"digest": "[^"]*"' "$dir/$1/manifest.json" | head -1
}

run() { # NAME TOPOLOGY REST [OPTION...]: a run into $dir/NAME
	local name=$1
	echo "{ \"name\": \"t\", \"seed\": 3, \"topology\": { $2 }, $3 }" >"$dir/$name.json"
	shift 3
	"$INASIM" run "$dir/$name.json" --out "$dir/$name" --quiet "$@" >/dev/null ||
		fail "$name ends with $?: $(cat "$dir/$name.json")"
}

same() { # NAME BUILT_IN GRAPH REST [OPTION...]
	run "$1-a" "$2" "${@:4}"
	run "$1-b" "$3" "${@:4}"
	[ "$(digest "$1-a")" = "$(digest "$1-b")" ] || fail "$1: the graph has another digest"
}

# --- the same as the built-in shapes ---

fat_tree 8 >"$dir/fat8.json"
built='"kind": "fat-tree", "k": 8'
graph='"kind": "graph", "graph": "fat8.json"'
same flows "$built" "$graph" '"flows": [ { "name": "f", "size": { "cdf": "websearch" },
	"arrival": { "poisson_load": 0.4 } } ], "stop": { "when": "time", "after": "4ms" }'
cmp -s "$dir/flows-a/flows.csv" "$dir/flows-b/flows.csv" || fail "flows.csv differs"
[ "$(wc -l <"$dir/flows-a/flows.csv")" -gt 100 ] || fail "hardly any flows"
for scheme in ring double_tree ps switchml atp esa panama netreduce sharp; do
	same "$scheme" "$built" "$graph" "\"jobs\": [ { \"name\": \"j\", \"model\": { \"layers\": [ { \"gradient\": \"300kB\" } ] },
		\"workers\": 20, \"placement\": \"random\", \"count\": 2, \"all_reduce\": \"$scheme\" } ],
		\"schemes\": { \"panama\": { \"aggregate_above\": \"1kB\" } }"
done

# --- any shape ---

ring='"kind": "graph", "host": { "nic_jitter": "0s" }, "wire_overhead": false,
	"graph": { "hosts": ["h[0-63]"], "switches": ["s[0-63]"], "links": [
	{ "from": "h[0-63]", "to": "s[0-63]", "pairs": "each" },
	{ "from": "s[0-63]", "to": "s[1-63,0]", "pairs": "each" } ] }'
run ring64 "$ring" '"flows": [ { "name": "half", "pairs": [[0, 32]], "size": "1000B" },
	{ "name": "near", "pairs": [[63, 1]], "size": "1000B", "arrival": { "at": "1ms" } } ]'
# Store and forward of 1,058 bytes over 34 and 4 links at 10 Gbps, 1 us each, 33 and 3 switches of 500 ns:
# 34 x (0.8464 + 1) + 33 x 0.5 = 79.2776 us, and 4 x 1.8464 + 1.5 = 8.8856 us.
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "fct_s") c = i; next }
	{ want = NR == 2 ? 79.2776e-6 : 8.8856e-6; if ($c - want > 1e-10 || want - $c > 1e-10) { print $c, want; bad = 1 } }
	END { exit bad || NR != 3 }' "$dir/ring64/flows.csv" || fail "a ring of 64 switches misses its closed form"

torus='"kind": "graph", "graph": { "hosts": ["h[0-15]"], "switches": ["t[0-3]-[0-3]"], "links": [
	{ "from": "h[0-15]", "to": "t[0-3]-[0-3]", "pairs": "each" },
	{ "from": "t[0-3]-[0-3]", "to": "t[0-3]-[1-3,0]", "pairs": "each" },
	{ "from": "t[0-3]-[0-3]", "to": "t[1-3,0]-[0-3]", "pairs": "each" } ] }'
# The same with hosts along a line that passes each switch once: no link carries two edges of a ring, so 20 MB take
# what they take on one switch, 2 x 15/16 x 20 MB at 100 Gbps x 1460 / (1538 + 42), and 30 steps of 3 links and 2
# switches: 3.333 ms.
line=${torus/'"h[0-15]", "to": "t[0-3]-[0-3]", "pairs": "each" }'/'"h[0-3]", "to": "t0-[0-3]", "pairs": "each" }, { "from": "h[4-7]", "to": "t1-[3,2,1,0]", "pairs": "each" }, { "from": "h[8-11]", "to": "t2-[0-3]", "pairs": "each" }, { "from": "h[12-15]", "to": "t3-[3,2,1,0]", "pairs": "each" }'}
run torus-line "$line, \"link\": { \"rate\": \"100Gbps\", \"delay\": \"500ns\" }, \"host\": { \"nic_jitter\": \"0s\" }" \
	'"jobs": [ { "workers": 16, "placement": "compact", "all_reduce": "ring", "model": { "layers": [ { "gradient": "20MB" } ] } } ]'
jq -e '.jobs.jct_s.mean / 3.333e-3 | . > 0.99 and . < 1.01' "$dir/torus-line/summary.json" >/dev/null ||
	fail "a ring on a torus misses its closed form: $(jq .jobs.jct_s.mean "$dir/torus-line/summary.json") s"
uneven='"kind": "graph", "uplink": { "rate": "40Gbps" }, "graph": { "hosts": ["h[0-11]"],
	"switches": ["leaf[0-2]", { "name": "spine[0-1]", "latency": "200ns", "buffer": "4MB" }], "links": [
	{ "from": "h[0-5]", "to": "leaf0" }, { "from": "h[6-9]", "to": "leaf1", "rate": "25Gbps" },
	{ "from": "h[10-11]", "to": "leaf2" }, { "from": "leaf[0-2]", "to": "spine0", "count": 2 },
	{ "from": "leaf[0-2]", "to": "spine1", "cost": 2, "delay": "3us" } ] }'
for shape in torus uneven ring; do
	for scheme in ring switchml atp esa panama netreduce sharp; do
		run "$shape-$scheme" "${!shape}" "\"jobs\": [ { \"name\": \"j\", \"model\": { \"layers\": [ { \"gradient\": \"100kB\" } ] },
			\"workers\": 10, \"placement\": \"random\", \"count\": 2, \"all_reduce\": \"$scheme\" } ],
			\"schemes\": { \"panama\": { \"aggregate_above\": \"1kB\" } }"
	done
done

# --- mistakes ---

wrong() { # MESSAGE GRAPH
	echo "{ \"name\": \"t\", \"topology\": { \"kind\": \"graph\", \"graph\": $2 }, \"flows\": [ { \"name\": \"f\", \"pairs\": [[0, 1]], \"size\": \"1kB\" } ] }" >"$dir/wrong.json"
	"$INASIM" check "$dir/wrong.json" >"$dir/said" 2>&1 && fail "accepted: $2"
	[ "$("$INASIM" check "$dir/wrong.json" >/dev/null 2>&1; echo $?)" = 3 ] || fail "not exit 3: $2"
	grep -qF "$1" "$dir/said" || fail "\"$1\" is not said of $2, but: $(cat "$dir/said")"
}

wrong 'host "h2" has no link' '{ "hosts": ["h[0-2]"], "switches": ["s"], "links": [ { "from": "h[0-1]", "to": "s" } ] }'
# BCube(2, 1): two hosts that share no switch; the message says how hosts that forward are written
wrong 'from host "h0" to host "h3" but through other hosts' '{ "hosts": ["h[0-3]"], "switches": ["s[0-3]"], "links": [
	{ "from": "h[0-3]", "to": "s[0,0,1,1]", "pairs": "each" }, { "from": "h[0-3]", "to": "s[2,3,2,3]", "pairs": "each" } ] }'
wrong 'to switch "t": the graph has parts' '{ "hosts": ["h[0-1]"], "switches": ["s[0-1]", "t"], "links": [ { "from": "h[0-1]", "to": "s[0-1]" } ] }'
wrong 'host "h0" has 257 links; allowed: at most 256' '{ "hosts": ["h[0-1]"], "switches": ["s"], "links": [ { "from": "h[0-1]", "to": "s", "count": 257 } ] }'
wrong 'links/2: "h1" and "s1" are joined twice' '{ "hosts": ["h[0-1]"], "switches": ["s[0-1]"], "links": [ { "from": "h[0-1]", "to": "s[0-1]" },
	{ "from": "h0", "to": "s0", "rate": "40Gbps" }, { "from": "h1", "to": "s1", "count": 2 } ] }'
wrong 'links/0/to: there is no host or switch "r"' '{ "hosts": ["h[0-1]"], "switches": ["s"], "links": [ { "from": "h[0-1]", "to": "r" } ] }'
wrong 'parts that are not connected' '{ "hosts": ["h[0-1]"], "switches": ["s[0-1]"], "links": [ { "from": "h[0-1]", "to": "s[0-1]", "pairs": "each" } ] }'
wrong 'links/1: "s0" and "s1" are joined twice' '{ "hosts": ["h[0-1]"], "switches": ["s[0-1]"], "links": [ { "from": "h[0-1]", "to": "s0" }, { "from": "s[0-1]", "to": "s[1,0]", "pairs": "each" } ] }'
wrong 'joins "s" with itself' '{ "hosts": ["h[0-1]"], "switches": ["s"], "links": [ { "from": "s", "to": "s" } ] }'
wrong 'the first link of host "h0" leads to host "h1"' '{ "hosts": ["h[0-1]"], "switches": ["s"], "links": [ { "from": "h0", "to": "h1" } ] }'
wrong 'two nodes have the name "a"' '{ "hosts": ["a", "b"], "switches": ["a"], "links": [ { "from": "b", "to": "a" } ] }'
wrong 'a range goes up' '{ "hosts": ["h[3-1]"], "switches": ["s"], "links": [ { "from": "h1", "to": "s" } ] }'
wrong 'found 2 and 3' '{ "hosts": ["h[0-1]"], "switches": ["s[0-2]"], "links": [ { "from": "h[0-1]", "to": "s[0-2]", "pairs": "each" } ] }'
wrong 'a route passes 129 switches; allowed: at most 128' '{ "hosts": ["h[0-128]"], "switches": ["s[0-128]"], "links": [
	{ "from": "h[0-128]", "to": "s[0-128]", "pairs": "each" }, { "from": "s[0-127]", "to": "s[1-128]", "pairs": "each" } ] }'
# where measuring all routes takes long, a bound decides only if it is short enough: with costs, too
chain='{ "from": "h[0-9999]", "to": "s[0-9999]", "pairs": "each" }, { "from": "s[0-9998]", "to": "s[1-9999]", "pairs": "each"'
wrong 'a route passes 10000 switches' "{ \"hosts\": [\"h[0-9999]\"], \"switches\": [\"s[0-9999]\"], \"links\": [ $chain, \"cost\": 2 } ] }"
for cost in 1 2; do
	run "far-$cost" '"kind": "graph", "graph": { "hosts": ["h[0-9999]"], "switches": ["c[0-99]", "s[0-9899]"], "links": [
		{ "from": "h[0-99]", "to": "c[0-99]", "pairs": "each" }, { "from": "c[0-98]", "to": "c[1-99]", "pairs": "each", "cost": '$cost' },
		{ "from": "h[100-9999]", "to": "s[0-9899]", "pairs": "each" }, { "from": "s[0-9899]", "to": "c99" } ] }' \
		'"flows": [ { "pairs": [[0, 200]], "size": "1kB" } ]'
done
# a switch by its name alone is none of the 199 entries with settings before it
with_settings() { # COUNT: a graph in which so many switches have settings
	echo "{ \"hosts\": [\"h[0-1]\"], \"switches\": [$(printf '{ "name": "s%d", "latency": "1us" }, ' $(seq 1 "$1")) \"s0\", \"t\"],
		\"links\": [ { \"from\": \"h[0-1]\", \"to\": \"s0\" }, { \"from\": \"s0\", \"to\": \"t\" }, { \"from\": \"s0\", \"to\": \"s[1-$1]\" } ] }"
}
wrong 'at most 199 entries with settings' "$(with_settings 200)"
wrong 'more than 255 kinds of links' "$(with_settings 199)"
wrong 'no file "nowhere.json"' '"nowhere.json"'
echo '{ "hosts": ["h[0-1]"], "switches": ["s"], "links": [ { "from": "h[0-1]", "to": "t" } ] }' >"$dir/bad-file.json"
wrong 'bad-file.json:1:' '"bad-file.json"'
# beside a mistake elsewhere, too
wrong 'stop/when' '{ "hosts": ["h[0-1]"], "switches": ["s"], "links": [ { "from": "h[0-1]", "to": "s" } ] } }, "stop": { "when": "measured_done"'

# --- exported, imported ---

exported() { # NAME BUILT_IN: as a graph it runs as before
	run "$1-built" "$2" "$mix"
	"$INASIM" export topology "$dir/$1-built.json" >"$dir/$1-graph.json" || fail "$1 is not exported"
	run "$1-again" "\"kind\": \"graph\", \"graph\": \"$1-graph.json\"" "$mix"
	[ "$(digest "$1-built")" = "$(digest "$1-again")" ] || fail "$1: exported, it has another digest"
}
mix='"jobs": [ { "name": "j", "model": { "layers": [ { "gradient": "300kB" } ] }, "workers": 6, "placement": "random", "all_reduce": "switchml" } ],
	"flows": [ { "name": "f", "size": { "cdf": "websearch" }, "arrival": { "poisson_load": 0.4 } } ], "stop": { "when": "time", "after": "2ms" }'
exported star '"kind": "star", "hosts": 9'
exported adds '"kind": "leaf-spine", "leaves": 3, "spines": 2, "hosts_per_leaf": 4, "switch": { "aggregation": "spine" }'
exported tree '"kind": "fat-tree", "k": 6, "link": { "loss": 0.001 }'
exported leaves '"kind": "leaf-spine", "leaves": 3, "spines": 2, "hosts_per_leaf": 4, "uplink": { "rate": "7Gbps", "delay": "3us" }'
"$INASIM" export topology "$dir/tree-again.json" >said 2>&1 && fail "a graph is exported"

imported() { # NAME EXPECTED: $dir/NAME.txt is a graph that runs and is this, on one line
	"$INASIM" import topology "$dir/$1.txt" >"$dir/$1-import.json" 2>"$dir/$1.note" || fail "$1 is not imported: $(cat "$dir/$1.note")"
	[ "$(tr -d ' \n' <"$dir/$1-import.json")" = "$2" ] || fail "$1 becomes $(tr -d ' \n' <"$dir/$1-import.json")"
	run "$1-run" "\"kind\": \"graph\", \"graph\": \"$1-import.json\"" '"flows": [ { "name": "f", "size": "10kB", "pairs": "permutation" } ]'
}
refused() { # MESSAGE LINE...: is no topology, and why
	printf '%s\n' "${@:2}" >"$dir/no.txt"
	local code=0
	"$INASIM" import topology "$dir/no.txt" >"$dir/said" 2>&1 || code=$?
	[ $code = 3 ] || fail "exit $code, not 3: ${*:2}"
	grep -qF "$1" "$dir/said" || fail "\"$1\" is not said, but $(cat "$dir/said")"
}
# HPCC: two racks of two hosts, joined twice
printf '%s\n' '6 2 6' '4 5' '0 4 100Gbps 1000ns 0.000000' '1 4 100Gbps 1000ns 0' '2 5 100Gbps 1000ns 0' '3 5 25Gbps 1us 0.001' \
	'4 5 400Gbps 1000ns 0' '4 5 400Gbps 1000ns 0' '' 'First line: nodes, switches, links' >"$dir/hpcc.txt"
imported hpcc '{"hosts":["h[0-3]"],"switches":["s[4-5]"],"links":[{"from":"h[0-1]","to":"s4","rate":"100Gbps","delay":"1us"},{"from":"h2","to":"s5","rate":"100Gbps","delay":"1us"},{"from":"h3","to":"s5","rate":"25Gbps","delay":"1us","loss":0.001},{"from":"s4","to":"s5","count":2,"rate":"400Gbps","delay":"1us"}]}'
grep -qF 'what follows the 6 links of the first line is left out' "$dir/hpcc.note" || fail "lines that HPCC does not read: $(cat "$dir/hpcc.note")"
# parallel links in any order and direction
printf '%s\n' '5 3 7' '2 3 4' '0 2 1Gbps 1us 0' '1 3 1Gbps 1us 0' '2 3 40Gbps 1us 0' '2 4 40Gbps 1us 0' '3 2 40Gbps 1us 0' '3 4 40Gbps 1us 0' '2 3 40Gbps 1us 0' >"$dir/parallel.txt"
imported parallel '{"hosts":["h[0-1]"],"switches":["s[2-4]"],"links":[{"from":"h0","to":"s2","rate":"1Gbps","delay":"1us"},{"from":"h1","to":"s3","rate":"1Gbps","delay":"1us"},{"from":"s2","to":"s3","count":3,"rate":"40Gbps","delay":"1us"},{"from":"s[2-3]","to":"s4","rate":"40Gbps","delay":"1us"}]}'
# parallel links of unlike rate: an item for each rate, in the order in which they came
printf '%s\n' '4 2 6' '2 3' '0 2 1Gbps 1us 0' '1 3 1Gbps 1us 0' '2 3 40Gbps 1us 0' '3 2 100Gbps 1us 0' '2 3 40Gbps 1us 0' '1 2 1Gbps 1us 0' >"$dir/unlike.txt"
imported unlike '{"hosts":["h[0-1]"],"switches":["s[2-3]"],"links":[{"from":"h0","to":"s2","rate":"1Gbps","delay":"1us"},{"from":"h1","to":"s3","rate":"1Gbps","delay":"1us"},{"from":"s2","to":"s3","count":2,"rate":"40Gbps","delay":"1us"},{"from":"s2","to":"s3","rate":"100Gbps","delay":"1us"},{"from":"h1","to":"s2","rate":"1Gbps","delay":"1us"}]}'
# HPCC's ali_32host_10rack: hosts with a link to each of two switches
printf '%s\n' '6 2 8' '4 5' '0 4 25Gbps 1000ns 0.000000' '0 5 25Gbps 1000ns 0.000000' '1 4 25Gbps 1000ns 0.000000' '1 5 25Gbps 1000ns 0.000000' \
	'2 4 25Gbps 1000ns 0' '2 5 25Gbps 1000ns 0' '3 4 25Gbps 1000ns 0' '3 5 25Gbps 1000ns 0' >"$dir/dual.txt"
imported dual '{"hosts":["h[0-3]"],"switches":["s[4-5]"],"links":[{"from":"h0","to":"s[4-5]","rate":"25Gbps","delay":"1us"},{"from":"h1","to":"s[4-5]","rate":"25Gbps","delay":"1us"},{"from":"h2","to":"s[4-5]","rate":"25Gbps","delay":"1us"},{"from":"h3","to":"s[4-5]","rate":"25Gbps","delay":"1us"}]}'
run dual-run '"kind": "graph", "graph": "dual-import.json"' '"flows": [ { "name": "f", "size": "10kB", "pairs": "permutation" } ]'
# PowerTCP's topology.txt: four numbers first, plain numbers as rates; Reverie's: two rates behind them
printf '%s\n' '4 2 2 3' '2 3 ' '0 2 25000000000.0 1us 0' '1 3 25000000000 1us 0' '2 3 1e11 5us 0' >"$dir/powertcp.txt"
imported powertcp '{"hosts":["h[0-1]"],"switches":["s[2-3]"],"links":[{"from":"h0","to":"s2","rate":"25Gbps","delay":"1us"},{"from":"h1","to":"s3","rate":"25Gbps","delay":"1us"},{"from":"s2","to":"s3","rate":"100Gbps","delay":"5us"}]}'
sed '1s/$/ 25000000000 100000000000/' "$dir/powertcp.txt" >"$dir/reverie.txt"
checks=$((checks + 1))
"$INASIM" import topology "$dir/reverie.txt" | cmp - "$dir/powertcp-import.json" || fail "the rates in Reverie's first line change the graph"
# SimAI's templates with two ToRs: each GPU has a link to both of its rail
printf '%s\n' '8 2 2 2 12 H800' '4 5 6 7' '0 4 2880Gbps 0.000025ms 0' '1 4 2880Gbps 0.000025ms 0' '2 5 2880Gbps 0.000025ms 0' '3 5 2880Gbps 0.000025ms 0' \
	'0 6 200Gbps 0.0005ms 0' '0 7 200Gbps 0.0005ms 0' '1 6 200Gbps 0.0005ms 0' '1 7 200Gbps 0.0005ms 0' \
	'2 6 200Gbps 0.0005ms 0' '2 7 200Gbps 0.0005ms 0' '3 6 200Gbps 0.0005ms 0' '3 7 200Gbps 0.0005ms 0' >"$dir/dt.txt"
imported dt '{"hosts":["h[0-3]"],"switches":["s[6-7]"],"links":[{"from":"h0","to":"s[6-7]","rate":"200Gbps","delay":"500ns"},{"from":"h1","to":"s[6-7]","rate":"200Gbps","delay":"500ns"},{"from":"h2","to":"s[6-7]","rate":"200Gbps","delay":"500ns"},{"from":"h3","to":"s[6-7]","rate":"200Gbps","delay":"500ns"}]}'
note=$(grep -o '"host": .*' "$dir/dt.note")
run dt-job "\"kind\": \"graph\", \"graph\": \"dt-import.json\", $note" \
	'"jobs": [ { "name": "j", "model": { "layers": [ { "gradient": "300kB" } ] }, "workers": 2, "all_reduce": "switchml" } ]'
refused 'line 6: joins node 2 with itself' '4 2 4' '2 3' '0 2 1Gbps 1us 0' '1 3 1Gbps 1us 0' '2 3 1Gbps 1us 0' '2 2 1Gbps 1us 0'
refused 'check refuses the network: no path leads from host "h0" to host "h2" but through other hosts' '5 2 4' '3 4' '0 3 1Gbps 1us 0' '1 3 1Gbps 1us 0' '1 4 1Gbps 1us 0' '2 4 1Gbps 1us 0'
# the way of a flow says which of parallel links it takes: those are the links that carry data
run ways '"kind": "graph", "graph": "parallel-import.json"' '"flows": [ { "name": "f", "size": "10kB", "pairs": [[0, 1], [0, 1], [0, 1]] } ]'
taken=$(awk -F, '{ if (match($0, /s2 s3#[0-2]/)) print substr($0, RSTART + 6, 1) }' "$dir/ways/flows.csv" | sort -u | paste -sd' ')
carry=$(awk -F, '$2 == "s2" && $3 == "s3" { if ($8 > 10000) print n + 0; n++ }' "$dir/ways/links.csv" | paste -sd' ')
checks=$((checks + 1))
[[ -n $taken && $taken == "$carry" ]] || fail "flows take the parallel links $taken, $carry carry data"
# SimAI: two servers of two GPUs, rails: GPU i of each server on switch i
printf '%s\n' '9 2 2 3 10 H100' '4 5 6 7 8' '0 4 2880Gbps 0.000025ms 0' '0 6 400Gbps 0.0005ms 0' '1 4 2880Gbps 0.000025ms 0' '1 7 400Gbps 0.0005ms 0' \
	'2 5 2880Gbps 0.000025ms 0' '2 6 400Gbps 0.0005ms 0' '3 5 2880Gbps 0.000025ms 0' '3 7 400Gbps 0.0005ms 0' \
	'6 8 400Gbps 0.0005ms 0' '7 8 400Gbps 0.0005ms 0' >"$dir/simai.txt"
imported simai '{"hosts":["h0","h2","h1","h3"],"switches":["s[6-8]"],"links":[{"from":"h0","to":"s6","rate":"400Gbps","delay":"500ns"},{"from":"h1","to":"s7","rate":"400Gbps","delay":"500ns"},{"from":"h2","to":"s6","rate":"400Gbps","delay":"500ns"},{"from":"h3","to":"s7","rate":"400Gbps","delay":"500ns"},{"from":"s[6-7]","to":"s8","rate":"400Gbps","delay":"500ns"}]}'
grep -qF '2 machines of 2 GPUs' "$dir/simai.note" || fail "nothing is said of GPUs: $(cat "$dir/simai.note")"
note=$(grep -o '"host": .*' "$dir/simai.note")
run simai-job "\"kind\": \"graph\", \"graph\": \"simai-import.json\", $note" \
	'"jobs": [ { "name": "j", "model": { "layers": [ { "gradient": "300kB" } ] }, "workers": 2, "all_reduce": "ring" } ]'
# csg-htsim: 8 hosts, 3 tiers, links to the core in pairs
printf '%s\n' '# a comment' 'Nodes 8' 'Tiers 3' 'Podsize 4' 'Tier 0' 'Downlink_speed_Gbps 200' 'Radix_Down 2' 'Radix_Up 2' 'Downlink_Latency_ns 1000' \
	'Tier 1' 'Downlink_speed_Gbps 200' 'Radix_Down 2' 'Radix_Up 4' 'Downlink_Latency_ns 1000' 'Bundle 1' 'Switch_Latency_ns 300' \
	'Tier 2' 'Downlink_speed_Gbps 100' 'Radix_Down 4' 'Downlink_Latency_ns 1500' 'Bundle 2' >"$dir/htsim.txt"
"$INASIM" import topology <(cat "$dir/htsim.txt") >"$dir/htsim.json" || fail "htsim is not imported"
checks=$((checks + 1))
jq -e '.switches[1] == { name: "agg[0-3]", latency: "300ns" } and ([.links[] | select(.count == 2)] | length) == 8 and
	(.links | last) == { from: "agg3", to: "core3", count: 2, rate: "100Gbps", delay: "1.5us" }' "$dir/htsim.json" >/dev/null || fail "htsim becomes $(cat "$dir/htsim.json")"
sed '/Bundle 1/i Queue_Up 90000\nQueue_Down 80000' "$dir/htsim.txt" >"$dir/queues.txt"
"$INASIM" import topology "$dir/queues.txt" 2>"$dir/queues.note" | cmp - "$dir/htsim.json" || fail "queues of htsim change the graph"
grep -qF 'Queue_Up and Queue_Down are left out' "$dir/queues.note" || fail "nothing is said of queues: $(cat "$dir/queues.note")"
run htsim-run '"kind": "graph", "graph": "htsim.json"' '"flows": [ { "name": "f", "size": "10kB", "pairs": "permutation" } ]'
ends 6 import topology .
says err '^inasim: \.: Is a directory$'
refused 'line 1: the first line' '1 2'
refused 'a list of flows is none' '2' '0 1 3 100 1000 2' # HPCC's flow.txt
refused 'line 2: this is a connection matrix (.cm): flows' 'Nodes 16' 'Connections 1' '0->13 start 0 size 2000000'
refused 'line 1: the network has no switch' '2 0 1' '0 1 1Gbps 1us 0'
# what check refuses: a host without a link, a switch that nobody reaches
refused 'check refuses the network: host "h2" has no link' '4 1 2' '3' '0 3 1Gbps 1us 0' '1 3 1Gbps 1us 0'
refused 'check refuses the network: ' '4 2 2' '2 3' '0 2 1Gbps 1us 0' '1 3 1Gbps 1us 0'
refused 'line 3: "10G" is not a rate' '3 1 2' '2' '0 2 10G 1us 0' '1 2 1Gbps 1us 0'
refused 'the file ends after 1 of 2 links' '3 1 2' '2' '0 2 1Gbps 1us 0'
refused 'line 2: switch 2 is listed twice' '4 2 2' '2 2'
refused 'the first link of host "h1" leads to host "h2"' '6 2 1 1 2 H100' '4 5' '0 5 1Gbps 1us 0' '1 2 1Gbps 1us 0'
refused 'unknown word "Nods"' 'Nods 8'
refused 'Radix_Down of tier 1' 'Nodes 8' 'Tiers 2' 'Podsize 8' 'Tier 0' 'Downlink_speed_Gbps 1' 'Radix_Down 2' 'Radix_Up 2' 'Downlink_Latency_ns 1' \
	'Tier 1' 'Downlink_speed_Gbps 1' 'Radix_Down 3' 'Downlink_Latency_ns 1'
bundles() { # LINKS: lines of two racks and a switch above
	printf '%s\n' 'Nodes 8' 'Tiers 2' 'Podsize 8' 'Tier 0' 'Downlink_speed_Gbps 1' 'Radix_Down 4' "Radix_Up $1" 'Downlink_Latency_ns 1' \
		'Tier 1' 'Downlink_speed_Gbps 1' "Radix_Down $((2 * $1))" 'Downlink_Latency_ns 1' "Bundle $1"
}
bundles 20000 >"$dir/bundles.txt"
"$INASIM" import topology "$dir/bundles.txt" >"$dir/bundles.json"
run bundles-run '"kind": "graph", "graph": "bundles.json"' '"flows": [ { "name": "f", "size": "10kB", "pairs": "permutation" } ]'
mapfile -t lines < <(bundles 40000)
refused 'line 13: a switch of tier 1 has more than 65535 links' "${lines[@]}"
mapfile -t lines < <(yes '1 2 1Gbps 1us 0' | head -n 65535)
refused 'line 65538: node 1 has more than 65535 links' '4 2 65537' '1 2' '0 1 1Gbps 1us 0' "${lines[@]}" '3 1 1Gbps 1us 0'
mapfile -t lines < <(bundles 1000000)
refused 'more than 1048576 links' "${lines[@]}"

# --- NICs of unlike rates ---

# each NIC has a master and half of the sums: a slow one holds the other up, and a worker sends by both little more than
# twice the slow one's rate
cat >"$dir/unlike.json" <<'JSON'
{ "name": "unlike", "topology": { "kind": "graph", "graph": { "hosts": ["h[0-5]"], "switches": ["s0"], "links": [
    { "from": "h[0-4]", "to": "s0" }, { "from": "h5", "to": "s0", "rate": "1Gbps" } ] },
    "link": { "rate": "100Gbps", "delay": "1us" }, "host": { "gpus": { "count": 2, "rate": "600GBps" }, "nics": { "count": 2, "wiring": "rails" } } },
  "jobs": [ { "all_reduce": "sharp", "inside": "master", "workers": 3, "model": { "layers": [ { "gradient": "4MB" } ] } } ] }
JSON
"$INASIM" run "$dir/unlike.json" --out "$dir/unlike" --quiet >/dev/null || fail "NICs of unlike rates: $?"
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "throughput_share") n = i } NR == 2 { exit !($n > 0.017 && $n < 2 / 101) }' \
	"$dir/unlike/jobs.csv" || fail "NICs of unlike rates: $(cut -d, -f25 "$dir/unlike/jobs.csv" | tr '\n' ' ')"

# --- size ---

fat_tree 40 >"$dir/fat40.json"
echo '{ "name": "t", "topology": { "kind": "graph", "graph": "fat40.json" }, "flows": [ { "name": "f", "pairs": [[0, 15999]], "size": "1kB" } ] }' >"$dir/large.json"
(ulimit -t 20 && "$INASIM" run "$dir/large.json" --out "$dir/large" --quiet >/dev/null) || fail "16,000 hosts take more than 20 s of CPU time, as if all pairs of them were looked at: $?"
! limits_memory || jq -e '.peak_rss_bytes < 200e6' "$dir/large/summary.json" >/dev/null || fail "16,000 hosts take $(jq .peak_rss_bytes "$dir/large/summary.json") bytes"
finish "graphs run as the built-in shapes do, and any shape runs"
