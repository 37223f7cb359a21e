#include "study/plot_sweep.h"

#include "base/mem.h"
#include "base/types.h"
#include "out/folder.h"
#include "out/plot_page.h"
#include "study/metric_words.h"
#include "study/sweep_grid.h"

#include <ctype.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NAME_MAX_LETTERS 160   /* of a file's name */
#define CLUSTER          0.8   /* of the distance of two labels that their bars fill */
#define DODGE            0.008 /* of the axis between the same points of two curves */
#define VALUE_LETTERS    4.5   /* that a number in a cell of a map takes */
#define HALF_LETTERS     8     /* and half an interval: "± 0.123" */
#define MAP_SHARE        0.65  /* of a figure's width that is map */
#define AXIS_SHARE       0.82  /* of a figure's width that is axis */

/* One figure in the making. */
struct sheet {
	const struct sweep_table *table;
	const struct sweep_choice *choice;
	const size_t *fixed; /* levels of the axes that are not drawn */
	size_t metric;
	struct sweep_grid grid;
	struct estimate *at; /* by cell */
	struct plot_page *page;
	const char *unit; /* "ms"; "" where there is none */
	double scale;     /* units of the figure in one of the metric */
	double low, high; /* of all that is drawn, intervals included, in the metric's unit */
};

/* ---- What is drawn ---- */

static bool is_ratio(const struct sheet *sheet)
{
	return sheet->choice->base_axis != SIZE_MAX;
}

/* The row that everything is compared with is not drawn: it is 1. */
static bool is_drawn(const struct sheet *sheet, size_t row)
{
	return !is_ratio(sheet) || sheet->choice->base_axis != sheet->choice->by ||
	       sheet->grid.y_level[row] != sheet->choice->base_level;
}

static size_t rows_drawn(const struct sheet *sheet)
{
	size_t count = 0;
	for (size_t row = 0; row < sheet->grid.rows; row++)
		count += is_drawn(sheet, row);
	return count;
}

static double x_of(const struct sheet *sheet, size_t column)
{
	const struct axis_scale *scale = &sheet->choice->scales[sheet->choice->x];
	return scale->numeric ? scale->at[sheet->grid.x_level[column]] : (double)column;
}

static const char *x_label(const struct sheet *sheet, size_t column, char *buffer)
{
	return axis_scale_label(&sheet->choice->scales[sheet->choice->x],
				sheet->grid.x_level[column], buffer);
}

/* Number of a row's colour, dash and mark: the same in all figures of a sweep. */
static size_t style_of(const struct sheet *sheet, size_t row)
{
	return sheet->choice->by == SIZE_MAX ? 0 : sheet->grid.y_level[row];
}

static const char *base_value(const struct sheet *sheet)
{
	const struct sweep_choice *choice = sheet->choice;
	return sheet->table->axes[choice->base_axis].values[choice->base_level];
}

/* Name of a curve: a number needs the name of its axis. The caller frees. */
static char *row_name(const struct sheet *sheet, size_t row)
{
	const struct sweep_choice *choice = sheet->choice;
	if (choice->by == SIZE_MAX)
		return xstrdup("");
	const struct sweep_axis *axis = &sheet->table->axes[choice->by];
	const char *value = axis->values[sheet->grid.y_level[row]];
	return choice->scales[choice->by].numeric ? xasprintf("%s %s", axis->name, value)
						  : xstrdup(value);
}

static void choose_unit(struct sheet *sheet)
{
	static const struct {
		enum metric_unit unit;
		double size;
		const char *name;
	} units[] = {
		{ METRIC_BYTES, 1e9, "GB" },
		{ METRIC_BYTES, 1e6, "MB" },
		{ METRIC_BYTES, 1e3, "KB" },
		{ METRIC_BYTES, 0, "bytes" },
		{ METRIC_BITS_PER_SECOND, 1e9, "Gbit/s" },
		{ METRIC_BITS_PER_SECOND, 1e6, "Mbit/s" },
		{ METRIC_BITS_PER_SECOND, 0, "bit/s" },
		{ METRIC_NUMBER, 1e6, "millions" },
		{ METRIC_NUMBER, 0, "" },
	};
	enum metric_unit unit = metric_unit(sheet->table->metrics[sheet->metric]);
	sheet->unit = "";
	sheet->scale = 1;
	if (is_ratio(sheet))
		return;
	if (unit == METRIC_SECONDS) {
		sheet->unit = plot_time_unit(sheet->high, &sheet->scale);
		return;
	}
	size_t i = 0;
	while (units[i].unit != unit || sheet->high < units[i].size)
		i++;
	sheet->unit = units[i].name;
	sheet->scale = units[i].size > 0 ? 1 / units[i].size : 1;
}

