#!/bin/bash
# What iterations are spent on: why.csv adds up to the last picosecond, agrees with the other
# tables, changes nothing else, and is printed with names.
# shellcheck disable=SC2016 # the single quotes hold awk and jq programs
source "${SRC:?source directory}/tests/lib/shell.sh"
in_a_folder_of_its_own

cat >two.json <<'JSON'
{
  "name": "two", "topology": { "kind": "leaf-spine", "leaves": 2, "spines": 2, "hosts_per_leaf": 8,
                               "link": { "rate": "10Gbps", "loss": 0.0005 } },
  "jobs": [
    { "name": "ring", "workers": 6, "all_reduce": "ring", "iterations": 3, "send_jitter": "20us",
      "model": { "layers": [ { "gradient": "300KB", "forward": "50us", "backward": "100us" } ] } },
    { "name": "sml", "workers": 4, "all_reduce": "switchml", "iterations": 2, "placement": "spread",
      "stragglers": { "workers": 1, "slowdown": 3 },
      "model": { "layers": [ { "gradient": "200KB", "forward": "50us", "backward": "100us" } ] } }
  ],
  "flows": [ { "name": "web", "size": "100KB", "arrival": { "poisson_load": 0.3 }, "stop": "jobs_done" } ],
  "stop": { "when": "jobs_done", "after": "1s" },
  "output": { "series": { "every": "100us", "links": [0, 17, "host/up", "leaf/up"] } }
}
JSON
ends 0 run two.json --out plain --quiet
ends 0 run two.json --why --out why --quiet
holds '.digest == $plain' why/manifest.json --arg plain "$(jq -r .digest plain/manifest.json)"
for table in jobs iterations flows links; do
	checks=$((checks + 1))
	cmp -s plain/$table.csv why/$table.csv || fail "--why changes $table.csv"
done
# all that look on at once see what each sees alone
ends 0 run two.json --events 0s..2ms --out logged --quiet
ends 0 run two.json --timeline 0s..2ms --out drawn --quiet
ends 0 run two.json --why --events 0s..2ms --timeline 0s..2ms --out all --quiet
same all/why.csv why/why.csv
same all/events.csv logged/events.csv
same all/timeline.pftrace drawn/timeline.pftrace
[[ ! -e plain/why.csv && ! -e plain/why-links.csv && ! -e plain/series/owners.csv ]] ||
	fail "tables of --why without it"
[[ $(wc -l <why/why.csv) == $((1 + 3 * 6 + 2 * 4)) ]] || fail "$(wc -l <why/why.csv) rows"

# decimal seconds as whole picoseconds: awk has 53 bits, enough for hours
adds_up='
	function ps(t) { return int(t * 1e12 + 0.5) }
	NR > 1 { sum = 0
		for (i = 10; i < 10 + 23; i++) sum += ps($i)
		if (sum != ps(c["duration_s"])) print "line " NR ": " sum
		if (ps(c["finish_s"]) - ps(c["start_s"]) != ps(c["duration_s"])) print "line " NR ": not as long" }'
cells "$adds_up" why/why.csv

# also of a job whose tensors wait for the end of a cycle, which its host takes
ends 0 run two.json --set /jobs/0/overlap=layers --set /jobs/0/fusion_cycle=5ms --why --out fused --quiet
cells "$adds_up" fused/why.csv
cells 'NR > 1 && c["name"] == "ring" { host += c["server_s"]; none += c["unexplained_s"] }
	END { if (host < 0.03 || none > 0) print host " s for cycles, " none " s unexplained" }' fused/why.csv

