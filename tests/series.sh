#!/bin/bash
# Do time series say what happened? Links by class of traffic add up to what the
# network counted without classes, classes hold what they say, goodput adds up to the
# sizes of the flows, Jain's index has its closed forms, and sampling changes nothing.
# shellcheck disable=SC2016 # the single quotes hold awk and jq programs
source "${SRC:?source directory}/tests/lib/shell.sh"
in_a_folder_of_its_own

cat >all.json <<'JSON'
{
  "name": "all", "seed": 2, "stop": { "when": "time", "after": "5ms" },
  "topology": { "kind": "fat-tree", "k": 4, "link": { "rate": "10Gbps", "delay": "1us", "loss": 0.0001 } },
  "tcp": { "min_rto": "300us", "initial_rto": "300us" },
  "jobs": [
    { "name": "ring", "workers": 5, "all_reduce": "ring", "iterations": 1000,
      "model": { "layers": [ { "gradient": "300KB", "forward": "50us" } ] } },
    { "name": "tree", "workers": 5, "all_reduce": "switchml", "iterations": 1000,
      "model": { "layers": [ { "gradient": "300KB", "forward": "50us" } ] } }
  ],
  "flows": [
    { "name": "web", "size": { "mix": [ { "cdf": "websearch" }, { "cdf": "datamining" } ] },
      "arrival": { "poisson_load": 0.2 } },
    { "name": "small", "size": "20KB", "arrival": { "poisson_load": 0.1 }, "count": 60 }
  ],
  "output": { "series": { "every": "100us", "flows": true, "links": [ "host/up", "host/down", "edge/up", "edge/down",
                          "aggregation/up", "aggregation/down", 3 ] } }
}
JSON
"$INASIM" run --quiet all.json --out all
"$INASIM" run --quiet all.json --out bare --set '/output={}'
"$INASIM" run --quiet all.json --out web --set /jobs/0/enabled=false --set /jobs/1/enabled=false
"$INASIM" run --quiet all.json --out ring --set /jobs/1/enabled=false --set /flows/0/enabled=false \
	--set /flows/1/enabled=false --set /output/series/flows=false
"$INASIM" run --quiet all.json --out tree --set /jobs/0/enabled=false --set /flows/0/enabled=false \
	--set /flows/1/enabled=false --set /output/series/flows=false

[[ $(jq -r .digest all/summary.json) == "$(jq -r .digest bare/summary.json)" ]] || fail "sampling changes the digest"
[[ ! -e bare/series && ! -e ring/series/flows.csv ]] || fail "series that nobody asked for"
(($(wc -l <all/series/links.csv) >= 7 * 49 + 1)) || fail "too few samples"

# over all links, the classes together are what series/network.csv counted
for run in all web ring tree; do
	cells '
		FILENAME ~ /network/ { used[c["time_s"]] = c["mean_utilization"]; queued[c["time_s"]] = c["queued_bytes"]; next }
		c["links"] != 3 { t = c["time_s"]; links[t] += c["count"]
			u[t] += c["count"] * (c["aggregation_utilization"] + c["jobs_utilization"] + c["background_utilization"] + c["control_utilization"])
			q[t] += c["aggregation_queue_bytes"] + c["jobs_queue_bytes"] + c["background_queue_bytes"] + c["control_queue_bytes"] }
		c["max_queue_bytes"] > c["aggregation_queue_bytes"] + c["jobs_queue_bytes"] + c["background_queue_bytes"] + c["control_queue_bytes"] { print "the longest queue is longer than all" }
		c["links"] == 3 && c["count"] != 1 { print "one link is " c["count"] }
		c["utilization_jain"] != "" && (c["utilization_jain"] < 1 / c["count"] - 1e-12 || c["utilization_jain"] > 1 + 1e-12) { print "Jain " c["utilization_jain"] }
		END { for (t in u) { if (links[t] != 96) print t ": " links[t] " links"
			if (off(u[t] / links[t], used[t])) print t ": utilization " u[t] / links[t] ", not " used[t]
			if (q[t] != queued[t]) print t ": queues " q[t] ", not " queued[t] } }' $run/series/network.csv $run/series/links.csv
done
# packets of all links: all hops but those after the last sample. A 10-MB tensor in pieces of 128 bytes:
# 78,125 packets up every up-link, as many down every down-link
cat >pieces.json <<'JSON'
{
  "name": "pieces", "stop": { "when": "time", "after": "20ms" }, "topology": { "kind": "star", "hosts": 4 },
  "jobs": [ { "name": "tree", "workers": 4, "all_reduce": "switchml", "model": { "layers": [ { "gradient": "10MB" } ] } } ],
  "output": { "series": { "every": "2ms", "links": [ 0, "host/up", "host/down" ] } }
}
JSON
"$INASIM" run --quiet pieces.json --out pieces
"$INASIM" run --quiet pieces.json --out lossy --set /topology/link/loss=0.01 --set /stop/after=400ms
cells '{ n[c["links"]] += c["packets"]; most = most > c["packets"] && c["links"] == 0 ? most : c["links"] == 0 ? c["packets"] : most }
	END { if (n[0] != 78125 || n["host/up"] != 4 * 78125 || n["host/down"] != 4 * 78125) print n[0], n["host/up"], n["host/down"] " packets"
		if (most != 12500) print most " packets in 2 ms at 160 ns each" }' pieces/series/links.csv
