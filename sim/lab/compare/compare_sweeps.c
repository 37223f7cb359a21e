/* Compares the values of one axis of a sweep, or several sweeps over the same axes.
 *
 * A variant is what is compared: a value of that axis, or a sweep. A cell is a combination of
 * values of the other axes, or of all axes if sweeps are compared. In each cell a variant has at
 * most one group of replications. */
#include "lab/compare/compare_parts.h"

#include "base/mem.h"
#include "data/metrics.h"
#include "lab/sweep/groups.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* All that is read and chosen for a comparison. */
struct frame {
	struct sweep_table **tables;
	struct groups *groups; /* by table */
	char **labels;         /* by table */
	size_t table_count;
	size_t by;                  /* the axis whose values are compared; SIZE_MAX if sweeps are */
	size_t baseline;            /* the variant that the others are compared with */
	double margin;              /* of verdicts; NaN: that of the sweep */
	const struct names *called; /* --label of values */
	bool survivors;             /* ratios of means over survivors, too */
	struct entry *entries;      /* sorted by cell, then variant */
	size_t entry_count;
};

/* A group of replications: one variant in one cell. */
struct entry {
	const struct frame *frame;
	const struct sweep_table *table;
	const struct group *group;
	size_t variant;
};

/* ---- Reading ---- */

static void frame_release(struct frame *frame)
{
	for (size_t i = 0; i < frame->table_count; i++) {
		groups_release(&frame->groups[i]);
		sweep_table_free(frame->tables[i]);
		free(frame->labels[i]);
	}
	free(frame->tables);
	free(frame->groups);
	free(frame->labels);
	free(frame->entries);
}

static bool frame_read(struct frame *frame, const char *const *dirs, size_t count,
		       const struct compare_options *options, char **error)
{
	struct compare_options own = *options;

	if (count == 1)
		own.labels.count = 0; /* they are of values */
	*frame = (struct frame){ .tables = xcalloc(count, sizeof(*frame->tables)),
				 .groups = xcalloc(count, sizeof(*frame->groups)),
				 .labels = xcalloc(count, sizeof(*frame->labels)),
				 .by = SIZE_MAX };
	for (size_t i = 0; i < count; i++) {
		struct sweep_table *table = sweep_table_read(dirs[i], error);

		if (!table) {
			frame_release(frame);
			return false;
		}
		frame->tables[i] = table;
		frame->groups[i] = groups_of(table);
		frame->labels[i] = compare_name(dirs, count, &own, i, i);
		frame->table_count++;
	}
	return true;
}

/* ---- What was asked for ---- */

static bool same_axis(const struct sweep_axis *a, const struct sweep_axis *b)
{
	bool same = !strcmp(a->name, b->name) && a->count == b->count;

	for (size_t i = 0; same && i < a->count; i++)
		same = !strcmp(a->values[i], b->values[i]);
	return same;
}

/* Returns NULL, or why two sweeps cannot be compared (caller frees). */
static char *axes_differ(const struct sweep_table *a, const struct sweep_table *b)
{
	if (a->axis_count != b->axis_count)
		return xasprintf(
			"%s has %zu axes and %s has %zu: sweeps to compare need the same axes",
			a->dir, a->axis_count, b->dir, b->axis_count);
	for (size_t i = 0; i < a->axis_count; i++)
		if (!same_axis(&a->axes[i], &b->axes[i]))
			return xasprintf("the axes \"%s\" of %s and \"%s\" of %s differ: sweeps to "
					 "compare need the same axes with the same values",
					 a->axes[i].name, a->dir, b->axes[i].name, b->dir);
	return NULL;
}

/* Fills in `by` and `baseline`. Returns NULL, or what is wrong with the options (caller frees). */
static char *choose_variants(struct frame *frame, const struct compare_options *options)
{
	const struct sweep_table *table = frame->tables[0];
	char *error = NULL;

	if (frame->table_count > 1) {
		if (options->by || options->baseline)
			return xasprintf("--by and --baseline are for one sweep; several are "
					 "compared with the first");
		for (size_t i = 1; i < frame->table_count; i++) {
			error = axes_differ(table, frame->tables[i]);
			if (error)
				return error;
		}
		return compare_labels_unfit(frame->table_count, options);
	}
	const char *by = options->by ? options->by : options->pivot;

	if (!by)
		return xasprintf("%s is a sweep: compare needs --by AXIS, or a second sweep",
				 table->dir);
	if (sweep_table_find_axis(table, by, &frame->by, &error) && options->baseline)
		sweep_axis_find(&table->axes[frame->by], options->baseline, &frame->baseline,
				&error);
	return error ? error : sweep_labels_unknown(table, &options->labels);
}

