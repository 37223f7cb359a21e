#include "collective/exact.h"

#include "base/mem.h"
#include "core/rng.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void checks_violated(struct checks *checks, uint64_t *counter, const char *fmt, ...)
{
	va_list args;

	if ((*counter)++ || checks->first[0])
		return;
	va_start(args, fmt);
	vsnprintf(checks->first, sizeof(checks->first), fmt, args);
	va_end(args);
}

void exact_init(struct exact *exact, struct checks *checks, uint64_t seed, uint32_t job,
		uint32_t workers)
{
	struct rng rng;

	rng_init(&rng, seed, "exactly once", job);
	*exact = (struct exact){ .key = rng_u64(&rng), .checks = checks };
	exact->weights = xcalloc(workers, sizeof(*exact->weights));
	for (uint32_t w = 0; w < workers; w++) {
		exact->weights[w] = rng_u64(&rng) | 1; /* odd: no contribution can vanish */
		exact->sum += exact->weights[w];
	}
}

void exact_release(struct exact *exact)
{
	free(exact->weights);
	exact->weights = NULL;
}

/* Newton's iteration for 1 / x modulo 2^64, x odd. The start, x, is right in the lowest 3 bits;
 * each step doubles the number of right bits. */
static uint64_t inverse(uint64_t x)
{
	uint64_t y = x;

	for (int bits = 3; bits < 64; bits *= 2)
		y *= 2 - x * y;
	return y;
}

uint64_t exact_weight(const struct exact *exact, uint64_t chunk, uint64_t value)
{
	return value * inverse(exact_chunk(exact, chunk));
}
