/* The results of flows: flows.csv, the summary and the time series. */
#include "workload/flows/flows_parts.h"

#include "base/mem.h"
#include "topo/graph.h"
#include "topo/links.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- flows.csv --- */

static const struct out_column flow_columns[] = {
	{ "flow_id", OUT_COUNT, "Number of the flow, in order of start." },
	{ "group", OUT_TEXT, "Name of its group in the scenario." },
	{ "src", OUT_COUNT, "Sending host." },
	{ "dst", OUT_COUNT, "Receiving host." },
	{ "size_bytes", OUT_COUNT, "Payload; empty for an endless flow." },
	{ "start_s", OUT_SECONDS, "When the first byte was handed to the transport." },
	{ "finish_s", OUT_SECONDS,
	  "When the last byte reached the receiver; empty if it did not." },
	{ "fct_s", OUT_SECONDS, "finish_s - start_s." },
	{ "ideal_fct_s", OUT_SECONDS,
	  "Time that the same transfer takes alone on the same path; empty for an endless flow." },
	{ "slowdown", OUT_REAL, "fct_s / ideal_fct_s; never clamped." },
	{ "retransmissions", OUT_COUNT,
	  "Retransmitted segments until all bytes were acknowledged; empty without packets." },
	{ "measured", OUT_FLAG,
	  "1 if it started in the measured window; only such flows count in summary.json." },
	{ "finished", OUT_FLAG, "1 if the last byte arrived." },
	{ "path", OUT_TEXT,
	  "Switches that the flow's data passes, separated by blanks; sp#2 is reached by the third "
	  "of several parallel links, in the order of links.csv." },
	{ "ack_path", OUT_TEXT, "Switches that the flow's ACKs pass." },
	{ "timeouts", OUT_COUNT, "Retransmission timers that expired; empty without packets." },
	{ "delivered_bytes", OUT_COUNT, "Payload that has reached the receiver, in order.", "0.3" },
	{ "goodput_bps", OUT_REAL,
	  "Bits of delivered_bytes over the time from start_s to finish_s or, unfinished, to the "
	  "end of the run.",
	  "0.3" },
	{ "acked_s", OUT_SECONDS,
	  "When the last byte was acknowledged at the sender; empty if it was not.", "0.3" },
	{ 0 },
};
const struct out_schema flows_schema = {
	"flows.csv",
	"One row for each flow, in the order in which their last bytes were acknowledged; then "
	"flows that were received but not acknowledged, then unfinished ones.",
	flow_columns
};

#define NAME_SIZE 36 /* a name, "#", a number, a blank */

/* Which of several parallel links a port begins; UINT32_MAX if none. Only graphs have some. */
static uint32_t parallel_of(const struct topology *topo, uint32_t port)
{
	const struct network *net = &topo->net;
	uint32_t from = link_place_of(net, port).from;

	if (!topo->conf->graph || from < net->hosts)
		return UINT32_MAX;
	from -= net->hosts;
	return graph_parallel(topo->conf->graph, from,
			      (uint16_t)(port - net->switch_nodes[from].first_port));
}

/* The switches that data passes, or with `back` ACKs. */
static const char *path_of(const struct flow *flow, bool back, char names[HOPS_MAX * NAME_SIZE])
{
	const struct topology *topo = flow->flows->env.topo;
	uint32_t ports[HOPS_MAX + 1];
	struct route route;
	char *end = names;
	unsigned count;

	transport_route(topo, flow->src, flow->dst, flow->id, back, &route);
	count = topology_path(topo, back ? flow->dst : flow->src, &route, ports);
	for (unsigned i = 0; i + 1 < count; i++) { /* the last port leads to the host */
		uint32_t parallel = parallel_of(topo, ports[i]);

		topology_node_name(topo, topo->net.ports[ports[i]].to, end, NAME_SIZE - 1);
		end += strlen(end);
		if (parallel != UINT32_MAX)
			end += snprintf(end, NAME_SIZE / 2, "#%" PRIu32, parallel);
		*end++ = ' ';
	}
	if (end == names) /* a link between two hosts */
		end++;
	end[-1] = 0; /* in place of the last blank */
	return names;
}

