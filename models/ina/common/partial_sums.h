/* What a server has of each chunk: the sum so far and who is in it.
 *
 * A ring by chunk, which holds all from the oldest that a worker still lacks to the newest. A later
 * chunk takes the place of one whose result all workers hold. Several servers of a job take turns
 * by chunk, and each numbers its own chunks: chunk = index * servers + server. */
#ifndef INASIM_INA_COMMON_PARTIAL_SUMS_H
#define INASIM_INA_COMMON_PARTIAL_SUMS_H

#include "ina/common/racks.h"

struct partial_sum {
	uint64_t index; /* of the chunk at this server */
	uint64_t value;
	uint32_t whole; /* inputs of level 1 that are in with all their workers */
	uint32_t begun; /* racks that are in with only some of their workers */
	uint32_t fresh; /* ATP: 1 + the new aggregator index of its position; 0 = none */
	bool complete;
	bool marked;   /* a contribution had an ECN mark */
	bool collided; /* a contribution had lost an aggregator to another owner */
	bool resent;   /* ATP: a contribution was sent again */
};

struct partial_sums {
	const struct racks *racks;
	struct partial_sum *ring; /* index i at [i & mask] */
	uint32_t *parts;          /* bits of rack r in chunk i, at [(i & mask) * racks + r] */
	uint64_t mask;
	uint64_t end; /* indices below have been seen or skipped */
};

void partial_sums_init(struct partial_sums *sums, const struct racks *racks);
void partial_sums_release(struct partial_sums *sums);

/* Moves each sum to the place of its index in a ring of `capacity` places, a power of two and no
 * fewer than now. */
void partial_sums_arrange(struct partial_sums *sums, uint64_t capacity);

/* Makes room up to `index` >= end; chunks below `needed` may be forgotten. */
void partial_sums_reserve(struct partial_sums *sums, uint64_t index, uint64_t needed);

/* The entry of a chunk below `end`; NULL when it is long over and forgotten. */
static inline struct partial_sum *partial_sums_find(const struct partial_sums *sums, uint64_t index)
{
	struct partial_sum *sum = &sums->ring[index & sums->mask];

	return sum->index == index ? sum : NULL;
}

/* How contributors compare with those that are in already. */
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

/* Adds contributors if none of them is in; else false, and nothing is done. */
bool partial_sums_add(struct partial_sums *sums, struct partial_sum *sum,
		      struct bitmap contributors, uint64_t value);

#endif
