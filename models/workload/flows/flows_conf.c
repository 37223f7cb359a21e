/* What a user may write under "flows", and what is checked before a run. */
#include "workload/flows/flows_parts.h"

#include "base/mem.h"
#include "workload/data_file.h"

#include <inttypes.h>
#include <stdlib.h>

/* --- rows --- */

static const struct conf_row size_cdf_rows[] = {
	{ .name = "cdf",
	  .type = CONF_STRING,
	  .offset = offsetof(struct size_conf, cdf),
	  .def = CONF_REQUIRED,
	  .help = "Name of a table in traces/cdf, or of a file." },
	{ 0 },
};
static const struct conf_table size_cdf_table = { "size_cdf", size_cdf_rows,
						  sizeof(struct size_conf),
						  "Sizes drawn from a distribution." };
static const struct conf_row size_part_rows[] = {
	{ .name = "cdf",
	  .type = CONF_STRING,
	  .offset = offsetof(struct size_part, cdf),
	  .def = CONF_REQUIRED,
	  .help = "Name of a table in traces/cdf, or of a file." },
	{ .name = "weight",
	  .type = CONF_REAL,
	  .offset = offsetof(struct size_part, weight),
	  .rmin = 1e-9,
	  .rmax = 1e9,
	  .def = "1",
	  .help = "Of the flows, this over the sum of all weights takes its size from here.",
	  .source = "all alike" },
	{ 0 },
};
static const struct conf_table size_part_table = { "size_part", size_part_rows,
						   sizeof(struct size_part), NULL };
static const struct conf_row size_part_item = { .type = CONF_OBJECT,
						.table = &size_part_table,
						.help = "A distribution and its weight." };
static const struct conf_row size_mix_rows[] = {
	{ .name = "mix",
	  .type = CONF_LIST,
	  .offset = offsetof(struct size_conf, mix),
	  .min = 1,
	  .max = 1000,
	  .item = &size_part_item,
	  .def = CONF_REQUIRED,
	  .help = "Each flow draws one of these by weight, and its size from that." },
	{ 0 },
};
static const struct conf_table size_mix_table = { "size_mix", size_mix_rows,
						  sizeof(struct size_conf),
						  "Sizes drawn from several distributions." };
static const struct conf_row size_forms[] = {
	{ .name = "fixed",
	  .type = CONF_BYTES,
	  .offset = offsetof(struct flow_group_conf, size.fixed),
	  .min = 1,
	  .max = UINT64_C(1) << 50,
	  .help = "All flows of one size." },
	{ .name = "drawn",
	  .type = CONF_OBJECT,
	  .offset = offsetof(struct flow_group_conf, size),
	  .table = &size_cdf_table,
	  .help = "Drawn from a distribution." },
	{ .name = "mixed",
	  .type = CONF_OBJECT,
	  .offset = offsetof(struct flow_group_conf, size),
	  .table = &size_mix_table,
	  .help = "Drawn from one of several distributions." },
	{ 0 },
};
static const struct conf_table size_table = { "flow_size", size_forms,
					      sizeof(struct flow_group_conf), NULL };

static const struct conf_row at_rows[] = {
	{ .name = "at",
	  .type = CONF_TIME,
	  .offset = offsetof(struct arrival_conf, at),
	  .def = CONF_REQUIRED,
	  .help = "All at this time: one flow for each pair." },
	{ 0 },
};
static const struct conf_table at_table = { "flows_at", at_rows, sizeof(struct arrival_conf),
					    NULL };
static const struct conf_row poisson_rows[] = {
	{ .name = "poisson_load",
	  .type = CONF_REAL,
	  .offset = offsetof(struct arrival_conf, load),
	  .rmin = 0.0001,
	  .rmax = 10,
	  .def = CONF_REQUIRED,
	  .help = "Poisson arrivals; mean payload bits per second and host, as a fraction of the "
		  "host's link rate." },
	{ 0 },
};
static const struct conf_table poisson_table = { "flows_poisson", poisson_rows,
						 sizeof(struct arrival_conf), NULL };
static const struct conf_row trace_rows[] = {
	{ .name = "trace",
	  .type = CONF_STRING,
	  .offset = offsetof(struct arrival_conf, trace),
	  .def = CONF_REQUIRED,
	  .help = "CSV file with columns start_s, src, dst, size_bytes." },
	{ 0 },
};
static const struct conf_table trace_table = { "flows_trace", trace_rows,
					       sizeof(struct arrival_conf), NULL };
static const struct conf_row arrival_forms[] = {
	{ .name = "at",
	  .type = CONF_OBJECT,
	  .offset = offsetof(struct flow_group_conf, arrival),
	  .table = &at_table,
	  .help = "Together." },
	{ .name = "poisson",
	  .type = CONF_OBJECT,
	  .offset = offsetof(struct flow_group_conf, arrival),
	  .table = &poisson_table,
	  .help = "A Poisson process." },
	{ .name = "trace",
	  .type = CONF_OBJECT,
	  .offset = offsetof(struct flow_group_conf, arrival),
	  .table = &trace_table,
	  .help = "As recorded." },
	{ 0 },
};
static const struct conf_table arrival_table = { "flow_arrival", arrival_forms,
						 sizeof(struct flow_group_conf), NULL };

