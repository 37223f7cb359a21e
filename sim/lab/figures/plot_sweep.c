/* Figures of a sweep: chooses points and words; the gnuplot templates lay them out. The words are
 * owned by the table's document. */
#include "base/mem.h"
#include "base/plain.h"
#include "conf/conf.h"
#include "data/metrics.h"
#include "lab/figures/figure.h"
#include "lab/figures/pool.h"
#include "lab/sweep/metric_words.h"
#include "lab/figures/stack.h"
#include "lab/figures/sweep_sheet.h"
#include "data/folder.h"

#include <ctype.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NAME_MAX_LETTERS 160 /* bytes of a file's name without suffix */

static const struct {
	const char *template;
	const char *in_name; /* part of its files' names */
	const char *columns;
} kinds[] = {
	[SWEEP_LINES] = { "lines", "", "x value low high replications" },
	[SWEEP_BARS] = { "bars", "-bars", "x value low high replications" },
	[SWEEP_HEAT] = { "heat", "-heat", "x value low high replications" },
	[SWEEP_BOX] = { "box", "-box",
			"x minimum quartile1 median quartile3 maximum replications" },
	[SWEEP_CDF] = { "cdf", "-cdf", "value share percentile low high" },
	[SWEEP_STACK] = { "stack", "", "" },
};

#define MARKED_COLUMNS                                                                             \
	"x value low high replications mark" /* of lines and bars, enum sheet_mark                 \
					      */

/* What one figure shows: one sheet or, with --panels, all sheets, ordered by metric. */
struct page {
	struct sheet *sheets;
	size_t count;   /* number of sheets */
	size_t metrics; /* number of metrics that the sheets show */
};

static bool is_ratio(const struct sheet *sheet)
{
	return sheet->choice->base_axis != SIZE_MAX;
}

/* The baseline's value as the plan writes it. */
static const char *base_of(const struct sheet *sheet)
{
	const struct sweep_choice *choice = sheet->choice;

	return sheet->table->axes[choice->base_axis].values[choice->base_level];
}

/* The path of what a sheet shows: of a metric, or of a quantity. */
static const char *path_of(const struct sheet *sheet)
{
	return sheet->choice->pooled ? pool_quantity(sheet->table, sheet->metric)
				     : sheet->table->metrics[sheet->metric];
}

/* ---- Words ---- */

/* Whether the points of each replication share a seed, so that ratios are over pairs. */
static bool common_seeds(const struct sweep_table *table)
{
	for (size_t i = 0; i < table->point_count; i++) {
		size_t first = 0;

		while (table->points[first].replication != table->points[i].replication)
			first++;
		if (table->points[first].seed != table->points[i].seed)
			return false;
	}
	return true;
}

/* What the numbers of a figure are; `intervals` says of a distribution whether it has some. */
static const char *statistic(const struct sheet *sheet, bool intervals)
{
	bool few = sheet->table->replications < INFERENCE_MIN;

	if (sheet->choice->kind == SWEEP_CDF)
		return intervals ? "All replications; median, 95th, 99th percentile with 95 % "
				   "intervals by sectioning"
				 : "All replications, no intervals";
	if (sheet->choice->pooled)
		return "All replications together: minimum, quartiles, maximum";
	if (sheet->table->replications < 2)
		return "One replication, no intervals";
	if (sheet->choice->kind == SWEEP_BOX)
		return "Replications: minimum, quartiles, maximum";
	if (!is_ratio(sheet))
		return few ? "Mean of two replications, no intervals"
			   : "Mean of replications, 95 % t-intervals";
	if (common_seeds(sheet->table))
		return few ? "Ratio of means, paired by replication, no intervals"
			   : "Ratio of means, paired by replication, 95 % Fieller intervals";
	return few ? "Ratio of means of independent samples, no intervals"
		   : "Ratio of means of independent samples, 95 % Fieller intervals";
}

/* The user's label for a value, else the value itself; if `named`, behind the name of its axis. */
static const char *value_words(const struct sheet *sheet, size_t axis, size_t level, bool named)
{
	const struct sweep_axis *from = &sheet->table->axes[axis];
	const char *called = sheet->choice->scales[axis].called[level];

	if (called)
		return called;
	return named ? conf_at(sheet->table->doc, "%s %s", from->name, from->values[level])
		     : from->values[level];
}

