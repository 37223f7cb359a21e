/* What a worker can tell a server of its results, while its window grows. */
#include "ina/esa/result_cache.h"

#include "core/rng.h"

#include <criterion/criterion.h>
#include <inttypes.h>

#define FRAME 300

static uint64_t value_of(uint64_t chunk)
{
	return ~chunk;
}

static struct window_conf conf_of(uint64_t packets, uint64_t more)
{
	return (struct window_conf){
		.initial = packets * FRAME,
		.increase = more * FRAME,
		.gap = 1000000,
		.rto = { .rule = RTO_ADAPTIVE, .first = PS_PER_S, .min = PS_PER_S },
		.max_rto = PS_PER_S,
	};
}

static void take(struct result_cache *cache, struct window *window, uint64_t chunk)
{
	cr_assert(window_result(window, chunk, false, 0));
	result_cache_put(cache, window, chunk, value_of(chunk));
}

/* A value is the right one or none; it is there if the chunk has a result and lies within the
 * ring of the window. Returns how many are there. */
static uint64_t check(const struct result_cache *cache, const struct window *window)
{
	uint64_t found = 0;

	for (uint64_t p = 0; p < window->next + 5; p++) {
		const uint64_t *value = result_cache_find(cache, window, p);

		found += value != NULL;
		if (value) {
			cr_assert(window_has(window, p), "chunk %" PRIu64 " has no result", p);
			cr_assert_eq(*value, value_of(p), "chunk %" PRIu64 " of %" PRIu64, p,
				     window->next);
		} else if (window_has(window, p)) {
			cr_assert(p < cache->from || window->next > p + cache->mask + 1,
				  "chunk %" PRIu64, p);
			cr_assert_gt(window->next, p + window->mask + 1, "chunk %" PRIu64, p);
		}
	}
	return found;
}

/* Results in any order, in windows from 100 packets to more than 1,024. */
Test(result_cache, growing_window)
{
	struct window_conf conf = conf_of(100, 30);
	struct result_cache cache = { 0 };
	struct window window;
	struct rng rng;

	rng_init(&rng, 1, "test", 0);
	window_init(&window, &conf, FRAME, 1);
	cr_expect_eq(check(&cache, &window), 0);
	for (unsigned step = 0; window.mask < 2047; step++) {
		uint64_t chunk;

		while (window_may_send(&window, UINT64_MAX))
			window_send(&window, 0);
		do
			chunk = window.first + rng_below(&rng, 80);
		while (window_has(&window, chunk));
		take(&cache, &window, chunk);
		if (step % 97 == 0)
			check(&cache, &window);
		cr_assert_lt(window.next, 100000);
	}
	cr_expect_gt(window.next, 15000);
	cr_expect_geq(check(&cache, &window), 1024);
	result_cache_release(&cache);
	window_release(&window);
}

/* Results that were overwritten stay lost after the cache has been widened: a window of 250
 * packets, a cache of 512, and 1,000 results in turn; then the window grows past 256. */
Test(result_cache, lost_chunks_stay_lost)
{
	struct window_conf conf = conf_of(250, 1);
	struct result_cache cache = { 0 };
	struct window window;
	uint64_t found;

	window_init(&window, &conf, FRAME, 1);
	while (window.mask < 256) {
		while (window_may_send(&window, UINT64_MAX))
			window_send(&window, 0);
		take(&cache, &window, window.first);
		cr_assert_lt(window.next, 10000);
	}
	cr_assert_gt(window.next, 1024);
	while (cache.mask < 512)
		take(&cache, &window, window.first);
	cr_expect_null(result_cache_find(&cache, &window, window.next - 513));
	cr_expect_null(result_cache_find(&cache, &window, window.next - 1023));
	found = check(&cache, &window);
	cr_expect_eq(found, 512 - (window.next - window.first));
	result_cache_release(&cache);
	window_release(&window);
}

/* A first window that is larger than the first cache. */
Test(result_cache, large_first_window)
{
	struct window_conf conf = conf_of(3000, 1);
	struct result_cache cache = { 0 };
	struct window window;

	window_init(&window, &conf, FRAME, 1);
	while (window_may_send(&window, UINT64_MAX))
		window_send(&window, 0);
	for (uint64_t p = 3000; p-- > 0;)
		take(&cache, &window, p);
	cr_expect_eq(check(&cache, &window), 3000);
	result_cache_release(&cache);
	window_release(&window);
}

/* The size is modelled: twice what the window holds. A window of exactly 256 packets, all in
 * flight, has a cache of 512 results, and one of 257 has 1,024. */
Test(result_cache, twice_the_window)
{
	for (uint64_t packets = 256; packets <= 257; packets++) {
		struct window_conf conf = conf_of(packets, 1);
		struct result_cache cache = { 0 };
		struct window window;

		window_init(&window, &conf, FRAME, 1);
		while (window_may_send(&window, UINT64_MAX))
			window_send(&window, 0);
		cr_assert_eq(window.next, packets);
		take(&cache, &window, 0);
		cr_expect_eq(cache.mask + 1, packets == 256 ? 512 : 1024);
		result_cache_release(&cache);
		window_release(&window);
	}
}

/* After a skip the cache is filled with what it would hold without the skip: the results that the
 * worker may be asked for, and no others. */
Test(result_cache, filled)
{
	struct window_conf conf = conf_of(100, 1);
	struct exact exact = { .key = 7, .sum = 12345 };

	for (uint64_t skipped = 1; skipped <= 10000; skipped = 3 * skipped + 1) {
		struct result_cache cache = { 0 };
		struct window window;
		uint64_t found = 0;

		window_init(&window, &conf, FRAME, 1);
		while (window_may_send(&window, UINT64_MAX))
			window_send(&window, 0);
		for (uint64_t p = 0; p < 20; p++) {
			cr_assert(window_result(&window, p, false, 0));
			result_cache_put(&cache, &window, p, exact.sum * exact_chunk(&exact, p));
		}
		window_results(&window, skipped);
		window.next += skipped;
		for (uint64_t p = window.first; p < window.next; p++)
			window.ring[p & window.mask].done = false; /* as a skip moves the ring */
		result_cache_fill(&cache, &window, &exact);
		for (uint64_t p = 0; p < window.next; p++) {
			const uint64_t *value = result_cache_find(&cache, &window, p);

			if (!value)
				continue;
			found++;
			cr_assert_eq(*value, exact.sum * exact_chunk(&exact, p),
				     "chunk %" PRIu64 " of %" PRIu64, p, window.next);
		}
		cr_expect_gt(found, window.first < 128 ? window.first - 1 : 127);
		result_cache_release(&cache);
		window_release(&window);
	}
}
