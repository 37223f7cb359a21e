/* An egress port: a FIFO of packets, its transmitter and the link behind it.
 *
 * The whole hop of a packet costs one event. When a packet is put in, the end
 * of its transmission is known (max(now, busy_until) + size / rate), and so is
 * its arrival at the peer (constant latency). The ring holds the packets in order,
 * first those on the wire, then the queue (waiting or being sent):
 *
 *     head          head + sent             head + count
 *      | on the wire     | queued (ECN, limit)   |
 *
 * The one pending event is "the packet at the head arrives". The boundary `sent`
 * moves lazily, when the length of the queue may matter. The departure of a packet
 * whose transmission has not started can still change: see lossless.h.
 *
 * Latency = propagation + the peer's constant pipeline (switch latency, or host
 * processing), so these cost no events either. A host may add a random processing
 * jitter per packet, which keeps the order of packets.
 *
 * Layout for the cache: the state of a port is one cache line, and its first packets
 * are in the next lines. Ports share constants in a few classes. A ring that runs
 * empty starts over at its first place. */
#ifndef INASIM_NET_PORT_H
#define INASIM_NET_PORT_H

#include "core/rng.h"
#include "core/sim.h"
#include "net/packet.h"

#include <stddef.h>

struct network;

/* What a host's cores, all together, need for a packet. They hand on a packet after the other,
 * those that come in and the data that goes out apart from each other. Packets that have come wait
 * in the host's memory, which has room for all. */
struct host_cores {
	sim_time packet; /* time of each packet */
	bps rate;        /* of its bytes; 0 = they take no time */
};

static inline sim_time cores_time(const struct host_cores *cores, uint32_t size)
{
	uint64_t bits = (uint64_t)size * 8;

	return cores->packet +
	       (cores->rate ? (bits * PS_PER_S + cores->rate - 1) / cores->rate : 0);
}

/* The constants of one direction of a link and of its queue. Equal links share them. */
struct link_class {
	uint64_t ps_per_byte; /* 0 = not a whole number, use rate */
	sim_time latency;
	/* a queue that exceeds neither of these is quiet: it drops and marks no packet */
	uint64_t quiet_bytes;
	uint32_t quiet_packets;
	uint16_t wire_extra; /* bytes of preamble and gap per frame */
	bool ecn_in_packets;
	bool cores; /* of a host's ports, both ways: its cores take time for packets */
	struct network *net;
	uint64_t limit_bytes;
	/* of the queue without the new packet, in bytes or, if ecn_in_packets, packets: */
	uint64_t ecn_min; /* no marks up to this length; UINT64_MAX = never mark */
	uint64_t ecn_max; /* every packet with PACKET_ECT is marked above this; RED in between */
	double mark_max;  /* RED: probability at ecn_max */
	bps rate;
	sim_time jitter_max; /* uniform in 0..max per packet, order kept */
	struct host_cores of_cores;
	sim_time idle_max;       /* of a host's port: jitter of an idle NIC, see nic.h */
	uint64_t loss_threshold; /* see rng_threshold() */
} __attribute__((aligned(64)));

/* The members of a port that are rarely touched. */
struct port_cold {
	uint64_t drops, losses, marks;
	uint64_t pauses;         /* how often a PAUSE frame stopped the transmitter */
	sim_time paused_time;    /* total of the pauses that have ended */
	uint32_t reverse;        /* port of the peer that leads back here */
	sim_time last_arrival;   /* with jitter or cores: latest so far, earliest for the next */
	sim_time former_arrival; /* last_arrival without the packet at the head */
	struct rng loss_stream, jitter_stream, mark_stream;
};

/* Room for four packets in struct port, enough for many links without a queue. With more packets,
 * on the wire and in the queue, the ring moves to the heap. */
#define SMALL_RING_BITS 2
#define HEAP_RING_BITS  3 /* smallest ring on the heap */

/* Reasons for a port to leave the fast path. */
enum port_flags {
	/* arrivals take the slow path: losses, outages, legs of routes, a watch, or tests */
	PORT_SLOW = 1,
	PORT_JITTERS = 2,  /* arrivals are delayed: jitter or cores of the host, or tests */
	PORT_DEFERRED = 4, /* of a host: the NIC's departure at busy_until is deferred (nic.h) */
};