/* The user's label for the baseline, else its value. */
static const char *base_called(const struct sheet *sheet)
{
	return value_words(sheet, sheet->choice->base_axis, sheet->choice->base_level, false);
}

/* "load 0.2, delay 1us": the values of the fixed axes. */
static const char *fixed_words(const struct sheet *sheet)
{
	const char *words = "";

	for (size_t i = 0; i < sheet->table->axis_count; i++) {
		if (!sweep_choice_is_fixed(sheet->choice, i) || sheet->table->axes[i].count < 2)
			continue;
		words = conf_at(sheet->table->doc, "%s%s%s", words, *words ? ", " : "",
				value_words(sheet, i, sheet->fixed[i], true));
	}
	return words;
}

/* The name of a curve; "" if there is no by axis. */
static const char *row_name(const struct sheet *sheet, size_t row)
{
	size_t by = sheet->choice->by;

	return by == SIZE_MAX ? ""
			      : value_words(sheet, by, sheet->choice->y_level[row],
					    sheet->choice->scales[by].numeric);
}

/* METRIC-over-X-by-Y-relative-to-VALUE-KIND-AXIS-VALUE..., in characters that need no quotes
 * anywhere. Each run of other characters becomes one dash. */
static const char *figure_name(const struct page *page)
{
	const struct sheet *sheet = page->sheets;
	const struct sweep_table *table = sheet->table;
	const struct sweep_choice *choice = sheet->choice;
	const char *fixed = page->count > 1 ? "panels" : fixed_words(sheet), *kept;
	bool over = choice->x != SIZE_MAX;
	char *name = xasprintf("%s%s%s%s%s%s%s%s-%s",
			       choice->kind == SWEEP_STACK ? "breakdown"
			       : page->metrics > 1         ? "metrics"
							   : path_of(sheet),
			       over ? "-over-" : "", over ? table->axes[choice->x].name : "",
			       choice->by != SIZE_MAX ? "-by-" : "",
			       choice->by != SIZE_MAX ? table->axes[choice->by].name : "",
			       is_ratio(sheet) ? "-relative-to-" : "",
			       is_ratio(sheet) ? base_of(sheet) : "", kinds[choice->kind].in_name,
			       fixed);
	char *to = name;

	for (const char *p = name; *p && to - name < NAME_MAX_LETTERS; p++) {
		bool safe = isalnum((unsigned char)*p) || (strchr("._-", *p) && to > name);

		if (safe)
			*to++ = *p;
		else if (to > name && to[-1] != '-')
			*to++ = '-';
	}
	while (to > name && to[-1] == '-')
		to--;
	*to = '\0';
	kept = conf_at(table->doc, "%s", name);
	free(name);
	return kept;
}

/* Whether the point is drawn, or is the baseline of a drawn point. */
static bool is_in(const struct sheet *sheet, const struct sweep_point *point)
{
	const struct sweep_choice *choice = sheet->choice;

	for (size_t i = 0; i < sheet->table->axis_count; i++) {
		size_t level = point->levels[i];
		bool shown = level == sheet->table->axes[i].count || /* at all values */
			     (sweep_choice_is_fixed(choice, i) ? level == sheet->fixed[i]
							       : choice->wanted[i][level]);

		if (!shown && (i != choice->base_axis || level != choice->base_level))
			return false;
	}
	return true;
}

static bool has_mark(const struct page *page, enum sheet_mark mark)
{
	const struct sweep_choice *choice = page->sheets->choice;

	for (size_t p = 0; p < page->count; p++)
		for (size_t i = 0; i < choice->columns * choice->rows; i++)
			if (sheet_mark(&page->sheets[p], i % choice->columns,
				       i / choice->columns) == mark)
				return true;
	return false;
}

/* Whether the figure marks some of its bars or points, which takes a column. */
static bool is_marked(const struct page *page)
{
	enum sweep_kind kind = page->sheets->choice->kind;

	return (kind == SWEEP_LINES || kind == SWEEP_BARS) &&
	       (has_mark(page, MARK_PARTIAL) || has_mark(page, MARK_SUBSTITUTED));
}

/* Counts all points behind a figure, each once, although panels may share a baseline: "46 of 48
 * points shown (1 timeout, 1 missing), 3 with UNFINISHED work, 2 without this value". The last
 * number counts a point once for each metric that it lacks. */
