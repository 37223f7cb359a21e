/* One figure in the making: rows of its table, words for its template. Private to the figures.
 *
 *     struct figure f = { .name = ..., .folder = ..., .options = ... };
 *     figure_begin(&f, "lines", 1, curves, "time_s packets");
 *     figure_title(&f, ...); figure_x(&f, ...); figure_panel(&f, ...);
 *     for each curve, from 1:
 *             figure_legend(&f, ...); figure_curve(&f, ...);
 *             for each row: figure_row(&f, ...);
 *     figure_finish(&f, true, to);
 *
 * The rows of a curve stand together: in the order of panels, and in each in that of curves.
 * Names come from users and from strangers' files; all of them go through figure.c, which is
 * alone in knowing what gnuplot makes of a quote, a percent sign or a control character. */
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
	size_t group; /* panels of one metric, which share its label of the user; 0: all differ */
	bool log_y;   /* the y axis is logarithmic: set before rows, with LOGY of the template */
	const char *dir; /* that was read last, for messages */
	const char *why; /* there is no figure; static text */
	char *error;     /* owned by the caller */

	/* Of figure.c alone, all 0 at the start. */
	const char *template;
	FILE *head, *data, *script; /* comments, rows, script: in memory until all is there */
	char *head_text, *data_text, *script_text;
	size_t head_length, data_length, script_length;
	size_t panels;
	const char *columns;
	char *curve;                /* what all its rows begin with; NULL before the first one */
	const char *ending;         /* and what they end with, behind it */
	size_t panel, number, rows; /* of the curve */
	struct figure_range x, y[FIGURE_PANELS];
};

/* Begins both files; `columns` (kept) names those between "panel series" and "name", with their
 * units. A curve may have no rows. */
void figure_begin(struct figure *f, const char *template, size_t panels, size_t curves,
		  const char *columns);

/* Both lines above the figure; the second one is formatted. */
void figure_title(struct figure *f, const char *title, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* A line of comment at the head of the table. */
void figure_comment(struct figure *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Variables of the template: a count is a whole number, as gnuplot wants it of what is true or not.
 */
void figure_text(struct figure *f, const char *variable, const char *text);
void figure_text_at(struct figure *f, const char *array, size_t i, const char *text); /* from 1 */
void figure_count(struct figure *f, const char *variable, size_t value);
void figure_number(struct figure *f, const char *variable, double value);

/* Words beside an axis, and the unit of its numbers: "s", "%" (of shares), "bytes", "bit/s",
 * "number" or "". The template picks a prefix. */
void figure_x(struct figure *f, const char *label, const char *unit, bool logarithmic);
void figure_panel(struct figure *f, size_t panel, const char *label, const char *unit);

/* Tics of an axis ('X' or 'Y'): how many, then each from 1. `note` (or NULL) goes below. Long
 * labels are cut: the table has them whole. */
void figure_tics(struct figure *f, char axis, size_t count);
void figure_tic(struct figure *f, char axis, size_t i, const char *label, double at,
		const char *note);

/* Begins the rows of a curve, both from 1; `name` of it in the table. */
void figure_curve(struct figure *f, size_t panel, size_t curve, const char *name);

/* Name of a curve in the legend ("" = none); look and dash: its numbers among colours and dashes,
 * so that a thing looks alike in all figures. */
void figure_legend(struct figure *f, size_t curve, size_t look, size_t dash, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));

/* A row of the curve that was begun: x and what else the columns name. NaN is a value that is
 * missing. `y_columns`: how many of them, from the second on, the y axis has to reach to. */
void figure_row(struct figure *f, const double *values, size_t y_columns);

/* Makes the range of a panel's y axis (panel 0: of the x axis) reach to `value`. */
void figure_reach(struct figure *f, size_t panel, double value);

/* Draws it, if `data` says that there is something to draw, and prints its path (of text: the
 * text) to `to`; releases it in any case. True when drawn; false with f->error or f->why. */
bool figure_finish(struct figure *f, bool data, FILE *to);

/* The text, or its begin and its end with "…" between them, of at most so many bytes, cut between
 * letters of UTF-8. The caller frees. */
char *figure_cut(const char *text, size_t most);

/* A number with thousands marked: "12,345". `buffer` of 32 bytes; returns it. */
char *figure_thousands(char *buffer, uint64_t value);

/* NULL, or why not (caller frees): no such terminal. */
char *figure_no_terminal(const struct plot_options *options);

/* Where the figures of DIR go: options->out, or DIR/figures, unless that is a link into somebody's
 * files. NULL with *error (both: caller frees). */
char *figure_folder(const struct plot_options *options, const char *dir, char **error);

#endif
