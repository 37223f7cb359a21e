#include "lab/sweep/groups.h"

#include "base/mem.h"
#include "data/csv_write.h"
#include "data/metrics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Groups ---- */

/* Lists of levels end with SIZE_MAX. */
static int compare_levels(const size_t *a, const size_t *b)
{
	while (*a == *b && *a != SIZE_MAX) {
		a++;
		b++;
	}
	return (*a > *b) - (*a < *b);
}

static int compare_points(const void *x, const void *y)
{
	const struct sweep_point *a = *(const struct sweep_point *const *)x;
	const struct sweep_point *b = *(const struct sweep_point *const *)y;
	int order = compare_levels(a->levels, b->levels);

	return order != 0 ? order : (a->number > b->number) - (a->number < b->number);
}

static int compare_groups(const void *x, const void *y)
{
	const struct group *a = x, *b = y;
	uint64_t first = a->points[0]->number, second = b->points[0]->number;

	return (first > second) - (first < second);
}

struct groups groups_of(const struct sweep_table *table)
{
	size_t n = table->point_count;
	struct groups groups = { .items = xcalloc(n + 1, sizeof(*groups.items)),
				 .points = xcalloc(n + 1, sizeof(*groups.points)) };

	for (size_t i = 0; i < n; i++)
		groups.points[i] = &table->points[i];
	qsort(groups.points, n, sizeof(*groups.points), compare_points);
	for (size_t i = 0; i < n; i++) {
		const struct sweep_point *point = groups.points[i];
		struct group *group;

		if (i == 0 || compare_levels(point->levels, groups.points[i - 1]->levels) != 0)
			groups.items[groups.count++] =
				(struct group){ .levels = point->levels,
						.points = &groups.points[i] };
		group = &groups.items[groups.count - 1];
		group->count++;
		group->censored += !point_status_is_done(point->status);
		group->substituted += point->status == POINT_SUBSTITUTED;
	}
	qsort(groups.items, groups.count, sizeof(*groups.items), compare_groups);
	return groups;
}

void groups_release(struct groups *groups)
{
	free(groups->items);
	free(groups->points);
}

static double value_of(const struct sweep_point *point, size_t metric)
{
	return point->usable && metric != SIZE_MAX ? point->metrics[metric] : NAN;
}

bool groups_spared(const struct sweep_table *table, const struct groups *groups)
{
	return groups->count * table->replications > table->point_count;
}

double *group_values(const struct group *group, size_t metric)
{
	double *values = xcalloc(group->count + 1, sizeof(*values));

	for (size_t i = 0; i < group->count; i++)
		values[i] = value_of(group->points[i], metric);
	return values;
}

/* For each point of `like`, the value of a metric in the point of `group` with the same
 * replication; NaN where `group` has none. The caller frees. */
static double *values_like(const struct group *like, const struct group *group, size_t metric)
{
	double *values = xcalloc(like->count + 1, sizeof(*values));

	for (size_t i = 0; i < like->count; i++) {
		values[i] = NAN;
		for (size_t k = 0; k < group->count; k++)
			if (group->points[k]->replication == like->points[i]->replication)
				values[i] = value_of(group->points[k], metric);
	}
	return values;
}

struct estimate group_mean(const struct group *group, size_t metric)
{
	double *values = group_values(group, metric);
	struct estimate mean = infer_mean(values, group->count, INFERENCE_LEVEL);

	free(values);
	return mean;
}

const struct group *groups_find(const struct sweep_table *table, const struct groups *groups,
				const size_t *levels)
{
	for (size_t g = 0; g < groups->count; g++) {
		const size_t *own = groups->items[g].levels;
		bool same = true;

		for (size_t a = 0; a < table->axis_count && same; a++)
			same = own[a] == levels[a] || own[a] == table->axes[a].count;
		if (same)
			return &groups->items[g];
	}
	return NULL;
}

/* Whether no replication occurs twice in a group. In a table put together by hand one may. */
static bool are_distinct(const struct group *group)
{
	for (size_t i = 1; i < group->count; i++)
		for (size_t k = 0; k < i; k++)
			if (group->points[i]->replication == group->points[k]->replication)
				return false;
	return true;
}

/* Whether two groups have replications in common, with the same seeds in both. If so, *besides
 * becomes the number of replications that only b has. */
static bool are_pairs(const struct group *a, const struct group *b, size_t *besides)
{
	size_t common = 0;
	bool same = true;

	for (size_t i = 0; i < a->count; i++)
		for (size_t k = 0; k < b->count; k++) {
			if (a->points[i]->replication != b->points[k]->replication)
				continue;
			same = same && a->points[i]->seed == b->points[k]->seed;
			common++;
		}
	*besides = b->count - common;
	return same && common > 0 && are_distinct(a) && are_distinct(b);
}

