#include "workload/flows.h"

#include "base/mem.h"
#include "workload/data_file.h"
#include "workload/job_trace.h"
#include "workload/size_cdf.h"

#include <inttypes.h>
#include <stdlib.h>

/* --- rows --- */

static const struct conf_row size_cdf_rows[] = {
	{ .name = "cdf", .type = CONF_STRING, .offset = offsetof(struct size_conf, cdf), .def = CONF_REQUIRED,
	  .help = "Name of a table in traces/cdf, or of a file." },
	{ 0 },
};
static const struct conf_table size_cdf_table = { "size_cdf", size_cdf_rows, sizeof(struct size_conf),
						  "Sizes drawn from a distribution." };
static const struct conf_row size_forms[] = {
	{ .name = "fixed", .type = CONF_BYTES, .offset = offsetof(struct flow_group_conf, size.fixed), .min = 1,
	  .max = UINT64_C(1) << 50, .help = "All flows of one size." },
	{ .name = "drawn", .type = CONF_OBJECT, .offset = offsetof(struct flow_group_conf, size),
	  .table = &size_cdf_table, .help = "Drawn from a distribution." },
	{ 0 },
};
static const struct conf_table size_table = { "flow_size", size_forms, sizeof(struct flow_group_conf), NULL };

static const struct conf_row at_rows[] = {
	{ .name = "at", .type = CONF_TIME, .offset = offsetof(struct arrival_conf, at), .def = CONF_REQUIRED,
	  .help = "All at this time: one flow for each pair." },
	{ 0 },
};
static const struct conf_table at_table = { "flows_at", at_rows, sizeof(struct arrival_conf), NULL };
static const struct conf_row poisson_rows[] = {
	{ .name = "poisson_load", .type = CONF_REAL, .offset = offsetof(struct arrival_conf, load), .rmin = 0.0001,
	  .rmax = 10, .def = CONF_REQUIRED,
	  .help = "Poisson arrivals; mean payload bits per second and host, as a fraction of the host's link rate." },
	{ 0 },
};
static const struct conf_table poisson_table = { "flows_poisson", poisson_rows, sizeof(struct arrival_conf), NULL };
static const struct conf_row trace_rows[] = {
	{ .name = "trace", .type = CONF_STRING, .offset = offsetof(struct arrival_conf, trace), .def = CONF_REQUIRED,
	  .help = "CSV file with columns start_s, src, dst, size_bytes." },
	{ 0 },
};
static const struct conf_table trace_table = { "flows_trace", trace_rows, sizeof(struct arrival_conf), NULL };
static const struct conf_row arrival_forms[] = {
	{ .name = "at", .type = CONF_OBJECT, .offset = offsetof(struct flow_group_conf, arrival), .table = &at_table,
	  .help = "Together." },
	{ .name = "poisson", .type = CONF_OBJECT, .offset = offsetof(struct flow_group_conf, arrival),
	  .table = &poisson_table, .help = "A Poisson process." },
	{ .name = "trace", .type = CONF_OBJECT, .offset = offsetof(struct flow_group_conf, arrival),
	  .table = &trace_table, .help = "As recorded." },
	{ 0 },
};
static const struct conf_table arrival_table = { "flow_arrival", arrival_forms, sizeof(struct flow_group_conf), NULL };

static const char *const pair_names[] = { [PAIRS_UNIFORM] = "uniform", [PAIRS_PERMUTATION] = "permutation",
					  [PAIRS_INCAST] = "incast", NULL };
static const struct conf_row host_row = { .type = CONF_INT, .imin = 0, .imax = 1000000, .help = "Host number." };
static const struct conf_row pair_row = { .type = CONF_LIST, .min = 2, .max = 2, .item = &host_row,
					  .help = "[source, destination]" };
static const struct conf_row pairs_forms[] = {
	{ .name = "named", .type = CONF_ENUM, .offset = offsetof(struct flow_group_conf, pairs.kind),
	  .choices = pair_names,
	  .help = "uniform: any two hosts; permutation: each host to another, all different; incast: fan_in hosts "
		  "to one." },
	{ .name = "list", .type = CONF_LIST, .offset = offsetof(struct flow_group_conf, pairs.list), .min = 1,
	  .item = &pair_row, .help = "[[source, destination], ...]" },
	{ 0 },
};
static const struct conf_table pairs_table = { "flow_pairs", pairs_forms, sizeof(struct flow_group_conf), NULL };

