#!/bin/bash
# Are the results what their dictionary says? Small runs with everything in them
# (jobs, flows, switch memory, series, warm-up, unfinished work): files, columns,
# row counts, no words for numbers, and sums that agree between tables and summary.
# shellcheck disable=SC2016 # the single quotes hold awk and jq programs
source "${SRC:?source directory}/tests/lib/shell.sh"
in_a_folder_of_its_own

# close_to A B WHAT: equal to nine digits
close_to() {
	checks=$((checks + 1))
	awk -v a="$1" -v b="$2" 'BEGIN { d = a - b; if (d < 0) d = -d; m = a < 0 ? -a : a
		exit !(a != "" && b != "" && d <= 1e-9 * m + 1e-15) }' || fail "$3: $1 and $2"
}

# table FILE PROGRAM: awk over the rows, whose cells are c["column"]; the program
# says what is wrong with bad("..."). No cell of our tables holds a comma here.
table() {
	local found
	checks=$((checks + 1))
	found=$(awk -F, '
		function bad(what) { if (shown++ < 3) printf "line %d: %s; ", NR, what }
		function off(a, b) { return a - b > 1e-9 || b - a > 1e-9 }
		NR == 1 { for (i = 1; i <= NF; i++) name[i] = $i; next }
		NF != length(name) { bad(NF " cells") }
		{ for (i = 1; i <= NF; i++) c[name[i]] = $i }
		'"$2" "$1")
	[[ -z $found ]] || fail "$1: $found"
}

# sum FILE COLUMN [CONDITION]: over the rows; cells as in table()
sum() {
	awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) name[i] = $i; next }
		{ for (i = 1; i <= NF; i++) c[name[i]] = $i }
		'"${3:-1}"' { total += c["'"$2"'"] } END { printf "%.17g\n", total }' "$1"
}

# rows FILE [CONDITION]
rows() {
	awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) name[i] = $i; next }
		{ for (i = 1; i <= NF; i++) c[name[i]] = $i }
		'"${2:-1}"' { n++ } END { print n + 0 }' "$1"
}

cat >all.json <<'JSON'
{
  "name": "all", "seed": 3,
  "stop": { "when": "jobs_done", "after": "10s", "warmup": "200us" },
  "topology": { "kind": "fat-tree", "k": 4, "link": { "rate": "10Gbps", "loss": 0.0001 },
                "switch": { "buffer": "40KB", "ecn": { "threshold": "10pkt" } } },
  "jobs": [
    { "name": "ring", "count": 3, "workers": 6, "all_reduce": "ring", "iterations": 2, "placement": "random",
      "arrival": { "at": "150us", "spread": "100us" },
      "model": { "layers": [ { "gradient": "300KB", "forward": "100us", "backward": "200us" } ] } },
    { "name": "sw", "count": 25, "workers": 5, "all_reduce": "switchml", "iterations": 2,
      "arrival": { "at": "150us", "spread": "500us" },
      "model": { "layers": [ { "gradient": "40KB", "forward": "10us", "backward": "20us" },
                             { "gradient": "80KB", "forward": "10us", "backward": "20us" } ] },
      "overlap": "layers", "compute_jitter": 0.1 }
  ],
  "flows": [
    { "name": "web", "size": { "cdf": "websearch" }, "arrival": { "poisson_load": 0.3 }, "stop": "jobs_done" },
    { "name": "incast", "pairs": "incast", "fan_in": 8, "receiver": 3, "size": "20KB", "arrival": { "at": "300us" } }
  ],
  "output": { "series": { "every": "100us" } }
}
JSON
"$INASIM" run --quiet all.json --out all
"$INASIM" run --quiet all.json --out cut --set /stop/after=3ms 2>/dev/null && fail "a run that is cut short ends with 0"
"$INASIM" run --quiet all.json --out flows --set '/jobs=[]' --set /stop/when=time --set /stop/after=20ms \
	--set /flows/0/stop=never
