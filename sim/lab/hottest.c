#include "lab/hottest.h"

#include "base/mem.h"
#include "data/result_read.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- links --- */

struct link_columns {
	int id, from, to, rate, bytes, utilization, drops, marks, queue;
};

/* Streams of the fluid fidelity have no packets, so some cells are empty. */
static uint64_t count_of(struct csv *csv, int column)
{
	return csv_empty(csv, column) ? 0 : csv_u64(csv, column);
}

static void add_link(struct hottest *hottest, struct csv *csv, const struct link_columns *c)
{
	struct hottest_link link = { .utilization = csv_real(csv, c->utilization) };
	size_t place = hottest->count;
	double rate = csv_real(csv, c->rate);

	while (place && link.utilization > hottest->links[place - 1].utilization)
		place--;
	if (place == HOTTEST || !(link.utilization > 0))
		return;
	link.id = csv_u64(csv, c->id);
	link.bytes = csv_u64(csv, c->bytes);
	link.busy_s = rate > 0 ? (double)link.bytes * 8 / rate : 0;
	link.drops = count_of(csv, c->drops);
	link.marks = count_of(csv, c->marks);
	link.queue = count_of(csv, c->queue);
	link.name = xasprintf("%s -> %s", csv_text(csv, c->from), csv_text(csv, c->to));
	if (hottest->count == HOTTEST)
		free(hottest->links[--hottest->count].name);
	memmove(&hottest->links[place + 1], &hottest->links[place],
		(hottest->count - place) * sizeof(link));
	hottest->links[place] = link;
	hottest->count++;
}

static bool read_links(struct hottest *hottest, const char *dir, char **error)
{
	struct csv *csv = result_table(dir, "links.csv", error);
	size_t capacity = 0;
	double *all = NULL;

	if (!csv)
		return !*error;
	const struct link_columns columns = { .id = csv_need(csv, "link_id"),
					      .from = csv_need(csv, "from"),
					      .to = csv_need(csv, "to"),
					      .rate = csv_need(csv, "rate_bps"),
					      .bytes = csv_need(csv, "bytes"),
					      .utilization = csv_need(csv, "utilization"),
					      .drops = csv_need(csv, "drops"),
					      .marks = csv_need(csv, "ecn_marks"),
					      .queue = csv_need(csv, "max_queue_bytes") };

	while (csv_next(csv)) {
		all = array_reserve(all, hottest->all, &capacity, sizeof(*all));
		all[hottest->all++] = csv_real(csv, columns.utilization);
		add_link(hottest, csv, &columns);
	}
	for (size_t i = 0; i < hottest->all && hottest->count; i++)
		hottest->alike += all[i] >= 0.99 * hottest->links[0].utilization;
	free(all);
	return csv_close(csv, error);
}

/* --- users --- */

/* `job`: 1 + its number; 0: none. */
static void add_user(struct hottest_link *link, const char *name, uint64_t job, uint64_t bytes)
{
	size_t i = 0;

	while (i < link->user_count &&
	       (strcmp(link->users[i].name, name) || !link->users[i].jobs != !job))
		i++;
	if (i == link->user_count) {
		link->users = xrealloc(link->users, ++link->user_count, sizeof(*link->users));
		link->users[i] = (struct hottest_user){ .name = xstrdup(name), .job = job - 1 };
	}
	link->users[i].jobs += job != 0;
	link->users[i].bytes += bytes;
}

static int by_bytes(const void *a, const void *b)
{
	const struct hottest_user *x = a, *y = b;

	if (x->bytes != y->bytes)
		return x->bytes > y->bytes ? -1 : 1;
	return strcmp(x->name, y->name);
}

static bool read_users(struct hottest *hottest, const char *dir, char **error)
{
	struct csv *csv = result_table(dir, "why-hottest.csv", error);
	int id, job, owner, bytes;

	if (!csv)
		return !*error;
	id = csv_need(csv, "link_id");
	job = csv_need(csv, "owner_job_id");
	owner = csv_need(csv, "owner");
	bytes = csv_need(csv, "bytes");
	while (csv_next(csv))
		for (size_t i = 0; i < hottest->count; i++)
			if (hottest->links[i].id == csv_u64(csv, id))
				add_user(&hottest->links[i],
					 csv_empty(csv, owner) ? "PAUSE" : csv_text(csv, owner),
					 csv_empty(csv, job) ? 0 : csv_u64(csv, job) + 1,
					 csv_u64(csv, bytes));
	for (size_t i = 0; i < hottest->count; i++)
		if (hottest->links[i].user_count)
			qsort(hottest->links[i].users, hottest->links[i].user_count,
			      sizeof(*hottest->links[i].users), by_bytes);
	return csv_close(csv, error);
}

bool hottest_read(struct hottest *hottest, const char *dir, char **error)
{
	*hottest = (struct hottest){ 0 };
	return read_links(hottest, dir, error) && read_users(hottest, dir, error);
}

void hottest_release(struct hottest *hottest)
{
	for (size_t i = 0; i < hottest->count; i++) {
		for (size_t u = 0; u < hottest->links[i].user_count; u++)
			free(hottest->links[i].users[u].name);
		free(hottest->links[i].users);
		free(hottest->links[i].name);
	}
}

char *hottest_users(const struct hottest_link *link)
{
	char *text;
	size_t length;
	FILE *to = open_memstream(&text, &length);
	double all = 0;

	for (size_t u = 0; u < link->user_count; u++)
		all += (double)link->users[u].bytes;
	for (size_t u = 0; u < link->user_count; u++) {
		const struct hottest_user *user = &link->users[u];

		fprintf(to, "%s%s", u ? ", " : "", user->name);
		if (user->jobs == 1)
			fprintf(to, " (job %" PRIu64 ")", user->job);
		else if (user->jobs)
			fprintf(to, " (%" PRIu64 " jobs)", user->jobs);
		fprintf(to, " %.3g %%", 100 * (double)user->bytes / all);
	}
	fclose(to);
	return text;
}
