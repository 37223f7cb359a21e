/* Named random streams.
 *
 * One stream per purpose and entity ("arrivals" of generator 3, "loss" of port
 * 17), each seeded from (run seed, name, id): adding a consumer never shifts the
 * draws of another, and schemes are compared on common random numbers.
 *
 * The generator is xoshiro256** (Blackman and Vigna, 2018). It is also
 * registered as a gsl_rng_type, so that every gsl_ran_*() works on a stream.
 * Code that decides simulated times draws only with the functions below. They use
 * only the basic operations of IEEE 754, which give the same bits on every
 * platform, unlike log() of a C library. */
#ifndef INASIM_CORE_RNG_H
#define INASIM_CORE_RNG_H

#include "base/types.h"

#include <gsl/gsl_rng.h>

struct rng {
	uint64_t s[4];
};

void rng_init(struct rng *rng, uint64_t seed, const char *name, uint64_t id);

static inline uint64_t rng_u64(struct rng *rng)
{
	uint64_t *s = rng->s;
	uint64_t x = s[1] * 5;
	uint64_t result = ((x << 7) | (x >> 57)) * 9;
	uint64_t t = s[1] << 17;

	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = (s[3] << 45) | (s[3] >> 19);
	return result;
}

/* Uniform in [0, 1), 53 bits. */
static inline double rng_unit(struct rng *rng)
{
	return (double)(rng_u64(rng) >> 11) * 0x1p-53;
}

/* Uniform in 0..n-1, n >= 1, without bias (Lemire, TOMACS 2019). */
uint64_t rng_below(struct rng *rng, uint64_t n);

/* Exponential variate with mean 1. */
double rng_exponential(struct rng *rng);

/* `from` plus an exponential variate with mean `mean_ps`, at least 1 ps. The result is at most
 * 2^63 + 1 ps, which is beyond the end of any run, so that no sum overflows. */
sim_time rng_after(struct rng *rng, sim_time from, double mean_ps);

/* Standard normal variate (polar method). */
double rng_normal(struct rng *rng);

/* Fisher-Yates shuffle of an array of indices. */
void rng_shuffle(struct rng *rng, uint32_t *items, size_t count);

/* A GSL view of a stream; valid while the stream lives, shares its state. */
gsl_rng rng_gsl(struct rng *rng);

/* Natural logarithm from the four basic operations only: the same bits
 * everywhere, within 2 units in the last place. x is positive and normal. */
double portable_log(double x);

/* The threshold for which rng_u64() < threshold has this probability, up to 2^-64. */
uint64_t rng_threshold(double probability);

#endif