struct port {
	struct packet *ring; /* `small`, or owned */
	uint32_t head, count, sent;
	uint8_t ring_bits; /* the ring has 2^ring_bits places */
	bool to_host;
	uint8_t flags; /* enum port_flags: 0 nearly always */
	uint8_t class;
	sim_time busy_until;
	uint64_t queued_bytes;   /* of the packets after the first `sent` */
	uint32_t to_port;        /* first egress port of the node at the far end */
	uint32_t max_backlog_ns; /* longest busy_until - now, saturating */
	/* accepted so far, and PAUSE frames that have taken effect; see port_carried() */
	uint64_t packets, bytes;

	struct packet small[1 << SMALL_RING_BITS];
	/* Node at the far end. Has a cache line of its own, so that the number of lines is odd (see
	 * below). `to` is rarely read, so this line takes no room in the cache. */
	uint32_t to;
} __attribute__((aligned(64)));

static_assert(offsetof(struct port, small) == 64, "the state of a port is one cache line");
static_assert(sizeof(struct port) == 320,
	      "an odd number of lines spreads ports over all cache sets");

static inline uint32_t ring_index(const struct port *port, uint32_t i)
{
	return (port->head + i) & ((1u << port->ring_bits) - 1);
}

/* Moves the packets to a ring of 2^bits places, the head to place 0. All packets must fit. */
void port_resize(struct port *port, uint8_t bits);

/* Inserts a packet that has passed `hop` switches at index `at`, and moves packets from `at` on
 * back by one place, for which the ring must have room. Counts the packet except in queued_bytes.
 * The caller sets the packet's departure. */
void port_insert(struct port *port, uint32_t at, const struct packet *packet, uint8_t hop);

/* The index of the first packet from `from` on that is no control packet, or `count`. */
uint32_t port_behind_control(const struct port *port, uint32_t from);

/* The ring_bits of the next larger ring. */
static inline uint8_t ring_bits_more(const struct port *port)
{
	return port->ring_bits == SMALL_RING_BITS ? HEAP_RING_BITS : port->ring_bits + 1;
}

/* Whether the ring has at least 64 places and uses less than an eighth of them. */
static inline bool ring_is_wide(const struct port *port)
{
	return port->ring_bits >= 6 && !(port->count * UINT64_C(8) >> port->ring_bits);
}

static inline const struct packet *port_head(const struct port *port)
{
	return &port->ring[port->head];
}

/* Prefetches a packet, which may span two cache lines, and the departure of the next packet. */
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

/* Transmission time of a frame of `size` bytes, rounded up to whole ps. */
static inline sim_time link_transmission(const struct link_class *link, uint32_t size)
{
	uint64_t wire = (uint64_t)size + link->wire_extra;

	if (__builtin_expect(link->ps_per_byte != 0, 1))
		return wire * link->ps_per_byte;
	return (wire * 8 * PS_PER_S + link->rate - 1) / link->rate;
}

/* How many bytes on the wire of a packet in a port's ring have been sent by now. */
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

/* Moves the packets that have been sent by now from the queue to the wire. */
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

/* Bytes of the packets that wait or are being sent now. */
static inline uint64_t port_queue_bytes(struct port *port, sim_time now)
{
	port_advance(port, now);
	return port->queued_bytes;
}

/* Packets and their bytes, without preambles and gaps, that have arrived at the far
 * end: those accepted less those still in the ring. */
void port_carried(const struct port *port, uint64_t *packets, uint64_t *size);

/* Bytes on the wire that a transmitter has sent, including the sent part of the current packet. The
 * number is whole + part; two members, so that differences lose no digits. */
struct port_sent {
	uint64_t whole;
	double part;
};

struct port_sent port_sent(const struct port *port, const struct link_class *link, sim_time now);

/* Bytes on the wire sent between two calls of port_sent(). */
static inline double port_sent_since(const struct port_sent *now, const struct port_sent *before)
{
	return (double)(int64_t)(now->whole - before->whole) + (now->part - before->part);
}

#endif
