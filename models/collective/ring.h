/* The inside of "ring": for ring*.c alone.
 *
 *   ring.c       the steps of a rank
 *   ring_plan.c  a job as fluid streams */
#ifndef INASIM_COLLECTIVE_RING_H
#define INASIM_COLLECTIVE_RING_H

#include "collective/schedule.h"

extern const struct schedule_ops ring_ops;

/* Of a tensor: so many messages go over each edge. */
static inline uint32_t ring_steps(uint32_t ranks)
{
	return 2 * (ranks - 1);
}

/* --- ring_plan.c: the members of struct collective_ops --- */

void *ring_plan(void *scheme, const struct collective_job *job, struct stream_plan *plan,
		const char **never);

#endif
