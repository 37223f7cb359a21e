/* Exact fast-forward: repeated periods of a run are skipped (core/repeat.h). */
#ifndef INASIM_RUN_FAST_FORWARD_H
#define INASIM_RUN_FAST_FORWARD_H

struct simulation;

/* From now on repeated periods are skipped; results stay the same. Does nothing unless the run
 * consists of packets of jobs only, each under a scheme with collective_ops.repeat or over TCP or
 * RoCE, without failures, partitions or observers of events. Call it before the first event.
 *
 * The state of the jobs themselves is not compared. Jobs act only when a tensor or a message is
 * complete, which is always simulated, and when a timer expires, which is never skipped. */
void fast_forward_start(struct simulation *simulation);

#endif
