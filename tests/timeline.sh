#!/bin/bash
# A timeline parses as Perfetto's format, its slices add up to the tables, its instants to the
# counters, and it changes nothing in the run.
source "${SRC:?source directory}/tests/lib/shell.sh"
in_a_folder_of_its_own
command -v protoc >/dev/null || { echo "timeline: protoc is missing"; exit 77; }

# decoded DIR: one line a packet: track, type, name, value, ns, arrow out, arrow in; of tracks their
# number, "TRACK", name, parent
decoded() {
	protoc --proto_path="$SRC/sim/data" --decode=perfetto.Trace perfetto.proto <"$1/timeline.pftrace" | awk -v OFS='\t' '
		/^packet/ { split("", f); note = 0; next }
		/debug_annotations \{/ { note = 1; next }
		/^ +\}/ { note = 0; next }
		/^\}/ {
			if ("uuid" in f) print f["uuid"], "TRACK", f["name"], f["parent_uuid"]
			else print f["track_uuid"], f["type"], f["name"], f["uint_value"] f["counter_value"], f["timestamp"], f["flow_ids"], f["terminating_flow_ids"]
			next
		}
		{ key = $1; sub(/:$/, "", key); sub(/^ *[a-z_]+: /, ""); gsub(/"/, ""); gsub(/ /, "_")
		  if (!(note && key == "name")) f[key] = $0 == "" ? "-" : $0 }'
}

# scenario SCHEME: jobs that share memory that is short, beside flows
scenario() {
	cat <<-JSON
		{ "name": "timeline", "topology": { "kind": "leaf-spine", "leaves": 3, "spines": 4, "hosts_per_leaf": 8,
		    "link": { "rate": "10Gbps", "delay": "1us" } },
		  "schemes": { "esa": { "memory": "4KB" }, "atp": { "memory": "4KB" } },
		  "jobs": [ { "name": "a job", "count": 2, "workers": 5, "iterations": 3, "overlap": "layers", "all_reduce": "$1", "start_jitter": "20us",
		      "model": { "layers": [ { "gradient": "60KB", "forward": "33us", "backward": "47us" }, { "gradient": "30KB", "backward": "21us" } ] } } ],
		  "flows": [ { "size": "20KB", "arrival": { "poisson_load": 0.2 }, "stop": "jobs_done" } ],
		  "output": { "series": { "every": "100us", "links": [ "host/down" ] } } }
	JSON
}

for scheme in ring ps switchml atp esa panama netreduce sharp; do
	scenario $scheme >s.json
	ends 0 run --quiet s.json --out "$scheme" --why --timeline 0s..10s
	ends 0 run --quiet s.json --out plain
	checks=$((checks + 1))
	[[ $(jq .digest plain/summary.json) == $(jq .digest "$scheme/summary.json") ]] || fail "$scheme: another digest"
	decoded "$scheme" >"$scheme.tsv"

	# what each worker computed, and all of its time, to the picosecond: name of its host, sums
	awk -F'\t' '
		$2 == "TRACK" { host[$1] = $3; next }
		$2 == "TYPE_SLICE_BEGIN" && host[$1] ~ /^worker_/ { all[$1] += $4; if ($3 == "compute") compute[$1] += $4 }
		END { for (t in all) { sub(/.*\(host_/, "", host[t]); sub(/\)/, "", host[t]); printf "%d %.0f %.0f\n", host[t], compute[t], all[t] } }' \
		"$scheme.tsv" | sort -n >slices
	awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		{ compute[$at["host"]] += $at["compute_s"]; all[$at["host"]] += $at["duration_s"] }
		END { for (h in all) printf "%d %.0f %.0f\n", h, compute[h] * 1e12, all[h] * 1e12 }' "$scheme/why.csv" | sort -n >accounts
	same slices accounts
	checks=$((checks + 1))
	[[ $(wc -l <slices) == 10 ]] || fail "$scheme: not ten workers"

	# what of it is a job's in jobs.csv is the mean of its workers
	awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } { n += 5 * $at["compute_s"] } END { printf "%.0f\n", n * 1e9 }' \
		"$scheme/jobs.csv" >computed
	awk '{ n += $2 } END { printf "%.0f\n", n / 1e3 }' slices >sliced
	same computed sliced

	# switches and flows; arrows have both ends
	awk -F'\t' '$2 == "TYPE_INSTANT" { n[$3]++ } $2 == "TYPE_SLICE_BEGIN" && $3 ~ /^to_h/ { flows++ }
		$6 != "" && $2 != "TRACK" { out[$6]++ } $7 != "" && $2 != "TRACK" { came[$7]++ }
		END { for (a in out) bad += out[a] != 1 || came[a] != 1
		      print n["collision"] + 0, n["preemption"] + 0, flows, bad + 0, (n["last_contribution"] > 0), (n["sum"] == n["last_contribution"]) }' \
		"$scheme.tsv" >instants
	counted=0\ 0
	[[ ! -f $scheme/aggregators.csv ]] || counted=$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		{ c += $at["collisions"]; p += $at["preemptions"] } END { print c + 0, p + 0 }' "$scheme/aggregators.csv")
	checks=$((checks + 1))
	[[ $(<instants) == "$counted $(jq .flows.finished "$scheme/summary.json") 0 1 1" ]] ||
		fail "$scheme: $(<instants), and tables have $counted $(jq .flows.finished "$scheme/summary.json")"

	# as many tensors as were begun have come back; queues of the links that were asked for
	checks=$((checks + 1))
	awk -F'\t' '$2 == "TRACK" && $3 == "tensors_in_exchange" { t[$1] } $2 == "TYPE_COUNTER" && $1 in t { last[$1] = $4 }
		END { for (i in t) bad += last[i] != 0; exit bad }' "$scheme.tsv" || fail "$scheme: tensors stay in exchange"
	says "$scheme.tsv" 'link_leaf0_->_h0'
	says "$scheme.tsv" 'queue'
