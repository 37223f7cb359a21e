/* All-reduce by fluid streams: one implementation for all schemes, which runs their plans
 * (collective/plan.h).
 *
 * A stream begins its part of a tensor when all workers have handed the tensor over and the stream
 * has finished the tensor before. All workers hold the tensor when its last stream has ended and
 * the plan's latency has passed. So tensors follow each other without gaps, as packets do, and a
 * train of tensors has the latency once. With plan.in_turn (schedules) a stream also waits until
 * all workers hold the tensor before, so each tensor has the latency. While windows grow, streams
 * begin later by what the windows lose (plan_ramp_tensor()). In runs without sharing of links
 * (fluid_open()) each job has plan_idle_rates(), as if it were alone. Admission and memory are
 * those of the packet scheme. */
#ifndef INASIM_FLUID_COLLECTIVE_H
#define INASIM_FLUID_COLLECTIVE_H

#include "collective/collective.h"
#include "fluid/fluid.h"

/* A scheme in the fluid model. `ops` must have plan(), `scheme` is from ops->open(); not owned. */
struct fluid_scheme {
	struct fluid *fluid;
	struct sim *sim;
	const struct network *net;
	const struct collective_ops *ops;
	void *scheme;
};

/* Jobs call this table instead of `ops`. The first argument of start() is a struct fluid_scheme.
 * The table has only the members that a running job calls. */
extern const struct collective_ops fluid_collective;

#endif
