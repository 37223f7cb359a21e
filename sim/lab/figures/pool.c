#include "lab/figures/pool.h"

#include "base/mem.h"
#include "conf/conf.h"
#include "data/folder.h"
#include "data/metrics.h"
#include "data/result_read.h"
#include "data/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MEAN    ".mean"
#define BY_NAME ".by_name."

/* ---- Quantities ---- */

/* The metric of a run that a quantity is, or NULL. What stands before it, "jobs" or
 * "jobs.by_name.NAME", has *before bytes; its first part, "jobs", has *first. */
static const struct metric *metric_of(const char *quantity, size_t *first, size_t *before)
{
	const char *dot = strrchr(quantity, '.'); /* a user's name may have dots, too */
	char of[16];

	if (!dot)
		return NULL;
	*first = strcspn(quantity, ".");
	*before = (size_t)(dot - quantity);
	if (*first < *before && strncmp(quantity + *first, BY_NAME, strlen(BY_NAME)))
		return NULL;
	snprintf(of, sizeof(of), "%.*s", (int)*first, quantity);
	return metric_find(of, dot + 1, strlen(dot + 1));
}

size_t pool_metric(const struct sweep_table *table, const char *quantity)
{
	size_t first = 0, before = 0;
	const struct metric *metric = metric_of(quantity, &first, &before);

	if (!metric || metric->level > LEVEL_FLOW || metric->some)
		return SIZE_MAX;
	return sweep_table_metric(table, conf_at(table->doc, "%s" MEAN, quantity));
}

const char *pool_quantity(const struct sweep_table *table, size_t metric)
{
	const char *name = table->metrics[metric];

	return conf_at(table->doc, "%.*s", (int)(strlen(name) - strlen(MEAN)), name);
}

/* ---- Reading ---- */

static void add(struct pool *pool, const struct value_group *group)
{
	pool->values =
		xrealloc(pool->values, pool->count + group->count + 1, sizeof(*pool->values));
	if (group->count)
		memcpy(pool->values + pool->count, group->values,
		       group->count * sizeof(*pool->values));
	pool->count += group->count;
	pool->unfinished += group->unfinished;
}

/* Reads one point: all rows, or those of `name`, as one group. */
static void read_point(struct pool *pool, struct figure *f, const struct metric *metric,
		       const char *name)
{
	const struct metric_source *source = &metric_sources[metric->level];
	const struct values_query query = { .file = source->file,
					    .columns = { metric->column },
					    .group = name ? source->group : NULL,
					    .work = source->finished };
	struct values *values = &pool->of[pool->replications];
	const struct value_group *group = NULL;

	values_read(values, f, &query); /* false without an error: nothing has finished */
	if (name)
		group = values_find(values, name);
	else if (values->group_count)
		group = values->groups;
	pool->parts[pool->replications++] = group;
	if (group)
		add(pool, group);
}

bool pool_read(struct pool *pool, struct figure *f, const struct sheet *sheet, size_t column,
	       size_t row)
{
	const struct group *cell = sheet_group(sheet, column, row);
	const char *quantity = pool_quantity(sheet->table, sheet->metric), *name = NULL;
	size_t first = 0, before = 0;
	const struct metric *metric = metric_of(quantity, &first, &before);

	*pool = (struct pool){ 0 };
	if (first < before) {
		first += strlen(BY_NAME);
		name = conf_at(sheet->table->doc, "%.*s", (int)(before - first), quantity + first);
	}
	pool->of = xcalloc((cell ? cell->count : 0) + 1, sizeof(*pool->of));
	pool->parts = xcalloc((cell ? cell->count : 0) + 1, sizeof(*pool->parts));
	for (size_t i = 0; cell && i < cell->count && !f->error; i++) {
		char *points = folder_join(sheet->table->dir, "points");
		char *dir = folder_join(points, cell->points[i]->hash);

		f->dir = dir;
		if (cell->points[i]->usable)
			read_point(pool, f, metric, name);
		f->dir = sheet->table->dir;
		free(dir);
		free(points);
	}
	stats_sort(pool->values, pool->count);
	return !f->error;
}

void pool_release(struct pool *pool)
{
	for (size_t i = 0; i < pool->replications; i++)
		values_release(&pool->of[i]);
	free(pool->of);
	free(pool->parts);
	free(pool->values);
}

/* ---- Percentiles ---- */

/* Of one replication: NaN if there is none, or fewer than 1 / (1 - p) values. */
static double section(const struct value_group *group, double p)
{
	size_t all = group ? group->count + group->unfinished : 0;
	double rank = ceil(p * (double)all * (1 - 1e-12)); /* as in stats_rank() */

	return rank < (double)all && rank <= (double)group->count && rank > 0
		       ? group->values[(size_t)rank - 1]
		       : NAN;
}

struct estimate pool_percentile(const struct pool *pool, double p, size_t *rank)
{
	double *sections = xcalloc(pool->replications + 1, sizeof(*sections)), value;
	struct estimate e;

	*rank = stats_rank(pool->count + pool->unfinished, p);
	*rank = *rank <= pool->count ? *rank : 0;
	value = *rank ? pool->values[*rank - 1] : NAN;
	for (size_t i = 0; i < pool->replications; i++)
		sections[i] = section(pool->parts[i], p);
	e = infer_sections(value, sections, pool->replications, INFERENCE_LEVEL);
	free(sections);
	return e;
}