static const char *const stop_names[] = { [FLOWS_RUN_OUT] = "never", [FLOWS_STOP_WITH_JOBS] = "jobs_done", NULL };

static const struct conf_row group_rows[] = {
	{ .name = "name", .type = CONF_STRING, .offset = offsetof(struct flow_group_conf, name), .def = "\"flows\"",
	  .help = "Name in results." , .source = "a label"},
	{ .name = "transport", .type = CONF_ENUM, .offset = offsetof(struct flow_group_conf, transport),
	  .choices = cc_names, .def = "\"dctcp\"", .help = "Congestion control.", .source = "PANAMA section 7" },
	{ .name = "size", .type = CONF_ONEOF, .offset = offsetof(struct flow_group_conf, size),
	  .tag = offsetof(struct flow_group_conf, size.form), .table = &size_table, .def = "\"1MB\"",
	  .help = "Payload bytes of a flow.", .source = "our choice" },
	{ .name = "arrival", .type = CONF_ONEOF, .offset = offsetof(struct flow_group_conf, arrival),
	  .tag = offsetof(struct flow_group_conf, arrival.form), .table = &arrival_table, .def = "{\"at\": \"0s\"}",
	  .help = "When flows start.", .source = "our choice" },
	{ .name = "pairs", .type = CONF_ONEOF, .offset = offsetof(struct flow_group_conf, pairs),
	  .tag = offsetof(struct flow_group_conf, pairs.form), .table = &pairs_table, .def = "\"uniform\"",
	  .help = "Who sends to whom.", .source = "PANAMA section 7" },
	{ .name = "fan_in", .type = CONF_INT, .offset = offsetof(struct flow_group_conf, fan_in), .imin = 1,
	  .imax = 1000000, .def = CONF_OPTIONAL, .help = "incast: number of senders." },
	{ .name = "receiver", .type = CONF_INT, .offset = offsetof(struct flow_group_conf, receiver), .imin = 0,
	  .imax = 1000000, .def = "0", .help = "incast: the host that receives.", .source = "our choice" },
	{ .name = "count", .type = CONF_INT, .offset = offsetof(struct flow_group_conf, count), .imin = 1,
	  .imax = INT64_C(1000000000), .def = CONF_OPTIONAL,
	  .help = "Number of flows; needed for a Poisson process that nothing else stops." },
	{ .name = "stop", .type = CONF_ENUM, .offset = offsetof(struct flow_group_conf, stop), .choices = stop_names,
	  .def = "\"never\"", .help = "jobs_done: no new flow after the last job.", .source = "our choice" },
	{ 0 },
};
const struct conf_table flow_group_table = { "flow_group", group_rows, sizeof(struct flow_group_conf),
					     "A generator of background flows." };

const bytes flow_class_bounds[FLOW_CLASSES + 1] = { 0, 10000, 100000, 1000000, 10000000, UINT64_MAX };

static const struct out_column flow_columns[] = {
	{ "flow_id", OUT_COUNT, "Number of the flow in the order of starts." },
	{ "group", OUT_TEXT, "Name of its group in the scenario." },
	{ "src", OUT_COUNT, "Sending host." },
	{ "dst", OUT_COUNT, "Receiving host." },
	{ "size_bytes", OUT_COUNT, "Payload." },
	{ "start_s", OUT_SECONDS, "The first byte is handed to the transport." },
	{ "finish_s", OUT_SECONDS, "The last byte is at the receiver; empty if that did not happen." },
	{ "fct_s", OUT_SECONDS, "finish_s - start_s." },
	{ "ideal_fct_s", OUT_SECONDS, "The same transfer alone on the same path." },
	{ "slowdown", OUT_REAL, "fct_s / ideal_fct_s; never clamped." },
	{ "retransmissions", OUT_COUNT, "Segments sent again until the end of the flow." },
	{ "measured", OUT_FLAG, "Started after the warm-up; only these enter summary.json." },
	{ "finished", OUT_FLAG, "1 if the last byte arrived." },
	{ 0 },
};
const struct out_schema flows_schema = { "flows.csv", "One row a flow, in the order of completion; unfinished ones last.",
					 flow_columns };

/* --- checks --- */

static void check_host(struct conf_doc *doc, const char *pointer, int64_t host, uint32_t hosts)
{
	if (host >= (int64_t)hosts)
		conf_error(doc, pointer, "there is no host %" PRId64 "; hosts are 0 to %" PRIu32, host, hosts - 1);
}

