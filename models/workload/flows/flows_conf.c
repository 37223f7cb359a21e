/* What a user may write under "flows", and what is checked before a run. */
#include "workload/flows/flows_parts.h"

#include "base/mem.h"
#include "workload/cluster.h"
#include "workload/data_file.h"
#include "workload/flows/flow_files.h"

#include <inttypes.h>
#include <stdlib.h>

/* --- rows --- */

static const struct conf_row size_cdf_rows[] = {
	CONF_STRING("cdf", struct size_conf, cdf, CONF_REQUIRED,
		    "Name of a table in traces/cdf, or of a file."),
	{ 0 },
};
static const struct conf_table size_cdf_table = { "size_cdf", size_cdf_rows,
						  sizeof(struct size_conf),
						  "Sizes drawn from a distribution." };
static const struct conf_row size_part_rows[] = {
	CONF_STRING("cdf", struct mix_part, name, CONF_REQUIRED,
		    "Name of a table in traces/cdf, or of a file."),
	CONF_REAL("weight", struct mix_part, weight, "1", 1e-9, 1e9,
		  "Fraction of flows that take their size from here: this over the sum of all "
		  "weights.",
		  "all alike"),
	{ 0 },
};
static const struct conf_table size_part_table = { "size_part", size_part_rows,
						   sizeof(struct mix_part) };
static const struct conf_row size_part_item = { .type = CONF_OBJECT,
						.table = &size_part_table,
						.help = "A distribution and its weight." };
static const struct conf_row size_mix_rows[] = {
	CONF_LIST("mix", struct size_conf, mix, CONF_REQUIRED, &size_part_item, 1, 1000,
		  "Each flow draws one of these by weight, then its size from that one."),
	{ 0 },
};
static const struct conf_table size_mix_table = { "size_mix", size_mix_rows,
						  sizeof(struct size_conf),
						  "Sizes drawn from several distributions." };
static const char *const endless_names[] = { "endless", NULL };
static const struct conf_row size_forms[] = {
	CONF_BYTES("fixed", struct flow_group_conf, size.fixed, CONF_REQUIRED, 1, FLOW_MAX,
		   "All flows of one size."),
	CONF_OBJECT("drawn", struct flow_group_conf, size, CONF_REQUIRED, &size_cdf_table,
		    "Drawn from a distribution."),
	CONF_OBJECT("mixed", struct flow_group_conf, size, CONF_REQUIRED, &size_mix_table,
		    "Drawn from one of several distributions."),
	CONF_ENUM("endless", struct flow_group_conf, size.endless, CONF_REQUIRED, endless_names,
		  "Flows send until the run ends, and nothing waits for them."),
	{ 0 },
};
static const struct conf_table size_table = { "flow_size", size_forms,
					      sizeof(struct flow_group_conf) };

static const struct conf_row at_rows[] = {
	CONF_TIME("at", struct arrival_conf, at, CONF_REQUIRED, 0, 0,
		  "All flows start at this time, one for each pair."),
	{ 0 },
};
static const struct conf_table at_table = { "flows_at", at_rows, sizeof(struct arrival_conf) };
static const struct conf_row poisson_rows[] = {
	CONF_REAL("poisson_load", struct arrival_conf, load, CONF_REQUIRED, 0, 10,
		  "Poisson arrivals; mean payload bits per second and host, as a fraction of the "
		  "host's link rate. 0: no flows."),
	{ 0 },
};
static const struct conf_table poisson_table = { "flows_poisson", poisson_rows,
						 sizeof(struct arrival_conf) };
static const struct conf_row trace_rows[] = {
	CONF_STRING("trace", struct arrival_conf, trace, CONF_REQUIRED,
		    "CSV file with columns start_s, src, dst (numbers of hosts or, in a graph, "
		    "names), size_bytes (or endless); or a connection matrix of csg-htsim or "
		    "uet-htsim (NAME.cm); or a list of flows of HPCC (NAME.txt)."),
	CONF_ENUM("start_unit", struct arrival_conf, start_unit, "none", start_units,
		  "Unit of `start` in a connection matrix, which does not say it: csg-htsim and "
		  "uet-htsim read ps, csg-htsim's main_swift us.",
		  "nothing is guessed"),
	{ 0 },
};
static const struct conf_table trace_table = { "flows_trace", trace_rows,
					       sizeof(struct arrival_conf) };
static const struct conf_row arrival_forms[] = {
	CONF_OBJECT("at", struct flow_group_conf, arrival, CONF_REQUIRED, &at_table, "Together."),
	CONF_OBJECT("poisson", struct flow_group_conf, arrival, CONF_REQUIRED, &poisson_table,
		    "A Poisson process."),
	CONF_OBJECT("trace", struct flow_group_conf, arrival, CONF_REQUIRED, &trace_table,
		    "As recorded."),
	{ 0 },
};
static const struct conf_table arrival_table = { "flow_arrival", arrival_forms,
						 sizeof(struct flow_group_conf) };

static const char *const pair_names[] = { [PAIRS_UNIFORM] = "uniform",
					  [PAIRS_PERMUTATION] = "permutation",
					  [PAIRS_INCAST] = "incast",
					  NULL };
