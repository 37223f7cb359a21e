/* Child processes. */
#ifndef INASIM_BASE_CHILD_H
#define INASIM_BASE_CHILD_H

#include <sys/types.h>

/* As fork(), but on Linux the kernel kills the child when the thread that forked it ends, for
 * whatever reason. The child's own children live on. */
pid_t child_fork(void);

#endif
