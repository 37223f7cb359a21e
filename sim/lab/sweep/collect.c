/* Makes sweep.csv, costs.csv, sweep.json and groups.csv from the points. Only costs.csv depends on
 * the machine: sweep.csv is the same byte for byte, whatever was killed and resumed. */
#include "lab/sweep/sweep.h"

#include "base/mem.h"
#include "data/csv_write.h"
#include "data/folder.h"
#include "data/json.h"
#include "data/json_read.h"
#include "lab/sweep/groups.h"
#include "lab/sweep/point.h"
#include "lab/summary.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The numbers of a point, NaN for metrics that it lacks. The array may end early: the point lacks
 * all further metrics. */
struct numbers {
	double *values; /* by metric */
	size_t count, capacity;
};

struct metrics {
	char **names; /* in the order in which they first appear in the points */
	size_t count, capacity;
	size_t next; /* where a search begins: all summaries have one order, so the next name is
		      * likely here */
	struct numbers *points; /* by point */
	char **warnings;        /* by point: those of its run as one text; NULL without results */
};

/* --- numbers of summary.json --- */

/* The index of a metric; adds it if it is new. */
static size_t find_metric(struct metrics *metrics, const char *name)
{
	for (size_t i = 0; i < metrics->count; i++) {
		size_t at = (metrics->next + i) % metrics->count;

		if (strcmp(metrics->names[at], name))
			continue;
		metrics->next = at + 1;
		return at;
	}
	metrics->names = array_reserve(metrics->names, metrics->count, &metrics->capacity,
				       sizeof(*metrics->names));
	metrics->names[metrics->count] = xstrdup(name);
	return metrics->count++;
}

/* Adds the numbers of a summary. Leaves out the seed, which has a column of its own, and null, so
 * that a number that is null in all points gets no column. */
static void read_numbers(struct metrics *metrics, struct numbers *numbers,
			 const struct summary *summary)
{
	for (size_t i = 0; i < summary->count; i++) {
		const struct summary_number *number = &summary->numbers[i];
		size_t metric;

		if (isnan(number->value) || !strcmp(number->name, "seed"))
			continue;
		metric = find_metric(metrics, number->name);
		while (numbers->count <= metric) {
			numbers->values = array_reserve(numbers->values, numbers->count,
							&numbers->capacity, sizeof(double));
			numbers->values[numbers->count++] = NAN;
		}
		numbers->values[metric] = number->value;
	}
}

/* The warnings of a run in one text. The caller frees. */
static char *joined_warnings(const struct summary *summary)
{
	char *text = xstrdup(""), **warnings = summary_warnings(summary);

	for (size_t i = 0; warnings[i]; i++) {
		char *longer = xasprintf("%s%s%s", text, *text ? " | " : "", warnings[i]);

		free(text);
		text = longer;
	}
	summary_warnings_free(warnings);
	return text;
}

static bool read_summary(const struct sweep *sweep, size_t number, struct metrics *metrics,
			 char **error)
{
	char *result = point_path(sweep->folder, sweep->facts[number].hash, "");
	char *reason = NULL;
	struct summary summary;
	bool good = summary_read(&summary, result, &reason);

	if (good) {
		read_numbers(metrics, &metrics->points[number], &summary);
		metrics->warnings[number] = joined_warnings(&summary);
	} else {
		*error = xasprintf(
			"%s/summary.json cannot be read; run point %zu again with --force", result,
			number);
	}
	summary_release(&summary);
	free(reason);
	free(result);
	return good;
}

static bool read_summaries(const struct sweep *sweep, struct metrics *metrics, char **error)
{
	for (size_t i = 0; i < sweep->plan->point_count; i++)
		if (sweep->wanted[i] && point_status_is_usable(sweep->records[i].status) &&
		    !read_summary(sweep, i, metrics, error))
			return false;
	return true;
}

static void metrics_release(struct metrics *metrics, size_t points)
{
	for (size_t i = 0; i < metrics->count; i++)
		free(metrics->names[i]);
	for (size_t i = 0; i < points; i++) {
		free(metrics->points[i].values);
		free(metrics->warnings[i]);
	}
	free(metrics->warnings);
	free(metrics->names);
	free(metrics->points);
}

/* --- tables --- */

static void put_hash(struct csv_writer *csv, uint64_t hash)
{
	char text[20];

	snprintf(text, sizeof(text), "%016" PRIx64, hash);
	csv_writer_text(csv, text);
}

/* sweep_columns, with the axes before "status" and the metrics before "warnings". */
static void put_header(struct csv_writer *csv, const struct plan *plan,
		       const struct metrics *metrics)
{
	const char *const *column = sweep_columns;

	for (; strcmp(*column, "status"); column++)
		csv_writer_text(csv, *column);
	for (size_t a = 0; a < plan->axis_count; a++)
		csv_writer_text(csv, plan->axes[a].name);
	csv_writer_text(csv, *column++);
	for (size_t m = 0; m < metrics->count; m++)
		csv_writer_text(csv, metrics->names[m]);
	csv_writer_text(csv, *column);
	csv_writer_end_row(csv);
}

