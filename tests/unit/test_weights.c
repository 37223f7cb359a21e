/* Draws by weight: the fractions are as asked for, and a single part costs no draw. */
#include "workload/weights.h"

#include <criterion/criterion.h>
#include <gsl/gsl_cdf.h>
#include <stdlib.h>

#define DRAWS 100000

static struct weights make(const double *list, size_t count)
{
	struct weights weights = { 0 };

	for (size_t i = 0; i < count; i++)
		weights_add(&weights, list[i]);
	return weights;
}

/* The probability of a deviation from the fractions `expected` at least as large as that of DRAWS
 * draws (seed fixed): Pearson's chi-square. */
static double p_value(const struct weights *weights, const double *expected)
{
	double seen[8] = { 0 }, sum = 0;
	struct rng rng;

	rng_init(&rng, 11, "weights", 0);
	for (int i = 0; i < DRAWS; i++)
		seen[weights_draw(weights, &rng)]++;
	for (size_t i = 0; i < weights->count; i++) {
		double e = expected[i] * DRAWS;

		sum += (seen[i] - e) * (seen[i] - e) / e;
	}
	return gsl_cdf_chisq_Q(sum, (double)weights->count - 1);
}

Test(weights, fractions_are_weights_over_their_sum)
{
	static const double list[] = { 1, 2.5, 0.5, 4 };
	struct weights weights = make(list, 4);

	for (size_t i = 0; i < 4; i++)
		cr_expect_float_eq(weights_fraction(&weights, i), list[i] / 8, 1e-15);
	weights_release(&weights);
}

Test(weights, draws_follow_the_fractions_and_no_others)
{
	static const double list[] = { 1, 2, 3, 4 }, right[] = { 0.1, 0.2, 0.3, 0.4 },
			    wrong[] = { 0.11, 0.2, 0.3, 0.39 };
	struct weights weights = make(list, 4);

	cr_expect_gt(p_value(&weights, right), 0.01);
	cr_expect_lt(p_value(&weights, wrong), 1e-6); /* a percent off would be seen */
	weights_release(&weights);
}

Test(weights, one_alone_leaves_the_stream_alone)
{
	static const double list[] = { 3 };
	struct weights weights = make(list, 1);
	struct rng drawn, untouched;

	rng_init(&drawn, 1, "one", 0);
	rng_init(&untouched, 1, "one", 0);
	cr_expect_eq(weights_draw(&weights, &drawn), 0);
	cr_expect_eq(rng_u64(&drawn), rng_u64(&untouched));
	weights_release(&weights);
}