/* ---- Metrics ---- */

static enum compare_has sweeps_have(const void *owner, const char *metric)
{
	const struct frame *frame = owner;
	enum compare_has has = METRIC_UNKNOWN;

	for (size_t t = 0; t < frame->table_count; t++) {
		const struct sweep_table *table = frame->tables[t];
		size_t m = sweep_table_metric(table, metric);

		if (m == SIZE_MAX)
			continue;
		has = METRIC_EMPTY;
		for (size_t p = 0; p < table->point_count; p++)
			if (table->points[p].usable && !isnan(table->points[p].metrics[m]))
				return METRIC_PRESENT;
	}
	return has;
}

static bool choose_metrics(struct names *metrics, const struct frame *frame,
			   const struct compare_options *options, char **error)
{
	struct names known = { 0 }, usual = { 0 };
	bool alike = true;
	bool ok;

	for (size_t t = 0; t < frame->table_count; t++)
		alike &= sweep_table_jobs_alike(frame->tables[t], &usual); /* adds to `usual` */
	summary_usual(&usual, alike);
	for (size_t t = 0; t < frame->table_count; t++)
		for (size_t m = 0; m < frame->tables[t]->metric_count; m++)
			names_add(&known, frame->tables[t]->metrics[m]);
	ok = compare_metrics(metrics, &options->metrics, sweeps_have, frame, &usual, &known, error);
	free(known.items);
	free(usual.items);
	return ok;
}

/* ---- Cells ---- */

static int compare_cells(const struct entry *a, const struct entry *b)
{
	for (size_t i = 0; i < a->table->axis_count; i++) {
		size_t x = a->group->levels[i], y = b->group->levels[i];

		if (i != a->frame->by && x != y)
			return x < y ? -1 : 1;
	}
	return 0;
}

static int compare_entries(const void *x, const void *y)
{
	const struct entry *a = x, *b = y;
	int order = compare_cells(a, b);

	return order != 0 ? order : (a->variant > b->variant) - (a->variant < b->variant);
}

static void find_entries(struct frame *frame)
{
	size_t count = 0;

	for (size_t t = 0; t < frame->table_count; t++)
		count += frame->groups[t].count;
	frame->entries = xcalloc(count + 1, sizeof(*frame->entries));
	for (size_t t = 0; t < frame->table_count; t++)
		for (size_t g = 0; g < frame->groups[t].count; g++) {
			const struct group *group = &frame->groups[t].items[g];

			frame->entries[frame->entry_count++] =
				(struct entry){ frame, frame->tables[t], group,
						frame->by == SIZE_MAX ? t
								      : group->levels[frame->by] };
		}
	qsort(frame->entries, frame->entry_count, sizeof(*frame->entries), compare_entries);
}

/* ---- Rows ---- */

/* What an entry is compared with: the baseline's group in its cell, or that which stands for all
 * values of an axis. NULL if there is none. */
static const struct group *base_of(const struct frame *frame, const struct entry *entry)
{
	const struct sweep_table *table = frame->tables[0];
	size_t *levels = xcalloc(table->axis_count + 1, sizeof(*levels));
	const struct group *base;

	memcpy(levels, entry->group->levels, table->axis_count * sizeof(*levels));
	if (frame->by != SIZE_MAX)
		levels[frame->by] = frame->baseline;
	base = groups_find(table, &frame->groups[0], levels);
	free(levels);
	return base;
}

