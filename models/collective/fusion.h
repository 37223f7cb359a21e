/* Fusion buffers by time: every so often, what is ready is handed over together.
 *
 * As Horovod (docs/tensor-fusion.rst): a cycle of HOROVOD_CYCLE_TIME, and at its end all tensors
 * that are ready at all workers go out in their order, as many in a buffer as fit into
 * HOROVOD_FUSION_THRESHOLD; a larger tensor goes alone. All workers have their cycles at the same
 * times, counted from the start of the job, and what they tell each other takes no time; nor do
 * copies into buffers and out of them. Fusion by size alone, as PyTorch DDP's buckets, is of the
 * network: dnn_fuse(). */
#ifndef INASIM_COLLECTIVE_FUSION_H
#define INASIM_COLLECTIVE_FUSION_H

#include "collective/schemes.h"

/* What start() of fusion_collective takes: a scheme with buffers before it. */
struct fusion_scheme {
	struct sim *sim;
	struct scheme_run inner;
	sim_time cycle;
	bytes buffer;
};

extern const struct collective_ops fusion_collective;

#endif