static void check_pair_list(const struct flow_group_conf *conf, struct conf_doc *doc, const char *pointer,
			    uint32_t hosts)
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

void flow_group_check(const struct flow_group_conf *conf, struct conf_doc *doc, const char *pointer,
		      uint32_t hosts, bool bounded)
{
	char place[128];
	bool incast = conf->pairs.form == PAIRS_NAMED && conf->pairs.kind == PAIRS_INCAST;

	if (conf->pairs.form == PAIRS_LIST)
		check_pair_list(conf, doc, pointer, hosts);
	snprintf(place, sizeof(place), "%s/fan_in", pointer);
	if (incast && !conf->fan_in)
		conf_error(doc, pointer, "incast needs \"fan_in\", the number of senders");
	else if (!incast && conf->fan_in)
		conf_error(doc, place, "only \"pairs\": \"incast\" has a fan_in");
	else if (incast && conf->fan_in >= (int64_t)hosts)
		conf_error(doc, place, "%" PRId64 " senders and a receiver do not fit on %" PRIu32 " hosts",
			   conf->fan_in, hosts);
	snprintf(place, sizeof(place), "%s/receiver", pointer);
	if (incast)
		check_host(doc, place, conf->receiver, hosts);
	if (conf->arrival.form == ARRIVE_POISSON && !conf->count && conf->stop == FLOWS_RUN_OUT && !bounded)
		conf_error(doc, pointer,
			   "a Poisson process needs an end: \"count\", or \"stop\": \"jobs_done\", or a time limit "
			   "with \"stop\": {\"when\": \"time\"}");
	if (conf->arrival.form == ARRIVE_AT && conf->pairs.form == PAIRS_NAMED &&
	    conf->pairs.kind == PAIRS_UNIFORM && !conf->count)
		conf_error(doc, pointer, "uniform pairs that start together need \"count\"");
}

/* --- generators --- */

struct group {
	struct flows *flows;
	const struct flow_group_conf *conf;
	uint32_t number;
	struct size_cdf *cdf;
	struct flow_trace trace;
	struct rng arrivals, sizes, pairs;
	uint32_t *order; /* a permutation of the hosts */
	double mean_gap_ps; /* Poisson */
	uint64_t made, limit; /* UINT64_MAX = none */
	bool stopped;
	struct timer timer;
};

struct flow {
	struct flows *flows;
	struct group *group;
	uint64_t id;
	uint32_t conn, src, dst;
	bytes size;
	sim_time start, ideal;
	bool received, measured;
	struct flow *next_idle;
};

struct flows {
	struct model_env env;
	struct group *groups;
	size_t group_count;
	sim_time warmup;
	struct out_table *table;
	struct flow **all; /* every flow object ever made, for the end */
	size_t all_count, all_capacity;
	struct flow *idle;
	uint64_t started, finished, closed;
	struct flow_class classes[FLOW_CLASSES];
	void (*changed)(void *owner);
	void *owner;
};

static struct flow_class *class_of(struct flows *flows, bytes size)
{
	int c = 0;

	while (size >= flow_class_bounds[c + 1])
		c++;
	return &flows->classes[c];
}

static void write_row(const struct flow *flow, sim_time finish, bool finished)
{
	sim_time fct = finish - flow->start;
	struct out_cell cells[] = {
		{ .count = flow->id },
		{ .text = flow->group->conf->name },
		{ .count = flow->src },
		{ .count = flow->dst },
		{ .count = flow->size },
		{ .time = flow->start },
		{ .none = !finished, .time = finish },
		{ .none = !finished, .time = fct },
		{ .time = flow->ideal },
		{ .none = !finished, .real = (double)fct / (double)flow->ideal },
		{ .count = tcp_stats(flow->flows->env.tcp, flow->conn)->retransmissions },
		{ .flag = flow->measured },
		{ .flag = finished },
	};

	if (flow->flows->table)
		out_table_row(flow->flows->table, cells);
}

