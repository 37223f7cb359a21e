/* One figure on its way to gnuplot, and what all figures share: size, colours,
 * grid, quoting. For sim/out/plot*.c and the figures of sweeps (study).
 *
 * A figure is three files in one folder: NAME.dat (the numbers shown, blocks
 * parted by two empty lines), NAME.gp (the script, with relative paths, so that
 * a figure can be changed by hand and redrawn anywhere) and NAME.png. */
#ifndef INASIM_OUT_PLOT_PAGE_H
#define INASIM_OUT_PLOT_PAGE_H

#include "out/csv_read.h"
#include "out/plot.h"

#include <stdarg.h>
#include <stdint.h>

#define PLOT_COLOURS 8
#define PLOT_WIDTH   900 /* pixels */
#define PLOT_HEIGHT  560

enum plot_outcome {
	PLOT_DRAWN,
	PLOT_NO_DATA, /* page.why says what is missing */
	PLOT_FAILED,  /* page.error says why */
};

struct plot_page {
	const char *dir;    /* the result directory that is read */
	const char *folder; /* where the three files go */
	const char *name;   /* of the files: letters, digits, '.', '_' and '-' only */
	const struct plot_options *options;
	FILE *data;      /* NAME.dat, once open */
	FILE *script;    /* NAME.gp */
	double shape;    /* height / width, once open */
	const char *why; /* static text */
	char *error;     /* owned */
};

typedef enum plot_outcome plot_draw(struct plot_page *page);

/* The figures; each reads its table, opens the page and writes both files. */
plot_draw plot_slowdown, plot_fct_cdf, plot_job_timeline, plot_link_utilization, plot_series,
	plot_packets;

/* Okabe and Ito's palette, told apart by the colour-blind too; black last. */
const char *plot_colour(size_t index);

/* Style of the index-th curve, as gnuplot words, so that curves are told apart in
 * black and white too: colour and dash; colour and mark; all three. */
void plot_curve_style(FILE *script, size_t index);
void plot_mark_style(FILE *script, size_t index);
void plot_line_style(FILE *script, size_t index);

/* Style of the index-th group of bars: colour, filling, a dark edge. */
void plot_bar_style(FILE *script, size_t index);

bool plot_is_dumb(const struct plot_page *page);

/* Opens DIR/FILE. NULL with page->why if there is no such file, NULL with
 * page->error if it cannot be read. */
struct csv *plot_table(struct plot_page *page, const char *file);

/* What a figure returns when plot_table() gave NULL. */
enum plot_outcome plot_without(const struct plot_page *page);

/* Closes; PLOT_FAILED with page->error when the table has a mistake. */
enum plot_outcome plot_table_end(struct plot_page *page, struct csv *csv);

/* Opens both files and writes what every script starts with. */
enum plot_outcome plot_page_open(struct plot_page *page, int width, int height);

/* Closes the files, runs gnuplot, hands a "dumb" figure on to `to`. Releases
 * the page but for `error`, in any case and from any state. */
enum plot_outcome plot_page_render(struct plot_page *page, enum plot_outcome outcome, FILE *to);

/* A text constant for gnuplot. Names come from users, and gnuplot runs what
 * stands between backquotes in "": only '' is safe. */
void plot_quote(FILE *script, const char *text);

/* Two lines above the plot, wrapped where the figure is narrow; the second is
 * formatted. */
void plot_title(struct plot_page *page, const char *title, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Letters of a title that fit side by side. */
size_t plot_columns(const struct plot_page *page);

/* `set xlabel 'TEXT'` (or y, y2, cb), quoted, wrapped where it is too long. */
void plot_label(struct plot_page *page, const char *axis, const char *text);

/* A text for a comment of a .dat: control characters become blanks. */
void plot_comment(FILE *data, const char *text);

/* Axis: `set xlabel`, tics at 1, 2, 5 times the powers of ten in [low, high] of
 * a logarithmic axis; 2 and 5 only where that does not crowd. */
void plot_log_axis(struct plot_page *page, char axis, double low, double high);

/* A number with thousands marked: "12,345". `buffer` of 32 bytes; returns it. */
char *plot_thousands(char *buffer, uint64_t value);

void plot_real(FILE *data, double value); /* reads back exactly */

/* NULL, or why there is no figure of DIR (caller frees): no result directory. */
char *plot_no_results(const char *dir);

/* NULL, or why not (caller frees): no such terminal, no such figure in the list. */
char *plot_no_such(const struct plot_options *options, const struct plot_figure *figures,
		   size_t count);

/* Unit of a time axis that ends at `end_s`: its name; *scale units a second. */
const char *plot_time_unit(double end_s, double *scale);

#endif
