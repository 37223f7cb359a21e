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

static void print_text(const struct grid *grid, const size_t *widths, FILE *to)
{
	for (size_t i = 0; i < grid->count;) {
		if (grid->cells[i].line) {
			fprintf(to, "%s\n", grid->cells[i++].text);
			continue;
		}
		print_row(grid, &grid->cells[i], widths, to);
		i += grid->columns;
	}
}

/* ---- Tables for LaTeX and Markdown ---- */

static char *markdown_text(const char *text)
{
	struct conf_buf buf = { 0 };

	for (; *text; text++) {
		if (!strncmp(text, "+- ", 3)) {
			conf_buf_add(&buf, "±");
			text++;
			continue;
		}
		if (strchr("\\`*_<>[]|~", *text))
			conf_buf_add(&buf, "\\");
		conf_buf_add_bytes(&buf, text, 1);
	}
	return conf_buf_take(&buf);
}

/* Leaves out leading blanks, which indent the plain table only. */
static void put_text(const char *text, bool latex, FILE *to)
{
	char *escaped = (latex ? tex_text : markdown_text)(text + strspn(text, " "));

	fputs(escaped, to);
	free(escaped);
}

static void put_row(const struct grid *grid, const struct grid_cell *cells, const size_t *widths,
		    bool latex, FILE *to)
{
	const char *before = latex ? "" : "| ";

	for (size_t c = 0; c < grid->columns; c++) {
		if (widths[c] == 0)
			continue;
		fputs(before, to);
		put_text(cells[c].text, latex, to);
		before = latex ? " & " : " | ";
	}
	fputs(latex ? " \\\\\n" : " |\n", to);
}

/* Writes a text across all columns. Markdown has no such cells. */
static void put_line(const char *text, size_t columns, bool latex, FILE *to)
{
	bool head = *text != ' ';

	if (latex)
		fprintf(to, "%s\\multicolumn{%zu}{%s}{", head ? "\\midrule\n" : "", columns,
			head ? "@{}l" : "r@{}");
	else
		fputs(head ? "| **" : "| ", to);
	put_text(text, latex, to);
	fputs(latex ? "} \\\\\n" : head ? "**" : "", to);
	for (size_t c = 0; c < columns && !latex; c++)
		fputs(" |", to);
	fputs(latex ? "" : "\n", to);
}

/* Writes how the columns are aligned. Returns how many there are. */
static size_t put_alignment(const struct grid *grid, const size_t *widths, bool latex, FILE *to)
{
	size_t columns = 0;

	fputs(latex ? "\\begin{tabular}{@{}" : "|", to);
	for (size_t c = 0; c < grid->columns; c++) {
		bool right = grid->alignment[c] == 'r';

		if (widths[c] == 0)
			continue;
		fputs(latex ? right ? "r" : "l" : right ? "---:|" : "---|", to);
		columns++;
	}
	fputs(latex ? "@{}}\n\\toprule\n" : "\n", to);
	return columns;
}

static void print_set(const struct grid *grid, const size_t *widths, bool latex, FILE *to)
{
	size_t columns = latex ? put_alignment(grid, widths, latex, to) : 0;

	for (size_t i = 0; i < grid->count;) {
		if (grid->cells[i].line) {
			put_line(grid->cells[i++].text, columns, latex, to);
			continue;
		}
		put_row(grid, &grid->cells[i], widths, latex, to);
		if (i == 0 && !latex)
			columns = put_alignment(grid, widths, latex, to);
		i += grid->columns;
		if (i == grid->columns && latex && i < grid->count && !grid->cells[i].line)
			fputs("\\midrule\n", to); /* below the head; a line brings its own */
	}
	fputs(latex ? "\\bottomrule\n\\end{tabular}\n" : "", to);
}

void grid_print(const struct grid *grid, enum grid_form form, FILE *to)
{
	SIM_BUG_ON(grid->column != 0);
	size_t *widths = widths_of(grid);

	if (form == GRID_TEXT)
		print_text(grid, widths, to);
	else
		print_set(grid, widths, form == GRID_LATEX, to);
	free(widths);
}
