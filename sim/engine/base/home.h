/* Finds the files that come with the program: traces, scenarios, templates of figures.
 *
 * An installed PREFIX/bin/inasim, or library below PREFIX, has them in PREFIX/share/inasim, even
 * after PREFIX was moved. Otherwise they are in the source tree that the program was built from. */
#ifndef INASIM_BASE_HOME_H
#define INASIM_BASE_HOME_H

/* The path of `name`, such as "traces" or "scripts/gnuplot". It need not exist. Caller frees. */
char *home_path(const char *name);

#endif
