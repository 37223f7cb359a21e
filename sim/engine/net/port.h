/* An egress port: a FIFO of packets, its transmitter and the link behind it.
 *
 * The whole hop of a packet costs one event. When a packet is put in, the end
 * of its transmission is known (max(now, busy_until) + size / rate), and so is
 * its arrival at the peer (constant latency). The ring holds the packets in order,
 * first those on the wire, then those that wait or are being sent:
 *
 *     head          head + sent             head + count
 *      | on the wire     | queued (ECN, limit)   |
 *
 * and the one pending event is "the packet at the head arrives". The boundary
 * `sent` moves lazily, when the queue may matter. What has not started to be
 * sent can still be re-timed: see lossless.h.
 *
 * Latency = propagation + the peer's constant pipeline (switch latency, or host
 * processing), so no event is spent on those either. A host may add a random
 * processing jitter per packet, which never reorders.
 *
 * Speed is memory: the state of a port is one line of cache, its first packets
 * are in the next ones, what ports have in common is in a few shared classes, and a
 * ring starts over at its first place whenever it runs empty. */
#ifndef INASIM_NET_PORT_H
#define INASIM_NET_PORT_H

#include "core/rng.h"
#include "core/sim.h"
#include "net/packet.h"

#include <stddef.h>

struct network;

/* The constants of one direction of a link and of its queue. Links that are alike share them. */
struct link_class {
	uint64_t ps_per_byte; /* 0 = not a whole number, use rate */
	sim_time latency;
	uint64_t quiet_bytes;   /* up to here a queue neither drops nor marks, ... */
	uint32_t quiet_packets; /* ... if it has no more packets than this */
	uint16_t wire_extra;    /* bytes of preamble and gap per frame */
	bool ecn_in_packets;
	struct network *net;
	uint64_t limit_bytes;
	uint64_t ecn_min; /* mark above this (RED: perhaps); UINT64_MAX = never */
	uint64_t ecn_max; /* mark surely above this */
	double mark_max;  /* RED: probability at ecn_max */
	bps rate;
	sim_time jitter_max;     /* uniform in 0..max per packet, order kept */
	sim_time idle_max;       /* of a host's port: jitter of an idle NIC, see nic.h */
	uint64_t loss_threshold; /* against rng_u64() */
} __attribute__((aligned(64)));

/* The members of a port that are rarely touched. */
struct port_cold {
	uint64_t drops, losses, marks;
	uint64_t pauses;         /* times its transmitter was stopped by a PAUSE frame */
	sim_time paused_time;    /* of the pauses that have ended */
	uint32_t reverse;        /* port of the peer that leads back here */
	sim_time last_arrival;   /* with jitter: of the packets so far; later ones come no sooner */
	sim_time former_arrival; /* last_arrival without the packet at the head */
	struct rng loss_stream, jitter_stream, mark_stream;
};

/* Four packets beside the port, as many as a busy link without a queue has. A queue moves the ring
 * to the heap. */
#define SMALL_RING_BITS 2
#define HEAP_RING_BITS  3 /* smallest ring on the heap */

/* What makes a port do more than the usual. */
enum port_flags {
	/* an arrival takes the slow path: losses, outages, legs of routes, a watch, or tests */
	PORT_SLOW = 1,
	PORT_JITTERS = 2,  /* the time of an arrival is changed: jitter of the host, or tests */
	PORT_DEFERRED = 4, /* of a host: its NIC goes on at busy_until, without an event (nic.h) */
};

struct port {
	struct packet *ring; /* small, or owned */
	uint32_t head, count, sent;
	uint8_t ring_bits; /* the ring has 2^ring_bits places */
	bool to_host;
	uint8_t flags; /* enum port_flags: 0 nearly always */
	uint8_t class;
	sim_time busy_until;
	uint64_t queued_bytes;   /* of the packets behind `sent` */
	uint32_t to_port;        /* first egress port of the node at the far end */
	uint32_t max_backlog_ns; /* longest busy_until - now, saturating */
	uint64_t packets, bytes; /* accepted so far; see port_carried() */

	struct packet small[1 << SMALL_RING_BITS];
	/* In a line of its own, so that the number of lines is odd, see below. It is hardly ever
	 * touched, so the line costs no cache. */
	uint32_t to; /* node at the far end */
} __attribute__((aligned(64)));

