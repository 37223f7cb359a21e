/* Checks that need more than one key, or a file; rows check each key alone. Reads every file that a
 * scenario names, so `inasim check` finds all mistakes that would stop `inasim run`. Reports all of
 * them; only a wrong topology ends the checks, because the others need to know the hosts. */
#include "scenario/scenario.h"

#include "collective/machine.h"
#include "collective/machine_ready.h"
#include "scenario/graph_conf.h"
#include "scenario/machine_links.h"
#include "scenario/topology_conf.h"
#include "topo/links.h"
#include "transport/cc/dcqcn.h"
#include "workload/flows/flows.h"
#include "workload/flows/sizes.h"
#include "workload/jobs/jobs.h"

#include <inttypes.h>
#include <stdlib.h>

/* Most bytes of gradients of a model: derived numbers stay exact in a double, and below 2^63. */
#define GRADIENT_MAX ((double)(UINT64_C(1) << 50))

/* Most flows that may start at the same time: each takes about a kilobyte of memory. */
#define TOGETHER_MAX 10000000

/* The shortest mean gap between flows, in seconds. Each gap is rounded up to whole picoseconds
 * (rng_after()), so with this mean the load is 0.5 % too small. */
#define GAP_LEAST_S 1e-10

/* The context of the checks of groups of flows and jobs. */
struct looking {
	struct scenario *scenario;
	struct conf_doc *doc;
	uint32_t hosts, machines;
	uint32_t pool; /* machines reserved for parameter servers */
};

/* --- the run --- */

static void check_stop(const struct scenario *scenario, struct conf_doc *doc)
{
	const struct stop_conf *stop = &scenario->stop;

	if (!scenario->jobs.count && !scenario->flows.count && stop->when != STOP_TIME)
		conf_error(doc, "", "there is nothing to simulate: give \"jobs\" or \"flows\"");
	else if ((scenario->jobs.count || scenario->flows.count) && !scenario_has_jobs(scenario) &&
		 !scenario_has_flows(scenario))
		conf_error(doc, "", "there is nothing to simulate: no group is enabled");
	else if (stop->when == STOP_JOBS_DONE && !scenario_has_jobs(scenario))
		conf_error(doc, "/stop/when", "jobs_done needs \"jobs\"%s",
			   scenario->jobs.count ? " that are enabled" : "");
	else if (stop->when == STOP_FLOWS_DONE && !scenario_has_flows(scenario))
		conf_error(doc, "/stop/when", "flows_done needs \"flows\"%s",
			   scenario->flows.count ? " that are enabled" : "");
	if (stop->warmup >= stop->after)
		conf_error(doc, "/stop/warmup",
			   "the warm-up of %g s is not shorter than the run of %g s (\"after\")",
			   seconds_of(stop->warmup), seconds_of(stop->after));
	if (stop->window && stop->warmup < stop->after && stop->window > stop->after - stop->warmup)
		conf_error(doc, "/stop/window",
			   "a window of %g s after a warm-up of %g s is longer than the run of %g "
			   "s (\"after\")",
			   seconds_of(stop->window), seconds_of(stop->warmup),
			   seconds_of(stop->after));
	if (stop->when == STOP_MEASURED_DONE && !stop->window)
		conf_error(doc, "/stop/when", "measured_done needs a \"window\"");
	if (scenario->series.every > stop->after)
		conf_error(doc, "/output/series/every",
			   "the run ends after %g s, before the first sample",
			   seconds_of(stop->after));
}

/* An estimate (job_estimate.c) assumes that later iterations are like the first ones. This holds
 * only for a job that is alone in the network. */
static void check_estimate(const struct scenario *scenario, struct conf_doc *doc)
{
	const char *place = "/stop/estimate";
	size_t groups = 0;
	bool several = false;

	if (!scenario->stop.estimate)
		return;
	for_enabled_jobs(group, scenario)
		several |= groups++ > 0 || group->count > 1 || group->arrival.form != JOBS_AT;
	if (scenario_has_flows(scenario))
		conf_error(doc, place,
			   "needs a job that runs alone: beside flows no two iterations are alike");
	else if (several)
		conf_error(doc, place,
			   "needs a job that runs alone: several jobs drift against each other for "
			   "an unknown time");
	if (scenario->failures.events.count)
		conf_error(doc, place,
			   "needs a network in which nothing fails: after a failure iterations "
			   "would differ");
	if (scenario->stop.when != STOP_ALL_DONE && scenario->stop.when != STOP_JOBS_DONE)
		conf_error(doc, place,
			   "needs a run that ends with its job: \"when\" must be all_done or "
			   "jobs_done");
}

