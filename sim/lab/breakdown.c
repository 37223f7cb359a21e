#include "lab/breakdown.h"

#include "base/mem.h"
#include "data/result_read.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define JOBS_MAX 10000000 /* no run has as many; a larger job number is an error */
#define NAMES    64       /* names in each list of an iteration; further ones are left out */
#define OPEN     3        /* iterations of a job, the newest, whose rows' names count */

/* Related causes share a colour. */
const struct breakdown_cause breakdown_causes[BREAKDOWN_CAUSES] = {
	{ "compute", "computing", 1, 1 },
	{ "jitter", "jitter", 1, 3 },
	{ "window", "window", 6, 1 },
	{ "window_marks", "window, by marks", 6, 2 },
	{ "window_losses", "window, by losses", 6, 4 },
	{ "quota", "quota", 4, 2 },
	{ "lock", "lock", 4, 3 },
	{ "nic", "NIC", 3, 2 },
	{ "wire", "wire", 3, 1 },
	{ "inside", "inside machines", 3, 3 },
	{ "queue_own", "queues: own job", 5, 3 },
	{ "queue_jobs", "queues: other jobs", 5, 2 },
	{ "queue_flows", "queues: flows", 5, 1 },
	{ "pause", "PAUSE", 2, 3 },
	{ "straggler", "straggler", 7, 1 },
	{ "bubble", "bubble", 7, 3 },
	{ "server", "server", 7, 2 },
	{ "no_aggregator", "no aggregator", 4, 1 },
	{ "timeout", "timeout", 2, 1 },
	{ "fast", "fast retransmit", 2, 2 },
	{ "failure", "failure", 2, 4 },
	{ "backoff", "timers behind a failure", 8, 2 },
	{ "unexplained", "unexplained", 8, 3 },
};

struct columns {
	int job, name, scheme, iteration, worker, host, start, finish, duration, last, times,
		last_s, link, link_s, pushed, pushed_s;
	int cause[BREAKDOWN_CAUSES];
};

static void find_causes(struct csv *csv, int cause[BREAKDOWN_CAUSES])
{
	for (unsigned i = 0; i < BREAKDOWN_CAUSES; i++) {
		char name[40];

		snprintf(name, sizeof(name), "%s_s", breakdown_causes[i].name);
		cause[i] = csv_need(csv, name);
	}
}

static struct columns find_columns(struct csv *csv)
{
	struct columns c = {
		.job = csv_need(csv, "job_id"),
		.name = csv_need(csv, "name"),
		.scheme = csv_need(csv, "scheme"),
		.iteration = csv_need(csv, "iteration"),
		.worker = csv_need(csv, "worker"),
		.host = csv_need(csv, "host"),
		.start = csv_need(csv, "start_s"),
		.finish = csv_need(csv, "finish_s"),
		.duration = csv_need(csv, "duration_s"),
		.last = csv_need(csv, "last_worker"),
		.times = csv_need(csv, "last_times"),
		.last_s = csv_need(csv, "last_s"),
		.link = csv_need(csv, "link"),
		.link_s = csv_need(csv, "link_s"),
		.pushed = csv_need(csv, "pushed_by"),
		.pushed_s = csv_need(csv, "pushed_s"),
	};

	find_causes(csv, c.cause);
	return c;
}

struct breakdown_names {
	struct breakdown_named last[NAMES], links[NAMES], pushed[NAMES];
};

/* Does nothing if the list is full of other names. */
static void add_named(struct breakdown_named list[NAMES], const char *text, uint64_t times,
		      double time)
{
	size_t i = 0;

	while (i < NAMES && list[i].text && strcmp(list[i].text, text))
		i++;
	if (i == NAMES)
		return;
	if (!list[i].text)
		list[i].text = xstrdup(text);
	list[i].times += times;
	list[i].time += time;
}

/* Takes the name with the most time out of a list, and frees the others. */
static struct breakdown_named take_largest(struct breakdown_named list[NAMES])
{
	struct breakdown_named best = { 0 };

	for (size_t i = 0; i < NAMES && list[i].text; i++) {
		bool better = !best.text || list[i].time > best.time;

		free(better ? best.text : list[i].text);
		best = better ? list[i] : best;
	}
	return best;
}

/* Keeps only the largest name of each list once no more rows come: a list takes kilobytes. */
static void close_names(struct breakdown_iteration *it)
{
	if (!it->open)
		return;
	it->last = take_largest(it->open->last);
	it->link = take_largest(it->open->links);
	it->pushed = take_largest(it->open->pushed);
	free(it->open);
	it->open = NULL;
}

