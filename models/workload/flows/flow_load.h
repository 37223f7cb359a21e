/* Short flows as load: what those of a group with Poisson arrivals put on each link on average, so
 * that the fluid fidelity need not run them one by one.
 *
 * Expected bytes on the wire with their ACKs (counted on the data's own links), over all pairs that
 * the group draws and all of their equal paths. */
#ifndef INASIM_WORKLOAD_FLOWS_FLOW_LOAD_H
#define INASIM_WORKLOAD_FLOWS_FLOW_LOAD_H

#include "collective/collective.h"
#include "workload/flows/flows.h"
#include "workload/flows/sizes.h"

/* A group as its flows are drawn. */
struct flow_source {
	const struct flow_group_conf *conf;
	const struct sizes *sizes;
	const uint32_t *order; /* of hosts, as draw_pair() has it */
	double per_s;          /* arrivals */
};

/* Adds it to load[port], bytes per second. */
void flow_load_add(const struct model_env *env, const struct flow_source *source, double *load);

#endif