# servers of three kinds, and jobs that find no memory and are refused
cat >served.json <<'JSON'
{
  "name": "served",
  "topology": { "kind": "star", "hosts": 24 }, "cluster": { "servers": 2 },
  "schemes": { "switchml": { "memory": "4096B", "slots": 16, "admission": "refuse" } },
  "jobs": [
    { "name": "own", "workers": 3, "servers": 2, "all_reduce": "ps", "model": { "layers": [ { "gradient": "100KB" } ] } },
    { "name": "shared", "count": 2, "workers": 2, "servers": { "count": 1, "placement": "shared" }, "all_reduce": "ps_stream",
      "model": { "layers": [ { "gradient": "100KB" } ] } },
    { "name": "beside", "workers": 2, "servers": { "placement": "workers" }, "all_reduce": "ps",
      "model": { "layers": [ { "gradient": "100KB" } ] } },
    { "name": "sw", "count": 3, "workers": 2, "all_reduce": "switchml", "model": { "layers": [ { "gradient": "100KB" } ] } }
  ]
}
JSON
code=0
"$INASIM" run --quiet served.json --out served 2>err || code=$?
((code == 4)) || fail "refused jobs are work that was not done, but the exit code is $code: $(cat err)"
"$INASIM" schema --results --json >dictionary.json

# --- files and columns ---

for run in all cut flows served; do
	# those of the manifest are those that exist, with as many rows
	jq -r '.files[].name' $run/manifest.json | LC_ALL=C sort >listed
	(cd $run && find . -type f ! -name manifest.json -printf '%P\n') | LC_ALL=C sort >present
	cmp -s listed present || fail "$run: the manifest lists $(tr '\n' ' ' <listed), there are $(tr '\n' ' ' <present)"
	while IFS=$'\t' read -r file count; do
		[[ $file == *.csv ]] || continue
		checks=$((checks + 1))
		(($(wc -l <"$run/$file") == count + 1)) || fail "$run/$file has not $count rows"
		header=$(jq -r --arg file "$file" '.tables[] | select(.file == $file) | [.columns[].name] | join(",")' dictionary.json)
		[[ $(head -n 1 "$run/$file") == "$header" ]] || fail "$run/$file: the header is not $header"
		! grep -qiE '(^|,)[-+]?(nan|inf)' "$run/$file" || fail "$run/$file: not a number"
		! grep -q $'\r' "$run/$file" || fail "$run/$file: carriage return"
	done < <(jq -r '.files[] | [.name, .rows] | @tsv' $run/manifest.json)
	# members of the summary and of its dictionary are the same
	jq -r '[paths | map(select(type == "string")) | join(".")] | unique[]' $run/summary.json |
		grep -vE '^((jobs|flows)\.[a-z_]+|network\.by_tier)\..+|^(jobs|flows|network|aggregation|load|checks|checks\.(exactly_once|conservation))$' |
		LC_ALL=C sort >members
	jq -r '.tables[] | select(.file == "summary.json") | .columns[].name' dictionary.json | grep -vF '*' | LC_ALL=C sort >described
	cmp -s members described || fail "$run/summary.json and its dictionary differ: $(diff members described | grep '^[<>]' | tr '\n' ' ')"
done
# what groups have of their own, beside what all jobs and all flows have
for of in jobs flows; do
	jq -r --arg of $of '[.[$of].by_name[] | to_entries[] | select(.value | type == "number") | .key] | unique[]' all/summary.json |
		LC_ALL=C sort >members
	jq -r --arg of $of '.tables[] | select(.file == "summary.json") | .columns[].name |
		select(startswith($of + ".by_name.*.")) | split(".")[3]' dictionary.json | LC_ALL=C sort >described
	checks=$((checks + 1))
	cmp -s members described || fail "groups of $of and their dictionary differ: $(diff members described | grep '^[<>]' | tr '\n' ' ')"
done
# Jain's index of the jobs of a group, by their bytes over their times
for name in ring sw; do
	close_to "$(jq ".jobs.by_name.$name.jain" all/summary.json)" "$(awk -F, -v group=$name '
		NR == 1 { for (i = 1; i <= NF; i++) name[i] = $i; next }
		{ for (i = 1; i <= NF; i++) c[name[i]] = $i }
		c["name"] == group && c["measured"] && c["finished"] {
			x = c["gradient_bytes"] * c["iterations_done"] / (c["finish_s"] - c["start_s"]); n++; s += x; q += x * x }
		END { printf "%.17g", s * s / n / q }' all/jobs.csv)" "Jain's index of $name"