done
holds '.files | map(.name) | index("timeline.pftrace") and index("timeline.html")' esa/manifest.json

# the page holds the same bytes, and its script reads the same slices, counters and instants from them
for scheme in esa ring; do
	checks=$((checks + 1))
	sed -n 's/^<script id="trace"[^>]*>\(.*\)<\/script>$/\1/p' "$scheme/timeline.html" | base64 -d | cmp - "$scheme/timeline.pftrace" ||
		fail "$scheme: the page has other bytes"
	command -v node >/dev/null || continue
	sed -n '/^<script>$/,/^<\/script>$/p' "$scheme/timeline.html" | sed '1d;$d' >page.js
	cat >>page.js <<-'JS'
		for (const t of decode(require("fs").readFileSync(process.argv[2])))
		  for (const [kind, list] of [["slices", t.slices], ["instants", t.marks], ["counts", t.counts]])
		    if (list.length) console.log(t.name.replaceAll(" ", "_"), kind, list.length,
		      kind === "slices" ? list.reduce((sum, s) => sum + s.ps, 0) : kind === "counts" ? list.reduce((sum, c) => sum + c[1], 0) : 0);
	JS
	node page.js "$scheme/timeline.pftrace" | sort >page
	awk -F'\t' '
		$2 == "TRACK" { name[$1] = $3; next }
		$2 == "TYPE_SLICE_BEGIN" { n[$1 " slices"]++; sum[$1 " slices"] += $4 }
		$2 == "TYPE_INSTANT" { n[$1 " instants"]++ }
		$2 == "TYPE_COUNTER" { n[$1 " counts"]++; sum[$1 " counts"] += $4 }
		END { for (k in n) { split(k, part, " "); printf "%s %s %d %.0f\n", name[part[1]], part[2], n[k], sum[k] } }' "$scheme.tsv" | sort >proto
	same page proto
done

# ranks that exchange several things: the causes of each rank are those of the tables, bubbles too, and each group has a
# lane, whose slices are what ranks wait for, or more
cat >ranks.json <<'JSON'
{ "name": "ranks", "topology": { "kind": "star", "hosts": 8, "link": { "rate": "100Gbps" }, "host": { "gpus": { "count": 2, "rate": "400Gbps" } } },
  "jobs": [ { "workers": 4, "all_reduce": "ring", "overlap": "layers", "iterations": 2,
    "pipeline": { "stages": 2, "microbatches": 4, "schedule": "1f1b", "activations": "100KB" },
    "model": { "layers": [ { "gradient": "1MB", "forward": "500us", "backward": "1ms" }, { "gradient": "1MB", "forward": "500us", "backward": "1ms" } ] } } ] }
JSON
ends 0 run --quiet ranks.json --out ranks --why --timeline 0s..10s
decoded ranks >ranks.tsv
awk -F'\t' '$2 == "TRACK" { name[$1] = $3; next } $2 == "TYPE_SLICE_BEGIN" && name[$1] ~ /^worker_/ { all += $4; if ($3 == "compute") compute += $4 }
	END { printf "%.0f %.0f\n", compute, all }' ranks.tsv >slices
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } { compute += $at["compute_s"]; all += $at["duration_s"] }
	END { printf "%.0f %.0f\n", compute * 1e12, all * 1e12 }' ranks/why.csv >accounts
same slices accounts
awk -F'\t' '$2 == "TRACK" { name[$1] = $3; n[$3]++; next } $2 == "TYPE_SLICE_BEGIN" { sum[name[$1]] += $4; if ($3 == "bubble") bubbles++ }
	END { print n["pipeline"], n["all_reduce"], (bubbles > 8); printf "%.9f %.9f\n", sum["pipeline"] / 1e12, sum["all_reduce"] / 1e12 }' ranks.tsv >lanes
checks=$((checks + 2))
[[ $(head -n 1 lanes) == "8 8 1" ]] || fail "lanes of groups: $(<lanes)"
awk -F, 'NR == FNR { if (FNR == 2) { split($0, lane, " "); had["pipeline"] = lane[1]; had["all_reduce"] = lane[2] } next }
	$4 in had { waited[$4] += $5 } END { for (g in had) if (!(waited[g] > 0 && waited[g] < had[g] + 1e-9)) { print g, waited[g], had[g]; exit 1 } }' \
	lanes ranks/why-groups.csv || fail "waits for groups are longer than their lanes"
