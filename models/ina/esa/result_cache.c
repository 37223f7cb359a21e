#include "ina/esa/result_cache.h"

#include "base/ring.h"

#include <stdlib.h>

/* Makes room for two windows. Chunks below `from` are lost. */
void result_cache_widen(struct result_cache *cache, const struct window *window)
{
	uint64_t places = cache->mask + 1;

	if (cache->values && window->next > places)
		cache->from = window->next - places;
	cache->values = ring_widen(cache->values, &cache->mask, cache->from,
				   cache->from + 2 * window->mask + 1, sizeof(*cache->values));
}

const uint64_t *result_cache_find(const struct result_cache *cache, const struct window *window,
				  uint64_t chunk)
{
	if (!window_has(window, chunk) || chunk < cache->from ||
	    chunk + cache->mask + 1 < window->next)
		return NULL;
	return &cache->values[chunk & cache->mask];
}

void result_cache_fill(struct result_cache *cache, const struct window *window,
		       const struct exact *exact)
{
	uint64_t places = cache->values ? cache->mask + 1 : 0;

	for (uint64_t c = window->first < places ? 0 : window->first - places; c < window->first;
	     c++)
		cache->values[c & cache->mask] = exact->sum * exact_chunk(exact, c);
}

void result_cache_release(struct result_cache *cache)
{
	free(cache->values);
}
