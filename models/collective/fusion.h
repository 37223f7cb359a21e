/* Tensor fusion by time, as in Horovod (docs/tensor-fusion.rst).
 *
 * At the end of each cycle (HOROVOD_CYCLE_TIME) the tensors that are ready at all workers go to the
 * scheme, in their order. A buffer takes as many as fit (HOROVOD_FUSION_THRESHOLD); a larger tensor
 * goes alone. Cycles are the same at all workers and begin with the job. Coordination and copies
 * take no time. dnn_fuse() is fusion by size alone, as in PyTorch DDP. */
#ifndef INASIM_COLLECTIVE_FUSION_H
#define INASIM_COLLECTIVE_FUSION_H

#include "collective/collective.h"

/* Replaces done() and owner of *job. The caller then starts an instance with *job and calls
 * fusion_open() before anything else. The caller frees the fusion and finishes the instance. */
struct fusion *fusion_new(const struct network *net, struct collective_job *job, sim_time cycle,
			  bytes buffer);
void fusion_open(struct fusion *fusion, const struct collective_ops *ops, void *instance);
void fusion_free(struct fusion *fusion); /* NULL: nothing */

/* Called in place of the scheme's hint() and contribute(). All buffers of a cycle get the hint of
 * the cycle's first tensor, from the worker that gave it last. */
void fusion_hint(struct fusion *fusion, uint32_t worker, const struct collective_hint *hint);
void fusion_contribute(struct fusion *fusion, uint32_t worker, bytes size);

#endif
