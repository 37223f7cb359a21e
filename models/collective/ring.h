/* Functions of ring.c that steps.c uses for the two halves of a ring. */
#ifndef INASIM_COLLECTIVE_RING_H
#define INASIM_COLLECTIVE_RING_H

#include "collective/schedule.h"

/* Members of struct schedule_ops. Edge r begins at rank r; there are as many pieces as ranks. */
uint32_t ring_edges(const struct schedule *ring);
bool ring_ends(const struct schedule *ring, uint32_t edge, struct schedule_ends *ends);
uint32_t ring_pieces(const struct schedule *ring, bytes size);
bool ring_step(const struct schedule *ring, uint32_t rank, unsigned thread, uint64_t i,
	       uint32_t pieces, struct schedule_step *step);

/* Messages of a tensor over each edge: half in reduce-scatter, half in all-gather. */
static inline uint32_t ring_steps(uint32_t ranks)
{
	return 2 * (ranks - 1);
}

#endif
