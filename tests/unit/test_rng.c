#include "core/rng.h"

#include <criterion/criterion.h>
#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The first numbers after state {1, 2, 3, 4}, and numbers 997..1000 after another
 * state, from an implementation of the published algorithm in another language. */
Test(rng, reference_values)
{
	static const uint64_t first[] = {
		11520,
		0,
		1509978240,
		UINT64_C(1215971899390074240),
		UINT64_C(1216172134540287360),
		UINT64_C(607988272756665600),
		UINT64_C(16172922978634559625),
		UINT64_C(8476171486693032832),
		UINT64_C(10595114339597558777),
		UINT64_C(2904607092377533576),
	};
	static const uint64_t later[] = { UINT64_C(0x5292271020f55e39),
					  UINT64_C(0xfe2628de50b2b9da),
					  UINT64_C(0xb07fd90dc5bc8bbf),
					  UINT64_C(0xdb48eca4dc7ab196) };
	struct rng a = { { 1, 2, 3, 4 } };
	struct rng b = { { UINT64_C(0x9e3779b97f4a7c15), UINT64_C(0xbf58476d1ce4e5b9),
			   UINT64_C(0x94d049bb133111eb), 1 } };

	for (size_t i = 0; i < 10; i++)
		cr_expect_eq(rng_u64(&a), first[i], "number %zu", i);
	for (int i = 0; i < 996; i++)
		rng_u64(&b);
	for (size_t i = 0; i < 4; i++)
		cr_expect_eq(rng_u64(&b), later[i], "number %zu", 997 + i);
}

/* rng_unit() is the upper 53 bits of rng_u64() as a fraction, so below 1. */
Test(rng, unit)
{
	struct rng a, b, ones = { { 0 } };

	rng_init(&a, 5, "unit", 0);
	b = a;
	for (int i = 0; i < 10000; i++) {
		double x = rng_unit(&a);

		cr_assert(x >= 0 && x < 1);
		cr_assert_eq(x, (double)(rng_u64(&b) >> 11) / 9007199254740992.0);
	}
	/* the state whose next number has all bits set: s1 * 5 = rotated all ones / 9 */
	ones.s[1] = UINT64_MAX * UINT64_C(0x8e38e38e38e38e39);
	ones.s[1] = (ones.s[1] >> 7 | ones.s[1] << 57) * UINT64_C(0xcccccccccccccccd);
	b = ones;
	cr_assert_eq(rng_u64(&b), UINT64_MAX);
	cr_expect_lt(rng_unit(&ones), 1);
}

/* Distance in units in the last place of the reference. */
static double ulps(double value, double reference)
{
	double ulp = nextafter(fabs(reference), INFINITY) - fabs(reference);

	return fabs(value - reference) / ulp;
}

/* portable_log() is within 4 units in the last place of the C library's log(),
 * which is itself within 1, over all magnitudes and near 1, where both vanish. */
Test(rng, logarithm)
{
	struct rng rng;
	double worst = 0, at = 0;

	rng_init(&rng, 1, "log", 0);
	for (int i = 0; i < 1000000; i++) {
		double unit = rng_unit(&rng), x;

		switch (i % 4) {
		case 0:
			x = ldexp(1 + unit, (int)rng_below(&rng, 2000) - 1000);
			break;
		case 1:
			x = 1 + (unit - 0.5) * ldexp(1, -(int)rng_below(&rng, 50));
			break;
		case 2:
			x = 1 - unit; /* what rng_exponential() asks for */
			break;
		default:
			x = 0.5 + unit;
			break;
		}
		if (ulps(portable_log(x), log(x)) > worst) {
			worst = ulps(portable_log(x), log(x));
			at = x;
		}
	}
	cr_expect_leq(worst, 4, "%.2f ulp at %a", worst, at);
	cr_expect_eq(portable_log(1), 0);
	cr_expect_leq(ulps(portable_log(0x1p-1022), log(0x1p-1022)), 4);
	cr_expect_leq(ulps(portable_log(0x1.fffffffffffffp1023), log(0x1.fffffffffffffp1023)), 4);
}

