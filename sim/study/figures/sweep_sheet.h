/* One figure of a sweep in the making: its points, their estimates, and what it is
 * called. Private to the figures of sweeps. */
#ifndef INASIM_STUDY_SWEEP_SHEET_H
#define INASIM_STUDY_SWEEP_SHEET_H

#include "out/plot_page.h"
#include "study/figures/sweep_grid.h"

struct sweep_sheet {
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

/* Fills in estimates, range and unit of a sheet that has table, choice, metric and
 * grid; `at` is the caller's to free. False where there is nothing to draw. */
bool sweep_sheet_estimate(struct sweep_sheet *sheet);

bool sweep_sheet_is_ratio(const struct sweep_sheet *sheet);

/* The row that all others are compared with is not drawn: it is 1. */
bool sweep_sheet_is_drawn(const struct sweep_sheet *sheet, size_t row);
size_t sweep_sheet_rows(const struct sweep_sheet *sheet); /* that are drawn */

/* Place of a column on the x axis, and its label (in `buffer` of AXIS_LABEL bytes
 * or elsewhere). */
double sweep_sheet_x(const struct sweep_sheet *sheet, size_t column);
const char *sweep_sheet_x_label(const struct sweep_sheet *sheet, size_t column, char *buffer);

/* Number of a row's colour, dash and mark: the same in all figures of a sweep. */
size_t sweep_sheet_style(const struct sweep_sheet *sheet, size_t row);

/* Name of a row in the legend, "" without a by axis. The caller frees. */
char *sweep_sheet_row_name(const struct sweep_sheet *sheet, size_t row);

/* The value that ratios are relative to. */
const char *sweep_sheet_base(const struct sweep_sheet *sheet);

/* What the numbers are: "Mean of replications, 95 % t-intervals". */
const char *sweep_sheet_statistic(const struct sweep_sheet *sheet);

/* " (load 0.2, delay 1us)" of the axes that are not drawn. The caller frees. */
char *sweep_sheet_fixed(const struct sweep_sheet *sheet);

/* Both lines of the title; the label of the y axis. */
void sweep_sheet_titles(const struct sweep_sheet *sheet);
void sweep_sheet_y_label(const struct sweep_sheet *sheet);

/* Writes the script of the figure (sweep_script.c). */
void sweep_script(const struct sweep_sheet *sheet);

#endif