static_assert(offsetof(struct port, small) == 64, "the state of a port is one cache line");
static_assert(sizeof(struct port) == 320,
	      "an odd number of lines spreads ports over all cache sets");

static inline uint32_t ring_index(const struct port *port, uint32_t i)
{
	return (port->head + i) & ((1u << port->ring_bits) - 1);
}

/* Moves the packets to a ring of 2^bits places, which must be enough; the head goes to place 0. */
void port_resize(struct port *port, uint8_t bits);

/* Inserts at index `at` a packet that has passed `hop` switches. Packets from `at` on move back by
 * one place, for which the ring must have room. Counts the packet everywhere but in queued_bytes,
 * and sets no time. */
void port_insert(struct port *port, uint32_t at, const struct packet *packet, uint8_t hop);

/* The index of the first packet from `from` on that is no control packet, or `count`. */
uint32_t port_behind_control(const struct port *port, uint32_t from);

/* The ring_bits of the next larger ring. */
static inline uint8_t ring_bits_more(const struct port *port)
{
	return port->ring_bits == SMALL_RING_BITS ? HEAP_RING_BITS : port->ring_bits + 1;
}

/* Whether less than an eighth of the places is used, and there are at least 64. */
static inline bool ring_is_wide(const struct port *port)
{
	return port->ring_bits >= 6 && !(port->count * UINT64_C(8) >> port->ring_bits);
}

static inline const struct packet *port_head(const struct port *port)
{
	return &port->ring[port->head];
}

/* Prefetches a packet, which may lie across two lines of cache, and the next one's departure. */
static inline void port_prefetch(const struct packet *packet)
{
	__builtin_prefetch(packet);
	__builtin_prefetch(&packet[1].depart);
}

/* Prefetches the place of the packet that will be put in next. */
static inline void port_prefetch_tail(const struct port *port)
{
	port_prefetch(&port->ring[ring_index(port, port->count)]);
}

/* Time on the wire of a frame, rounded up once. */
static inline sim_time link_transmission(const struct link_class *link, uint32_t size)
{
	uint64_t wire = (uint64_t)size + link->wire_extra;

	if (__builtin_expect(link->ps_per_byte != 0, 1))
		return wire * link->ps_per_byte;
	return (wire * 8 * PS_PER_S + link->rate - 1) / link->rate;
}

/* How much of a packet of a port's ring has been sent by now, in bytes on the wire. */
static inline double link_sent(const struct link_class *link, const struct packet *packet,
			       sim_time now)
{
	sim_time wire = link_transmission(link, packet->size);
	double all = packet->size + link->wire_extra;

	if (packet->depart <= now)
		return all;
	return packet->depart - wire < now
		       ? (double)(now - (packet->depart - wire)) * all / (double)wire
		       : 0;
}

/* Moves what has been sent by now from the queue to the wire. */
static inline void port_advance(struct port *port, sim_time now)
{
	if (port->busy_until <= now) {
		port->sent = port->count;
		port->queued_bytes = 0;
		return;
	}
	while (port->sent < port->count) {
		const struct packet *p = &port->ring[ring_index(port, port->sent)];

		if (p->depart > now)
			break;
		port->queued_bytes -= p->size;
		port->sent++;
	}
}

/* port_advance() when queued_bytes already includes `size` bytes of a packet that is not in the
 * ring yet. */
static inline void port_advance_with(struct port *port, sim_time now, uint32_t size)
{
	port->queued_bytes -= size;
	port_advance(port, now);
	port->queued_bytes += size;
}

/* Bytes that wait or are being sent at this instant. */
static inline uint64_t port_queue_bytes(struct port *port, sim_time now)
{
	port_advance(port, now);
	return port->queued_bytes;
}

/* Packets and bytes that have arrived at the far end: what was accepted less
 * what the ring still holds. */
void port_carried(const struct port *port, uint64_t *packets, uint64_t *size);

/* Bytes on the wire that a transmitter has sent, up to the bit that it sends at this instant. The
 * number is the sum of both members, which are apart so that differences lose no digits. */
struct port_sent {
	uint64_t whole;
	double part;
};

struct port_sent port_sent(const struct port *port, const struct link_class *link, sim_time now);

/* Bytes sent between two calls of port_sent(). */
static inline double port_sent_since(const struct port_sent *now, const struct port_sent *before)
{
	return (double)(int64_t)(now->whole - before->whole) + (now->part - before->part);
}

#endif
