/* Processes that work for this one. */
#ifndef INASIM_BASE_CHILD_H
#define INASIM_BASE_CHILD_H

#include <sys/types.h>

/* fork(), but the child does not outlive the parent: when that ends, however it ends, it is killed
 * (on Linux). Nobody would wait for it or read what it writes. Own children alone: not theirs. */
pid_t child_fork(void);

#endif
