/* summary.json of a run, and its members for the dictionary. */
#include "run/results_parts.h"

#include "base/mem.h"
#include "data/stats.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Members of summary.json for the dictionary. The functions below write them; tests/results.sh
 * checks that the two agree. */
static const struct out_column summary_columns[] = {
	{ "scenario", OUT_TEXT, "Name of the scenario." },
	{ "seed", OUT_COUNT, "Seed of all random streams." },
	{ "fidelity", OUT_TEXT,
	  "packet: every packet was simulated; fluid: streams that shared links; analytic: streams "
	  "that did not. Without packets, what counts packets is null." },
	{ "end_reason", OUT_TEXT,
	  "all_done, jobs_done, flows_done, measured_done, time: as planned; time_limit, deadlock: "
	  "work was left; "
	  "interrupted; violation." },
	{ "sim_time_s", OUT_SECONDS,
	  "Simulated time at the end; where nothing could happen any more, that of the last "
	  "event." },
	{ "events", OUT_COUNT, "Events of the simulator, without samples of time series." },
	{ "packet_hops", OUT_COUNT,
	  "Packets (data, ACK, control), each time one is sent over a link." },
	{ "cpu_s", OUT_REAL,
	  "CPU time of the run, without reading the scenario and writing the end." },
	{ "packet_hops_per_cpu_s", OUT_REAL, "Speed; null when no CPU time was measured." },
	{ "peak_rss_bytes", OUT_COUNT, "Largest resident memory of the process." },
	{ "digest", OUT_TEXT, "Of all events: equal digests, equal runs." },
	{ "warnings", OUT_TEXT,
	  "A list of what the run showed that is hardly meant: switch memory that was never "
	  "contended, a fabric that was saturated throughout, fluid beside flows. What else its "
	  "scenario shows is said by check." },
	{ "load.flows", OUT_REAL,
	  "Offered by Poisson arrivals of flows: payload bits per second over hosts x link rate." },
	{ "load.jobs_ring", OUT_REAL,
	  "The same of jobs, by the bytes that they would send by ring, whatever their scheme." },
	{ "load.jobs_own", OUT_REAL, "The same by the bytes of their own schemes." },
	{ "jobs.count", OUT_COUNT,
	  "Jobs of the measured window; without warm-up and window, all jobs of the scenario. "
	  "Those "
	  "that arrive after the end of the run count as unfinished." },
	{ "jobs.finished", OUT_COUNT, "Those that finished; only they enter the means." },
	{ "jobs.refused", OUT_COUNT, "Those that their schemes refused: they never ran." },
	{ "jobs.arrived", OUT_COUNT, "All jobs that arrived, measured or not." },
#define ROW(member, name, some, words, head, help) { "jobs." name, OUT_REAL, help },
	JOB_METRICS(ROW)
#undef ROW
#define ROW(name, column, some, words, help) { "jobs." name, OUT_REAL, help },
		ITERATION_METRICS(ROW)
#undef ROW
			{ "jobs.why_s", OUT_REAL,
			  "With run --why: mean time of an iteration by the causes of why.csv, "
			  "{compute, jitter, "
			  "...}, "
			  "over the workers and iterations of all jobs, measured or not; else "
			  "null." },
	{ "jobs.ran_as", OUT_TEXT,
	  "A list of what did not run as it was given: group (scheme), how many of its jobs, and "
	  "ran_as of jobs.csv; of all jobs, measured or not." },
	{ "jobs.by_name", OUT_TEXT, "The same by name of the group." },
	{ "flows.count", OUT_COUNT, "Flows that started in the measured window." },
	{ "flows.finished", OUT_COUNT, "Those that finished; only they enter the means." },
	{ "flows.started", OUT_COUNT, "All flows, measured or not." },
	{ "flows.timeouts", OUT_COUNT,
	  "Retransmission timers of the measured ones that expired, finished or not; null without "
	  "packets." },
#define ROW(member, name, words, help) { "flows." name, OUT_REAL, help },
	FLOW_METRICS(ROW)
#undef ROW
		{ "flows.by_size", OUT_TEXT,
		  "The same by size class: min_bytes, max_bytes (inclusive; null = none), count, "
		  "finished, "
		  "fct_s, slowdown, throughput_bps (size / FCT)." },
	{ "flows.by_name", OUT_TEXT,
	  "By name of the group: count, finished, throughput_bps (mean of size / FCT) and jain, "
	  "Jain's index of these; of the measured flows, means of the finished." },
	{ "network.packets_created", OUT_COUNT, "By hosts, and by switches (multicast, results)." },
	{ "network.packets_delivered", OUT_COUNT, "Received by hosts." },
	{ "network.packets_absorbed", OUT_COUNT, "Consumed by switches: added up." },
	{ "network.packets_in_flight", OUT_COUNT, "On the way when the run ended." },
	{ "network.drops", OUT_COUNT, "Packets that found a queue full." },
	{ "network.losses", OUT_COUNT, "Packets lost on a link by chance." },
	{ "network.ecn_marks", OUT_COUNT, "Packets marked, each time." },
	{ "network.pauses", OUT_COUNT, "Times that PAUSE stopped the sender of a link." },
	{ "network.max_queue_bytes", OUT_COUNT, "Longest backlog of any port." },
	{ "network.by_tier", OUT_TEXT,
	  "By tier and direction of links.csv: links, utilization_mean, utilization_max, "
	  "utilization_jain (Jain's index over the links)." },
#define ROW(member, help) { "aggregation." #member, OUT_COUNT, help },
	SWITCH_COUNTERS(ROW) HOST_COUNTERS(ROW)
#undef ROW
		{ "aggregation.held_count", OUT_COUNT,
		  "Times that an aggregator was taken and freed." },
	{ "aggregation.held_mean_s", OUT_REAL, "Mean time from taking to freeing; null if none." },
	{ "aggregation.held_p99_s", OUT_REAL,
	  "99th percentile of it, to 1/32; null below 100 times." },
	{ "aggregation.throughput_share", OUT_REAL,
	  "Mean over the jobs that finished of throughput_share in jobs.csv; null if none." },
	{ "aggregation.memory_reserved_max", OUT_REAL,
	  "Sum over the switches that were used of the most that was reserved at one time, over "
	  "the "
	  "sum of their memories; 0 when none was." },
	{ "aggregation.memory_utilization", OUT_REAL,
	  "Memory reserved by jobs, averaged over the run, over the memory of the switches that "
	  "were used; 0 when none was." },
	{ "checks.exactly_once.checked", OUT_COUNT,
	  "Sums that workers received and that were checked." },
	{ "checks.exactly_once.violations", OUT_COUNT,
	  "Those that were wrong; not 0 is exit code 5." },
	{ "checks.conservation.violations", OUT_COUNT,
	  "Packets, bytes or memory that do not add up, and slowdowns below 1; not 0 is exit code "
	  "5." },
	{ "checks.first_violation", OUT_TEXT, "What the first of them was; null." },
	{ 0 },
};
const struct out_schema summary_schema = { "summary.json",
					   "One object a run; a.b is the member b of the object a.",
					   summary_columns };

