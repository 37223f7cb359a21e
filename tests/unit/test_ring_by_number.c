/* Rings by number against a plain array: whatever is kept is found under its number after every
 * widening, by one and by many doublings, and new places are zero. */
#include "base/ring.h"

#include "core/rng.h"

#include <criterion/criterion.h>

#define FIRST 3 /* items that fit into four places, one of which stays free */
#define ITEMS 5000

struct item {
	uint64_t number, square;
	char odd; /* so that the size is no power of two */
};

static void check(const struct item *ring, uint64_t mask, uint64_t from, uint64_t to)
{
	for (uint64_t i = from; i < to; i++) {
		cr_assert_eq(ring[i & mask].number, i);
		cr_assert_eq(ring[i & mask].square, i * i);
	}
}

Test(ring, queue_that_grows_and_shrinks)
{
	uint64_t mask = 0, first = 0, max = 0;
	struct item *ring = NULL;
	struct rng rng;

	rng_init(&rng, 1, "test", 0);
	for (uint64_t end = 0; end < ITEMS; end++) {
		ring = ring_reserve(ring, &mask, first, end, sizeof(*ring));
		ring[end & mask] = (struct item){ .number = end, .square = end * end };
		max = end + 1 - first > max ? end + 1 - first : max;
		check(ring, mask, first, end + 1);
		while (first <= end && rng_below(&rng, 40) < 19)
			first++;
	}
	cr_assert_gt(max, 2 * FIRST);     /* it was widened more than once ... */
	cr_assert_leq(mask + 1, 2 * max); /* ... and not more than the longest stretch asks for */
	free(ring);
}

Test(ring, far_item)
{
	uint64_t mask = 0, from = ITEMS - 1, before;
	struct item *ring = ring_reserve(NULL, &mask, from, from + FIRST - 1, sizeof(*ring));

	cr_assert_eq(mask, FIRST);
	for (uint64_t i = from; i < from + FIRST; i++)
		ring[i & mask] = (struct item){ .number = i, .square = i * i };
	before = mask;
	cr_assert_eq(ring_reserve(ring, &mask, from, from + FIRST - 1, sizeof(*ring)), ring);
	cr_assert_eq(mask, before); /* it fits */
	ring = ring_reserve(ring, &mask, from, from + 100, sizeof(*ring));
	cr_assert_eq(mask, 127);
	check(ring, mask, from, from + FIRST);
	for (uint64_t i = from + FIRST; i <= from + mask; i++)
		cr_assert_eq(ring[i & mask].number, 0);
	free(ring);
}

Test(ring, first_of_all)
{
	uint64_t mask = 0, *ring = ring_widen(NULL, &mask, 7, 7 + 5, sizeof(*ring));

	cr_assert_eq(mask, 7);
	for (uint64_t i = 0; i <= mask; i++)
		cr_assert_eq(ring[i], 0);
	free(ring);
}