static void check_flow_classes(const struct scenario *scenario, struct conf_doc *doc)
{
	const bytes *borders = scenario->flow_borders.items;

	for (size_t i = 1; i < scenario->flow_borders.count; i++)
		if (borders[i] <= borders[i - 1])
			conf_error(doc, conf_at(doc, "/output/flow_classes/%zu", i),
				   "must be more than the previous border");
}

static void check_series(const struct scenario *scenario, struct conf_doc *doc)
{
	const struct topology_conf *topology = &scenario->topology;
	const struct series_links *links = scenario->series.links.items;
	const struct topology_ops *ops = topology_ops_of(topology);
	uint32_t count = links_count(topology);

	if (!scenario->series.every && (scenario->series.links.count || scenario->series.flows))
		conf_error(doc, "/output/series", "needs \"every\", the interval of the samples");
	if (scenario->series.flows && !scenario_has_flows(scenario))
		conf_error(doc, "/output/series/flows", "there are no flows to sample");
	for (size_t i = 0; i < scenario->series.links.count; i++) {
		const char *where = conf_at(doc, "/output/series/links/%zu", i);
		struct link_place place;

		if (links[i].form == SERIES_LINK && links[i].number >= (int64_t)count)
			conf_error(doc, where,
				   "there is no link %" PRId64 "; links are 0 to %" PRIu32,
				   links[i].number, count - 1);
		if (links[i].form == SERIES_TIER && !links_parse(links[i].tier, topology, &place))
			conf_error(doc, where,
				   "no links \"%s\"; write TIER/up or TIER/down, or a number; the "
				   "tiers are from \"%s\" to \"%s\"",
				   links[i].tier, ops->tier_names[0],
				   ops->tier_names[topology_tiers(topology) - 1]);
	}
}

/* Refuses a frame that is larger than a queue, which would always drop it, or larger than the
 * headroom of PAUSE allows. */
static void check_frame(const struct scenario *scenario, const char *pointer, bytes frame,
			struct conf_doc *doc)
{
	const struct topology_conf *topology = &scenario->topology;
	uint32_t mtu = topology_pause(topology, false).mtu;

	if (mtu && frame > mtu)
		conf_error(doc, pointer,
			   "a frame of %" PRIu64 " bytes is longer than the largest frame for "
			   "which PAUSE has headroom, %" PRIu32 " bytes (\"mtu\" of \"pause\")",
			   frame, mtu);
	if (frame > topology_buffer(topology, false))
		conf_error(doc, pointer,
			   "a frame of %" PRIu64
			   " bytes does not fit into a switch buffer of %" PRIu64 " bytes",
			   frame, topology_buffer(topology, false));
	if (topology->host.queue && frame > topology->host.queue)
		conf_error(doc, pointer,
			   "a frame of %" PRIu64 " bytes does not fit into a NIC queue of %" PRIu64
			   " bytes",
			   frame, topology->host.queue);
}

static void check_priority(const struct scenario *scenario, const char *place, int64_t priority,
			   struct conf_doc *doc)
{
	const struct topology_conf *topology = &scenario->topology;

	if (priority && topology->scheduler == SCHEDULER_FIFO)
		conf_error(doc, place, "needs a \"scheduler\" of topology, strict or weighted");
	if (topology->scheduler == SCHEDULER_WEIGHTED && priority >= topology->weight_count)
		conf_error(doc, place, "has no weight: \"weights\" of topology are for 0 to %u",
			   topology->weight_count - 1);
}

/* Takes the weights over to the topology. */
static void check_scheduler(struct scenario *scenario, struct conf_doc *doc)
{
	static const char *const place = "/topology/scheduler";
	struct topology_conf *topology = &scenario->topology;
	const struct flow_group_conf *flows = scenario->flows.items;
	const int64_t *weights = scenario->weights.items;

	topology->weight_count = (unsigned)scenario->weights.count;
	for (unsigned i = 0; i < topology->weight_count; i++)
		topology->weights[i] = (uint32_t)weights[i];
	if ((topology->scheduler == SCHEDULER_WEIGHTED) != (topology->weight_count > 0)) {
		conf_error(doc, "/topology/weights", "belong to \"scheduler\": \"weighted\"");
		return;
	}
	for_enabled_jobs(group, scenario)
		check_priority(scenario, conf_at(doc, "/jobs/%zu/priority", group->origin),
			       group->priority, doc);
	for (size_t i = 0; i < scenario->flows.count; i++)
		check_priority(scenario, conf_at(doc, "/flows/%zu/priority", i), flows[i].priority,
			       doc);
	if (topology->scheduler == SCHEDULER_FIFO)
		return;
	if (topology->classes != CLASSES_SINGLE)
		conf_error(doc, place, "and \"classes\": \"control-first\" exclude each other");
	if (topology->switches.ways != WAYS_SENDER)
		conf_error(doc, place, "and \"ways\": \"shortest\" exclude each other");
	if (topology_pause(topology, false).on)
		conf_error(doc, place, "is not for networks with PAUSE: it has one class");
	if (topology->fails)
		conf_error(doc, place, "is not for networks that fail");
	if (scenario->fidelity != FIDELITY_PACKET)
		conf_error(doc, place, "needs packet fidelity: streams have no order");
}