static const char *tally(const struct page *page)
{
	const struct sweep_table *table = page->sheets->table;
	size_t count[POINT_STATUSES] = { 0 }, points = 0, without = 0;
	size_t figures = page->count / page->metrics; /* sheets of each metric */
	const char *text, *before = " (";
	uint32_t everywhere =
		0; /* by axis: a point shown to which it does not apply; plans have 16 */

	for (size_t i = 0; i < table->point_count; i++) {
		const struct sweep_point *point = &table->points[i];
		size_t first = 0;

		while (first < figures && !is_in(&page->sheets[first], point))
			first++;
		if (first == figures)
			continue;
		points++;
		count[point->status]++;
		for (size_t a = 0; a < table->axis_count && a < 32; a++)
			everywhere |= (uint32_t)(point->levels[a] == table->axes[a].count) << a;
		for (size_t s = first; s < page->count && point->usable; s += figures)
			without += isnan(point->metrics[page->sheets[s].metric]) ? 1 : 0;
	}
	size_t usable = 0;

	for (int s = 0; s < POINT_STATUSES; s++)
		usable += point_status_is_usable((enum point_status)s) ? count[s] : 0;
	text = conf_at(table->doc, "%zu of %zu points shown", usable, points);
	for (int i = 1; i <= POINT_STATUSES; i++) {
		int s = i % POINT_STATUSES; /* POINT_MISSING, which is 0, comes last */

		if (count[s] == 0 || point_status_is_usable((enum point_status)s))
			continue;
		text = conf_at(table->doc, "%s%s%zu %s", text, before, count[s],
			       point_status_names[s]);
		before = ", ";
	}
	if (usable < points)
		text = conf_at(table->doc, "%s)", text);
	if (count[POINT_UNFINISHED] > 0)
		text = conf_at(table->doc, "%s, %zu with UNFINISHED work", text,
			       count[POINT_UNFINISHED]);
	if (count[POINT_REFUSED] > 0)
		text = conf_at(table->doc, "%s, %zu with REFUSED jobs", text, count[POINT_REFUSED]);
	if (has_mark(page, MARK_PARTIAL))
		text = conf_at(table->doc, "%s (%s)", text,
			       is_ratio(page->sheets) ? "no ratio of means over survivors"
			       : is_marked(page)      ? "†: mean over survivors"
						      : "means over survivors");
	if (count[POINT_SUBSTITUTED] > 0)
		text = conf_at(table->doc, "%s, %zu by ANOTHER SCHEME%s", text,
			       count[POINT_SUBSTITUTED], is_marked(page) ? " (‡)" : "");
	if (without > 0)
		text = conf_at(table->doc, "%s, %zu without this value", text, without);
	for (size_t i = 0; i < table->axis_count && i < 32; i++)
		if (everywhere >> i & 1)
			text = conf_at(table->doc, "%s, those without %s at all its values", text,
				       table->axes[i].name);
	return text;
}

/* What a cell calls the value that it compares with the baseline. */
static const char *rival(const struct sheet *sheet, size_t column, size_t row)
{
	const struct sweep_choice *choice = sheet->choice;
	size_t axis = choice->base_axis;
	size_t level = axis == choice->x    ? choice->x_level[column]
		       : axis == choice->by ? choice->y_level[row]
					    : sheet->fixed[axis];

	return value_words(sheet, axis, level, false);
}

/* What of the baseline's rivals is resolved: "; 3 faster, 1 unresolved", or the words of the one
 * verdict that there is; "" without any. */
