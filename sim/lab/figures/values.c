#include "lab/figures/values.h"

#include "base/mem.h"
#include "base/units.h"
#include "data/folder.h"
#include "data/result_read.h"
#include "data/stats.h"
#include "lab/summary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Tables ---- */

/* Messages for missing tables: a run leaves out empty ones. */
static const struct {
	const char *file, *why;
} missing[] = {
	{ "flows.csv", "there is no flows.csv; a run without flows writes none" },
	{ "jobs.csv", "there is no jobs.csv; a run without jobs writes none" },
	{ "iterations.csv", "there is no iterations.csv; a run without jobs writes none" },
	{ "links.csv", "there is no links.csv" },
	{ "series/network.csv", "there is no series/network.csv; set \"every\" of output.series in "
				"the scenario to get it" },
	{ "series/links.csv", "there is no series/links.csv; set \"links\" of output.series in the "
			      "scenario to get it" },
};

struct csv *values_table(struct figure *f, const char *file)
{
	struct csv *csv = result_table(f->dir, file, &f->error);

	for (size_t i = 0; i < sizeof(missing) / sizeof(*missing) && !csv; i++)
		if (!strcmp(missing[i].file, file) && !f->error)
			f->why = missing[i].why;
	return csv;
}

/* ---- Groups ---- */

static struct value_group *add_group(struct values *values, const char *name, const char *subname)
{
	struct value_group *group;

	values->groups = array_reserve(values->groups, values->group_count, &values->capacity,
				       sizeof(*values->groups));
	group = &values->groups[values->group_count++];
	*group = (struct value_group){ .name = xstrdup(name), .subname = xstrdup(subname) };
	return group;
}

/* The group of these names, added if new. The last one is tried first: rows often share it. */
static struct value_group *find_group(struct values *values, const char *name, const char *subname)
{
	for (size_t i = values->group_count; i > 0; i--)
		if (!strcmp(values->groups[i - 1].name, name) &&
		    !strcmp(values->groups[i - 1].subname, subname))
			return &values->groups[i - 1];
	return add_group(values, name, subname);
}

/* ---- Size classes ---- */

static void add_class(struct values *values, uint64_t from, uint64_t to)
{
	char name[64];

	unit_format_range(UNIT_SIZE, from, to, name, sizeof(name));
	add_group(values, name, "")->from = from;
}

/* Whether the summary has class i, from 0; *from becomes its smallest size in bytes. */
static bool class_begins(const struct summary *summary, size_t i, uint64_t *from)
{
	char *name = xasprintf("flows.by_size.%zu.min_bytes", i);
	double value = summary_value(summary, name);

	free(name);
	*from = value > 0 ? (uint64_t)value : 0;
	return value >= 0; /* NaN: there is none */
}

/* Makes a group for each size class that summary.json has. A run that was not finished has no
 * summary.json: all its flows are one class. */
static bool add_classes(struct values *values, struct figure *f)
{
	uint64_t from, to;

	if (!folder_has(f->dir, "summary.json")) {
		add_group(values, "all sizes", "");
		return true;
	}
	struct summary summary;

	summary_read(&summary, f->dir, &f->error);
	for (size_t i = 0; class_begins(&summary, i, &from); i++)
		add_class(values, from, class_begins(&summary, i + 1, &to) ? to : UINT64_MAX);
	summary_release(&summary);
	if (values->group_count == 0 && !f->error)
		f->error = xasprintf("%s/summary.json has no flows.by_size", f->dir);
	return !f->error;
}

/* The group for the size in a column. No flow is smaller than the first class allows, unless the
 * files of the folder are of different runs. */
static struct value_group *size_group(struct values *values, struct csv *csv, int column)
{
	uint64_t size = csv_u64(csv, column);
	size_t i = values->group_count - 1;

	while (i > 0 && size < values->groups[i].from)
		i--;
	if (size < values->groups[i].from)
		csv_complain(csv, column, "is below the first flows.by_size of summary.json");
	return &values->groups[i];
}

static void add_value(struct value_group *group, double value)
{
	group->values = array_reserve(group->values, group->count, &group->capacity,
				      sizeof(*group->values));
	group->values[group->count++] = value;
}

/* Adds the time of the next value. Call it before add_value(), which counts. */
static void add_at(struct value_group *group, double at)
{
	group->at = array_reserve(group->at, group->count, &group->at_capacity, sizeof(*group->at));
	group->at[group->count] = at;
}

const struct value_group *values_find(const struct values *values, const char *name)
{
	for (size_t i = 0; i < values->group_count; i++)
		if (!strcmp(values->groups[i].name, name))
			return &values->groups[i];
	return NULL;
}

static void release_group(struct value_group *group)
{
	free(group->name);
	free(group->subname);
	free(group->at);
	free(group->values);
}

void values_release(struct values *values)
{
	for (size_t i = 0; i < values->group_count; i++)
		release_group(&values->groups[i]);
	free(values->groups);
}

