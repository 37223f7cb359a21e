/* Builds one figure: the rows of its table and the words of its gnuplot script. Private to the
 * figures. A figure has one panel or more (plots with axes of their own); each panel has the same
 * curves.
 *
 *     struct figure f = { .name = ..., .folder = ..., .options = ... };
 *     figure_begin(&f, "lines", 1, curves, "time_s packets");
 *     figure_title(&f, ...); figure_x(&f, ...); figure_panel(&f, ...);
 *     for each curve, from 1:
 *             figure_legend(&f, ...); figure_curve(&f, ...);
 *             for each row: figure_row(&f, ...);
 *     figure_finish(&f, true, to);
 *
 * Add curves panel by panel, in each panel in the order of their numbers.
 *
 * Names come from users and from other people's files. All pass through figure.c, the only place
 * that knows what gnuplot does with a quote, a percent sign or a control character. */
#ifndef INASIM_LAB_FIGURES_FIGURE_H
#define INASIM_LAB_FIGURES_FIGURE_H

#include "lab/figures/plot.h"

#include <stdint.h>

#define FIGURE_COLOURS 8
#define FIGURE_CURVES  (2 * FIGURE_COLOURS) /* as many as colour, dash and mark tell apart */
#define FIGURE_HEIGHT  560                  /* pixels on a screen; the width is 900 */
#define FIGURE_PANELS  12                   /* in a figure, at most */

struct figure_range {
	double low, high;
};

/* Whether values above 0 span more than 50 times, which asks for a logarithmic axis. */
bool figure_is_wide(const struct figure_range *range);

struct figure {
	const char *name;   /* of its files: letters, digits, '.', '_' and '-' only */
	const char *folder; /* where its files go */
	const struct plot_options *options;
	size_t group;    /* how many neighbouring panels show one metric and share a label; 0: each
			  * panel has a label of its own */
	bool log_y;      /* logarithmic y axis; set before rows. The template needs LOGY as well */
	const char *dir; /* the result directory read last, for messages */
	const char *why; /* why there is nothing to draw; static text */
	char *error;     /* what failed; owned by the caller */

	/* Set only in figure.c; all 0 at the start. */
	const char *template;
	FILE *head, *data, *script; /* comments, rows, script: in memory until the end */
	char *head_text, *data_text, *script_text;
	size_t head_length, data_length, script_length;
	size_t panels;
	const char *columns;
	char *curve;                /* what each row of the current curve begins with; NULL: none */
	const char *ending;         /* what each row ends with; in the memory of `curve` */
	size_t panel, number, rows; /* of the current curve */
	struct figure_range x, y[FIGURE_PANELS]; /* ranges of the axes; y by panel */
};

/* Begins the table and the script. Each panel has `curves` curves. `columns` (not copied) names the
 * columns of figure_row() with their units; the table has "panel series" before and "name" behind
 * them. A curve may have no rows. */
void figure_begin(struct figure *f, const char *template, size_t panels, size_t curves,
		  const char *columns);

/* Sets both lines above the figure. Frees `second`. */
void figure_title(struct figure *f, const char *title, char *second);

/* Adds a line of comment at the head of the table. Frees the text. */
void figure_comment(struct figure *f, char *text);

/* Set variables of the template. For flags use figure_count(): gnuplot wants whole numbers. */
void figure_text(struct figure *f, const char *variable, const char *text);
void figure_text_at(struct figure *f, const char *array, size_t i, const char *text); /* i from 1 */
void figure_count(struct figure *f, const char *variable, size_t value);
void figure_real(struct figure *f, const char *variable, double value);
void figure_arrays(struct figure *f, size_t size, const char *names); /* before their items */
void figure_real_at(struct figure *f, const char *array, size_t i, double value);

/* Set the words beside an axis (x, or y of a panel) and the unit of its numbers: "s", "%" (for
 * shares from 0 to 1), "bytes", "bit/s", "B/s", "number" or "". The template adds a prefix such as
 * "ms". */
void figure_x(struct figure *f, const char *label, const char *unit, bool logarithmic);
void figure_panel(struct figure *f, size_t panel, const char *label, const char *unit);

/* Set the tics of an axis ('X' or 'Y'): first how many there are, then each, counted from 1. `note`
 * (or NULL) goes below the label. Long labels are cut. */
void figure_tics(struct figure *f, char axis, size_t count);
void figure_tic(struct figure *f, char axis, size_t i, const char *label, double at,
		const char *note);

/* Begins a curve, which the table calls `name`. Panels and curves count from 1. */
void figure_curve(struct figure *f, size_t panel, size_t curve, const char *name);

/* Sets the name of a curve in the legend ("": no entry), and the numbers of its colour and dash.
 * The same thing should have the same numbers in all figures. */
void figure_legend(struct figure *f, size_t curve, size_t look, size_t dash, const char *name);

/* Likewise "NAME (n = 1,000, 2 unfinished)"; without values just NAME. */
void figure_counted_legend(struct figure *f, size_t curve, size_t look, const char *name,
			   uint64_t count, uint64_t unfinished);

/* Adds a row to the current curve: a value for each column, NaN where one is missing. The first
 * value is x; the y axis will cover the next `y_columns` values. */
void figure_row(struct figure *f, const double *values, size_t y_columns);

/* Extends the range of a panel's y axis (panel 0: of the x axis) to `value`. */
void figure_reach(struct figure *f, size_t panel, double value);

/* If `data` is true, draws the figure and prints its path to `to`, or the figure if it is text.
 * Releases `f` in any case. False, with f->error or f->why, if nothing was drawn. */
bool figure_finish(struct figure *f, bool data, FILE *to);

/* Shortens a text to `max` bytes by replacing its middle with "…"; cuts between letters of UTF-8.
 * The caller frees. */
char *figure_cut(const char *text, size_t max);

/* Writes a number as "12,345" to `buffer` of 32 bytes, and returns it. */
char *figure_thousands(char *buffer, uint64_t value);

/* The timeline of jobs (timeline.c): when they wait, compute and communicate. Reads jobs.csv and
 * iterations.csv of f->dir; false with f->why or f->error. */
bool timeline(struct figure *f);

/* The network with its busy links (network.c). Reads links.csv and aggregators.csv of f->dir; false
 * with f->why or f->error. */
bool network(struct figure *f);

/* NULL if options->term exists, else a message that says what exists (caller frees). */
char *figure_no_terminal(const struct plot_options *options);

/* The folder for figures of DIR: options->out, or DIR/figures. NULL with *error if DIR/figures is a
 * symbolic link. The caller frees both. */
char *figure_folder(const struct plot_options *options, const char *dir, char **error);

#endif
