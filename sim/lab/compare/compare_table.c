/* A comparison as it is printed: for LaTeX, for Markdown, or with the values of an axis as columns.
 * A block of rows has a metric and its unit; intervals decide how many digits there are. */
#include "lab/compare/compare_parts.h"

#include "base/mem.h"
#include "conf/buf.h"
#include "data/metrics.h"
#include "lab/sweep/metric_words.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NUMBER 32 /* bytes of a number as text */

/* ---- Units ---- */

struct unit {
	const char *prefix, *name; /* "m", "s" */
	double scale;              /* 1e-3 */
};

/* The unit in which the largest of `count` values is 1 or more: of seconds only smaller ones. */
static struct unit unit_of(const struct compare_row *rows, size_t count)
{
	static const struct {
		const char *prefix;
		double scale;
	} prefixes[] = { { "T", 1e12 }, { "G", 1e9 },  { "M", 1e6 },  { "k", 1e3 },
			 { "", 1 },     { "m", 1e-3 }, { "µ", 1e-6 }, { "n", 1e-9 } };
	static const char *const names[][2] = {
		{ "s", "s" }, { "bytes", "B" }, { "bit/s", "bps" }, { "B/s", "B/s" }
	};
	const char *unit = metric_unit(rows->metric), *name = NULL;
	double largest = 0;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(unit, names[i][0]))
			name = names[i][1];
	for (size_t i = 0; i < count; i++)
		largest = fmax(largest, fabs(rows[i].value.value)); /* NaN changes nothing */
	for (size_t i = 0; name && i < sizeof(prefixes) / sizeof(*prefixes); i++) {
		bool fits = strcmp(name, "s") ? prefixes[i].scale >= 1 : prefixes[i].scale <= 1;
		if (fits && largest >= prefixes[i].scale)
			return (struct unit){ prefixes[i].prefix, name, prefixes[i].scale };
	}
	return (struct unit){ "", name ? name : "", 1 };
}

/* "Job completion time, mean (ms)". The caller frees. */
static char *head_of(const struct comparison *comparison, const char *metric,
		     const struct unit *unit)
{
	char *words = metric_words(metric, comparison->table);
	*words = (char)toupper((unsigned char)*words);
	char *head = xasprintf("%s%s%s%s%s", words, *unit->name ? " (" : "", unit->prefix,
			       unit->name, *unit->name ? ")" : "");
	free(words);
	return head;
}

/* ---- Numbers ---- */

/* How many decimals give the closer end of an interval two significant digits (as in the guide to
 * the expression of uncertainty, JCGM 100, section 7.2.6); -1 if there is no interval. */
static int decimals_of(const struct estimate *e, double scale)
{
	double half = fmin(e->high - e->value, e->value - e->low) / scale;
	if (!(half > 0)) /* NaN, too */
		return -1;
	return (int)fmin(fmax(1 - floor(log10(half)), 0), 12);
}

/* With so many decimals or, if they are -1, four significant digits; "-" for NaN. */
static const char *number(char *buffer, double value, int decimals)
{
	if (isnan(value))
		return "-";
	if (decimals < 0) {
		bool whole = value == floor(value) || fabs(value) >= 1e4;
		snprintf(buffer, NUMBER, whole && fabs(value) < 1e12 ? "%.0f" : "%.4g", value);
	} else {
		snprintf(buffer, NUMBER, "%.*f", decimals, value);
	}
	return buffer;
}

/* "1.20† +- 0.05" or "1.20† [1.11, 1.42]"; `marks` stand behind the value. The caller frees. */
static char *estimate_text(const struct estimate *e, double scale, const char *marks)
{
	char value[NUMBER], low[NUMBER], high[NUMBER];
	double half = estimate_half_width(e) / scale;
	int decimals = decimals_of(e, scale);
	number(value, e->value / scale, decimals);
	const char *shown = isnan(e->value) ? "-" : value;
	if (isnan(e->low) || e->low == e->high)
		return xasprintf("%s%s", shown, marks);
	if (!isnan(half))
		return xasprintf("%s%s +- %s", shown, marks, number(low, half, decimals));
	return xasprintf("%s%s [%s, %s]", shown, marks, number(low, e->low / scale, decimals),
			 number(high, e->high / scale, decimals));
}

