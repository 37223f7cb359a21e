#include "lab/compare/samples.h"

#include "base/hash.h"
#include "base/mem.h"
#include "data/result_read.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COLUMNS_MAX (sizeof((struct metric_source){ 0 }.identity) / sizeof(char *))

struct sample {
	uint64_t id;       /* number of the flow or job */
	uint64_t inner;    /* number of the iteration in its job; else 0 */
	uint64_t identity; /* hash of size, arrival, ...: equal for the same flow (job) */
	uint64_t group;    /* hash of the group's name */
	double value;
};

/* ---- Where a metric comes from ---- */

/* Fills in metric and job name for the path "OF.NAME" or "jobs.by_name.GROUP.NAME"; GROUP may
 * contain dots. */
static bool find_metric(struct sample_source *source, const char *path, size_t length)
{
	static const char by[] = METRIC_OF_JOBS; /* "jobs.by_name." */
	const size_t by_length = strlen(by);
	const char *of = !strncmp(path, "flows.", 6) ? "flows" : "jobs";
	size_t last = length; /* where NAME begins */

	while (last > 0 && path[last - 1] != '.')
		last--;
	source->metric = metric_find(of, path + last, length - last);
	source->job_name = NULL;
	if (!source->metric || !source->metric->column || strncmp(path, of, strlen(of)))
		return false;
	if (last == strlen(of) + 1) /* "OF.NAME" */
		return true;
	/* GROUP, which is not empty, ends before the dot at last - 1 */
	if (strncmp(path, by, by_length) || last <= by_length + 1)
		return false;
	source->job_name = path + by_length;
	source->name_length = last - 1 - by_length;
	return true;
}

bool sample_source(const char *metric, struct sample_source *source)
{
	const char *dot = strrchr(metric, '.');
	const struct metric_statistic *statistic = dot ? metric_statistic(dot + 1) : NULL;

	if (!statistic || !statistic->sampled)
		return false;
	source->quantile = statistic->quantile;
	return find_metric(source, metric, (size_t)(dot - metric));
}

/* ---- Reading ---- */

struct columns {
	int id, inner, identity[COLUMNS_MAX], group, value, name, finished, measured;
};

static struct columns find_columns(struct csv *csv, const struct sample_source *source)
{
	const struct metric_source *table = &metric_sources[source->metric->level];
	struct columns c = { .id = csv_need(csv, table->number[0]),
			     .inner = csv_need(csv, table->number[1]),
			     .group = csv_find(csv, table->group),
			     .value = csv_need(csv, source->metric->column),
			     .name = csv_need(csv, source->job_name ? "name" : NULL),
			     .finished = csv_need(csv, table->finished),
			     .measured = csv_need(csv, "measured") };

	for (size_t i = 0; i < COLUMNS_MAX; i++)
		c.identity[i] = csv_need(csv, table->identity[i]);
	return c;
}

/* Whether the row's work has finished. All iterations in their table have. */
static bool has_finished(struct csv *csv, const struct columns *c)
{
	return c->finished < 0 || csv_flag(csv, c->finished);
}

/* Whether the row is no sample: some metrics have a value in some finished rows only. */
static bool lacks(struct csv *csv, const struct columns *c, const struct sample_source *source)
{
	return source->metric->some && has_finished(csv, c) && csv_empty(csv, c->value);
}

static struct sample read_sample(struct csv *csv, const struct columns *c,
				 const struct sample_source *source)
{
	struct sample sample = { .id = csv_u64(csv, c->id), .value = NAN };

	if (c->group >= 0)
		sample.group = hash_string(csv_text(csv, c->group));
	if (c->inner >= 0)
		sample.inner = csv_u64(csv, c->inner);
	for (size_t i = 0; i < COLUMNS_MAX && c->identity[i] >= 0; i++)
		sample.identity =
			hash_pair(sample.identity, hash_string(csv_text(csv, c->identity[i])));
	if (has_finished(csv, c) && !lacks(csv, c, source))
		sample.value = csv_real(csv, c->value);
	return sample;
}

static bool is_of_job(const struct sample_source *source, const char *name)
{
	return strlen(name) == source->name_length &&
	       !memcmp(name, source->job_name, source->name_length);
}

static bool wanted(struct csv *csv, const struct columns *c, const struct sample_source *source)
{
	return csv_flag(csv, c->measured) && !lacks(csv, c, source) &&
	       (c->name < 0 || is_of_job(source, csv_text(csv, c->name)));
}

static int by_number(const void *x, const void *y)
{
	const struct sample *a = x, *b = y;

	if (a->id != b->id)
		return a->id < b->id ? -1 : 1;
	return (a->inner > b->inner) - (a->inner < b->inner);
}

static void put_in_order(struct samples *samples)
{
	if (samples->count)
		qsort(samples->items, samples->count, sizeof(*samples->items), by_number);
	for (size_t i = 0; i < samples->count; i++)
		samples->values[i] = samples->items[i].value;
}

static bool are_mixed(const struct samples *samples)
{
	for (size_t i = 1; i < samples->count; i++)
		if (samples->items[i].group != samples->items[0].group)
			return true;
	return false;
}

bool samples_read(const char *dir, const struct sample_source *source, struct samples *samples,
		  char **error)
{
	const struct metric_source *table = &metric_sources[source->metric->level];
	size_t capacity = 0;
	struct csv *csv = result_table(dir, table->file, error);

	*samples = (struct samples){ .each_is_work = table->finished };
	if (!csv)
		return !*error; /* without *error the run has no such table */
	struct columns columns = find_columns(csv, source);

	while (csv_next(csv)) {
		/* even if not wanted: values are checked in all rows */
		struct sample sample = read_sample(csv, &columns, source);

		if (!wanted(csv, &columns, source))
			continue;
		samples->items = array_reserve(samples->items, samples->count, &capacity,
					       sizeof(*samples->items));
		samples->items[samples->count++] = sample;
	}
	samples->values = xcalloc(samples->count + 1, sizeof(*samples->values));
	put_in_order(samples);
	samples->mixed = are_mixed(samples);
	if (csv_close(csv, error))
		return true;
	samples_release(samples);
	return false;
}

void samples_release(struct samples *samples)
{
	free(samples->items);
	free(samples->values);
	*samples = (struct samples){ 0 };
}

/* ---- Pairs ---- */

size_t samples_pair(const struct samples *a, const struct samples *b, double **values_a,
		    double **values_b)
{
	size_t i = 0, j = 0, count = 0, common = 0;
	double *x = *values_a = xcalloc(a->count + b->count + 1, sizeof(*x));
	double *y = *values_b = xcalloc(a->count + b->count + 1, sizeof(*y));
	/* both are sorted: the next pair has the lowest number left */

	for (; i < a->count || j < b->count; count++) {
		int order = i == a->count   ? 1
			    : j == b->count ? -1
					    : by_number(&a->items[i], &b->items[j]);

		if (order == 0 && a->items[i].identity != b->items[j].identity)
			return 0;
		common += order == 0;
		x[count] = order <= 0 ? a->items[i++].value : NAN;
		y[count] = order >= 0 ? b->items[j++].value : NAN;
	}
	return common > 0 ? count : 0;
}
