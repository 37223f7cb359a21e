#include "net/legs.h"

#include "core/rng.h"

#include <criterion/criterion.h>

/* A packet that takes its legs passes exactly the ports of its route, whatever its length; routes
 * with the same end share legs, and the same route again needs no new one. */
Test(legs, every_length)
{
	struct route_legs *legs = legs_new();
	struct rng rng;

	rng_init(&rng, 1, "legs", 0);
	for (unsigned count = 1; count <= HOPS_MAX; count++)
		for (int again = 0; again < 20; again++) {
			uint16_t out[HOPS_MAX], ports[HOPS_MAX];
			struct route route, twice;
			size_t before;

			for (unsigned i = 0; i < count; i++)
				out[i] = (uint16_t)rng_u64(&rng);
			legs_route(legs, out, count, &route);
			cr_assert_eq(legs_ports(legs, &route, ports), count);
			cr_assert_arr_eq(ports, out, count * sizeof(*out), "%u ports", count);
			before = legs->count;
			legs_route(legs, out, count, &twice);
			cr_assert_eq(legs->count, before);
			cr_assert_arr_eq(route.out, twice.out, sizeof(route.out));
			out[0]++; /* this port is before the legs */
			legs_route(legs, out, count, &twice);
			cr_assert_eq(legs->count, before);
		}
	legs_free(legs);
}
