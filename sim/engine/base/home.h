/* Where the files are that belong to the program: traces, scenarios, templates of figures.
 *
 * They lie in one tree, alike in both places: PREFIX/share/inasim of an installed
 * PREFIX/bin/inasim, wherever PREFIX was moved to since, else the source tree that the program was
 * built from. */
#ifndef INASIM_BASE_HOME_H
#define INASIM_BASE_HOME_H

/* Path of "traces", "scripts/gnuplot" and so on, whether or not it exists. Caller frees. */
char *home_path(const char *name);

#endif