/* Finds the iteration of the current row, or begins it. */
static struct breakdown_iteration *iteration_of(struct breakdown *b, struct csv *csv,
						const struct columns *c)
{
	uint64_t job = csv_u64(csv, c->job), number = csv_u64(csv, c->iteration);
	size_t i;

	if (job >= JOBS_MAX) {
		csv_complain(csv, c->job, "is not the number of a job");
		job = 0;
	}
	while (b->jobs <= job) {
		b->newest = array_reserve(b->newest, b->jobs, &b->job_capacity, sizeof(*b->newest));
		b->newest[b->jobs++] = 0;
	}
	/* like `before`: 1 + index, or 0 for none; workers that wait for no other run ahead */
	for (i = b->newest[job]; i && b->iterations[i - 1].number >= number;
	     i = b->iterations[i - 1].before)
		if (b->iterations[i - 1].number == number)
			return &b->iterations[i - 1];
	if (b->newest[job] && number <= b->iterations[b->newest[job] - 1].number)
		csv_complain(csv, c->iteration, "comes too late, behind rows of later iterations");
	i = b->newest[job];
	for (size_t n = 1; i && n < OPEN; n++)
		i = b->iterations[i - 1].before;
	if (i)
		close_names(&b->iterations[i - 1]);
	b->iterations =
		array_reserve(b->iterations, b->count, &b->capacity, sizeof(*b->iterations));
	b->iterations[b->count] =
		(struct breakdown_iteration){ .job = job,
					      .number = number,
					      .before = b->newest[job],
					      .open = xcalloc(1, sizeof(struct breakdown_names)),
					      .name = xstrdup(csv_text(csv, c->name)),
					      .scheme = xstrdup(csv_text(csv, c->scheme)) };
	b->newest[job] = ++b->count;
	return &b->iterations[b->count - 1];
}

static void add_row(struct breakdown *b, struct csv *csv, const struct columns *c)
{
	struct breakdown_iteration *it = iteration_of(b, csv, c);
	double duration = csv_real(csv, c->duration);

	for (unsigned i = 0; i < BREAKDOWN_CAUSES; i++) {
		it->cause[i] += csv_real(csv, c->cause[i]);
		b->cause[i] += csv_real(csv, c->cause[i]);
	}
	it->sum += duration;
	b->workers += !it->number; /* each worker has one row of iteration 0 */
	if (!it->workers++ || duration > it->longest) {
		it->longest = duration;
		it->worst = csv_u64(csv, c->worker);
		it->host = csv_u64(csv, c->host);
		it->begin = csv_real(csv, c->start);
		it->end = csv_real(csv, c->finish);
	}
	if (!it->open)
		return;
	if (!csv_empty(csv, c->last))
		add_named(it->open->last, csv_text(csv, c->last), csv_u64(csv, c->times),
			  csv_real(csv, c->last_s));
	if (!csv_empty(csv, c->link))
		add_named(it->open->links, csv_text(csv, c->link), 1, csv_real(csv, c->link_s));
	if (!csv_empty(csv, c->pushed))
		add_named(it->open->pushed, csv_text(csv, c->pushed), 1,
			  csv_real(csv, c->pushed_s));
}

static int by_name(const void *a, const void *b)
{
	const struct breakdown_group *x = a, *y = b;

	if (x->job != y->job)
		return x->job < y->job ? -1 : 1;
	return strcmp(x->name, y->name);
}

static int by_sum(const void *a, const void *b)
{
	const struct breakdown_group *x = a, *y = b;

	if (x->job != y->job)
		return x->job < y->job ? -1 : 1;
	return x->sum != y->sum ? (x->sum < y->sum ? 1 : -1) : strcmp(x->name, y->name);
}

/* Makes one of the rows of a job's group; sorts by job, then the longest first. */
static void merge_groups(struct breakdown *b)
{
	size_t kept = 0;

	if (!b->group_count)
		return;
	qsort(b->groups, b->group_count, sizeof(*b->groups), by_name);
	for (size_t i = 1; i < b->group_count; i++) {
		struct breakdown_group *at = &b->groups[i], *last = &b->groups[kept];

		if (by_name(at, last)) {
			b->groups[++kept] = *at;
			continue;
		}
		last->sum += at->sum;
		for (unsigned c = 0; c < BREAKDOWN_CAUSES; c++)
			last->cause[c] += at->cause[c];
		free(at->name);
	}
	b->group_count = kept + 1;
	qsort(b->groups, b->group_count, sizeof(*b->groups), by_sum);
}

