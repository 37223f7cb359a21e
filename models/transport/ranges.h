/* The bytes that a receiver has beyond a hole: a sorted list of intervals. It is empty unless
 * packets were lost, so it may allocate. */
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

/* Bytes of all intervals. */
uint64_t ranges_bytes(const struct ranges *ranges);

/* Everything below `next` has come. Drops the intervals that are joined to that without a hole, and
 * returns where the first hole begins. */
uint64_t ranges_advance(struct ranges *ranges, uint64_t next);

#endif