static bool write_points(const struct sweep *sweep, const struct metrics *metrics, const char *path,
			 char **error)
{
	const struct plan *plan = sweep->plan;
	struct csv_writer *csv = csv_writer_open(path);

	put_header(csv, plan, metrics);
	for (size_t i = 0; i < plan->point_count; i++) {
		const struct plan_point *point = &plan->points[i];
		const struct numbers *numbers = &metrics->points[i];

		if (!sweep->wanted[i])
			continue;
		csv_writer_count(csv, i);
		put_hash(csv, sweep->facts[i].hash);
		csv_writer_count(csv, point->replication);
		csv_writer_count(csv, sweep->facts[i].seed);
		for (size_t a = 0; a < plan->axis_count; a++)
			sweep_axis_put(csv, plan->axes[a].levels[point->levels[a]].label);
		csv_writer_text(csv, point_status_names[sweep->records[i].status]);
		for (size_t m = 0; m < metrics->count; m++)
			csv_writer_real(csv, m < numbers->count ? numbers->values[m] : NAN);
		csv_writer_text(csv, metrics->warnings[i] ? metrics->warnings[i] : "");
		csv_writer_end_row(csv);
	}
	return csv_writer_commit(csv, error);
}

static void put_cost(struct csv_writer *csv, const struct point_record *record)
{
	bool ran = record->status != POINT_MISSING;

	csv_writer_real(csv, ran ? record->wall_s : NAN);
	csv_writer_real(csv, ran ? record->cpu_s : NAN);
	csv_writer_real(csv, ran ? (double)record->peak_rss_bytes : NAN);
	csv_writer_count(csv, record->attempts);
	csv_writer_real(csv, ran && record->exit_code >= 0 ? (double)record->exit_code : NAN);
	csv_writer_real(csv, record->signal ? (double)record->signal : NAN);
	csv_writer_text(csv, record->host);
	csv_writer_text(csv, record->version);
	csv_writer_text(csv, record->commit);
	csv_writer_text(csv, record->message);
}

static bool write_costs(const struct sweep *sweep, const char *path, char **error)
{
	struct csv_writer *csv = csv_writer_open(path);

	for (const char *const *column = costs_columns; *column; column++)
		csv_writer_text(csv, *column);
	csv_writer_end_row(csv);
	for (size_t i = 0; i < sweep->plan->point_count; i++) {
		if (!sweep->wanted[i])
			continue;
		csv_writer_count(csv, i);
		put_hash(csv, sweep->facts[i].hash);
		csv_writer_text(csv, point_status_names[sweep->records[i].status]);
		put_cost(csv, &sweep->records[i]);
		csv_writer_end_row(csv);
	}
	return csv_writer_commit(csv, error);
}

static bool write_json(const struct sweep *sweep, const struct metrics *metrics, const char *path,
		       char **error)
{
	const struct plan *plan = sweep->plan;
	struct json json;
	char *text;
	bool good;

	json_init(&json);
	json_open_object(&json, NULL);
	json_string(&json, "name", plan->name);
	plan_axes_json(plan, &json);
	json_u64(&json, "replications", plan->replications);
	json_u64(&json, "points", sweep->points);
	json_u64(&json, "looks", precision_looks(plan));
	if (plan->precision.of && plan->precision.by != SIZE_MAX)
		json_real(&json, "margin", plan->precision.within);
	json_open_array(&json, "metrics");
	for (size_t m = 0; m < metrics->count; m++)
		json_string(&json, NULL, metrics->names[m]);
	json_close_array(&json);
	json_close_object(&json);
	text = json_finish(&json);
	good = folder_replace(path, text, strlen(text));
	if (!good)
		*error = xasprintf("cannot write %s: %s", path, strerror(errno));
	free(text);
	return good;
}

static bool write_all(const struct sweep *sweep, const struct metrics *metrics, char **error)
{
	struct conf_doc *doc = sweep->plan->doc;

	return write_points(sweep, metrics, conf_at(doc, "%s/sweep.csv", sweep->dir), error) &&
	       write_costs(sweep, conf_at(doc, "%s/costs.csv", sweep->dir), error) &&
	       write_json(sweep, metrics, conf_at(doc, "%s/sweep.json", sweep->dir), error);
}

/* Writes groups.csv from the tables just written, reading them back so that it agrees with them. */
static bool write_groups(const struct sweep *sweep, char **error)
{
	struct sweep_table *table = sweep_table_read(sweep->dir, error);
	const char *path = conf_at(sweep->plan->doc, "%s/groups.csv", sweep->dir);
	bool good = table && groups_write(table, path, error);

	sweep_table_free(table);
	return good;
}

bool sweep_collect(const struct sweep *sweep, char **error)
{
	size_t points = sweep->plan->point_count;
	struct metrics metrics = { .points = xcalloc(points, sizeof(*metrics.points)),
				   .warnings = xcalloc(points, sizeof(*metrics.warnings)) };
	bool good = read_summaries(sweep, &metrics, error) && write_all(sweep, &metrics, error);

	metrics_release(&metrics, points);
	return good && write_groups(sweep, error);
}
