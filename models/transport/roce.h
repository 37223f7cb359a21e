/* Reliable connections of RoCEv2 (RDMA over UDP), as a NIC runs them.
 *
 * Modelled: RDMA writes as messages cut into packets of the path's MTU, never across a message's
 * end; 24-bit packet sequence numbers (PSN) that wrap; in-order delivery with go-back-N: a packet
 * out of order is discarded and one NACK names the gap (InfiniBand specification 9.7; the
 * repetition after `nack_again` is that of the HPCC simulator); ACKs for every so many packets, the
 * end of a message and the end of a window, as the sender asks (ROCE_ACK_REQUEST is the bit
 * AckReq); a retransmission timer of fixed length; pacing by the congestion control's rate; an
 * optional cap on what is in flight; congestion notification packets (CNP) from the receiver of
 * marked packets (DCQCN, SIGCOMM 2015, section 3). Simplified: no handshake, a connection never
 * fails however often it has to repeat, and one NACK stands for all kinds.
 *
 * A connection goes one way and carries either
 *   - a stream of bytes: the owner posts messages and hears of bytes in order (struct tcp_app), or
 *   - packets of its owner's making (roce_set_packets()): it fills in each one as it leaves and is
 *     handed each one as it is delivered, in order and once. So a scheme has its gradients in
 *     RoCE's packets while switches change them on their way.
 * Packets are numbered with 64 bits inside, from 2^24 + `first_psn` on; the wire has the low 24. */
#ifndef INASIM_TRANSPORT_ROCE_H
#define INASIM_TRANSPORT_ROCE_H

#include "transport/tcp.h"

#define ROCE_PSN_BITS    24
#define ROCE_PSN_MASK    ((1u << ROCE_PSN_BITS) - 1)
#define ROCE_MOST_FLIGHT (1u << (ROCE_PSN_BITS - 1)) /* packets: half of all PSNs */

/* Flags of its packets. */
enum {
	ROCE_NACK = PACKET_OWN(0),   /* ACK: the packet that it names is missing */
	ROCE_OWNERS = PACKET_OWN(0), /* DATA: not RoCE's; the owner of the packets may set it */
	ROCE_ACK_REQUEST = PACKET_OWN(1), /* DATA: AckReq */
};

struct roce_conf {
	int64_t mtu;          /* payload bytes of a full packet */
	int64_t header;       /* bytes that a frame has besides, FCS included */
	int64_t write_header; /* more in the first packet of a message (RETH) */
	int64_t ack_every;
	sim_time rto, nack_again; /* nack_again 0 = never */
	bytes window;             /* 0 = none */
	int64_t first_psn;
	void *control[ROCE_CC_COUNT]; /* parameters of congestion controls, as roce_cc_tables */
};

extern const struct conf_table roce_table;

/* What the owner of packets supplies and hears, with the `owner` of roce_open(). */
struct roce_packets {
	/* Required. At the sender, as the packet leaves, first or again. `number` is the packet's;
	 * its PSN is in the low 24 bits of packet->seq. Set: flow, generation, route, size,
	 * payload, kind PACKET_DATA, flags (PACKET_ECT, PACKET_RETRANSMIT, ROCE_ACK_REQUEST),
	 * protocol (RoCE's own). The owner may
	 *   - make it PACKET_AGGREGATION of its own protocol, whose deliver() then hands what
	 *     reaches a host to roce_receive();
	 *   - set value (there is no sent_at then), slot (payload is its union) and the upper 40
	 *     bits of seq;
	 *   - set ROCE_OWNERS, and add bytes of its own headers to size;
	 *   - give it another route.
	 * It must leave flow, generation, the PSN and ROCE_ACK_REQUEST, as a switch on the way
	 * must. The same number must give the same packet each time. */
	void (*fill)(void *owner, uint64_t number, struct packet *packet);
	/* Required. At the receiver: the packet with this number, next in order, as it arrived.
	 * The connection must not be closed from here; the owner may post. */
	void (*delivered)(void *owner, uint64_t number, const struct packet *packet);
};

