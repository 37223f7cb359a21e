/* The results that a worker has had lately, so that a server can ask it for one that a peer has
 * missed (ESA, section 5.3, case 2: as many as the window holds; here twice that).
 *
 * A ring by chunk, in which a later chunk takes the place of an earlier one. What is overwritten
 * stays lost when the ring is widened: `from` is the oldest chunk that can still be there.
 *
 *     ... overwritten | from  (results, or chunks that have none yet)  next ) */
#ifndef INASIM_INA_ESA_RESULT_CACHE_H
#define INASIM_INA_ESA_RESULT_CACHE_H

#include "collective/exact.h"
#include "ina/common/window.h"

struct result_cache {
	uint64_t *values; /* of chunk p at [p & mask]; NULL before the first */
	uint64_t mask;
	uint64_t from; /* results of chunks below were not kept when the ring was last widened */
};

/* For result_cache_put() alone. */
void result_cache_widen(struct result_cache *cache, const struct window *window);

/* The result of a chunk that the window has just taken. */
static inline void result_cache_put(struct result_cache *cache, const struct window *window,
				    uint64_t chunk, uint64_t value)
{
	if (__builtin_expect(cache->mask < 2 * window->mask, 0)) /* not twice the places */
		result_cache_widen(cache, window);
	cache->values[chunk & cache->mask] = value;
}

/* Puts in the results that the cache would have if the window had not skipped any chunk. */
void result_cache_fill(struct result_cache *cache, const struct window *window,
		       const struct exact *exact);

/* The result of a chunk; NULL: the worker does not hold it. Valid until the next
 * result_cache_put(). */
const uint64_t *result_cache_find(const struct result_cache *cache, const struct window *window,
				  uint64_t chunk);

void result_cache_release(struct result_cache *cache);

#endif
