/* Catches what ends a verb early: SIGINT, SIGTERM, SIGQUIT, SIGXCPU, and SIGHUP unless ignored. */
#ifndef INASIM_CLI_INTERRUPT_H
#define INASIM_CLI_INTERRUPT_H

#include <signal.h>

/* Set by the signal handler, which can reach only globals. */
extern volatile sig_atomic_t interrupted;

/* From now on the first of these signals sets `interrupted`, so that the verb can end in order;
 * another over a second later ends the program at once. System calls are restarted (SA_RESTART). */
void catch_interrupts(void);

#endif
