#include "core/rng.h"

#include "base/hash.h"

#include <math.h>

void rng_init(struct rng *rng, uint64_t seed, const char *name, uint64_t id)
{
	uint64_t state = hash_pair(hash_pair(seed, hash_string(name)), id);

	for (int i = 0; i < 4; i++) {
		state += UINT64_C(0x9e3779b97f4a7c15);
		rng->s[i] = hash_mix(state);
	}
	/* all zeros is the one state that xoshiro never leaves */
	if (!(rng->s[0] | rng->s[1] | rng->s[2] | rng->s[3]))
		rng->s[0] = 1;
}

uint64_t rng_below(struct rng *rng, uint64_t n)
{
	unsigned __int128 product = (unsigned __int128)rng_u64(rng) * n;
	uint64_t low = (uint64_t)product;

	if (low < n) {
		uint64_t unfair = -n % n;

		while (low < unfair) {
			product = (unsigned __int128)rng_u64(rng) * n;
			low = (uint64_t)product;
		}
	}
	return (uint64_t)(product >> 64);
}

double portable_log(double x)
{
	int exponent;
	double m = frexp(x, &exponent); /* exact, m in [0.5, 1) */
	double s, s2, sum;

	if (m < 0.70710678118654752440) {
		m *= 2;
		exponent--;
	}
	/* log m = 2 artanh((m-1)/(m+1)); |s| <= 0.1716, so s^21 is below 1e-16 */
	s = (m - 1) / (m + 1);
	s2 = s * s;
	sum = 0;
	for (int k = 21; k >= 3; k -= 2)
		sum = (sum + 1.0 / k) * s2;
	/* ln 2 in two parts: the first has so few bits that its product is exact */
	return exponent * 6.93147180369123816490e-01 +
	       (2 * (s + s * sum) + exponent * 1.90821492927058770002e-10);
}

double rng_exponential(struct rng *rng)
{
	return -portable_log(1.0 - rng_unit(rng));
}

sim_time rng_after(struct rng *rng, sim_time from, double mean_ps)
{
	double gap = rng_exponential(rng) * mean_ps;

	if ((double)from + gap > 0x1p63)
		return UINT64_C(1) << 63; /* ps: 106 days */
	return from + (sim_time)gap + 1;
}

double rng_normal(struct rng *rng)
{
	double u, v, s;

	do {
		u = 2 * rng_unit(rng) - 1;
		v = 2 * rng_unit(rng) - 1;
		s = u * u + v * v;
	} while (s >= 1 || s == 0);
	return u * sqrt(-2 * portable_log(s) / s); /* IEEE 754 rounds sqrt correctly everywhere */
}

void rng_shuffle(struct rng *rng, uint32_t *items, size_t count)
{
	for (size_t i = count; i > 1; i--) {
		size_t j = (size_t)rng_below(rng, i);
		uint32_t swap = items[i - 1];

		items[i - 1] = items[j];
		items[j] = swap;
	}
}

uint64_t rng_threshold(double probability)
{
	if (probability <= 0)
		return 0;
	if (probability >= 1)
		return UINT64_MAX;
	return (uint64_t)(probability * 0x1p64);
}

static void gsl_set(void *state, unsigned long seed)
{
	rng_init(state, seed, "gsl", 0);
}

static unsigned long gsl_get(void *state)
{
	return (unsigned long)(rng_u64(state) >> 32);
}

static double gsl_get_double(void *state)
{
	return rng_unit(state);
}

static const gsl_rng_type xoshiro_type = {
	.name = "xoshiro256**",
	.max = UINT32_MAX,
	.min = 0,
	.size = sizeof(struct rng),
	.set = gsl_set,
	.get = gsl_get,
	.get_double = gsl_get_double,
};

gsl_rng rng_gsl(struct rng *rng)
{
	return (gsl_rng){ .type = &xoshiro_type, .state = rng };
}
