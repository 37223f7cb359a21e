#include "data/grid.h"

#include "base/fail.h"
#include "base/mem.h"
#include "conf/buf.h"
#include "conf/json_text.h"
#include "data/tex.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct grid_cell {
	char *text;
	bool line; /* spans all columns */
};

struct grid {
	char *alignment;
	size_t columns;
	size_t column; /* of the next cell */
	struct grid_cell *cells;
	size_t count, capacity;
};

struct grid *grid_new(const char *alignment)
{
	struct grid *grid = xcalloc(1, sizeof(*grid));

	SIM_BUG_ON(!*alignment || alignment[strspn(alignment, "lr")]);
	grid->alignment = xstrdup(alignment);
	grid->columns = strlen(alignment);
	return grid;
}

void grid_free(struct grid *grid)
{
	for (size_t i = 0; i < grid->count; i++)
		free(grid->cells[i].text);
	free(grid->cells);
	free(grid->alignment);
	free(grid);
}

static void add(struct grid *grid, bool line, const char *fmt, va_list args)
{
	struct conf_buf text = { 0 };

	conf_buf_addv(&text, fmt, args);
	grid->cells =
		array_reserve(grid->cells, grid->count, &grid->capacity, sizeof(*grid->cells));
	grid->cells[grid->count++] = (struct grid_cell){ conf_buf_take(&text), line };
}

void grid_add(struct grid *grid, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	add(grid, false, fmt, args);
	va_end(args);
	grid->column = (grid->column + 1) % grid->columns;
}

void grid_line(struct grid *grid, const char *fmt, ...)
{
	va_list args;

	SIM_BUG_ON(grid->column != 0);
	va_start(args, fmt);
	add(grid, true, fmt, args);
	va_end(args);
}

static size_t *widths_of(const struct grid *grid)
{
	size_t *widths = xcalloc(grid->columns, sizeof(*widths)), column = 0;

	for (size_t i = 0; i < grid->count; i++) {
		if (grid->cells[i].line)
			continue;
		size_t width = conf_utf8_columns(grid->cells[i].text);

		if (width > widths[column])
			widths[column] = width;
		column = (column + 1) % grid->columns;
	}
	return widths;
}

/* `owed`: blanks that are written before the next text, if there is one. */
static void print_row(const struct grid *grid, const struct grid_cell *cells, const size_t *widths,
		      FILE *to)
{
	size_t owed = 0;

	for (size_t c = 0; c < grid->columns; c++) {
		size_t width = conf_utf8_columns(cells[c].text), rest = widths[c] - width;

		if (widths[c] == 0)
			continue;
		if (width > 0) {
			owed += grid->alignment[c] == 'r' ? rest : 0;
			fprintf(to, "%*s%s", (int)owed, "", cells[c].text);
			owed = grid->alignment[c] == 'r' ? 0 : rest;
		} else {
			owed += rest;
		}
		owed += 2;
	}
	fputc('\n', to);
}

void grid_print(const struct grid *grid, FILE *to)
{
	SIM_BUG_ON(grid->column != 0);
	size_t *widths = widths_of(grid);

	for (size_t i = 0; i < grid->count;) {
		if (grid->cells[i].line) {
			fprintf(to, "%s\n", grid->cells[i++].text);
			continue;
		}
		print_row(grid, &grid->cells[i], widths, to);
		i += grid->columns;
	}
	free(widths);
}

/* Leaves out leading blanks, which indent the plain table only. */
static void put_tex(const char *text, FILE *to)
{
	char *tex = tex_text(text + strspn(text, " "));

	fputs(tex, to);
	free(tex);
}

static void print_row_latex(const struct grid *grid, const struct grid_cell *cells,
			    const size_t *widths, FILE *to)
{
	const char *before = "";

	for (size_t c = 0; c < grid->columns; c++) {
		if (widths[c] == 0)
			continue;
		fputs(before, to);
		put_tex(cells[c].text, to);
		before = " & ";
	}
	fputs(" \\\\\n", to);
}

void grid_print_latex(const struct grid *grid, FILE *to)
{
	SIM_BUG_ON(grid->column != 0);
	size_t *widths = widths_of(grid), columns = 0;

	fputs("\\begin{tabular}{", to);
	for (size_t c = 0; c < grid->columns; c++) {
		if (widths[c] == 0)
			continue;
		fputc(grid->alignment[c], to);
		columns++;
	}
	fputs("}\n\\toprule\n", to);
	for (size_t i = 0; i < grid->count;) {
		if (grid->cells[i].line) {
			fprintf(to, "\\midrule\n\\multicolumn{%zu}{l}{", columns);
			put_tex(grid->cells[i++].text, to);
			fputs("} \\\\\n", to);
			continue;
		}
		print_row_latex(grid, &grid->cells[i], widths, to);
		i += grid->columns;
	}
	fputs("\\bottomrule\n\\end{tabular}\n", to);
	free(widths);
}
