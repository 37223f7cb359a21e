/* Machines with several GPUs: what the GPUs of a machine exchange before and after a scheme adds up
 * between machines (NetReduce section 3.4 and appendix A).
 *
 *   scatter  reduce-scatter, then the scheme for all pieces of a machine together, then all-gather
 *            (the paper's PR with a ring, PN with NetReduce)
 *   master   reduce to one GPU, then the scheme for its sum, then broadcast (TA with a ring)
 *   ring     all GPUs are ranks of one ring (FR); schedule.h does that, not this file
 *
 * A worker of a job is a machine whose GPUs all compute alike. The stages take the times of
 * formulas.h, one tensor after the other, over the links among the GPUs, which no other job uses.
 * The stages of a tensor do not overlap, as in the paper's model.
 *
 * NIC i of every machine: these NICs form a rail, and each rail has its own instance of the scheme.
 * All rails take equal parts of every tensor: each takes the pieces of the GPUs that use its NICs.
 * Simplified: in PR and PN each of these GPUs has a ring of its own, which beside flows gets a
 * share of its own. Here the one instance of the rail has all their bytes, and one share. With
 * `master` one GPU exchanges everything, over the first NIC. */
#ifndef INASIM_COLLECTIVE_MACHINE_H
#define INASIM_COLLECTIVE_MACHINE_H

#include "collective/machine_conf.h"
#include "collective/schemes.h"
#include "topo/topology.h"

enum inside { INSIDE_SCATTER, INSIDE_MASTER, INSIDE_RING };

extern const char *const inside_names[]; /* for ENUM rows */

/* A scheme with these stages around it; start() of machine_collective takes it. */
struct machine_scheme {
	struct sim *sim;
	const struct topology *topo;
	const struct machine_conf *conf;
	struct scheme_run inner;
	enum inside inside;
};

extern const struct collective_ops machine_collective;

#endif