/* Switches that choose the ports of packets put them out of order. */
static void check_ways(const struct scenario *scenario, struct conf_doc *doc)
{
	static const char *const place = "/topology/switch/ways";
	const struct topology_conf *topology = &scenario->topology;

	if (topology->switches.ways == WAYS_SENDER)
		return;
	if (topology->graph)
		conf_error(doc, place, "shortest is not for graphs: their paths differ");
	else if (topology_uplink_rate(topology) < topology_host_rate(topology))
		conf_error(doc, place,
			   "shortest needs links between switches that are as fast as those of "
			   "hosts");
	if (scenario->tcp.recovery == TCP_NEWRENO)
		conf_error(
			doc, place,
			"shortest needs \"recovery\" sack or rack of tcp: to newreno, packets out "
			"of order are losses");
	if (scenario_uses_roce(scenario, false))
		conf_error(doc, place,
			   "shortest is not for RoCE: to it, packets out of order are losses");
	if (topology_pause(topology, false).on)
		conf_error(doc, place, "shortest is not for networks with PAUSE");
	if (topology->fails)
		conf_error(doc, place, "shortest is not for networks that fail");
	if (scenario->fidelity != FIDELITY_PACKET)
		conf_error(doc, place, "shortest needs packet fidelity");
}

static void check_trim(const struct topology_conf *topology, struct conf_doc *doc)
{
	static const char *const place = "/topology/switch/trim";

	if (!topology->switches.trim)
		return;
	if (topology->classes != CLASSES_CONTROL_FIRST)
		conf_error(doc, place, "needs \"classes\": \"control-first\" of topology");
	if (topology_pause(topology, false).on)
		conf_error(doc, place, "is not for networks with PAUSE: no queue is too long");
	if (topology->switches.shared.size)
		conf_error(doc, place, "is not for a shared buffer");
}

struct spraying {
	const char *transport;
	int kind;
	int64_t paths;
	const char *lacks; /* NULL: its recovery may spray */
};

/* A flow's ideal is that of one path, so no path may be the narrower part of a sprayed way. */
static void check_spray(const struct topology_conf *topology, const struct spraying *spraying,
			struct conf_doc *doc)
{
	const char *at = conf_at(doc, "/%s/spray", spraying->transport);

	if (spraying->paths & (spraying->paths - 1))
		conf_error(doc, conf_at(doc, "/%s/paths", spraying->transport),
			   "is no power of two");
	if (!spraying->kind)
		return;
	if (spraying->lacks)
		conf_error(doc, at, "%s", spraying->lacks);
	if (topology->graph)
		conf_error(doc, at, "is not for graphs: their paths differ");
	else if (topology_uplink_rate(topology) < topology_host_rate(topology))
		conf_error(doc, at,
			   "needs links between switches that are as fast as those of hosts");
}

static void check_sprays(const struct scenario *scenario, struct conf_doc *doc)
{
	const struct tcp_conf *tcp = &scenario->tcp;
	const struct roce_conf *roce = &scenario->roce;
	const struct spraying of_tcp = {
		"tcp", tcp->spray, tcp->paths,
		tcp->recovery == TCP_NEWRENO
			? "needs \"recovery\" sack or rack: to newreno, packets out of order are "
			  "losses"
			: NULL
	};
	const struct spraying of_roce = {
		"roce", roce->spray, roce->paths,
		roce->recovery == ROCE_GO_BACK_N
			? "needs \"recovery\": \"selective\": to go_back_n, packets out of order "
			  "are losses"
			: NULL
	};

	check_spray(&scenario->topology, &of_tcp, doc);
	check_spray(&scenario->topology, &of_roce, doc);
}

/* What only selective repeat has. */
static void check_selective(const struct scenario *scenario, const char *pointer,
			    struct conf_doc *doc)
{
	static const char *const keys[] = { "rto_low", "reorder" };
	const struct roce_conf *roce = &scenario->roce;
	const struct transport *transport;

	for (unsigned i = 0; (transport = transport_kind(i)); i++)
		if (transport->cc->selective && roce->recovery != ROCE_SELECTIVE &&
		    scenario_uses_transport(scenario, transport))
			conf_error(doc, conf_at(doc, "%s/recovery", pointer),
				   "%s needs \"selective\": it counts what is on its way",
				   transport_names[i]);
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		const char *at = conf_at(doc, "%s/%s", pointer, keys[i]);

