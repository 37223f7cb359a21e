#include "lab/sweep/sweep_table.h"

#include "base/mem.h"
#include "base/plain.h"
#include "conf/conf.h"
#include "data/csv_read.h"
#include "data/csv_write.h"
#include "data/folder.h"
#include "data/metrics.h"
#include "lab/names.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define HASH_DIGITS    16
#define COUNT_MAX      (INT64_C(1) << 53) /* exact in a double */
#define WARNINGS_SHOWN 3

const char *const sweep_columns[] = { "point",  "hash",     "replication", "seed",
				      "status", "warnings", NULL };

const char *const costs_columns[] = { "point",          "hash",     "status",    "wall_s", "cpu_s",
				      "peak_rss_bytes", "attempts", "exit_code", "signal", "host",
				      "version",        "commit",   "message",   NULL };

const char *const groups_columns[] = { "metric",        "n",    "mean", "sd",
				       "half_width_95", "low",  "high", "censored",
				       "substituted",   "same", NULL };

/* ---- sweep.json ---- */

struct axis_text {
	const char *name;
	struct conf_list values; /* const char * */
};

struct sweep_text {
	const char *name;
	struct conf_list axes;    /* struct axis_text */
	struct conf_list metrics; /* const char * */
	int64_t replications;
	int64_t points; /* rows of sweep.csv; 0 if left out */
	int64_t looks;
	double margin;
};

static const struct conf_row text_row = { .type = CONF_STRING };

static const struct conf_row axis_rows[] = {
	CONF_STRING("name", struct axis_text, name, CONF_REQUIRED, NULL),
	CONF_LIST("values", struct axis_text, values, CONF_REQUIRED, &text_row, 1, 0, NULL),
	{ 0 },
};
static const struct conf_table axis_table = { "axis", axis_rows, sizeof(struct axis_text), NULL };
static const struct conf_row axis_row = { .type = CONF_OBJECT, .table = &axis_table };

static const struct conf_row sweep_rows[] = {
	CONF_STRING("name", struct sweep_text, name, CONF_REQUIRED, NULL),
	CONF_LIST("axes", struct sweep_text, axes, CONF_REQUIRED, &axis_row, 0, 0, NULL),
	CONF_INT("replications", struct sweep_text, replications, CONF_REQUIRED, 1, COUNT_MAX,
		 NULL),
	CONF_INT("points", struct sweep_text, points, CONF_OPTIONAL, 1, COUNT_MAX, NULL),
	CONF_INT("looks", struct sweep_text, looks, "1", 1, COUNT_MAX, NULL),
	CONF_REAL("margin", struct sweep_text, margin, CONF_OPTIONAL, 0, 10, NULL),
	CONF_LIST("metrics", struct sweep_text, metrics, CONF_REQUIRED, &text_row, 0, 0, NULL),
	{ 0 },
};
static const struct conf_table sweep_table_conf = { "sweep", sweep_rows, sizeof(struct sweep_text),
						    NULL };

void sweep_table_free(struct sweep_table *table)
{
	if (!table)
		return;
	free(table->points);
	conf_doc_free(table->doc);
	free((char *)table->dir);
	free(table);
}

/* ---- Reading sweep.json ---- */

static void check_distinct(struct conf_doc *doc, const char *list, const char *const *names,
			   size_t count)
{
	for (size_t i = 1; i < count; i++)
		for (size_t j = 0; j < i; j++)
			if (!strcmp(names[i], names[j]))
				conf_error(doc, conf_at(doc, "%s/%zu", list, i),
					   "\"%s\" is listed twice", names[i]);
}

static void read_axes(struct sweep_table *table, const struct sweep_text *text)
{
	const struct axis_text *axes = text->axes.items;

	table->axis_count = text->axes.count;
	table->axes = conf_own(table->doc, table->axis_count, sizeof(*table->axes));
	table->axis_names = conf_own(table->doc, table->axis_count, sizeof(*table->axis_names));
	for (size_t i = 0; i < table->axis_count; i++) {
		size_t count;
		const char **values;

		table->axis_names[i] = axes[i].name;
		count = axes[i].values.count;
		values = conf_own(table->doc, count + 1, sizeof(*values));
		memcpy(values, axes[i].values.items, count * sizeof(*values));
		values[count] = "";
		table->axes[i] = (struct sweep_axis){ axes[i].name, values, count };
		check_distinct(table->doc, conf_at(table->doc, "/axes/%zu/values", i),
			       table->axes[i].values, table->axes[i].count);
	}
	check_distinct(table->doc, "/axes", table->axis_names, table->axis_count);
}