static const char *verdicts(const struct page *page)
{
	static const char *const words[][2] = {
		[VERDICT_A] = { "higher", "slower" },
		[VERDICT_B] = { "lower", "faster" },
		[VERDICT_SAME] = { "the same", "the same" },
		[VERDICT_UNRESOLVED] = { "unresolved", "unresolved" },
		[VERDICT_CONSTANT] = { "unresolved (constant)", "unresolved (constant)" }
	};
	const struct sweep_choice *choice = page->sheets->choice;
	const struct sweep_table *table = page->sheets->table;
	size_t count[sizeof(words) / sizeof(*words)][2] = { 0 }, all = 0;
	const char *text = "";
	char *one = NULL;

	if (table->replications < 2)
		return text;
	for (size_t p = 0; p < page->count; p++)
		for (size_t i = 0; i < choice->columns * choice->rows; i++) {
			const struct sheet *sheet = &page->sheets[p];
			size_t column = i % choice->columns, row = i / choice->columns;
			struct verdict v = sheet_verdict(sheet, column, row);
			bool times = !strcmp(metric_unit(table->metrics[sheet->metric]), "s");

			if (v.kind == VERDICT_NONE || v.kind == VERDICT_UNFINISHED)
				continue;
			count[v.kind][times]++;
			free(one);
			one = verdict_words(&v, base_called(sheet), rival(sheet, column, row),
					    times);
			all++;
		}
	if (all == 1)
		text = conf_at(table->doc, "; %s", one);
	for (size_t k = 0; k < sizeof(words) / sizeof(*words) && all > 1; k++)
		for (int times = 1; times >= 0; times--)
			if (count[k][times])
				text = conf_at(table->doc, "%s%s%zu %s", text, *text ? ", " : "; ",
					       count[k][times], words[k][times]);
	free(one);
	return text;
}

/* ", relative to scheme ring" */
static const char *base_words(const struct sheet *sheet)
{
	return is_ratio(sheet)
		       ? conf_at(sheet->table->doc, ", relative to %s %s",
				 sheet->table->axes[sheet->choice->base_axis].name, base_of(sheet))
		       : "";
}

/* "sizes: job completion time, relative to scheme ring (load 0.2)" */
static const char *title_words(const struct sheet *sheet, const char *words, const char *base,
			       const char *fixed)
{
	const char *of = sheet->table->name;

	return conf_at(sheet->table->doc, "%s%s%s%s%s%s%s", of, *of && *words ? ": " : "", words,
		       base, *fixed ? " (" : "", fixed, *fixed ? ")" : "");
}

static void put_titles(struct figure *f, const struct page *page, bool intervals)
{
	const struct sheet *sheet = page->sheets;
	char *words = page->metrics > 1 ? xstrdup("") : metric_words(path_of(sheet), sheet->table);
	const char *fixed = page->count > 1 ? "" : fixed_words(sheet);

	figure_title(
		f, title_words(sheet, words, base_words(sheet), fixed),
		xasprintf("%s%s; %s", statistic(sheet, intervals), verdicts(page), tally(page)));
	free(words);
}

static void put_panel(struct figure *f, const struct page *page, size_t panel)
{
	const struct sheet *sheet = &page->sheets[panel - 1];
	const char *metric = path_of(sheet);
	char *words = metric_words(metric, sheet->table);
	const char *label = is_ratio(sheet) ? conf_at(sheet->table->doc, "%s / that of %s", words,
						      base_called(sheet))
					    : words;

	figure_comment(f, xasprintf("value: %s%s", metric, base_words(sheet)));
	figure_panel(f, panel, label, is_ratio(sheet) ? "" : metric_unit(metric));
	if (page->count > page->metrics)
		figure_text_at(f, "PANEL_TITLE", panel, fixed_words(sheet));
	free(words);
}

/* ---- Axes ---- */

static double x_of(const struct sheet *sheet, size_t column)
{
	const struct axis_scale *scale = &sheet->choice->scales[sheet->choice->x];

	return scale->numeric ? scale->at[sheet->choice->x_level[column]] : (double)column;
}

/* Sets the x axis. In the table x is a number in base units (bytes, bit/s, ps), or the index of a
 * label from 0; comments say which value each x stands for. */
static void put_x(struct figure *f, const struct sheet *sheet)
{
	const struct sweep_choice *choice = sheet->choice;
	const struct axis_scale *scale = &choice->scales[choice->x];
	char buffer[AXIS_LABEL];

	figure_x(f, scale->axis->name, "", choice->log_x);
	figure_count(f, "LABELLED", !scale->numeric);
	figure_tics(f, 'X', choice->columns);
	for (size_t c = 0; c < choice->columns; c++) {
		figure_tic(f, 'X', c + 1, axis_scale_label(scale, choice->x_level[c], buffer),
			   x_of(sheet, c), NULL);
		figure_comment(f, xasprintf("x = %.15g: %s %s", x_of(sheet, c), scale->axis->name,
					    scale->axis->values[choice->x_level[c]]));
	}
}

