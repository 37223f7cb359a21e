/* All-reduce by fluid streams: one implementation for all schemes, from their plans
 * (collective/plan.h).
 *
 * A tensor's streams start when all workers have handed it over and those of the tensor before have
 * left, stream by stream; all workers hold it when its last stream has ended and the plan's latency
 * has passed. So tensors follow each other without gaps, as packets do, and latency counts once for
 * a train of them. Where transfers do not share (fluid_open()), a job goes as if it were alone: by
 * plan_idle_rates(). Admission and switch memory are the packet scheme's own. */
#ifndef INASIM_FLUID_COLLECTIVE_H
#define INASIM_FLUID_COLLECTIVE_H

#include "collective/collective.h"
#include "fluid/fluid.h"

/* The fluid side of an opened scheme: `scheme` belongs to `ops`, which has plan(); nothing here is
 * owned. */
struct fluid_scheme {
	struct fluid *fluid;
	struct sim *sim;
	const struct network *net;
	const struct collective_ops *ops;
	void *scheme;
};

/* What a run's jobs use instead of `ops`: its start() takes a struct fluid_scheme. Of the members
 * there are those that a running job calls. */
extern const struct collective_ops fluid_collective;

#endif
