/* Flows as fluid: each is one stream over the path that TCP would take.
 *
 *     start | lead: slow start on an idle path | stream, at its max-min share | latency | received
 *
 * So a flow that is alone takes its ideal time and the cost of slow start, or longer if
 * "max_window" of TCP caps its rate. Not modelled: cuts of windows by ECN marks and losses; the
 * load of ACKs, which go the opposite way; the growth of a window while the flow waits for a
 * share. */
#ifndef INASIM_WORKLOAD_FLOWS_FLOW_FLUID_H
#define INASIM_WORKLOAD_FLOWS_FLOW_FLUID_H

#include "collective/collective.h"
#include "fluid/fluid.h"

struct flow_fluid {
	const struct model_env *env; /* not owned */
	uint32_t route;
	sim_time ideal, latency;
	double wire;           /* bytes, with headers */
	double size;           /* bytes of payload */
	bool streaming, ended; /* during the stream; after the stream */
	struct timer timer;    /* end of the lead, then of the latency */
	void (*received)(void *owner);
	void *owner;
};

/* A flow to start; `key` as in tcp_open(). */
struct flow_fluid_spec {
	uint32_t src, dst;
	uint64_t key;
	bytes size;
};

/* Begins a flow. received() is called when its last byte has arrived; it may call
 * flow_fluid_close(). */
void flow_fluid_open(struct flow_fluid *flow, const struct model_env *env,
		     const struct flow_fluid_spec *spec, void (*received)(void *owner),
		     void *owner);
void flow_fluid_close(struct flow_fluid *flow);

/* Bytes of payload delivered so far; `progress`: from fluid_progress(). */
bytes flow_fluid_delivered(const struct flow_fluid *flow, const double *progress);

#endif
