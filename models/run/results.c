#include "run/results_parts.h"

#include "base/units.h"
#include "run/event_log.h"
#include "run/failures.h"
#include "run/why_table.h"
#include "net/lossless.h"
#include "run/series.h"
#include "topo/links.h"

#include <math.h>

static const struct out_column link_columns[] = {
	{ "link_id", OUT_COUNT, "Number of the egress port." },
	{ "from", OUT_TEXT, "Node that sends." },
	{ "to", OUT_TEXT, "Node that receives." },
	{ "tier", OUT_TEXT, "Tier of the link's lower end." },
	{ "direction", OUT_TEXT,
	  "up: away from hosts; down: towards them; across: between switches of one tier." },
	{ "rate_bps", OUT_COUNT, "Bit rate." },
#define LINK(name, type, words, since, help) { #name, type, help, since },
	LINK_METRICS(LINK)
#undef LINK
		{ 0 },
};
const struct out_schema links_schema = { "links.csv", "One row for each direction of a link.",
					 link_columns };

static const struct out_column aggregator_columns[] = {
	{ "switch", OUT_TEXT, "The switch." },
	{ "scheme", OUT_TEXT, "The scheme whose memory it is." },
	{ "memory_bytes", OUT_COUNT, "Aggregation memory." },
	{ "used_max_bytes", OUT_COUNT,
	  "Largest amount of this memory that was reserved at one time." },
#define COUNTER(member, help) { #member, OUT_COUNT, help },
	SWITCH_COUNTERS(COUNTER)
#undef COUNTER
		{ "held", OUT_COUNT, "Number of times that an aggregator was taken and freed." },
	{ "held_mean_s", OUT_REAL, "Mean time for which an aggregator was held." },
	{ "held_p99_s", OUT_REAL,
	  "99th percentile of that time, with an error of up to 1/32; empty if aggregators were "
	  "held less than 100 times." },
	{ "memory_utilization", OUT_REAL,
	  "Memory in use, averaged over the run, as a share of memory_bytes." },
	{ 0 },
};
const struct out_schema aggregators_schema = {
	"aggregators.csv", "One row for each switch whose aggregation memory was used.",
	aggregator_columns
};

const struct out_schema *const results_schemas[] = {
	&jobs_schema,        &iterations_schema,  &parts_schema,        &flows_schema,
	&links_schema,       &aggregators_schema, &series_schema,       &link_series_schema,
	&flow_series_schema, &events_schema,      &why_schema,          &why_groups_schema,
	&why_links_schema,   &why_hottest_schema, &owner_series_schema, &failures_schema,
	&summary_schema,
};
const size_t results_schema_count = sizeof(results_schemas) / sizeof(results_schemas[0]);

/* --- tables --- */

uint64_t results_max_queue(const struct simulation *s, uint32_t port)
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
	bool no_packets = s->fluid;

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
			{ .text = link_way_names[place.way] },
			{ .count = link->rate },
			{ .none = no_packets, .count = packets },
			{ .count = no_packets ? (uint64_t)llround(wire) : carried }, /* of frames */
			{ .real = seconds > 0 ? wire * 8 / ((double)link->rate * seconds) : 0 },
			{ .none = no_packets, .count = net->cold[number].drops },
			{ .none = no_packets, .count = net->cold[number].losses },
			{ .none = no_packets, .count = net->cold[number].marks },
			{ .none = no_packets, .count = net->cold[number].pauses },
			{ .none = no_packets,
			  .time = net->lossless ? lossless_paused(net, number) : 0 },
			{ .none = no_packets, .count = results_max_queue(s, number) } });
}

/* A cell with the percentile p, from 0 to 1, or with the mean if p is 0. Empty if there is no such
 * value. */
static struct out_cell held_cell(const struct holding_times *held, double p)
{
	double value = !held   ? NAN
		       : p > 0 ? holding_times_percentile(held, p)
			       : holding_times_mean(held);

	return (struct out_cell){ .none = isnan(value), .real = isnan(value) ? 0 : value };
}

static void write_aggregators(const struct simulation *s, unsigned scheme)
{
	bool no_packets = s->fluid;
	const struct collective_memory *memory;
	size_t count = simulation_memory(s, scheme, &memory);

	for (size_t i = 0; i < count; i++) {
		const struct collective_memory *m = &memory[i];
		char name[32];

		if (!m->used_max_bytes && !m->stats.packets_aggregated && !m->stats.fallbacks)
			continue;
		topology_node_name(&s->topo, s->topo.net.hosts + m->sw, name, sizeof(name));
		out_table_row(
			s->aggregators,
			(struct out_cell[]){
				{ .text = name },
				{ .text = scheme_ops(scheme)->name },
				{ .count = m->memory_bytes },
				{ .count = m->used_max_bytes },
#define COUNTER(member, help) { .none = no_packets, .count = m->stats.member },
				SWITCH_COUNTERS(COUNTER)
#undef COUNTER
					{ .none = no_packets || !m->held,
					  .count = m->held ? m->held->count : 0 },
				held_cell(no_packets ? NULL : m->held, 0),
				held_cell(no_packets ? NULL : m->held, 0.99),
				{ .real = collective_utilization(collective_reserved(m, s->sim.now),
								 m->memory_bytes, s->sim.now) } });
	}
}

void results_write_tables(struct simulation *s)
{
	jobs_write_unfinished(s->jobs);
	for (uint32_t i = 0; s->links && i < s->topo.net.port_count; i++)
		write_link(s, i);
	for (unsigned i = 0; s->aggregators && scheme_ops(i); i++)
		write_aggregators(s, i);
}