/* Ends of intervals may lie below 0, where a logarithmic axis has no place: there
 * they do not count, and whiskers are drawn down to the axis. */
static void see(struct sheet *sheet, double value)
{
	if (sheet->choice->log_y && !(value > 0))
		return;
	sheet->low = fmin(sheet->low, value);
	sheet->high = fmax(sheet->high, value);
}

/* Estimates of all cells; false where there is nothing to draw. */
static bool estimate(struct sheet *sheet)
{
	const struct sweep_grid *grid = &sheet->grid;
	sheet->at = xcalloc(grid->columns * grid->rows + 1, sizeof *sheet->at);
	sheet->low = INFINITY;
	sheet->high = -INFINITY;
	for (size_t i = 0; i < grid->columns * grid->rows; i++) {
		sheet->at[i] = sweep_grid_estimate(grid, i, sheet->metric);
		if (!is_drawn(sheet, i / grid->columns))
			continue;
		see(sheet, sheet->at[i].value);
		see(sheet, sheet->at[i].low);
		see(sheet, sheet->at[i].high);
		if (sheet->choice->kind != SWEEP_BOX)
			continue;
		size_t count;
		double *values = sweep_grid_values(grid, i, sheet->metric, &count);
		see(sheet, count > 0 ? values[0] : NAN);
		see(sheet, count > 0 ? values[count - 1] : NAN);
		free(values);
	}
	choose_unit(sheet);
	return isfinite(sheet->low);
}

/* ---- Words ---- */

static const char *statistic(const struct sheet *sheet)
{
	if (sheet->table->replications < 2)
		return is_ratio(sheet) ? "One replication, no intervals"
				       : "One replication, no interval";
	if (sheet->choice->kind == SWEEP_BOX)
		return "Replications: minimum, quartiles, maximum";
	if (is_ratio(sheet))
		return "Ratio of means, paired by replication, 95 % Fieller intervals";
	return "Mean of replications, 95 % t-intervals";
}

/* " (load 0.2, delay 1us)" of the axes that are not drawn; the caller frees. */
static char *fixed_words(const struct sheet *sheet)
{
	const struct sweep_table *table = sheet->table;
	char *text = xstrdup("");
	for (size_t i = 0; i < table->axis_count; i++) {
		if (!sweep_choice_is_fixed(sheet->choice, i) || table->axes[i].count < 2)
			continue;
		char *longer =
			xasprintf("%s%s%s %s", text, *text == '\0' ? " (" : ", ",
				  table->axes[i].name, table->axes[i].values[sheet->fixed[i]]);
		free(text);
		text = longer;
	}
	char *all = xasprintf("%s%s", text, *text == '\0' ? "" : ")");
	free(text);
	return all;
}

/* Where there is no room for words beside the axis (text), or no axis (maps). */
static bool is_unit_in_title(const struct sheet *sheet)
{
	return plot_is_dumb(sheet->page) || sheet->choice->kind == SWEEP_HEAT;
}

static void write_titles(const struct sheet *sheet)
{
	char *words = metric_words(sheet->table, sheet->metric);
	char *fixed = fixed_words(sheet);
	char *tally = sweep_grid_tally(&sheet->grid, sheet->metric);
	const char *name = sheet->table->name, *colon = *name != '\0' ? ": " : "";
	bool unit = is_unit_in_title(sheet) && *sheet->unit != '\0';
	char *title = is_ratio(sheet)
			      ? xasprintf("%s%s%s, relative to %s%s", name, colon, words,
					  base_value(sheet), fixed)
			      : xasprintf("%s%s%s%s%s%s", name, colon, words, unit ? ", in " : "",
					  unit ? sheet->unit : "", fixed);
	plot_title(sheet->page, title, "%s; %s", statistic(sheet), tally);
	free(words);
	free(fixed);
	free(tally);
	free(title);
}