/* ---- Marks ---- */

static bool is_partial(const struct compare_row *row)
{
	return row->partial;
}

static bool is_substituted(const struct compare_row *row)
{
	return row->substituted;
}

/* Only where values are columns: else the verdict has a column of its own. */
static bool is_unresolved(const struct compare_row *row)
{
	return row->verdict.kind == VERDICT_UNRESOLVED || row->verdict.kind == VERDICT_CONSTANT;
}

static bool is_alike(const struct compare_row *row)
{
	return row->verdict.kind == VERDICT_SAME;
}

static const struct mark {
	const char *sign, *words; /* words may end in the baseline's name */
	bool (*holds)(const struct compare_row *row);
	bool of_verdict;
} marks[] = {
	{ "†", "over survivors only", is_partial, false },
	{ "‡", "some jobs ran as another scheme", is_substituted, false },
	{ "*", "not resolved against ", is_unresolved, true },
	{ "=", "the same within the margin as ", is_alike, true },
};
#define MARKS (sizeof(marks) / sizeof(*marks))

static bool holds(const struct comparison *comparison, const struct mark *mark,
		  const struct compare_row *row)
{
	return mark->holds(row) &&
	       (!mark->of_verdict || (comparison->pivot && comparison_replicated(comparison)));
}

static char *value_text(const struct comparison *comparison, const struct compare_row *row,
			double scale)
{
	struct conf_buf signs = { 0 };
	for (size_t m = 0; m < MARKS; m++)
		if (holds(comparison, &marks[m], row))
			conf_buf_add(&signs, marks[m].sign);
	char *text = estimate_text(&row->value, scale, conf_buf_text(&signs));
	conf_buf_release(&signs);
	return text;
}

/* Adds a line with the marks that some value has. */
static void add_marks(struct grid *grid, const struct comparison *comparison)
{
	struct conf_buf words = { 0 };
	for (size_t m = 0; m < MARKS; m++) {
		bool any = false;
		for (size_t i = 0; i < comparison->count; i++)
			any = any || holds(comparison, &marks[m], &comparison->rows[i]);
		if (any)
			conf_buf_addf(&words, "%s%s: %s%s", words.length ? "; " : "", marks[m].sign,
				      marks[m].words,
				      marks[m].of_verdict ? comparison->baseline_label : "");
	}
	if (words.length)
		grid_line(grid, "%s", conf_buf_text(&words));
	conf_buf_release(&words);
}

/* ---- A row for each value ---- */

/* How many rows of one metric begin at `rows`. */
static size_t block_of(const struct comparison *comparison, const struct compare_row *rows)
{
	size_t count = 1, rest = comparison->count - (size_t)(rows - comparison->rows);
	while (count < rest && !strcmp(rows[count].metric, rows->metric))
		count++;
	return count;
}

/* Adds labels except that of column `except`; leaves out those that repeat the row before. */
static void add_labels(struct grid *grid, const struct comparison *comparison, size_t except,
		       const struct compare_row *row, const struct compare_row *before)
{
	bool same = before;
	for (size_t i = 0; i < comparison->label_count; i++) {
		if (i == except)
			continue;
		same = same && i + 1 < comparison->label_count &&
		       !strcmp(before->labels[i], row->labels[i]);
		grid_add(grid, "%s", same ? "" : row->labels[i]);
	}
}

/* Which columns say something: one whose cells agree is left out, as the text around has them. */
struct shown {
	bool done, finished, spread, ratio, over;
};