static const char *const pair_names[] = { [PAIRS_UNIFORM] = "uniform",
					  [PAIRS_PERMUTATION] = "permutation",
					  [PAIRS_INCAST] = "incast",
					  NULL };
static const struct conf_row host_row = {
	.type = CONF_INT, .imin = 0, .imax = 1000000, .help = "Host number."
};
static const struct conf_row pair_row = {
	.type = CONF_LIST, .min = 2, .max = 2, .item = &host_row, .help = "[source, destination]"
};
static const struct conf_row pairs_forms[] = {
	{ .name = "named",
	  .type = CONF_ENUM,
	  .offset = offsetof(struct flow_group_conf, pairs.kind),
	  .choices = pair_names,
	  .help = "uniform: any two hosts; permutation: each host to another, all different; "
		  "incast: fan_in hosts "
		  "to one." },
	{ .name = "list",
	  .type = CONF_LIST,
	  .offset = offsetof(struct flow_group_conf, pairs.list),
	  .min = 1,
	  .item = &pair_row,
	  .help = "[[source, destination], ...]" },
	{ 0 },
};
static const struct conf_table pairs_table = { "flow_pairs", pairs_forms,
					       sizeof(struct flow_group_conf), NULL };

static const char *const stop_names[] = {
	[FLOWS_RUN_OUT] = "never", [FLOWS_STOP_WITH_JOBS] = "jobs_done", NULL
};

static const struct conf_row group_rows[] = {
	{ .name = "name",
	  .type = CONF_STRING,
	  .offset = offsetof(struct flow_group_conf, name),
	  .def = "\"flows\"",
	  .help = "Name in results.",
	  .source = "a label" },
	{ .name = "enabled",
	  .type = CONF_BOOL,
	  .offset = offsetof(struct flow_group_conf, enabled),
	  .def = "true",
	  .help = "false: none of these flows; what other groups draw stays the same.",
	  .source = "our choice" },
	{ .name = "transport",
	  .type = CONF_ENUM,
	  .offset = offsetof(struct flow_group_conf, transport),
	  .choices = cc_names,
	  .def = "\"dctcp\"",
	  .help = "Congestion control.",
	  .source = "PANAMA section 7" },
	{ .name = "size",
	  .type = CONF_ONEOF,
	  .offset = offsetof(struct flow_group_conf, size),
	  .tag = offsetof(struct flow_group_conf, size.form),
	  .table = &size_table,
	  .present = 1 + offsetof(struct flow_group_conf, size_given),
	  .def = CONF_OPTIONAL,
	  .help = "Payload bytes of a flow; needed unless a trace says it." },
	{ .name = "size_scale",
	  .type = CONF_REAL,
	  .offset = offsetof(struct flow_group_conf, size.scale),
	  .rmin = 1e-6,
	  .rmax = 1000,
	  .def = "1",
	  .help = "Multiplies all sizes: a smaller experiment that says so.",
	  .source = "full size" },
	{ .name = "arrival",
	  .type = CONF_ONEOF,
	  .offset = offsetof(struct flow_group_conf, arrival),
	  .tag = offsetof(struct flow_group_conf, arrival.form),
	  .table = &arrival_table,
	  .def = "{\"at\": \"0s\"}",
	  .help = "When flows start.",
	  .source = "our choice" },
	{ .name = "pairs",
	  .type = CONF_ONEOF,
	  .offset = offsetof(struct flow_group_conf, pairs),
	  .tag = offsetof(struct flow_group_conf, pairs.form),
	  .table = &pairs_table,
	  .def = "\"uniform\"",
	  .help = "Who sends to whom.",
	  .source = "PANAMA section 7" },
	{ .name = "fan_in",
	  .type = CONF_INT,
	  .offset = offsetof(struct flow_group_conf, fan_in),
	  .imin = 1,
	  .imax = 1000000,
	  .def = CONF_OPTIONAL,
	  .help = "incast: number of senders." },
	{ .name = "receiver",
	  .type = CONF_INT,
	  .offset = offsetof(struct flow_group_conf, receiver),
	  .imin = 0,
	  .imax = 1000000,
	  .present = 1 + offsetof(struct flow_group_conf, receiver_given),
	  .def = CONF_OPTIONAL,
	  .help = "incast: the host that receives; host 0 when missing." },
	{ .name = "count",
	  .type = CONF_INT,
	  .offset = offsetof(struct flow_group_conf, count),
	  .imin = 1,
	  .imax = INT64_C(1000000000),
	  .def = CONF_OPTIONAL,
	  .help = "Number of flows; needed for a Poisson process that nothing else stops." },
	{ .name = "stop",
	  .type = CONF_ENUM,
	  .offset = offsetof(struct flow_group_conf, stop),
	  .choices = stop_names,
	  .def = "\"never\"",
	  .help = "jobs_done: no new flow after the last job.",
	  .source = "our choice" },
	{ 0 },
};
const struct conf_table flow_group_table = { "flow_group", group_rows,
					     sizeof(struct flow_group_conf),
					     "A generator of background flows." };

