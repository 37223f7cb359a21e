# The table and the three sentences of scripts/quickstart, out of jobs.csv, why.csv and links.csv of
# DIR/SCHEME-WAY. All numbers are measured; only what a scheme does is known here. Times are means over
# iterations of workers, as in the figure, and causes have the figure's words (sim/lab/breakdown.c).

BEGIN {
	schemes = split("ring ps switchml", scheme, " ")
	says["ring"] = "ring"
	says["ps"] = "parameter servers"
	says["switchml"] = "SwitchML"
	says["window_marks"] = "window, by marks"
	says["window_losses"] = "window, by losses"
	says["nic"] = "NIC"
	says["queue_own"] = "queues: own job"
	says["queue_flows"] = "queues: flows"
}

FNR == 1 {
	parts = split(FILENAME, part, "/")
	run = part[parts - 1]
	table = part[parts]
	split("", at)
	for (i = 1; i <= NF; i++) at[name[i] = $i] = i
	next
}
table == "jobs.csv" { iterations[run] = $at["iterations_done"] }
table == "links.csv" && $at["tier"] == "host" && $at["direction"] == "up" { bytes[run] += $at["bytes"] }
table == "why.csv" {
	workers[run] = $at["worker"] >= workers[run] ? $at["worker"] + 1 : workers[run]
	ms[run] += (1000 * $at["duration_s"] - ms[run]) / ++rows[run]
	for (i = 1; i <= NF; i++)
		if (name[i] in at && name[i] ~ /_s$/ && name[i] !~ /^(start|finish|duration|last|link)_s$/)
			spent[run, substr(name[i], 1, length(name[i]) - 2)] += 1000 * $i
}

function megabytes(s) { return bytes[s "-alone"] / workers[s "-alone"] / iterations[s "-alone"] / 1e6 }
function word(cause) { return cause in says ? says[cause] : cause }

function fastest(way,    i, best) {
	best = scheme[1]
	for (i = 2; i <= schemes; i++)
		if (ms[scheme[i] way] < ms[best way]) best = scheme[i]
	return best
}

# "48 ms (NIC 34, queues: flows 12)": the two causes that the traffic adds most to.
function added(s,    key, pair, more, most, second, n, all) {
	most = second = ""
	n = workers[s "-alone"] * iterations[s "-alone"]
	for (key in spent) {
		split(key, pair, SUBSEP)
		if (pair[1] != s "-beside") continue
		more[pair[2]] = (spent[key] - spent[s "-alone", pair[2]]) / n
		if (most == "" || more[pair[2]] > more[most]) { second = most; most = pair[2] }
		else if (second == "" || more[pair[2]] > more[second]) second = pair[2]
	}
	all = ms[s "-beside"] - ms[s "-alone"]
	return sprintf("%.0f ms (%s %.0f, %s %.0f%s)", all, word(most), more[most], word(second), more[second], \
	               more[most] + more[second] > all ? ", less elsewhere" : "")
}

# "2.92 times as long as alone"
function factor(s) { return sprintf("%.2f times", ms[s "-beside"] / ms[s "-alone"]) }

END {
	printf "VGG16, 16 workers, 10 Gbps; beside: web-search traffic at 30 %% load; one seed; means of an iteration\n\n"
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
	printf "An iteration of ring takes %s longer; of parameter servers %s; of SwitchML %s.\n", added("ring"), added("ps"), added("switchml")
}
