#include "results.h"

#include "base/mem.h"
#include "core/stats.h"
#include "event_log.h"
#include "fairness.h"
#include "links.h"
#include "net/lossless.h"
#include "out/json.h"
#include "series.h"
#include "simulation_parts.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct out_column link_columns[] = {
	{ "link_id", OUT_COUNT, "Number of the egress port." },
	{ "from", OUT_TEXT, "Node that sends." },
	{ "to", OUT_TEXT, "Node that receives." },
	{ "tier", OUT_TEXT, "Tier of the link's lower end." },
	{ "direction", OUT_TEXT, "up: away from hosts; down: towards them." },
	{ "rate_bps", OUT_COUNT, "Bit rate." },
	{ "packets", OUT_COUNT,
	  "Packets carried; like drops and all behind, empty in runs without packets." },
	{ "bytes", OUT_COUNT,
	  "Bytes of their frames; without packets, bytes of all streams on the wire. Short flows "
	  "that are load (flows.by_name.NAME.as_load) are in neither." },
	{ "utilization", OUT_REAL, "Wire time of these bytes over the time of the run." },
	{ "drops", OUT_COUNT, "Packets that found the queue full." },
	{ "losses", OUT_COUNT, "Packets lost on the link by chance." },
	{ "ecn_marks", OUT_COUNT, "Packets marked." },
	{ "pauses", OUT_COUNT, "Times that PAUSE stopped the sender." },
	{ "paused_s", OUT_SECONDS, "How long it was stopped, all together." },
	{ "max_queue_bytes", OUT_COUNT, "Longest backlog, in bytes on the wire, to a nanosecond." },
	{ 0 },
};
const struct out_schema links_schema = { "links.csv", "One row a direction of a link.",
					 link_columns };

static const struct out_column aggregator_columns[] = {
	{ "switch", OUT_TEXT, "The switch." },
	{ "scheme", OUT_TEXT, "The scheme whose memory it is." },
	{ "memory_bytes", OUT_COUNT, "Aggregation memory." },
	{ "used_max_bytes", OUT_COUNT, "Most of it that was reserved at one time." },
	{ "packets_aggregated", OUT_COUNT, "Contributions added." },
	{ "results", OUT_COUNT, "Sums completed here, of the whole job." },
	{ "duplicates", OUT_COUNT, "Contributions that had been added before." },
	{ "repairs", OUT_COUNT, "Stored results or partial sums sent again." },
	{ "collisions", OUT_COUNT, "Packets that met an aggregator of another owner." },
	{ "preemptions", OUT_COUNT, "Aggregators taken from their owner." },
	{ "fallbacks", OUT_COUNT, "Packets sent on to a parameter server unaggregated." },
	{ "collisions_own", OUT_COUNT, "Collisions with another piece of the same job." },
	{ "collisions_complete", OUT_COUNT,
	  "Collisions with an owner that was complete and waited for its ack." },
	{ "collisions_waiting", OUT_COUNT,
	  "Collisions with an owner of another job that waited for more of its workers." },
	{ "preemptions_tried", OUT_COUNT, "Collisions that might have preempted the owner." },
	{ "partials", OUT_COUNT, "Partial sums sent to a parameter server before they were full." },
	{ "collected", OUT_COUNT, "Aggregators freed because their owner had gone silent." },
	{ "late", OUT_COUNT, "Contributions that came when the sum had left without them." },
	{ "discarded", OUT_COUNT, "Contributions to sums of which another was lost." },
	{ "overflows", OUT_COUNT, "Contributions dropped because the memory was full." },
	{ "held", OUT_COUNT, "Times that an aggregator was taken and freed." },
	{ "held_mean_s", OUT_REAL, "Mean time from taking to freeing." },
	{ "held_p99_s", OUT_REAL, "99th percentile of it, to 1/32; empty below 100 times." },
	{ "memory_utilization", OUT_REAL, "Memory in use, averaged over the run, over all of it." },
	{ 0 },
};
const struct out_schema aggregators_schema = {
	"aggregators.csv", "One row a switch with aggregation memory that was used.",
	aggregator_columns
};