static bool read_sweep(struct sweep_table *table, const char *path, char **error)
{
	struct sweep_text text;

	table->doc = conf_load(path, &sweep_table_conf, &text, NULL, 0);
	if (conf_errors(table->doc) == 0) {
		table->name = text.name;
		table->metrics = text.metrics.items;
		table->metric_count = text.metrics.count;
		table->replications = (uint64_t)text.replications;
		table->rows = (uint64_t)text.points;
		table->rule = (struct verdict_rule){ .margin = text.margin > 0 ? text.margin
									       : VERDICT_MARGIN,
						     .looks = (size_t)text.looks };
		read_axes(table, &text);
		check_distinct(table->doc, "/metrics", table->metrics, table->metric_count);
	}
	if (conf_errors(table->doc) == 0)
		return true;
	*error = names_mistakes(table->doc);
	return false;
}

/* ---- Reading sweep.csv ---- */

struct columns {
	int point, hash, replication, seed, status, warnings;
	int *axes, *metrics; /* owned by the table's document */
};

/* Finds the columns. Sets *error if sweep.csv has more than these. */
static struct columns find_columns(const struct sweep_table *table, struct csv *csv, char **error)
{
	struct columns c = { .point = csv_need(csv, "point"),
			     .hash = csv_need(csv, "hash"),
			     .replication = csv_need(csv, "replication"),
			     .seed = csv_need(csv, "seed"),
			     .status = csv_need(csv, "status"),
			     .warnings = csv_find(csv, "warnings"),
			     .axes = conf_own(table->doc, table->axis_count, sizeof(*c.axes)),
			     .metrics = conf_own(table->doc, table->metric_count,
						 sizeof(*c.metrics)) };
	size_t known;

	for (size_t i = 0; i < table->axis_count; i++)
		c.axes[i] = csv_need(csv, table->axes[i].name);
	for (size_t i = 0; i < table->metric_count; i++)
		c.metrics[i] = csv_need(csv, table->metrics[i]);
	/* the members of `c`; tables of earlier versions have no "warnings" */
	known = (c.warnings < 0 ? 5U : 6U) + table->axis_count + table->metric_count;
	if (csv_columns(csv) > known)
		*error = xasprintf("%s/sweep.csv has %zu columns, but its sweep.json lists %zu; "
				   "collect the sweep again",
				   table->dir, csv_columns(csv), known);
	return c;
}

static const char *read_hash(struct sweep_table *table, struct csv *csv, int column)
{
	const char *text = csv_text(csv, column);

	if (strlen(text) != HASH_DIGITS || strspn(text, "0123456789abcdef") != HASH_DIGITS)
		csv_complain(csv, column, "is not a hash of 16 hexadecimal digits");
	return conf_at(table->doc, "%s", text);
}

static void read_status(struct sweep_point *point, struct csv *csv, int column)
{
	for (int i = 0; i < POINT_STATUSES; i++)
		if (!strcmp(csv_text(csv, column), point_status_names[i])) {
			point->status = (enum point_status)i;
			point->usable = point_status_is_usable(point->status);
			return;
		}
	csv_complain(csv, column, "is not the status of a point");
}

static size_t read_level(const struct sweep_axis *axis, struct csv *csv, int column)
{
	size_t level = sweep_axis_level(axis, csv_text(csv, column));

	if (csv_empty(csv, column))
		return axis->count;
	if (level != SIZE_MAX)
		return level;
	csv_complain(csv, column, "is not a value of this axis in sweep.json");
	return 0;
}