/* Writes null where there are no packets to count. */
static void json_packets(struct json *json, const struct simulation *s, const char *key,
			 uint64_t count)
{
	if (s->fluid)
		json_real(json, key, NAN);
	else
		json_u64(json, key, count);
}

enum { P999 = 1 }; /* flows get the 99.9th percentile, too */

double *results_sorted(const double *values, size_t count)
{
	double *sorted = xcalloc(count, sizeof(*sorted));

	if (count)
		memcpy(sorted, values, count * sizeof(*sorted));
	stats_sort(sorted, count);
	return sorted;
}

static void json_distribution(struct json *json, const char *key, const double *values,
			      size_t count, bool with_p999)
{
	double *sorted = results_sorted(values, count);
	struct median median = infer_median(sorted, count, 0.95);

	json_open_object(json, key);
	json_real(json, "mean", stats_mean(values, count));
	json_real(json, "p50", median.value);
	json_real(json, "p50_low", median.low);
	json_real(json, "p50_high", median.high);
	json_real(json, "p50_level", median.level);
	json_real(json, "p95", stats_percentile(sorted, count, 0.95));
	json_real(json, "p99", stats_percentile(sorted, count, 0.99));
	if (with_p999)
		json_real(json, "p999", stats_percentile(sorted, count, 0.999));
	json_real(json, "max", stats_max(sorted, count));
	json_close_object(json);
	free(sorted);
}

