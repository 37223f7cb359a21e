/* The aggregators of a switch under ATP and ESA: one array for all jobs of the scheme, first come
 * first served. Workers choose the place by job and chunk (pool_index()), so two owners may
 * collide; what happens then is the scheme's business. */
#ifndef INASIM_INA_COMMON_AGGREGATORS_H
#define INASIM_INA_COMMON_AGGREGATORS_H

#include "collective/collective.h"
#include "ina/common/racks.h"

#define AGGREGATORS_MAX 65536 /* the header's index has 16 bits (ATP) */

struct aggregator {
	uint64_t value;
	sim_time since; /* when it was taken */
	uint32_t owner; /* number of the job in the scheme + 1; 0 = free */
	uint32_t chunk; /* low 32 bits */
	uint32_t bits;  /* contributors in the sum, of the level that `rack` names */
	uint8_t rack;
	uint8_t priority;  /* ESA */
	uint8_t server;    /* number of the owner's server for this chunk */
	bool marked : 1;   /* a contribution had an ECN mark */
	bool complete : 1; /* ATP: the sum is on its way to the server, the place is kept */
};

struct aggregators {
	struct aggregator *slots; /* NULL until a job comes */
	uint32_t count;
	uint32_t value_bytes; /* memory of one aggregator */
	sim_time idle_limit;  /* garbage collection; 0 = off */
	sim_time *touched;    /* by slot: when last used; NULL without garbage collection */
	struct collective_memory *memory;
	struct holding_times *times; /* how long aggregators are held */
	uint32_t user; /* 1 + a job that sends to this switch, 0 = none; for pool_repeat() alone */
};

void aggregators_init(struct aggregators *pool, struct collective_memory *memory,
		      uint32_t value_bytes, sim_time idle_limit);
void aggregators_release(struct aggregators *pool);

/* Allocates the array, at the first job that uses this switch. */
void aggregators_open(struct aggregators *pool);

static inline bool aggregator_is(const struct aggregator *a, uint32_t job, uint32_t chunk)
{
	return a->owner == job + 1 && a->chunk == chunk;
}

/* Gives a free aggregator an owner; the caller sets what it holds. */
void aggregators_take(struct aggregators *pool, struct aggregator *a, uint32_t job, uint32_t chunk,
		      sim_time now);
void aggregators_free(struct aggregators *pool, struct aggregator *a, sim_time now);

/* Counts a packet of `job` that met another owner, by reason. */
void aggregators_collision(struct aggregators *pool, const struct aggregator *a, uint32_t job);

/* Whether the owner has not been heard of for longer than the limit. */
static inline bool aggregators_is_idle(const struct aggregators *pool, const struct aggregator *a,
				       sim_time now)
{
	return pool->touched && now - pool->touched[a - pool->slots] > pool->idle_limit;
}

static inline void aggregators_touch(struct aggregators *pool, const struct aggregator *a,
				     sim_time now)
{
	if (pool->touched)
		pool->touched[a - pool->slots] = now;
}

/* --- index of a chunk: CRC-32 of (job, chunk) modulo the number of aggregators --- */

/* Tables for four bytes at a time; polynomial 0xEDB88320, reflected (IEEE 802.3). */
struct crc32 {
	uint32_t table[4][256];
};
void crc32_init(struct crc32 *crc);

/* The hash of ATP's public code, over {low and high byte of the job; chunk; low and high byte of
 * the salt}. Here all four bytes of the chunk number go in instead of two, because chunks are
 * counted for the life of the job. */
uint32_t aggregators_hash(const struct crc32 *crc, uint16_t job, uint32_t chunk, uint16_t salt);

#endif