		if (roce->recovery == ROCE_GO_BACK_N && conf_given(doc, at))
			conf_error(doc, at, "needs \"recovery\": \"selective\"");
	}
}

/* The header of telemetry that the used control adds, and its transport. 0: none does. */
static bytes telemetry_of(const struct scenario *scenario, const char **name)
{
	const struct transport *transport;

	for (unsigned i = 0; (transport = transport_kind(i)); i++) {
		struct cc cc = { 0 };

		*name = transport_names[i];
		if (!transport->cc->telemetry || !scenario_uses_transport(scenario, transport))
			continue;
		cc.conf = scenario->roce.control[cc_index(&roce_cc_table, transport->cc)];
		return transport->cc->telemetry(&cc);
	}
	return 0;
}

/* Refuses what packets with telemetry cannot do. */
static void check_telemetry(const struct scenario *scenario, struct conf_doc *doc)
{
	const struct topology_conf *topology = &scenario->topology;
	const char *name;

	if (!telemetry_of(scenario, &name))
		return;
	if (scenario->roce.spray)
		conf_error(doc, "/roce/spray", "is not for %s, which compares packets of one path",
			   name);
	if (topology->graph && (topology_longest(topology) > ROUTE_MAX || topology->fails))
		conf_error(doc, "/topology",
			   "%s has room for the telemetry of %d switches, and paths%s longer", name,
			   ROUTE_MAX, topology->fails ? " around failures may be" : " are");
}

static void check_segment(const struct scenario *scenario, struct conf_doc *doc)
{
	const struct roce_conf *roce = &scenario->roce;
	const char *name;
	bytes telemetry = telemetry_of(scenario, &name);

	check_sprays(scenario, doc);
	check_selective(scenario, "/roce", doc);
	check_frame(scenario, "/tcp/mss", (bytes)scenario->tcp.mss + TCP_OVERHEAD, doc);
	if (scenario->tcp.max_window && scenario->tcp.max_window < (bytes)scenario->tcp.mss)
		conf_error(doc, "/tcp/max_window",
			   "is smaller than a segment of %" PRId64 " bytes (\"mss\")",
			   scenario->tcp.mss);
	if (scenario_uses_roce(scenario, false))
		check_frame(scenario, "/roce/mtu",
			    (bytes)(roce->mtu + roce->header + roce->write_header) + telemetry,
			    doc);
	if (roce->window && roce->window < (bytes)roce->mtu)
		conf_error(doc, "/roce/window",
			   "is smaller than a packet of %" PRId64 " bytes (\"mtu\")", roce->mtu);
}

/* Refuses parameters that the chosen variant of DCQCN does not have. */
static void check_dcqcn(const struct scenario *scenario, struct conf_doc *doc)
{
	const struct dcqcn_conf *conf = scenario->roce.control[cc_index(&roce_cc_table, &dcqcn_cc)];

	if (conf->set == DCQCN_SIGCOMM15 && conf->cut_interval)
		conf_error(
			doc, "/roce/control/dcqcn/cut_interval",
			"sigcomm15 cuts at each CNP; only hpcc_paper and hpcc look at intervals");
	if (conf->set != DCQCN_SIGCOMM15 && conf->byte_counter)
		conf_error(
			doc, "/roce/control/dcqcn/byte_counter",
			"hpcc_paper and hpcc increase by time alone; only sigcomm15 counts bytes");
}

static void check_start(const struct looking *look, const char *pointer, sim_time at)
{
	sim_time after = look->scenario->stop.after;

	if (at >= after)
		conf_error(look->doc, conf_at(look->doc, "%s/arrival/at", pointer),
			   "%g s is not before the end of the run, %g s (\"stop\": \"after\")",
			   seconds_of(at), seconds_of(after));
}

static void check_gap(const struct looking *look, const char *where, double gap_s)
{
	double after_s = seconds_of(look->scenario->stop.after);

	if (gap_s > after_s)
		conf_error(look->doc, where,
			   "one every %g s on average, but the run ends after %g s (\"stop\": "
			   "\"after\")",
			   gap_s, after_s);
}

/* --- flows --- */

static void check_poisson(const struct looking *look, const struct flow_group_conf *group,
			  const char *pointer)
{
	double mean = group->sizes ? sizes_mean(group->sizes) : 0;
	double load_bps = group->arrival.load *
			  (double)topology_host_rate(&look->scenario->topology) * look->hosts;
	double gap_s = 8 * mean / load_bps;
	const char *where = conf_at(look->doc, "%s/arrival/poisson_load", pointer);

	if (group->arrival.load <= 0 || group->size.form == SIZE_ENDLESS)
		return;
	check_gap(look, where, gap_s);
	if (mean > 0 && gap_s < GAP_LEAST_S)
		conf_error(look->doc, where,
			   "a flow every %g s on average is too often for the resolution of "
			   "arrival times; at least %g s apart",
			   gap_s, GAP_LEAST_S);
}

