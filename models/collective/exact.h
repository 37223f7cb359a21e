/* The exactly-once check: nothing is taken on trust.
 *
 * Each worker has a random odd 64-bit weight; the contribution of worker w to
 * chunk c is weight(w) * hash(job, c) modulo 2^64. Switches and hosts add
 * contributions as they would add gradients; 8 bytes ride in the packet. Whoever
 * holds a result compares it with (sum of all weights) * hash(job, c): a lost,
 * doubled or misdirected contribution is caught at once, in every run. */
#ifndef INASIM_COLLECTIVE_EXACT_H
#define INASIM_COLLECTIVE_EXACT_H

#include "base/hash.h"
#include "base/types.h"

#include <stdbool.h>
#include <stdint.h>

/* What a run has checked; one for all jobs. */
struct checks {
	uint64_t exact_checked, exact_violations;
	uint64_t conservation_violations;
	char first[256]; /* the first violation: what, where, when */
};

/* Notes a violation of either kind; the run should stop. */
void checks_violated(struct checks *checks, uint64_t *counter, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

struct exact {
	uint64_t key; /* of the job */
	uint64_t *weights;
	uint64_t sum;
	struct checks *checks;
};

void exact_init(struct exact *exact, struct checks *checks, uint64_t seed, uint32_t job,
		uint32_t workers);
void exact_release(struct exact *exact);

static inline uint64_t exact_contribution(const struct exact *exact, uint32_t worker,
					  uint64_t chunk)
{
	return exact->weights[worker] * hash_pair(exact->key, chunk);
}

/* The result of a chunk as a worker holds it. False after a violation. */
static inline bool exact_holds(const struct exact *exact, uint64_t chunk, uint64_t value)
{
	exact->checks->exact_checked++;
	return value == exact->sum * hash_pair(exact->key, chunk);
}

/* The same where only some workers are in it, whose weights add up to `weight`. */
static inline bool exact_holds_part(const struct exact *exact, uint64_t weight, uint64_t chunk,
				    uint64_t value)
{
	exact->checks->exact_checked++;
	return value == weight * hash_pair(exact->key, chunk);
}

#endif