static void fill_ratio(struct compare_row *row, const struct frame *frame, const struct group *base,
		       const struct entry *entry)
{
	const struct verdict_rule *own = &entry->table->rule, *other = &frame->tables[0]->rule;
	struct verdict_rule rule = { .looks = own->looks > other->looks ? own->looks
									: other->looks };
	size_t metric = sweep_table_metric(entry->table, row->metric),
	       base_metric = sweep_table_metric(frame->tables[0], row->metric);
	struct group_ratio ratio;

	rule.margin = isnan(frame->margin) ? own->margin : frame->margin;
	ratio = group_ratio(base, base_metric, entry->group, metric, &rule);
	row->baseline = group_mean(base, base_metric).value;
	row->basis = ratio.paired ? BASIS_PAIRS : BASIS_INDEPENDENT;
	row->ratio = ratio.ratio;
	row->difference = ratio.difference;
	row->verdict = ratio.verdict;
	memcpy(row->paired, ratio.means, sizeof(row->paired));
	if (!frame->survivors)
		comparison_withhold(row, group_work(frame->tables[0], base, base_metric).partial);
	if (row->same && group_is_same(frame->tables[0], base)) /* nothing is random */
		row->ratio.low = row->ratio.high = row->difference.low = row->difference.high = NAN;
}

/* The user's label of a value, or the value; "-" where the axis does not apply. */
static const char *level_label(const struct frame *frame, size_t axis, size_t level)
{
	const struct sweep_axis *of = &frame->tables[0]->axes[axis];

	if (level >= of->count)
		return "-";
	const char *called =
		frame->table_count == 1 ? sweep_axis_called(of, level, frame->called) : NULL;

	return called ? called : of->values[level];
}

static void add_entry(struct comparison *comparison, const struct frame *frame, const char *metric,
		      const struct entry *entry)
{
	const struct group *base = base_of(frame, entry);
	struct compare_row *row = comparison_add(comparison, metric);
	const struct sweep_table *table = entry->table;
	const struct group *group = entry->group;
	size_t label = 0;
	size_t column;
	struct group_work work;

	for (size_t i = 0; i < table->axis_count; i++)
		if (i != frame->by)
			row->labels[label++] = level_label(frame, i, group->levels[i]);
	row->labels[label] = frame->by == SIZE_MAX ? frame->labels[entry->variant]
						   : level_label(frame, frame->by, entry->variant);
	column = sweep_table_metric(table, metric);
	work = group_work(table, group, column);
	row->has_work = work.known;
	row->finished = work.finished;
	row->count = work.count;
	row->done = group->count - group->censored;
	row->points = group->count;
	row->partial = work.partial;
	row->substituted = group->substituted > 0 && !metric_counts_work(metric);
	row->value = group_mean(group, column);
	row->same = group_is_same(table, group);
	if (row->same)
		row->value.low = row->value.high = NAN;
	if (base && base != group)
		fill_ratio(row, frame, base, entry);
}

/* Adds the rows of a metric, cell by cell. */
static void add_metric(struct comparison *comparison, const struct frame *frame, const char *metric)
{
	for (size_t i = 0; i < frame->entry_count; i++)
		add_entry(comparison, frame, metric, &frame->entries[i]);
}

static void name_labels(struct comparison *comparison, const struct frame *frame)
{
	const struct sweep_table *table = frame->tables[0];

	comparison->label_names = xcalloc(table->axis_count + 1, sizeof(*comparison->label_names));
	for (size_t i = 0; i < table->axis_count; i++)
		if (i != frame->by)
			comparison->label_names[comparison->label_count++] = table->axes[i].name;
	comparison->label_names[comparison->label_count++] =
		frame->by == SIZE_MAX ? "sweep" : table->axes[frame->by].name;
}

/* ---- Output ---- */

static const char *baseline_name(const struct frame *frame)
{
	return frame->by == SIZE_MAX ? frame->labels[0]
				     : level_label(frame, frame->by, frame->baseline);
}

static void print_notes(const struct comparison *comparison, FILE *to)
{
	size_t pairs = 0, apart = 0, intervals = 0, same = 0;

	for (size_t i = 0; i < comparison->count; i++) {
		pairs += comparison->rows[i].basis == BASIS_PAIRS;
		apart += comparison->rows[i].basis == BASIS_INDEPENDENT;
		intervals += isnan(comparison->rows[i].ratio.low) ? 0 : 1;
		same += comparison->rows[i].same;
	}
	fprintf(to, "\n%s to %s.\n",
		comparison->pivot ? "Compared" : "ratio, difference:", comparison->baseline_label);
	if (!comparison_replicated(comparison))
		fputs("One replication: no intervals, and what is faster is unresolved.\n", to);
	comparison_print_marks(comparison, to);
	if (same > 0)
		fputs("same: every replication gave the same results, so no interval is needed.\n",
		      to);
	if (pairs > 0 && !comparison->pivot)
		fputs("pairs: same replication and same seed (common random numbers). If some lack "
		      "a value,\nthe line below has the two numbers of the ratio.\n",
		      to);
	if (apart > 0)
		fputs("unpaired: the seeds differ, so the two means are treated as independent "
		      "(Welch).\n",
		      to);
	if (intervals >= 20) /* 1 in 20 intervals of 95 % misses */
		fprintf(to,
			"Intervals are not corrected for their number: of %zu, about %zu miss the "
			"true value by chance.\n",
			intervals, intervals / 20);
}