static void check_together(const struct looking *look, const struct flow_group_conf *group,
			   const char *pointer)
{
	check_start(look, pointer, group->arrival.at);
	if (group->count > TOGETHER_MAX)
		conf_error(look->doc, conf_at(look->doc, "%s/count", pointer),
			   "%" PRId64 " flows cannot start at the same time; at most %" PRId64
			   ", or \"arrival\": {\"poisson_load\": ...}",
			   group->count, (int64_t)TOGETHER_MAX);
}

static void check_flow_group(const struct looking *look, size_t number, bool bounded)
{
	struct flow_group_conf *group =
		&((struct flow_group_conf *)look->scenario->flows.items)[number];
	const char *pointer = conf_at(look->doc, "/flows/%zu", number);

	flow_group_check(group, look->doc, pointer, look->hosts, bounded);
	if (group->enabled && group->stop == FLOWS_STOP_WITH_JOBS &&
	    !scenario_has_jobs(look->scenario))
		conf_error(look->doc, conf_at(look->doc, "%s/stop", pointer),
			   "jobs_done needs \"jobs\"%s",
			   look->scenario->jobs.count ? " that are enabled" : "");
	flow_group_load(group, look->doc, pointer, look->hosts, look->scenario->topology.graph);
	switch ((enum arrival_form)group->arrival.form) {
	case ARRIVE_AT:
		check_together(look, group, pointer);
		return;
	case ARRIVE_POISSON:
		check_poisson(look, group, pointer);
		return;
	case ARRIVE_TRACE:
		return;
	}
}

/* Whether flows of a group end: all of them, or some of a trace. */
static bool some_end(const struct flow_group_conf *group)
{
	const struct flow_trace *trace = group->recorded;
	bool ends = group->arrival.form != ARRIVE_TRACE && group->size.form != SIZE_ENDLESS;

	for (size_t i = 0; trace && !ends && i < trace->count; i++)
		ends = trace->flows[i].size != FLOW_ENDLESS;
	return ends || (group->arrival.form == ARRIVE_TRACE && !trace); /* a mistake of its own */
}

/* Nothing waits for endless flows, so something else ends the run. */
static void check_endless(const struct looking *look)
{
	enum stop_when when = (enum stop_when)look->scenario->stop.when;
	bool ends = when != STOP_ALL_DONE && when != STOP_FLOWS_DONE;

	ends |= when == STOP_ALL_DONE && scenario_has_jobs(look->scenario);
	if (!scenario_has_flows(look->scenario))
		return;
	for_enabled_flows(group, look->scenario)
		ends |= some_end(group);
	if (!ends)
		conf_error(look->doc, "/stop/when",
			   "nothing ends a run of endless flows alone; allowed: \"time\"");
}

/* --- jobs --- */

/* The bytes that a model sends, and its computing time, in an iteration. */
struct model_size {
	double gradient_bytes, token_bytes, compute_s;
};

static struct model_size size_of(const struct dnn *dnn)
{
	struct model_size size = { 0 };

	/* floating point, because integers could overflow before the check */
	for (size_t l = 0; l < dnn->layer_count; l++) {
		size.gradient_bytes += (double)dnn->layers[l].gradient;
		size.token_bytes += (double)dnn->layers[l].all_to_all;
		size.compute_s +=
			seconds_of(dnn->layers[l].forward) + seconds_of(dnn->layers[l].backward);
	}
	return size;
}

/* The number of iterations of a job. `duration_s`: from the trace; 0 without a trace. */
static double iterations_of(const struct job_group_conf *group, const struct model_size *size,
			    double duration_s)
{
	double once = size->compute_s * group->compute_scale; /* seconds of an iteration */

	if (group->iterations_form == ITERATIONS_NUMBER)
		return (double)group->iterations;
	return once > 0 ? duration_s / group->arrival.speedup / once : 1;
}

/* The number of iterations of a job that one simulated iteration stands for. */
static double stands_for(const struct job_group_conf *group, double iterations)
{
	return group->max_steps && iterations > (double)group->max_steps
		       ? iterations / (double)group->max_steps
		       : 1;
}

