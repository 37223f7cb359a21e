#include "net/legs.h"

#include "base/fail.h"
#include "base/hash.h"
#include "base/mem.h"

#include <stdlib.h>

#define FIRST_BITS 6

struct route_legs *legs_new(void)
{
	struct route_legs *legs = xcalloc(1, sizeof(*legs));

	legs->table_bits = FIRST_BITS;
	legs->table = xcalloc(UINT64_C(1) << FIRST_BITS, sizeof(*legs->table));
	legs->items = array_reserve(NULL, 0, &legs->capacity, sizeof(*legs->items));
	legs->items[legs->count++] = (struct route_leg){ 0 };
	return legs;
}

void legs_free(struct route_legs *legs)
{
	if (!legs)
		return;
	free(legs->items);
	free(legs->table);
	free(legs);
}

static bool same(const struct route_leg *a, const struct route_leg *b)
{
	return a->out[0] == b->out[0] && a->out[1] == b->out[1] && a->next == b->next;
}

/* The table entry of a leg, or the free entry for it. */
static uint32_t *find(const struct route_legs *legs, const struct route_leg *leg)
{
	uint64_t hash = hash_pair((uint64_t)leg->out[0] << 16 | leg->out[1], leg->next);
	uint32_t mask = (1u << legs->table_bits) - 1;

	for (uint32_t i = (uint32_t)hash & mask;; i = (i + 1) & mask)
		if (!legs->table[i] || same(&legs->items[legs->table[i]], leg))
			return &legs->table[i];
}

static void widen(struct route_legs *legs)
{
	free(legs->table);
	legs->table_bits++;
	legs->table = xcalloc(UINT64_C(1) << legs->table_bits, sizeof(*legs->table));
	for (uint32_t i = 1; i < legs->count; i++)
		*find(legs, &legs->items[i]) = i;
}

/* The number of a leg, which is added if it is new. */
static uint32_t number_of(struct route_legs *legs, const struct route_leg *leg)
{
	uint32_t *place = find(legs, leg);

	if (*place)
		return *place;
	SIM_BUG_ON(legs->count == UINT32_MAX);
	legs->items =
		array_reserve(legs->items, legs->count, &legs->capacity, sizeof(*legs->items));
	*place = (uint32_t)legs->count;
	legs->items[legs->count++] = *leg;
	if (legs->count * 2 >> legs->table_bits)
		widen(legs);
	return (uint32_t)legs->count - 1;
}

static uint16_t port_at(const uint16_t *out, unsigned count, unsigned i)
{
	return i < count ? out[i] : 0;
}

void legs_route(struct route_legs *legs, const uint16_t *out, unsigned count, struct route *route)
{
	const unsigned kept = LEG_TAKE_AT + 1; /* ports before the first leg */
	uint32_t next = 0;

	SIM_BUG_ON(count > (legs ? HOPS_MAX : ROUTE_MAX));
	*route = (struct route){ .hops = (uint8_t)count };
	if (!legs) {
		memcpy(route->out, out, count * sizeof(*out)); /* none between two hosts */
		return;
	}
	/* from the last leg to the first, as a leg has the number of the next one */
	if (count > kept)
		for (unsigned at = kept + (count - kept - 1) / LEG_PORTS * LEG_PORTS; at >= kept;
		     at -= LEG_PORTS) {
			struct route_leg leg = { .out = { out[at], port_at(out, count, at + 1) },
						 .next = next };

			next = number_of(legs, &leg);
		}
	for (unsigned i = 0; i < kept; i++)
		route->out[i] = port_at(out, count, i);
	route->out[kept] = (uint16_t)next;
	route->out[kept + 1] = (uint16_t)(next >> 16);
}

unsigned legs_ports(const struct route_legs *legs, const struct route *route,
		    uint16_t out[HOPS_MAX])
{
	struct packet walker;

	packet_set_route(&walker, route);
	for (unsigned i = 0; i < route->hops; i++) {
		if (walker.hop == LEG_TAKE_AT)
			legs_take(legs, &walker);
		out[i] = walker.route[walker.hop++];
	}
	return route->hops;
}
