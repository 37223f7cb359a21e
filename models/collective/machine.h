/* What a worker does with a tensor before and after a scheme adds it up between machines.
 *
 * Any worker may need time to launch the exchange, and to convert gradients before it and again
 * after it (to integers or halves, SwitchML 2019 section 5.5): in stages one after the other,
 * beside computing.
 *
 * Machines with several GPUs have stages inside (NetReduce section 3.4 and appendix A):
 *
 *   scatter  reduce-scatter, then the scheme for all pieces of a machine together, then all-gather
 *            (the paper's PR with a ring, PN with NetReduce)
 *   master   reduce to one GPU, then the scheme for its sum, then broadcast (TA with a ring)
 *   nvls     as scatter, but the switch among the GPUs adds up and copies: NCCL's NVLS over several
 *            machines, with SHARP between them
 *   ring     all GPUs are ranks of one ring (FR); done by schedule.h, not by this file
 *
 * A worker of a job is a machine whose GPUs all compute alike, or, with `machines` of struct
 * collective_job, a GPU; then a machine begins when all of its GPUs have handed a tensor over, and
 * equally many GPUs, with equally many NICs, work on each machine. A stage takes the time of
 * formulas.h, over the links among the GPUs, which no other job uses. A machine does one stage at a
 * time, as in the paper's model; with nvls sums and copies take the links' two directions beside
 * each other. With `chunk`, stages and scheme overlap: a tensor is cut into
 * equal chunks of at most so many bytes, and each passes on by itself, as in NCCL (its buffers
 * bound how many are under way; ours do not). A reduce-scatter has only the stage before, an
 * all-gather only the one after.
 *
 * A machine that is alone has no scheme between the two stages.
 *
 * NICs i of all machines, or of the GPUs that take part, form a rail, which has its own instance of
 * the scheme. All rails take equal parts of every tensor; with `master` each has a GPU for its
 * master. Simplified: in PR and PN each GPU has a ring of its own, so a machine gets a share of a
 * contended link for each GPU. Here the GPUs of a rail use one instance of the scheme, which gets
 * one share.
 */
#ifndef INASIM_COLLECTIVE_MACHINE_H
#define INASIM_COLLECTIVE_MACHINE_H

#include "collective/machine_conf.h"
#include "collective/schemes.h"
#include "topo/topology.h"

enum inside { INSIDE_SCATTER, INSIDE_MASTER, INSIDE_RING, INSIDE_NVLS };

extern const char *const inside_names[]; /* for ENUM rows */

/* The scheme between machines and the stages around it; the first argument of
 * machine_collective.start(). */
struct machine_scheme {
	struct sim *sim;
	const struct topology *topo;
	const struct machine_conf *conf;
	struct scheme_run inner;
	uint32_t gpus;   /* of a machine that work for the job */
	sim_time launch; /* before each tensor */
	bps conversion;  /* before and after; 0: takes no time */
	enum inside inside;
	bytes chunk;        /* 0: stages do not overlap */
	bool before, after; /* which stages there are */
};

extern const struct collective_ops machine_collective;

#endif
