#include "study/figures/plot_sweep.h"

#include "base/mem.h"
#include "out/folder.h"
#include "study/figures/sweep_sheet.h"

#include <ctype.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NAME_MAX_LETTERS 160 /* of a file's name */

/* ---- Data ---- */

/* What the numbers are, in comments. Values of axes are numbers in base units
 * (bytes, bit/s, ps) or places; either is spelled out. */
static void write_head(const struct sweep_sheet *sheet, const char *columns)
{
	const struct sweep_table *table = sheet->table;
	FILE *data = sheet->page->data;
	char *fixed = sweep_sheet_fixed(sheet);
	char *tally = sweep_grid_tally(&sheet->grid, sheet->metric);
	fputs("# sweep ", data);
	plot_comment(data, table->name);
	fprintf(data, ": ");
	plot_comment(data, table->metrics[sheet->metric]);
	plot_comment(data, fixed);
	if (sweep_sheet_is_ratio(sheet)) {
		fputs(", relative to ", data);
		plot_comment(data, sweep_sheet_base(sheet));
	}
	fprintf(data, "\n# %s; %s\n# x is ", sweep_sheet_statistic(sheet), tally);
	plot_comment(data, table->axes[sheet->choice->x].name);
	for (size_t c = 0; c < sheet->grid.columns; c++) {
		fputs(c == 0 ? ": " : ", ", data);
		plot_real(data, sweep_sheet_x(sheet, c));
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
static void write_quartiles(const struct sweep_sheet *sheet, size_t cell)
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

static void write_estimate(const struct sweep_sheet *sheet, size_t cell)
{
	const struct estimate *at = &sheet->at[cell];
	write_numbers(sheet->page->data, (double[]){ at->value, at->low, at->high }, 3);
	fprintf(sheet->page->data, " %zu", at->n);
}

/* A block for each row; a map has all rows in one. */
static void write_data(const struct sweep_sheet *sheet)
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
		if (!sweep_sheet_is_drawn(sheet, row))
			continue;
		char *name = sweep_sheet_row_name(sheet, row);
		fputs(blocks++ > 0 && kind != SWEEP_HEAT ? "\n\n# " : "# ", data);
		if (kind == SWEEP_HEAT)
			fprintf(data, "y %zu: ", row);
		plot_comment(data, *name != '\0' ? name : "all");
		putc('\n', data);
		free(name);
		for (size_t c = 0; c < grid->columns; c++) {
			size_t cell = row * grid->columns + c;
			plot_real(data, sweep_sheet_x(sheet, c));
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

/* ---- Figures ---- */

/* METRIC-over-X-by-Y-KIND-AXIS-VALUE..., of letters that need no quotes anywhere.
 * The caller frees. */
static char *figure_name(const struct sweep_sheet *sheet)
{
	const struct sweep_table *table = sheet->table;
	const struct sweep_choice *choice = sheet->choice;
	static const char *const kinds[] = { [SWEEP_LINES] = "",
					     [SWEEP_BARS] = "-bars",
					     [SWEEP_HEAT] = "-heat",
					     [SWEEP_BOX] = "-box" };
	char *fixed = sweep_sheet_fixed(sheet);
	char *name = xasprintf("%s-over-%s%s%s%s%s%s%s", table->metrics[sheet->metric],
			       table->axes[choice->x].name, choice->by != SIZE_MAX ? "-by-" : "",
			       choice->by != SIZE_MAX ? table->axes[choice->by].name : "",
			       sweep_sheet_is_ratio(sheet) ? "-relative-to-" : "",
			       sweep_sheet_is_ratio(sheet) ? sweep_sheet_base(sheet) : "",
			       kinds[choice->kind], fixed);
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

static bool all_positive(const struct sweep_sheet *sheet)
{
	for (size_t i = 0; i < sheet->grid.columns * sheet->grid.rows; i++)
		if (sweep_sheet_is_drawn(sheet, i / sheet->grid.columns) && sheet->at[i].value <= 0)
			return false;
	return true;
}

static enum plot_outcome draw(struct sweep_sheet *sheet)
{
	bool any = sweep_sheet_estimate(sheet) && sweep_sheet_rows(sheet) > 0;
	if (sheet->choice->log_y && !all_positive(sheet)) {
		sheet->page->why = "a logarithmic axis needs values above 0";
		return PLOT_NO_DATA;
	}
	if (!any) {
		sheet->page->why = "no point has this value";
		return PLOT_NO_DATA;
	}
	if (plot_page_open(sheet->page, PLOT_WIDTH, PLOT_HEIGHT) != PLOT_DRAWN)
		return PLOT_FAILED;
	write_data(sheet);
	sweep_script(sheet);
	return PLOT_DRAWN;
}

/* One figure of one metric. Adds to *drawn; false with *error. */
static bool figure(struct sweep_sheet *sheet, const struct plot_page *template, struct names *names,
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
			struct sweep_sheet sheet = { .table = table,
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
