#include "transport/ranges.h"

#include "core/rng.h"

#include <criterion/criterion.h>
#include <string.h>

#define LENGTH 200

/* The naive model: one flag a byte. The list must describe the same bytes, with
 * intervals that are disjoint, not touching and ascending. */
static void expect_same(const struct ranges *ranges, const bool *model)
{
	bool seen[LENGTH] = { false };

	for (size_t i = 0; i < ranges->count; i++) {
		cr_assert_lt(ranges->items[i].begin, ranges->items[i].end);
		if (i > 0)
			cr_assert_gt(ranges->items[i].begin, ranges->items[i - 1].end);
		for (uint64_t j = ranges->items[i].begin; j < ranges->items[i].end; j++)
			seen[j] = true;
	}
	cr_assert_arr_eq(seen, model, sizeof(seen));
	cr_assert_eq(ranges_empty(ranges), ranges->count == 0);
}

static uint64_t model_advance(bool *model, uint64_t next)
{
	memset(model, 0, (size_t)next * sizeof(*model));
	while (next < LENGTH && model[next])
		model[next++] = false;
	return next;
}

/* Random additions and advances change the list as they change the flags. */
Test(ranges, like_a_bitmap)
{
	struct rng rng;

	rng_init(&rng, 1, "ranges", 0);
	for (int round = 0; round < 2000; round++) {
		struct ranges ranges = { 0 };
		bool model[LENGTH] = { false };
		uint64_t longest = 1 + rng_below(&rng, 40);

		for (int step = 0; step < 40; step++) {
			uint64_t begin = rng_below(&rng, LENGTH - 1);
			uint64_t length = 1 + rng_below(&rng, longest);
			uint64_t end = begin + length < LENGTH ? begin + length : LENGTH;

			if (rng_below(&rng, 10) == 0) {
				cr_assert_eq(ranges_advance(&ranges, begin),
					     model_advance(model, begin));
			} else {
				ranges_add(&ranges, begin, end);
				memset(model + begin, 1, (size_t)(end - begin));
			}
			expect_same(&ranges, model);
		}
		ranges_release(&ranges);
	}
}

/* The cases that a receiver sees, one by one. */
Test(ranges, holes)
{
	struct ranges ranges = { 0 };

	ranges_add(&ranges, 20, 30);
	ranges_add(&ranges, 40, 50);
	cr_expect_eq(ranges.count, 2);
	ranges_add(&ranges, 30, 40); /* touches both: one interval */
	cr_assert_eq(ranges.count, 1);
	cr_expect_eq(ranges.items[0].begin, 20);
	cr_expect_eq(ranges.items[0].end, 50);
	ranges_add(&ranges, 25, 45); /* a duplicate changes nothing */
	cr_expect_eq(ranges.count, 1);
	ranges_add(&ranges, 60, 65);
	cr_expect_eq(ranges.count, 2);
	cr_expect_eq(ranges_advance(&ranges, 10), 10, "the hole 10..20 is open");
	cr_expect_eq(ranges_advance(&ranges, 20), 50);
	cr_expect_eq(ranges_advance(&ranges, 60), 65);
	cr_expect(ranges_empty(&ranges));
	ranges_add(&ranges, 60, 70);
	cr_expect_eq(ranges_advance(&ranges, 65), 70);
	ranges_add(&ranges, 80, 90);
	ranges_clear(&ranges);
	cr_expect_eq(ranges_advance(&ranges, 80), 80, "forgotten");
	ranges_release(&ranges);
	cr_expect_null(ranges.items);
}

/* Stream offsets beyond 32 bits are kept. */
Test(ranges, large_offsets)
{
	struct ranges ranges = { 0 };
	const uint64_t base = UINT64_C(1) << 40;

	ranges_add(&ranges, base + 10, base + 20);
	ranges_add(&ranges, base, base + 5);
	cr_expect_eq(ranges_advance(&ranges, base), base + 5);
	cr_expect_eq(ranges_advance(&ranges, base + 10), base + 20);
	ranges_release(&ranges);
}
