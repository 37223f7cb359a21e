#include "ina/common/aggregators.h"

#include "base/mem.h"

#include <stdlib.h>

void aggregators_init(struct aggregators *pool, struct collective_memory *memory,
		      uint32_t value_bytes, sim_time idle_limit)
{
	*pool = (struct aggregators){ .count = (uint32_t)(memory->memory_bytes / value_bytes),
				      .value_bytes = value_bytes,
				      .idle_limit = idle_limit,
				      .memory = memory };
}

void aggregators_release(struct aggregators *pool)
{
	free(pool->slots);
	free(pool->touched);
	free(pool->times);
}

void aggregators_open(struct aggregators *pool)
{
	if (pool->slots)
		return;
	pool->slots = xaligned(64, pool->count * sizeof(*pool->slots));
	pool->times = xcalloc(1, sizeof(*pool->times));
	pool->memory->held = pool->times;
	if (pool->idle_limit)
		pool->touched = xcalloc(pool->count, sizeof(*pool->touched));
}

void aggregators_take(struct aggregators *pool, struct aggregator *a, uint32_t job, uint32_t chunk,
		      sim_time now)
{
	*a = (struct aggregator){ .owner = job + 1, .chunk = chunk, .since = now };
	collective_reserve(pool->memory, now, pool->value_bytes);
	aggregators_touch(pool, a, now);
}

void aggregators_free(struct aggregators *pool, struct aggregator *a, sim_time now)
{
	SIM_BUG_ON(!a->owner);
	a->owner = 0;
	holding_times_add(pool->times, now - a->since);
	collective_reserve(pool->memory, now, -(int64_t)pool->value_bytes);
}

void aggregators_collision(struct aggregators *pool, const struct aggregator *a, uint32_t job)
{
	struct collective_stats *stats = &pool->memory->stats;

	stats->collisions++;
	if (a->owner == job + 1)
		stats->collisions_own++;
	else if (a->complete)
		stats->collisions_complete++;
	else
		stats->collisions_waiting++;
}

/* --- the hash --- */

void crc32_init(struct crc32 *crc)
{
	for (uint32_t i = 0; i < 256; i++) {
		uint32_t value = i;

		for (int bit = 0; bit < 8; bit++)
			value = value >> 1 ^ (value & 1 ? UINT32_C(0xedb88320) : 0);
		crc->table[0][i] = value;
	}
	for (uint32_t i = 0; i < 256; i++)
		for (int t = 1; t < 4; t++)
			crc->table[t][i] = crc->table[t - 1][i] >> 8 ^
					   crc->table[0][crc->table[t - 1][i] & 0xff];
}

/* Takes in four bytes, the lowest first. */
static uint32_t crc32_word(const struct crc32 *crc, uint32_t state, uint32_t word)
{
	state ^= word;
	return crc->table[3][state & 0xff] ^ crc->table[2][state >> 8 & 0xff] ^
	       crc->table[1][state >> 16 & 0xff] ^ crc->table[0][state >> 24];
}

uint32_t aggregators_hash(const struct crc32 *crc, uint16_t job, uint32_t chunk, uint16_t salt)
{
	uint32_t low = (uint32_t)job | chunk << 16, high = chunk >> 16 | (uint32_t)salt << 16;

	return ~crc32_word(crc, crc32_word(crc, UINT32_MAX, low), high);
}
