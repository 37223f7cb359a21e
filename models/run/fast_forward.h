/* Exact fast-forward: what repeats itself is not simulated (core/repeat.h). */
#ifndef INASIM_RUN_FAST_FORWARD_H
#define INASIM_RUN_FAST_FORWARD_H

struct simulation;

/* From now on periods that repeat are skipped, with the same results, in runs whose state can be
 * told: jobs alone, under schemes with collective_ops.repeat and over TCP or RoCE, that nobody
 * looks at event by event. Does nothing in others. Before the first event.
 *
 * Of the jobs themselves nothing is gone through: they act when a tensor is whole or a message is
 * complete, which is simulated, and when a timer says so, which bounds what is skipped. */
void fast_forward_start(struct simulation *simulation);

#endif
