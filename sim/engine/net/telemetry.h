/* In-band telemetry (INT) as HPCC wants it (SIGCOMM 2019, section 3.1): when a switch begins to
 * send a packet that asks for it, it adds its clock, what the port has sent so far, what waits
 * behind the packet, and the rate of the link.
 *
 * A packet has no room for that. Its protocol keeps the record beside it (protocol_ops.telemetry),
 * and counts the bytes of the header in the packet's size. What waits when a packet begins is not
 * known when it is put in. So each port of a switch looks, before a packet is put in and when one
 * has arrived at the far end, which packets have begun since.
 *
 * Networks without telemetry do none of this. In those with it, all packets at switches take the
 * slow path. Not for routes with legs (legs.h). */
#ifndef INASIM_NET_TELEMETRY_H
#define INASIM_NET_TELEMETRY_H

#include "net/state.h"

struct int_hop {
	sim_time at;    /* begin of the transmission */
	uint64_t sent;  /* bytes on the wire by this port before it */
	uint64_t queue; /* bytes of the packets that wait behind it */
	bps rate;
};

struct int_record {
	unsigned hops;
	struct int_hop hop[ROUTE_MAX];
};

/* What has begun at an egress port so far. */
struct int_begun {
	uint64_t packets, bytes;
};

/* The counts of a port, of which the ring holds packets now. */
struct int_begun telemetry_begun(const struct port *port);

/* For hops: a packet is about to enter the queue of a switch's port, or one has left its link. */
void telemetry_look(struct network *net, uint32_t port);

#endif