cells 'FILENAME ~ /series/ { if (c["links"] != 0) n += c["packets"]; next } { sent += c["packets"] } END { if (n != sent) print n " packets, not " sent }' \
	lossy/series/links.csv lossy/links.csv
# each class is there where it is, and nowhere else; ACKs are everywhere but in trees
for rule in 'all 1 1 1 1' 'web 0 0 1 1' 'ring 0 1 0 1' 'tree 1 0 0 0'; do
	read -r run classes <<<"$rule"
	cells '{ a += c["aggregation_utilization"]; j += c["jobs_utilization"]; b += c["background_utilization"]; k += c["control_utilization"] }
		END { found = (a > 0) " " (j > 0) " " (b > 0) " " (k > 0); if (found != "'"$classes"'") print "classes " found }' $run/series/links.csv
done

# goodput: the small flows have all arrived, and are what was delivered
cells 'FILENAME ~ /series/ { if (c["group"] == "small") { bytes += c["goodput_bps"] * 0.0001 / 8; active = c["active"] } next }
	c["group"] == "small" { if (!c["finished"]) print "unfinished"; sizes += c["size_bytes"] }
	END { if (active || off(bytes / sizes, 1)) print bytes " bytes delivered of " sizes }' all/series/flows.csv all/flows.csv

# summary: by name and by tier, from the tables
cells 'c["finished"] { x = c["size_bytes"] * 8 / c["fct_s"]; n[c["group"]]++; s[c["group"]] += x; q[c["group"]] += x * x }
	END { for (g in n) print g, n[g], s[g] / n[g], s[g] * s[g] / (n[g] * q[g]) > "by_name" }' all/flows.csv
while read -r name count mean jain; do
	jq -e --arg name "$name" ".flows.by_name[\$name] | .finished == $count and
		(.throughput_bps / $mean - 1 | fabs) < 1e-4 and (.jain / $jain - 1 | fabs) < 1e-4" all/summary.json >/dev/null ||
		fail "by_name of $name: $(jq -c .flows.by_name all/summary.json), not $count $mean $jain"
done <by_name
(($(wc -l <by_name) == 2)) || fail "by_name: $(<by_name)"
cells '{ k = c["tier"] "," c["direction"]; x = c["utilization"]; n[k]++; s[k] += x; q[k] += x * x }
	END { for (k in n) print k "," n[k] "," s[k] / n[k] "," s[k] * s[k] / (n[k] * q[k]) > "by_tier" }' all/links.csv
while IFS=, read -r tier direction count mean jain; do
	jq -e ".network.by_tier[] | select(.tier == \"$tier\" and .direction == \"$direction\") | .links == $count and
		(.utilization_mean / $mean - 1 | fabs) < 1e-4 and (.utilization_jain / $jain - 1 | fabs) < 1e-4" all/summary.json >/dev/null ||
		fail "by_tier: $tier $direction $count $mean $jain"
done <by_tier
(($(wc -l <by_tier) == 6)) || fail "by_tier: $(<by_tier)"

# Jain's index of three long flows: one alone on its path, two that share one, (10, 5, 5):
# 400 / (3 * 150) = 0.889; shares of 6 and 4 would make it 0.877
cat >three.json <<'JSON'
{
  "name": "three", "stop": { "when": "time", "after": "100ms" }, "topology": { "kind": "star", "hosts": 5, "host": { "jitter": "200ns" } },
  "flows": [ { "name": "long", "size": "1GB", "pairs": [ [0, 1], [2, 4], [3, 4] ] } ],
  "output": { "series": { "every": "20ms", "flows": true, "links": [ "host/up" ] } }
}
JSON
"$INASIM" run --quiet three.json --out three
cells '{ last = c["jain"]; n = c["whole"]; g = c["goodput_bps"]; rows++ }
	END { if (n != 3 || rows < 4 || last < 0.877 || last > 0.889) print "Jain " last " of " n " flows, " rows " rows"
		# two links of 10 Gbps, 1460 of 1538 bytes each; a segment counts where it arrives
		if (g < 0.98 * 2e10 * 1460 / 1538 || g > 2e10 * 1460 / 1538 + 2 * 1460 * 8 / 0.02) print "goodput " g }' three/series/flows.csv
