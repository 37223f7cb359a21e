/* A table for people: cells as text, aligned when all are known, two blanks
 * between columns, no colours. A column without any text is left out. */
#ifndef INASIM_DATA_GRID_H
#define INASIM_DATA_GRID_H

#include <stdio.h>

struct grid;

/* One letter a column: 'l' aligns left, 'r' right. */
struct grid *grid_new(const char *alignment);
void grid_free(struct grid *grid);

/* The next cell, row after row; an empty text is an empty cell. */
void grid_add(struct grid *grid, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* A line across all columns, between rows. */
void grid_line(struct grid *grid, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Lines end at their last character. The last row must be complete. */
void grid_print(const struct grid *grid, FILE *to);

/* A tabular for LaTeX with the rules of its package booktabs; the first row is the head. */
void grid_print_latex(const struct grid *grid, FILE *to);

#endif
