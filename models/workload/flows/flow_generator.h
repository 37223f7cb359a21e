/* The flows of a group, drawn one after the other: when, between whom, how large.
 *
 * A generator may be copied: the copy draws the same flows ahead of time and leaves the generator
 * as it is. A generator owns no memory: the group or the scenario does. */
#ifndef INASIM_WORKLOAD_FLOWS_FLOW_GENERATOR_H
#define INASIM_WORKLOAD_FLOWS_FLOW_GENERATOR_H

#include "core/rng.h"
#include "workload/flows/flows.h"

struct flow_generator {
	const struct flow_group_conf *conf;
	const uint32_t *order; /* a permutation of the hosts; for incast, without the receiver */
	uint32_t hosts;
	struct rng arrivals, draws, pairs;
	double mean_gap_ps;   /* Poisson */
	uint64_t made, limit; /* flows drawn so far, and at most; UINT64_MAX = no limit */
	sim_time next;        /* when the next flow starts; SIM_TIME_MAX = there is none */
	bool stopped;         /* no flow starts any more */
};

struct flow_draw {
	uint32_t src, dst;
	bytes size;
};

/* Finds the time of the first flow. All members but `next` must be set. */
void flow_generator_begin(struct flow_generator *generator);

/* Draws the flow that starts at `next`, and moves on to the one after it. */
struct flow_draw flow_generator_draw(struct flow_generator *generator);

static inline bool flow_generator_done(const struct flow_generator *generator)
{
	return generator->stopped || generator->made >= generator->limit;
}

#endif
