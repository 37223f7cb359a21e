/* Flights come in the order of time; of equal times always the same one first, and not always that
 * of the same port. */
#include "ina/flights.h"

#include <criterion/criterion.h>

Test(flights, in_the_order_of_time)
{
	struct flights flights = { 0 };
	sim_time now = 0;
	uint64_t at = 1;

	cr_expect_eq(flights_next(&flights), SIM_TIME_MAX);
	for (uint64_t i = 0; i < 10000; i++) { /* two in, one out; later than now, often equal */
		for (int n = 0; n < 2; n++) {
			at = at * UINT64_C(6364136223846793005) + 1442695040888963407U;
			flights_push(&flights, &(struct flight){ .first = now + (at >> 60),
								 .from = (uint32_t)(at >> 50) % 8,
								 .piece = 2 * i + (uint64_t)n });
		}
		cr_expect_geq(flights_next(&flights), now);
		now = flights_next(&flights);
		cr_assert_eq(flights_pop(&flights).first, now);
	}
	for (uint64_t i = 0; i < 10000; i++) {
		struct flight flight = flights_pop(&flights);

		cr_expect_geq(flight.first, now);
		now = flight.first;
	}
	cr_expect_eq(flights.count, 0);
	flights_release(&flights);
}

/* Ports 1 and 2, whichever is pushed first: the same is first in both orders, and over 1,000 times
 * each about half of them (4 sigma: 63). */
Test(flights, ties)
{
	unsigned first = 0;

	for (sim_time now = 0; now < 1000; now++) {
		uint32_t from[2];

		for (uint32_t order = 0; order < 2; order++) {
			struct flights flights = { 0 };

			flights_push(&flights, &(struct flight){ .first = now, .from = 1 + order });
			flights_push(&flights, &(struct flight){ .first = now, .from = 2 - order });
			from[order] = flights_pop(&flights).from;
			flights_release(&flights);
		}
		cr_expect_eq(from[0], from[1]);
		first += from[0] == 1;
	}
	cr_expect(first > 437 && first < 563, "%u", first);
}