/* Members of summary.json for the dictionary; it is written by hand below, and
 * tests/results.sh holds the two against each other. */
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
	{ "sim_time_s", OUT_SECONDS, "Simulated time at the end." },
	{ "events", OUT_COUNT, "Events of the simulator, without samples of time series." },
	{ "packet_hops", OUT_COUNT,
	  "Packets (data, ACK, control), each time one is sent over a link." },
	{ "cpu_s", OUT_REAL,
	  "CPU time of the run, without reading the scenario and writing the end." },
	{ "packet_hops_per_cpu_s", OUT_REAL, "Speed; null when no CPU time was measured." },
	{ "peak_rss_bytes", OUT_COUNT, "Largest resident memory of the process." },
	{ "digest", OUT_TEXT, "Of all events: equal digests, equal runs." },
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
	{ "jobs.jct_s", OUT_REAL,
	  "Finish - arrival: {mean, p50, p95, p99, max}; percentiles are "
	  "nearest-rank, null below 10/(1-p) values." },
	{ "jobs.waiting_s", OUT_REAL, "Start - arrival, as jct_s." },
	{ "jobs.compute_s", OUT_REAL, "Mean over the workers of their computing time, as jct_s." },
	{ "jobs.communication_s", OUT_REAL, "jct_s - waiting_s - compute_s, as jct_s." },
	{ "jobs.iteration_s", OUT_REAL,
	  "Durations of all finished iterations of these jobs, as jct_s." },
	{ "jobs.cycle_s", OUT_REAL, "cycle_s of iterations.csv, as jct_s." },
	{ "jobs.by_name", OUT_TEXT, "The same by name of the group." },
	{ "flows.count", OUT_COUNT, "Flows that started in the measured window." },
	{ "flows.finished", OUT_COUNT, "Those that finished; only they enter the means." },
	{ "flows.started", OUT_COUNT, "All flows, measured or not." },
	{ "flows.fct_s", OUT_REAL,
	  "Last byte at the receiver - start: {mean, p50, p95, p99, p999, max}." },
	{ "flows.slowdown", OUT_REAL, "FCT / ideal FCT, as fct_s." },
	{ "flows.by_size", OUT_TEXT,
	  "The same by size class: min_bytes, max_bytes (inclusive; null = none), count, finished, "
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
	{ "aggregation.packets_aggregated", OUT_COUNT, "Contributions added in switches." },
	{ "aggregation.results", OUT_COUNT, "Sums completed in switches." },
	{ "aggregation.duplicates", OUT_COUNT, "Contributions that a switch had already." },
	{ "aggregation.repairs", OUT_COUNT, "Stored results or partial sums sent again." },
	{ "aggregation.collisions", OUT_COUNT, "Packets that met an aggregator of another owner." },
	{ "aggregation.preemptions", OUT_COUNT, "Aggregators taken from their owner." },
	{ "aggregation.fallbacks", OUT_COUNT,
	  "Packets sent on to a parameter server unaggregated." },
	{ "aggregation.collisions_own", OUT_COUNT,
	  "Collisions with another piece of the same job." },
	{ "aggregation.collisions_complete", OUT_COUNT,
	  "Collisions with an owner that was complete and waited for its ack." },
	{ "aggregation.collisions_waiting", OUT_COUNT,
	  "Collisions with an owner of another job that waited for more of its workers." },
	{ "aggregation.preemptions_tried", OUT_COUNT,
	  "Collisions that might have preempted the owner." },
	{ "aggregation.partials", OUT_COUNT,
	  "Partial sums sent to a parameter server before they were full." },
	{ "aggregation.collected", OUT_COUNT,
	  "Aggregators freed because their owner had gone silent." },
	{ "aggregation.late", OUT_COUNT,
	  "Contributions that came when the sum had left without them." },
	{ "aggregation.discarded", OUT_COUNT, "Contributions to sums of which another was lost." },
	{ "aggregation.overflows", OUT_COUNT,
	  "Contributions dropped because a switch's memory was full." },
	{ "aggregation.reminders", OUT_COUNT,
	  "Reminders of workers to servers and of servers to switches." },
	{ "aggregation.server_packets", OUT_COUNT,
	  "Packets that came from switches to parameter servers." },
	{ "aggregation.server_bytes", OUT_COUNT, "Bytes of their frames." },
	{ "aggregation.held_count", OUT_COUNT, "Times that an aggregator was taken and freed." },
	{ "aggregation.held_mean_s", OUT_REAL, "Mean time from taking to freeing; null if none." },
	{ "aggregation.held_p99_s", OUT_REAL,
	  "99th percentile of it, to 1/32; null below 100 times." },
	{ "aggregation.throughput_share", OUT_REAL,
	  "Mean over the jobs that finished of throughput_share in jobs.csv; null if none." },
	{ "aggregation.retransmissions", OUT_COUNT,
	  "Packets that workers sent again (all schemes)." },
	{ "aggregation.timeouts", OUT_COUNT, "Retransmission timers of workers that expired." },
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
static const struct out_schema summary_schema = {
	"summary.json", "One object a run; a.b is the member b of the object a.", summary_columns
};

const struct out_schema *const results_schemas[] = {
	&jobs_schema,        &iterations_schema, &flows_schema,       &links_schema,
	&aggregators_schema, &series_schema,     &link_series_schema, &flow_series_schema,
	&events_schema,      &summary_schema,
};
const size_t results_schema_count = sizeof(results_schemas) / sizeof(results_schemas[0]);

/* --- tables --- */

static uint64_t max_queue_bytes(const struct simulation *s, uint32_t port)
{
	const struct port *p = &s->topo.net.ports[port];

	return (uint64_t)((double)p->max_backlog_ns * 1e-9 *
			  (double)port_class(&s->topo.net, p)->rate / 8);
}

static void write_link(const struct simulation *s, uint32_t number)
{
	const struct network *net = &s->topo.net;
	const struct port *port = &net->ports[number];
	const struct link_class *link = port_class(net, port);
	struct link_place place = link_place_of(net, number);
	char from_name[32], to_name[32];
	uint64_t packets, carried;
	double seconds = seconds_of(s->sim.now), wire = simulation_carried(s, number);
	bool none = s->fluid;

	port_carried(port, &packets, &carried);
	out_table_row(
		s->links,
		(struct out_cell[]){
			{ .count = number },
			{ .text = topology_node_name(&s->topo, place.from, from_name,
						     sizeof(from_name)) },
			{ .text = topology_node_name(&s->topo, port->to, to_name,
						     sizeof(to_name)) },
			{ .text = s->topo.ops->tier_names[place.tier] },
			{ .text = place.up ? "up" : "down" },
			{ .count = link->rate },
			{ .none = none, .count = packets },
			{ .count = none ? (uint64_t)llround(wire) : carried },
			{ .real = seconds > 0 ? wire * 8 / ((double)link->rate * seconds) : 0 },
			{ .none = none, .count = net->rare[number].drops },
			{ .none = none, .count = net->rare[number].losses },
			{ .none = none, .count = net->rare[number].marks },
			{ .none = none, .count = net->rare[number].pauses },
			{ .none = none, .time = net->lossless ? lossless_paused(net, number) : 0 },
			{ .none = none, .count = max_queue_bytes(s, number) } });
}

/* Mean (p = 0) or a percentile; empty where nothing is known. */
static struct out_cell held_cell(const struct holding_times *held, double p)
{
	double value = !held   ? NAN
		       : p > 0 ? holding_times_percentile(held, p)
			       : holding_times_mean(held);

	return (struct out_cell){ .none = isnan(value), .real = isnan(value) ? 0 : value };
}

static void write_aggregators(const struct simulation *s, unsigned scheme)
{
	double seconds = seconds_of(s->sim.now);
	bool none = s->fluid; /* nothing counts packets */
	const struct collective_memory *memory;
	size_t count = scheme_ops(scheme)->memory(s->schemes[scheme], &memory);

	for (size_t i = 0; i < count; i++) {
		const struct collective_memory *m = &memory[i];
		char name[32];

		if (!m->used_max_bytes && !m->stats.packets_aggregated)
			continue;
		topology_node_name(&s->topo, s->topo.net.hosts + m->sw, name, sizeof(name));
		out_table_row(
			s->aggregators,
			(struct out_cell[]){
				{ .text = name },
				{ .text = scheme_ops(scheme)->name },
				{ .count = m->memory_bytes },
				{ .count = m->used_max_bytes },
				{ .none = none, .count = m->stats.packets_aggregated },
				{ .none = none, .count = m->stats.results },
				{ .none = none, .count = m->stats.duplicates },
				{ .none = none, .count = m->stats.repairs },
				{ .none = none, .count = m->stats.collisions },
				{ .none = none, .count = m->stats.preemptions },
				{ .none = none, .count = m->stats.fallbacks },
				{ .none = none, .count = m->stats.collisions_own },
				{ .none = none, .count = m->stats.collisions_complete },
				{ .none = none, .count = m->stats.collisions_waiting },
				{ .none = none, .count = m->stats.preemptions_tried },
				{ .none = none, .count = m->stats.partials },
				{ .none = none, .count = m->stats.collected },
				{ .none = none, .count = m->stats.late },
				{ .none = none, .count = m->stats.discarded },
				{ .none = none, .count = m->stats.overflows },
				{ .none = none || !m->held, .count = m->held ? m->held->count : 0 },
				held_cell(none ? NULL : m->held, 0),
				held_cell(none ? NULL : m->held, 0.99),
				{ .real = seconds > 0 ? collective_reserved(m, s->sim.now) /
								((double)m->memory_bytes * seconds)
						      : 0 } });
	}
}

void results_write_tables(struct simulation *s)
{
	jobs_write_unfinished(s->jobs);
	flows_write_unfinished(s->flows);
	for (uint32_t i = 0; s->links && i < s->topo.net.port_count; i++)
		write_link(s, i);
	for (unsigned i = 0; s->aggregators && i < SCHEME_COUNT; i++)
		if (s->schemes[i] && scheme_ops(i)->memory)
			write_aggregators(s, i);
}

/* --- summary.json --- */

/* What counts packets is null where there are none. */
static void json_packets(struct json *json, const struct simulation *s, const char *key,
			 uint64_t count)
{
	if (s->fluid)
		json_real(json, key, NAN);
	else
		json_u64(json, key, count);
}

enum { P999 = 1 }; /* flows also get the 99.9th percentile */

/* Sorts its values. */
static void json_distribution(struct json *json, const char *key, double *values, size_t count,
			      bool with_p999)
{
	double mean = stats_mean(values, count);

	stats_sort(values, count);
	json_open_object(json, key);
	json_real(json, "mean", mean);
	json_real(json, "p50", stats_percentile(values, count, 0.5));
	json_real(json, "p95", stats_percentile(values, count, 0.95));
	json_real(json, "p99", stats_percentile(values, count, 0.99));
	if (with_p999)
		json_real(json, "p999", stats_percentile(values, count, 0.999));
	json_real(json, "max", stats_max(values, count));
	json_close_object(json);
}

/* A copy of values (caller frees): distributions sort. */
static double *copy_of(const double *values, size_t count)
{
	double *copy = xcalloc(count, sizeof(*copy));

	if (count)
		memcpy(copy, values, count * sizeof(*copy));
	return copy;
}

static void json_copied(struct json *json, const char *key, const double *values, size_t count,
			bool with_p999)
{
	double *copy = copy_of(values, count);

	json_distribution(json, key, copy, count, with_p999);
	free(copy);
}

enum job_field { JOB_JCT, JOB_WAITING_TIME, JOB_COMPUTE, JOB_COMMUNICATION };

/* Values of one field of the finished jobs: of a group, or of all groups of one name,
 * or (both NULL) of all; caller frees. */
static double *job_values(const struct simulation *s, const struct job_group_conf *group,
			  const char *name, enum job_field field, size_t *count)
{
	size_t finished = jobs_measured(s->jobs)->finished;
	const struct job_record *records = jobs_records(s->jobs);
	double *values = xcalloc(finished, sizeof(*values));

	*count = 0;
	for (size_t i = 0; i < finished; i++) {
		const double fields[] = { [JOB_JCT] = records[i].jct,
					  [JOB_WAITING_TIME] = records[i].waiting,
					  [JOB_COMPUTE] = records[i].compute,
					  [JOB_COMMUNICATION] = records[i].communication };

		if (group ? group == records[i].group
			  : !name || !strcmp(name, records[i].group->name))
			values[(*count)++] = fields[field];
	}
	return values;
}

static void json_job_fields(struct json *json, const struct simulation *s, const char *name)
{
	static const char *const keys[] = { [JOB_JCT] = "jct_s",
					    [JOB_WAITING_TIME] = "waiting_s",
					    [JOB_COMPUTE] = "compute_s",
					    [JOB_COMMUNICATION] = "communication_s" };

	for (enum job_field f = JOB_JCT; f <= JOB_COMMUNICATION; f++) {
		size_t count;
		double *values = job_values(s, NULL, name, f, &count);

		if (f == JOB_JCT && name)
			json_u64(json, "finished", count);
		json_distribution(json, keys[f], values, count, false);
		free(values);
	}
}

static void json_jobs(struct json *json, const struct simulation *s)
{
	const struct job_group_conf *groups = scenario_jobs(s->scenario);
	const struct jobs_counts *measured = jobs_measured(s->jobs);
	size_t count, cycle_count;
	const double *durations = jobs_iterations(s->jobs, &count);
	const double *cycles = jobs_cycles(s->jobs, &cycle_count);

	json_open_object(json, "jobs");
	json_u64(json, "count", measured->count);
	json_u64(json, "finished", measured->finished);
	json_u64(json, "refused", measured->refused);
	json_u64(json, "arrived", jobs_arrived(s->jobs));
	json_job_fields(json, s, NULL);
	json_copied(json, "iteration_s", durations, count, false);
	json_copied(json, "cycle_s", cycles, cycle_count, false);
	json_open_object(json, "by_name");
	for (size_t g = 0; g < s->scenario->jobs.count; g++) {
		bool seen = false;

		for (size_t h = 0; h < g; h++)
			seen |= !strcmp(groups[g].name, groups[h].name);
		if (seen)
			continue;
		json_open_object(json, groups[g].name);
		json_job_fields(json, s, groups[g].name);
		json_close_object(json);
	}
	json_close_object(json);
	json_close_object(json);
}

static void json_flow_class(struct json *json, const struct flow_class *class, int number)
{
	json_open_object(json, NULL);
	json_u64(json, "min_bytes", flow_class_bounds[number]);
	if (number + 1 < FLOW_CLASSES)
		json_u64(json, "max_bytes", flow_class_bounds[number + 1] - 1);
	else
		json_null(json, "max_bytes");
	json_u64(json, "count", class->count);
	json_u64(json, "finished", class->finished);
	json_copied(json, "fct_s", class->fct, class->finished, P999);
	json_copied(json, "slowdown", class->slowdown, class->finished, P999);
	json_copied(json, "throughput_bps", class->throughput, class->finished, false);
	json_close_object(json);
}

static double *all_flows(const struct simulation *s, bool slowdown, size_t *count)
{
	const struct flow_class *classes = flows_classes(s->flows);
	double *values;

	*count = 0;
	for (int c = 0; c < FLOW_CLASSES; c++)
		*count += classes[c].finished;
	values = xcalloc(*count, sizeof(*values));
	for (size_t c = 0, at = 0; c < FLOW_CLASSES; at += classes[c++].finished)
		if (classes[c].finished)
			memcpy(values + at, slowdown ? classes[c].slowdown : classes[c].fct,
			       classes[c].finished * sizeof(*values));
	return values;
}

static void json_flows(struct json *json, const struct simulation *s)
{
	const struct flow_class *classes = flows_classes(s->flows);
	uint64_t measured = 0;
	size_t count;
	double *values = all_flows(s, false, &count);

	for (int c = 0; c < FLOW_CLASSES; c++)
		measured += classes[c].count;
	json_open_object(json, "flows");
	json_u64(json, "count", measured);
	json_u64(json, "finished", count);
	json_u64(json, "started", flows_started(s->flows));
	json_distribution(json, "fct_s", values, count, P999);
	free(values);
	values = all_flows(s, true, &count);
	json_distribution(json, "slowdown", values, count, P999);
	free(values);
	json_open_array(json, "by_size");
	for (int c = 0; c < FLOW_CLASSES; c++)
		json_flow_class(json, &classes[c], c);
	json_close_array(json);
	fairness_flows(json, s);
	json_close_object(json);
}

static void json_network(struct json *json, const struct simulation *s)
{
	const struct network *net = &s->topo.net;
	uint64_t marks = 0, pauses = 0, max_queue = 0;

	for (uint32_t i = 0; i < net->port_count; i++) {
		marks += net->rare[i].marks;
		pauses += net->rare[i].pauses;
		if (max_queue_bytes(s, i) > max_queue)
			max_queue = max_queue_bytes(s, i);
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

/* What switches count (in their memories) and what workers count (in the jobs)
 * are different things: adding both counts nothing twice. */
static void sum_memories(const struct simulation *s, struct collective_stats *sum,
			 double *reserved_max, double *utilization)
{
	uint64_t whole = 0, used = 0;
	double byte_s = 0, seconds = seconds_of(s->sim.now);

	for (unsigned i = 0; i < SCHEME_COUNT; i++) {
		const struct collective_memory *memory;
		size_t count = s->schemes[i] && scheme_ops(i)->memory
				       ? scheme_ops(i)->memory(s->schemes[i], &memory)
				       : 0;

		for (size_t m = 0; m < count; m++) {
			collective_stats_add(sum, &memory[m].stats);
			whole += memory[m].used_max_bytes ? memory[m].memory_bytes : 0;
			used += memory[m].used_max_bytes;
			byte_s += collective_reserved(&memory[m], s->sim.now);
		}
	}
	*reserved_max = whole ? (double)used / (double)whole : 0;
	*utilization = whole && seconds > 0 ? byte_s / ((double)whole * seconds) : 0;
}

static void json_held(struct json *json, const struct simulation *s)
{
	struct holding_times *all = xcalloc(1, sizeof(*all));

	for (unsigned i = 0; i < SCHEME_COUNT; i++) {
		const struct collective_memory *memory;
		size_t count = s->schemes[i] && scheme_ops(i)->memory
				       ? scheme_ops(i)->memory(s->schemes[i], &memory)
				       : 0;

		for (size_t m = 0; m < count; m++)
			if (memory[m].held)
				holding_times_merge(all, memory[m].held);
	}
	json_packets(json, s, "held_count", all->count);
	json_real(json, "held_mean_s", holding_times_mean(all));
	json_real(json, "held_p99_s", holding_times_percentile(all, 0.99));
	free(all);
}

static double throughput_share(const struct simulation *s)
{
	const struct job_record *records = jobs_records(s->jobs);
	size_t count = 0;
	double sum = 0;

	for (size_t i = 0; i < jobs_measured(s->jobs)->finished; i++) {
		if (isnan(records[i].throughput_share))
			continue; /* one worker: nothing is exchanged */
		sum += records[i].throughput_share;
		count++;
	}
	return count ? sum / (double)count : NAN;
}

static void json_aggregation(struct json *json, const struct simulation *s)
{
	struct collective_stats sum = { 0 };
	double reserved_max, utilization;

	jobs_stats(s->jobs, &sum);
	sum_memories(s, &sum, &reserved_max, &utilization);
	json_open_object(json, "aggregation");
	json_packets(json, s, "packets_aggregated", sum.packets_aggregated);
	json_packets(json, s, "results", sum.results);
	json_packets(json, s, "duplicates", sum.duplicates);
	json_packets(json, s, "repairs", sum.repairs);
	json_packets(json, s, "collisions", sum.collisions);
	json_packets(json, s, "preemptions", sum.preemptions);
	json_packets(json, s, "fallbacks", sum.fallbacks);
	json_packets(json, s, "collisions_own", sum.collisions_own);
	json_packets(json, s, "collisions_complete", sum.collisions_complete);
	json_packets(json, s, "collisions_waiting", sum.collisions_waiting);
	json_packets(json, s, "preemptions_tried", sum.preemptions_tried);
	json_packets(json, s, "partials", sum.partials);
	json_packets(json, s, "collected", sum.collected);
	json_packets(json, s, "late", sum.late);
	json_packets(json, s, "discarded", sum.discarded);
	json_packets(json, s, "overflows", sum.overflows);
	json_packets(json, s, "reminders", sum.reminders);
	json_packets(json, s, "server_packets", sum.server_packets);
	json_packets(json, s, "server_bytes", sum.server_bytes);
	json_held(json, s);
	json_real(json, "throughput_share", throughput_share(s));
	json_packets(json, s, "retransmissions", sum.retransmissions);
	json_packets(json, s, "timeouts", sum.timeouts);
	json_real(json, "memory_reserved_max", reserved_max);
	json_real(json, "memory_utilization", utilization);
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
	json_load(&json, s);
	json_jobs(&json, s);
	json_flows(&json, s);
	json_network(&json, s);
	json_aggregation(&json, s);
	json_checks(&json, s);
	json_close_object(&json);
	return json_finish(&json);
}

/* --- the terminal --- */

static void print_number(FILE *to, int width, double value, double scale)
{
	if (isnan(value))
		fprintf(to, " %*s", width, "-");
	else
		fprintf(to, " %*.3f", width, value * scale);
}

static void print_jobs(const struct simulation *s, FILE *to)
{
	const struct job_group_conf *groups = scenario_jobs(s->scenario);

	fprintf(to, "\n%-16s %-12s %8s %10s %10s %12s %12s %14s\n", "jobs", "scheme", "finished",
		"JCT mean", "JCT max", "waiting", "compute", "communication");
	for (size_t g = 0; g < s->scenario->jobs.count; g++) {
		size_t count;

		if (!groups[g].enabled)
			continue;
		fprintf(to, "%-16s %-12s", groups[g].name,
			scheme_ops((unsigned)groups[g].all_reduce)->name);
		for (enum job_field f = JOB_JCT; f <= JOB_COMMUNICATION; f++) {
			double *values = job_values(s, &groups[g], NULL, f, &count);

			stats_sort(values, count);
			if (f == JOB_JCT) {
				fprintf(to, " %8zu", count);
				print_number(to, 8, stats_mean(values, count), 1e3);
				fputs("ms", to);
				print_number(to, 8, stats_max(values, count), 1e3);
				fputs("ms", to);
			} else {
				print_number(to, f == JOB_COMMUNICATION ? 12 : 10,
					     stats_mean(values, count), 1e3);
				fputs("ms", to);
			}
			free(values);
		}
		fputc('\n', to);
	}
}

static void print_flows(const struct simulation *s, FILE *to)
{
	static const char *const names[FLOW_CLASSES] = { "< 10 kB", "10-100 kB", "100 kB - 1 MB",
							 "1-10 MB", ">= 10 MB" };
	const struct flow_class *classes = flows_classes(s->flows);

	fprintf(to, "\n%-16s %8s %8s %12s %12s %10s %10s\n", "flows", "count", "finished",
		"FCT mean", "FCT p99", "slowdown", "p99");
	for (int c = 0; c < FLOW_CLASSES; c++) {
		size_t n = classes[c].finished;
		double *fct, *slowdown;

		if (!classes[c].count)
			continue;
		fct = copy_of(classes[c].fct, n);
		slowdown = copy_of(classes[c].slowdown, n);
		stats_sort(fct, n);
		stats_sort(slowdown, n);
		fprintf(to, "%-16s %8" PRIu64 " %8zu", names[c], classes[c].count, n);
		print_number(to, 10, stats_mean(fct, n), 1e3);
		fputs("ms", to);
		print_number(to, 10, stats_percentile(fct, n, 0.99), 1e3);
		fputs("ms", to);
		print_number(to, 10, stats_mean(slowdown, n), 1);
		print_number(to, 10, stats_percentile(slowdown, n, 0.99), 1);
		fputc('\n', to);
		free(fct);
		free(slowdown);
	}
}

/* What the means above leave out. */
static void print_left_out(const struct simulation *s, FILE *to)
{
	const struct jobs_counts *jobs = jobs_measured(s->jobs);
	size_t open = jobs->count - jobs->finished - jobs->refused;
	uint64_t measured = 0;

	for (int c = 0; c < FLOW_CLASSES; c++)
		measured += flows_classes(s->flows)[c].count;
	if (jobs_arrived(s->jobs) > jobs->count || flows_started(s->flows) > measured)
		fprintf(to, "measured: %zu of %zu jobs, %" PRIu64 " of %" PRIu64 " flows\n",
			jobs->count, jobs_arrived(s->jobs), measured, flows_started(s->flows));
	if (open || flows_measured_open(s->flows))
		fprintf(to, "unfinished, and in no mean: %zu jobs, %" PRIu64 " flows\n", open,
			flows_measured_open(s->flows));
}

static void print_load(const struct simulation *s, FILE *to)
{
	struct offered offered = scenario_offered(s->scenario);

	if (offered.flows > 0)
		fprintf(to, "offered load: flows %.4g of hosts x link rate\n", offered.flows);
	if (offered.jobs_ring > 0)
		fprintf(to, "offered load: jobs %.4g by ring, %.4g by their own schemes\n",
			offered.jobs_ring, offered.jobs_own);
}

void results_print_summary(const struct simulation *s, FILE *to)
{
	const struct network *net = &s->topo.net;

	fprintf(to, "%s: %s after %.6f s of simulated time\n", s->scenario->name,
		end_reason_names[s->end], seconds_of(s->sim.now));
	if (jobs_count(s->jobs))
		print_jobs(s, to);
	if (jobs_refused(s->jobs))
		fprintf(to, "refused by their schemes: %zu of %zu jobs\n", jobs_refused(s->jobs),
			jobs_count(s->jobs));
	if (flows_started(s->flows))
		print_flows(s, to);
	print_left_out(s, to);
	print_load(s, to);
	if (s->fluid) {
		fprintf(to, "\n%s fidelity: %s\ndigest %016" PRIx64 ", %.2f CPU s, %.0f MB\n",
			fidelity_names[s->scenario->fidelity],
			s->scenario->fidelity == FIDELITY_FLUID
				? "streams that share links, no packets"
				: "every job and flow as if it were alone",
			simulation_digest(s), s->cpu_s, (double)peak_rss_bytes() / 1e6);
		return;
	}
	fprintf(to,
		"\nnetwork: %" PRIu64 " packet-hops, %" PRIu64 " drops, %" PRIu64
		" losses; exactly-once: %" PRIu64 " sums checked, %" PRIu64 " wrong\n",
		net->hops, net->dropped, net->lost, s->checks.exact_checked,
		s->checks.exact_violations);
	fprintf(to, "digest %016" PRIx64 ", %.2f CPU s, %.1f M packet-hops per CPU s, %.0f MB\n",
		simulation_digest(s), s->cpu_s,
		s->cpu_s > 0 ? (double)net->hops / s->cpu_s / 1e6 : 0,
		(double)peak_rss_bytes() / 1e6);
}
