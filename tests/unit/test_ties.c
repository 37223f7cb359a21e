/* For runs that repeat themselves: what meets at one place in one picosecond. Pairs that have come
 * in both orders decide nothing. */
#include "core/repeat.h"
#include "core/ties.h"

#include <criterion/criterion.h>

/* Two things come to a place at once, in this order. */
static void meet(struct ties *ties, size_t place, sim_time at, uint64_t first, uint64_t second)
{
	ties_note(ties, place, at, first, 2 * at);
	ties_note(ties, place, at, second, 2 * at + 1);
}

Test(ties, both_orders_are_needed)
{
	struct ties ties = { 0 };

	cr_assert(ties_decide_nothing(&ties));
	meet(&ties, 3, 10, 7, 8);
	cr_assert_not(ties_decide_nothing(&ties));
	meet(&ties, 3, 20, 7, 8); /* the same order again */
	cr_assert_not(ties_decide_nothing(&ties));
	meet(&ties, 3, 30, 8, 7);
	cr_assert(ties_decide_nothing(&ties));
	meet(&ties, 3, 40, 7, 9);
	cr_assert_not(ties_decide_nothing(&ties));
	ties_release(&ties);
}

Test(ties, only_what_comes_to_one_place_at_one_time_by_two_events)
{
	struct ties ties = { 0 };

	ties_note(&ties, 0, 10, 7, 1);
	ties_note(&ties, 1, 10, 8, 2); /* elsewhere */
	ties_note(&ties, 1, 11, 7, 3); /* later */
	ties_note(&ties, 1, 11, 8, 3); /* by the same event */
	cr_assert(ties_decide_nothing(&ties));
	ties_note(&ties, 0, 10, 8, 4);
	cr_assert_not(ties_decide_nothing(&ties));
	ties_release(&ties);
}

/* Of three that come at once, only neighbours are pairs: the two outer ones are not. */
Test(ties, neighbours)
{
	struct ties ties = { 0 };

	meet(&ties, 0, 10, 1, 2);
	ties_note(&ties, 0, 10, 3, 99);
	meet(&ties, 0, 20, 3, 2);
	ties_note(&ties, 0, 20, 1, 99);
	cr_assert(ties_decide_nothing(&ties));
	ties_release(&ties);
}

/* More pairs than there is room for at the beginning. After ties_clear() there are none. */
Test(ties, many_pairs)
{
	struct ties ties = { 0 };

	for (uint64_t i = 0; i < 1000; i++)
		meet(&ties, i % 5, 10 + i, i, i + 1);
	cr_assert_eq(ties.one_way, 1000);
	for (uint64_t i = 0; i < 999; i++)
		meet(&ties, i % 5, 2000 + i, i + 1, i);
	cr_assert_eq(ties.one_way, 1);
	ties_clear(&ties);
	cr_assert(ties_decide_nothing(&ties));
	meet(&ties, 0, 4000, 1, 2);
	cr_assert_eq(ties.one_way, 1);
	ties_release(&ties);
}

/* An integral of up to 2^40: 2^24 ps is the longest period in which it fits into 64 bits. Before
 * the first mark there is no period. */
Test(ties, integrals_of_long_periods)
{
	unsigned __int128 sum = 0;
	struct repeat repeat;
	struct sim sim;

	sim_init(&sim, 1);
	repeat_init(&repeat, &sim);
	sim.now = PS_PER_S;
	repeat_integral(&repeat, &sum, UINT64_C(1) << 40);
	cr_expect_not(repeat.never);
	repeat.marked = sim.now - (UINT64_C(1) << 24) + 1;
	repeat_integral(&repeat, &sum, UINT64_C(1) << 40);
	cr_expect_not(repeat.never);
	repeat.marked--;
	repeat_integral(&repeat, &sum, UINT64_C(1) << 40);
	cr_expect(repeat.never);
	repeat_release(&repeat);
	sim_release(&sim);
}
