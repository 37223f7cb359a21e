/* Figures of result directories, drawn by gnuplot through a pipe: those of one
 * directory, and those that show several side by side. Figures of sweeps are in
 * study/figures/plot_sweep.h.
 *
 * Reads only what a run left on disk (CSV tables), so figures can be redrawn at
 * any time. Beside each figure NAME.png lies NAME.dat with exactly the numbers
 * that it shows. */
#ifndef INASIM_OUT_PLOT_H
#define INASIM_OUT_PLOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct plot_options {
	const char *term;            /* "png", "svg", "pdf", or "dumb" (text, to stdout) */
	const char *only;            /* name of one figure, or NULL for all that have data */
	const char *out;             /* folder for the figures; NULL = DIR/figures */
	double width_in, height_in;  /* inches, for print; 0 = for a screen */
	int dumb_columns, dumb_rows; /* size for "dumb"; 0 = 79 x 24 */
};

/* Reads "3.5in", "9cm", "85mm" or, with a height, "3.5x2.4in"; false on
 * anything else and outside of 1 to 40 inches. */
bool plot_size(const char *text, struct plot_options *options);

/* A figure that can be drawn; names for --only and for help. */
struct plot_figure {
	const char *name; /* "slowdown", "fct_cdf", "job_timeline", "link_utilization", ... */
	const char *help;
};
const struct plot_figure *plot_figures(size_t *count);

/* Draws into options->out or DIR/figures (created). Prints the path of each figure made, one a
 * line, to `to`. A figure without data is not drawn: with a word on stderr, or, when it was asked
 * for by name, as an error.
 * Returns the number drawn, or -1 with *error (caller frees): no such
 * directory, not a result directory, gnuplot missing or failing. */
int plot_directory(const char *dir, const struct plot_options *options, FILE *to, char **error);

/* The figures that show several directories at once. */
const struct plot_figure *plot_together_figures(size_t *count);

struct plot_labelled {
	const char *dir;
	const char *label; /* in the legend; NULL = the last part of the path */
};

/* Draws several result directories into each figure, into options->out, which
 * must be given. Returns what plot_directory() does. A figure for which one of
 * them has no data is not drawn: with a word on stderr, or, when it was asked for
 * by name, as an error. */
int plot_together(const struct plot_labelled *runs, size_t count,
		  const struct plot_options *options, FILE *to, char **error);

#endif
