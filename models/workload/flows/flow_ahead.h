/* Flows that are about to start: their routes are in the platform of the fluid fidelity before they
 * do, so that it need not renew the platform for each of them (models/fluid/README.md).
 *
 * Copies of the generators run ahead. What they tell is a hint, never a result: a flow that starts
 * otherwise (a group has been stopped, two groups draw at the same instant) gets a route of its
 * own, and the hints begin anew behind it. */
#ifndef INASIM_WORKLOAD_FLOWS_FLOW_AHEAD_H
#define INASIM_WORKLOAD_FLOWS_FLOW_AHEAD_H

#include "workload/flows/flow_fluid.h"
#include "workload/flows/flow_generator.h"

#define FLOW_AHEAD 64 /* flows; one platform for so many */

struct flow_ahead {
	struct flow_ahead_route {
		uint64_t number;
		uint32_t src, dst, route;
	} routes[FLOW_AHEAD];
	unsigned first, end; /* of those that have not started */
};

struct flows;

/* The route of the flow that starts, which is the caller's from now on. */
uint32_t flow_ahead_take(struct flows *flows, const struct flow_fluid_spec *flow);

#endif