/* The counters of a flow's connection; once it is closed, the copy that the flow has. */
static const struct transport_stats *stats_of(const struct flow *flow)
{
	if (flow->flows->env.fluid || flow->settled_at)
		return &flow->sent;
	return connection_stats(&flow->conn);
}

static bytes delivered_by(const struct flow *flow)
{
	if (flow->received)
		return flow->size;
	if (flow->cut_off)
		return flow->delivered;
	if (flow->flows->env.fluid)
		return flow_fluid_delivered(&flow->fluid, fluid_progress(flow->flows->env.fluid));
	return connection_delivered(&flow->conn);
}

/* Bits per second from the start to the end of the flow or of the run. */
static double goodput_of(const struct flow *flow)
{
	bool over = flow->received || flow->cut_off;
	sim_time end = over ? flow->finish : flow->flows->env.sim->now;

	return (double)delivered_by(flow) * 8 / seconds_of(end - flow->start);
}

static void write_row(const struct flow *flow)
{
	char there[HOPS_MAX * NAME_SIZE], back[HOPS_MAX * NAME_SIZE];
	sim_time fct = flow->finish - flow->start;
	bool fluid = flow->flows->env.fluid, finished = flow->received;
	bool endless = flow_is_endless(flow);
	const struct transport_stats *sent = stats_of(flow);

	if (flow->measured)
		flow->flows->timeouts += sent->timeouts;
	if (!fluid && transport_kind((unsigned)flow->group->conf->transport)->roce) {
		flow->flows->again += sent->retransmissions;
		flow->flows->over_roce += endless ? delivered_by(flow) : flow->size;
	}
	if (!flow->flows->table)
		return;
	out_table_row(flow->flows->table,
		      (struct out_cell[]){
			      { .count = flow->id },
			      { .text = flow->group->conf->name },
			      { .count = flow->src },
			      { .count = flow->dst },
			      { .none = endless, .count = flow->size },
			      { .time = flow->start },
			      { .none = !finished, .time = flow->finish },
			      { .none = !finished, .time = fct },
			      { .none = endless, .time = flow->ideal },
			      { .none = !finished, .real = (double)fct / (double)flow->ideal },
			      { .none = fluid, .count = sent->retransmissions },
			      { .flag = flow->measured },
			      { .flag = finished },
			      { .text = path_of(flow, false, there) },
			      { .text = path_of(flow, true, back) },
			      { .none = fluid, .count = sent->timeouts },
			      { .count = delivered_by(flow) },
			      { .real = goodput_of(flow) },
			      { .none = !finished || !flow->settled_at, .time = flow->settled_at },
		      });
}

/* Adds a measured flow that has finished to the summary. */
static void record(struct flow *flow)
{
	struct flow_class *class = flow_class_of(flow->flows, flow->size);
	sim_time fct = flow->finish - flow->start;
	size_t n = class->recorded++;

	class->fct = array_reserve(class->fct, n, &class->fct_capacity, sizeof(*class->fct));
	class->slowdown = array_reserve(class->slowdown, n, &class->slowdown_capacity,
					sizeof(*class->slowdown));
	class->throughput = array_reserve(class->throughput, n, &class->throughput_capacity,
					  sizeof(*class->throughput));
	class->fct[n] = seconds_of(fct);
	class->slowdown[n] = (double)fct / (double)flow->ideal;
	class->throughput[n] = (double)flow->size * 8 / seconds_of(fct);
	jain_add(&flow->group->stats.throughput, class->throughput[n]);
}

static void record_endless(const struct flow *flow)
{
	struct flow_group_stats *stats = &flow->group->stats;

	if (!flow->measured || flow->start >= flow->flows->env.sim->now)
		return;
	stats->delivered += delivered_by(flow);
	jain_add(&stats->throughput, goodput_of(flow));
}

/* --- finished flows --- */

void flow_settle(struct flow *flow)
{
	struct flow_list *list = &flow->flows->settled;

	flow->settled_at = flow->flows->env.sim->now;
	list->items =
		array_reserve(list->items, list->count, &list->capacity, sizeof(*list->items));
	list->items[list->count++] = flow;
}