static void write_y_label(const struct sheet *sheet)
{
	if (is_unit_in_title(sheet))
		return;
	char *words = metric_words(sheet->table, sheet->metric);
	char *label = is_ratio(sheet) ? xasprintf("%s / that of %s", words, base_value(sheet))
		      : *sheet->unit != '\0' ? xasprintf("%s (%s)", words, sheet->unit)
					     : xstrdup(words);
	plot_label(sheet->page, "y", label);
	free(words);
	free(label);
}

/* ---- Data ---- */

/* What the numbers are, in comments. Values of axes are numbers in base units
 * (bytes, bit/s, ps) or places; either is spelled out. */
static void write_head(const struct sheet *sheet, const char *columns)
{
	const struct sweep_table *table = sheet->table;
	FILE *data = sheet->page->data;
	char *fixed = fixed_words(sheet);
	char *tally = sweep_grid_tally(&sheet->grid, sheet->metric);
	fputs("# sweep ", data);
	plot_comment(data, table->name);
	fprintf(data, ": ");
	plot_comment(data, table->metrics[sheet->metric]);
	plot_comment(data, fixed);
	if (is_ratio(sheet)) {
		fputs(", relative to ", data);
		plot_comment(data, base_value(sheet));
	}
	fprintf(data, "\n# %s; %s\n# x is ", statistic(sheet), tally);
	plot_comment(data, table->axes[sheet->choice->x].name);
	for (size_t c = 0; c < sheet->grid.columns; c++) {
		fputs(c == 0 ? ": " : ", ", data);
		plot_real(data, x_of(sheet, c));
		fputs(" = ", data);
		plot_comment(data, table->axes[sheet->choice->x].values[sheet->grid.x_level[c]]);
	}
	fprintf(data, "\n# columns: %s\n", columns);
	free(fixed);
	free(tally);
}

static void write_numbers(FILE *data, const double *values, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		putc(' ', data);
		plot_real(data, values[i]);
	}
}

/* Smallest, quartiles, largest. Quartiles are interpolated linearly between ranks
 * (definition 7 of Hyndman and Fan, Am. Stat. 50, 1996). */
static void write_quartiles(const struct sheet *sheet, size_t cell)
{
	size_t count;
	double *values = sweep_grid_values(&sheet->grid, cell, sheet->metric, &count);
	double five[5] = { NAN, NAN, NAN, NAN, NAN };
	for (size_t i = 0; i < 5 && count > 0; i++)
		five[i] = gsl_stats_quantile_from_sorted_data(values, 1, count, (double)i / 4);
	write_numbers(sheet->page->data, five, 5);
	fprintf(sheet->page->data, " %zu", count);
	free(values);
}

static void write_estimate(const struct sheet *sheet, size_t cell)
{
	const struct estimate *at = &sheet->at[cell];
	write_numbers(sheet->page->data, (double[]){ at->value, at->low, at->high }, 3);
	fprintf(sheet->page->data, " %zu", at->n);
}

/* A block for each row; a map has all rows in one. */
static void write_data(const struct sheet *sheet)
{
	static const char *const columns[] = {
		[SWEEP_LINES] = "x value low high replications",
		[SWEEP_BARS] = "x value low high replications",
		[SWEEP_HEAT] = "x y value low high replications",
		[SWEEP_BOX] = "x minimum quartile1 median quartile3 maximum replications",
	};
	const struct sweep_grid *grid = &sheet->grid;
	enum sweep_kind kind = sheet->choice->kind;
	FILE *data = sheet->page->data;
	size_t blocks = 0;
	write_head(sheet, columns[kind]);
	for (size_t row = 0; row < grid->rows; row++) {
		if (!is_drawn(sheet, row))
			continue;
		char *name = row_name(sheet, row);
		fputs(blocks++ > 0 && kind != SWEEP_HEAT ? "\n\n# " : "# ", data);
		if (kind == SWEEP_HEAT)
			fprintf(data, "y %zu: ", row);
		plot_comment(data, *name != '\0' ? name : "all");
		putc('\n', data);
		free(name);
		for (size_t c = 0; c < grid->columns; c++) {
			size_t cell = row * grid->columns + c;
			plot_real(data, x_of(sheet, c));
			if (kind == SWEEP_HEAT)
				fprintf(data, " %zu", row);
			if (kind == SWEEP_BOX)
				write_quartiles(sheet, cell);
			else
				write_estimate(sheet, cell);
			putc('\n', data);
		}
	}
}

