/* The exactly-once check of every sum, in every run.
 *
 * Each worker has a random odd 64-bit weight; the contribution of worker w to chunk c is
 * weight(w) * hash(job, c) modulo 2^64, the hash made odd. Packets that switches add carry these 8
 * bytes; schemes over connections keep them beside the streams. Switches and hosts add them as they
 * would add gradients. A result must be (sum of all weights) * hash(job, c), which reveals a lost,
 * doubled or misdirected contribution at once. */
#ifndef INASIM_COLLECTIVE_EXACT_H
#define INASIM_COLLECTIVE_EXACT_H

#include "base/hash.h"
#include "base/types.h"

#include <stdbool.h>
#include <stdint.h>

/* The checks of a run, for all jobs. */
struct checks {
	uint64_t exact_checked, exact_violations;
	uint64_t conservation_violations;
	char first[256]; /* the first violation: what, where, when */
};

/* Adds 1 to *counter. Keeps the text of the run's first violation. The caller stops the run. */
void checks_violated(struct checks *checks, uint64_t *counter, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

struct exact {
	uint64_t key;      /* of the job */
	uint64_t *weights; /* by worker */
	uint64_t sum;      /* of all weights */
	struct checks *checks;
};

void exact_init(struct exact *exact, struct checks *checks, uint64_t seed, uint32_t job,
		uint32_t workers);
void exact_release(struct exact *exact);

/* The factor of a chunk. It is odd, because exact_weight() needs its inverse modulo 2^64. */
static inline uint64_t exact_chunk(const struct exact *exact, uint64_t chunk)
{
	return hash_pair(exact->key, chunk) | 1;
}

static inline uint64_t exact_contribution(const struct exact *exact, uint32_t worker,
					  uint64_t chunk)
{
	return exact->weights[worker] * exact_chunk(exact, chunk);
}

/* Whether `value` is the sum of a chunk over workers whose weights add up to `weight`. */
static inline bool exact_holds_part(const struct exact *exact, uint64_t weight, uint64_t chunk,
				    uint64_t value)
{
	exact->checks->exact_checked++;
	return value == weight * exact_chunk(exact, chunk);
}

/* Whether `value` is the sum of a chunk over all workers. */
static inline bool exact_holds(const struct exact *exact, uint64_t chunk, uint64_t value)
{
	return exact_holds_part(exact, exact->sum, chunk, value);
}

/* The sum of the weights of the workers whose contributions `value` contains. */
uint64_t exact_weight(const struct exact *exact, uint64_t chunk, uint64_t value);

#endif