static void check_model_size(const struct looking *look, const struct job_group_conf *group,
			     const char *pointer, const struct model_size *size, double duration_s)
{
	double iterations = iterations_of(group, size, duration_s);
	double step = stands_for(group, iterations);
	double gradient = size->gradient_bytes * group->gradient_scale * step;
	double tokens = size->token_bytes * group->gradient_scale * step;
	double compute = size->compute_s * group->compute_scale * step *
			 (group->stragglers.workers ? group->stragglers.slowdown : 1) *
			 (1 + group->compute_jitter);

	if (gradient > GRADIENT_MAX)
		conf_error(look->doc, pointer,
			   "the model has %g bytes of gradients (\"gradient_scale\" and "
			   "\"max_steps\" included); at most %g",
			   gradient, GRADIENT_MAX);
	if (tokens > GRADIENT_MAX)
		conf_error(look->doc, pointer,
			   "the model has %g bytes of tokens for experts (\"gradient_scale\" and "
			   "\"max_steps\" included); at most %g",
			   tokens, GRADIENT_MAX);
	if (compute > seconds_of(LONGEST_RUN))
		conf_error(look->doc, pointer,
			   "an iteration computes for %g s (scale, jitter, stragglers and "
			   "\"max_steps\" included); at most %g s",
			   compute, seconds_of(LONGEST_RUN));
	if (group->iterations_form == ITERATIONS_RULE &&
	    size->compute_s * group->compute_scale <= 0)
		conf_error(look->doc, conf_at(look->doc, "%s/iterations", pointer),
			   "\"duration\" needs a model that computes");
	if (iterations > ITERATIONS_MAX)
		conf_error(look->doc, conf_at(look->doc, "%s/iterations", pointer),
			   "the longest job of the trace has %g iterations by its duration; at "
			   "most %g",
			   iterations, (double)ITERATIONS_MAX);
}

/* `duration_s`: the duration of the longest job in the group's trace, 0 without a trace. */
static void check_models(const struct looking *look, const struct job_group_conf *group,
			 const char *pointer, double duration_s)
{
	for (size_t i = 0; i < group->models->count; i++) {
		const struct dnn *dnn = group->models->dnns[i];
		struct model_size size;

		if (!dnn)
			continue; /* job_group_check() reports that it could not be loaded */
		size = size_of(dnn);
		check_model_size(look, group, pointer, &size, duration_s);
	}
}

static void check_stragglers(const struct looking *look, const struct job_group_conf *group,
			     const char *pointer)
{
	int64_t max = workers_span(&group->workers).max;

	if (group->workers.given && group->stragglers.workers > max)
		conf_error(look->doc, conf_at(look->doc, "%s/stragglers/workers", pointer),
			   "there cannot be %" PRId64 " slow workers of %" PRId64,
			   group->stragglers.workers, max);
}

/* Returns the duration of the longest job in seconds, or 0 if the trace does not fit. */
static double check_job_trace(const struct looking *look, const struct job_group_conf *group,
			      const char *pointer)
{
	const char *where = conf_at(look->doc, "%s/arrival/trace", pointer);
	const struct job_trace *trace = group->arrival.jobs;
	char *error = job_group_trace_mistake(group, look->machines - look->pool, look->pool);
	sim_time longest = 0;

	if (error) {
		conf_error(look->doc, where, "%s", error);
		free(error);
		return 0;
	}
	if (!trace->count)
		conf_error(look->doc, where, "this trace has no jobs");
	if (group->iterations_form == ITERATIONS_RULE && !trace->durations)
		conf_error(look->doc, where,
			   "\"iterations\": \"duration\" needs a column duration_s, which the "
			   "trace does not have");
	for (size_t i = 0; i < trace->count; i++)
		longest = trace->jobs[i].duration > longest ? trace->jobs[i].duration : longest;
	return seconds_of(longest);
}

/* Checks that on average at least one job arrives and, without a "count", at most JOBS_MAX. */
static void check_job_arrivals(const struct looking *look, const struct job_group_conf *group,
			       const char *pointer)
{
	bool load = group->arrival.form == JOBS_LOAD;
	double after_s = seconds_of(look->scenario->stop.after);
	double gap_s =
		job_group_gap_s(group, look->hosts, topology_host_rate(&look->scenario->topology));
	const char *where =
		conf_at(look->doc, "%s/arrival/%s", pointer, load ? "poisson_load" : "poisson_gap");

	check_gap(look, where, gap_s);
	if (!group->count && gap_s > 0 && after_s / gap_s > JOBS_MAX)
		conf_error(look->doc, where,
			   "one every %g s on average makes %g jobs until the run ends (\"stop\": "
			   "\"after\"); at most %d",
			   gap_s, after_s / gap_s, JOBS_MAX);
}