done
for file in jobs.csv iterations.csv flows.csv links.csv aggregators.csv series/network.csv; do
	[[ -f all/$file ]] || fail "all/$file is missing"
done
[[ ! -e flows/jobs.csv && ! -e flows/aggregators.csv ]] || fail "a run without jobs has tables of jobs"

holds '[.tool, .version, .commit, .build.type, .build.compiler, .host.name, .scenario_hash, .inputs_hash, .start, .end, .digest] | all(type == "string")' all/manifest.json
holds '[.seed, .wall_s, .cpu_s, .peak_rss_bytes, .events, .packet_hops] | all(type == "number")' all/manifest.json
holds '(.command_line | length >= 4) and .end_reason == "jobs_done" and .scenario.name == "all"' all/manifest.json
holds '(.digest | test("^[0-9a-f]{16}$")) and (.scenario_hash | test("^[0-9a-f]{16}$"))' all/manifest.json
[[ $(jq -c '[.digest, .events, .packet_hops, .seed, .end_reason]' all/manifest.json) == \
	"$(jq -c '[.digest, .events, .packet_hops, .seed, .end_reason]' all/summary.json)" ]] ||
	fail "manifest and summary differ"
holds '.checks.exactly_once.checked > 0 and .checks.exactly_once.violations == 0 and .checks.conservation.violations == 0' all/summary.json
holds '.jobs.jct_s | has("mean") and has("p50") and has("p95") and has("p99") and has("max")' all/summary.json
holds '.flows.fct_s | has("mean") and has("p50") and has("p95") and has("p99") and has("p999") and has("max")' all/summary.json
holds '.flows.by_size | length == 5 and all(.[]; has("min_bytes") and has("max_bytes") and has("throughput_bps"))' all/summary.json
holds '.jobs.by_name | keys == ["ring", "sw"]' all/summary.json

# --- rows ---

for run in all cut; do
	table $run/jobs.csv '
		c["finished"] != 0 && c["finished"] != 1 { bad("finished " c["finished"]) }
		c["finished"] && off(c["jct_s"], c["waiting_s"] + c["compute_s"] + c["communication_s"]) { bad("JCT is not the sum of its parts") }
		c["finished"] && off(c["jct_s"], c["finish_s"] - c["arrival_s"]) { bad("JCT") }
		c["finished"] && off(c["waiting_s"], c["start_s"] - c["arrival_s"]) { bad("waiting") }
		c["finished"] && c["iterations_done"] != c["iterations"] { bad("finished without all iterations") }
		!c["finished"] && (c["finish_s"] != "" || c["jct_s"] != "") { bad("unfinished with a finish") }
		c["start_s"] == "" && (c["waiting_s"] != "" || c["compute_s"] != "" || c["hosts"] != "") { bad("not begun, but busy") }
		c["start_s"] != "" && split(c["hosts"], hosts, " ") != c["workers"] { bad("hosts " c["hosts"]) }
		c["scheme"] == "ring" && c["slots"] != "" { bad("a ring has slots") }
		c["scheme"] == "switchml" && c["start_s"] != "" && c["slots"] == "" { bad("no slots") }
		c["compute_s"] + 0 < 0 || c["communication_s"] + 0 < 0 { bad("negative time") }
		c["measured"] != (c["arrival_s"] >= 0.0002) { bad("measured") }'
	table $run/iterations.csv '
		off(c["duration_s"], c["finish_s"] - c["start_s"]) || off(c["duration_s"], c["compute_s"] + c["communication_s"]) { bad("duration") }
		c["iteration"] != done[c["job_id"]]++ { bad("iteration " c["iteration"]) }
		c["iteration"] > 0 && c["start_s"] != last[c["job_id"]] { bad("a gap between iterations") }
		{ last[c["job_id"]] = c["finish_s"] }'
