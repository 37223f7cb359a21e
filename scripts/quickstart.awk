# The table and the three sentences of scripts/quickstart, out of jobs.csv, why.csv and links.csv of
# DIR/SCHEME-WAY. All numbers are measured; only what a scheme does and what causes mean is known here.

BEGIN {
	schemes = split("ring ps switchml", scheme, " ")
	says["ring"] = "ring"
	says["ps"] = "parameter servers"
	says["switchml"] = "SwitchML"
	# models/why/why.h
	says["window"] = "windows or slots that are full"
	says["window_marks"] = "windows that ECN marks have cut"
	says["window_losses"] = "windows that losses have cut"
	says["nic"] = "NICs, behind packets of the same host"
	says["wire"] = "transmission"
	says["queue_own"] = "queues of own packets"
	says["queue_flows"] = "queues of the traffic"
	says["straggler"] = "waiting for workers that were late"
	says["timeout"] = "timeouts"
}

FNR == 1 {
	parts = split(FILENAME, part, "/")
	run = part[parts - 1]
	table = part[parts]
	split("", at)
	for (i = 1; i <= NF; i++) at[name[i] = $i] = i
	next
}
table == "jobs.csv" { ms[run] = 1000 * $at["jct_s"] }
table == "links.csv" && $at["tier"] == "host" && $at["direction"] == "up" { bytes[run] += $at["bytes"] }
table == "why.csv" {
	workers[run] = $at["worker"] >= workers[run] ? $at["worker"] + 1 : workers[run]
	for (i = 1; i <= NF; i++)
		if (name[i] in at && name[i] ~ /_s$/ && name[i] !~ /^(start|finish|duration|last|link)_s$/)
			spent[run, substr(name[i], 1, length(name[i]) - 2)] += 1000 * $i
}

function megabytes(s) { return bytes[s "-alone"] / workers[s "-alone"] / 1e6 }

function fastest(way,    i, best) {
	best = scheme[1]
	for (i = 2; i <= schemes; i++)
		if (ms[scheme[i] way] < ms[best way]) best = scheme[i]
	return best
}

# "96 ms (67 in NICs, 23 in queues)": the two causes that the traffic adds most to.
function added(s,    key, pair, more, most, second, n, all) {
	most = second = ""
	n = workers[s "-alone"]
	for (key in spent) {
		split(key, pair, SUBSEP)
		if (pair[1] != s "-beside") continue
		more[pair[2]] = (spent[key] - spent[s "-alone", pair[2]]) / n
		if (most == "" || more[pair[2]] > more[most]) { second = most; most = pair[2] }
		else if (second == "" || more[pair[2]] > more[second]) second = pair[2]
	}
	all = ms[s "-beside"] - ms[s "-alone"]
	return sprintf("%.0f ms (%.0f in %s, %.0f in %s%s)", all, more[most], says[most], more[second], \
	               says[second], more[most] + more[second] > all ? ", less elsewhere" : "")
}

# "2.92 times as long as alone"
function factor(s) { return sprintf("%.2f times", ms[s "-beside"] / ms[s "-alone"]) }

END {
	printf "VGG16, 16 workers, 10 Gbps; beside: web-search traffic at 30 %% load; one seed\n\n"
	printf "%-20s%12s%12s%12s%20s\n", "", "alone", "beside", "ratio", "a worker sends"
	for (i = 1; i <= schemes; i++) {
		s = scheme[i]
		printf "%-20s%9.1f ms%9.1f ms%12.2f%17.1f MB\n", says[s], ms[s "-alone"], ms[s "-beside"], \
			ms[s "-beside"] / ms[s "-alone"], megabytes(s)
	}
	printf "\nAlone %s is the fastest: ring takes %.2f times as long as SwitchML and parameter servers %.2f times, " \
		"since switches add gradients up on the way, so that a worker sends %.0f MB instead of %.0f or %.0f.\n", \
		says[fastest("-alone")], ms["ring-alone"] / ms["switchml-alone"], ms["ps-alone"] / ms["switchml-alone"], \
		megabytes("switchml"), megabytes("ring"), megabytes("ps")
	printf "Beside the traffic ring takes %s as long as alone, parameter servers %s and SwitchML %s, which makes %s the " \
		"fastest.\n", factor("ring"), factor("ps"), factor("switchml"), says[fastest("-beside")]
	printf "It costs ring %s; parameter servers %s; SwitchML %s.\n", added("ring"), added("ps"), added("switchml")
}
