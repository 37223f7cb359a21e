#include "lab/compare/fairness.h"

#include "base/mem.h"
#include "data/result_read.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What a member got, and in what time. */
struct table {
	const char *file, *prefix, *group;
	const char *bytes, *times; /* what it got is their product; `times` NULL: 1 */
	const char *from, *to;     /* its time is their difference; `from` NULL: 0 */
};

static const struct table tables[] = {
	{ .file = "flows.csv",
	  .prefix = FAIRNESS_PREFIX "flows.",
	  .group = "group",
	  .bytes = "size_bytes",
	  .to = "fct_s" },
	{ .file = "jobs.csv",
	  .prefix = FAIRNESS_PREFIX "jobs.",
	  .group = "name",
	  .bytes = "gradient_bytes",
	  .times = "iterations_done",
	  .from = "start_s",
	  .to = "finish_s" },
};

struct columns {
	int group, bytes, times, from, to, measured, finished;
};

static struct fairness_group *group_of(struct fairness *fairness, const char *prefix,
				       const char *name)
{
	char *metric = xasprintf("%s%s", prefix, name);
	for (size_t i = fairness->count; i-- > 0;)
		if (strcmp(fairness->groups[i].metric, metric) == 0) {
			free(metric);
			return &fairness->groups[i];
		}
	fairness->groups = array_reserve(fairness->groups, fairness->count, &fairness->capacity,
					 sizeof *fairness->groups);
	struct fairness_group *group = &fairness->groups[fairness->count++];
	*group = (struct fairness_group){ .metric = metric, .index = NAN };
	return group;
}

static void add_member(struct fairness *fairness, struct csv *csv, const struct columns *c,
		       const char *prefix)
{
	bool finished = csv_flag(csv, c->finished);
	if (!csv_flag(csv, c->measured))
		return;
	struct fairness_group *group = group_of(fairness, prefix, csv_text(csv, c->group));
	group->count++;
	if (!finished)
		return;
	double got = csv_real(csv, c->bytes) * (c->times < 0 ? 1 : csv_real(csv, c->times));
	double seconds = csv_real(csv, c->to) - (c->from < 0 ? 0 : csv_real(csv, c->from));
	jain_add(&group->rates, got / seconds);
	group->finished++;
}

static bool read_table(struct fairness *fairness, const char *dir, const struct table *table,
		       char **error)
{
	struct csv *csv = result_table(dir, table->file, error);
	if (csv == NULL)
		return *error == NULL;
	struct columns columns = { .group = csv_need(csv, table->group),
				   .bytes = csv_need(csv, table->bytes),
				   .times = csv_need(csv, table->times),
				   .from = csv_need(csv, table->from),
				   .to = csv_need(csv, table->to),
				   .measured = csv_need(csv, "measured"),
				   .finished = csv_need(csv, "finished") };
	while (csv_next(csv))
		add_member(fairness, csv, &columns, table->prefix);
	return csv_close(csv, error);
}

bool fairness_read(const char *dir, struct fairness *fairness, char **error)
{
	*fairness = (struct fairness){ 0 };
	for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
		if (!read_table(fairness, dir, &tables[i], error)) {
			fairness_release(fairness);
			return false;
		}
	for (size_t i = 0; i < fairness->count; i++) {
		struct fairness_group *group = &fairness->groups[i];
		if (group->finished >= 2)
			group->index = jain_index(&group->rates);
	}
	return true;
}

void fairness_release(struct fairness *fairness)
{
	for (size_t i = 0; i < fairness->count; i++)
		free(fairness->groups[i].metric);
	free(fairness->groups);
	*fairness = (struct fairness){ 0 };
}

const struct fairness_group *fairness_find(const struct fairness *fairness, const char *metric)
{
	for (size_t i = 0; i < fairness->count; i++)
		if (strcmp(fairness->groups[i].metric, metric) == 0)
			return &fairness->groups[i];
	return NULL;
}
