/* The aggregators of a switch under ATP and ESA: one array for all jobs of the scheme. A chunk
 * takes a free aggregator when its first packet comes. Workers choose the index by job and chunk
 * (pool_index()), so two chunks may collide. The scheme decides what happens then. */
#ifndef INASIM_INA_COMMON_AGGREGATORS_H
#define INASIM_INA_COMMON_AGGREGATORS_H

#include "collective/collective.h"
#include "ina/common/racks.h"

#define AGGREGATORS_MAX 65536 /* the header's index has 16 bits (ATP) */

struct aggregator {
	uint64_t value;
	sim_time since;    /* when it was taken */
	uint32_t owner;    /* 0 if free, else 1 + number of the job in the scheme */
	uint32_t chunk;    /* low 32 bits */
	uint32_t bits;     /* contributors in the sum, as in struct bitmap */
	uint8_t rack;      /* as in struct bitmap */
	uint8_t priority;  /* ESA */
	uint8_t server;    /* number of the owner's server for this chunk */
	bool marked : 1;   /* a contribution had an ECN mark */
	bool complete : 1; /* ATP: the sum has left; kept until its result passes */
};

struct aggregators {
	struct aggregator *slots; /* NULL until a job comes */
	uint32_t count;
	uint32_t value_bytes; /* memory of one aggregator */
	sim_time idle_limit;  /* see aggregators_is_idle(); 0 = no garbage collection */
	sim_time *touched;    /* by slot: when last used; NULL without garbage collection */
	struct collective_memory *memory;
	struct holding_times *times; /* how long aggregators are held */
	uint32_t user; /* for pool_repeat(): 1 + number of a job that sends here; 0 = none */
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

/* Gives a free aggregator an owner. The caller sets the sum. */
void aggregators_take(struct aggregators *pool, struct aggregator *a, uint32_t job, uint32_t chunk,
		      sim_time now);
void aggregators_free(struct aggregators *pool, struct aggregator *a, sim_time now);

/* Counts by cause that a packet of `job` has found the aggregator taken by another chunk. */
void aggregators_collision(struct aggregators *pool, const struct aggregator *a, uint32_t job);

/* Whether the owner has sent nothing here for longer than idle_limit. */
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

/* --- index of a chunk: CRC-32 of (job, chunk, salt) modulo the number of aggregators --- */

/* Tables for four bytes at a time; polynomial 0xEDB88320, reflected (IEEE 802.3). */
struct crc32 {
	uint32_t table[4][256];
};
void crc32_init(struct crc32 *crc);

/* The hash of ATP's public code, over the bytes of job, chunk and salt, each low byte first. ATP's
 * code takes two bytes of the chunk number. Here all four go in, because chunks are counted for the
 * life of the job. ATP's code also takes the low 16 bits of the hash, modulo the aggregators, and
 * so prefers low indices: of 20,000 the first 5,536 are a third more likely. Here all 32 bits
 * count. */
uint32_t aggregators_hash(const struct crc32 *crc, uint16_t job, uint32_t chunk, uint16_t salt);

#endif
