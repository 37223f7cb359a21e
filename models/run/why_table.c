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

/* A column for each cause. */
#define WHY_COLUMNS                                                                                \
	CAUSE("compute", "The worker computed."),                                                  \
		CAUSE("jitter", "Random delays: start_jitter and send_jitter."),                   \
		CAUSE("window", "Waited because a sender's window or slots were full."),           \
		CAUSE("window_marks", "Waited for a window that ECN marks had cut."),              \
		CAUSE("window_losses", "Waited for a window that losses had cut."),                \
		CAUSE("quota", "Waited because all buffers that the job may use (OSTs of SHARP) "  \
			       "were in use."),                                                    \
		CAUSE("lock", "Waited for the lock of a tree (SHARP)."),                           \
		CAUSE("nic", "Waited behind other packets at a sender's host."),                   \
		CAUSE("wire", "Time on links, as on an idle path."),                               \
		CAUSE("inside",                                                                    \
		      "Time on links among the GPUs of a machine, and waits for these."),          \
		CAUSE("queue_own", "Waited in queues behind packets of the same job."),            \
		CAUSE("queue_jobs", "Waited in queues behind packets of other jobs."),             \
		CAUSE("queue_flows", "Waited in queues behind packets of flows."),                 \
		CAUSE("pause", "Waited in queues that PAUSE had stopped."),                        \
		CAUSE("straggler",                                                                 \
		      "Waited for another worker that still computed or that jitter delayed."),    \
		CAUSE("bubble",                                                                    \
		      "Waited for a message of a pipeline whose stages still computed."),          \
		CAUSE("server",                                                                    \
		      "Waited at a server to be added or sent, or for the latency of a step."),    \
		CAUSE("no_aggregator", "Detour over a server, or wait for a timeout, because a "   \
				       "switch had no aggregator."),                               \
		CAUSE("timeout", "Waited for a timeout before a retransmission."),                 \
		CAUSE("fast", "Waited for a retransmission that needed no timeout."),              \
		CAUSE("failure", "Waited for the job controller, or for a way, after a link or "   \
				 "switch had failed."),                                            \
		CAUSE("backoff",                                                                   \
		      "Waited, when there was a way again, for a timer that had backed off."),     \
		CAUSE("unexplained", "None of these.")

static const struct out_column why_columns[] = {
	{ "job_id", OUT_COUNT, "The job." },
	{ "name", OUT_TEXT, "Name of its group." },
	{ "scheme", OUT_TEXT, "All-reduce scheme." },
	{ "iteration", OUT_COUNT, "Number, from 0." },
	{ "worker", OUT_COUNT, "Rank of the worker." },
	{ "host", OUT_COUNT, "Its host." },
	{ "start_s", OUT_SECONDS,
	  "When the worker held all sums of the previous iteration; for the first one, start of "
	  "the job." },
	{ "finish_s", OUT_SECONDS, "When the worker held all sums of this iteration." },
	{ "duration_s", OUT_SECONDS,
	  "finish_s - start_s: the sum of the causes that follow, exactly." },
	WHY_COLUMNS,
	{ "last_worker", OUT_COUNT, "Other worker that this one waited for longest; empty: none." },
	{ "last_times", OUT_COUNT,
	  "Number of results of this iteration that waited for last_worker." },
	{ "last_s", OUT_SECONDS, "Time of this row that was spent waiting for last_worker." },
	{ "link", OUT_TEXT, "Link in whose queues most time was spent; empty: none." },
	{ "link_s", OUT_SECONDS, "Time in the queues of that link, including stops by PAUSE." },
	{ "pushed_by", OUT_COUNT,
	  "Job whose packets preempted aggregators of this job at the greatest cost in time; may "
	  "be the job itself; empty: none." },
	{ "pushed_s", OUT_SECONDS, "Time of this row that these preemptions cost." },
	{ 0 },
};
/* There are CAUSES_AT columns before the causes, and 7 after them. */
enum { CAUSES_AT = 9, COLUMNS = sizeof(why_columns) / sizeof(why_columns[0]) - 1 };
static_assert(COLUMNS == CAUSES_AT + WHY_CAUSES + 7, "a column for each cause");

