/* What a server has of each chunk: the sum so far and who is in it.
 *
 * The sums are in a ring, at least from the oldest chunk whose result a worker lacks to the newest
 * chunk. The servers of a job take turns by chunk, and each numbers its own chunks:
 * chunk = index * servers + server. */
#ifndef INASIM_INA_COMMON_PARTIAL_SUMS_H
#define INASIM_INA_COMMON_PARTIAL_SUMS_H

#include "ina/common/racks.h"

struct partial_sum {
	uint64_t index; /* of the chunk at this server */
	uint64_t value;
	uint32_t whole; /* inputs of level 1 with all their workers in the sum */
	uint32_t begun; /* racks with only some of their workers in the sum */
	uint32_t fresh; /* ATP: 1 + the chunk's new aggregator index; 0 = no new one */
	bool complete;
	bool marked;   /* a contribution had an ECN mark */
	bool collided; /* ATP: a packet had POOL_BYPASS */
	bool resent;   /* ATP: a contribution was retransmitted */
};

struct partial_sums {
	const struct racks *racks;
	struct partial_sum *ring; /* index i at [i & mask] */
	uint32_t *parts;          /* workers of rack r in sum i, at [(i & mask) * racks + r] */
	uint64_t mask;
	uint64_t end; /* all indices below have been entered */
};

void partial_sums_init(struct partial_sums *sums, const struct racks *racks);
void partial_sums_release(struct partial_sums *sums);

/* Moves each sum to the place of its index in a ring of `capacity` places. `capacity` is a power of
 * two, and not below the present one. */
void partial_sums_arrange(struct partial_sums *sums, uint64_t capacity);

/* Enters all indices from `end` to `index`. Sums below index `needed` may be overwritten. */
void partial_sums_reserve(struct partial_sums *sums, uint64_t index, uint64_t needed);

/* The sum of an index below `end`; NULL if it has been overwritten. */
static inline struct partial_sum *partial_sums_find(const struct partial_sums *sums, uint64_t index)
{
	struct partial_sum *sum = &sums->ring[index & sums->mask];

	return sum->index == index ? sum : NULL;
}

/* How many of a set of contributors a sum has already. */
enum presence {
	PRESENT_NONE, /* none of them is in */
	PRESENT_SOME, /* some are in, some are not */
	PRESENT_ALL,  /* all are in */
};
enum presence partial_sums_compare(const struct partial_sums *sums, const struct partial_sum *sum,
				   struct bitmap contributors);

/* Whether the contributors stand for all workers of the job. */
static inline bool partial_sums_is_all(const struct partial_sums *sums, struct bitmap contributors)
{
	return contributors.rack == RACK_NONE && contributors.bits == sums->racks->all;
}

/* Adds contributors and their value. Returns false, and does nothing, if any of them is in. */
bool partial_sums_add(struct partial_sums *sums, struct partial_sum *sum,
		      struct bitmap contributors, uint64_t value);

#endif