/* Sets the y axis of a map, whose rows are the values of the by axis. */
static void put_y(struct figure *f, const struct sheet *sheet)
{
	const struct axis_scale *scale = &sheet->choice->scales[sheet->choice->by];
	char buffer[AXIS_LABEL];

	figure_text(f, "BY", scale->axis->name);
	figure_count(f, "RATIO", is_ratio(sheet));
	figure_tics(f, 'Y', sheet->choice->rows);
	for (size_t row = 0; row < sheet->choice->rows; row++)
		figure_tic(f, 'Y', row + 1,
			   axis_scale_label(scale, sheet->choice->y_level[row], buffer),
			   (double)row, NULL);
}

/* ---- Numbers ---- */

/* Smallest, quartiles, largest. Quartiles are interpolated linearly between ranks
 * (definition 7 of Hyndman and Fan, Am. Stat. 50, 1996). */
static void put_quartiles(struct figure *f, const struct sheet *sheet, size_t column, size_t row)
{
	size_t count;
	double *values = sheet_values(sheet, column, row, &count);
	double cells[] = { x_of(sheet, column), NAN, NAN, NAN, NAN, NAN, (double)count };

	for (size_t i = 0; i < 5 && count; i++)
		cells[1 + i] = gsl_stats_quantile_from_sorted_data(values, 1, count, (double)i / 4);
	figure_row(f, cells, 5);
	free(values);
}

/* The i-th of n + 1 equal parts of all values, the unfinished included, interpolated as above; NaN
 * where it is among the unfinished. */
static double pooled_quantile(const struct pool *pool, size_t i, size_t n)
{
	size_t all = pool->count + (size_t)pool->unfinished;
	double at = all ? (double)(all - 1) * (double)i / (double)n : 0;
	size_t below = (size_t)at, above = below + (at > (double)below);

	return above < pool->count
		       ? pool->values[below] +
				 (at - (double)below) * (pool->values[above] - pool->values[below])
		       : NAN;
}

/* The same of a quantity. The maximum is of what has finished. */
static void put_pooled(struct figure *f, const struct sheet *sheet, size_t column, size_t row)
{
	struct pool pool;
	double cells[] = { x_of(sheet, column), NAN, NAN, NAN, NAN, NAN, 0 };

	if (pool_read(&pool, f, sheet, column, row) && pool.count) {
		for (size_t i = 0; i < 4; i++)
			cells[1 + i] = pooled_quantile(&pool, i, 4);
		cells[5] = pool.values[pool.count - 1];
		cells[6] = (double)pool.count;
	}
	figure_row(f, cells, 5);
	pool_release(&pool);
}

static void put_rows(struct figure *f, const struct sheet *sheet, size_t row)
{
	for (size_t c = 0; c < sheet->choice->columns; c++) {
		if (sheet->choice->kind == SWEEP_BOX) {
			(sheet->choice->pooled ? put_pooled : put_quartiles)(f, sheet, c, row);
			continue;
		}
		struct estimate at = sheet_estimate(sheet, c, row);

		figure_row(f,
			   (double[]){ x_of(sheet, c), at.value, at.low, at.high, (double)at.n,
				       (double)sheet_mark(sheet, c, row) },
			   sheet->choice->kind == SWEEP_HEAT ? 1 : 3);
	}
}

/* Puts the curves of a panel. A curve's look goes by its level, so that a value looks the same in
 * all figures of a sweep. */
static void put_curves(struct figure *f, const struct sheet *sheet, size_t panel)
{
	for (size_t row = 0; row < sheet->choice->rows; row++) {
		const char *name = row_name(sheet, row);
		size_t look = sheet->choice->by == SIZE_MAX ? 1 : sheet->choice->y_level[row] + 1;

		if (panel == 1)
			figure_legend(f, row + 1, look, look, name);
		figure_curve(f, panel, row + 1, *name ? name : "all");
		put_rows(f, sheet, row);
	}
}

/* ---- Figures ---- */

/* The smallest and largest value of a sheet; without values low is above high. */
static struct figure_range range_of(const struct sheet *sheet)
{
	struct figure_range range = { INFINITY, -INFINITY };

	for (size_t i = 0; i < sheet->choice->columns * sheet->choice->rows; i++) {
		size_t column = i % sheet->choice->columns, row = i / sheet->choice->columns;
		double value = sheet_estimate(sheet, column, row).value;
		size_t count = 0;
		double *values = sheet->choice->kind == SWEEP_BOX
					 ? sheet_values(sheet, column, row, &count)
					 : NULL;

		/* NaN, a gap, changes nothing */
		range.low = fmin(range.low, count ? values[0] : value);
		range.high = fmax(range.high, count ? values[count - 1] : value);
		free(values);
	}
	return range;
}