static void read_point(struct sweep_table *table, struct csv *csv, const struct columns *c)
{
	struct sweep_point *point = &table->points[table->point_count];
	double *metrics = conf_own(table->doc, table->metric_count, sizeof(*metrics));

	*point = (struct sweep_point){ .number = csv_u64(csv, c->point),
				       .replication = csv_u64(csv, c->replication),
				       .seed = csv_u64(csv, c->seed),
				       .levels = conf_own(table->doc, table->axis_count + 1,
							  sizeof(*point->levels)),
				       .metrics = metrics };
	/* numbers rise; points that are not wanted leave gaps, but point 0 is always wanted */
	if (table->point_count ? point->number <= point[-1].number : point->number != 0)
		csv_complain(csv, c->point, "is out of order: points are numbered from 0");
	if (point->replication >= table->replications)
		csv_complain(csv, c->replication, "is beyond the replications in sweep.json");
	point->hash = read_hash(table, csv, c->hash);
	read_status(point, csv, c->status);
	point->warnings =
		conf_at(table->doc, "%s", c->warnings < 0 ? "" : csv_text(csv, c->warnings));
	for (size_t i = 0; i < table->axis_count; i++)
		point->levels[i] = read_level(&table->axes[i], csv, c->axes[i]);
	point->levels[table->axis_count] = SIZE_MAX;
	for (size_t i = 0; i < table->metric_count; i++)
		metrics[i] = csv_empty(csv, c->metrics[i]) ? NAN : csv_real(csv, c->metrics[i]);
	table->point_count++;
}

static bool read_points(struct sweep_table *table, const char *path, char **error)
{
	char *misfit = NULL;
	struct csv *csv = csv_open(path, error);
	struct columns columns;

	if (!csv)
		return false;
	if (table->rows)
		csv_expect(csv, table->rows, "sweep.json");
	columns = find_columns(table, csv, &misfit);
	while (!misfit && csv_next(csv)) {
		table->points = array_reserve(table->points, table->point_count, &table->capacity,
					      sizeof(*table->points));
		read_point(table, csv, &columns);
	}
	bool ok = csv_close(csv, error);

	if (ok && misfit) {
		*error = misfit;
		return false;
	}
	free(misfit);
	return ok;
}

/* ---- Public functions ---- */

bool sweep_table_exists(const char *dir)
{
	return folder_has(dir, "sweep.json");
}

struct sweep_table *sweep_table_read(const char *dir, char **error)
{
	char *json;
	char *csv;
	bool ok;

	if (!folder_is_folder(dir)) {
		*error = xasprintf("%s: there is no such directory", dir);
		return NULL;
	}
	if (!sweep_table_exists(dir)) {
		*error = folder_has(dir, "plan.json")
				 ? xasprintf("%s is a sweep that is not collected yet", dir)
				 : xasprintf("%s is not a sweep: it has no sweep.json", dir);
		return NULL;
	}
	struct sweep_table *table = xcalloc(1, sizeof(*table));

	table->dir = folder_trim(dir);
	json = folder_join(table->dir, "sweep.json");
	csv = folder_join(table->dir, "sweep.csv");
	ok = read_sweep(table, json, error) && read_points(table, csv, error);
	free(json);
	free(csv);
	if (ok)
		return table;
	sweep_table_free(table);
	return NULL;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int by_points(const void *a, const void *b)
{
	const struct sweep_warning *x = a, *y = b;

	if (x->points != y->points)
		return x->points > y->points ? -1 : 1;
	return strcmp(x->text, y->text);
}

size_t sweep_table_warnings(const struct sweep_table *table, struct sweep_warning *list,
			    size_t size)
{
	size_t count = 0, texts = 0;
	const char **text = xcalloc(table->point_count, sizeof(*text));
	struct sweep_warning *all = xcalloc(table->point_count, sizeof(*all));

	for (size_t i = 0; i < table->point_count; i++)
		if (*table->points[i].warnings)
			text[texts++] = table->points[i].warnings;
	qsort(text, texts, sizeof(*text), by_text);
	for (size_t i = 0; i < texts; i++) {
		if (i == 0 || strcmp(text[i], text[i - 1]))
			all[count++].text = text[i];
		all[count - 1].points++;
	}
	qsort(all, count, sizeof(*all), by_points);
	for (size_t i = 0; i < count && i < size; i++)
		list[i] = all[i];
	free(text);
	free(all);
	return count;
}

void sweep_table_print_warnings(const struct sweep_table *table, const char *lead, FILE *to)
{
	struct sweep_warning list[WARNINGS_SHOWN];
	size_t count = sweep_table_warnings(table, list, WARNINGS_SHOWN);

	for (size_t i = 0; i < count && i < WARNINGS_SHOWN; i++)
		plain_print(to, "%s: %zu of %zu points: %s\n", lead, list[i].points,
			    table->point_count, list[i].text);
	if (count > WARNINGS_SHOWN)
		fprintf(to, "%s: %zu more in the column warnings of %s/sweep.csv\n", lead,
			count - WARNINGS_SHOWN, table->dir);
}

static size_t index_of(const char *const *names, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(names[i], name))
			return i;
	return SIZE_MAX;
}