static struct shown shown_of(const struct comparison *comparison)
{
	struct shown shown = { 0 };
	const struct estimate *first = NULL;
	for (size_t i = 0; i < comparison->count; i++) {
		const struct compare_row *row = &comparison->rows[i];
		shown.done |= row->done < row->points;
		shown.finished |= row->has_work && row->finished < row->count;
		shown.spread |= !isnan(row->spread);
		shown.ratio |= row->basis != BASIS_NONE;
		if (row->basis <= BASIS_QUOTIENT)
			continue;
		first = first ? first : &row->ratio;
		shown.over |= row->basis == BASIS_COMMON || row->ratio.n != first->n ||
			      row->ratio.missing;
	}
	return shown;
}

static void add_row(struct grid *grid, const struct comparison *comparison,
		    const struct shown *shown, const struct compare_row *row,
		    const struct compare_row *before, double scale)
{
	char spread[NUMBER];
	char *value = value_text(comparison, row, scale),
	     *ratio = estimate_text(&row->ratio, 1, ""),
	     *verdict = comparison_verdict(comparison, row);
	add_labels(grid, comparison, SIZE_MAX, row, before);
	comparison_add_part(grid, row->done, row->points, shown->done && row->points);
	comparison_add_part(grid, row->finished, row->count, shown->finished && row->has_work);
	grid_add(grid, "%s", value);
	grid_add(grid, "%s", isnan(row->spread) ? "" : number(spread, row->spread / scale, -1));
	grid_add(grid, "%s", row->basis == BASIS_NONE ? "" : ratio);
	if (shown->over)
		comparison_add_basis(grid, row);
	else
		grid_add(grid, "%s", "");
	grid_add(grid, "%s", comparison_replicated(comparison) ? verdict : "");
	free(value);
	free(ratio);
	free(verdict);
	if (row->ratio.missing > 0 && !isnan(row->paired[0]))
		grid_line(grid, " of both: %.4g / %.4g", row->paired[1] / scale,
			  row->paired[0] / scale);
}

static void add_head(struct grid *grid, const struct comparison *comparison,
		     const struct shown *shown)
{
	for (size_t i = 0; i < comparison->label_count; i++)
		grid_add(grid, "%s", comparison->label_names[i]);
	grid_add(grid, "%s", shown->done ? "done" : "");
	grid_add(grid, "%s", shown->finished ? "finished" : "");
	grid_add(grid, "%s", "value");
	grid_add(grid, "%s", shown->spread ? "spread" : "");
	grid_add(grid, "%s", shown->ratio ? "ratio" : "");
	grid_add(grid, "%s", shown->over ? "over" : "");
	grid_add(grid, "%s", comparison_replicated(comparison) ? "verdict" : "");
}

static struct grid *table_of_rows(const struct comparison *comparison)
{
	static const char numbers[] = "rrlrlll"; /* behind the labels; the '\0' is copied, too */
	char *alignment = xmalloc(comparison->label_count + sizeof(numbers));
	memset(alignment, 'l', comparison->label_count);
	memcpy(alignment + comparison->label_count, numbers, sizeof(numbers));
	struct grid *grid = grid_new(alignment);
	free(alignment);
	const struct shown shown = shown_of(comparison);
	add_head(grid, comparison, &shown);
	for (size_t i = 0, count; i < comparison->count; i += count) {
		const struct compare_row *rows = &comparison->rows[i];
		count = block_of(comparison, rows);
		struct unit unit = unit_of(rows, count);
		char *head = head_of(comparison, rows->metric, &unit);
		grid_line(grid, "%s", head);
		free(head);
		for (size_t k = 0; k < count; k++)
			add_row(grid, comparison, &shown, &rows[k], k ? &rows[k - 1] : NULL,
				unit.scale);
	}
	return grid;
}

/* ---- A column for each value of an axis ---- */

static size_t pivot_of(const struct comparison *comparison)
{
	size_t pivot = 0;
	while (strcmp(comparison->label_names[pivot], comparison->pivot))
		pivot++;
	return pivot;
}