static const struct conf_row pair_row = {
	.type = CONF_LIST, .min = 2, .max = 2, .item = &host_item, .help = "[source, destination]"
};
static const struct conf_row pairs_forms[] = {
	CONF_ENUM("named", struct flow_group_conf, pairs.kind, CONF_REQUIRED, pair_names,
		  "uniform: any two hosts; permutation: each host sends to another, and each "
		  "receives from one; incast: fan_in hosts send to one."),
	CONF_LIST("list", struct flow_group_conf, pairs.list, CONF_REQUIRED, &pair_row, 1, 0,
		  "[[source, destination], ...]"),
	{ 0 },
};
static const struct conf_table pairs_table = { "flow_pairs", pairs_forms,
					       sizeof(struct flow_group_conf) };

static const char *const stop_names[] = {
	[FLOWS_RUN_OUT] = "never", [FLOWS_STOP_WITH_JOBS] = "jobs_done", NULL
};

static const struct conf_row group_rows[] = {
	CONF_STRING("name", struct flow_group_conf, name, "flows", "Name in results.", "a label"),
	CONF_BOOL("enabled", struct flow_group_conf, enabled, "true",
		  "false: leaves these flows out; random numbers of other groups stay the same.",
		  "our choice"),
	CONF_ENUM("transport", struct flow_group_conf, transport, "dctcp", transport_names,
		  "TCP or RoCE, with a congestion control (inasim list transports).",
		  "PANAMA section 7"),
	CONF_INT("priority", struct flow_group_conf, priority, "0", 0, 7,
		 "Class of its packets and ACKs in switches (\"scheduler\" of topology).",
		 "one class"),
	CONF_ONEOF("size", struct flow_group_conf, size, CONF_OPTIONAL, &size_table, size.form,
		   "Payload bytes of a flow; required unless a trace has sizes.",
		   .present = CONF_GIVEN(struct flow_group_conf, size_given)),
	CONF_REAL("size_scale", struct flow_group_conf, size.scale, "1", 1e-6, 1000,
		  "Multiplies all sizes, for a smaller experiment.", "full size"),
	CONF_ONEOF("arrival", struct flow_group_conf, arrival, "{\"at\": \"0s\"}", &arrival_table,
		   arrival.form, "When flows start.", "our choice"),
	CONF_ONEOF("pairs", struct flow_group_conf, pairs, "uniform", &pairs_table, pairs.form,
		   "Who sends to whom.", "PANAMA section 7"),
	CONF_INT("fan_in", struct flow_group_conf, fan_in, CONF_OPTIONAL, 1, 1000000,
		 "incast: number of senders."),
	CONF_INT("receiver", struct flow_group_conf, receiver, CONF_OPTIONAL, 0, 1000000,
		 "incast: the host that receives. Default: host 0.",
		 .present = CONF_GIVEN(struct flow_group_conf, receiver_given)),
	CONF_INT("count", struct flow_group_conf, count, CONF_OPTIONAL, 1, INT64_C(1000000000),
		 "Number of flows; required for a Poisson process that nothing else stops."),
	CONF_ENUM("stop", struct flow_group_conf, stop, "never", stop_names,
		  "jobs_done: no new flow starts after the last job has ended.", "our choice"),
	{ 0 },
};
const struct conf_table flow_group_table = { "flow_group", group_rows,
					     sizeof(struct flow_group_conf),
					     "A generator of background flows." };

/* --- checks --- */

static void no_host(struct conf_doc *doc, const char *pointer, int64_t host, uint32_t hosts)
{
	conf_error(doc, pointer, "there is no host %" PRId64 "; hosts are 0 to %" PRIu32, host,
		   hosts - 1);
}

static void check_pair_list(const struct flow_group_conf *conf, struct conf_doc *doc,
			    const char *pointer, uint32_t hosts)
{
	for (size_t i = 0; i < conf->pairs.list.count; i++) {
		const int64_t *pair = flow_group_pair(conf, i);

		for (int end = 0; end < 2; end++)
			if (pair[end] >= (int64_t)hosts)
				no_host(doc, conf_at(doc, "%s/pairs/%zu/%d", pointer, i, end),
					pair[end], hosts);
		if (pair[0] == pair[1])
			conf_error(doc, conf_at(doc, "%s/pairs/%zu", pointer, i),
				   "a host cannot send to itself");
	}
}

static void check_incast(const struct flow_group_conf *conf, struct conf_doc *doc,
			 const char *pointer, uint32_t hosts)
{
	bool incast = conf->pairs.form == PAIRS_NAMED && conf->pairs.kind == PAIRS_INCAST;

	if (incast && !conf->fan_in)
		conf_error(doc, pointer, "incast needs \"fan_in\", the number of senders");
	else if (!incast && conf->fan_in)
		conf_error(doc, conf_at(doc, "%s/fan_in", pointer),
			   "only \"pairs\": \"incast\" has a fan_in");
	else if (incast && conf->fan_in >= (int64_t)hosts)
		conf_error(doc, conf_at(doc, "%s/fan_in", pointer),
			   "%" PRId64 " senders and a receiver do not fit on %" PRIu32 " hosts",
			   conf->fan_in, hosts);
	if (incast && conf->receiver >= (int64_t)hosts)
		no_host(doc, conf_at(doc, "%s/receiver", pointer), conf->receiver, hosts);
	else if (!incast && conf->receiver_given)
		conf_error(doc, conf_at(doc, "%s/receiver", pointer),
			   "only \"pairs\": \"incast\" has a receiver");
}

