/* Adds the routes of flows that are about to start to the platform of the fluid fidelity, many at a
 * time, so that the platform is not renewed for each flow (models/fluid/README.md).
 *
 * Copies of the generators run ahead. The flows that the copies draw are hints: other flows may
 * start instead, when a group has been stopped or two groups draw at the same instant. Such a flow
 * gets its own route, and new hints are drawn for the flows behind it. */
#include "workload/flows/flows_parts.h"

#include "base/mem.h"

#include <stdlib.h>

#define DRAWS_MAX (16 * FLOW_AHEAD) /* in one fill(): flows that are load add no route */

/* The generator whose flow comes next; NULL when there is none. */
static struct flow_generator *soonest(struct flow_generator *generators, size_t count)
{
	struct flow_generator *found = NULL;

	for (size_t g = 0; g < count; g++)
		if (!flow_generator_done(&generators[g]) &&
		    (!found || generators[g].next < found->next))
			found = &generators[g];
	return found;
}

/* Whether a flow is a stream, not load. */
static bool has_stream(const struct flows *flows, const struct flow_generator *generator,
		       bytes size)
{
	return generator->conf->enabled &&
	       (generator->conf->arrival.form != ARRIVE_POISSON || size >= flows->env.load_below);
}

/* Removes the routes of all flows that have not started. */
static void drop(struct flows *flows)
{
	struct flow_ahead *ahead = &flows->ahead;

	while (ahead->first < ahead->end)
		fluid_route_remove(flows->env.fluid, ahead->routes[ahead->first++].route);
	ahead->first = ahead->end = 0;
}

/* Adds the routes of the flows behind the one that starts now. */
static void fill(struct flows *flows)
{
	struct flow_generator *copies = xcalloc(flows->group_count, sizeof(*copies)), *next;
	struct flow_ahead *ahead = &flows->ahead;
	uint64_t number = flows->numbers;

	for (size_t g = 0; g < flows->group_count; g++)
		copies[g] = flows->groups[g].generator;
	for (unsigned drawn = 0; drawn < DRAWS_MAX && ahead->end < FLOW_AHEAD &&
				 (next = soonest(copies, flows->group_count));
	     drawn++) {
		struct flow_draw draw = flow_generator_draw(next);
		struct flow_fluid_spec flow = {
			.src = draw.src, .dst = draw.dst, .key = number++, .size = draw.size
		};

		if (has_stream(flows, next, draw.size))
			ahead->routes[ahead->end++] =
				(struct flow_ahead_route){ .number = flow.key,
							   .src = flow.src,
							   .dst = flow.dst,
							   .route = flow_fluid_route(&flows->env,
										     &flow) };
	}
	free(copies);
}

uint32_t flow_ahead_take(struct flows *flows, const struct flow_fluid_spec *flow)
{
	struct flow_ahead *ahead = &flows->ahead;
	const struct flow_ahead_route *next = &ahead->routes[ahead->first];

	if (ahead->first < ahead->end && next->number == flow->key && next->src == flow->src &&
	    next->dst == flow->dst) {
		ahead->first++;
		return next->route;
	}
	drop(flows);
	fill(flows);
	return flow_fluid_route(&flows->env, flow);
}
