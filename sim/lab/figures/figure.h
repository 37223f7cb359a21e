/* Builds one figure: the rows of its table and the words of its script. Private to the figures.
 *
 *     struct figure f = { .name = ..., .folder = ..., .options = ... };
 *     figure_begin(&f, "lines", 1, curves, "time_s packets");
 *     figure_title(&f, ...); figure_x(&f, ...); figure_panel(&f, ...);
 *     for each curve, from 1:
 *             figure_legend(&f, ...); figure_curve(&f, ...);
 *             for each row: figure_row(&f, ...);
 *     figure_finish(&f, true, to);
 *
 * Add curves in the order of panels, and within a panel in the order of their numbers.
 *
 * Names come from users and from files of others. All pass through figure.c, the only place that
 * knows what gnuplot does with a quote, a percent sign or a control character. */
#ifndef INASIM_LAB_FIGURES_FIGURE_H
#define INASIM_LAB_FIGURES_FIGURE_H

#include "lab/figures/plot.h"

#include <stdint.h>

#define FIGURE_COLOURS 8
#define FIGURE_CURVES  (2 * FIGURE_COLOURS) /* colour, dash and mark tell so many apart */
#define FIGURE_HEIGHT  560                  /* pixels on a screen, of 900 in width */
#define FIGURE_PANELS  12

struct figure_range {
	double low, high;
};

struct figure {
	const char *name;   /* of the files: letters, digits, '.', '_' and '-' only */
	const char *folder; /* where they go */
	const struct plot_options *options;
	size_t group;    /* neighbouring panels that show one metric, under one label; 0: none do */
	bool log_y;      /* logarithmic y axis: set it, and LOGY of the template, before rows */
	const char *dir; /* the directory read last, for messages */
	const char *why; /* why there is no figure; static text */
	char *error;     /* owned by the caller */

	/* Of figure.c alone, all 0 at the start. */
	const char *template;
	FILE *head, *data, *script; /* comments, rows, script: in memory until all is there */
	char *head_text, *data_text, *script_text;
	size_t head_length, data_length, script_length;
	size_t panels;
	const char *columns;
	char *curve;        /* what all rows of the curve begin with; NULL before the first */
	const char *ending; /* and what they end with; in the same memory */
	size_t panel, number, rows; /* of the curve */
	struct figure_range x, y[FIGURE_PANELS];
};

/* Begins the table and the script. `columns` (kept) names the columns between "panel series" and
 * "name", with their units. A curve may have no rows. */
void figure_begin(struct figure *f, const char *template, size_t panels, size_t curves,
		  const char *columns);

/* Sets both lines above the figure. Takes the second one. */
void figure_title(struct figure *f, const char *title, char *second);

/* Adds a line of comment at the head of the table. Takes the text. */
void figure_comment(struct figure *f, char *text);

/* Set variables of the template. gnuplot takes flags as whole numbers: set them as counts. */
void figure_text(struct figure *f, const char *variable, const char *text);
void figure_text_at(struct figure *f, const char *array, size_t i, const char *text); /* from 1 */
void figure_count(struct figure *f, const char *variable, size_t value);

/* Sets the words beside an axis and the unit of its numbers: "s", "%" (of shares), "bytes",
 * "bit/s", "number" or "". The template adds a prefix. */
void figure_x(struct figure *f, const char *label, const char *unit, bool logarithmic);
void figure_panel(struct figure *f, size_t panel, const char *label, const char *unit);

/* Sets the tics of an axis ('X' or 'Y'): their number, then each, counted from 1. `note` (or NULL)
 * goes below. Long labels are cut; the table has them whole. */
void figure_tics(struct figure *f, char axis, size_t count);
void figure_tic(struct figure *f, char axis, size_t i, const char *label, double at,
		const char *note);

/* Begins the rows of a curve, which the table calls `name`. Panels and curves count from 1. */
void figure_curve(struct figure *f, size_t panel, size_t curve, const char *name);

/* Sets the name of a curve in the legend ("" = none). `look` and `dash` number its colour and dash,
 * so that a thing looks the same in all figures. */
void figure_legend(struct figure *f, size_t curve, size_t look, size_t dash, const char *name);

/* Adds a row to the curve: a value for each column, NaN where one is missing. The y axis covers
 * `y_columns` of them, from the second on. */
void figure_row(struct figure *f, const double *values, size_t y_columns);

/* Extends the range of a panel's y axis (panel 0: of the x axis) to `value`. */
void figure_reach(struct figure *f, size_t panel, double value);

/* Draws the figure if `data` says that there is something to draw, prints its path (or, of text,
 * the text) to `to`, and releases it in any case. False, with f->error or f->why, if it is not
 * drawn. */
bool figure_finish(struct figure *f, bool data, FILE *to);

/* Shortens a text to `max` bytes by replacing its middle with "…"; cuts between letters of UTF-8.
 * The caller frees. */
char *figure_cut(const char *text, size_t max);

/* A number with thousands marked: "12,345". `buffer` of 32 bytes; returns it. */
char *figure_thousands(char *buffer, uint64_t value);

/* The timeline of jobs (timeline.c): when they wait, compute and communicate. Reads jobs.csv and
 * iterations.csv of f->dir; false with f->why or f->error. */
bool timeline(struct figure *f);

/* The network with its busy links (network.c). Reads links.csv and aggregators.csv of f->dir; false
 * with f->why or f->error. */
bool network(struct figure *f);

/* NULL if the terminal exists, else the message (caller frees). */
char *figure_no_terminal(const struct plot_options *options);

/* The folder for figures of DIR: options->out, or DIR/figures. NULL with *error if that is a link.
 * The caller frees both. */
char *figure_folder(const struct plot_options *options, const char *dir, char **error);

#endif
