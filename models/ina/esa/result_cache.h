/* The latest results of a worker, for a server that asks for a result which a peer has missed (ESA,
 * section 5.3, case 2). The paper keeps as many results as the window holds; here there are at
 * least twice as many.
 *
 * The results are in a ring by chunk, in which later chunks overwrite earlier ones. The oldest
 * chunk that can still be there is `from`, or window->next less the ring's places if that is later.
 *
 *     ... overwritten | oldest  (results, or chunks that have none yet)  next ) */
#ifndef INASIM_INA_ESA_RESULT_CACHE_H
#define INASIM_INA_ESA_RESULT_CACHE_H

#include "collective/exact.h"
#include "ina/common/window.h"

struct result_cache {
	uint64_t *values; /* of chunk p at [p & mask]; NULL before the first */
	uint64_t mask;
	uint64_t from; /* the last widening found results of chunks below overwritten */
};

/* For result_cache_put() alone. */
void result_cache_widen(struct result_cache *cache, const struct window *window);

/* Keeps the result of a chunk that the window has just taken. */
static inline void result_cache_put(struct result_cache *cache, const struct window *window,
				    uint64_t chunk, uint64_t value)
{
	if (__builtin_expect(cache->mask < 2 * window->mask, 0)) /* less than twice the places */
		result_cache_widen(cache, window);
	cache->values[chunk & cache->mask] = value;
}

/* After a skip (core/repeat.h): fills all places with the results of the chunks before
 * window->first. No later chunk has a result then. */
void result_cache_fill(struct result_cache *cache, const struct window *window,
		       const struct exact *exact);

/* The result of a chunk; NULL if the cache does not have it. Valid until the next
 * result_cache_put(). */
const uint64_t *result_cache_find(const struct result_cache *cache, const struct window *window,
				  uint64_t chunk);

void result_cache_release(struct result_cache *cache);

#endif
