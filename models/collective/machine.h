/* Machines with several GPUs: what they exchange among themselves before and after a scheme adds up
 * between machines (NetReduce section 3.4 and appendix A).
 *
 *   scatter  reduce-scatter, then the scheme for all pieces of a machine together, then all-gather:
 *            PR with a ring, PN with NetReduce, and any other scheme with reduction inside first
 *   master   reduce to one GPU, the scheme for its sum, then broadcast: TA with a ring
 *   ring     all GPUs are ranks of one ring (FR): schedule.h has it, not this
 *
 * A worker of a job is a machine, of whose GPUs all compute alike. The stages take the times of
 * formulas.h, tensor by tensor in their order over the links among the GPUs, which no other job
 * uses; the parts of a tensor do not overlap, as in the papers' model.
 *
 * Each NIC of the machines has an instance of the scheme of its own, for an equal part of every
 * tensor: the pieces of the GPUs that use it. The rings of these in PR and PN are one with all
 * their bytes: beside flows each would have a share of its own. With `master` one GPU exchanges
 * all, over its NIC, the first. */
#ifndef INASIM_COLLECTIVE_MACHINE_H
#define INASIM_COLLECTIVE_MACHINE_H

#include "collective/schemes.h"
#include "topo/topology.h"

enum inside { INSIDE_SCATTER, INSIDE_MASTER, INSIDE_RING };

extern const char *const inside_names[]; /* for ENUM rows */

/* What start() of machine_collective takes: a scheme with these stages around it. */
struct machine_scheme {
	struct sim *sim;
	const struct topology *topo;
	struct scheme_run inner;
	enum inside inside;
};

extern const struct collective_ops machine_collective;

#endif
