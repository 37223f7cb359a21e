/* How much of a switch's memory is used over time, as summary.json and aggregators.csv say it. */
#include "collective/collective.h"

#include <criterion/criterion.h>

#define MEMORY 5000011 /* bytes; no power of two, so that rounding would show */

/* A memory that is always full has a utilisation of exactly 1, however often memory is given back
 * and taken again in one instant. */
Test(collective_memory, always_full_is_exactly_one)
{
	struct collective_memory memory = { .memory_bytes = MEMORY };
	sim_time now = 0;

	collective_reserve(&memory, now, MEMORY);
	for (int i = 1; i <= 1000; i++) {
		now += 333333333 + (sim_time)i * 7919;
		collective_reserve(&memory, now, -256 * i);
		collective_reserve(&memory, now, 256 * i);
		cr_assert_eq(collective_utilization(collective_reserved(&memory, now), MEMORY, now),
			     1.0, "after %d changes", i);
	}
}

/* The same over memories of several switches: 3 x MEMORY, of which each is full. */
Test(collective_memory, several_full_ones_are_exactly_one)
{
	for (sim_time now = 1; now < 2400 * 3600 * PS_PER_S; now = 3 * now + 1) {
		byte_time used = 0;

		for (int i = 0; i < 3; i++) {
			struct collective_memory memory = { .memory_bytes = MEMORY };

			collective_reserve(&memory, 0, MEMORY);
			collective_reserve(&memory, now / 3, 0);
			used += collective_reserved(&memory, now);
		}
		cr_assert_eq(collective_utilization(used, UINT64_C(3) * MEMORY, now), 1.0);
	}
}

/* The integral over steps, and its mean: a quarter of the memory for half of the time. */
Test(collective_memory, mean_of_steps)
{
	struct collective_memory memory = { .memory_bytes = 4000 };

	collective_reserve(&memory, 10 * PS_PER_US, 1000);
	collective_reserve(&memory, 20 * PS_PER_US, -1000);
	cr_expect(collective_reserved(&memory, 20 * PS_PER_US) == (byte_time)1000 * 10 * PS_PER_US);
	cr_expect_eq(collective_utilization(collective_reserved(&memory, 20 * PS_PER_US), 4000,
					    20 * PS_PER_US),
		     0.125);
}

/* The integral holds the largest memory over the longest time of a scenario. */
Test(collective_memory, does_not_overflow)
{
	struct collective_memory memory = { .memory_bytes = UINT64_C(1) << 50 };
	sim_time end = 2400 * 3600 * PS_PER_S;

	collective_reserve(&memory, 0, INT64_C(1) << 50);
	cr_expect_eq(
		collective_utilization(collective_reserved(&memory, end), memory.memory_bytes, end),
		1.0);
}

Test(collective_memory, no_time_and_no_memory)
{
	cr_expect_eq(collective_utilization(0, 4000, 0), 0.0);
	cr_expect_eq(collective_utilization(0, 0, PS_PER_S), 0.0);
}