# also of GPUs in stages of a pipeline, whose groups add up to the job's time, once for each rank
cat >ranks.json <<'JSON'
{
  "name": "ranks", "topology": { "kind": "leaf-spine", "leaves": 4, "spines": 2, "hosts_per_leaf": 2, "link": { "rate": "100Gbps" },
    "host": { "gpus": { "count": 2, "rate": "400Gbps" } } },
  "jobs": [ { "name": "step", "workers": 4, "all_reduce": "switchml", "overlap": "layers", "iterations": 2,
    "pipeline": { "stages": 2, "microbatches": 4, "schedule": "1f1b", "activations": "100KB" },
    "model": { "layers": [ { "gradient": "1MB", "forward": "500us", "backward": "1ms" }, { "gradient": "1MB", "forward": "500us", "backward": "1ms" } ] } } ]
}
JSON
ends 0 run ranks.json --out seen --quiet
ends 0 run ranks.json --why --out ranks --quiet
holds '.digest == $seen' ranks/manifest.json --arg seen "$(jq -r .digest seen/manifest.json)"
cells "$adds_up" ranks/why.csv
checks=$((checks + 1))
[[ $(awk -F, 'NR > 1 { s += int($5 * 1e12 + 0.5) } END { printf "%.0f", s / 8 }' ranks/why-groups.csv) == \
	$(awk -F, 'NR == 2 { printf "%.0f", ($10 - $9) * 1e12 }' ranks/jobs.csv) ]] || fail "groups do not add up to the job's time"
ends 0 why ranks
says out '^job 0 \(step, switchml\), 8 workers, 2 iterations: [0-9.]+ ms a worker: compute [0-9]+ %, bubble [0-9]+ %'
says out '^  own [0-9.]+ %: compute 100 %$'
says out '^  pipeline [0-9.]+ %: bubble '
ends 0 why ranks --json
holds '.[0].groups | map(select(.group == "pipeline"))[0].why_s | .bubble > 0 and .straggler == 0' out

# also of a job whose tree has failed between its admission and its beginning
cat >late.json <<'JSON'
{
  "name": "late", "topology": { "kind": "leaf-spine", "leaves": 2, "spines": 2, "hosts_per_leaf": 3 }, "cluster": { "controller_latency": "1s" },
  "failures": { "events": [ { "fails": "leaf1", "at": "100ms", "repair_after": "1ms" } ] },
  "jobs": [ { "workers": 4, "all_reduce": "switchml", "model": { "layers": [ { "gradient": "1MB" } ] } } ]
}
JSON
ends 0 run late.json --why --out late --quiet
cells "$adds_up" late/why.csv

# so do waits for parameters, tokens and activations
cat >three.json <<'JSON'
{
  "name": "three", "topology": { "kind": "leaf-spine", "leaves": 2, "spines": 2, "hosts_per_leaf": 8, "link": { "loss": 0.0005 } },
  "jobs": [
    { "name": "full", "workers": 4, "all_reduce": "ring", "iterations": 2, "overlap": "layers", "sharding": "full",
      "model": { "layers": [ { "gradient": "300KB", "forward": "50us" }, { "gradient": "300KB", "backward": "100us" } ] } },
    { "name": "experts", "workers": 4, "all_reduce": "switchml", "iterations": 2, "overlap": "layers", "sharding": "optimizer",
      "model": { "layers": [ { "gradient": "300KB", "backward": "100us" }, { "gradient": "4B", "all_to_all": "300KB", "forward": "50us" } ] } },
    { "name": "stages", "workers": 6, "all_reduce": "ring", "iterations": 2, "overlap": "layers",
      "pipeline": { "stages": 3, "microbatches": 2, "activations": "100KB" },
      "model": { "layers": [ { "gradient": "300KB", "forward": "50us" }, { "gradient": "4B", "backward": "90us" }, { "gradient": "3KB" } ] } }
  ]
}
JSON
ends 0 run three.json --why --out three --quiet
cells "$adds_up" three/why.csv
[[ $(wc -l <three/why.csv) == $((1 + 2 * (4 + 4 + 6))) ]] || fail "$(wc -l <three/why.csv) rows of three.json"

# who filled the links: owners add up to what links.csv counts, over time, to the byte
cells '
	FILENAME ~ /links/ { carried[c["link_id"]] = c["bytes"]; tier[c["tier"] "/" c["direction"]] += c["bytes"]; next }
	{ sum[c["links"]] += c["bytes"]; seen[c["owner"] " " c["class"]] = 1 }
	c["owner"] == "web" ? c["owner_job_id"] != "" : c["owner_job_id"] != (c["owner"] == "ring" ? 0 : 1) { print "owner: " $0 }
	END {
		if (sum[0] != carried[0] || sum[17] != carried[17]) print "link 0: " sum[0] " of " carried[0]
		if (sum["host/up"] != tier["host/up"] || sum["leaf/up"] != tier["leaf/up"]) print "tiers"
		n = split("ring jobs,ring control,sml aggregation,web background,web control", all, ",")
		for (i = 1; i <= n; i++) if (!(all[i] in seen)) print "no " all[i]
		for (s in seen) k++; if (k != n) print k " owners and classes" }' why/links.csv why/series/owners.csv
