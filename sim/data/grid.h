/* A text table: aligns cells when all are known, with two blanks between columns and no colours.
 * Leaves out columns without any text. */
#ifndef INASIM_DATA_GRID_H
#define INASIM_DATA_GRID_H

#include <stdio.h>

struct grid;

/* `alignment` has a letter per column: 'l' aligns left, 'r' right. */
struct grid *grid_new(const char *alignment);
void grid_free(struct grid *grid);

/* Adds the next cell, row by row; an empty text is an empty cell. */
void grid_add(struct grid *grid, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Adds a line across all columns, between rows: the head of those below or, if it begins with a
 * blank, a remark on the row above. */
void grid_line(struct grid *grid, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* As plain text, as a tabular of LaTeX with the rules of booktabs, or as a table of Markdown, whose
 * first row is its head. */
enum grid_form { GRID_TEXT, GRID_LATEX, GRID_MARKDOWN };

/* Prints the table, without blanks at the end of lines. The last row must be complete. */
void grid_print(const struct grid *grid, enum grid_form form, FILE *to);

#endif