/* Chi-square of `cells` counts that should be equal. */
static double chi_square(const uint32_t *counts, size_t cells, double total)
{
	double sum = 0;

	for (size_t i = 0; i < cells; i++)
		sum += pow(counts[i] - total / (double)cells, 2) / (total / (double)cells);
	return sum;
}

/* rng_below() fills all cells alike: chi-square below its mean (n - 1) plus 4.5
 * standard deviations (sqrt(2(n - 1))). Four numbers of 64 bits meet three numbers
 * below 3 * 2^62: without rejection every multiple of 3 would come up twice as
 * often as the others. */
Test(rng, below_is_unbiased)
{
	static const uint64_t sizes[] = { 1, 2, 3, 5, 7, 10, 64, 1000 };
	static uint32_t counts[1000];
	struct rng rng;
	const int n = 200000;

	rng_init(&rng, 1, "below", 0);
	for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
		size_t cells = (size_t)sizes[s];

		memset(counts, 0, sizeof(counts));
		for (int i = 0; i < n; i++) {
			uint64_t x = rng_below(&rng, cells);

			cr_assert_lt(x, cells);
			counts[x]++;
		}
		cr_expect_leq(chi_square(counts, cells, n),
			      (double)(cells - 1) + 4.5 * sqrt(2.0 * (double)(cells - 1)),
			      "n = %zu", cells);
	}
	memset(counts, 0, sizeof(counts));
	for (int i = 0; i < n; i++)
		counts[rng_below(&rng, UINT64_C(3) << 62) % 3]++;
	cr_expect_leq(chi_square(counts, 3, n), 2 + 4.5 * 2);
}

/* Mean and variance within 4.5 standard errors. Exponential: mean 1, variance 1,
 * 4th central moment 9, so the error of the variance is sqrt((9 - 1) / n).
 * Normal: mean 0, variance 1, 4th moment 3. */
static void expect_moments(double (*draw)(struct rng *), double mean, double fourth)
{
	struct rng rng;
	double sum = 0, squares = 0;
	const int n = 1000000;

	rng_init(&rng, 1, "moments", 0);
	for (int i = 0; i < n; i++) {
		double x = draw(&rng);

		sum += x;
		squares += (x - mean) * (x - mean);
	}
	cr_expect_lt(fabs(sum / n - mean), 4.5 / sqrt(n), "mean %f", sum / n);
	cr_expect_lt(fabs(squares / n - 1), 4.5 * sqrt((fourth - 1) / n), "variance %f",
		     squares / n);
}

Test(rng, exponential_and_normal)
{
	expect_moments(rng_exponential, 1, 9);
	expect_moments(rng_normal, 0, 3);
}

/* The share of exponential variates above t is exp(-t), within binomial errors. */
Test(rng, exponential_tail)
{
	struct rng rng;
	int above[8] = { 0 };
	const int n = 1000000;

	rng_init(&rng, 2, "tail", 0);
	for (int i = 0; i < n; i++) {
		double x = rng_exponential(&rng);

		cr_assert(x >= 0 && x < 40);
		for (int t = 0; t < 8; t++)
			above[t] += x > t;
	}
	for (int t = 1; t < 8; t++)
		cr_expect_lt(fabs(above[t] - n * exp(-t)), 4.5 * sqrt(n * exp(-t)), "t = %d", t);
}

/* All 24 orders of 4 items equally often. */
Test(rng, shuffle)
{
	static uint32_t counts[256];
	struct rng rng;
	double sum = 0;
	int orders = 0;
	const int n = 120000;

	rng_init(&rng, 1, "shuffle", 0);
	for (int i = 0; i < n; i++) {
		uint32_t items[] = { 0, 1, 2, 3 };

		rng_shuffle(&rng, items, 4);
		counts[items[0] << 6 | items[1] << 4 | items[2] << 2 | items[3]]++;
	}
	for (size_t i = 0; i < 256; i++) {
		orders += counts[i] > 0;
		if (counts[i])
			sum += pow(counts[i] - n / 24.0, 2) / (n / 24.0);
	}
	cr_expect_eq(orders, 24);
	cr_expect_leq(sum, 23 + 4.5 * sqrt(2 * 23));
}