done
for run in all cut flows; do
	table $run/flows.csv '
		c["finished"] && off(c["fct_s"], c["finish_s"] - c["start_s"]) { bad("FCT") }
		c["finished"] && off(c["slowdown"], c["fct_s"] / c["ideal_fct_s"]) && off(c["slowdown"] * c["ideal_fct_s"], c["fct_s"]) { bad("slowdown") }
		c["finished"] && c["slowdown"] < 1 { bad("slowdown " c["slowdown"]) }
		!c["finished"] && (c["finish_s"] c["fct_s"] c["slowdown"]) != "" { bad("unfinished with a finish") }
		c["src"] == c["dst"] || c["size_bytes"] < 1 || c["ideal_fct_s"] <= 0 { bad("an impossible flow") }
		c["measured"] != (c["start_s"] >= 0.0002) { bad("measured") }
		# k = 4: two hosts an edge switch
		{ there = "^edge" int(c["src"] / 2) " (.* edge" int(c["dst"] / 2) ")?$"; back = "^edge" int(c["dst"] / 2) " (.* edge" int(c["src"] / 2) ")?$" }
		c["path"] " " !~ there && c["path"] !~ there { bad("path " c["path"]) }
		c["ack_path"] " " !~ back && c["ack_path"] !~ back { bad("path of ACKs " c["ack_path"]) }
		split(c["path"], step, " ") != split(c["ack_path"], step, " ") { bad("ways of different lengths") }
		seen[c["flow_id"]]++ { bad("the same flow twice") }'
	table $run/links.csv '
		c["utilization"] > 1 || c["utilization"] < 0 || c["utilization"] == "" { bad("utilization " c["utilization"]) }
		c["direction"] != "up" && c["direction"] != "down" { bad("direction") }
		c["tier"] != "host" && c["tier"] != "edge" && c["tier"] != "aggregation" { bad("tier " c["tier"]) }
		c["bytes"] < 64 * c["packets"] || c["bytes"] > 1518 * c["packets"] { bad("bytes of " c["packets"] " packets") }
		# bytes on the wire: a frame of 64 in the buffer takes 84
		c["max_queue_bytes"] > 40000 * 84 / 64 && c["from"] !~ /^h/ { bad("a queue above the buffer") }'
	table $run/series/network.csv '
		c["max_utilization"] > 1 + 1e-9 || c["mean_utilization"] > c["max_utilization"] || c["mean_utilization"] < 0 { bad("utilization") }
		late { bad("a sample after the last") }
		off(c["time_s"], (NR - 1) * 0.0001) { late = 1; if (c["time_s"] > (NR - 1) * 0.0001 || off(c["time_s"], '"$(jq .sim_time_s $run/summary.json)"')) bad("time " c["time_s"]) }'
	# the rows add up to the whole run
	close_to "$(sum $run/series/network.csv mean_utilization | awk '{ printf "%.17g", $1 * 0.0001 }')" \
		"$(awk -v s="$(sum $run/links.csv utilization)" -v n="$(rows $run/links.csv)" -v t="$(jq .sim_time_s $run/summary.json)" \
			'BEGIN { printf "%.17g", s * t / n }')" "$run: utilization of all samples"
done
table all/aggregators.csv '
	c["used_max_bytes"] > c["memory_bytes"] || c["used_max_bytes"] < 1 { bad("memory") }
	c["scheme"] != "switchml" { bad("scheme") }'

# --- tables and summary ---

# means RUN TABLE COLUMN FILTER [CONDITION]: mean and largest
means() {
	local count
	count=$(rows "$1/$2" "${5:-1} && c[\"$3\"] != \"\"")
	if ((count == 0)); then
		holds "$4 | .mean == null and .max == null" "$1/summary.json"
		return
	fi
	close_to "$(jq "$4.mean" "$1/summary.json")" \
		"$(awk -v s="$(sum "$1/$2" "$3" "${5:-1}")" -v n="$count" 'BEGIN { printf "%.17g", s / n }')" "$1: mean of $3, $4"
	close_to "$(jq "$4.max" "$1/summary.json")" \
		"$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) name[i] = $i; next }
			{ for (i = 1; i <= NF; i++) c[name[i]] = $i }
			'"${5:-1}"' && c["'"$3"'"] + 0 > max + 0 { max = c["'"$3"'"] } END { print max }' "$1/$2")" "$1: largest $3, $4"
}