/* --- checks --- */

static void check_host(struct conf_doc *doc, const char *pointer, int64_t host, uint32_t hosts)
{
	if (host >= (int64_t)hosts)
		conf_error(doc, pointer, "there is no host %" PRId64 "; hosts are 0 to %" PRIu32,
			   host, hosts - 1);
}

static void check_pair_list(const struct flow_group_conf *conf, struct conf_doc *doc,
			    const char *pointer, uint32_t hosts)
{
	const struct conf_list *pairs = conf->pairs.list.items;

	for (size_t i = 0; i < conf->pairs.list.count; i++) {
		const int64_t *pair = pairs[i].items;
		char place[160];

		for (int end = 0; end < 2; end++) {
			snprintf(place, sizeof(place), "%s/pairs/%zu/%d", pointer, i, end);
			check_host(doc, place, pair[end], hosts);
		}
		snprintf(place, sizeof(place), "%s/pairs/%zu", pointer, i);
		if (pair[0] == pair[1])
			conf_error(doc, place, "a host cannot send to itself");
	}
}

static void check_incast(const struct flow_group_conf *conf, struct conf_doc *doc,
			 const char *pointer, uint32_t hosts)
{
	bool incast = conf->pairs.form == PAIRS_NAMED && conf->pairs.kind == PAIRS_INCAST;
	char place[128];

	snprintf(place, sizeof(place), "%s/fan_in", pointer);
	if (incast && !conf->fan_in)
		conf_error(doc, pointer, "incast needs \"fan_in\", the number of senders");
	else if (!incast && conf->fan_in)
		conf_error(doc, place, "only \"pairs\": \"incast\" has a fan_in");
	else if (incast && conf->fan_in >= (int64_t)hosts)
		conf_error(doc, place,
			   "%" PRId64 " senders and a receiver do not fit on %" PRIu32 " hosts",
			   conf->fan_in, hosts);
	snprintf(place, sizeof(place), "%s/receiver", pointer);
	if (incast)
		check_host(doc, place, conf->receiver, hosts);
	else if (conf->receiver_given)
		conf_error(doc, place, "only \"pairs\": \"incast\" has a receiver");
}

static void check_size(const struct flow_group_conf *conf, struct conf_doc *doc,
		       const char *pointer)
{
	char place[128];

	snprintf(place, sizeof(place), "%s/size", pointer);
	if (conf->arrival.form == ARRIVE_TRACE && conf->size_given)
		conf_error(doc, place, "the trace says how large the flows are; leave this out");
	if (conf->arrival.form != ARRIVE_TRACE && !conf->size_given)
		conf_error(doc, pointer, "needs \"size\" (only a flow trace brings its own)");
	snprintf(place, sizeof(place), "%s/size_scale", pointer);
	if (conf->arrival.form == ARRIVE_TRACE && (conf->size.scale < 1 || conf->size.scale > 1))
		conf_error(doc, place, "the trace says how large the flows are; leave this out");
}

void flow_group_check(const struct flow_group_conf *conf, struct conf_doc *doc, const char *pointer,
		      uint32_t hosts, bool bounded)
{
	if (conf->pairs.form == PAIRS_LIST)
		check_pair_list(conf, doc, pointer, hosts);
	check_incast(conf, doc, pointer, hosts);
	check_size(conf, doc, pointer);
	if (conf->arrival.form == ARRIVE_POISSON && !conf->count && conf->stop == FLOWS_RUN_OUT &&
	    !bounded)
		conf_error(doc, pointer,
			   "a Poisson process needs an end: \"count\", or \"stop\": \"jobs_done\", "
			   "or a time limit "
			   "with \"stop\": {\"when\": \"time\"}");
	if (conf->arrival.form == ARRIVE_AT && conf->pairs.form == PAIRS_NAMED &&
	    conf->pairs.kind == PAIRS_UNIFORM && !conf->count)
		conf_error(doc, pointer, "uniform pairs that start together need \"count\"");
}

/* --- files --- */

bool flow_group_trace(const struct flow_group_conf *conf, const char *scenario, uint32_t hosts,
		      struct flow_trace *trace, char **error)
{
	char *path = data_file_find(DATA_ANY, conf->arrival.trace, scenario, error);
	bool good = path && flow_trace_load(trace, path, error);

	for (size_t i = 0; good && i < trace->count; i++) {
		const struct trace_flow *flow = &trace->flows[i];

		if (flow->src < hosts && flow->dst < hosts)
			continue;
		*error = xasprintf("%s: flow %zu goes from host %" PRIu32 " to host %" PRIu32
				   "; hosts are 0 to %" PRIu32,
				   path, i, flow->src, flow->dst, hosts - 1);
		flow_trace_release(trace);
		good = false;
	}
	free(path);
	return good;
}