cells '
	NR > 1 { key = c["job_id"] " " c["iteration"] " " c["link"]; sum[key] += c["bytes"]
		could[key] = c["utilization"] * 10e9 / 8 * (c["finish_s"] - c["start_s"])
		own[key] = own[key] || c["owner_job_id"] == c["job_id"] && c["bytes"] }
	END { for (key in sum) { n++
			if (off(sum[key], could[key])) print key ": " sum[key] " bytes, not " could[key]
			if (!own[key]) print key ": nothing of the job" }
		if (n != 4 * (3 + 2)) print n " links" }' why/why-links.csv
# without the flows, a ring alone fills its links
ends 0 run two.json --why --out alone --quiet --set /flows/0/enabled=false --set /jobs/1/enabled=false
[[ $(awk -F, 'NR > 1 { print $8 $9 }' alone/why-links.csv | sort -u) == 0ring ]] || fail "others in a ring alone"
ends 0 why alone
says out '^    busiest: h[0-9]+ -> leaf[0-9]+, [0-9]+ % full \(ring \(job 0\) 100 %\); '

# computing as in iterations.csv: the mean over the workers, cut to picoseconds
compute() { awk -F, -v key="$2" 'NR == 1 { for (i = 1; i <= NF; i++) n[$i] = i; next }
	$n["name"] == key { s += $n["compute_s"] } END { printf "%.9f", s }' "$1"; }
near() { awk -v a="$1" -v b="$2" 'BEGIN { exit !(a - b < 1e-8 && b - a < 1e-8) }' || fail "$3: $1 and $2"; }
near "$(awk -v t="$(compute why/why.csv ring)" 'BEGIN { print t / 6 }')" "$(compute why/iterations.csv ring)" ring
near "$(awk -v t="$(compute why/why.csv sml)" 'BEGIN { print t / 4 }')" "$(compute why/iterations.csv sml)" sml

ends 0 why why
says out '^job 0 \(ring, ring\), 6 workers, 3 iterations: [0-9.]+ ms a worker: '
says out '^  iteration 1: [0-9.]+ ms a worker: .*compute [0-9]+ %'
says out '^    longest: worker [0-9]+ \(host [0-9]+\), [0-9.]+ ms; last: worker [0-9]+, [0-9]+ times'
says out 'straggler [0-9]+ %' # of the SwitchML job
says out '; queues: (h[0-9]+|leaf[0-9]+|spine[0-9]+) -> '
says out '^    busiest: .* -> .*, [0-9]+ % full \((web|ring \(job 0\)|sml \(job 1\)) [0-9.]+ %, '
ends 0 why why alone --json
holds '.[0].dir == "why" and (.[0].iterations | length == 5) and (.[1].iterations | length == 3)' out
holds '[.[0].iterations[].busiest_links[].bytes] | add == $sum' out --argjson sum \
	"$(awk -F, 'NR > 1 { s += $10 } END { print s }' why/why-links.csv)"
holds '.[1].iterations[0] | .busiest_links[0].owner == "ring (job 0)" and .why_s.compute > 0' out
sed 's/^0,ring,2,/0,ring,3,/' -i alone/why-links.csv
ends 6 why alone
says err 'why-links.csv:[0-9]+: column iteration: "3" is not an iteration of why.csv'
ends 0 why why why
says out '^ms a worker, all iterations'
says out '^compute +[0-9.]+ +[0-9.]+$'
# ten runs and more stay in columns
ends 0 why why why why why why why why why why why
checks=$((checks + 1))
[[ $(grep -E "^ {10,}\\[1\\]" out | wc -c) == $(grep '^compute ' out | wc -c) ]] || fail "columns: $(tail -n 22 out)"
# parallel links have one name
cp -r why parallel
awk -F, -v OFS=, '$1 $3 == "00" { if (!first) first = $6; if ($6 != first && !second) second = $6; if ($6 == second) $6 = first } 1' \
	why/why-links.csv >parallel/why-links.csv
ends 0 why parallel
first=$(sed -n 2p parallel/why-links.csv | cut -d, -f6)
says out "^    busiest: $first, [^;]*; $first, "
# a run that ended too early
ends 4 run two.json --why --out early --quiet --set /stop/after=60us --set /output/series/every=10us
ends 0 why early
says out '^  no iteration has ended$'

# --- the same as bars, and over the axis of a sweep ---

holds '(.jobs.why_s | add) as $sum | $sum > 0 and (.jobs.by_name | keys == ["ring", "sml"])' why/summary.json
holds '.jobs.why_s == null and .jobs.by_name.ring.why_s == null' plain/summary.json
near "$(jq '.jobs.by_name.sml.why_s.compute' why/summary.json)" \
	"$(awk -v t="$(compute why/why.csv sml)" 'BEGIN { print t / 8 }')" "mean of sml"
cat >plan.json <<'JSON'
{ "name": "plan", "base": "two.json", "set": { "/jobs/1/enabled": false },
  "axes": [ { "name": "load", "pointer": "/flows/0/arrival/poisson_load", "values": [0.1, 0.3] },
            { "name": "as", "pointer": "/fidelity", "values": ["packet", "analytic"] } ] }
JSON
sed -i 's/, "loss": 0.0005//' two.json
ends 0 sweep run plan.json 0-3 --why --quiet --out sweep
ends 0 sweep collect plan.json --out sweep
ends 0 sweep run plan.json 0-3 --quiet --out without
ends 0 sweep collect plan.json --out without
[[ $(head -n 1 sweep/sweep.csv) == *,jobs.why_s.queue_flows,* ]] || fail "no breakdown in sweep.csv"
[[ $(head -n 1 without/sweep.csv) != *why_s* ]] || fail "a breakdown without --why"
if command -v gnuplot >/dev/null; then
	ends 0 plot why --figure breakdown --size 3.5in
	# what stands on the bars is the mean duration of the job's rows of why.csv
	near "$(awk '$3 == 1 && $2 { top = $6 } END { print top }' why/figures/breakdown.dat)" \
		"$(awk -F, '$2 == "sml" { s += $9 } END { print s / 8 }' why/why.csv)" "height of a bar"
	ends 0 plot why why --together --out both --figure breakdown --label a --label b
	ends 0 plot sweep --figure breakdown
	says out '^sweep/figures/breakdown-over-load-by-as.png$'
	near "$(awk '$3 < 0.5 && $2 && $6 != "NaN" { top = $6 } END { print top }' sweep/figures/breakdown-over-load-by-as.dat)" \
		"$(awk -F, 'NR > 1 { s += $9 } END { print s / 18 }' "sweep/points/$(awk -F, '$1 == 0 { print $2 }' sweep/sweep.csv)/why.csv")" \
		"height of a bar of a sweep"
	ends 2 plot sweep --figure breakdown --y jobs.jct_s.mean
	says err 'the breakdown of a sweep takes only --x, --by and --where'
	echo '{ "name": "idle", "topology": { "kind": "star", "hosts": 2 }, "jobs": [ { "workers": 1, "all_reduce": "ring",
		"model": { "layers": [ { "gradient": "1kB" } ] } } ] }' >idle.json
	echo '{ "name": "idle", "base": "idle.json", "axes": [ { "name": "turns", "pointer": "/jobs/0/iterations",
		"values": [1, 2] } ] }' >plan.json
	ends 0 sweep run plan.json 0-1 --why --quiet --out idle
	ends 0 sweep collect plan.json --out idle
	ends 6 plot idle --figure breakdown
	says err 'no figure breakdown-over-turns: iterations took no time$'
	ends 2 plot without --figure breakdown
	says err 'run its points with sweep run --why'
	ends 2 plot sweep --figure jct
	says err '^inasim: --figure is for result directories, sweep is a sweep$'
	ends 6 plot plain --figure breakdown
	says err 'no figure breakdown: there is no why.csv'
