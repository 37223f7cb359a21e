/* Computes the metrics that have one value per run. */
#include "run/results_parts.h"

#include "base/mem.h"

#include <math.h>

static void fill_load(struct run_values *v, const struct simulation *s)
{
	struct offered offered = scenario_offered(s->scenario);

	v->load.flows = offered.flows;
	v->load.jobs_ring = offered.jobs_ring;
	v->load.jobs_own = offered.jobs_own;
}

static void fill_work(struct run_values *v, const struct simulation *s)
{
	const struct jobs_report *jobs = jobs_report(s->jobs);
	size_t class_count;
	const struct flow_class *classes = flows_classes(s->flows, &class_count);

	v->jobs.count = (double)jobs->measured.count;
	v->jobs.finished = (double)jobs->measured.finished;
	v->jobs.refused = (double)jobs->measured.refused;
	v->jobs.arrived = (double)jobs->arrived;
	v->jobs.estimated = (double)jobs->estimated;
	v->jobs.substituted = (double)jobs->substituted;
	for (size_t c = 0; c < class_count; c++) {
		v->flows.count += (double)classes[c].count;
		v->flows.finished += (double)classes[c].finished;
	}
	v->flows.started = (double)flows_started(s->flows);
	v->flows.timeouts = (double)flows_timeouts(s->flows);
}

static void fill_network(struct run_values *v, const struct simulation *s)
{
	const struct network *net = &s->topo.net;

	v->network.packets_created = (double)net->created;
	v->network.packets_delivered = (double)net->delivered;
	v->network.packets_absorbed = (double)net->absorbed;
	v->network.packets_in_flight = (double)network_in_flight(net);
	v->network.drops = (double)net->dropped;
	v->network.losses = (double)net->lost;
	for (uint32_t i = 0; i < net->port_count; i++) {
		v->network.ecn_marks += (double)net->cold[i].marks;
		v->network.pauses += (double)net->cold[i].pauses;
		v->network.max_queue_bytes =
			fmax(v->network.max_queue_bytes, (double)results_max_queue(s, i));
	}
}

/* The mean over jobs that have this metric; a job of one worker exchanges nothing and has none. */
static double throughput_share(const struct simulation *s)
{
	const struct job_record *records = jobs_report(s->jobs)->records;
	size_t count = 0;
	double sum = 0;

	for (size_t i = 0; i < jobs_report(s->jobs)->measured.finished; i++) {
		if (isnan(records[i].throughput_share))
			continue;
		sum += records[i].throughput_share;
		count++;
	}
	return count ? sum / (double)count : NAN;
}

/* Adds the counters of switches (in their memories) and of workers (in their jobs). These count
 * different events, so nothing counts twice. */
static void fill_aggregation(struct run_values *v, const struct simulation *s)
{
	struct collective_stats stats = { 0 };
	struct holding_times held = { 0 };
	uint64_t whole = 0; /* bytes of the memories that were used at all */
	uint64_t used = 0;  /* the most that was reserved of them */
	byte_time used_time = 0;

	for (unsigned i = 0; scheme_ops(i); i++) {
		const struct collective_memory *memory;
		size_t count = simulation_memory(s, i, &memory);

		for (size_t m = 0; m < count; m++) {
			collective_stats_add(&stats, &memory[m].stats);
			whole += memory[m].used_max_bytes ? memory[m].memory_bytes : 0;
			used += memory[m].used_max_bytes;
			used_time += collective_reserved(&memory[m], s->sim.now);
			if (memory[m].held)
				holding_times_merge(&held, memory[m].held);
		}
	}
	jobs_stats(s->jobs, &stats);
#define COUNTER(member, help) v->aggregation.member = (double)stats.member;
	SWITCH_COUNTERS(COUNTER)
	HOST_COUNTERS(COUNTER)
#undef COUNTER
	v->aggregation.held_count = (double)held.count;
	v->aggregation.held_mean_s = holding_times_mean(&held);
	v->aggregation.held_p99_s = holding_times_percentile(&held, 0.99);
	v->aggregation.throughput_share = throughput_share(s);
	v->aggregation.memory_reserved_max = whole ? (double)used / (double)whole : 0;
	v->aggregation.memory_utilization = collective_utilization(used_time, whole, s->sim.now);
}

/* For a run without packets: sets each metric that counts packets to NaN. */
static void forget_packets(struct run_values *v)
{
	v->packet_hops = v->packet_hops_per_cpu_s = v->flows.timeouts = NAN;
#define FORGET(name, ...) v->network.name = NAN;
	NETWORK_METRICS(FORGET)
#undef FORGET
#define FORGET(name, ...) v->aggregation.name = NAN;
	SWITCH_COUNTERS(FORGET)
	HOST_COUNTERS(FORGET)
#undef FORGET
	v->aggregation.held_count = NAN;
}

struct run_values results_values(const struct simulation *s)
{
	struct run_values v = {
		.sim_time_s = seconds_of(s->sim.now),
		.events = (double)simulation_events(s),
		.packet_hops = (double)s->topo.net.hops,
		.cpu_s = s->cpu_s,
		.packet_hops_per_cpu_s = s->cpu_s > 0 ? (double)s->topo.net.hops / s->cpu_s : NAN,
		.peak_rss_bytes = (double)peak_rss_bytes(),
	};

	fill_load(&v, s);
	fill_work(&v, s);
	fill_network(&v, s);
	fill_aggregation(&v, s);
	if (s->fluid)
		forget_packets(&v);
	return v;
}
