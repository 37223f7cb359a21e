/* Routes of any length.
 *
 * A packet has room for ROUTE_MAX ports. In a network with longer paths it carries the first three
 * ports of its route and, in the place of the last two, the number of the next leg. A leg is two
 * ports and the number of the leg after it. Before a switch uses the last of the packet's three
 * ports, the packet takes its next leg: the third port becomes the first, and the leg's two follow.
 *
 * Routes whose last legs are equal share them, so memory grows with the number of different routes,
 * not with flows. Legs are made when a route is set up, and never removed; a hop only reads them.
 *
 * Networks whose paths fit into packets have no legs and pay nothing for them. */
#ifndef INASIM_NET_LEGS_H
#define INASIM_NET_LEGS_H

#include "net/packet.h"

#define LEG_PORTS   2
#define LEG_TAKE_AT 2 /* switches passed when a packet takes its next leg */

static_assert(LEG_TAKE_AT + 1 + 2 == ROUTE_MAX, "three ports, and a number of two places");

struct route_leg {
	uint16_t out[LEG_PORTS];
	uint32_t next; /* 0 = no further leg */
};

struct route_legs {
	struct route_leg *items; /* [0] is empty, and its `next` is 0 */
	size_t count, capacity;
	uint32_t *table; /* hash table of leg numbers; 0 = free entry */
	uint32_t table_bits;
};

/* Makes a table with only the empty leg. legs_free() releases it; NULL is allowed. */
struct route_legs *legs_new(void);
void legs_free(struct route_legs *legs);

/* Fills in the route over `count` local egress ports: 0 to HOPS_MAX. `legs` NULL: a route without
 * legs, of at most ROUTE_MAX ports. */
void legs_route(struct route_legs *legs, const uint16_t *out, unsigned count, struct route *route);

/* The inverse of legs_route(), for routes with legs: lists the local egress ports of a route and
 * returns their number. */
unsigned legs_ports(const struct route_legs *legs, const struct route *route,
		    uint16_t out[HOPS_MAX]);

/* A packet that has passed LEG_TAKE_AT switches takes its next leg. */
static inline void legs_take(const struct route_legs *legs, struct packet *packet)
{
	const struct route_leg *leg =
		&legs->items[packet->route[3] | (uint32_t)packet->route[4] << 16];

	packet->route[0] = packet->route[LEG_TAKE_AT];
	packet->route[1] = leg->out[0];
	packet->route[2] = leg->out[1];
	packet->route[3] = (uint16_t)leg->next;
	packet->route[4] = (uint16_t)(leg->next >> 16);
	packet->hop = 0;
}

#endif