#define ROW(member, name, some, words, head, help)                                                 \
	{ name, head, offsetof(struct job_record, member) },
const struct job_metric results_job_metrics[] = { JOB_METRICS(ROW){ 0 } };
#undef ROW

double *results_job_values(const struct simulation *s, const struct job_group_conf *group,
			   const char *name, const struct job_metric *metric, size_t *count)
{
	size_t finished = jobs_report(s->jobs)->measured.finished;
	const struct job_record *records = jobs_report(s->jobs)->records;
	double *values = xcalloc(finished, sizeof(*values));

	*count = 0;
	for (size_t i = 0; i < finished; i++) {
		double value = *(const double *)((const char *)&records[i] + metric->at);

		if (isnan(value))
			continue;
		if (group ? group == records[i].group
			  : !name || !strcmp(name, records[i].group->name))
			values[(*count)++] = value;
	}
	return values;
}

/* Of the jobs of a name; NULL: of all. */
static void json_why(struct json *json, const struct simulation *s, const char *name)
{
	const struct job_group_conf *groups = scenario_jobs(s->scenario);
	struct why_spent sum = { 0 };

	if (!s->spent) {
		json_null(json, "why_s");
		return;
	}
	for (size_t g = 0; g < s->scenario->jobs.count; g++) {
		if (name && strcmp(name, groups[g].name))
			continue;
		sum.workers += s->spent[g].workers;
		for (unsigned c = 0; c < WHY_CAUSES; c++)
			sum.cause_s[c] += s->spent[g].cause_s[c];
	}
	json_open_object(json, "why_s");
	for (unsigned c = 0; c < WHY_CAUSES; c++)
		json_real(json, why_cause_names[c],
			  sum.workers > 0 ? sum.cause_s[c] / sum.workers : NAN);
	json_close_object(json);
}

static void json_job_fields(struct json *json, const struct simulation *s, const char *name)
{
	for (const struct job_metric *m = results_job_metrics; m->name; m++) {
		size_t count;
		double *values = results_job_values(s, NULL, name, m, &count);

		if (m == results_job_metrics && name)
			json_u64(json, "finished", count); /* every finished job has a JCT */
		json_distribution(json, m->name, values, count, false);
		free(values);
	}
	json_why(json, s, name);
}

/* Takes the lines. */
static void json_lines(struct json *json, const char *key, char **lines)
{
	json_open_array(json, key);
	for (size_t i = 0; lines[i]; i++)
		json_string(json, NULL, lines[i]);
	json_close_array(json);
	results_lines_free(lines);
}

static void json_jobs(struct json *json, const struct simulation *s)
{
	const struct job_group_conf *groups = scenario_jobs(s->scenario);
	const struct jobs_report *report = jobs_report(s->jobs);

	json_open_object(json, "jobs");
	json_u64(json, "count", report->measured.count);
	json_u64(json, "finished", report->measured.finished);
	json_u64(json, "refused", report->measured.refused);
	json_u64(json, "arrived", report->arrived);
	json_job_fields(json, s, NULL);
	json_distribution(json, "iteration_s", report->durations, report->duration_count, false);
	json_distribution(json, "cycle_s", report->cycles, report->cycle_count, false);
	json_lines(json, "ran_as", results_otherwise(s));
	json_open_object(json, "by_name");
	for (size_t g = 0; g < s->scenario->jobs.count; g++) {
		size_t first = 0;

		while (strcmp(groups[first].name, groups[g].name))
			first++;
		if (first < g)
			continue;
		json_open_object(json, groups[g].name);
		json_job_fields(json, s, groups[g].name);
		json_close_object(json);
	}
	json_close_object(json);
	json_close_object(json);
}