static void check_job_group(const struct looking *look, size_t number, bool bounded)
{
	const struct job_group_conf *group = &scenario_jobs(look->scenario)[number];
	size_t before = conf_errors(look->doc);
	const char *pointer;
	double longest = 0;

	if (group->origin != number && before)
		return; /* a part of a group whose mistakes may be reported already */
	pointer = conf_at(look->doc, "/jobs/%zu", group->origin);
	job_group_check(group, look->doc, pointer,
			&(struct job_site){ .topology = &look->scenario->topology,
					    .machine = &look->scenario->machine,
					    .cluster = &look->scenario->cluster },
			look->scenario->schemes, bounded);
	check_stragglers(look, group, pointer);
	if (group->arrival.form == JOBS_TRACE)
		longest = check_job_trace(look, group, pointer);
	check_models(look, group, pointer, longest);
	if (conf_errors(look->doc) == before)
		job_models_prepare(group);
	switch ((enum job_arrival_form)group->arrival.form) {
	case JOBS_AT:
		check_start(look, pointer, group->arrival.at);
		return;
	case JOBS_POISSON:
	case JOBS_LOAD:
		if (conf_errors(look->doc) == before)
			check_job_arrivals(look, group, pointer);
		return;
	case JOBS_TRACE:
		return;
	}
}

/* The longest time that a switch holds a packet, and the most packets that it sends in answer to
 * one, over the schemes of all jobs. A lossless network needs headroom for these. Disabled groups
 * count, too, so that disabling a group does not change the network. */
static struct pause_answers answers_of(const struct scenario *scenario)
{
	struct pause_answers worst = { 0 };
	struct topology_shape shape;
	uint32_t ports = 0; /* of the largest switch */

	topology_shape(&scenario->topology, &shape);
	for (uint32_t i = 0; i < shape.switches; i++)
		ports = shape.ports[i] > ports ? shape.ports[i] : ports;
	topology_shape_release(&shape);
	for (unsigned s = 0; scheme_ops(s); s++) {
		const struct collective_ops *ops = scheme_ops(s);
		struct collective_burst burst;

		if (!ops->burst || !scenario_has_scheme(scenario, s))
			continue;
		burst = ops->burst(scenario->schemes[s], &scenario->topology, ports);
		worst.held = burst.held > worst.held ? burst.held : worst.held;
		worst.packets = burst.packets > worst.packets ? burst.packets : worst.packets;
	}
	return worst;
}

/* Refuses RoCE in the fluid model, where streams have the headers and the windows of TCP. */
static void check_fluid_transports(const struct scenario *scenario, struct conf_doc *doc)
{
	static const char *const message = "RoCE needs packet fidelity";

	for (size_t i = 0; i < scenario->flows.count; i++) {
		const struct flow_group_conf *group = &scenario_flows(scenario)[i];

		if (group->enabled && transport_kind((unsigned)group->transport)->roce)
			conf_error(doc, conf_at(doc, "/flows/%zu/transport", i), "%s", message);
	}
	for (unsigned s = 0; scheme_ops(s); s++) {
		const struct transport *transport = scenario_scheme_transport(scenario, s);
		const char *at = conf_at(doc,
					 scheme_ops(s)->traits.by_connections
						 ? "/schemes/%s/transport"
						 : "/schemes/%s/below/ring/transport",
					 scheme_names[s]);

		/* NetReduce is RoCE, but has no such key, and plans streams of its own */
		if (scenario_uses(scenario, s) && transport && transport->roce &&
		    (scheme_ops(s)->traits.by_connections || conf_given(doc, at)))
			conf_error(doc, at, "%s", message);
	}
}

/* Refuses what the fluid model cannot express. */
static void check_fluid(const struct scenario *scenario, struct conf_doc *doc)
{
	static const char *const lossy = "streams lose nothing, so %s fidelity needs a loss of 0";
	const struct topology_conf *topology = &scenario->topology;
	const char *fidelity = fidelity_names[scenario->fidelity];

	if (!topology_all_aggregate(topology))
		conf_error(doc, "/topology",
			   "networks with switches that add nothing up run as packets only");
	if (topology->graph && topology_loses(topology))
		conf_error(doc, "/topology/graph", lossy, fidelity);
	if (!topology->graph && topology->link.loss > 0)
		conf_error(doc, "/topology/link/loss", lossy, fidelity);
	if (!topology->graph && topology->uplink_given && topology->uplink.loss > 0)
		conf_error(doc, "/topology/uplink/loss", lossy, fidelity);
	for_enabled_jobs(group, scenario) {
		const char *where = conf_at(doc, "/jobs/%zu", group->origin);

		if (!scheme_ops((unsigned)group->all_reduce)->plan)
			conf_error(doc, conf_at(doc, "%s/all_reduce", where),
				   "%s needs packet fidelity", scheme_names[group->all_reduce]);
		if (group->exchanges)
			conf_error(doc, where,
				   "sharding, pipelines and all-to-alls need packet fidelity");
		if (machine_gpus(&scenario->machine) > 1 && group->inside == INSIDE_RING &&
		    group == &scenario_jobs(scenario)[group->origin]) /* not again for its parts */
			conf_error(doc, conf_at(doc, "%s/inside", where),
				   "a ring of all GPUs needs packet fidelity");
	}
	if (topology->host.cores.packet || topology->host.cores.rate)
		conf_error(doc, "/topology/host/cores", "needs packet fidelity");
	check_fluid_transports(scenario, doc);
}

