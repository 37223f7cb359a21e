/* Collectives other than all-reduce, as schedules (schedule.h): for jobs that shard their
 * parameters (ZeRO, FSDP), route tokens to experts, or are pipelines.
 *
 *   reduce_scatter  the first half of a ring all-reduce: each rank ends with the sum of one piece
 *   all_gather      the second half of a ring all-reduce: every rank gets the pieces of all ranks
 *   point_to_point  the first of two workers sends, the second receives
 *   broadcast       along the ring from worker 0, piece by piece of CHAIN_CHUNK (NCCL's ring:
 *                   BROADCAST_CHUNKSTEPS is 1, an eighth of a buffer of 4 MiB)
 *   reduce          along the ring to worker 0, each rank adding its own, by the same pieces
 *   gather          each worker sends worker 0 its part, all at once
 *   scatter         worker 0 sends each worker its part
 *
 * On non-blocking links a collective takes the time of (n - 1) / n of a tensor's bytes at the rate
 * of a link, a point_to_point the time of the whole tensor (inasim formula reduce_scatter,
 * all_to_all); a gather and a scatter that of (n - 1) / n of it, a broadcast and a reduce that of
 * the tensor and n - 2 pieces.
 *
 * A worker takes part once it has called contribute(), even if it only receives. The tables
 * below have only the members that a running job calls. start() takes a scheme from schedule_open()
 * with the ring's parameters, and never fails. */
#ifndef INASIM_COLLECTIVE_STEPS_H
#define INASIM_COLLECTIVE_STEPS_H

#include "collective/schedule.h"

#define CHAIN_CHUNK (UINT64_C(512) * 1024)

extern const struct collective_ops reduce_scatter_collective, all_gather_collective,
	point_to_point_collective, broadcast_collective, reduce_collective, gather_collective,
	scatter_collective;

/* Of a reduce-scatter on hosts or in switches (collective_ops.injected): each worker sends all of
 * its gradients but its own part. */
double reduce_scatter_injected(uint32_t workers, uint32_t gpus, bool beside);

#endif
