/* A packet: a plain value of 48 bytes, copied from ring to ring.
 *
 * The packet carries its route, the local number of the egress port at every
 * switch, chosen when the flow or the tree was set up or, after a failure, rerouted.
 * So nothing is looked up per hop, and a packet may outlive its flow. */
#ifndef INASIM_NET_PACKET_H
#define INASIM_NET_PACKET_H

#include "base/types.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

/* Ports that a packet has room for: of edge, aggregation, core, aggregation, edge. The packet has
 * no padding, so a sixth port would make it larger. In networks with longer paths, routes of up to
 * HOPS_MAX switches are split into legs (legs.h). */
#define ROUTE_MAX 5
#define HOPS_MAX  128

/* The route that packet_set_route() copies into a packet. topology_path() lists its ports. */
struct route {
	uint16_t out[ROUTE_MAX]; /* local egress port at the i-th switch; with legs, see legs.h */
	uint8_t hops;            /* switches on the path; 0: the two hosts share a link */
	uint8_t link;            /* of the source by which packets leave: its local port */
};
#define ROUTE_LINKS_MAX 256 /* links of a host */

/* Kinds of traffic that switches tell apart; they do not know schemes. */
enum packet_kind {
	PACKET_DATA,
	PACKET_ACK,
	PACKET_AGGREGATION, /* switches pass it to protocol_ops.at_switch() */
	PACKET_CONTROL,
	PACKET_KINDS
};

enum packet_flag {
	PACKET_ECT = 1,        /* ECN-capable: may be marked */
	PACKET_CE = 2,         /* congestion experienced */
	PACKET_ECE = 4,        /* an ACK echoes a mark */
	PACKET_RETRANSMIT = 8, /* retransmitted; in a result: some of its contributions were */
	PACKET_RESULT = 16,    /* AGGREGATION on its way down to the workers */
	PACKET_URGENT = 128, /* DATA of a protocol's own messages; only in networks with classes */
};

/* The n-th flag, counted from 0, that the packet's protocol defines. The protocol's header says
 * what the flag means, protocol_ops.flags how it is printed. It also says what `tag` means, and
 * names the places of `own`. A protocol may put more into `chunk` and `source`. */
#define PACKET_OWN(n)    (32u << (n))
#define PACKET_OWN_FLAGS 2

struct packet {
	sim_time depart; /* end of its transmission by the port that holds it */
	union {
		uint64_t seq;           /* all kinds, for the digest; DATA: first byte, or PSN */
		uint64_t next_expected; /* ACK: byte, or PSN */
		uint64_t chunk;         /* AGGREGATION */
	};
	union {
		sim_time sent_at; /* DATA: when it left the source */
		sim_time echo;    /* ACK, CONTROL: sent_at of the packet that it answers */
		uint64_t value;   /* AGGREGATION: the (partial) sum that stands for the gradients */
	};
	union {
		uint16_t generation; /* of connections: tells users of one flow number apart */
		uint16_t source; /* AGGREGATION: the sender's number among the inputs of the node
				  * that adds it up */
	};
	uint8_t flags;
	uint8_t kind;
	uint32_t flow; /* flow, connection or job, as its protocol numbers them */
	uint16_t size; /* frame bytes with FCS, without preamble and gap */
	union {
		uint16_t payload; /* DATA: bytes of the stream */
		uint16_t slot;    /* AGGREGATION: aggregator's index, low bits */
		uint16_t tag;     /* AGGREGATION: the protocol's own, without aggregators */
	};
	union {
		uint16_t route[ROUTE_MAX];
		uint16_t own[ROUTE_MAX]; /* AGGREGATION: the protocol's own, without a route */
	};
	uint8_t hop;      /* switches passed; with legs, since the last leg was taken */
	uint8_t protocol; /* handles the packet at hosts and, for AGGREGATION, at switches */
};

#define TRIMMED_FRAME 64 /* bytes of a cut packet (uet-htsim; the smallest frame of Ethernet) */

static_assert(sizeof(struct packet) == 48, "the packet grew: measure before you accept it");

/* The part of the packet's fact in the digest besides `seq`. The fields are adjacent,
 * so a little-endian machine reads them as one word. */
static inline uint64_t packet_label(const struct packet *p)
{
	return (uint64_t)p->flow << 32 | (uint64_t)p->kind << 24 | (uint64_t)p->flags << 16 |
	       p->source;
}

/* Whether the packet goes ahead of data in a network with classes (network_control_first()).
 * Switches do not answer control packets with packets of their own, so PAUSE need not stop them. */
static inline bool packet_is_control(const struct packet *p)
{
	return p->kind == PACKET_ACK || p->kind == PACKET_CONTROL || p->flags & PACKET_URGENT;
}

static inline void packet_set_route(struct packet *p, const struct route *route)
{
	memcpy(p->route, route->out, sizeof(p->route));
	p->hop = 0;
}

#endif
