/* Figures of a sweep: a metric over an axis, one curve (or bar, or box) for each
 * value of a second one, or a map over two axes.
 *
 * Means and their intervals are taken over replications and over nothing else.
 * An axis that is neither x nor by is not averaged away: each combination of its
 * values gets a figure of its own, unless `where` picks one. Points that failed
 * or are missing are gaps, and the second line of the title counts them.
 *
 * Means have t-intervals over the replications of a point; ratios to a baseline
 * are paired by replication (the same random numbers): core/inference.h. */
#ifndef INASIM_STUDY_PLOT_SWEEP_H
#define INASIM_STUDY_PLOT_SWEEP_H

#include "out/plot.h"

#include <stddef.h>
#include <stdio.h>

struct plot_sweep_options {
	/* Names of axes. NULL: x is the axis with most numbers (or, without numbers,
	 * with most values), by the first other one. by "none": one curve only. */
	const char *x, *by;
	const char *const *metrics; /* none: mean JCT and 99th percentile of FCT */
	size_t metric_count;
	const char *const *where; /* "AXIS=VALUE"; several values of an axis are a selection */
	size_t where_count;
	const char *kind;        /* "lines", "bars", "heat", "box"; NULL: lines over numbers, bars
				  * over labels */
	const char *log;         /* "x", "y", "xy", "none"; NULL: x where the axis is geometric */
	const char *relative_to; /* a value of the by axis, or "AXIS=VALUE" of any; or NULL */
};

#define PLOT_SWEEP_IO    (-1) /* what cannot be read, written or drawn */
#define PLOT_SWEEP_USAGE (-2) /* options that do not fit the sweep */

/* Draws into page->out or DIR/figures and prints the path of each figure to `to`.
 * page->only is not used. Returns the number of figures, or one of the above with
 * *error (caller frees). A metric that has no value anywhere is told on stderr. */
int plot_sweep(const char *dir, const struct plot_sweep_options *options,
	       const struct plot_options *page, FILE *to, char **error);

#endif
