/* What ends a verb early: SIGINT, SIGTERM, and SIGHUP where it is not ignored. */
#ifndef INASIM_CLI_INTERRUPT_H
#define INASIM_CLI_INTERRUPT_H

#include <signal.h>

/* Set by the signal handler: a handler can reach nothing else. */
extern volatile sig_atomic_t interrupted;

/* From now on the first of these signals sets `interrupted`, so that the verb can end in order; a
 * later one ends the program at once. System calls are restarted (SA_RESTART). */
void catch_interrupts(void);

#endif
