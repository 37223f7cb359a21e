#include "lab/figures/values.h"

#include "base/mem.h"
#include "core/stats.h"
#include "out/result_read.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define CDF_POINTS 1000 /* of a curve; more cannot be told apart */
#define CDF_TAIL   100  /* of the largest values, which are all shown */

const char *const size_names[SIZES] = { "< 10 KB", "10–100 KB", "0.1–1 MB", "1–10 MB", "≥ 10 MB" };

static const uint64_t size_from[SIZES] = { 0, 10000, 100000, 1000000, 10000000 };

/* ---- Tables ---- */

/* A run leaves out the tables that would be empty. */
static const struct {
	const char *file, *why;
} missing[] = {
	{ "flows.csv", "there is no flows.csv, as after a run without flows" },
	{ "jobs.csv", "there is no jobs.csv, as after a run without jobs" },
	{ "iterations.csv", "there is no iterations.csv, as after a run without jobs" },
	{ "links.csv", "there is no links.csv" },
	{ "series/network.csv",
	  "there is no series/network.csv; scenarios ask for it by \"every\" of output.series" },
	{ "series/links.csv",
	  "there is no series/links.csv; scenarios ask for it by \"links\" of output.series" },
};

struct csv *values_table(struct figure *f, const char *file)
{
	struct csv *csv = result_table(f->dir, file, &f->error);
	for (size_t i = 0; i < sizeof missing / sizeof *missing && csv == NULL; i++)
		if (strcmp(missing[i].file, file) == 0 && f->error == NULL)
			f->why = missing[i].why;
	return csv;
}

bool values_end(struct figure *f, struct csv *csv)
{
	return csv_close(csv, &f->error);
}

/* ---- Groups ---- */

static struct value_group *add_group(struct values *values, const char *name, const char *subname)
{
	values->groups = array_reserve(values->groups, values->group_count, &values->capacity,
				       sizeof *values->groups);
	struct value_group *group = &values->groups[values->group_count++];
	*group = (struct value_group){ .name = xstrdup(name), .subname = xstrdup(subname) };
	return group;
}

static struct value_group *find_group(struct values *values, const char *name, const char *subname)
{
	for (size_t i = values->group_count; i > 0; i--)
		if (strcmp(values->groups[i - 1].name, name) == 0 &&
		    strcmp(values->groups[i - 1].subname, subname) == 0)
			return &values->groups[i - 1];
	return add_group(values, name, subname);
}

static struct value_group *size_group(struct values *values, uint64_t bytes)
{
	size_t i = SIZES - 1;
	while (bytes < size_from[i])
		i--;
	return &values->groups[i];
}

static void add_value(struct value_group *group, double value)
{
	group->values =
		array_reserve(group->values, group->count, &group->capacity, sizeof *group->values);
	group->values[group->count++] = value;
}

static void add_at(struct value_group *group, double at)
{
	group->at = array_reserve(group->at, group->count, &group->at_capacity, sizeof *group->at);
	group->at[group->count] = at;
}

/* ---- Reading ---- */

static void read_rows(struct values *values, struct csv *csv, const struct values_query *query)
{
	int value = csv_need(csv, query->value), measured = csv_find(csv, "measured");
	int group = query->group != NULL ? csv_need(csv, query->group) : -1;
	int subgroup = query->subgroup != NULL ? csv_need(csv, query->subgroup) : -1;
	int at = query->at != NULL ? csv_need(csv, query->at) : -1;
	int finished = query->work ? csv_need(csv, "finished") : -1;
	while (csv_next(csv)) {
		if (measured >= 0 && !csv_flag(csv, measured))
			continue;
		struct value_group *own =
			query->by_size ? size_group(values, csv_u64(csv, group))
				       : find_group(values, group >= 0 ? csv_text(csv, group) : "",
						    subgroup >= 0 ? csv_text(csv, subgroup) : "");
		if (finished >= 0 && !csv_flag(csv, finished)) {
			values->unfinished++;
			continue;
		}
		double real = csv_real(csv, value);
		if (query->work && real <= 0)
			csv_complain(csv, value, "is not above 0");
		if (at >= 0)
			add_at(own, csv_real(csv, at));
		add_value(own, real);
		values->finished++;
		values->below_one += real < 1;
	}
}

bool values_read(struct values *values, struct figure *f, const struct values_query *query)
{
	*values = (struct values){ 0 };
	struct csv *csv = values_table(f, query->file);
	if (csv == NULL)
		return false;
	for (size_t i = 0; i < SIZES && query->by_size; i++)
		add_group(values, size_names[i], "");
	read_rows(values, csv, query);
	if (!values_end(f, csv))
		return false;
	for (size_t i = 0; i < values->group_count && query->at == NULL; i++)
		stats_sort(values->groups[i].values, values->groups[i].count);
	if (values->finished == 0)
		f->why = !query->work             ? "the table has no rows"
			 : values->unfinished > 0 ? "nothing has finished"
						  : "nothing was measured";
	return values->finished > 0;
}

void values_release(struct values *values)
{
	for (size_t i = 0; i < values->group_count; i++) {
		free(values->groups[i].name);
		free(values->groups[i].subname);
		free(values->groups[i].at);
		free(values->groups[i].values);
	}
	free(values->groups);
}

void values_cdf(struct figure *f, const double *sorted, size_t count)
{
	size_t step = count / CDF_POINTS > 0 ? count / CDF_POINTS : 1;
	size_t tail = count > CDF_TAIL ? count - CDF_TAIL : 0;
	figure_row(f, (double[]){ sorted[0], 0 }, 1);
	for (size_t i = 0; i < count; i++)
		if (i % step == 0 || i >= tail)
			figure_row(f, (double[]){ sorted[i], (double)(i + 1) / (double)count }, 1);
}
