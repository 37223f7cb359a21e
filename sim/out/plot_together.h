/* The inside of plot_together(): for plot_together*.c alone.
 *
 * A figure is a function that reads its table from each directory, opens the page and writes data
 * and script: PLOT_DRAWN, or why not. */
#ifndef INASIM_OUT_PLOT_TOGETHER_H
#define INASIM_OUT_PLOT_TOGETHER_H

#include "out/plot_data.h"

#define PLOT_PANELS_HEIGHT 760 /* of two plots over one another */

/* The directories of a figure; page->dir is the one that is being read. */
struct plot_runs {
	const struct plot_labelled *at;
	char **labels;
	size_t count;
};

typedef enum plot_outcome plot_together_draw(struct plot_page *page, const struct plot_runs *runs);

/* ---- The figures ---- */

plot_together_draw plot_together_slowdown, plot_together_fct_cdf; /* plot_together_flows.c */
plot_together_draw plot_together_jct, plot_together_jct_cdf;      /* plot_together_jobs.c */
plot_together_draw plot_together_series;                          /* plot_together_series.c */

/* ---- What they are made of (plot_together.c) ---- */

/* Begins the data of the index-th directory; `columns`: their names. */
void plot_runs_begin(FILE *data, size_t index, const char *label, const char *columns);

/* The bars of the index-th of `count` directories, in the columns named (with ends
 * of error bars or without); the title follows. */
void plot_runs_bars(const struct plot_page *page, size_t index, size_t count, const char *columns,
		    bool ends);

/* Data and script of a distribution for each directory: its values, sorted, must be there.
 * `unfinished`, by directory: told in the legend. */
void plot_runs_distributions(struct plot_page *page, const struct plot_runs *runs,
			     const struct plot_values *values, const uint64_t *unfinished,
			     const char *axis);

#endif