/* ---- Axes ---- */

/* Places on an axis of numbers as a share of its length. */
static double share(const struct sheet *sheet, size_t column)
{
	double first = x_of(sheet, 0), last = x_of(sheet, sheet->grid.columns - 1);
	double x = x_of(sheet, column);
	if (sheet->choice->log_x)
		return log(x / first) / log(last / first);
	return (x - first) / (last - first);
}

/* Numbers at the values of the axis; those without room have a tick only. */
static void write_number_ticks(const struct sheet *sheet)
{
	FILE *script = sheet->page->script;
	double room = AXIS_SHARE * (double)plot_columns(sheet->page), end = -1;
	fputs("set xtics (", script);
	for (size_t c = 0; c < sheet->grid.columns; c++) {
		char buffer[AXIS_LABEL];
		const char *label = x_label(sheet, c, buffer);
		double half = 0.5 * (double)strlen(label) + 0.5;
		double at = sheet->grid.columns > 1 ? share(sheet, c) * room : 0;
		bool fits = c == 0 || at - half > end;
		fputs(c > 0 ? ", " : "", script);
		plot_quote(script, fits ? label : "");
		putc(' ', script);
		plot_real(script, x_of(sheet, c));
		end = fits ? at + half : end;
	}
	fputs(")\n", script);
}

static void write_number_axis(const struct sheet *sheet)
{
	double first = x_of(sheet, 0), last = x_of(sheet, sheet->grid.columns - 1);
	FILE *script = sheet->page->script;
	if (sheet->choice->log_x) {
		double pad = last > first ? pow(last / first, 0.04) : 2;
		fprintf(script, "set logscale x\nset xrange [%.9g:%.9g]\n", first / pad,
			last * pad);
	} else {
		double pad = last > first ? 0.04 * (last - first) : 1;
		fprintf(script, "set xrange [%.9g:%.9g]\n", first - pad, last + pad);
	}
	write_number_ticks(sheet);
}

/* Labels beside one another, slanted where they would overlap. */
static void write_label_axis(const struct sheet *sheet)
{
	FILE *script = sheet->page->script;
	size_t longest = 0;
	char buffer[AXIS_LABEL];
	for (size_t c = 0; c < sheet->grid.columns; c++) {
		size_t length = strlen(x_label(sheet, c, buffer));
		longest = length > longest ? length : longest;
	}
	double room = AXIS_SHARE * (double)plot_columns(sheet->page);
	bool slanted = (double)((longest + 1) * sheet->grid.columns) > room;
	fprintf(script, "set xrange [-0.5:%g]\nset xtics %sscale 0 (",
		(double)sheet->grid.columns - 0.5,
		slanted && !plot_is_dumb(sheet->page) ? "rotate by -30 left " : "");
	for (size_t c = 0; c < sheet->grid.columns; c++) {
		fputs(c > 0 ? ", " : "", script);
		plot_quote(script, x_label(sheet, c, buffer));
		fprintf(script, " %zu", c);
	}
	fputs(")\n", script);
}

static void write_x_axis(const struct sheet *sheet)
{
	plot_label(sheet->page, "x", sheet->table->axes[sheet->choice->x].name);
	if (sheet->choice->scales[sheet->choice->x].numeric)
		write_number_axis(sheet);
	else
		write_label_axis(sheet);
}