static void record(struct flow *flow, sim_time fct)
{
	struct flow_class *class = class_of(flow->flows, flow->size);
	size_t n = class->finished;

	class->finished++;
	class->fct = array_reserve(class->fct, n, &class->fct_capacity, sizeof(*class->fct));
	class->slowdown = array_reserve(class->slowdown, n, &class->slowdown_capacity, sizeof(*class->slowdown));
	class->throughput = array_reserve(class->throughput, n, &class->throughput_capacity,
					  sizeof(*class->throughput));
	class->fct[n] = seconds_of(fct);
	class->slowdown[n] = (double)fct / (double)flow->ideal;
	class->throughput[n] = (double)flow->size * 8 / seconds_of(fct);
}

/* At the receiver: the flow is complete. */
static void on_delivered(void *owner, uint64_t total)
{
	struct flow *flow = owner;
	struct flows *flows = flow->flows;
	sim_time now = flows->env.sim->now, fct = now - flow->start;

	(void)total;
	flow->received = true;
	flows->finished++;
	if (fct < flow->ideal) {
		checks_violated(flows->env.checks, &flows->env.checks->conservation_violations,
				"flow %" PRIu64 " took %.12f s, less than its ideal %.12f s", flow->id,
				seconds_of(fct), seconds_of(flow->ideal));
		sim_stop(flows->env.sim);
	}
	if (flow->measured)
		record(flow, fct);
	write_row(flow, now, true);
	if (flows->changed)
		flows->changed(flows->owner);
}

/* At the sender: everything is acknowledged, the connection may go. */
static void on_drained(void *owner)
{
	struct flow *flow = owner;
	struct flows *flows = flow->flows;

	tcp_close(flows->env.tcp, flow->conn);
	flow->next_idle = flows->idle;
	flows->idle = flow;
	flows->closed++;
}

static const struct tcp_app flow_app = { .delivered = on_delivered, .drained = on_drained };

static struct flow *take_flow(struct flows *flows)
{
	struct flow *flow = flows->idle;

	if (flow) {
		flows->idle = flow->next_idle;
		return flow;
	}
	flow = xcalloc(1, sizeof(*flow));
	flows->all = array_reserve(flows->all, flows->all_count, &flows->all_capacity, sizeof(*flows->all));
	flows->all[flows->all_count++] = flow;
	return flow;
}

static void start_flow(struct group *group, uint32_t src, uint32_t dst, bytes size)
{
	struct flows *flows = group->flows;
	struct tcp *tcp = flows->env.tcp;
	struct flow *flow = take_flow(flows);

	*flow = (struct flow){
		.flows = flows,
		.group = group,
		.id = flows->started++,
		.src = src,
		.dst = dst,
		.size = size,
		.start = flows->env.sim->now,
		.measured = flows->env.sim->now >= flows->warmup,
	};
	group->made++;
	if (flow->measured)
		class_of(flows, size)->count++;
	flow->conn = tcp_open(tcp, src, dst, cc_kind((unsigned)group->conf->transport), flow->id, &flow_app, flow);
	flow->ideal = tcp_ideal(tcp, flow->conn, size);
	tcp_expect(tcp, flow->conn, size);
	tcp_write(tcp, flow->conn, size);
}

static bytes draw_size(struct group *group)
{
	return group->cdf ? size_cdf_draw(group->cdf, &group->sizes) : group->conf->size.fixed;
}

/* The pair of the group's n-th flow. */
static void draw_pair(struct group *group, uint64_t n, uint32_t *src, uint32_t *dst)
{
	uint32_t hosts = group->flows->env.topo->net.hosts;
	const struct flow_group_conf *conf = group->conf;
	bool together = conf->arrival.form == ARRIVE_AT;

	if (conf->pairs.form == PAIRS_LIST) {
		uint64_t i = together ? n : rng_below(&group->pairs, conf->pairs.list.count);
		const struct conf_list *pair =
			&((const struct conf_list *)conf->pairs.list.items)[i % conf->pairs.list.count];

		*src = (uint32_t)((const int64_t *)pair->items)[0];
		*dst = (uint32_t)((const int64_t *)pair->items)[1];
		return;
	}
	switch ((enum pairs_kind)conf->pairs.kind) {
	case PAIRS_UNIFORM:
		*src = (uint32_t)rng_below(&group->pairs, hosts);
		*dst = (uint32_t)rng_below(&group->pairs, hosts - 1);
		*dst += *dst >= *src;
		return;
	case PAIRS_PERMUTATION: {
		/* the next host on one random cycle: nobody sends to itself */
		uint64_t i = together ? n % hosts : rng_below(&group->pairs, hosts);

		*src = group->order[i];
		*dst = group->order[(i + 1) % hosts];
		return;
	}
	case PAIRS_INCAST: {
		uint64_t i = together ? n % (uint64_t)conf->fan_in : rng_below(&group->pairs, (uint64_t)conf->fan_in);

		*dst = (uint32_t)conf->receiver;
		*src = group->order[i];
		return;
	}
	}
}