static void check_size(const struct flow_group_conf *conf, struct conf_doc *doc,
		       const char *pointer)
{
	bool trace = conf->arrival.form == ARRIVE_TRACE;

	if (trace && conf->size_given)
		conf_error(doc, conf_at(doc, "%s/size", pointer),
			   "the trace gives the sizes of flows; leave this out");
	if (!trace && !conf->size_given)
		conf_error(doc, pointer, "needs \"size\" (only a flow trace brings its own)");
	if (conf->size.form == SIZE_ENDLESS && conf->size_given && conf->size.scale != 1)
		conf_error(doc, conf_at(doc, "%s/size_scale", pointer),
			   "endless flows have no size; leave this out");
	if (conf->size.form == SIZE_ENDLESS && conf->size_given &&
	    conf->arrival.form == ARRIVE_POISSON)
		conf_error(doc, conf_at(doc, "%s/size", pointer),
			   "endless flows of a Poisson process become ever more; allowed: \"at\"");
	if (trace && conf->size.scale != 1)
		conf_error(doc, conf_at(doc, "%s/size_scale", pointer),
			   "the trace gives the sizes of flows; leave this out");
}

void flow_group_check(const struct flow_group_conf *conf, struct conf_doc *doc, const char *pointer,
		      uint32_t hosts, bool bounded)
{
	if (conf->pairs.form == PAIRS_LIST)
		check_pair_list(conf, doc, pointer, hosts);
	check_incast(conf, doc, pointer, hosts);
	if (conf->arrival.form == ARRIVE_TRACE &&
	    (conf->pairs.form == PAIRS_LIST || conf->pairs.kind != PAIRS_UNIFORM))
		conf_error(doc, conf_at(doc, "%s/pairs", pointer),
			   "the trace says who sends to whom; leave this out");
	check_size(conf, doc, pointer);
	if (conf->arrival.form == ARRIVE_POISSON && !conf->count && conf->stop == FLOWS_RUN_OUT &&
	    !bounded)
		conf_error(doc, pointer,
			   "a Poisson process needs an end: \"count\", or \"stop\": \"jobs_done\", "
			   "or a time limit with \"stop\": {\"when\": \"time\"}");
	if (conf->arrival.form == ARRIVE_AT && conf->pairs.form == PAIRS_NAMED &&
	    conf->pairs.kind == PAIRS_UNIFORM && !conf->count)
		conf_error(doc, pointer, "uniform pairs that start together need \"count\"");
}

/* --- files --- */

static void free_trace(void *trace)
{
	flow_trace_release(trace);
	free(trace);
}

/* What is wrong with a trace: a flow has a host that does not exist, or there is no flow. NULL if
 * the trace is good. Caller frees. */
static char *trace_mistake(const struct flow_trace *trace, const char *path, uint32_t hosts)
{
	for (size_t i = 0; i < trace->count; i++) {
		const struct trace_flow *flow = &trace->flows[i];

		if (flow->src >= hosts || flow->dst >= hosts)
			return xasprintf("%s: flow %zu goes from host %" PRIu32 " to host %" PRIu32
					 "; hosts are 0 to %" PRIu32,
					 path, i, flow->src, flow->dst, hosts - 1);
	}
	return trace->count ? NULL : xstrdup("this trace has no flows");
}

static const struct flow_trace *load_trace(const struct flow_group_conf *conf, struct conf_doc *doc,
					   const char *where, uint32_t hosts,
					   const struct graph *graph)
{
	struct flow_trace *trace = xcalloc(1, sizeof(*trace));
	char *error = NULL,
	     *path = data_file_find(DATA_ANY, conf->arrival.trace, conf_path(doc), &error);
	enum start_unit unit = (enum start_unit)conf->arrival.start_unit;

	conf_keep(doc, trace, free_trace);
	if (path && flow_file_load(trace, path, unit, graph, &error))
		error = trace_mistake(trace, path, hosts);
	if (!error && trace->wait_count && conf->count)
		error = xstrdup("\"count\" cannot cut a trace whose flows wait for others");
	if (error)
		conf_error(doc, where, "%s", error);
	free(path);
	if (!error)
		return trace;
	free(error);
	return NULL;
}

void flow_group_load(struct flow_group_conf *conf, struct conf_doc *doc, const char *pointer,
		     uint32_t hosts, const struct graph *graph)
{
	conf->sizes = sizes_load(&conf->size, doc, pointer);
	if (conf->arrival.form == ARRIVE_TRACE)
		conf->recorded = load_trace(conf, doc, conf_at(doc, "%s/arrival/trace", pointer),
					    hosts, graph);
}