/* From 0 where that does not squeeze everything against the top. */
static void write_y_axis(const struct sheet *sheet)
{
	FILE *script = sheet->page->script;
	double low = sheet->low * sheet->scale, high = sheet->high * sheet->scale;
	if (is_ratio(sheet)) {
		low = fmin(low, 1);
		high = fmax(high, 1);
	}
	write_y_label(sheet);
	fputs(sheet->choice->log_y ? "" : "lower(v) = v\n", script);
	if (sheet->choice->log_y) {
		plot_log_axis(sheet->page, 'y', low, high);
		fprintf(script,
			"set format y '%%g'\nset yrange [%g:%g]\nlower(v) = v > %g ? v : %g\n",
			low / 1.1, high * 1.1, low / 1.1, low / 1.1);
		return;
	}
	bool zero = low >= 0 && (low < 0.5 * high || sheet->choice->kind == SWEEP_BARS);
	double pad = 0.06 * (zero ? high : high - low);
	if (!(pad > 0))
		pad = 1;
	fprintf(script, "set yrange [%g:%g]\n", zero ? 0 : low - pad, high + pad);
	if (sheet->choice->kind == SWEEP_BARS && low < 0)
		fputs("set yrange [*:*]\nset xzeroaxis lt 1 lc rgb '#808080'\n", script);
}

/* ---- Scripts ---- */

static void write_baseline(const struct sheet *sheet)
{
	if (!is_ratio(sheet))
		return;
	fputs("1 with lines lt 1 dt 3 lw 1.5 lc rgb '#606060' title ", sheet->page->script);
	plot_quote(sheet->page->script, base_value(sheet));
	fputs(", \\\n     ", sheet->page->script);
}

static void write_curve_name(const struct sheet *sheet, size_t row)
{
	char *name = row_name(sheet, row);
	if (*name == '\0')
		fputs("notitle", sheet->page->script);
	else
		fputs("title ", sheet->page->script);
	if (*name != '\0')
		plot_quote(sheet->page->script, name);
	free(name);
}

/* Where the block-th of `count` curves is on the x axis: beside its neighbours by
 * a little, so that their intervals can be told apart. The caller frees. */
static char *dodged_x(const struct sheet *sheet, size_t block, size_t count)
{
	size_t last = sheet->grid.columns - 1;
	double by = DODGE * ((double)block - 0.5 * (double)(count - 1));
	if (sheet->choice->log_x)
		return xasprintf("($1*%.9g)", pow(x_of(sheet, last) / x_of(sheet, 0), by));
	return xasprintf("($1%+.9g)", by * (x_of(sheet, last) - x_of(sheet, 0)));
}

/* The intervals below in solid thin lines, then the curve. */
static void write_lines(const struct sheet *sheet)
{
	FILE *script = sheet->page->script;
	double scale = sheet->scale;
	size_t count = rows_drawn(sheet);
	fputs("plot ", script);
	write_baseline(sheet);
	for (size_t row = 0, block = 0; row < sheet->grid.rows; row++) {
		if (!is_drawn(sheet, row))
			continue;
		char *x = dodged_x(sheet, block, count);
		fprintf(script,
			"%s'%s.dat' index %zu using %s:($2*%g):(lower($3*%g)):($4*%g) with "
			"yerrorbars lt 1 dt 1 lw 1.2 ps 0 lc rgb '%s' notitle, \\\n"
			"     '' index %zu using %s:($2*%g) with linespoints ",
			block > 0 ? ", \\\n     " : "", sheet->page->name, block, x, scale, scale,
			scale, plot_colour(style_of(sheet, row)), block, x, scale);
		plot_line_style(script, style_of(sheet, row));
		putc(' ', script);
		write_curve_name(sheet, row);
		free(x);
		block++;
	}
	putc('\n', script);
}

/* The index-th bar of each label, and its interval. */
static void write_bar(const struct sheet *sheet, size_t row, size_t block, double shift)
{
	FILE *script = sheet->page->script;
	double scale = sheet->scale;
	fprintf(script, "'%s.dat' index %zu using ($1%+g):($2*%g) with boxes ", sheet->page->name,
		block, shift, scale);
	plot_bar_style(script, style_of(sheet, row));
	putc(' ', script);
	write_curve_name(sheet, row);
	fprintf(script,
		", \\\n     '' index %zu using ($1%+g):($2*%g):($3*%g):($4*%g) with yerrorbars lt "
		"1 "
		"lw 1.2 ps 0 lc rgb '#000000' notitle",
		block, shift, scale, scale, scale);
}

