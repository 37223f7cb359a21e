/* Exact fast-forward: what repeats itself is not simulated (core/repeat.h). */
#ifndef INASIM_RUN_FAST_FORWARD_H
#define INASIM_RUN_FAST_FORWARD_H

struct simulation;

/* From now on periods that repeat are skipped, with the same results. Does nothing unless the whole
 * state of the run can be read: it has jobs only, each under a scheme with collective_ops.repeat or
 * over TCP or RoCE, and no observer of events. Call it before the first event.
 *
 * The state of the jobs themselves is not read. They act when a tensor or a message is complete,
 * which is always simulated, and when a timer expires, which bounds what is skipped. */
void fast_forward_start(struct simulation *simulation);

#endif
