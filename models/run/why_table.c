#include "run/why_table.h"

#include "base/mem.h"
#include "run/series.h"
#include "run/simulation_state.h"
#include "topo/links.h"

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
	CAUSE("quota", "All buffers that the job may use (OSTs of SHARP) were in use."),
	CAUSE("lock", "For the lock of a tree (SHARP)."),
	CAUSE("nic", "Behind other packets at a sender's host."),
	CAUSE("wire", "On links, as on an idle path."),
	CAUSE("queue_own", "In queues, behind packets of the same job."),
	CAUSE("queue_jobs", "The same behind those of other jobs."),
	CAUSE("queue_flows", "The same behind those of flows."),
	CAUSE("pause", "In queues that PAUSE had stopped."),
	CAUSE("straggler", "For another worker that computed, or was late by jitter."),
	CAUSE("server",
	      "At a server, for its turn to be added or sent; for the latency of a step."),
	CAUSE("no_aggregator",
	      "By way of a server, or for a timeout, since a switch had no aggregator."),
	CAUSE("timeout", "For a timeout, to be sent again."),
	CAUSE("fast", "For what was lost to be sent again without a timeout."),
	CAUSE("failure", "For the controller of jobs, after a link or switch had failed."),
	CAUSE("unexplained", "None of these."),
	{ "last_worker", OUT_COUNT,
	  "Worker that was last for most of the time, other than this one; empty: none." },
	{ "last_times", OUT_COUNT, "How many results of this iteration waited for that one." },
	{ "last_s", OUT_SECONDS, "Time that is charged here to what that one did." },
	{ "link", OUT_TEXT, "Link with most of the time in queues; empty: none." },
	{ "link_s", OUT_SECONDS, "That time, PAUSE included." },
	{ "pushed_by", OUT_COUNT,
	  "Job whose packets pushed sums of this one out of aggregators, for most of the time; it "
	  "may "
	  "be the job itself; empty: none." },
	{ "pushed_s", OUT_SECONDS, "Time that is charged here to that." },
	{ 0 },
};
/* There are CAUSES_AT columns before the causes, and 7 after them. */
enum { CAUSES_AT = 9, COLUMNS = sizeof(why_columns) / sizeof(why_columns[0]) - 1 };
static_assert(COLUMNS == CAUSES_AT + WHY_CAUSES + 7, "a column for each cause");

const struct out_schema why_schema = {
	"why.csv",
	"One row a worker and an iteration, with run --why: what the time was spent on. "
	"models/why/why.h has the rule.",
	why_columns
};

#define BUSIEST 4 /* most links written per iteration */

static const struct out_column link_columns[] = {
	{ "job_id", OUT_COUNT, "The job." },
	{ "name", OUT_TEXT, "Name of its group." },
	{ "iteration", OUT_COUNT, "Number, from 0." },
	{ "start_s", OUT_SECONDS,
	  "Its last worker held all sums of the iteration before (start of the job for the "
	  "first)." },
	{ "finish_s", OUT_SECONDS, "Its last worker holds all sums of this one." },
	{ "link", OUT_TEXT, "The link, busiest first." },
	{ "utilization", OUT_REAL,
	  "Bytes of all owners over what the link could carry from start_s to finish_s." },
	{ "owner_job_id", OUT_COUNT,
	  "Whose bytes: a job's; empty: of flows, or nobody's. Largest first." },
	{ "owner", OUT_TEXT,
	  "Name of the group of that job, or of the flows; empty: PAUSE frames." },
	{ "bytes", OUT_COUNT,
	  "Bytes of its frames that reached the far end, with ACKs and control packets, and with "
	  "those that were lost there." },
	{ 0 },
};

const struct out_schema why_links_schema = { "why-links.csv",
					     "One row an iteration of a job, one of the 4 busiest "
					     "links that it used, and an owner of what "
					     "that link carried meanwhile, with run --why.",
					     link_columns };

struct why_table {
	struct simulation *s;
	struct out_table *table, *links; /* why.csv, why-links.csv; NULL: not written */
	struct why *why;
};

/* Adds a row to s->spent of the first group with the row's name. */
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

/* --- who filled the busiest links --- */

const char *why_owner_name(const struct simulation *s, uint32_t owner)
{
	if (owner & WHY_FLOWS)
		return scenario_flows(s->scenario)[owner & ~WHY_FLOWS].name;
	return owner ? why_job_name(why_of(&s->topo.net), owner - 1) : NULL;
}

struct out_cell why_owner_job(uint32_t owner)
{
	bool none = !owner || owner & WHY_FLOWS;

	return (struct out_cell){ .none = none, .count = none ? 0 : owner - 1 };
}