struct roce_stats {
	uint64_t packets, retransmissions, timeouts;
	uint64_t nacks; /* that made the sender go back */
	uint64_t acks, cnps;
	uint64_t discarded; /* at the receiver: out of order, or seen before */
};

struct roce_conn; /* roce_conn.h, for tests and traces */

/* All connections of a simulation. */
struct roce;

struct roce *roce_new(struct topology *topo, const struct roce_conf *conf);
void roce_free(struct roce *roce);

/* Before the first connection, and behind all schemes: PANAMA has the number of its protocol in the
 * keys of its timers, and digests hang on those. */
void roce_register(struct roce *roce);

/* Opens a connection from host to host (different ones); as tcp_open(). `cc` is one of
 * ROCE_CONTROLS. `app` hears of bytes and of the end; it may be NULL, and is when the owner has
 * packets. Neither `app` nor `owner` is owned. */
uint32_t roce_open(struct roce *roce, uint32_t src, uint32_t dst, const struct cc_ops *cc,
		   uint32_t ack_every, uint64_t key, const struct tcp_app *app, void *owner);
void roce_close(struct roce *roce, uint32_t conn);

/* The connection carries packets of its owner's making. Before the first message is posted; not
 * with a control that goes by delays (cc_ops.delays), as such packets need not carry a time. */
void roce_set_packets(struct roce *roce, uint32_t conn, const struct roce_packets *packets);

/* Posts a message (an RDMA write) of `size` >= 1 bytes. */
void roce_post(struct roce *roce, uint32_t conn, uint64_t size);

/* The number that the first packet of the next message will have. */
uint64_t roce_next_number(const struct roce *roce, uint32_t conn);

/* What `source` of its packets is: tells them from those of an earlier connection of this number.
 */
uint16_t roce_generation(const struct roce *roce, uint32_t conn);

/* For the deliver() and prefetch() of an owner's protocol: a packet of RoCE has reached the host.
 * What belongs to a connection that is over is ignored. */
void roce_receive(void *roce, uint32_t host, const struct packet *packet);
void roce_prefetch(void *roce, const struct packet *packet);

/* As the functions of tcp.h, of streams. */
void roce_expect(struct roce *roce, uint32_t conn, uint64_t offset);
uint64_t roce_delivered(const struct roce *roce, uint32_t conn);
bool roce_app_of(const struct roce *roce, const struct packet *packet, const struct tcp_app **app);

const struct roce_stats *roce_stats(const struct roce *roce, uint32_t conn);

/* Ideal time of `size` bytes on the path of this connection: a lower bound, as it leaves out the
 * header that only first packets have. */
sim_time roce_ideal(const struct roce *roce, uint32_t conn, bytes size);

/* Open connections; 0 after everything has finished. */
size_t roce_open_count(const struct roce *roce);

/* Says who waits for what, one line a stuck connection, at most `limit`. */
void roce_report_waiting(const struct roce *roce, FILE *to, size_t limit);

/* --- sequence numbers --- */

static inline uint32_t roce_psn(uint64_t number)
{
	return (uint32_t)number & ROCE_PSN_MASK;
}

/* The number with this PSN that is nearest to `near` >= 2^23: less than 2^23 above it, or up to
 * 2^23 below. */
static inline uint64_t roce_number(uint32_t psn, uint64_t near)
{
	uint32_t ahead = (psn - roce_psn(near)) & ROCE_PSN_MASK;

	return ahead < ROCE_MOST_FLIGHT ? near + ahead : near + ahead - ROCE_PSN_MASK - 1;
}

/* The same of a packet on the wire. */
static inline uint32_t roce_psn_of(const struct packet *packet)
{
	return (uint32_t)packet->seq & ROCE_PSN_MASK;
}

#endif