/* A box from quartile to quartile, whiskers to the ends, a line at the median. */
static void write_box(const struct sheet *sheet, size_t row, size_t block, double shift)
{
	FILE *script = sheet->page->script;
	double scale = sheet->scale;
	fprintf(script,
		"'%s.dat' index %zu using ($1%+g):($3*%g):($2*%g):($6*%g):($5*%g) with "
		"candlesticks "
		"whiskerbars 0.5 ",
		sheet->page->name, block, shift, scale, scale, scale, scale);
	plot_bar_style(script, style_of(sheet, row));
	putc(' ', script);
	write_curve_name(sheet, row);
	fprintf(script,
		", \\\n     '' index %zu using ($1%+g):($4*%g):($4*%g):($4*%g):($4*%g) with "
		"candlesticks lt 1 lw 2 lc rgb '#000000' notitle",
		block, shift, scale, scale, scale, scale);
}

/* Bars or boxes of one label stand side by side. */
static void write_clusters(const struct sheet *sheet)
{
	FILE *script = sheet->page->script;
	size_t count = rows_drawn(sheet);
	bool bars = sheet->choice->kind == SWEEP_BARS;
	double width = CLUSTER / (double)count;
	fprintf(script, "set grid noxtics\nset boxwidth %g\nplot ", bars ? width : 0.7 * width);
	write_baseline(sheet);
	for (size_t row = 0, block = 0; row < sheet->grid.rows; row++) {
		if (!is_drawn(sheet, row))
			continue;
		double shift = ((double)block - 0.5 * (double)(count - 1)) * width;
		fputs(block > 0 ? ", \\\n     " : "", script);
		if (bars)
			write_bar(sheet, row, block, shift);
		else
			write_box(sheet, row, block, shift);
		block++;
	}
	putc('\n', script);
}

/* Ratios have two sides, as far to either, and white at 1. */
static void write_ratio_colours(FILE *script, double low, double high)
{
	double side = fmax(fmax(high, low > 0 ? 1 / low : 1), 1.01);
	fprintf(script,
		"set palette defined (0 '#56b4e9', 1 '#ffffff', 2 '#e69f00')\n"
		"set logscale cb\nset cbrange [%g:%g]\nset cbtics (",
		1 / side, side);
	for (int i = -2; i <= 2; i++)
		fprintf(script, "%s'%.3g' %g", i > -2 ? ", " : "", pow(side, i / 2.0),
			pow(side, i / 2.0));
	fputs(")\n", script);
}

/* Colours from light to dark, so that black numbers can be read and paper without
 * colour shows the same order. */
static void write_colours(const struct sheet *sheet)
{
	FILE *script = sheet->page->script;
	double low = INFINITY, high = -INFINITY;
	for (size_t i = 0; i < sheet->grid.columns * sheet->grid.rows; i++) {
		if (!is_drawn(sheet, i / sheet->grid.columns))
			continue;
		low = fmin(low, sheet->at[i].value * sheet->scale);
		high = fmax(high, sheet->at[i].value * sheet->scale);
	}
	if (is_ratio(sheet)) {
		write_ratio_colours(script, low, high);
		return;
	}
	if (!(high > low)) /* gnuplot wants a range */
		high = low + (low != 0 ? fabs(low) : 1);
	fprintf(script,
		"set palette defined (0 '#ffffff', 1 '#56b4e9')\n%sset cbrange [%.9g:%.9g]\n",
		sheet->choice->log_y ? "set logscale cb\n" : "", low, high);
}

static double letters_in_cell(const struct sheet *sheet)
{
	return MAP_SHARE * (double)plot_columns(sheet->page) / (double)sheet->grid.columns;
}

/* Mean and, on a line below it, half the width of the interval. */
static void write_cell_numbers(const struct sheet *sheet)
{
	bool halves = sheet->table->replications > 1 && letters_in_cell(sheet) >= HALF_LETTERS;
	fprintf(sheet->page->script, "'%s.dat' using 1:2:(valid(3) ? number($3*%g)",
		sheet->page->name, sheet->scale);
	if (halves && !is_ratio(sheet) && !plot_is_dumb(sheet->page))
		fprintf(sheet->page->script, ".(valid(4) ? \"\\n± \".number(($5-$4)/2*%g) : '')",
			sheet->scale);
	fputs(" : '–') with labels notitle", sheet->page->script);
}