/* Refuses schemes that need the same memory in all switches if a switch has its own memory size. */
static void check_own_memory(const struct scenario *scenario, struct conf_doc *doc)
{
	const char *name = topology_own_memory(&scenario->topology);

	if (!name)
		return;
	for_enabled_jobs(group, scenario)
		for (unsigned n = 0; scheme_ops(n); n++) {
			const struct collective_ops *ops = scheme_ops(n);

			if (ops->traits.one_memory && job_group_uses(group, n))
				conf_error(doc, conf_at(doc, "/jobs/%zu", group->origin),
					   "job \"%s\": %s %s; switch \"%s\" has memory of its own "
					   "(\"aggregation\")",
					   group->name, ops->name, ops->traits.one_memory, name);
		}
}

static void check_scheme(const struct scenario *scenario, unsigned s, struct conf_doc *doc)
{
	const struct collective_ops *ops = scheme_ops(s);
	const void *conf = scenario->schemes[s];

	if (ops->frame)
		check_frame(scenario, conf_at(doc, "/schemes/%s/elements_per_packet", ops->name),
			    ops->frame(conf), doc);
	if (ops->check)
		ops->check(conf, &scenario->topology, doc, ops->name);
}

void scenario_check(struct scenario *scenario, struct conf_doc *doc)
{
	enum stop_when when = (enum stop_when)scenario->stop.when;
	/* a time ends the run, so groups may be endless */
	bool timed = when == STOP_TIME || when == STOP_MEASURED_DONE;
	struct looking look = { .scenario = scenario, .doc = doc };
	size_t before;

	machine_ready_set(&scenario->machine);
	job_groups_part(&scenario->jobs, &scenario->machine, doc);
	check_stop(scenario, doc);
	check_estimate(scenario, doc);
	check_segment(scenario, doc);
	check_dcqcn(scenario, doc);
	before = conf_errors(doc);
	graph_read(&scenario->topology, doc);
	if (conf_errors(doc) == before)
		topology_check(&scenario->topology, &scenario->machine, doc);
	if (conf_errors(doc) == before)
		machine_links_make(&scenario->topology, &scenario->machine, doc);
	if (conf_errors(doc) != before)
		return;
	scenario->topology.switches.answers = answers_of(scenario);
	scenario->topology.fails = scenario->failures.events.count > 0;
	check_ways(scenario, doc);
	check_trim(&scenario->topology, doc);
	check_scheduler(scenario, doc);
	check_telemetry(scenario, doc);
	topology_check_pause(&scenario->topology, scenario_heeds_marks(scenario), doc);
	if (conf_errors(doc) != before)
		return;
	look.hosts = topology_hosts(&scenario->topology);
	look.machines = machine_count(&scenario->machine, look.hosts);
	check_series(scenario, doc);
	check_flow_classes(scenario, doc);
	failures_check(&scenario->failures, &scenario->topology, scenario->stop.after, doc);
	if (scenario->topology.fails && scenario->fidelity != FIDELITY_PACKET)
		conf_error(doc, "/failures/events",
			   "failures of links and switches run as packets only");
	before = conf_errors(doc);
	cluster_conf_check(&scenario->cluster, doc, look.machines);
	if (conf_errors(doc) == before) /* only the size of the pool matters here */
		free(cluster_conf_pool(&scenario->cluster, look.machines, &look.pool));
	for (size_t i = 0; i < scenario->jobs.count; i++)
		check_job_group(&look, i, timed || when == STOP_FLOWS_DONE);
	for (size_t i = 0; i < scenario->flows.count; i++)
		check_flow_group(&look, i, timed || when == STOP_JOBS_DONE);
	check_endless(&look);
	for (unsigned s = 0; scheme_ops(s); s++)
		if (scenario_uses(scenario, s))
			check_scheme(scenario, s, doc);
	check_own_memory(scenario, doc);
	if (scenario->fidelity != FIDELITY_PACKET)
		check_fluid(scenario, doc);
	if (!conf_errors(doc))
		scenario_warn(scenario, doc);
}