static void json_flow_class(struct json *json, const struct flow_class *class)
{
	json_open_object(json, NULL);
	json_u64(json, "min_bytes", class->from);
	if (class->to != UINT64_MAX)
		json_u64(json, "max_bytes", class->to - 1);
	else
		json_null(json, "max_bytes");
	json_u64(json, "count", class->count);
	json_u64(json, "finished", class->finished);
#define ROW(member, name, words, help)                                                             \
	json_distribution(json, name, class->member, class->finished, P999);
	FLOW_METRICS(ROW)
#undef ROW
	json_distribution(json, "throughput_bps", class->throughput, class->finished, false);
	json_close_object(json);
}

/* Of all classes; `at`: where struct flow_class has the list. */
static void json_all_flows(struct json *json, const char *key, const struct flow_class *classes,
			   size_t class_count, size_t at, size_t count)
{
	double *values = xcalloc(count, sizeof(*values)), *end = values;

	for (size_t c = 0; c < class_count; end += classes[c++].finished)
		if (classes[c].finished)
			memcpy(end, *(double *const *)((const char *)&classes[c] + at),
			       classes[c].finished * sizeof(*values));
	json_distribution(json, key, values, count, P999);
	free(values);
}

static void json_flows(struct json *json, const struct simulation *s)
{
	size_t class_count, finished = 0;
	const struct flow_class *classes = flows_classes(s->flows, &class_count);
	uint64_t measured = 0;

	for (size_t c = 0; c < class_count; c++) {
		measured += classes[c].count;
		finished += classes[c].finished;
	}
	json_open_object(json, "flows");
	json_u64(json, "count", measured);
	json_u64(json, "finished", finished);
	json_u64(json, "started", flows_started(s->flows));
	json_packets(json, s, "timeouts", flows_timeouts(s->flows));
#define ROW(member, name, words, help)                                                             \
	json_all_flows(json, name, classes, class_count, offsetof(struct flow_class, member),      \
		       finished);
	FLOW_METRICS(ROW)
#undef ROW
	json_open_array(json, "by_size");
	for (size_t c = 0; c < class_count; c++)
		json_flow_class(json, &classes[c]);
	json_close_array(json);
	fairness_flows(json, s);
	json_close_object(json);
}

static void json_network(struct json *json, const struct simulation *s)
{
	const struct network *net = &s->topo.net;
	uint64_t marks = 0, pauses = 0, max_queue = 0;

	for (uint32_t i = 0; i < net->port_count; i++) {
		marks += net->cold[i].marks;
		pauses += net->cold[i].pauses;
		if (results_max_queue(s, i) > max_queue)
			max_queue = results_max_queue(s, i);
	}
	json_open_object(json, "network");
	json_packets(json, s, "packets_created", net->created);
	json_packets(json, s, "packets_delivered", net->delivered);
	json_packets(json, s, "packets_absorbed", net->absorbed);
	json_packets(json, s, "packets_in_flight", network_in_flight(net));
	json_packets(json, s, "drops", net->dropped);
	json_packets(json, s, "losses", net->lost);
	json_packets(json, s, "ecn_marks", marks);
	json_packets(json, s, "pauses", pauses);
	json_packets(json, s, "max_queue_bytes", max_queue);
	fairness_links(json, s);
	json_close_object(json);
}

struct memory_sum results_memory(const struct simulation *s)
{
	struct memory_sum sum = { 0 };
	uint64_t whole = 0, used = 0;
	byte_time used_time = 0;