/* GSL's distributions run on a stream: their means are right, and they consume
 * the stream itself (a view and a copy of the stream agree). */
Test(rng, gsl_view)
{
	struct rng rng, copy;
	gsl_rng view;
	double gamma = 0, poisson = 0, pareto = 0;
	const int n = 200000;

	rng_init(&rng, 1, "gsl", 0);
	view = rng_gsl(&rng);
	for (int i = 0; i < n; i++) {
		gamma += gsl_ran_gamma(&view, 2, 3);
		poisson += gsl_ran_poisson(&view, 4);
		pareto += gsl_ran_pareto(&view, 5, 1);
	}
	/* variances 2 * 9, 4, 5 / (4 * 4 * 3) */
	cr_expect_lt(fabs(gamma / n - 6), 4.5 * sqrt(18.0 / n));
	cr_expect_lt(fabs(poisson / n - 4), 4.5 * sqrt(4.0 / n));
	cr_expect_lt(fabs(pareto / n - 1.25), 4.5 * sqrt(5.0 / 48 / n));
	copy = rng;
	for (int i = 0; i < 100; i++)
		cr_expect_eq(gsl_rng_uniform(&view), rng_unit(&copy));
	for (unsigned long i = 1; i < 100; i++) {
		unsigned long x = gsl_rng_uniform_int(&view, i);

		cr_expect_lt(x, i);
	}
}

/* The correlation of two streams of n uniforms is N(0, 1/n). */
static void expect_uncorrelated(struct rng a, struct rng b, const char *what)
{
	double sum = 0;
	int equal = 0;
	const int n = 100000;

	for (int i = 0; i < n; i++) {
		uint64_t x = rng_u64(&a), y = rng_u64(&b);

		equal += x == y;
		sum += ((double)x * 0x1p-64 - 0.5) * ((double)y * 0x1p-64 - 0.5);
	}
	cr_expect_eq(equal, 0, "%s", what);
	cr_expect_lt(fabs(12 * sum / n), 4.5 / sqrt(n), "%s: correlation %f", what, 12 * sum / n);
}

/* Streams that differ in the seed, the name or the id have nothing to do with one
 * another; streams that differ in nothing are equal. */
Test(rng, streams)
{
	struct rng a, b;

	rng_init(&a, 1, "loss", 7);
	rng_init(&b, 1, "loss", 7);
	for (int i = 0; i < 100; i++)
		cr_assert_eq(rng_u64(&a), rng_u64(&b));
	rng_init(&a, 1, "loss", 7);
	for (uint64_t other = 0; other < 64; other++) {
		if (other != 7) {
			rng_init(&b, 1, "loss", other);
			expect_uncorrelated(a, b, "id");
		}
		if (other != 1) {
			rng_init(&b, other, "loss", 7);
			expect_uncorrelated(a, b, "seed");
		}
	}
	rng_init(&b, 1, "jitter", 7);
	expect_uncorrelated(a, b, "name");
	rng_init(&b, 1, "los", 7);
	expect_uncorrelated(a, b, "shorter name");
	rng_init(&b, 7, "loss", 1);
	expect_uncorrelated(a, b, "seed and id exchanged");
}

/* Thresholds: never, always, and in between the right share. */
Test(rng, thresholds)
{
	static const double probabilities[] = { 1e-3, 0.1, 0.5, 0.9 };
	struct rng rng;
	const int n = 1000000;

	cr_expect_eq(rng_threshold(0), 0);
	cr_expect_eq(rng_threshold(-1), 0);
	cr_expect_eq(rng_threshold(1), UINT64_MAX);
	cr_expect_eq(rng_threshold(0.5), UINT64_C(1) << 63);
	rng_init(&rng, 1, "threshold", 0);
	for (size_t i = 0; i < 4; i++) {
		double p = probabilities[i];
		uint64_t threshold = rng_threshold(p);
		int hits = 0;

		for (int j = 0; j < n; j++)
			hits += rng_u64(&rng) < threshold;
		cr_expect_lt(fabs(hits - n * p), 4.5 * sqrt(n * p * (1 - p)), "p = %g: %d", p,
			     hits);
	}
}
