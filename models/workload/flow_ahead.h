/* Flows that are about to start, so that the fluid engine knows their routes when it begins an
 * epoch and need not begin another for each of them (models/fluid/README.md).
 *
 * Copies of the generators run ahead. What they tell is a hint, never a result: a flow that starts
 * otherwise (a group has been stopped, two groups draw at the same instant) gets a route of its
 * own, and the copies are made anew. */
#ifndef INASIM_WORKLOAD_FLOW_AHEAD_H
#define INASIM_WORKLOAD_FLOW_AHEAD_H

#include "workload/flow_generator.h"

#define FLOW_AHEAD 64 /* flows; one epoch for so many */

struct flow_ahead {
	const struct model_env *env;                   /* not owned */
	const struct flow_generator *const *originals; /* by group; not owned */
	const uint64_t *number;                        /* of the next flow; not owned */
	struct flow_generator *copies;                 /* owned */
	size_t groups;
	uint64_t next; /* number that the copies are at */
	bool stale;
	struct flow_ahead_route {
		uint64_t number;
		uint32_t src, dst, route;
	} ring[FLOW_AHEAD];
	uint64_t first, end;
};

void flow_ahead_init(struct flow_ahead *ahead, const struct model_env *env,
		     const struct flow_generator *const *originals, size_t groups,
		     const uint64_t *number);
void flow_ahead_release(struct flow_ahead *ahead);

/* Before an epoch: as many routes as there is room for. */
void flow_ahead_fill(void *ahead);

/* The route of a flow that starts, which is the caller's from now on; it may be new. */
uint32_t flow_ahead_take(struct flow_ahead *ahead, uint64_t number, uint32_t src, uint32_t dst);

#endif