fi

# --- whose packets push sums out of aggregators ---

cat >pushed.json <<'JSON'
{ "name": "pushed", "topology": { "kind": "star", "hosts": 18 }, "schemes": { "esa": { "memory": "20KB", "index": "hash", "halve_on": "loss" } }, "jobs": [
  { "all_reduce": "esa", "workers": 4, "compute_jitter": 0.05, "model": { "layers": [ { "gradient": "1171840B" },
    { "gradient": "6616B", "backward": "35us" }, { "gradient": "17180B", "backward": "194us" }, { "gradient": "72B", "forward": "10us" } ] } },
  { "all_reduce": "esa", "workers": 2, "model": { "layers": [ { "gradient": "3396B", "forward": "124us" }, { "gradient": "490264B", "backward": "148us" },
    { "gradient": "924B", "forward": "15us", "backward": "135us" }, { "gradient": "116B", "forward": "103us" } ] } } ] }
JSON
ends 0 run pushed.json --why --out pushed --quiet
cells 'NR > 1 {
		if (c["last_worker"] != "" && c["last_worker"] >= (c["job_id"] ? 2 : 4)) print "line " NR ": no worker of this job"
		if (c["pushed_s"] + 0 > c["no_aggregator_s"] + 0) print "line " NR ": pushed for longer than without an aggregator"
		named += c["pushed_by"] != "" && c["pushed_by"] != c["job_id"] }
	END { if (!named) print "nobody was pushed out by the other job" }' pushed/why.csv