/* Sets f->log_y: as asked for, or because values span so much. NULL, or why there
 * is nothing to draw. */
static const char *choose_y(struct figure *f, const struct page *page)
{
	const struct sweep_choice *choice = page->sheets->choice;
	bool any = false, positive = true, wide = false;

	for (size_t p = 0; p < page->count; p++) {
		struct figure_range range = range_of(&page->sheets[p]);

		any = any || range.low <= range.high;
		positive = positive && range.low > 0;
		wide = wide || figure_is_wide(&range);
	}
	f->log_y = choice->log_y || (choice->log_y_fits && positive && wide);
	return !any                         ? "no point has this value"
	       : choice->log_y && !positive ? "a logarithmic axis needs values above 0"
					    : NULL;
}

/* The curves of a panel: a distribution for each value of the by axis, with its percentiles.
 * Returns whether one of them has an interval. */
static bool put_cdfs(struct figure *f, const struct sheet *sheet, size_t panel, bool alone)
{
	static const double percentiles[] = { 0.5, 0.95, 0.99 };
	bool ok = true, intervals = false;

	for (size_t row = 0; row < sheet->choice->rows; row++) {
		const char *name = row_name(sheet, row);
		size_t look = sheet->choice->by == SIZE_MAX ? 1 : sheet->choice->y_level[row] + 1;
		struct pool pool = { 0 };
		struct cdf_mark marks[3] = { 0 };
		size_t count = 0;

		ok = ok && pool_read(&pool, f, sheet, 0, row);
		for (size_t p = 0; p < 3; p++) {
			struct estimate e =
				pool_percentile(&pool, percentiles[p], &marks[count].rank);

			marks[count].p = percentiles[p];
			marks[count].low = e.low;
			marks[count].high = e.high;
			intervals |= !isnan(e.low);
			count += marks[count].rank > 0;
		}
		if (panel == 1)
			figure_counted_legend(f, row + 1, look, *name ? name : "all",
					      alone ? pool.count : 0, alone ? pool.unfinished : 0);
		figure_curve(f, panel, row + 1, *name ? name : "all");
		values_put_cdf(f, pool.values, pool.count, pool.unfinished, marks, count);
		pool_release(&pool);
	}
	return intervals;
}

static bool draw_cdf(struct figure *f, const struct page *page)
{
	const struct sheet *sheet = page->sheets;
	const struct sweep_choice *choice = sheet->choice;
	const char *path = path_of(sheet);
	char *words = metric_words(path, sheet->table);
	char *share = strstr(path, "iteration_s")
			      ? xstrdup("Share of iterations")
			      : xasprintf("Share of %.*s", (int)strcspn(path, "."), path);
	bool intervals = false;

	figure_begin(f, kinds[SWEEP_CDF].template, page->count, choice->rows,
		     kinds[SWEEP_CDF].columns);
	figure_comment(f, xasprintf("value: %s", path));
	for (size_t p = 1; p <= page->count; p++) {
		figure_panel(f, p, share, "");
		figure_reach(f, p, 1);
		intervals |= put_cdfs(f, &page->sheets[p - 1], p, page->count == 1);
		if (page->count > 1)
			figure_text_at(f, "PANEL_TITLE", p, fixed_words(&page->sheets[p - 1]));
	}
	put_titles(f, page, intervals);
	*words = (char)toupper((unsigned char)*words);
	figure_x(f, words, metric_unit(path),
		 choice->log_x || (choice->log_x_fits && figure_is_wide(&f->x)));
	f->why = "nothing has finished";
	free(share);
	free(words);
	return !f->error && f->x.low <= f->x.high;
}