static void write_heat(const struct sheet *sheet)
{
	FILE *script = sheet->page->script;
	const struct sweep_choice *choice = sheet->choice;
	char buffer[AXIS_LABEL];
	bool dumb = plot_is_dumb(sheet->page);
	plot_label(sheet->page, "y", sheet->table->axes[choice->by].name);
	fprintf(script, "set yrange [-0.5:%g]\nset ytics scale 0 (",
		(double)sheet->grid.rows - 0.5);
	for (size_t row = 0; row < sheet->grid.rows; row++) {
		fputs(row > 0 ? ", " : "", script);
		plot_quote(script, axis_scale_label(&choice->scales[choice->by],
						    sheet->grid.y_level[row], buffer));
		fprintf(script, " %zu", row);
	}
	fputs(")\nunset grid\nset border 15\n"
	      "number(v) = abs(v) >= 100 ? sprintf('%.0f', v) : sprintf('%.3g', v)\n",
	      script);
	write_colours(sheet);
	fputs("plot ", script);
	if (!dumb)
		fprintf(script,
			"'%s.dat' using 1:2:($1-0.5):($1+0.5):($2-0.5):($2+0.5):($3*%g) with "
			"boxxyerror fs solid 1 border rgb '#b0b0b0' lc palette notitle",
			sheet->page->name, sheet->scale);
	if (dumb || letters_in_cell(sheet) >= VALUE_LETTERS) {
		fputs(dumb ? "" : ", \\\n     ", script);
		write_cell_numbers(sheet);
	}
	putc('\n', script);
}

static void write_script(const struct sheet *sheet)
{
	/* An empty cell is a gap: "missing" would join the points beside it. */
	fputs("unset datafile missing\n", sheet->page->script);
	write_titles(sheet);
	write_x_axis(sheet);
	if (sheet->choice->kind != SWEEP_HEAT)
		write_y_axis(sheet);
	switch (sheet->choice->kind) {
	case SWEEP_LINES:
		write_lines(sheet);
		break;
	case SWEEP_BARS:
	case SWEEP_BOX:
		write_clusters(sheet);
		break;
	case SWEEP_HEAT:
		write_heat(sheet);
		break;
	}
}

/* ---- Figures ---- */

/* METRIC-over-X-by-Y-KIND-AXIS-VALUE..., of letters that need no quotes anywhere.
 * The caller frees. */
static char *figure_name(const struct sheet *sheet)
{
	const struct sweep_table *table = sheet->table;
	const struct sweep_choice *choice = sheet->choice;
	static const char *const kinds[] = { [SWEEP_LINES] = "",
					     [SWEEP_BARS] = "-bars",
					     [SWEEP_HEAT] = "-heat",
					     [SWEEP_BOX] = "-box" };
	char *fixed = fixed_words(sheet);
	char *name =
		xasprintf("%s-over-%s%s%s%s%s%s%s", table->metrics[sheet->metric],
			  table->axes[choice->x].name, choice->by != SIZE_MAX ? "-by-" : "",
			  choice->by != SIZE_MAX ? table->axes[choice->by].name : "",
			  is_ratio(sheet) ? "-relative-to-" : "",
			  is_ratio(sheet) ? base_value(sheet) : "", kinds[choice->kind], fixed);
	char *to = name;
	for (const char *p = name; *p != '\0' && to - name < NAME_MAX_LETTERS; p++) {
		bool safe = isalnum((unsigned char)*p) || (strchr("._-", *p) != NULL && to > name);
		if (safe)
			*to++ = *p;
		else if (to > name && to[-1] != '-') /* "(load 0.2, delay 1us)" */
			*to++ = '-';
	}
	while (to > name && to[-1] == '-')
		to--;
	*to = '\0';
	free(fixed);
	return name;
}

/* Names that became equal (by what was replaced or cut off) get numbers. */
struct names {
	char **at;
	size_t count, capacity;
};

static bool names_have(const struct names *names, const char *name)
{
	for (size_t i = 0; i < names->count; i++)
		if (strcmp(names->at[i], name) == 0)
			return true;
	return false;
}

/* Takes `name`; returns one that is new, which `names` owns. */
static const char *names_add(struct names *names, char *name)
{
	char *unique = xstrdup(name);
	for (size_t n = 2; names_have(names, unique); n++) {
		free(unique);
		unique = xasprintf("%s-%zu", name, n);
	}
	free(name);
	names->at = array_reserve(names->at, names->count, &names->capacity, sizeof *names->at);
	return names->at[names->count++] = unique;
}