for run in all cut; do
	holds ".jobs.arrived == $(rows $run/jobs.csv) and .jobs.count == $(rows $run/jobs.csv 'c["measured"]') and
		.jobs.finished == $(rows $run/jobs.csv 'c["measured"] && c["finished"]')" $run/summary.json
	(($(rows $run/jobs.csv '!c["measured"]') > 0)) || fail "$run: all jobs are measured, nothing is tested"
	for column in jct_s waiting_s compute_s communication_s; do
		means $run jobs.csv $column .jobs.$column 'c["measured"] && c["finished"]'
		for name in ring sw; do
			means $run jobs.csv $column ".jobs.by_name.$name.$column" 'c["measured"] && c["finished"] && c["name"] == "'$name'"'
		done
	done
	means $run iterations.csv duration_s .jobs.iteration_s 'c["measured"]'
	table $run/jobs.csv 'END { if (NR < 2) bad("no rows") }'
	for column in packets_aggregated results duplicates repairs collisions preemptions; do
		close_to "$(jq ".aggregation.$column" $run/summary.json)" "$(sum $run/aggregators.csv $column)" "$run: $column"
	done
	for column in retransmissions timeouts; do
		close_to "$(jq ".aggregation.$column" $run/summary.json)" "$(sum $run/jobs.csv $column)" "$run: $column"
	done
	(($(rows $run/iterations.csv) == $(sum $run/jobs.csv iterations_done))) || fail "$run: iterations"
done
for run in all cut flows; do
	measured='c["measured"]'
	holds ".flows.started == $(rows $run/flows.csv) and .flows.count == $(rows $run/flows.csv "$measured") and
		.flows.finished == $(rows $run/flows.csv "$measured && c[\"finished\"]")" $run/summary.json
	means $run flows.csv fct_s .flows.fct_s "$measured"
	close_to "$(jq .flows.timeouts $run/summary.json)" "$(sum $run/flows.csv timeouts "$measured")" "$run: timeouts of flows"
	means $run flows.csv slowdown .flows.slowdown "$measured"
	for class in 0 1 2 3 4; do
		read -r low high < <(jq -r ".flows.by_size[$class] | [.min_bytes, .max_bytes // 1e18] | @tsv" $run/summary.json)
		in_class="$measured && c[\"size_bytes\"] >= $low && c[\"size_bytes\"] <= $high"
		holds ".flows.by_size[$class] | .count == $(rows $run/flows.csv "$in_class") and
			.finished == $(rows $run/flows.csv "$in_class && c[\"finished\"]")" $run/summary.json
		means $run flows.csv slowdown ".flows.by_size[$class].slowdown" "$in_class"
	done
	for pair in drops:drops losses:losses ecn_marks:ecn_marks; do
		close_to "$(jq ".network.${pair%:*}" $run/summary.json)" "$(sum $run/links.csv "${pair#*:}")" "$run: $pair"
	done
	holds '.network | .packets_created == .packets_delivered + .packets_absorbed + .packets_in_flight + .drops + .losses' $run/summary.json
	holds '.sim_time_s > 0 and .events > .packet_hops / 2' $run/summary.json
done
# servers where they should be, none where the scheme has none; a refused job has run nowhere
table served/jobs.csv '
	c["name"] == "own" && (split(c["server_hosts"], s, " ") != 2 || c["hosts"] ~ "(^| )" s[1] "( |$)") { bad("own: " c["server_hosts"]) }
	c["name"] == "shared" && c["server_hosts"] != 22 + c["job_id"] % 2 { bad("shared: " c["server_hosts"]) }
	c["name"] == "beside" && c["server_hosts"] != c["hosts"] { bad("beside: " c["server_hosts"]) }
	c["name"] == "sw" && c["server_hosts"] != "" { bad("switchml: " c["server_hosts"]) }
	c["refused"] != "" && (c["finished"] || c["hosts"] c["start_s"] != "" || c["refused"] != "no switch memory") { bad("refused: " $0) }'
holds '.jobs.count == 7 and .jobs.finished == 5 and .jobs.refused == 2' served/summary.json
(($(rows served/jobs.csv 'c["refused"] != ""') == 2)) || fail "served: rows of refused jobs"

# exchange_s is there for jobs that shard, too, and algbw is of it
for sharding in none optimizer full; do
	"$INASIM" run --quiet all.json --out shards --set /jobs/0/sharding=$sharding --set '/flows=[]'
	table shards/jobs.csv 'c["name"] == "ring" {
		x = c["exchange_s"] > 0 ? c["gradient_bytes"] * c["iterations_done"] / c["exchange_s"] : 0
		if (off(c["algbw_bytes_per_s"] / (x + !x), 1)) bad("exchange_s " c["exchange_s"] ", algbw " c["algbw_bytes_per_s"])
	}'
