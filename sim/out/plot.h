/* Figures of one result directory, drawn by gnuplot through a pipe.
 *
 * Reads only what a run left on disk (CSV tables and summary.json), so figures
 * can be redrawn at any time. Beside each figure NAME.png lies NAME.dat with
 * exactly the numbers that it shows. */
#ifndef INASIM_OUT_PLOT_H
#define INASIM_OUT_PLOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct plot_options {
	const char *term;            /* "png", "svg", "pdf", or "dumb" (text, to stdout) */
	const char *only;            /* name of one figure, or NULL for all that have data */
	int dumb_columns, dumb_rows; /* size for "dumb"; 0 = 79 x 24 */
};

/* A figure that can be drawn; names for --only and for help. */
struct plot_figure {
	const char *name; /* "slowdown", "fct_cdf", "job_timeline", "link_utilization", ... */
	const char *help;
};
const struct plot_figure *plot_figures(size_t *count);

/* Draws into DIR/figures (created). Prints the path of each figure made, one a
 * line, to `to`; a figure without data is skipped with a word on stderr.
 * Returns the number drawn, or -1 with *error (caller frees): no such
 * directory, not a result directory, gnuplot missing or failing. */
int plot_directory(const char *dir, const struct plot_options *options, FILE *to, char **error);

#endif
