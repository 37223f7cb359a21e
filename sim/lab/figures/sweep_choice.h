/* Decides what the figures of a sweep show, by the user's options and by defaults. Private to the
 * figures. */
#ifndef INASIM_LAB_FIGURES_SWEEP_CHOICE_H
#define INASIM_LAB_FIGURES_SWEEP_CHOICE_H

#include "lab/figures/axis_scale.h"
#include "lab/figures/plot.h"

enum sweep_kind { SWEEP_LINES, SWEEP_BARS, SWEEP_HEAT, SWEEP_BOX, SWEEP_CDF, SWEEP_STACK };

/* The table's document owns the arrays, but not those inside `scales`. */
struct sweep_choice {
	enum sweep_kind kind;
	size_t x, by; /* indices of axes; by is SIZE_MAX for none, x of SWEEP_CDF */
	size_t columns,
		rows; /* number of drawn values of x and by; 1 row without by, 1 column without x */
	size_t *x_level, *y_level; /* levels of x and by that are drawn: numbers ascending, labels
				    * in the plan's order */
	struct axis_scale *scales; /* by axis */
	bool **wanted;             /* by axis and level: whether --where keeps it */
	size_t *metrics;           /* indices in the table */
	bool pooled; /* each metric stands for a quantity, whose values are shown (pool.h) */
	size_t metric_count;
	bool log_x, log_y;
	bool log_y_fits; /* nobody said what the y axis is: it may become logarithmic */
	bool log_x_fits; /* of SWEEP_CDF, likewise */
	size_t base_axis, base_level; /* the baseline; without --relative-to base_axis is
				       * SIZE_MAX */
	size_t figures; /* of each metric: combinations of wanted levels of the fixed axes, which
			 * are neither x nor by; those with the baseline are not drawn */
	bool panels;    /* all figures on one page */
};

/* Makes the choice. False and *error (caller frees) if the options do not fit the table. Release
 * the choice in any case. */
bool sweep_choice_init(struct sweep_choice *choice, const struct sweep_table *table,
		       const struct plot_sweep_options *options, char **error);
void sweep_choice_release(struct sweep_choice *choice, const struct sweep_table *table);

/* Whether the axis is fixed, neither x nor by: each figure shows one of its values. */
bool sweep_choice_is_fixed(const struct sweep_choice *choice, size_t axis);

/* Fills in, by axis, the levels of fixed axes in a figure (0 to figures - 1), and 0 for others. */
void sweep_choice_fixed(const struct sweep_choice *choice, const struct sweep_table *table,
			size_t figure, size_t *levels);

#endif
