/* All-reduce by fluid streams: one implementation for all schemes, from their plans
 * (collective/plan.h).
 *
 * A stream carries its part of a tensor when all workers have handed the tensor over and the stream
 * is through with the tensor before. All workers hold the tensor when its last stream has ended and
 * the plan's latency has passed. So tensors follow each other without gaps, as packets do, and
 * latency counts once for a train of them. If transfers do not share (fluid_open()), a job runs as
 * if it were alone, at plan_idle_rates(). Admission and memory are those of the packet scheme. */
#ifndef INASIM_FLUID_COLLECTIVE_H
#define INASIM_FLUID_COLLECTIVE_H

#include "collective/collective.h"
#include "fluid/fluid.h"

/* A scheme that runs as fluid: `ops`, which has plan(), has opened `scheme`. Owns nothing. */
struct fluid_scheme {
	struct fluid *fluid;
	struct sim *sim;
	const struct network *net;
	const struct collective_ops *ops;
	void *scheme;
};

/* What jobs call instead of `ops`; start() takes a struct fluid_scheme. This table has only the
 * members that a running job calls. */
extern const struct collective_ops fluid_collective;

#endif
