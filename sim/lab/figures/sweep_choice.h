/* Decides what a figure of a sweep shows, from the user's options and defaults for the rest.
 * Private to the figures. */
#ifndef INASIM_LAB_FIGURES_SWEEP_CHOICE_H
#define INASIM_LAB_FIGURES_SWEEP_CHOICE_H

#include "lab/figures/axis_scale.h"
#include "lab/figures/plot.h"

enum sweep_kind { SWEEP_LINES, SWEEP_BARS, SWEEP_HEAT, SWEEP_BOX, SWEEP_STACK };

/* The table's document owns what it points to. */
struct sweep_choice {
	enum sweep_kind kind;
	size_t x, by;              /* axes; by SIZE_MAX: none */
	size_t columns, rows;      /* values of x and by that are drawn; rows 1 without a by axis */
	size_t *x_level, *y_level; /* by column, by row: ascending where they are numbers */
	struct axis_scale *scales; /* by axis */
	bool **wanted;             /* by axis and level */
	size_t *metrics;
	size_t metric_count;
	bool log_x, log_y;
	size_t base_axis, base_level; /* of --relative-to; SIZE_MAX: none */
	size_t figures; /* of a metric: one for each combination of wanted values of other axes */
	bool panels;    /* all figures on one page */
};

/* False and *error (caller frees) if the options do not fit the table. Release it in any case. */
bool sweep_choice_init(struct sweep_choice *choice, const struct sweep_table *table,
		       const struct plot_sweep_options *options, char **error);
void sweep_choice_release(struct sweep_choice *choice, const struct sweep_table *table);

/* Whether the axis has one value in each figure: it is neither x nor by. */
bool sweep_choice_is_fixed(const struct sweep_choice *choice, size_t axis);

/* Fills in the level of each fixed axis in a figure, 0 to figures - 1; of x and by, 0. */
void sweep_choice_fixed(const struct sweep_choice *choice, const struct sweep_table *table,
			size_t figure, size_t *levels);

#endif
