/* The gnuplot script of a figure of a sweep: its axes, and lines, bars, boxes or a
 * map. Positions and scales refer to the columns that plot_sweep.c writes. */
#include "study/figures/sweep_sheet.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CLUSTER       0.8   /* of the distance of two labels that their bars fill */
#define DODGE         0.008 /* of the axis between the same points of two curves */
#define VALUE_LETTERS 4.5   /* that a number in a cell of a map takes */
#define HALF_LETTERS  8     /* and half an interval: "± 0.123" */
#define MAP_SHARE     0.65  /* of a figure's width that is map */
#define AXIS_SHARE    0.82  /* of a figure's width that is axis */

/* ---- Axes ---- */

/* Places on an axis of numbers as a share of its length. */
static double share(const struct sweep_sheet *sheet, size_t column)
{
	double first = sweep_sheet_x(sheet, 0),
	       last = sweep_sheet_x(sheet, sheet->grid.columns - 1);
	double x = sweep_sheet_x(sheet, column);
	if (sheet->choice->log_x)
		return log(x / first) / log(last / first);
	return (x - first) / (last - first);
}

/* Numbers at the values of the axis; those without room have a tick only. */
static void write_number_ticks(const struct sweep_sheet *sheet)
{
	FILE *script = sheet->page->script;
	double room = AXIS_SHARE * (double)plot_columns(sheet->page), end = -1;
	fputs("set xtics (", script);
	for (size_t c = 0; c < sheet->grid.columns; c++) {
		char buffer[AXIS_LABEL];
		const char *label = sweep_sheet_x_label(sheet, c, buffer);
		double half = 0.5 * (double)strlen(label) + 0.5;
		double at = sheet->grid.columns > 1 ? share(sheet, c) * room : 0;
		bool fits = c == 0 || at - half > end;
		fputs(c > 0 ? ", " : "", script);
		plot_quote(script, fits ? label : "");
		putc(' ', script);
		plot_real(script, sweep_sheet_x(sheet, c));
		end = fits ? at + half : end;
	}
	fputs(")\n", script);
}

