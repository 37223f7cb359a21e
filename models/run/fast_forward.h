/* Exact fast-forward: repeated periods of a run are skipped (core/repeat.h). */
#ifndef INASIM_RUN_FAST_FORWARD_H
#define INASIM_RUN_FAST_FORWARD_H

struct simulation;

/* From now on repeated periods are skipped; results stay the same. Does nothing if the run has
 * flows, failures, partitions, an observer of events, no packets, or a network whose state cannot
 * be read. Each job needs a scheme that runs over TCP or RoCE or has collective_ops.repeat. Call
 * it before the first event.
 *
 * The state of the jobs themselves is not compared. Jobs act only when a tensor or a message is
 * complete, which is always simulated, and when a timer expires, which is never skipped. */
void fast_forward_start(struct simulation *simulation);

#endif
