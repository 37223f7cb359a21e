/* Flows as fluid: each is one stream over the path that TCP would take.
 *
 *     start | lead: slow start on an idle path | stream, at its max-min share | latency | received
 *
 * So a flow that is alone takes its ideal time and what slow start costs. Left out: what marks and
 * losses do to windows; the load of ACKs, which go the opposite way; and that a window grows while
 * the flow waits for a share. */
#ifndef INASIM_WORKLOAD_FLOWS_FLOW_FLUID_H
#define INASIM_WORKLOAD_FLOWS_FLOW_FLUID_H

#include "collective/collective.h"
#include "fluid/fluid.h"

struct flow_fluid {
	const struct model_env *env; /* not owned */
	uint32_t route;
	sim_time ideal, latency;
	double wire; /* bytes */
	double size; /* payload */
	bool streaming, ended;
	struct timer timer; /* lead, then latency */
	void (*received)(void *owner);
	void *owner;
};

/* What a flow is; `key` as for tcp_open(). */
struct flow_fluid_spec {
	uint32_t src, dst;
	uint64_t key;
	bytes size;
	uint32_t route; /* flow_fluid_route() of all this */
};

/* Adds the route of a flow that is about to start. The flow that is opened on it owns it; without
 * one the caller removes it. */
uint32_t flow_fluid_route(const struct model_env *env, const struct flow_fluid_spec *spec);

/* Begins a flow. received() is called when its last byte has arrived; it may call
 * flow_fluid_close(). */
void flow_fluid_open(struct flow_fluid *flow, const struct model_env *env,
		     const struct flow_fluid_spec *spec, void (*received)(void *owner),
		     void *owner);
void flow_fluid_close(struct flow_fluid *flow);

/* Payload delivered so far, by the `progress` of fluid_progress(). */
bytes flow_fluid_delivered(const struct flow_fluid *flow, const double *progress);

#endif
