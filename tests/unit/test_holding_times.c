/* A histogram of bounded size against the times themselves. */
#include "collective/holding_times.h"

#include "base/mem.h"
#include "core/rng.h"
#include "data/stats.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

/* Classes cover all times in order, none is wider than 1/32 of its times. */
Test(holding_times, classes)
{
	cr_expect_eq(holding_class(UINT64_MAX), HOLDING_CLASSES - 1);
	for (unsigned bit = 0; bit < 63; bit++) {
		for (uint64_t t = UINT64_C(1) << bit, i = 0; i < 100; i++, t += 1 + (t >> 7)) {
			cr_assert_leq(holding_class(t) - holding_class(t - 1), 1);
			cr_assert_lt(holding_class(t), holding_class(t + (t >> 5) + 1));
		}
	}
}

Test(holding_times, percentiles)
{
	struct holding_times *times = xcalloc(1, sizeof(*times)),
			     *other = xcalloc(1, sizeof(*times));
	double values[5000];
	struct rng rng;

	cr_expect(isnan(holding_times_mean(times)));
	cr_expect(isnan(holding_times_percentile(times, 0.5)));
	rng_init(&rng, 3, "test", 0);
	for (int i = 0; i < 5000; i++) {
		sim_time t = (sim_time)(rng_exponential(&rng) * 1e7);

		values[i] = seconds_of(t);
		holding_times_add(i % 2 ? times : other, t);
	}
	holding_times_merge(times, other);
	cr_expect_eq(times->count, 5000);
	cr_expect_lt(fabs(holding_times_mean(times) / stats_mean(values, 5000) - 1), 1e-12);
	stats_sort(values, 5000);
	for (double p = 0.1; p < 0.999; p += 0.1) {
		double exact = stats_percentile(values, 5000, p);
		double found = holding_times_percentile(times, p);

		cr_expect(found >= exact && found <= exact * (1 + 1.0 / 32), "%g: %g, %g", p, found,
			  exact);
	}
	cr_expect(isnan(holding_times_percentile(times, 0.9999)));
	free(times);
	free(other);
}