size_t sweep_table_axis(const struct sweep_table *table, const char *name)
{
	return index_of(table->axis_names, table->axis_count, name);
}

size_t sweep_table_metric(const struct sweep_table *table, const char *name)
{
	return index_of(table->metrics, table->metric_count, name);
}

bool sweep_table_jobs_alike(const struct sweep_table *table, struct names *groups)
{
	bool alike = true;

	for (size_t p = 0; p < table->point_count && alike; p++) {
		size_t present = 0; /* groups that have jobs in this point */

		for (size_t m = 0; m < table->metric_count && table->points[p].usable; m++)
			present +=
				metric_group_length(table->metrics[m], METRIC_OF_JOBS, ".count") &&
				table->points[p].metrics[m] > 0;
		alike = present < 2;
	}
	for (size_t m = 0; m < table->metric_count && !alike; m++)
		if (metric_group_length(table->metrics[m], METRIC_OF_JOBS, METRIC_MEAN_JCT) &&
		    names_find(groups, table->metrics[m]) == SIZE_MAX)
			names_add(groups, table->metrics[m]);
	return alike;
}

size_t sweep_axis_level(const struct sweep_axis *axis, const char *value)
{
	return index_of(axis->values, axis->count, value);
}

void sweep_axis_put(struct csv_writer *csv, const char *value)
{
	if (*value)
		csv_writer_text(csv, value);
	else
		csv_writer_none(csv);
}

bool sweep_table_find_axis(const struct sweep_table *table, const char *name, size_t *axis,
			   char **error)
{
	*axis = sweep_table_axis(table, name);
	if (*axis != SIZE_MAX)
		return true;
	*error = names_unknown("axis", name, "the axes are", table->axis_names, table->axis_count);
	return false;
}

bool sweep_axis_find(const struct sweep_axis *axis, const char *value, size_t *level, char **error)
{
	*level = sweep_axis_level(axis, value);
	if (*level != SIZE_MAX)
		return true;
	char *has = xasprintf("axis %s has", axis->name);

	*error = names_unknown("value", value, has, axis->values, axis->count);
	free(has);
	return false;
}

/* What follows WORD= in a label; NULL if the label does not begin so. */
static const char *behind(const char *label, const char *word)
{
	size_t length = strlen(word);

	return !strncmp(label, word, length) && label[length] == '=' ? label + length + 1 : NULL;
}

/* The TEXT of "AXIS=VALUE=TEXT" or "VALUE=TEXT"; NULL if the label is for another value. */
static const char *label_text(const char *label, const struct sweep_axis *axis, size_t level)
{
	const char *rest = behind(label, axis->name);
	const char *text = rest ? behind(rest, axis->values[level]) : NULL;

	return text ? text : behind(label, axis->values[level]);
}

const char *sweep_axis_called(const struct sweep_axis *axis, size_t level,
			      const struct names *labels)
{
	const char *called = NULL;

	for (size_t i = 0; i < labels->count; i++) {
		const char *text = label_text(labels->items[i], axis, level);

		called = text ? text : called;
	}
	return called;
}

char *sweep_labels_unknown(const struct sweep_table *table, const struct names *labels)
{
	for (size_t i = 0; i < labels->count; i++) {
		bool known = false;

		for (size_t a = 0; a < table->axis_count; a++)
			for (size_t k = 0; k < table->axes[a].count; k++)
				known = known || label_text(labels->items[i], &table->axes[a], k);
		if (!known)
			return xasprintf("--label of a sweep takes VALUE=TEXT or AXIS=VALUE=TEXT, "
					 "as in --label \"%s=TEXT\"; found \"%s\"",
					 table->axes[0].values[0], labels->items[i]);
	}
	return NULL;
}
