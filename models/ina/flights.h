/* Packets on their way to where they meet others, in the order of time: for the replay of ATP
 * (atp_replay.h). A binary heap; of equal times a hash decides, as among events (core/equeue.h), so
 * that no link is first for ever. */
#ifndef INASIM_INA_FLIGHTS_H
#define INASIM_INA_FLIGHTS_H

#include "base/types.h"

#include <stdbool.h>
#include <stddef.h>

/* Packets of a group of workers and a piece, one behind the other. */
struct flight {
	sim_time first, last; /* arrivals */
	uint64_t piece;
	uint32_t group, packets;
	uint32_t stop; /* of a result: the switch that it comes to */
	uint32_t from; /* the egress port that they come from: equal times are told apart by it */
	uint8_t hop;   /* links of the group's way to the server that are behind them; of a result:
			* by which branch it leaves */
	bool marked;
	bool again; /* sent again */
	bool alone; /* not added at level 0, so nowhere before the server */
	bool down;  /* a result */
	bool more;  /* others of the group and the piece follow */
};

struct flights {
	struct flight *heap; /* owned */
	size_t count, capacity;
};

void flights_push(struct flights *flights, const struct flight *flight);

/* The one that comes first; there must be one. */
struct flight flights_pop(struct flights *flights);

/* When it comes; SIM_TIME_MAX when there is none. */
static inline sim_time flights_next(const struct flights *flights)
{
	return flights->count ? flights->heap[0].first : SIM_TIME_MAX;
}

void flights_release(struct flights *flights);

#endif
