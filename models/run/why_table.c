#include "run/why_table.h"

#include "base/mem.h"
#include "run/simulation_state.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define CAUSE(name, help)                                                                          \
	{                                                                                          \
		name "_s", OUT_SECONDS, help                                                       \
	}

static const struct out_column why_columns[] = {
	{ "job_id", OUT_COUNT, "The job." },
	{ "name", OUT_TEXT, "Name of its group." },
	{ "scheme", OUT_TEXT, "All-reduce scheme." },
	{ "iteration", OUT_COUNT, "Number, from 0." },
	{ "worker", OUT_COUNT, "Rank of the worker." },
	{ "host", OUT_COUNT, "Its host." },
	{ "start_s", OUT_SECONDS,
	  "It held all sums of the iteration before (start of the job for the first)." },
	{ "finish_s", OUT_SECONDS, "It holds all sums of this one." },
	{ "duration_s", OUT_SECONDS,
	  "finish_s - start_s: the sum of the causes that follow, exactly." },
	CAUSE("compute", "It computed."),
	CAUSE("jitter", "start_jitter and send_jitter."),
	CAUSE("window", "A sender's window or slots were full."),
	CAUSE("window_marks", "The same of a window that marks had cut."),
	CAUSE("window_losses", "The same of a window that losses had cut."),
	CAUSE("nic", "Behind other packets at a sender's host."),
	CAUSE("wire", "On links, as on an idle path."),
	CAUSE("queue_own", "In queues, behind packets of the same job."),
	CAUSE("queue_jobs", "The same behind those of other jobs."),
	CAUSE("queue_flows", "The same behind those of flows."),
	CAUSE("pause", "In queues that PAUSE had stopped."),
	CAUSE("straggler", "For another worker that computed, or was late by jitter."),
	CAUSE("server", "At a server, for its turn to be added or sent."),
	CAUSE("no_aggregator",
	      "By way of a server, or for a timeout, since a switch had no aggregator."),
	CAUSE("timeout", "For a timeout, to be sent again."),
	CAUSE("fast", "For what was lost to be sent again without a timeout."),
	CAUSE("unexplained", "None of these."),
	{ "last_worker", OUT_COUNT,
	  "Worker that was last for most of the time, other than this one; empty: none." },
	{ "last_times", OUT_COUNT, "How many results of this iteration waited for that one." },
	{ "last_s", OUT_SECONDS, "Time that is charged here to what that one did." },
	{ "link", OUT_TEXT, "Link with most of the time in queues; empty: none." },
	{ "link_s", OUT_SECONDS, "That time, PAUSE included." },
	{ 0 },
};
enum { CAUSES_AT = 9, COLUMNS = sizeof(why_columns) / sizeof(why_columns[0]) - 1 };
static_assert(COLUMNS == CAUSES_AT + WHY_CAUSES + 5, "a column for each cause");

const struct out_schema why_schema = {
	"why.csv",
	"One row a worker and an iteration, with run --why: what the time was spent on. "
	"models/why/why.h has the rule.",
	why_columns
};

struct why_table {
	struct simulation *s;
	struct out_table *table;
	struct why *why;
};

#define LINK_NAME 72

static const char *link_name(const struct simulation *s, uint32_t port, char text[LINK_NAME])
{
	const struct network *net = &s->topo.net;
	char from[32], to[32];

	topology_node_name(&s->topo, net->ports[net->cold[port].reverse].to, from, sizeof(from));
	topology_node_name(&s->topo, net->ports[port].to, to, sizeof(to));
	snprintf(text, LINK_NAME, "%s -> %s", from, to);
	return text;
}

static void add_spent(struct simulation *s, const struct why_row *row)
{
	const struct job_group_conf *groups = scenario_jobs(s->scenario);
	size_t g = 0;

	while (strcmp(groups[g].name, row->name))
		g++;
	s->spent[g].workers++;
	for (unsigned c = 0; c < WHY_CAUSES; c++)
		s->spent[g].cause_s[c] += seconds_of(row->cause[c]);
}

static void write_row(void *owner, const struct why_row *row)
{
	const struct why_table *table = owner;
	bool waited = row->peer.id != UINT32_MAX, queued = row->link.id != UINT32_MAX;
	char link[LINK_NAME] = "";
	struct out_cell cells[COLUMNS] = {
		{ .count = row->job },
		{ .text = row->name },
		{ .text = row->scheme },
		{ .count = row->iteration },
		{ .count = row->worker },
		{ .count = row->host },
		{ .time = row->begin },
		{ .time = row->end },
		{ .time = row->end - row->begin },
	};
	struct out_cell *rest = &cells[CAUSES_AT + WHY_CAUSES];

	if (!table->table)
		return;
	for (unsigned c = 0; c < WHY_CAUSES; c++)
		cells[CAUSES_AT + c].time = row->cause[c];
	rest[0] = (struct out_cell){ .none = !waited, .count = row->peer.id };
	rest[1] = (struct out_cell){ .none = !waited, .count = row->peer.times };
	rest[2] = (struct out_cell){ .none = !waited, .time = row->peer.time };
	rest[3] = (struct out_cell){ .none = !queued,
				     .text = queued ? link_name(table->s, row->link.id, link)
						    : NULL };
	rest[4] = (struct out_cell){ .none = !queued, .time = row->link.time };
	out_table_row(table->table, cells);
	add_spent(table->s, row);
}

struct why_table *why_table_open(struct simulation *s, struct out_dir *dir, char **error)
{
	struct out_table *out = dir ? out_table_open(dir, &why_schema, error) : NULL;
	struct why_table *table;

	if (dir && !out)
		return NULL;
	table = xcalloc(1, sizeof(*table));
	table->s = s;
	table->table = out;
	table->why = why_open(&s->topo.net, write_row, table);
	if (dir)
		s->spent = xcalloc(s->scenario->jobs.count, sizeof(*s->spent));
	s->observer = why_observer(table->why);
	return table;
}

void why_table_free(struct why_table *table)
{
	if (!table)
		return;
	table->s->observer = NULL;
	why_free(table->why);
	free(table);
}