static int larger_first(const void *a, const void *b)
{
	const struct value_group *x = a, *y = b;

	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	return strcmp(x->name, y->name);
}

void values_merge(struct values *values, size_t keep)
{
	if (values->group_count)
		qsort(values->groups, values->group_count, sizeof(*values->groups), larger_first);
	if (values->group_count <= keep)
		return;
	struct value_group *last = &values->groups[keep - 1];

	free(last->name);
	last->name = xasprintf("%zu other groups", values->group_count - keep + 1);
	while (values->group_count > keep) {
		struct value_group *group = &values->groups[--values->group_count];

		for (size_t i = 0; i < group->count; i++)
			add_value(last, group->values[i]);
		last->unfinished += group->unfinished;
		release_group(group);
	}
	stats_sort(last->values, last->count);
}

/* ---- Distributions ---- */

#define CDF_POINTS 1000 /* about so many points of a distribution; more look the same */
#define CDF_TAIL   100  /* so many of its largest values are all shown */

void values_put_cdf(struct figure *f, const double *sorted, size_t count, uint64_t unfinished,
		    const struct cdf_mark *marks, size_t mark_count)
{
	size_t step = count / CDF_POINTS > 0 ? count / CDF_POINTS : 1;
	size_t tail = count > CDF_TAIL ? count - CDF_TAIL : 0, m = 0;
	double all = (double)count + (double)unfinished;

	if (count > 0)
		figure_row(f, (double[]){ sorted[0], 0, NAN, NAN, NAN }, 1);
	for (size_t i = 0; i < count; i++) {
		double row[] = { sorted[i], (double)(i + 1) / all, NAN, NAN, NAN };
		bool marked = m < mark_count && marks[m].rank == i + 1;

		if (marked) {
			row[2] = marks[m].p;
			row[3] = marks[m].low;
			row[4] = marks[m++].high;
		}
		if (marked || i % step == 0 || i >= tail)
			figure_row(f, row, 1);
	}
}

/* ---- Reading ---- */

struct columns {
	int values[VALUES_COLUMNS];
	int group, subgroup, at, measured, finished;
	size_t count;
};

static struct columns find_columns(struct csv *csv, const struct values_query *query)
{
	struct columns columns = { .group = csv_need(csv, query->group),
				   .subgroup = csv_need(csv, query->subgroup),
				   .at = csv_need(csv, query->at),
				   .finished = csv_need(csv, query->work ? "finished" : NULL),
				   .measured = csv_find(csv, "measured") };

	while (columns.count < VALUES_COLUMNS && query->columns[columns.count]) {
		columns.values[columns.count] = csv_need(csv, query->columns[columns.count]);
		columns.count++;
	}
	return columns;
}

static struct value_group *group_of_row(struct values *values, struct csv *csv,
					const struct values_query *query,
					const struct columns *columns, size_t column)
{
	if (query->by_size)
		return size_group(values, csv, columns->group);
	char *own = query->name ? query->name(csv) : NULL;
	const char *name = own                   ? own
			   : columns->group >= 0 ? csv_text(csv, columns->group)
			   : columns->count > 1  ? query->columns[column]
						 : "";
	struct value_group *group = find_group(
		values, name, columns->subgroup >= 0 ? csv_text(csv, columns->subgroup) : "");

	free(own);
	return group;
}

static void read_rows(struct values *values, struct csv *csv, const struct values_query *query)
{
	const struct columns columns = find_columns(csv, query);

	while (csv_next(csv)) {
		if (columns.measured >= 0 && !csv_flag(csv, columns.measured))
			continue;
		if (columns.finished >= 0 && !csv_flag(csv, columns.finished)) {
			values->unfinished++;
			group_of_row(values, csv, query, &columns, 0)->unfinished++;
			continue;
		}
		for (size_t c = 0; c < columns.count; c++) {
			struct value_group *group = group_of_row(values, csv, query, &columns, c);
			double real = csv_real(csv, columns.values[c]);

			if (query->work && real <= 0)
				csv_complain(csv, columns.values[c], "is not above 0");
			if (columns.at >= 0)
				add_at(group, csv_real(csv, columns.at));
			add_value(group, real);
			values->below_one += real < 1;
		}
		values->finished++;
	}
}

bool values_read(struct values *values, struct figure *f, const struct values_query *query)
{
	*values = (struct values){ 0 };
	if (query->by_size && !add_classes(values, f))
		return false;
	struct csv *csv = values_table(f, query->file);

	if (!csv)
		return false;
	read_rows(values, csv, query);
	if (!csv_close(csv, &f->error))
		return false;
	for (size_t i = 0; i < values->group_count && !query->at; i++)
		stats_sort(values->groups[i].values, values->groups[i].count);
	f->why = !query->work             ? "the table has no rows"
		 : values->unfinished > 0 ? "nothing has finished"
					  : "nothing was measured";
	return values->finished > 0;
}