static bool read_groups(struct breakdown *b, const char *dir, char **error)
{
	struct csv *csv = result_table(dir, "why-groups.csv", error);
	int job, group, time, cause[BREAKDOWN_CAUSES];

	if (!csv)
		return !*error;
	job = csv_need(csv, "job_id");
	group = csv_need(csv, "group");
	time = csv_need(csv, "time_s");
	find_causes(csv, cause);
	while (csv_next(csv)) {
		struct breakdown_group *it;

		b->groups = array_reserve(b->groups, b->group_count, &b->group_capacity,
					  sizeof(*b->groups));
		it = &b->groups[b->group_count++];
		*it = (struct breakdown_group){ .job = csv_u64(csv, job),
						.name = xstrdup(csv_text(csv, group)),
						.sum = csv_real(csv, time) };
		for (unsigned i = 0; i < BREAKDOWN_CAUSES; i++)
			it->cause[i] = csv_real(csv, cause[i]);
	}
	merge_groups(b);
	return csv_close(csv, error);
}

static int by_number(const void *a, const void *b)
{
	const struct breakdown_iteration *x = a, *y = b;

	if (x->job != y->job)
		return x->job < y->job ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

struct share_columns {
	int job, iteration, link, utilization, owner_job, owner, bytes;
};

/* A row says how many bytes an owner sent over a link. The owner is a job if the row has a job
 * number; else flows, if it has a name; else PAUSE frames. */
static void add_share(struct breakdown *b, struct csv *csv, const struct share_columns *c)
{
	struct breakdown_iteration key = { .job = csv_u64(csv, c->job),
					   .number = csv_u64(csv, c->iteration) };
	struct breakdown_iteration *it =
		bsearch(&key, b->iterations, b->count, sizeof(key), by_number);
	const char *owner = csv_empty(csv, c->owner) ? "PAUSE" : csv_text(csv, c->owner);

	if (!it) {
		csv_complain(csv, c->iteration, "is not an iteration of why.csv");
		return;
	}
	b->shares =
		array_reserve(b->shares, b->share_count, &b->share_capacity, sizeof(*b->shares));
	if (!it->share_count++) /* rows of an iteration are neighbours */
		it->first_share = b->share_count;
	b->shares[b->share_count++] = (struct breakdown_share){
		.link = xstrdup(csv_text(csv, c->link)),
		.owner = csv_empty(csv, c->owner_job) ? xstrdup(owner)
						      : xasprintf("%s (job %" PRIu64 ")", owner,
								  csv_u64(csv, c->owner_job)),
		.utilization = csv_real(csv, c->utilization),
		.bytes = csv_u64(csv, c->bytes),
	};
}

static bool read_shares(struct breakdown *b, const char *dir, char **error)
{
	struct csv *csv = result_table(dir, "why-links.csv", error);

	if (!csv)
		return !*error;
	const struct share_columns columns = { .job = csv_need(csv, "job_id"),
					       .iteration = csv_need(csv, "iteration"),
					       .link = csv_need(csv, "link"),
					       .utilization = csv_need(csv, "utilization"),
					       .owner_job = csv_need(csv, "owner_job_id"),
					       .owner = csv_need(csv, "owner"),
					       .bytes = csv_need(csv, "bytes") };

	while (csv_next(csv))
		add_share(b, csv, &columns);
	return csv_close(csv, error);
}

bool breakdown_read(struct breakdown *b, const char *dir, char **error)
{
	struct csv *csv = result_table(dir, "why.csv", error);
	struct columns columns;

	*b = (struct breakdown){ 0 };
	if (!csv)
		return false;
	columns = find_columns(csv);
	while (csv_next(csv))
		add_row(b, csv, &columns);
	for (size_t i = 0; i < b->count; i++)
		close_names(&b->iterations[i]);
	if (b->count)
		qsort(b->iterations, b->count, sizeof(*b->iterations), by_number);
	return csv_close(csv, error) && read_groups(b, dir, error) && read_shares(b, dir, error);
}

void breakdown_release(struct breakdown *b)
{
	for (size_t i = 0; i < b->count; i++) {
		struct breakdown_iteration *it = &b->iterations[i];

		free(it->last.text);
		free(it->link.text);
		free(it->pushed.text);
		free(it->name);
		free(it->scheme);
	}
	for (size_t i = 0; i < b->share_count; i++) {
		free(b->shares[i].link);
		free(b->shares[i].owner);
	}
	for (size_t i = 0; i < b->group_count; i++)
		free(b->groups[i].name);
	free(b->groups);
	free(b->shares);
	free(b->iterations);
	free(b->newest);
}

size_t breakdown_job_end(const struct breakdown *b, size_t first)
{
	size_t end = first;

	while (end < b->count && b->iterations[end].job == b->iterations[first].job)
		end++;
	return end;
}
