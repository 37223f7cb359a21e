/* The points of one figure: a column for each value of the x axis, a row for each
 * of the by axis, and in each cell the replications. Private to the figures. */
#ifndef INASIM_LAB_FIGURES_SWEEP_GRID_H
#define INASIM_LAB_FIGURES_SWEEP_GRID_H

#include "stats/inference.h"
#include "lab/figures/sweep_choice.h"
#include "lab/sweep/groups.h"

struct sweep_grid {
	size_t columns, rows;       /* rows 1 where there is no by axis */
	size_t *x_level, *y_level;  /* by column, ascending numbers; by row, likewise */
	const struct group **cells; /* row by row; NULL: no point */
	const struct group *
		*bases; /* what each cell is compared with; without a baseline all NULL */
	bool ratios;    /* there is a baseline */
	size_t *fixed;  /* by axis, the level of those that are neither x nor by */
};

/* Of a combination of fixed levels. `groups` (of the table) must outlive the grid. */
void sweep_grid_init(struct sweep_grid *grid, const struct sweep_table *table,
		     const struct groups *groups, const struct sweep_choice *choice, size_t figure);
void sweep_grid_release(struct sweep_grid *grid);

/* Mean of a metric over the replications of a cell, or its ratio to the baseline
 * over pairs of replications of the same number; 95 % intervals. */
struct estimate sweep_grid_estimate(const struct sweep_grid *grid, size_t cell, size_t metric);

/* The values of a cell, ascending, without missing ones; the caller frees. */
double *sweep_grid_values(const struct sweep_grid *grid, size_t cell, size_t metric, size_t *count);

#endif
