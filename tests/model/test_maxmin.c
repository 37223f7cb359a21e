/* The max-min solver that fluid rates are held against is itself held against
 * allocations worked out by hand, and against the definition of max-min fairness. */
#include "maxmin.h"

#include <criterion/criterion.h>
#include <gsl/gsl_rng.h>
#include <math.h>

#define EXACT 1e-12

static void expect_rates(size_t flows, const double *rate, const double *expected)
{
	for (size_t f = 0; f < flows; f++)
		cr_expect_float_eq(rate[f], expected[f], EXACT * expected[f],
				   "flow %zu has %.17g, not %.17g", f, rate[f], expected[f]);
}

Test(maxmin, a_long_flow_and_short_ones)
{
	/* Links of 10, 4 and 6. The long flow passes all; one short flow on each link: the second
	 * link gives 2 to both, the others give the rest, 8 and 4, to theirs. */
	const double capacity[] = { 10, 4, 6 }, expected[] = { 2, 8, 2, 4 };
	const struct maxmin_use all[] = { { 0, 1 }, { 1, 1 }, { 2, 1 } };
	const struct maxmin_flow flow[] = { { all, 3, INFINITY, 1 },
					    { &all[0], 1, INFINITY, 1 },
					    { &all[1], 1, INFINITY, 1 },
					    { &all[2], 1, INFINITY, 1 } };
	double rate[4];

	maxmin(3, capacity, 4, flow, rate);
	expect_rates(4, rate, expected);
}

Test(maxmin, a_link_used_twice_counts_twice)
{
	/* Rates r of both: 2 r + r = 9. */
	const double capacity[] = { 9 }, expected[] = { 3, 3 };
	const struct maxmin_use twice = { 0, 2 }, once = { 0, 1 };
	const struct maxmin_flow flow[] = { { &twice, 1, INFINITY, 1 }, { &once, 1, INFINITY, 1 } };
	double rate[2];

	maxmin(1, capacity, 2, flow, rate);
	expect_rates(2, rate, expected);
}

Test(maxmin, what_a_cap_leaves_goes_to_the_others)
{
	/* 1 by its cap; then 10 - 1 = 2 r + r. The last uses no link. */
	const double capacity[] = { 10 }, expected[] = { 1, 3, 3, 7 };
	const struct maxmin_use twice = { 0, 2 }, once = { 0, 1 };
	const struct maxmin_flow flow[] = { { &once, 1, 1, 1 },
					    { &twice, 1, INFINITY, 1 },
					    { &once, 1, 3.5, 1 },
					    { NULL, 0, 7, 1 } };
	double rate[4];

	maxmin(1, capacity, 4, flow, rate);
	expect_rates(4, rate, expected);
}

Test(maxmin, flows_have_their_shares_of_what_is_full)
{
	/* The first two meet on the link of 6, at 1 : 2, which leaves 10 - 4 for the third; its
	 * share is half the second's, but they do not wait for the same link. */
	const double capacity[] = { 6, 10 }, expected[] = { 2, 4, 6 };
	const struct maxmin_use both[] = { { 0, 1 }, { 1, 1 } };
	const struct maxmin_flow flow[] = { { &both[0], 1, INFINITY, 1 },
					    { both, 2, INFINITY, 2 },
					    { &both[1], 1, INFINITY, 1 } };
	double rate[3];

	maxmin(2, capacity, 3, flow, rate);
	expect_rates(3, rate, expected);
}

/* --- at random --- */

#define LINKS 12
#define FLOWS 30

struct sample {
	double capacity[LINKS];
	struct maxmin_use uses[FLOWS][LINKS];
	struct maxmin_flow flow[FLOWS];
};

static void draw_sample(gsl_rng *rng, struct sample *sample)
{
	for (size_t l = 0; l < LINKS; l++)
		sample->capacity[l] = 1 + 99 * gsl_rng_uniform(rng);
	for (size_t f = 0; f < FLOWS; f++) {
		struct maxmin_flow *flow = &sample->flow[f];

		*flow = (struct maxmin_flow){ sample->uses[f], 0, INFINITY,
					      1 / (1 + (double)gsl_rng_uniform_int(rng, 4)) };
		for (size_t l = 0; l < LINKS; l++)
			if (gsl_rng_uniform(rng) < 0.3)
				sample->uses[f][flow->count++] = (struct maxmin_use){
					l, 1 + (double)gsl_rng_uniform_int(rng, 2)
				};
		if (!flow->count || gsl_rng_uniform(rng) < 0.3)
			flow->cap = 0.1 + 10 * gsl_rng_uniform(rng);
	}
}

Test(maxmin, random_allocations_meet_the_definition)
{
	gsl_rng *rng = gsl_rng_alloc(gsl_rng_taus2);
	struct sample sample;
	double rate[FLOWS];

	for (unsigned i = 0; i < 300; i++) {
		draw_sample(rng, &sample);
		maxmin(LINKS, sample.capacity, FLOWS, sample.flow, rate);
		cr_assert(maxmin_holds(LINKS, sample.capacity, FLOWS, sample.flow, rate, 1e-11),
			  "sample %u", i);
		/* ... and nothing else does: one flow faster or slower is noticed. */
		for (size_t f = 0; f < FLOWS; f++) {
			double was = rate[f];

			rate[f] = was * 1.001;
			cr_assert_not(maxmin_holds(LINKS, sample.capacity, FLOWS, sample.flow, rate,
						   1e-11));
			rate[f] = was * 0.999;
			cr_assert_not(maxmin_holds(LINKS, sample.capacity, FLOWS, sample.flow, rate,
						   1e-11));
			rate[f] = was;
		}
	}
	gsl_rng_free(rng);
}

Test(maxmin, the_definition_refuses_a_fair_share_that_is_not_max_min)
{
	/* As the first test, but the long flow gives way to the short ones: all links are
	 * full, and yet the long flow has no bottleneck of its own. */
	const double capacity[] = { 10, 4, 6 }, rate[] = { 1, 9, 3, 5 };
	const struct maxmin_use all[] = { { 0, 1 }, { 1, 1 }, { 2, 1 } };
	const struct maxmin_flow flow[] = { { all, 3, INFINITY, 1 },
					    { &all[0], 1, INFINITY, 1 },
					    { &all[1], 1, INFINITY, 1 },
					    { &all[2], 1, INFINITY, 1 } };

	cr_assert_not(maxmin_holds(3, capacity, 4, flow, rate, 1e-9));
}