# up-links carry 10, 5, 5 and the ACKs: the same from hosts 1 and 4, a fraction of 84 / 1538
cells '{ j = c["utilization_jain"] } END { a = 84 / 1538; want = (20 + 20 * a) ^ 2 / (5 * (150 + 200 * a * a)); if (j > want + 0.002 || j < want - 0.01) print "Jain " j ", not " want }' three/series/links.csv

# Intervals shorter than a packet: bytes belong to the one in which they are sent, so no link is
# used by more than all of it, and one that never rests by all of it; packets that are stopped
# (PAUSE) or overtaken (classes) count when their turn comes.
cat >short.json <<'JSON'
{
  "name": "short", "topology": { "kind": "star", "hosts": 5, "link": { "rate": "1Gbps" }, "switch": { "buffer": "30KB", "ecn": false } },
  "jobs": [ { "name": "tree", "workers": 3, "all_reduce": "switchml", "model": { "layers": [ { "gradient": "100KB" } ] } } ],
  "flows": [ { "name": "f", "size": "100KB", "pairs": [[0, 1], [2, 1], [3, 1], [1, 4]] } ],
  "output": { "series": { "every": "1us", "links": [ "host/up", "host/down" ] } }
}
JSON
for change in /topology/link/loss=0 /topology/link/loss=0.01 /topology/link/rate=0.7Gbps /topology/switch/pause=true \
	/topology/classes=control-first /topology/host/nic=fifo; do
	rm -rf short
	ends 0 run --quiet short.json --out short --set "$change"
	[[ $change != */pause* ]] || holds '.network.pauses > 0' short/summary.json
	cells 'FILENAME ~ /links/ { for (k in c) if (k ~ /_utilization$/) { all[c["time_s"]] += c[k] / 2; if (c[k] > 1 + 1e-9) print k " " c[k] } next }
		c["max_utilization"] > 1 + 1e-9 || c["mean_utilization"] < 0 { print "utilization " c["max_utilization"] }
		{ if (off(all[c["time_s"]], c["mean_utilization"])) print c["time_s"] ": " all[c["time_s"]] " by class, not " c["mean_utilization"] }
		c["max_utilization"] > most { most = c["max_utilization"] }
		{ used += c["mean_utilization"] * 1e-6 }
		END { if (most < 1 - 1e-9) print "at most " most
			if (off(used, '"$(awk -F, 'NR > 1 { u += $9; n++ } END { printf "%.17g", u / n }' short/links.csv) * $(jq .sim_time_s short/summary.json)"')) print used " s" }' \
		short/series/links.csv short/series/network.csv
done

# A tree that lost a packet stands still for ever, and so does what is looked at: neither series nor
# means go on to the time limit. Memory in use, as bytes x time, is that of a run up to the limit.
cat >lost.json <<'JSON'
{
  "name": "lost", "topology": { "kind": "star", "hosts": 4, "switch": { "buffer": "3KB" } },
  "schemes": { "switchml_star": { "aggregate_above": "1B" } },
  "jobs": [ { "name": "tree", "workers": 3, "all_reduce": "switchml_star", "model": { "layers": [ { "gradient": "1MB" } ] } } ],
  "flows": [ { "name": "other", "size": "1MB", "pairs": [[3, 0]] } ],
  "output": { "series": { "every": "1us" } }
}
JSON
ends 4 run lost.json --out lost
ends 4 run lost.json --out lost-limit --set /stop/after=10ms --set '/output={}'
ends 0 run lost.json --out lost-time --set /stop/after=10ms --set /output/series/every=1ms --set /stop/when=time
holds '.end_reason == "deadlock" and .sim_time_s > 5e-4 and .sim_time_s < 2e-3' lost/summary.json
for of in .digest .sim_time_s .network.by_tier .aggregation; do
	checks=$((checks + 1))
	[[ $(jq -c $of lost/summary.json) == "$(jq -c $of lost-limit/summary.json)" ]] || fail "$of is of the time limit"
done
holds '.sim_time_s == 0.01' lost-time/summary.json
cells '{ last = c["time_s"] } END { if (last != 0.01) print "no samples from " last " s on" }' lost-time/series/network.csv
end_s=$(jq .sim_time_s lost/summary.json)
cells '{ last = c["time_s"] } END { if (last < '"$end_s"' - 1e-10 || last > '"$end_s"' + 1e-10) print "the last sample is at " last " s" }' \
	lost/series/network.csv
cells 'c["memory_bytes"] { used[FILENAME] = c["memory_utilization"] * (FILENAME ~ /time/ ? 0.01 : '"$end_s"') }
	END { if (!off(used["lost/aggregators.csv"] * 1e9, 0) || off(used["lost/aggregators.csv"] / used["lost-time/aggregators.csv"], 1)) print "memory" }' \
	lost/aggregators.csv lost-time/aggregators.csv

finish "links, classes, goodput and Jain's index are right"