static void write_number_axis(const struct sweep_sheet *sheet)
{
	double first = sweep_sheet_x(sheet, 0),
	       last = sweep_sheet_x(sheet, sheet->grid.columns - 1);
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
static void write_label_axis(const struct sweep_sheet *sheet)
{
	FILE *script = sheet->page->script;
	size_t longest = 0;
	char buffer[AXIS_LABEL];
	for (size_t c = 0; c < sheet->grid.columns; c++) {
		size_t length = strlen(sweep_sheet_x_label(sheet, c, buffer));
		longest = length > longest ? length : longest;
	}
	double room = AXIS_SHARE * (double)plot_columns(sheet->page);
	bool slanted = (double)((longest + 1) * sheet->grid.columns) > room;
	fprintf(script, "set xrange [-0.5:%g]\nset xtics %sscale 0 (",
		(double)sheet->grid.columns - 0.5,
		slanted && !plot_is_dumb(sheet->page) ? "rotate by -30 left " : "");
	for (size_t c = 0; c < sheet->grid.columns; c++) {
		fputs(c > 0 ? ", " : "", script);
		plot_quote(script, sweep_sheet_x_label(sheet, c, buffer));
		fprintf(script, " %zu", c);
	}
	fputs(")\n", script);
}

static void write_x_axis(const struct sweep_sheet *sheet)
{
	plot_label(sheet->page, "x", sheet->table->axes[sheet->choice->x].name);
	if (sheet->choice->scales[sheet->choice->x].numeric)
		write_number_axis(sheet);
	else
		write_label_axis(sheet);
}

/* From 0 where that does not squeeze everything against the top. */
static void write_y_axis(const struct sweep_sheet *sheet)
{
	FILE *script = sheet->page->script;
	double low = sheet->low * sheet->scale, high = sheet->high * sheet->scale;
	if (sweep_sheet_is_ratio(sheet)) {
		low = fmin(low, 1);
		high = fmax(high, 1);
	}
	sweep_sheet_y_label(sheet);
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

/* Over all else: bars would hide it. */
static void write_baseline(const struct sweep_sheet *sheet)
{
	if (sweep_sheet_is_ratio(sheet)) {
		fputs(", \\\n     1 with lines lt 1 dt 3 lw 1.5 lc rgb '#000000' title ",
		      sheet->page->script);
		plot_quote(sheet->page->script, sweep_sheet_base(sheet));
	}
	putc('\n', sheet->page->script);
}

static void write_curve_name(const struct sweep_sheet *sheet, size_t row)
{
	char *name = sweep_sheet_row_name(sheet, row);
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
static char *dodged_x(const struct sweep_sheet *sheet, size_t block, size_t count)
{
	size_t last = sheet->grid.columns - 1;
	double by = DODGE * ((double)block - 0.5 * (double)(count - 1));
	if (sheet->choice->log_x)
		return xasprintf("($1*%.9g)",
				 pow(sweep_sheet_x(sheet, last) / sweep_sheet_x(sheet, 0), by));
	return xasprintf("($1%+.9g)", by * (sweep_sheet_x(sheet, last) - sweep_sheet_x(sheet, 0)));
}

/* The intervals below in solid thin lines, then the curve. */
static void write_lines(const struct sweep_sheet *sheet)
{
	FILE *script = sheet->page->script;
	double scale = sheet->scale;
	size_t count = sweep_sheet_rows(sheet);
	fputs("plot ", script);
	for (size_t row = 0, block = 0; row < sheet->grid.rows; row++) {
		if (!sweep_sheet_is_drawn(sheet, row))
			continue;
		char *x = dodged_x(sheet, block, count);
		fprintf(script,
			"%s'%s.dat' index %zu using %s:($2*%g):(lower($3*%g)):($4*%g) with "
			"yerrorbars lt 1 dt 1 lw 1.2 ps 0 lc rgb '%s' notitle, \\\n"
			"     '' index %zu using %s:($2*%g) with linespoints ",
			block > 0 ? ", \\\n     " : "", sheet->page->name, block, x, scale, scale,
			scale, plot_colour(sweep_sheet_style(sheet, row)), block, x, scale);
		plot_line_style(script, sweep_sheet_style(sheet, row));
		putc(' ', script);
		write_curve_name(sheet, row);
		free(x);
		block++;
	}
	write_baseline(sheet);
}

/* The block-th bar of each label, with its interval. */
static void write_bar(const struct sweep_sheet *sheet, size_t row, size_t block, double shift,
		      double width)
{
	FILE *script = sheet->page->script;
	double scale = sheet->scale;
	fprintf(script,
		"'%s.dat' index %zu using ($1%+g):($2*%g):($3*%g):($4*%g):(%g) with boxerrorbars ",
		sheet->page->name, block, shift, scale, scale, scale, width);
	plot_bar_style(script, sweep_sheet_style(sheet, row));
	putc(' ', script);
	write_curve_name(sheet, row);
}

/* A box from quartile to quartile, whiskers to the ends, a line at the median. */
static void write_box(const struct sweep_sheet *sheet, size_t row, size_t block, double shift)
{
	FILE *script = sheet->page->script;
	double scale = sheet->scale;
	fprintf(script,
		"'%s.dat' index %zu using ($1%+g):($3*%g):($2*%g):($6*%g):($5*%g) with "
		"candlesticks "
		"whiskerbars 0.5 ",
		sheet->page->name, block, shift, scale, scale, scale, scale);
	plot_bar_style(script, sweep_sheet_style(sheet, row));
	putc(' ', script);
	write_curve_name(sheet, row);
	fprintf(script,
		", \\\n     '' index %zu using ($1%+g):($4*%g):($4*%g):($4*%g):($4*%g) with "
		"candlesticks lt 1 lw 2 lc rgb '#000000' notitle",
		block, shift, scale, scale, scale, scale);
}

/* Bars or boxes of one label stand side by side. */
static void write_clusters(const struct sweep_sheet *sheet)
{
	FILE *script = sheet->page->script;
	size_t count = sweep_sheet_rows(sheet);
	bool bars = sheet->choice->kind == SWEEP_BARS;
	double width = CLUSTER / (double)count;
	fprintf(script, "set grid noxtics\nset boxwidth %g\nplot ", 0.7 * width);
	for (size_t row = 0, block = 0; row < sheet->grid.rows; row++) {
		if (!sweep_sheet_is_drawn(sheet, row))
			continue;
		double shift = ((double)block - 0.5 * (double)(count - 1)) * width;
		fputs(block > 0 ? ", \\\n     " : "", script);
		if (bars)
			write_bar(sheet, row, block, shift, width);
		else
			write_box(sheet, row, block, shift);
		block++;
	}
	write_baseline(sheet);
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
static void write_colours(const struct sweep_sheet *sheet)
{
	FILE *script = sheet->page->script;
	double low = INFINITY, high = -INFINITY;
	for (size_t i = 0; i < sheet->grid.columns * sheet->grid.rows; i++) {
		if (!sweep_sheet_is_drawn(sheet, i / sheet->grid.columns))
			continue;
		low = fmin(low, sheet->at[i].value * sheet->scale);
		high = fmax(high, sheet->at[i].value * sheet->scale);
	}
	if (sweep_sheet_is_ratio(sheet)) {
		write_ratio_colours(script, low, high);
		return;
	}
	if (!(high > low)) /* gnuplot wants a range */
		high = low + (low != 0 ? fabs(low) : 1);
	fprintf(script,
		"set palette defined (0 '#ffffff', 1 '#56b4e9')\n%sset cbrange [%.9g:%.9g]\n",
		sheet->choice->log_y ? "set logscale cb\n" : "", low, high);
}

static double letters_in_cell(const struct sweep_sheet *sheet)
{
	return MAP_SHARE * (double)plot_columns(sheet->page) / (double)sheet->grid.columns;
}

/* Mean and, on a line below it, half the width of the interval. */
static void write_cell_numbers(const struct sweep_sheet *sheet)
{
	bool halves = sheet->table->replications > 1 && letters_in_cell(sheet) >= HALF_LETTERS;
	fprintf(sheet->page->script, "'%s.dat' using 1:2:(valid(3) ? number($3*%g)",
		sheet->page->name, sheet->scale);
	if (halves && !sweep_sheet_is_ratio(sheet) && !plot_is_dumb(sheet->page))
		fprintf(sheet->page->script, ".(valid(4) ? \"\\n± \".number(($5-$4)/2*%g) : '')",
			sheet->scale);
	fputs(" : '–') with labels notitle", sheet->page->script);
}

static void write_heat(const struct sweep_sheet *sheet)
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

void sweep_script(const struct sweep_sheet *sheet)
{
	/* An empty cell is a gap: "missing" would join the points beside it. */
	fputs("unset datafile missing\n", sheet->page->script);
	sweep_sheet_titles(sheet);
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
