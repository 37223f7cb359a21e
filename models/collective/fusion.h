/* Fusion buffers by time, before a scheme: every so often, what is ready is handed over together.
 *
 * As Horovod (docs/tensor-fusion.rst): a cycle of HOROVOD_CYCLE_TIME, and at its end all tensors
 * that are ready at all workers go out in their order, as many in a buffer as fit into
 * HOROVOD_FUSION_THRESHOLD; a larger tensor goes alone. All workers have their cycles at the same
 * times, counted from the start of the job, and what they tell each other takes no time; nor do
 * copies into buffers and out of them. Fusion by size alone, as PyTorch DDP's buckets, is of the
 * network: dnn_fuse(). */
#ifndef INASIM_COLLECTIVE_FUSION_H
#define INASIM_COLLECTIVE_FUSION_H

#include "collective/collective.h"

/* Takes the place of the owner in *job, with which the scheme is to start an instance; then
 * fusion_open() before anything else. The caller frees, the instance too. */
struct fusion *fusion_new(struct sim *sim, struct collective_job *job, sim_time cycle,
			  bytes buffer);
void fusion_open(struct fusion *fusion, const struct collective_ops *ops, void *instance);
void fusion_free(struct fusion *fusion); /* NULL: nothing */

/* In place of those of the scheme. Of the tensors of a cycle it hears what the last worker says of
 * the first. */
void fusion_hint(struct fusion *fusion, uint32_t worker, const struct collective_hint *hint);
void fusion_contribute(struct fusion *fusion, uint32_t worker, bytes size);

#endif