	for (unsigned i = 0; scheme_ops(i); i++) {
		const struct collective_memory *memory;
		size_t count = simulation_memory(s, i, &memory);

		for (size_t m = 0; m < count; m++) {
			collective_stats_add(&sum.stats, &memory[m].stats);
			whole += memory[m].used_max_bytes ? memory[m].memory_bytes : 0;
			used += memory[m].used_max_bytes;
			used_time += collective_reserved(&memory[m], s->sim.now);
			if (memory[m].held)
				holding_times_merge(&sum.held, memory[m].held);
		}
	}
	sum.reserved_max = whole ? (double)used / (double)whole : 0;
	sum.utilization = collective_utilization(used_time, whole, s->sim.now);
	return sum;
}

static double throughput_share(const struct simulation *s)
{
	const struct job_record *records = jobs_report(s->jobs)->records;
	size_t count = 0;
	double sum = 0;

	for (size_t i = 0; i < jobs_report(s->jobs)->measured.finished; i++) {
		if (isnan(records[i].throughput_share))
			continue; /* one worker: nothing is exchanged */
		sum += records[i].throughput_share;
		count++;
	}
	return count ? sum / (double)count : NAN;
}

/* Switches count in their memories and workers in their jobs, but never the same thing: the sum
 * counts nothing twice. */
static void json_aggregation(struct json *json, const struct simulation *s)
{
	struct memory_sum sum = results_memory(s);

	jobs_stats(s->jobs, &sum.stats);
	json_open_object(json, "aggregation");
#define ROW(member, help) json_packets(json, s, #member, sum.stats.member);
	SWITCH_COUNTERS(ROW)
	HOST_COUNTERS(ROW)
#undef ROW
	json_packets(json, s, "held_count", sum.held.count);
	json_real(json, "held_mean_s", holding_times_mean(&sum.held));
	json_real(json, "held_p99_s", holding_times_percentile(&sum.held, 0.99));
	json_real(json, "throughput_share", throughput_share(s));
	json_real(json, "memory_reserved_max", sum.reserved_max);
	json_real(json, "memory_utilization", sum.utilization);
	json_close_object(json);
}

static void json_checks(struct json *json, const struct simulation *s)
{
	const struct checks *checks = &s->checks;

	json_open_object(json, "checks");
	json_open_object(json, "exactly_once");
	json_packets(json, s, "checked", checks->exact_checked);
	json_u64(json, "violations", checks->exact_violations);
	json_close_object(json);
	json_open_object(json, "conservation");
	json_u64(json, "violations", checks->conservation_violations);
	json_close_object(json);
	json_string(json, "first_violation", checks->first[0] ? checks->first : NULL);
	json_close_object(json);
}

static void json_load(struct json *json, const struct simulation *s)
{
	struct offered offered = scenario_offered(s->scenario);

	json_open_object(json, "load");
	json_real(json, "flows", offered.flows);
	json_real(json, "jobs_ring", offered.jobs_ring);
	json_real(json, "jobs_own", offered.jobs_own);
	json_close_object(json);
}

char *results_summary_json(const struct simulation *s)
{
	struct json json;

	json_init(&json);
	json_open_object(&json, NULL);
	json_string(&json, "scenario", s->scenario->name);
	json_i64(&json, "seed", s->scenario->seed);
	json_string(&json, "fidelity", fidelity_names[s->scenario->fidelity]);
	json_string(&json, "end_reason", end_reason_names[s->end]);
	json_seconds(&json, "sim_time_s", s->sim.now);
	json_u64(&json, "events", simulation_events(s));
	json_packets(&json, s, "packet_hops", s->topo.net.hops);
	json_real(&json, "cpu_s", s->cpu_s);
	json_real(&json, "packet_hops_per_cpu_s",
		  s->cpu_s > 0 && !s->fluid ? (double)s->topo.net.hops / s->cpu_s : NAN);
	json_u64(&json, "peak_rss_bytes", peak_rss_bytes());
	json_hex64(&json, "digest", simulation_digest(s));
	json_lines(&json, "warnings", results_warnings(s));
	json_load(&json, s);
	json_jobs(&json, s);
	json_flows(&json, s);
	json_network(&json, s);
	json_aggregation(&json, s);
	json_checks(&json, s);
	json_close_object(&json);
	return json_finish(&json);
}