static int by_id(const void *a, const void *b)
{
	const struct flow *const *x = a, *const *y = b;

	return (*x)->id < (*y)->id ? -1 : (*x)->id > (*y)->id;
}

static int by_time(const void *a, const void *b)
{
	const struct flow *const *x = a, *const *y = b;

	if ((*x)->settled_at != (*y)->settled_at)
		return (*x)->settled_at < (*y)->settled_at ? -1 : 1;
	return by_id(a, b);
}

static void write_finished(struct flow *flow)
{
	if (flow->measured)
		record(flow);
	write_row(flow);
}

void flow_write_settled(struct flows *flows)
{
	struct flow_list *list = &flows->settled;

	if (list->count > 1)
		qsort(list->items, list->count, sizeof(*list->items), by_time);
	for (size_t i = 0; i < list->count; i++) {
		struct flow *flow = list->items[i];

		write_finished(flow);
		flow->next_idle = flows->idle;
		flows->idle = flow;
	}
	list->count = 0;
}

void flows_end(struct flows *flows)
{
	flow_write_settled(flows);
	if (!flows->all_count)
		return;
	qsort(flows->all, flows->all_count, sizeof(*flows->all), by_id);
	for (size_t i = 0; i < flows->all_count; i++)
		if (flows->all[i]->received && !flows->all[i]->settled_at)
			write_finished(flows->all[i]);
	for (size_t i = 0; i < flows->all_count; i++) {
		if (flows->all[i]->received)
			continue;
		if (flow_is_endless(flows->all[i]))
			record_endless(flows->all[i]);
		write_row(flows->all[i]);
	}
}

/* --- classes and groups --- */

void flow_open_classes(struct flows *flows, const struct conf_list *borders)
{
	const bytes *border = borders->items;

	flows->class_count = borders->count + 1;
	flows->classes = xcalloc(flows->class_count, sizeof(*flows->classes));
	for (size_t c = 0; c < flows->class_count; c++)
		flows->classes[c] =
			(struct flow_class){ .from = c ? border[c - 1] : 0,
					     .to = c < borders->count ? border[c] : UINT64_MAX };
}

struct flow_class *flow_class_of(struct flows *flows, bytes size)
{
	struct flow_class *class = flows->classes;

	while (size >= class->to)
		class ++;
	return class;
}

/* --- questions --- */

uint64_t flows_measured_open(const struct flows *flows)
{
	uint64_t open = 0;

	for (size_t c = 0; c < flows->class_count; c++)
		open += flows->classes[c].count - flows->classes[c].finished;
	return open;
}

const struct flow_class *flows_classes(const struct flows *flows, size_t *count)
{
	*count = flows->class_count;
	return flows->classes;
}

uint64_t flows_timeouts(const struct flows *flows)
{
	return flows->timeouts;
}

uint64_t flows_sent_again(const struct flows *flows, bytes *size)
{
	*size = flows->over_roce;
	return flows->again;
}

const struct flow_group_stats *flows_group(const struct flows *flows, size_t group)
{
	return &flows->groups[group].stats;
}

void flows_sample(struct flows *flows, sim_time since, struct flow_sample *samples)
{
	const double *progress = flows->env.fluid ? fluid_progress(flows->env.fluid) : NULL;

	for (size_t g = 0; g < flows->group_count; g++) {
		samples[g] = (struct flow_sample){ .delivered = flows->groups[g].completed };
		flows->groups[g].completed = 0;
	}
	for (size_t i = 0; i < flows->all_count; i++) {
		struct flow *flow = flows->all[i];
		struct flow_sample *sample = &samples[flow->group->number];
		bytes delivered;

		if (flow->received || flow->cut_off)
			continue;
		delivered = progress ? flow_fluid_delivered(&flow->fluid, progress)
				     : connection_delivered(&flow->conn);
		sample->active++;
		sample->delivered += delivered - flow->sampled;
		if (flow->start <= since)
			jain_add(&sample->whole, (double)(delivered - flow->sampled));
		flow->sampled = delivered;
	}
}