static void names_release(struct names *names)
{
	for (size_t i = 0; i < names->count; i++)
		free(names->at[i]);
	free(names->at);
}

static bool all_positive(const struct sheet *sheet)
{
	for (size_t i = 0; i < sheet->grid.columns * sheet->grid.rows; i++)
		if (is_drawn(sheet, i / sheet->grid.columns) && sheet->at[i].value <= 0)
			return false;
	return true;
}

static enum plot_outcome draw(struct sheet *sheet)
{
	if (rows_drawn(sheet) == 0 || !estimate(sheet)) {
		sheet->page->why = "no point has this value";
		return PLOT_NO_DATA;
	}
	if (sheet->choice->log_y && !all_positive(sheet)) {
		sheet->page->why = "a logarithmic axis needs values above 0";
		return PLOT_NO_DATA;
	}
	if (plot_page_open(sheet->page, PLOT_WIDTH, PLOT_HEIGHT) != PLOT_DRAWN)
		return PLOT_FAILED;
	write_data(sheet);
	write_script(sheet);
	return PLOT_DRAWN;
}

/* One figure of one metric. Adds to *drawn; false with *error. */
static bool figure(struct sheet *sheet, const struct plot_page *template, struct names *names,
		   FILE *to, int *drawn, char **error)
{
	struct plot_page page = *template;
	sheet->page = &page;
	page.name = names_add(names, figure_name(sheet));
	enum plot_outcome outcome = plot_page_render(&page, draw(sheet), to);
	free(sheet->at);
	if (outcome == PLOT_NO_DATA)
		fprintf(stderr, "%s: no figure %s: %s\n", page.dir, page.name, page.why);
	*drawn += outcome == PLOT_DRAWN;
	*error = page.error;
	return outcome != PLOT_FAILED;
}

static int draw_all(const struct sweep_table *table, const struct sweep_choice *choice,
		    const struct plot_page *template, FILE *to, char **error)
{
	size_t *fixed = xcalloc(table->axis_count + 1, sizeof *fixed);
	struct names names = { 0 };
	int drawn = 0;
	bool ok = true;
	for (size_t f = 0; f < choice->figures && ok; f++) {
		sweep_choice_fixed(choice, table, f, fixed);
		if (choice->base_axis != SIZE_MAX &&
		    sweep_choice_is_fixed(choice, choice->base_axis) &&
		    fixed[choice->base_axis] == choice->base_level)
			continue; /* the baseline against itself */
		struct sweep_grid grid;
		sweep_grid_init(&grid, table, choice, fixed);
		for (size_t m = 0; m < choice->metric_count && ok; m++) {
			struct sheet sheet = { .table = table,
					       .choice = choice,
					       .fixed = fixed,
					       .metric = choice->metrics[m],
					       .grid = grid };
			ok = figure(&sheet, template, &names, to, &drawn, error);
		}
		sweep_grid_release(&grid);
	}
	names_release(&names);
	free(fixed);
	return ok ? drawn : PLOT_SWEEP_IO;
}

int plot_sweep(const char *dir, const struct plot_sweep_options *options,
	       const struct plot_options *page, FILE *to, char **error)
{
	*error = NULL;
	if (!sweep_table_exists(dir)) {
		*error = xasprintf(
			"%s is not a sweep that was collected: there is no sweep.json in it", dir);
		return PLOT_SWEEP_IO;
	}
	char *trimmed = folder_trim(dir);
	struct sweep_table *table = sweep_table_read(trimmed, error);
	if (table == NULL) {
		free(trimmed);
		return PLOT_SWEEP_IO;
	}
	char *folder = page->out != NULL ? folder_trim(page->out) : folder_join(trimmed, "figures");
	struct plot_page template = { .dir = trimmed, .folder = folder, .options = page };
	struct sweep_choice choice;
	int drawn = PLOT_SWEEP_USAGE;
	if (sweep_choice_init(&choice, table, options, error))
		drawn = draw_all(table, &choice, &template, to, error);
	sweep_choice_release(&choice, table);
	sweep_table_free(table);
	free(folder);
	free(trimmed);
	return drawn;
}
