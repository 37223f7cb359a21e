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
 * The NICs of one number, one in each machine, have an instance of the scheme of their own. It
 * takes an equal part of every tensor: the pieces of the GPUs that use these NICs. PR and PN have a
 * ring for each of these GPUs; here one instance has all their bytes, though beside flows each ring
 * would get a share of its own. With `master` one GPU exchanges everything, over the first NIC. */
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