static bool alike_but(const struct comparison *comparison, size_t pivot,
		      const struct compare_row *a, const struct compare_row *b)
{
	bool alike = true;
	for (size_t i = 0; i < comparison->label_count; i++)
		alike = alike && (i == pivot || !strcmp(a->labels[i], b->labels[i]));
	return alike;
}

/* Adds what `rows` have at the point of `first`, a cell for each column. */
static void add_cells(struct grid *grid, const struct comparison *comparison, size_t pivot,
		      const struct names *columns, const struct compare_row *rows, size_t count,
		      const struct compare_row *first, double scale)
{
	for (size_t c = 0; c < columns->count; c++) {
		const struct compare_row *cell = NULL;
		for (size_t i = 0; i < count && !cell; i++)
			if (!strcmp(rows[i].labels[pivot], columns->items[c]) &&
			    alike_but(comparison, pivot, &rows[i], first))
				cell = &rows[i];
		char *text = cell ? value_text(comparison, cell, scale) : xstrdup("");
		grid_add(grid, "%s", text);
		free(text);
	}
}

/* Adds the points of a metric. Where no other axis is left, the metric is the label of its row. */
static void add_points(struct grid *grid, const struct comparison *comparison, size_t pivot,
		       const struct names *columns, const struct compare_row *rows, size_t count)
{
	struct unit unit = unit_of(rows, count);
	char *head = head_of(comparison, rows->metric, &unit);
	const struct compare_row *before = NULL;
	bool alone = comparison->label_count == 1;
	if (!alone)
		grid_line(grid, "%s", head);
	for (size_t i = 0; i < count; i++) {
		bool seen = false;
		for (size_t k = 0; k < i && !seen; k++)
			seen = alike_but(comparison, pivot, &rows[k], &rows[i]);
		if (seen)
			continue;
		if (alone)
			grid_add(grid, "%s", head);
		add_labels(grid, comparison, pivot, &rows[i], before);
		add_cells(grid, comparison, pivot, columns, rows, count, &rows[i], unit.scale);
		before = &rows[i];
	}
	free(head);
}

static struct grid *table_of_columns(const struct comparison *comparison)
{
	size_t pivot = pivot_of(comparison);
	struct names columns = { 0 };
	for (size_t i = 0; i < comparison->count; i++)
		if (names_find(&columns, comparison->rows[i].labels[pivot]) == SIZE_MAX)
			names_add(&columns, comparison->rows[i].labels[pivot]);
	bool alone = comparison->label_count == 1;
	size_t labels = alone ? 1 : comparison->label_count - 1;
	char *alignment = xasprintf("%*s", (int)(labels + columns.count), "");
	memset(alignment, 'l', labels);
	memset(alignment + labels, 'r', columns.count);
	struct grid *grid = grid_new(alignment);
	free(alignment);
	if (alone)
		grid_add(grid, "%s", "");
	for (size_t i = 0; i < comparison->label_count; i++)
		if (i != pivot)
			grid_add(grid, "%s", comparison->label_names[i]);
	for (size_t c = 0; c < columns.count; c++)
		grid_add(grid, "%s", columns.items[c]);
	for (size_t i = 0, count; i < comparison->count; i += count) {
		count = block_of(comparison, &comparison->rows[i]);
		add_points(grid, comparison, pivot, &columns, &comparison->rows[i], count);
	}
	free(columns.items);
	return grid;
}

void comparison_print_table(const struct comparison *comparison, FILE *to)
{
	struct grid *grid =
		comparison->pivot ? table_of_columns(comparison) : table_of_rows(comparison);
	add_marks(grid, comparison);
	grid_print(grid, comparison->form, to);
	grid_free(grid);
}

char *comparison_no_pivot(const struct comparison *comparison)
{
	for (size_t i = 0; i < comparison->label_count && comparison->pivot; i++)
		if (!strcmp(comparison->label_names[i], comparison->pivot))
			return NULL;
	return comparison->pivot ? names_unknown("axis", comparison->pivot,
						 "these are columns:", comparison->label_names,
						 comparison->label_count)
				 : NULL;
}