ends 0 why pushed
says out '; pushed out of aggregators by job [01], [0-9.]+ ms'

# --- iterations that took no time have no shares ---

echo '{ "name": "instant", "topology": { "kind": "star", "hosts": 4 },
  "jobs": [ { "workers": 1, "all_reduce": "ring", "model": { "layers": [ { "gradient": "4B" } ] } } ] }' >instant.json
ends 0 run instant.json --why --out instant
cp out told
ends 0 why instant
says out '^  iteration 0: 0 ms a worker$'
ends 0 report instant
checks=$((checks + 1))
! grep -HE "nan|takes a worker" told instant/report.html || fail "shares of an iteration that took no time"

# --- in short ---

# the hottest links are those of links.csv, whose bytes their users add up to; jobs that are alike are one line
ends 0 run two.json --why --out short --quiet --set /jobs/1/count=2 --set /jobs/1/workers=3
ends 0 why short --summary
says out '^hottest of [0-9]+ links \([0-9]+ as hot as the first, within 1 %\):$'
hot=$(sed '1d' short/links.csv | sort -t, -k9,9gr -k1,1n | head -n 5 | awk -F, '{ print $2 " -> " $3 }')
checks=$((checks + 1))
[[ $(sed -n 's/^  \([^:]* -> [^:]*\): [0-9.]* % full, busy for .*; .*/\1/p' out) == "$hot" ]] || fail "other links are hottest: $(<out)"
checks=$((checks + 1))
[[ $(awk -F, 'NR > 1 { s[$1] += $4 } END { for (l in s) print l "," s[l] }' short/why-hottest.csv | sort) == \
	$(sed '1d' short/links.csv | sort -t, -k9,9gr -k1,1n | head -n 5 | cut -d, -f1,8 | sort) ]] || fail "users do not add up to the bytes of links"
says out '^1 job \(ring, ring\), 6 workers: JCT [0-9.]+ ms, [0-9.]+ ms a worker: '
says out '^2 jobs \(sml, switchml\), 3 workers each: JCT [0-9.]+ to [0-9.]+ ms, '
says out '^worst: job [0-9]+ \((ring|sml)\), a worker did not compute for [0-9.]+ ms$'
# its command runs, and shows that time
tail -n 1 out | sed "s|^  inasim|$INASIM|; s|\$| --quiet|" >command.sh
checks=$((checks + 1))
{ bash command.sh && [[ -s short-worst/timeline.html ]]; } || fail "the command does not run: $(<command.sh)"
checks=$((checks + 1))
[[ $(jq .digest short-worst/manifest.json) == $(jq .digest short/manifest.json) ]] || fail "the command runs something else"
ends 2 why short --summary --json
says err '^inasim: --summary is text: leave out --json$'

# --- what cannot be ---

ends 2 run two.json --why
says err '^inasim: --why writes why.csv into a result directory: give --out DIR, too$'
ends 2 run two.json --why --fidelity analytic --set /topology/link/loss=0 --out streams
says err '^inasim: --why follows packets, and two.json simulates none'
ends 6 why plain
says err 'why.csv.*\(inasim run --why writes it\)'
ends 6 why nowhere

finish "iterations add up, and say why"
