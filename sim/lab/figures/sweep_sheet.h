/* One metric of a sweep as a figure or a panel shows it: a column for each value of the x axis, a
 * row for each value of the by axis, and in each cell the replications. Private to the figures. */
#ifndef INASIM_LAB_FIGURES_SWEEP_SHEET_H
#define INASIM_LAB_FIGURES_SWEEP_SHEET_H

#include "data/inference.h"
#include "lab/figures/sweep_choice.h"
#include "lab/sweep/groups.h"

/* The members are not owned. */
struct sheet {
	const struct sweep_table *table;
	const struct sweep_choice *choice;
	const struct groups *groups;
	size_t metric;
	const size_t *fixed; /* by axis: the level of a fixed axis (neither x nor by) */
};

/* The points of a cell; NULL if there are none. */
const struct group *sheet_group(const struct sheet *sheet, size_t column, size_t row);

/* The mean over the replications of a cell, with its 95 % interval. With --relative-to, the ratio
 * to the mean of the baseline instead, as group_ratio() has it. */
struct estimate sheet_estimate(const struct sheet *sheet, size_t column, size_t row);

/* With --relative-to, the verdict on the baseline and a cell with values of both; else none. */
struct verdict sheet_verdict(const struct sheet *sheet, size_t column, size_t row);

/* What a reader should know of a cell: its mean is one over survivors, or some of its jobs ran as
 * another scheme. A ratio to, or of, a mean over survivors has no value. */
enum sheet_mark { MARK_NONE, MARK_PARTIAL, MARK_SUBSTITUTED };
enum sheet_mark sheet_mark(const struct sheet *sheet, size_t column, size_t row);

/* The values of a cell, ascending, without missing ones; the caller frees. */
double *sheet_values(const struct sheet *sheet, size_t column, size_t row, size_t *count);

#endif
