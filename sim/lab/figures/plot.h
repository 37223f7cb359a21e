/* Figures of one run, of several runs side by side, and of a sweep over its axes.
 *
 * Figures need nothing but the files on disk, so they can be drawn again at any time. A figure is
 * three files in one folder: NAME.dat has exactly the numbers that it shows, one observation a row;
 * NAME.gp has its words and the gnuplot templates (`gnuplot -d NAME.gp` draws it again anywhere);
 * the third is the picture. */
#ifndef INASIM_LAB_FIGURES_PLOT_H
#define INASIM_LAB_FIGURES_PLOT_H

#include "lab/names.h"

#include <stdbool.h>
#include <stdio.h>

struct plot_options {
	const char *term;  /* "png", "svg", "pdf", "eps", "tikz", or "dumb" (text, to the stream) */
	struct names only; /* names of figures, each once; empty: all that have data */
	const char *out;   /* folder for the figures; NULL: DIR/figures */
	double width_in, height_in; /* size in inches, for print; 0: a screen's size */
	bool no_title;              /* no title: a caption has it */
	bool quiet;                 /* says nothing of figures that have no data */
	bool sparing;               /* no bars of a single value for each run: for callers that show
				     * these in a table */
	char font[64];              /* font family; "": the default */
	double font_points;         /* size in points, for print; 0 stands for 8 */
	/* The user's words beside the axes, instead of ours. */
	const char *x_label;   /* or NULL */
	struct names y_labels; /* by panel; of a sweep, by metric */
};

/* Reads a width, "3.5in", "9cm" or "85mm", or width and height, "3.5x2.4in". False for anything
 * else and for sizes below 1 or above 40 inches. */
bool plot_size(const char *text, struct plot_options *options);

/* Reads a font, "Times New Roman", or font and size, "Times New Roman,9". False for letters that no
 * font's name has, and for sizes below 5 or above 40 points. */
bool plot_font(const char *text, struct plot_options *options);

/* The functions below draw into options->out or DIR/figures, which they create, and print the path
 * of each figure to `to`, one per line. They return the number of figures or, with *error (caller
 * frees), one of these codes. */
#define PLOT_IO    (-1) /* a file cannot be read or written, gnuplot fails, or `only` has no data */
#define PLOT_USAGE (-2) /* the options are invalid */

/* Draws figures of one run. A figure without data is skipped with a line on stderr; if `only` names
 * it, this is an error. */
int plot_run(const char *dir, const struct plot_options *options, FILE *to, char **error);

struct plot_labelled {
	const char *dir;
	const char *label; /* in the legend; NULL: the last part of the path */
};

/* Draws figures that show several runs each. A figure is skipped if any run lacks its data.
 * options->out must be given. */
int plot_together(const struct plot_labelled *runs, size_t count,
		  const struct plot_options *options, FILE *to, char **error);

/* The i-th figure of runs, or NULL past the last. */
struct plot_figure {
	const char *name;             /* "slowdown", "fct_cdf", "job_timeline", ... */
	const char *alone, *together; /* what it shows of one run, of several runs; NULL if there is
				       * no such figure */
};
const struct plot_figure *plot_figure(size_t i);

/* A figure shows a metric of a sweep over one axis, with a curve (bar, box) for each value of a
 * second axis, or as a map over two axes.
 *
 * Means and intervals are over replications only. Each combination of values of the other axes gets
 * its own figure; `where` picks some of them. Points that failed or are missing leave gaps, which
 * the second line of the title counts. Means have t-intervals; ratios to a baseline are paired by
 * replication (data/inference.h). */
struct plot_sweep_options {
	/* Names of axes. If x is NULL, it is the axis of numbers with most values or, without such,
	 * the axis with most values. If by is NULL, it is the first other axis with several values
	 * (for a map the other axis of numbers with most, if there is one); "none" stands for one
	 * curve. Values that `where` leaves out do not count. */
	const char *x, *by;
	struct names metrics;    /* if empty: mean JCT, of each group of jobs where they are unlike,
				  * and 99th percentile of FCT, or its mean */
	struct names where;      /* "AXIS=VALUE": shows only these values of the axis */
	const char *kind;        /* "lines", "bars", "heat", "box"; NULL: lines over numbers, bars
				  * over labels */
	const char *log;         /* "x", "y", "xy", "none"; NULL and "y": also x if it is geometric;
				  * NULL: y of lines whose values span more than 50 times */
	const char *relative_to; /* baseline: a value of the by axis, or "AXIS=VALUE"; or NULL */
	struct names labels;     /* labels of values: "VALUE=TEXT" or "AXIS=VALUE=TEXT" */
	bool panels;             /* all figures on one page, with one legend */
	/* Instead of metrics, shows the breakdown of points with --why, a bar for each value of x
	 * and by. Excludes metrics, kind, log and relative_to. */
	bool breakdown;
};

/* Draws figures of a sweep; ignores options->only. Says on stderr which have no data. */
int plot_sweep(const char *dir, const struct plot_sweep_options *sweep,
	       const struct plot_options *options, FILE *to, char **error);

#endif