# too many workers for all to have lanes
cat >many.json <<'JSON'
{ "name": "many", "topology": { "kind": "star", "hosts": 600 },
  "jobs": [ { "workers": 600, "all_reduce": "halving_doubling", "model": { "layers": [ { "gradient": "4KB" } ] } } ] }
JSON
ends 0 run many.json --out many --timeline 0s..1ms
says err 'timeline.pftrace shows the first 512 workers; 88 have no lanes$'
decoded many | grep -c 'TRACK.worker_' >shown
checks=$((checks + 1))
[[ $(<shown) == 512 ]] || fail "$(<shown) workers have lanes"

# jobs that are switched off have numbers, too: those behind them keep their slices
cat >off.json <<'JSON'
{ "name": "off", "topology": { "kind": "star", "hosts": 8 }, "jobs": [
  { "name": "a", "enabled": false, "workers": 2, "all_reduce": "ring", "model": { "layers": [ { "gradient": "10KB" } ] } },
  { "name": "b", "enabled": false, "workers": 2, "all_reduce": "ring", "model": { "layers": [ { "gradient": "10KB" } ] } },
  { "name": "c", "workers": 3, "all_reduce": "switchml", "model": { "layers": [ { "gradient": "10KB", "forward": "5us" } ] } } ] }
JSON
ends 0 run --quiet off.json --out off --timeline 0s..1s
decoded off >off.tsv
says off.tsv 'job_2_c'
checks=$((checks + 1))
[[ $(awk -F'\t' '$2 == "TYPE_SLICE_BEGIN" && $3 == "compute"' off.tsv | wc -l) == 3 ]] || fail "slices are missing: $(cat off.tsv)"

# some of it was there to be counted
checks=$((checks + 1))
grep -q collision esa.tsv && grep -q collision atp.tsv && grep -q preemption esa.tsv || fail "nothing collided"

# a window holds what is in it
scenario esa >s.json
ends 0 run s.json --out part --timeline 100us..200us
checks=$((checks + 2))
decoded part >part.tsv
awk -F'\t' '$2 ~ /^TYPE/ && ($5 < 100000 || $5 > 200000)' part.tsv >outside
silent outside
! grep -q 'is full' err || fail "a small timeline is full"

# and one that is too large ends at its limit, and still parses
scenario switchml >s.json
ends 0 run s.json --out large --timeline 0s..10s --set /jobs/0/model/layers/0/gradient=14MB --set /jobs/0/iterations=2
says err '^inasim: timeline.pftrace is full: [0-9]+ events were left out; give a shorter --timeline$'
checks=$((checks + 2))
size=$(stat -c %s large/timeline.pftrace)
((size >= 64 << 20 && size < 65 << 20)) || fail "$size bytes"
[[ $(sample size whole) == size ]] || # 4 CPU s
	protoc --proto_path="$SRC/sim/data" --decode=perfetto.Trace perfetto.proto <large/timeline.pftrace >/dev/null || fail "a full timeline does not parse"

# a stretch that the run does not reach, and a name that is cut between its letters
scenario ring >s.json
ends 0 run s.json --out never --timeline 999h..1000h
says err '^inasim: timeline.pftrace is empty: the run ended at 0.00[0-9]+ s, before 3596400.000000000 s$'
ends 0 run s.json --out never --events 999h..1000h
says err '^inasim: events.csv is empty: the run ended at '
long=$(printf 'aä%.0s' {1..40}) # the 60th byte is the second of a letter
ends 0 run s.json --out letters --timeline 0s..1ms --set /jobs/0/name="\"x$long\""
protoc --proto_path="$SRC/sim/data" --decode=perfetto.Trace perfetto.proto <letters/timeline.pftrace >packets
says packets 'name: "job 0 xa.303.244a.*a"$'

# who asks for what cannot be
ends 2 run s.json --timeline 0s..1s
says err 'inasim: --timeline writes timeline.pftrace into a result directory: give --out DIR, too$'
ends 2 run s.json --timeline 1s --out x
says err '--timeline takes FROM..TO, two times with a unit'
ends 2 run s.json --timeline 0s..1s --out x --fidelity fluid
says err '--timeline follows packets'

# what fails, while it is down: one that is repaired, one that is not, one after the span
scenario switchml | jq '.failures = { "events": [ { "fails": "spine0", "at": "50us", "repair_after": "200us" },
	{ "fails": "leaf1 -> spine2", "at": "100us" }, { "fails": "spine1", "at": "600us" } ] }' >s.json
ends 0 run --quiet s.json --out failing --timeline 0s..500us
decoded failing | awk -F'\t' '$2 == "TRACK" { name[$1] = $3; of[$1] = name[$4]; next }
	of[$1] == "failures" { print name[$1], $2, $3, $4 }' >failures
cat >expected <<-'END'
	spine0 TYPE_SLICE_BEGIN down 200000000
	spine0 TYPE_SLICE_END  
	leaf1_->_spine2 TYPE_SLICE_BEGIN down 400000000
	leaf1_->_spine2 TYPE_SLICE_END  
END
same expected failures

finish "$checks checks"