static size_t print_text(const struct frame *frame, const struct comparison *comparison,
			 double tolerance, FILE *to)
{
	for (size_t t = 0; t < frame->table_count; t++) {
		const struct sweep_table *table = frame->tables[t];
		size_t done = 0;

		for (size_t g = 0; g < frame->groups[t].count; g++)
			done += frame->groups[t].items[g].count -
				frame->groups[t].items[g].censored;
		fprintf(to,
			"%s  %s: sweep %s, %zu of %zu points done, %s%" PRIu64 " replications\n",
			frame->labels[t], table->dir, table->name, done, table->point_count,
			groups_spared(table, &frame->groups[t]) ? "at most " : "",
			table->replications);
		sweep_table_print_warnings(table, "   warning", to);
	}
	fputc('\n', to);
	comparison_print(comparison, to);
	print_notes(comparison, to);
	return comparison_outside(comparison, tolerance, to);
}

static void json_warnings(struct json *json, const struct sweep_table *table)
{
	struct sweep_warning *list = xcalloc(table->point_count, sizeof(*list));
	size_t count = sweep_table_warnings(table, list, table->point_count);

	json_open_array(json, "warnings");
	for (size_t i = 0; i < count; i++) {
		json_open_object(json, NULL);
		json_string(json, "text", list[i].text);
		json_u64(json, "points", list[i].points);
		json_close_object(json);
	}
	json_close_array(json);
	free(list);
}

static size_t print_json(const struct frame *frame, const struct comparison *comparison,
			 double tolerance, FILE *to)
{
	struct json json;

	comparison_json_begin(&json, "sweeps");
	json_open_array(&json, "sweeps");
	for (size_t t = 0; t < frame->table_count; t++) {
		json_open_object(&json, NULL);
		json_string(&json, "sweep", frame->labels[t]);
		json_string(&json, "directory", frame->tables[t]->dir);
		json_string(&json, "name", frame->tables[t]->name);
		json_u64(&json, "points", frame->tables[t]->point_count);
		json_u64(&json, "replications", frame->tables[t]->replications);
		json_warnings(&json, frame->tables[t]);
		json_close_object(&json);
	}
	json_close_array(&json);
	json_string(&json, "by", comparison->label_names[comparison->label_count - 1]);
	json_string(&json, "baseline", comparison->baseline_label);
	return comparison_json_end(&json, comparison, tolerance, to);
}

enum compare_end compare_sweeps(const char *const *dirs, size_t count,
				const struct compare_options *options, FILE *to, char **error)
{
	struct frame frame;
	struct comparison comparison = { .form = options->form, .pivot = options->pivot };
	enum compare_end end = COMPARE_USAGE;
	struct names metrics = { 0 };
	size_t outside;

	if (!frame_read(&frame, dirs, count, options, error))
		return COMPARE_IO;
	*error = choose_variants(&frame, options);
	if (*error)
		goto done;
	if (!choose_metrics(&metrics, &frame, options, error))
		goto done;
	frame.called = &options->labels;
	find_entries(&frame);
	name_labels(&comparison, &frame);
	*error = comparison_no_pivot(&comparison);
	if (*error)
		goto done;
	comparison.table = frame.tables[0];
	comparison.baseline_label = baseline_name(&frame);
	frame.margin = options->margin;
	frame.survivors = options->survivors;
	for (size_t i = 0; i < metrics.count; i++)
		add_metric(&comparison, &frame, metrics.items[i]);
	outside = (options->json ? print_json : print_text)(&frame, &comparison, options->tolerance,
							    to);
	end = outside > 0 ? COMPARE_DIFFERS : COMPARE_ALIKE;
done:
	free(metrics.items);
	comparison_release(&comparison);
	frame_release(&frame);
	return end;
}
