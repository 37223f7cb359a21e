/* Processes that work for this one. */
#ifndef INASIM_BASE_CHILD_H
#define INASIM_BASE_CHILD_H

#include <sys/types.h>

/* fork(), but the child does not outlive the parent, as nobody would wait for it or read what it
 * writes: on Linux the system kills it when the thread that forked it ends, for whatever reason.
 * The child's own children live on. */
pid_t child_fork(void);

#endif