static void start_drawn(struct group *group)
{
	uint32_t src = 0, dst = 0;

	draw_pair(group, group->made, &src, &dst);
	start_flow(group, src, dst, draw_size(group));
}

static bool group_done(const struct group *group)
{
	return group->stopped || group->made >= group->limit;
}

static void schedule_poisson(struct group *group)
{
	double gap = rng_exponential(&group->arrivals) * group->mean_gap_ps;

	timer_set(group->flows->env.sim, &group->timer, group->flows->env.sim->now + (sim_time)gap + 1);
}

static void on_arrival(struct sim *sim, uint32_t entity, void *owner)
{
	struct group *group = owner;

	(void)entity;
	if (group_done(group))
		return;
	switch ((enum arrival_form)group->conf->arrival.form) {
	case ARRIVE_AT:
		while (!group_done(group))
			start_drawn(group);
		return;
	case ARRIVE_POISSON:
		start_drawn(group);
		if (!group_done(group))
			schedule_poisson(group);
		return;
	case ARRIVE_TRACE:
		while (!group_done(group) && group->trace.flows[group->made].start <= sim->now) {
			const struct trace_flow *next = &group->trace.flows[group->made];

			start_flow(group, next->src, next->dst, next->size);
		}
		if (!group_done(group))
			timer_set(sim, &group->timer, group->trace.flows[group->made].start);
		return;
	}
}

/* --- set-up --- */

static bool load_trace(struct group *group, const char *scenario, char **error)
{
	char *path = data_file_find(DATA_ANY, group->conf->arrival.trace, scenario, error);
	uint32_t hosts = group->flows->env.topo->net.hosts;
	bool good;

	if (!path)
		return false;
	good = flow_trace_load(&group->trace, path, error);
	for (size_t i = 0; good && i < group->trace.count; i++) {
		const struct trace_flow *flow = &group->trace.flows[i];

		if (flow->src < hosts && flow->dst < hosts && flow->src != flow->dst)
			continue;
		*error = xasprintf("%s: flow %zu goes from host %" PRIu32 " to host %" PRIu32
				   "; hosts are 0 to %" PRIu32 ", and differ",
				   path, i, flow->src, flow->dst, hosts - 1);
		good = false;
	}
	free(path);
	return good;
}

static bool load_cdf(struct group *group, const char *scenario, char **error)
{
	char *path = data_file_find(DATA_CDF, group->conf->size.cdf, scenario, error);

	if (!path)
		return false;
	group->cdf = size_cdf_load(path, error);
	free(path);
	return group->cdf != NULL;
}

static uint64_t flow_limit(const struct group *group)
{
	const struct flow_group_conf *conf = group->conf;

	if (conf->arrival.form == ARRIVE_TRACE)
		return conf->count && (uint64_t)conf->count < group->trace.count ? (uint64_t)conf->count :
										    group->trace.count;
	if (conf->count)
		return (uint64_t)conf->count;
	if (conf->arrival.form == ARRIVE_POISSON)
		return UINT64_MAX;
	if (conf->pairs.form == PAIRS_LIST)
		return conf->pairs.list.count;
	return conf->pairs.kind == PAIRS_INCAST ? (uint64_t)conf->fan_in : group->flows->env.topo->net.hosts;
}

/* A random order of the hosts; for incast, without the receiver. */
static void shuffle_hosts(struct group *group)
{
	uint32_t hosts = group->flows->env.topo->net.hosts, n = 0;
	bool incast = group->conf->pairs.kind == PAIRS_INCAST;
	struct rng rng;

	group->order = xcalloc(hosts, sizeof(*group->order));
	for (uint32_t h = 0; h < hosts; h++)
		if (!incast || h != (uint32_t)group->conf->receiver)
			group->order[n++] = h;
	rng_init(&rng, group->flows->env.sim->seed, "flow permutation", group->number);
	rng_shuffle(&rng, group->order, n);
}