static bool draw(struct figure *f, const struct page *page)
{
	const struct sheet *sheet = page->sheets;
	enum sweep_kind kind = sheet->choice->kind;

	f->why = choose_y(f, page);
	if (f->why)
		return false;
	figure_begin(f, kinds[kind].template, page->count, sheet->choice->rows,
		     is_marked(page) ? MARKED_COLUMNS : kinds[kind].columns);
	put_titles(f, page, true);
	for (size_t p = 1; p <= page->count; p++)
		put_panel(f, page, p);
	put_x(f, sheet);
	figure_text(f, "STYLE", "linespoints");
	figure_count(f, "INTERVALS", 1);
	if (is_marked(page))
		figure_count(f, "DAGGERS", 1);
	if (kind == SWEEP_HEAT)
		put_y(f, sheet);
	else if (is_ratio(sheet))
		figure_text(f, "BASELINE", base_called(sheet));
	for (size_t p = 1; p <= page->count; p++) {
		if (kind == SWEEP_BARS || (is_ratio(sheet) && kind != SWEEP_HEAT))
			figure_reach(f, p, kind == SWEEP_BARS ? 0 : 1);
		put_curves(f, &page->sheets[p - 1], p);
		/* means say little of the range of a quantity, whose values are above 0 */
		if (sheet->choice->pooled && sheet->choice->log_y_fits)
			f->log_y = f->log_y || figure_is_wide(&f->y[p - 1]);
	}
	figure_count(f, "LOGY", f->log_y);
	return !f->error;
}

/* ---- The breakdown ---- */

static size_t bars_of(const struct sheet *sheet)
{
	return sheet->choice->columns * sheet->choice->rows;
}

/* Each cause is its mean time over replications, so the causes add up to the mean time in all. */
static struct stack_bar bar_of(const struct sheet *sheet, size_t column, size_t row)
{
	const struct sweep_choice *choice = sheet->choice;
	struct sheet cause = *sheet;
	char buffer[AXIS_LABEL];
	const char *by = row_name(sheet, row), *x;
	struct stack_bar bar;

	x = axis_scale_label(&choice->scales[choice->x], choice->x_level[column], buffer);
	bar = (struct stack_bar){ .label = xasprintf("%s%s%s", x, *by ? " " : "", by),
				  .x = stack_place(column * choice->rows, choice->rows, row) };
	for (size_t c = 0; c < BREAKDOWN_CAUSES; c++) {
		struct estimate at;

		cause.metric = choice->metrics[c];
		at = sheet_estimate(&cause, column, row);
		bar.cause[c] = at.value;
		bar.rows = (double)at.n;
	}
	return bar;
}

static void put_breakdown(struct figure *f, const struct page *page, const struct stack_bar *bars)
{
	const struct sheet *sheet = page->sheets;
	const struct sweep_table *table = sheet->table;
	struct names groups = { 0 };
	const char *jobs = sweep_table_jobs_alike(table, &groups) ? "" : " of unlike jobs";

	free(groups.items);
	stack_put(f, bars, bars_of(sheet), table->axes[sheet->choice->x].name, "replications",
		  title_words(sheet, "what iterations are spent on", "", fixed_words(sheet)),
		  xasprintf("Mean over workers and iterations%s%s; %s", jobs,
			    table->replications > 1 ? " of all replications" : "", tally(page)));
}

static bool draw_breakdown(struct figure *f, const struct page *page)
{
	const struct sheet *sheet = page->sheets;
	struct stack_bar *bars = xcalloc(bars_of(sheet), sizeof(*bars));
	bool known = false, any = false, room = bars_of(sheet) <= STACK_BARS;

	for (size_t i = 0; i < bars_of(sheet); i++) {
		bars[i] = bar_of(sheet, i / sheet->choice->rows, i % sheet->choice->rows);
		known = known || !isnan(bars[i].cause[0]);
		any = any || stack_sum(&bars[i]) > 0;
	}
	f->why = !room   ? "it has more bars than there is room for; pick some with --where"
		 : known ? "iterations took no time"
			 : "no point has these values";
	if (any && room)
		put_breakdown(f, page, bars);
	for (size_t i = 0; i < bars_of(sheet); i++)
		free(bars[i].label);
	free(bars);
	return any && room;
}

/* ---- Names ---- */

/* Adds the name of a figure to `names`, which lists the figures of this call, and returns it. A
 * name that equals another, because figure_name() replaced or cut off letters, gets a number. */
static const char *add_unique(struct names *names, const char *name, struct conf_doc *doc)
{
	const char *unique = name;

	for (size_t n = 2; names_find(names, unique) != SIZE_MAX; n++)
		unique = conf_at(doc, "%s-%zu", name, n);
	names_add(names, unique);
	return unique;
}

