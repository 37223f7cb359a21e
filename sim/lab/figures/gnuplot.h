/* Runs gnuplot and writes its files. Private to the figures. */
#ifndef INASIM_LAB_FIGURES_GNUPLOT_H
#define INASIM_LAB_FIGURES_GNUPLOT_H

#include <stdbool.h>
#include <stddef.h>

/* Reads the template NAME.gp from $INASIM_GNUPLOT, or from the program's own folder (base/home.h).
 * The caller frees; NULL with *error (caller frees). */
char *gnuplot_template(const char *name, char **error);

/* Runs SCRIPT by gnuplot in FOLDER, without the user's settings, and returns the picture, which
 * gnuplot writes to its standard output: it opens no file for writing. *said is what the script and
 * gnuplot printed. The caller frees both. NULL with *error (caller frees), which says whether
 * gnuplot is missing, could not start, or failed on the script. */
char *gnuplot_run(const char *folder, const char *script, size_t *length, char **said,
		  char **error);

/* Writes FOLDER/FILE, whole or not at all. First removes a file of that name, so that no link is
 * followed. False with *error (caller frees). */
bool gnuplot_put(const char *folder, const char *file, const char *text, size_t length,
		 char **error);

#endif