const struct out_schema why_schema = {
	"why.csv",
	"With run --why: one row for each worker and iteration, with what its time was spent on. "
	"models/why/why.h has the rule.",
	why_columns
};

static const struct out_column group_columns[] = {
	{ "job_id", OUT_COUNT, "The job." },
	{ "name", OUT_TEXT, "Name of its group." },
	{ "iteration", OUT_COUNT, "Number, from 0." },
	{ "group", OUT_TEXT,
	  "What workers waited for: the name or kind of a group of ranks; pipeline: messages "
	  "between "
	  "stages; own: nothing, they computed; other: what no result has ended, and in the last "
	  "iteration the time from a worker's end to the job's." },
	{ "time_s", OUT_SECONDS,
	  "Time of all workers together: the sum of the causes that follow, exactly. All rows of a "
	  "job add up to its running time, once for each worker." },
	WHY_COLUMNS,
	{ 0 },
};
enum { GROUP_CAUSES_AT = 5, GROUP_COLUMNS = GROUP_CAUSES_AT + WHY_CAUSES };
static_assert(sizeof(group_columns) / sizeof(group_columns[0]) - 1 == GROUP_COLUMNS,
	      "a column for each cause");

const struct out_schema why_groups_schema = {
	"why-groups.csv",
	"With run --why: one row for each iteration of a job and each group of ranks that workers "
	"waited for while they did not compute.",
	group_columns
};

#define BUSIEST 4 /* most links written per iteration */

static const struct out_column link_columns[] = {
	{ "job_id", OUT_COUNT, "The job." },
	{ "name", OUT_TEXT, "Name of its group." },
	{ "iteration", OUT_COUNT, "Number, from 0." },
	{ "start_s", OUT_SECONDS,
	  "When the last worker held all sums of the previous iteration; for the first one, start "
	  "of the job." },
	{ "finish_s", OUT_SECONDS, "When the last worker held all sums of this iteration." },
	{ "link", OUT_TEXT, "The link. Links of an iteration are listed busiest first." },
	{ "utilization", OUT_REAL,
	  "Bytes of all owners as a share of what the link could carry from start_s to finish_s." },
	{ "owner_job_id", OUT_COUNT,
	  "Job that sent the bytes; empty: flows sent them, or nobody. Largest owner first." },
	{ "owner", OUT_TEXT,
	  "Name of the group of that job, or of the flows; empty: PAUSE frames." },
	{ "bytes", OUT_COUNT,
	  "Bytes of the owner's frames that reached the far end, including ACKs, control packets, "
	  "and frames that were lost there." },
	{ 0 },
};

const struct out_schema why_links_schema = {
	"why-links.csv",
	"With run --why: one row for each iteration of a job, each of the 4 busiest links that the "
	"job used, and each owner of frames that the link carried meanwhile.",
	link_columns
};

#define HOTTEST 5 /* links of the run */

static const struct out_column hottest_columns[] = {
	{ "link_id", OUT_COUNT, "Number of the link in links.csv." },
	{ "owner_job_id", OUT_COUNT,
	  "Job that sent the bytes; empty: flows sent them, or nobody. Largest owner first." },
	{ "owner", OUT_TEXT,
	  "Name of the group of that job, or of the flows; empty: PAUSE frames." },
	{ "bytes", OUT_COUNT, "Bytes of the owner's frames that reached the far end in the run." },
	{ 0 },
};

const struct out_schema why_hottest_schema = {
	"why-hottest.csv",
	"With run --why: one row for each of the 5 links with the highest utilization of the run, "
	"and each owner of frames that it carried.",
	hottest_columns
};

