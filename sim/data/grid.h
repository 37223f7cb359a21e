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

/* Adds a line across all columns, between rows. */
void grid_line(struct grid *grid, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Prints the table, without blanks at the end of lines. The last row must be complete. */
void grid_print(const struct grid *grid, FILE *to);

/* Prints a LaTeX tabular with rules of the package booktabs: one above each grid_line(). */
void grid_print_latex(const struct grid *grid, FILE *to);

#endif
