/* Figures of results: of one run, of several side by side, of a sweep over its axes.
 *
 * They are made from what lies on disk alone, so they can be drawn again at any time. A figure is
 * three files in one folder: NAME.dat (exactly the numbers that it shows, one observation a row),
 * NAME.gp (its words and numbers, and the gnuplot template that draws them: `gnuplot -d NAME.gp`
 * draws it again anywhere) and the picture. */
#ifndef INASIM_LAB_FIGURES_PLOT_H
#define INASIM_LAB_FIGURES_PLOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct plot_options {
	const char *term; /* "png", "svg", "pdf", "eps", "tikz", or "dumb" (text, to the stream) */
	const char *only; /* name of one figure, or NULL for all that have data */
	const char *out;  /* folder for the figures; NULL = DIR/figures */
	double width_in, height_in; /* inches, for print; 0 = for a screen */
	bool no_title;              /* for a caption that says it */
	bool quiet;                 /* no word of figures that have no data */
	char font[64];              /* a family; "" = the usual one */
	double font_points;         /* for print; 0 = 8 */
	/* In place of our words, or NULL: of panels; of a sweep, of metrics. */
	const char *x_label, *const *y_labels;
	size_t y_label_count;
};

/* Reads "3.5in", "9cm", "85mm" or, with a height, "3.5x2.4in"; false on
 * anything else and outside of 1 to 40 inches. */
bool plot_size(const char *text, struct plot_options *options);

/* Reads "Times New Roman" or "Times New Roman,9"; false on other letters than names of fonts and
 * TeX have, and outside of 5 to 40 points. */
bool plot_font(const char *text, struct plot_options *options);

/* The functions below draw into options->out or DIR/figures (created) and print the path of each
 * figure, one a line, to `to`. They return the number of figures, or one of these with *error
 * (caller frees). */
#define PLOT_IO    (-1) /* what cannot be read, written or drawn; no data for options->only */
#define PLOT_USAGE (-2) /* options that do not fit */

/* A figure of runs without data is not drawn: with a word on stderr, or, when it was asked for by
 * name, as an error. */
int plot_run(const char *dir, const struct plot_options *options, FILE *to, char **error);

struct plot_labelled {
	const char *dir;
	const char *label; /* in the legend; NULL = the last part of the path */
};

/* Several runs in each figure; options->out must be given. All must have the data. */
int plot_together(const struct plot_labelled *runs, size_t count,
		  const struct plot_options *options, FILE *to, char **error);

/* The i-th figure of runs, or NULL behind the last. */
struct plot_figure {
	const char *name;             /* "slowdown", "fct_cdf", "job_timeline", ... */
	const char *alone, *together; /* what it shows of one run, of several; NULL: not drawn */
};
const struct plot_figure *plot_figure(size_t i);

/* A metric of a sweep over an axis, one curve (or bar, or box) for each value of a second one, or
 * a map over two axes.
 *
 * Means and their intervals are taken over replications and over nothing else. An axis that is
 * neither x nor by is not averaged away: each combination of its values gets a figure of its own,
 * unless `where` picks one. Points that failed or are missing are gaps, and the second line of the
 * title counts them. Means have t-intervals over the replications of a point; ratios to a baseline
 * are paired by replication (the same random numbers): stats/inference.h. */
struct plot_sweep_options {
	/* Names of axes. NULL: x is the axis with most numbers (or, without numbers,
	 * with most values), by the first other one. by "none": one curve only. */
	const char *x, *by;
	const char *const *metrics; /* none: mean JCT and 99th percentile of FCT */
	size_t metric_count;
	const char *const *where; /* "AXIS=VALUE"; several values of an axis are a selection */
	size_t where_count;
	const char *kind;          /* "lines", "bars", "heat", "box"; NULL: lines over numbers, bars
				    * over labels */
	const char *log;           /* "x", "y", "xy", "none"; NULL: x where the axis is geometric */
	const char *relative_to;   /* a value of the by axis, or "AXIS=VALUE" of any; or NULL */
	const char *const *labels; /* "VALUE=TEXT" or "AXIS=VALUE=TEXT": what a value is called */
	size_t label_count;
	bool panels; /* all figures on one page, with one legend */
	/* The breakdown, of points with --why: a bar for each value of x and by. Goes with no
	 * metric, kind, log and relative_to. */
	bool breakdown;
};

/* options->only is not used. A metric that has no value anywhere is told on stderr. */
int plot_sweep(const char *dir, const struct plot_sweep_options *sweep,
	       const struct plot_options *options, FILE *to, char **error);

#endif