done

holds '.jobs.unfinished == null and .jobs.finished < .jobs.count and .end_reason == "time_limit"' cut/summary.json
(($(rows cut/flows.csv '!c["finished"]') > 0)) || fail "cut: all flows finished, nothing is tested"
(($(rows cut/jobs.csv 'c["start_s"] == ""') > 0)) || fail "cut: all jobs began, nothing is tested"
holds '.network.drops > 0 and .network.losses > 0 and .network.ecn_marks > 0 and .aggregation.retransmissions > 0 and .flows.timeouts > 0' all/summary.json

# percentiles are nearest-rank, and null below 10 / (1 - p) values
rank() { # COLUMN PERCENT: of the finished measured flows
	awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) name[i] = $i; next }
		{ for (i = 1; i <= NF; i++) c[name[i]] = $i } c["measured"] && c["finished"] { print c["'"$1"'"] }' flows/flows.csv |
		LC_ALL=C sort -g | awk -v p="$2" '{ v[NR] = $1 } END { k = NR * p / 100; k = k > int(k) ? int(k) + 1 : k; print v[k] }'
}
close_to "$(jq .flows.fct_s.p50 flows/summary.json)" "$(rank fct_s 50)" "median"
close_to "$(jq .flows.by_size[1].count all/summary.json)" "$(rows all/flows.csv 'c["measured"] && c["size_bytes"] >= 10000 && c["size_bytes"] < 100000')" "size class"
close_to "$(jq .flows.slowdown.p50 flows/summary.json)" "$(rank slowdown 50)" "median slowdown"
holds 'if .flows.finished < 200 then .flows.fct_s.p95 == null else .flows.fct_s.p95 > 0 end' flows/summary.json
holds '.jobs.arrived == 28 and .jobs.finished == .jobs.count and .jobs.finished >= 20 and .jobs.jct_s.p50 != null and .jobs.jct_s.p95 == null' all/summary.json

# HPCC's fct.txt: the FCT alone of third.cc over two links of 100 Gbps and 1 us, and its fct: until the ACK is back
cat >hpcc.json <<'EOF'
{ "name": "hpcc", "topology": { "kind": "star", "hosts": 6, "wire_overhead": false, "link": { "rate": "100Gbps", "delay": "1us" },
    "switch": { "latency": "0s", "pause": true }, "host": { "nic_jitter": "0s" } },
  "roce": { "mtu": 1000, "header": 48, "write_header": 0 },
  "flows": [ { "transport": "roce", "size": "5MB", "pairs": [[4, 1]] },
    { "transport": "roce", "size": "200MB", "arrival": { "at": "5ms" }, "pairs": [[3, 2], [4, 1]] },
    { "transport": "roce", "size": "1B", "arrival": { "at": "1s" }, "pairs": [[0, 1]] },
    { "transport": "roce", "size": "endless", "arrival": { "at": "900ms" }, "pairs": [[2, 5]] } ] }
EOF
"$INASIM" run --quiet hpcc.json --out hpcc || fail "hpcc: ended with $?"
"$INASIM" export fct hpcc >fct.txt 2>said || fail "hpcc: $(cat said)"
grep -q '1 unfinished or endless flows are left out' said || fail "fct.txt: said $(cat said)"
[[ $(cut -d' ' -f1-6,8 fct.txt) == "0b000401 0b000101 10000 100 5000000 0 423360
0b000301 0b000201 10000 100 200000000 5000000 16772160
0b000401 0b000101 10001 100 200000000 5000000 16772160
0b000001 0b000101 10000 100 1 1000000000 4163" ]] || fail "fct.txt: $(cat fct.txt)"
close_to "$(awk 'NR == 1 { print $7 }' fct.txt)" 423294 "fct of HPCC"
"$INASIM" export fct . 2>said && fail "a folder without results is exported"
grep -q 'manifest.json' said || fail "fct.txt of nothing: said $(cat said)"

finish "$checks checks hold"