/* Returns the number of figures drawn, 0 or 1; sets *error on failure. */
static int draw_page(const struct page *page, struct names *names, const char *folder,
		     const struct plot_options *options, FILE *to, char **error)
{
	struct plot_options own = *options;
	const size_t *m = page->sheets->choice->metrics;
	/* drop the labels of the metrics before this page's first metric */

	for (; *m != page->sheets->metric && own.y_labels.count; m++) {
		own.y_labels.items++;
		own.y_labels.count--;
	}
	struct figure f = { .name = add_unique(names, figure_name(page), page->sheets->table->doc),
			    .folder = folder,
			    .group = page->count / page->metrics,
			    .options = &own };
	enum sweep_kind kind = page->sheets->choice->kind;
	bool data = kind == SWEEP_STACK ? draw_breakdown(&f, page)
		    : kind == SWEEP_CDF ? draw_cdf(&f, page)
					: draw(&f, page);
	bool drawn = figure_finish(&f, data, to);

	if (!drawn && !f.error && !options->quiet)
		plain_print(stderr, "%s: no figure %s: %s\n", page->sheets->table->dir, f.name,
			    f.why);
	*error = f.error;
	return drawn;
}

/* Makes the sheets of a call: for each metric, one for each combination of fixed levels. Leaves out
 * combinations with the baseline's level, whose ratios would all be 1. */
static struct page all_sheets(const struct sweep_table *table, const struct sweep_choice *choice,
			      const struct groups *groups)
{
	size_t *fixed = conf_own(table->doc, choice->figures * table->axis_count, sizeof(*fixed));
	size_t base = choice->base_axis, count = 0, axes = table->axis_count;
	struct page all = { .metrics = choice->kind == SWEEP_STACK ? 1 : choice->metric_count };

	all.sheets = conf_own(table->doc, choice->figures * all.metrics, sizeof(*all.sheets));
	for (size_t i = 0; i < choice->figures; i++) {
		/* if not counted, the next overwrites it */
		sweep_choice_fixed(choice, table, i, &fixed[count * axes]);
		count += base == SIZE_MAX || !sweep_choice_is_fixed(choice, base) ||
			 fixed[count * axes + base] != choice->base_level;
	}
	for (size_t m = 0; m < all.metrics; m++)
		for (size_t i = 0; i < count; i++)
			all.sheets[all.count++] = (struct sheet){ .table = table,
								  .choice = choice,
								  .groups = groups,
								  .metric = choice->metrics[m],
								  .fixed = &fixed[i * axes] };
	return all;
}

static int draw_all(const struct sweep_table *table, const struct sweep_choice *choice,
		    const char *folder, const struct plot_options *options, FILE *to, char **error)
{
	struct groups groups = groups_of(table);
	struct page all = all_sheets(table, choice, &groups);
	struct names names = { 0 };
	int drawn = 0;

	if (choice->panels && all.count > 1)
		drawn = draw_page(&all, &names, folder, options, to, error);
	else
		for (size_t i = 0; i < all.count && !*error; i++) {
			/* sheets are ordered by metric, figures by fixed levels */
			size_t at = i % all.metrics * (all.count / all.metrics) + i / all.metrics;
			struct page page = { &all.sheets[at], .count = 1, .metrics = 1 };

			drawn += draw_page(&page, &names, folder, options, to, error);
		}
	free(names.items);
	groups_release(&groups);
	return !*error ? drawn : PLOT_IO;
}

int plot_sweep(const char *dir, const struct plot_sweep_options *sweep,
	       const struct plot_options *options, FILE *to, char **error)
{
	*error = figure_no_terminal(options);
	if (*error)
		return PLOT_USAGE;
	if (!sweep_table_exists(dir)) {
		*error = xasprintf("%s is not a collected sweep: it has no sweep.json", dir);
		return PLOT_IO;
	}
	char *trimmed = folder_trim(dir), *folder = NULL;
	struct sweep_table *table = sweep_table_read(trimmed, error);
	struct sweep_choice choice;
	int drawn = PLOT_IO;

	if (table)
		folder = figure_folder(options, trimmed, error);
	if (folder && !options->quiet)
		sweep_table_print_warnings(table, trimmed, stderr);
	if (folder) {
		drawn = sweep_choice_init(&choice, table, sweep, error)
				? draw_all(table, &choice, folder, options, to, error)
				: PLOT_USAGE;
		sweep_choice_release(&choice, table);
	}
	sweep_table_free(table);
	free(folder);
	free(trimmed);
	return drawn;
}