/* Utilization of a link since the start of the iteration; 0 if the job has not used the link. */
static double use_of(const struct why_table *table, uint32_t port, const struct why_row *row)
{
	const struct network *net = &table->s->topo.net;
	const struct why_snapshot *list = why_carried(table->why, &port, 1, row->before);
	double could = (double)port_class(net, &net->ports[port])->rate / 8 *
		       seconds_of(row->end - row->since);
	bool used = false;
	uint64_t all = 0;

	for (size_t i = 0; i < list->count; i++) {
		used |= list->volumes[i].owner == row->job + 1; /* struct why_volume */
		all += why_bytes(&list->volumes[i]);
	}
	return used ? (double)all / could : 0;
}

static int by_bytes(const void *a, const void *b)
{
	uint64_t x = why_bytes(a), y = why_bytes(b);

	return x > y ? -1 : x < y;
}

static void write_owners(const struct why_table *table, uint32_t port, double use,
			 const struct why_row *row)
{
	const struct why_snapshot *list = why_carried(table->why, &port, 1, row->before);
	char link[LINK_NAME];

	qsort(list->volumes, list->count, sizeof(*list->volumes), by_bytes);
	link_name(&table->s->topo, port, link);
	for (size_t i = 0; i < list->count; i++) {
		uint32_t owner = list->volumes[i].owner;
		const char *name = why_owner_name(table->s, owner);

		out_table_row(table->links,
			      (struct out_cell[]){ { .count = row->job },
						   { .text = row->name },
						   { .count = row->iteration },
						   { .time = row->since },
						   { .time = row->end },
						   { .text = link },
						   { .real = use },
						   why_owner_job(owner),
						   { .none = !name, .text = name },
						   { .count = why_bytes(&list->volumes[i]) } });
	}
}

/* Writes the busiest links that the job used, busiest first; of equal links, lower ports first. */
static void write_busiest(const struct why_table *table, const struct why_row *row)
{
	/* sorted; the last place is for a link that is not among the busiest */
	double use[BUSIEST + 1] = { 0 };
	uint32_t ports[BUSIEST + 1];

	for (uint32_t port = 0; port < table->s->topo.net.port_count; port++) {
		double here = use_of(table, port, row);
		unsigned place = BUSIEST;

		for (; place && here > use[place - 1]; place--) {
			use[place] = use[place - 1];
			ports[place] = ports[place - 1];
		}
		use[place] = here;
		ports[place] = port;
	}
	for (unsigned i = 0; i < BUSIEST && use[i] > 0; i++)
		write_owners(table, ports[i], use[i], row);
}

/* Only a job's last row of an iteration has `before`; write_busiest() is for this row. */
static void write_row(void *owner, const struct why_row *row)
{
	const struct why_table *table = owner;
	bool waited = row->peer.id != UINT32_MAX, queued = row->link.id != UINT32_MAX;
	bool pushed = row->rival.id != UINT32_MAX;
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

	if (!table->table) /* only a timeline was asked for */
		return;
	for (unsigned c = 0; c < WHY_CAUSES; c++)
		cells[CAUSES_AT + c].time = row->cause[c];
	rest[0] = (struct out_cell){ .none = !waited, .count = row->peer.id };
	rest[1] = (struct out_cell){ .none = !waited, .count = row->peer.times };
	rest[2] = (struct out_cell){ .none = !waited, .time = row->peer.time };
	rest[3] = (struct out_cell){ .none = !queued,
				     .text = queued ? link_name(&table->s->topo, row->link.id, link)
						    : NULL };
	rest[4] = (struct out_cell){ .none = !queued, .time = row->link.time };
	rest[5] = (struct out_cell){ .none = !pushed, .count = row->rival.id };
	rest[6] = (struct out_cell){ .none = !pushed, .time = row->rival.time };
	out_table_row(table->table, cells);
	add_spent(table->s, row);
	if (row->before)
		write_busiest(table, row);
}

struct why_table *why_table_open(struct simulation *s, struct out_dir *dir, char **error)
{
	struct out_table *out = dir ? out_table_open(dir, &why_schema, error) : NULL;
	struct out_table *links = out ? out_table_open(dir, &why_links_schema, error) : NULL;
	struct why_table *table;

	if (dir && (!links || !series_by_owner(s->series, dir, error)))
		return NULL;
	table = xcalloc(1, sizeof(*table));
	table->s = s;
	table->table = out;
	table->links = links;
	table->why = why_open(&s->topo.net, write_row, table);
	if (dir)
		s->spent = xcalloc(s->scenario->jobs.count, sizeof(*s->spent));
	simulation_observe(s, why_observer(table->why));
	return table;
}

void why_table_free(struct why_table *table)
{
	if (!table)
		return;
	why_free(table->why);
	free(table);
}
