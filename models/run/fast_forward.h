/* Exact fast-forward: repeated periods of a run are skipped (core/repeat.h). */
#ifndef INASIM_RUN_FAST_FORWARD_H
#define INASIM_RUN_FAST_FORWARD_H

struct simulation;

/* From now on repeated periods are skipped; results stay the same. Does nothing unless the run
 * consists of packets of jobs only, each with an "all_reduce" that has collective_ops.repeat or
 * goes over TCP or RoCE, without failures, observers of events, --why or sampled links.
 * Nor is anything skipped while packets of another scheme without repeat() are in the network, such
 * as those of a sharded job's "reduce_scatter". Call it before the first event.
 *
 * The state of the jobs themselves is not compared. Jobs act only when a tensor or a message is
 * complete, which is always simulated, and when a timer expires, which is never skipped. */
void fast_forward_start(struct simulation *simulation);

#endif
