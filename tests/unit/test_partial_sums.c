/* Contributor sets of a server: bitmaps of two levels against a plain set of workers. */
#include "ina/common/partial_sums.h"

#include "core/rng.h"

#include <criterion/criterion.h>

/* Two racks of 3 and 2 workers and two workers at level 1: workers 0-2, 3-4, 5, 6. */
static struct rack two[2] = { { .all = 7 }, { .all = 3 } };
static const struct racks racks = { .all = 15, .count = 2, .racks = two };

static const struct bitmap of_worker[7] = { { 1, 0 }, { 2, 0 },         { 4, 0 },        { 1, 1 },
					    { 2, 1 }, { 4, RACK_NONE }, { 8, RACK_NONE } };

/* The workers that a bitmap stands for. */
static uint32_t workers_of(struct bitmap b)
{
	if (b.rack == 0)
		return b.bits;
	if (b.rack == 1)
		return b.bits << 3;
	return (b.bits & 1 ? 7u : 0) | (b.bits & 2 ? 24u : 0) | (b.bits & 4 ? 32u : 0) |
	       (b.bits & 8 ? 64u : 0);
}

static bool has(const struct partial_sums *sums, const struct partial_sum *sum,
		struct bitmap worker)
{
	return partial_sums_compare(sums, sum, worker) == PRESENT_ALL;
}

/* Random contributions: presence, the sum, completeness and each worker agree with the
 * set at every step. */
Test(partial_sums, agrees_with_a_set)
{
	struct partial_sums sums;
	struct rng rng;

	partial_sums_init(&sums, &racks);
	rng_init(&rng, 1, "test", 0);
	partial_sums_reserve(&sums, 999, 800);
	for (uint64_t index = 800; index < 1000; index++) {
		struct partial_sum *sum = partial_sums_find(&sums, index);
		uint32_t in = 0;

		for (int step = 0; step < 30; step++) {
			uint8_t rack =
				(uint8_t)(rng_below(&rng, 3) ? rng_below(&rng, 2) : RACK_NONE);
			struct bitmap b = { 0, rack };
			uint32_t set;
			enum presence wanted;

			b.bits = 1 + (uint32_t)rng_below(&rng, rack == 0 ? 7 : rack == 1 ? 3 : 15);
			set = workers_of(b);
			wanted = !(set & in) ? PRESENT_NONE
				 : set & ~in ? PRESENT_SOME
					     : PRESENT_ALL;
			cr_assert_eq(partial_sums_compare(&sums, sum, b), wanted);
			cr_assert_eq(partial_sums_add(&sums, sum, b, set), wanted == PRESENT_NONE);
			if (wanted == PRESENT_NONE)
				in |= set;
			cr_assert_eq(sum->value, in);
			cr_assert_eq(sum->whole == racks.all, in == 127);
			for (int w = 0; w < 7; w++)
				cr_assert_eq(has(&sums, sum, of_worker[w]), in >> w & 1);
		}
	}
	partial_sums_release(&sums);
}

/* The ring keeps what is needed, grows for it, and forgets the rest. */
Test(partial_sums, ring)
{
	struct partial_sums sums;

	partial_sums_init(&sums, &racks);
	for (uint64_t i = 0; i < 2000; i++) {
		partial_sums_reserve(&sums, i, i < 600 ? 0 : i - 600);
		cr_assert(partial_sums_add(&sums, partial_sums_find(&sums, i), of_worker[3], i));
	}
	cr_expect_eq(sums.mask, 1023);
	for (uint64_t i = 1400; i < 2000; i++) {
		cr_assert(partial_sums_find(&sums, i));
		cr_assert_eq(partial_sums_find(&sums, i)->value, i);
		cr_assert(has(&sums, partial_sums_find(&sums, i), of_worker[3]));
		cr_assert_not(has(&sums, partial_sums_find(&sums, i), of_worker[4]));
	}
	cr_expect_eq(partial_sums_find(&sums, 500), NULL);
	partial_sums_release(&sums);
}