struct why_table {
	struct simulation *s;
	struct out_table *table, *groups, *links,
		*hottest; /* by the names of files; NULL: not written */
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

/* What is largest of links goes into a short list, largest first; of equal ones the lower port. */
static void insert(double *list, uint32_t *ports, unsigned length, double value, uint32_t port)
{
	unsigned place = length;

	for (; place && value > list[place - 1]; place--) {
		list[place] = list[place - 1];
		ports[place] = ports[place - 1];
	}
	list[place] = value;
	ports[place] = port;
}

/* Writes the busiest links that the job used, busiest first; of equal links, lower ports first. */
static void write_busiest(const struct why_table *table, const struct why_row *row)
{
	/* sorted; the last place is for a link that is not among the busiest */
	double use[BUSIEST + 1] = { 0 };
	uint32_t ports[BUSIEST + 1];

	for (uint32_t port = 0; port < table->s->topo.net.port_count; port++)
		insert(use, ports, BUSIEST, use_of(table, port, row), port);
	for (unsigned i = 0; i < BUSIEST && use[i] > 0; i++)
		write_owners(table, ports[i], use[i], row);
}

static void write_groups(const struct why_table *table, const struct why_row *row)
{
	for (uint32_t p = 0; p < row->part_count; p++) {
		const struct why_part *part = &row->parts[p];
		struct out_cell cells[GROUP_COLUMNS] = { { .count = row->job },
							 { .text = row->name },
							 { .count = row->iteration },
							 { .text = part->name } };

		for (unsigned c = 0; c < WHY_CAUSES; c++) {
			cells[GROUP_CAUSES_AT + c].time = part->cause[c];
			cells[GROUP_CAUSES_AT - 1].time += part->cause[c];
		}
		if (cells[GROUP_CAUSES_AT - 1].time)
			out_table_row(table->groups, cells);
	}
}

/* Only a job's last row of an iteration has `before`; the tables of iterations are for this row. */
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
	if (!row->before)
		return;
	write_groups(table, row);
	write_busiest(table, row);
}

struct why_table *why_table_open(struct simulation *s, struct out_dir *dir, char **error)
{
	struct out_table *out = dir ? out_table_open(dir, &why_schema, error) : NULL;
	struct out_table *groups = out ? out_table_open(dir, &why_groups_schema, error) : NULL;
	struct out_table *links = groups ? out_table_open(dir, &why_links_schema, error) : NULL;
	struct out_table *hottest = links ? out_table_open(dir, &why_hottest_schema, error) : NULL;
	struct why_table *table;

	if (dir && (!hottest || !series_by_owner(s->series, dir, error)))
		return NULL;
	table = xcalloc(1, sizeof(*table));
	table->s = s;
	table->table = out;
	table->groups = groups;
	table->links = links;
	table->hottest = hottest;
	table->why = why_open(&s->topo.net, write_row, table);
	if (dir)
		s->spent = xcalloc(s->scenario->jobs.count, sizeof(*s->spent));
	simulation_observe(s, why_observer(table->why));
	return table;
}

static void write_users(const struct why_table *table, uint32_t port)
{
	const struct why_snapshot none = { 0 };
	const struct why_snapshot *list = why_carried(table->why, &port, 1, &none);

	qsort(list->volumes, list->count, sizeof(*list->volumes), by_bytes);
	for (size_t i = 0; i < list->count; i++) {
		uint32_t owner = list->volumes[i].owner;
		const char *name = why_owner_name(table->s, owner);

		out_table_row(table->hottest,
			      (struct out_cell[]){ { .count = port },
						   why_owner_job(owner),
						   { .none = !name, .text = name },
						   { .count = why_bytes(&list->volumes[i]) } });
	}
}

static void write_hottest(const struct why_table *table)
{
	const struct network *net = &table->s->topo.net;
	double use[HOTTEST + 1] = { 0 };
	uint32_t ports[HOTTEST + 1];

	for (uint32_t port = 0; port < net->port_count; port++)
		insert(use, ports, HOTTEST,
		       simulation_carried(table->s, port) /
			       (double)port_class(net, &net->ports[port])->rate,
		       port);
	for (unsigned i = 0; i < HOTTEST && use[i] > 0; i++)
		write_users(table, ports[i]);
}

void why_table_free(struct why_table *table)
{
	if (!table)
		return;
	if (table->hottest)
		write_hottest(table);
	why_free(table->why);
	free(table);
}
