/* Runs gnuplot and puts files in their places. Private to the figures. */
#ifndef INASIM_LAB_FIGURES_GNUPLOT_H
#define INASIM_LAB_FIGURES_GNUPLOT_H

#include <stdbool.h>
#include <stddef.h>

/* The text of scripts/gnuplot/NAME.gp, which is looked for in $INASIM_GNUPLOT, else where the
 * program has its own (base/home.h). The caller frees; NULL with *error (caller frees). */
char *gnuplot_template(const char *name, char **error);

/* Runs `gnuplot -d SCRIPT` in FOLDER. Its picture, or text, goes to its output, which has no
 * name, so that it opens no file for writing. The caller frees; NULL with *error (caller frees),
 * which says what really happened: not installed, out of memory, a mistake in the script. */
char *gnuplot_run(const char *folder, const char *script, size_t *length, char **error);

/* Makes `text` the content of FOLDER/FILE, whole or not at all. What is there goes first: a link
 * is never followed. False with *error (caller frees). */
bool gnuplot_put(const char *folder, const char *file, const char *text, size_t length,
		 char **error);

#endif
