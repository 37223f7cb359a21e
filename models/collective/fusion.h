/* Fusion buffers by time: once a cycle, all tensors that are ready go to the scheme together.
 *
 * As in Horovod (docs/tensor-fusion.rst): at the end of each cycle (HOROVOD_CYCLE_TIME) the tensors
 * that are ready at all workers go out in their order, as many in a buffer as fit
 * (HOROVOD_FUSION_THRESHOLD); a larger tensor goes alone. The cycles of all workers end at the same
 * times, counted from the start of the job. Coordination takes no time, nor do copies into buffers
 * and out of them. dnn_fuse() is fusion by size alone, as PyTorch DDP's buckets. */
#ifndef INASIM_COLLECTIVE_FUSION_H
#define INASIM_COLLECTIVE_FUSION_H

#include "collective/collective.h"

/* Becomes the owner in *job. Then the caller starts an instance with *job and calls
 * fusion_open() before anything else. The caller frees both. */
struct fusion *fusion_new(struct sim *sim, struct collective_job *job, sim_time cycle,
			  bytes buffer);
void fusion_open(struct fusion *fusion, const struct collective_ops *ops, void *instance);
void fusion_free(struct fusion *fusion); /* NULL: nothing */

/* Called in place of the scheme's hint() and contribute(). All buffers of a cycle have one hint:
 * that of the first tensor, from the worker that gave it last. */
void fusion_hint(struct fusion *fusion, uint32_t worker, const struct collective_hint *hint);
void fusion_contribute(struct fusion *fusion, uint32_t worker, bytes size);

#endif