static bool group_init(struct group *group, const char *scenario, char **error)
{
	const struct flow_group_conf *conf = group->conf;
	struct sim *sim = group->flows->env.sim;
	const struct topology *topo = group->flows->env.topo;

	rng_init(&group->arrivals, sim->seed, "flow arrivals", group->number);
	rng_init(&group->sizes, sim->seed, "flow sizes", group->number);
	rng_init(&group->pairs, sim->seed, "flow pairs", group->number);
	timer_open(sim, &group->timer, SIM_CONTROL, sim_key(SIM_CONTROL, group->number), on_arrival, group);
	if (conf->size.form == SIZE_CDF && !load_cdf(group, scenario, error))
		return false;
	if (conf->arrival.form == ARRIVE_TRACE && !load_trace(group, scenario, error))
		return false;
	shuffle_hosts(group);
	group->limit = flow_limit(group);
	if (conf->arrival.form == ARRIVE_POISSON) {
		double mean = group->cdf ? size_cdf_mean(group->cdf) : (double)conf->size.fixed;
		double per_s = conf->arrival.load * (double)topo->conf->link.rate * topo->net.hosts / (8 * mean);

		group->mean_gap_ps = (double)PS_PER_S / per_s;
		schedule_poisson(group);
	} else if (group->limit) {
		timer_set(sim, &group->timer,
			  conf->arrival.form == ARRIVE_AT ? conf->arrival.at : group->trace.flows[0].start);
	}
	return true;
}

struct flows *flows_new(const struct model_env *env, const struct flow_group_conf *groups, size_t count,
			const char *scenario, sim_time warmup, struct out_table *table, char **error)
{
	struct flows *flows = xcalloc(1, sizeof(*flows));

	flows->env = *env;
	flows->groups = xcalloc(count, sizeof(*flows->groups));
	flows->group_count = count;
	flows->warmup = warmup;
	flows->table = table;
	for (size_t i = 0; i < count; i++) {
		flows->groups[i] = (struct group){ .flows = flows, .conf = &groups[i], .number = (uint32_t)i };
		if (!group_init(&flows->groups[i], scenario, error)) {
			flows_free(flows);
			return NULL;
		}
	}
	return flows;
}

void flows_free(struct flows *flows)
{
	if (!flows)
		return;
	for (size_t i = 0; i < flows->group_count; i++) {
		size_cdf_free(flows->groups[i].cdf);
		flow_trace_release(&flows->groups[i].trace);
		free(flows->groups[i].order);
	}
	for (size_t i = 0; i < flows->all_count; i++)
		free(flows->all[i]);
	for (int c = 0; c < FLOW_CLASSES; c++) {
		free(flows->classes[c].fct);
		free(flows->classes[c].slowdown);
		free(flows->classes[c].throughput);
	}
	free(flows->all);
	free(flows->groups);
	free(flows);
}

void flows_jobs_done(struct flows *flows)
{
	for (size_t i = 0; i < flows->group_count; i++)
		if (flows->groups[i].conf->stop == FLOWS_STOP_WITH_JOBS)
			flows->groups[i].stopped = true;
}

bool flows_done(const struct flows *flows)
{
	for (size_t i = 0; i < flows->group_count; i++)
		if (!group_done(&flows->groups[i]))
			return false;
	return flows->finished == flows->started;
}

double flows_progress(const struct flows *flows)
{
	double limit = 0;

	for (size_t i = 0; i < flows->group_count; i++) {
		if (flows->groups[i].limit == UINT64_MAX)
			return 0;
		limit += (double)flows->groups[i].limit;
	}
	return limit > 0 ? (double)flows->finished / limit : 1;
}

uint64_t flows_started(const struct flows *flows)
{
	return flows->started;
}

uint64_t flows_finished(const struct flows *flows)
{
	return flows->finished;
}

const struct flow_class *flows_classes(const struct flows *flows)
{
	return flows->classes;
}

void flows_on_change(struct flows *flows, void (*changed)(void *owner), void *owner)
{
	flows->changed = changed;
	flows->owner = owner;
}

static int by_id(const void *a, const void *b)
{
	const struct flow *const *x = a, *const *y = b;

	return (*x)->id < (*y)->id ? -1 : (*x)->id > (*y)->id;
}

void flows_write_unfinished(struct flows *flows)
{
	qsort(flows->all, flows->all_count, sizeof(struct flow *), by_id);
	for (size_t i = 0; i < flows->all_count; i++)
		if (flows->all[i]->flows && !flows->all[i]->received)
			write_row(flows->all[i], 0, false);
}
