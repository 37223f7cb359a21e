/* The bytes that a receiver has beyond a hole: a sorted list of intervals. Intervals exist only
 * after a loss, so allocation is rare. */
#ifndef INASIM_TRANSPORT_RANGES_H
#define INASIM_TRANSPORT_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct range {
	uint64_t begin, end; /* [begin, end) */
};

struct ranges {
	struct range *items; /* disjoint, not touching, ascending */
	size_t count, capacity;
};

void ranges_release(struct ranges *ranges);

static inline bool ranges_empty(const struct ranges *ranges)
{
	return ranges->count == 0;
}

static inline void ranges_clear(struct ranges *ranges)
{
	ranges->count = 0;
}

/* Adds [begin, end), merging what overlaps or touches. */
void ranges_add(struct ranges *ranges, uint64_t begin, uint64_t end);

/* Whether the byte at `at` is in one of them. */
bool ranges_hold(const struct ranges *ranges, uint64_t at);

/* Call when all bytes below `next` have come. Drops the intervals that continue them without a
 * hole, and returns the beginning of the first hole. */
uint64_t ranges_advance(struct ranges *ranges, uint64_t next);

#endif