struct group_ratio group_ratio(const struct group *base, size_t base_metric,
			       const struct group *group, size_t metric,
			       const struct verdict_rule *rule)
{
	double *x = group_values(base, base_metric), *y = group_values(group, metric);
	/* as y, but in the order of base's replications */
	double *z = values_like(base, group, metric), level = INFERENCE_LEVEL;
	struct group_ratio r = { .means = { NAN, NAN } };
	size_t n = base->count, besides;

	if (are_pairs(base, group, &besides)) {
		r.paired = true;
		r.ratio = infer_ratio_paired(x, z, n, level);
		r.difference = infer_difference_paired(x, z, n, level);
		r.ratio.missing += besides;
		r.difference.missing = r.ratio.missing;
		r.verdict = verdict_paired(x, z, n, rule);
		infer_complete_pairs(x, z, n);
		r.means[0] = infer_mean(x, n, level).value;
		r.means[1] = infer_mean(z, n, level).value;
	} else {
		r.ratio = infer_ratio(x, n, y, group->count, level);
		r.difference = infer_difference(x, n, y, group->count, level);
		r.verdict = verdict_independent(x, n, y, group->count, rule);
	}
	if (base->censored || group->censored)
		r.verdict.kind = VERDICT_UNFINISHED;
	free(x);
	free(y);
	free(z);
	return r;
}

/* The innermost object around the metric that has this member; SIZE_MAX if none has. */
static size_t member_around(const struct sweep_table *table, const char *metric, const char *member)
{
	char *path = xstrdup(metric);
	size_t found = SIZE_MAX;

	for (char *dot; found == SIZE_MAX && (dot = strrchr(path, '.'));) {
		char *name;

		*dot = '\0';
		name = xasprintf("%s.%s", path, member);
		found = sweep_table_metric(table, name);
		free(name);
	}
	free(path);
	return found;
}

static uint64_t sum_of(const struct group *group, size_t metric)
{
	double sum = 0;

	for (size_t i = 0; i < group->count; i++)
		if (value_of(group->points[i], metric) > 0)
			sum += group->points[i]->metrics[metric];
	return sum < 0x1p53 ? (uint64_t)sum : 0;
}

struct group_work group_work(const struct sweep_table *table, const struct group *group,
			     size_t metric)
{
	if (metric == SIZE_MAX)
		return (struct group_work){ .partial = group->censored > 0 };
	const char *path = table->metrics[metric];
	size_t finished = member_around(table, path, "finished");
	size_t count = member_around(table, path, "count");
	struct group_work work = { .known = finished != SIZE_MAX && count != SIZE_MAX };

	if (work.known) {
		work.finished = sum_of(group, finished);
		work.count = sum_of(group, count);
	}
	work.partial =
		!metric_counts_work(path) &&
		(group->censored > 0 || (!strncmp(path, "jobs.", 5) && work.finished < work.count));
	return work;
}

bool group_is_same(const struct sweep_table *table, const struct group *group)
{
	const struct sweep_point *first = group->points[0];

	if (group->count < 2 || group->censored > 0)
		return false;
	for (size_t i = 1; i < group->count; i++)
		for (size_t m = 0; m < table->metric_count; m++) {
			double a = first->metrics[m], b = group->points[i]->metrics[m];

			if (a != b && !(isnan(a) && isnan(b)))
				return false;
		}
	return true;
}

size_t groups_replicated(const struct sweep_table *table, size_t *same)
{
	struct groups groups = groups_of(table);
	size_t count = 0;

	*same = 0;
	for (size_t g = 0; g < groups.count; g++) {
		count += groups.items[g].count > 1;
		*same += group_is_same(table, &groups.items[g]);
	}
	groups_release(&groups);
	return count;
}

/* ---- groups.csv ---- */

static void write_header(struct csv_writer *csv, const struct sweep_table *table)
{
	for (size_t i = 0; i < table->axis_count; i++)
		csv_writer_text(csv, table->axes[i].name);
	for (const char *const *column = groups_columns; *column; column++)
		csv_writer_text(csv, *column);
	csv_writer_end_row(csv);
}

static void write_row(struct csv_writer *csv, const struct sweep_table *table,
		      const struct group *group, bool same, size_t metric)
{
	double *values = group_values(group, metric);
	struct estimate mean = infer_mean(values, group->count, INFERENCE_LEVEL);

	for (size_t i = 0; i < table->axis_count; i++)
		sweep_axis_put(csv, table->axes[i].values[group->levels[i]]);
	csv_writer_text(csv, table->metrics[metric]);
	csv_writer_count(csv, mean.n);
	csv_writer_real(csv, mean.value);
	csv_writer_real(csv, same ? NAN : infer_sd(values, group->count));
	csv_writer_real(csv, same ? NAN : estimate_half_width(&mean));
	csv_writer_real(csv, same ? NAN : mean.low);
	csv_writer_real(csv, same ? NAN : mean.high);
	csv_writer_count(csv, group->censored);
	csv_writer_count(csv, group->substituted);
	csv_writer_count(csv, same);
	csv_writer_end_row(csv);
	free(values);
}

bool groups_write(const struct sweep_table *table, const char *path, char **error)
{
	struct csv_writer *csv = csv_writer_open(path);
	struct groups groups = groups_of(table);

	write_header(csv, table);
	for (size_t g = 0; g < groups.count; g++) {
		bool same = group_is_same(table, &groups.items[g]);

		for (size_t m = 0; m < table->metric_count; m++)
			write_row(csv, table, &groups.items[g], same, m);
	}
	groups_release(&groups);
	return csv_writer_commit(csv, error);
}
