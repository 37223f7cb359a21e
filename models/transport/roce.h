/* Reliable connections of RoCEv2 (RDMA over UDP), as a NIC runs them.
 *
 * Modelled:
 *   - RDMA writes: messages, each cut into packets of the path's MTU;
 *   - packet sequence numbers (PSN) of 24 bits that wrap;
 *   - in-order delivery with go-back-N: the receiver discards packets out of order and names the
 *     gap in one NACK (InfiniBand specification 9.7), repeated after `nack_again` (HPCC simulator);
 *   - or selective repeat (IRN, SIGCOMM 2018): the receiver keeps packets out of order in a bitmap,
 *     each NACK also names the packet that came, and in flight is at most one bandwidth-delay
 *     product; then packets of a connection may take all shortest paths (spray.h);
 *   - ACKs where the sender asks for them (AckReq): every `ack_every` packets, at the end of a
 *     message, and when the window is full;
 *   - a retransmission timer that doubles with each timeout in a row, as in NICs' adaptive
 *     retransmission, and an optional cap on the bytes in flight;
 *   - pacing at the congestion control's rate, and congestion notification packets (CNP) from the
 *     receiver of marked packets (DCQCN, SIGCOMM 2015, section 3).
 * Simplified: no handshake; a connection never gives up; one kind of NACK.
 *
 * A connection goes one way and carries either
 *   - a stream of bytes: the owner posts messages and hears of bytes in order (struct tcp_app), or
 *   - packets that its owner makes (roce_set_packets()): the owner fills in each packet as it
 *     leaves and gets each packet as it is delivered, in order and once. A scheme uses this to put
 *     gradients into RoCE's packets, where switches may change them.
 * Packet numbers have 64 bits and begin at 2^24 + `first_psn`; a packet carries the low 24. */
#ifndef INASIM_TRANSPORT_ROCE_H
#define INASIM_TRANSPORT_ROCE_H

#include "transport/tcp.h"

#define ROCE_PSN_BITS   24
#define ROCE_PSN_MASK   ((1u << ROCE_PSN_BITS) - 1)
#define ROCE_MAX_FLIGHT (1u << (ROCE_PSN_BITS - 1)) /* packets: half of all PSNs */

/* Flags of RoCE's packets, with the kind of packet that has them. */
enum {
	ROCE_NACK = PACKET_OWN(0),        /* ACK: the packet with PSN next_expected is missing */
	ROCE_OWNERS = PACKET_OWN(0),      /* DATA: free for the owner of the packets */
	ROCE_ACK_REQUEST = PACKET_OWN(1), /* DATA: AckReq */
};

enum roce_recovery { ROCE_GO_BACK_N, ROCE_SELECTIVE };

struct roce_conf {
	int64_t mtu;          /* payload bytes of a full packet */
	int64_t header;       /* bytes of a frame without its payload, FCS included */
	int64_t write_header; /* additional bytes in the first packet of a message (RETH) */
	int64_t ack_every;
	sim_time rto;
	int64_t backoff;     /* at most this many doublings of rto */
	sim_time nack_again; /* 0 = never */
	bool nack_again_given;
	bytes window; /* cap on payload in flight; 0 = none, or with selective repeat one BDP */
	int64_t first_psn;
	int recovery;     /* enum roce_recovery */
	sim_time rto_low; /* 0 = as rto */
	sim_time reorder;
	bool reorder_given;
	int spray; /* enum spray_kind */
	int64_t paths;
	void *control[ROCE_CC_COUNT]; /* parameters of congestion controls, as roce_cc_table */
};

extern const struct conf_table roce_table;

/* The time of a round trip through the top of the network when all queues on the data's way are
 * full. With NICs that queue (NIC_FIFO), a window of other data waits ahead in the NIC, too.
 * `window`: bytes; 0: no such data. */
sim_time roce_longest_trip(const struct roce_conf *conf, const struct topology_conf *topology,
			   bytes window);

/* Warns if `rto` or `nack_again` is shorter than roce_longest_trip(). `pointer`: JSON pointer to
 * the parameters in `doc`. */
void roce_warn(const struct roce_conf *conf, const struct topology_conf *topology, bytes window,
	       struct conf_doc *doc, const char *pointer);

/* Callbacks of an owner that makes the packets, which go back N on one path; `owner` is the
 * argument of roce_open(). */
struct roce_packets {
	/* Required. At the sender: packet `number` leaves, for the first time or again. Its PSN is
	 * in the low 24 bits of packet->seq. Already set are flow, generation, route, size,
	 * payload, kind (PACKET_DATA), flags (PACKET_ECT, PACKET_RETRANSMIT, ROCE_ACK_REQUEST) and
	 * protocol (RoCE's). The owner may
	 *   - make it PACKET_AGGREGATION of its own protocol, whose deliver() then calls
	 *     roce_receive();
	 *   - set value (instead of sent_at), slot (instead of payload) and the upper 40 bits of
	 *     seq;
	 *   - set ROCE_OWNERS, and add bytes of its own headers to size;
	 *   - give it another route.
	 * The owner and switches must not change flow, generation, the PSN and ROCE_ACK_REQUEST.
	 * The same number must give the same packet each time. */
	void (*fill)(void *owner, uint64_t number, struct packet *packet);
	/* Required. At the receiver: packet `number`, the next in order, as it arrived. May post,
	 * but must not close the connection. */
	void (*delivered)(void *owner, uint64_t number, const struct packet *packet);
};

struct roce_conn; /* roce_conn.h, for tests and traces */

/* All connections of a simulation. */
struct roce;

/* `window`: the bytes that a connection may have in flight, for roce_longest_trip(). */
struct roce *roce_new(struct topology *topo, const struct roce_conf *conf, bytes window);
void roce_free(struct roce *roce);

/* Registers the protocol. Call it before the first connection but after all schemes have registered
 * theirs: PANAMA's timer keys hold the number of its protocol, and digests depend on these keys. */
void roce_register(struct roce *roce);

/* Opens a connection, as tcp_open() does. `cc` is one of ROCE_CONTROLS. `app` may be NULL; an owner
 * that makes the packets passes NULL. */
uint32_t roce_open(struct roce *roce, uint32_t src, uint32_t dst, const struct cc_ops *cc,
		   uint32_t ack_every, uint64_t key, const struct tcp_app *app, void *owner);
void roce_close(struct roce *roce, uint32_t conn);

/* The class of all its packets and ACKs (net/sched.h). Default: that of its job. */
void roce_set_class(struct roce *roce, uint32_t conn, uint8_t class);

/* Lets the owner make the connection's packets, which always leave by this egress port of the
 * sender. Call it before the first message. Not with a control that reacts to delays
 * (cc_ops.delays), because the owner may overwrite sent_at, or to telemetry. */
void roce_set_packets(struct roce *roce, uint32_t conn, const struct roce_packets *packets,
		      uint32_t port);

/* Posts a message (an RDMA write) of `size` >= 1 bytes. */
void roce_post(struct roce *roce, uint32_t conn, uint64_t size);

/* The number that the first packet of the next message will have. */
uint64_t roce_next_number(const struct roce *roce, uint32_t conn);

/* The generation that the connection's packets carry. It tells them from packets of an earlier
 * connection with the same number. */
uint16_t roce_generation(const struct roce *roce, uint32_t conn);

/* For deliver() and prefetch() of an owner's protocol: a packet of RoCE has reached the host.
 * Packets of closed connections are ignored. */
void roce_receive(void *roce, uint32_t host, const struct packet *packet);
void roce_prefetch(void *roce, const struct packet *packet);

/* As in tcp.h; roce_expect() and roce_delivered() are for streams of bytes. */
void roce_expect(struct roce *roce, uint32_t conn, uint64_t offset);
uint64_t roce_delivered(const struct roce *roce, uint32_t conn);
bool roce_app_of(const struct roce *roce, const struct packet *packet, const struct tcp_app **app);

const struct transport_stats *roce_stats(const struct roce *roce, uint32_t conn);

/* Ideal time of `size` bytes on the path of this connection. A lower bound: it leaves out
 * `write_header`, which only first packets have. */
struct framing roce_framing(const struct roce *roce);
sim_time roce_ideal(const struct roce *roce, uint32_t conn, bytes size);

/* Open connections; 0 after everything has finished. */
size_t roce_open_count(const struct roce *roce);

/* As in tcp.h, in roce_repeat.c. Only receivers of streams of bytes set marks. */
void roce_skip_what_repeats(struct roce *roce, struct repeat *repeat);
void roce_repeat(struct roce *roce, struct repeat *repeat);

/* As in tcp.h. */
void roce_report_waiting(const struct roce *roce, FILE *to, size_t limit);

/* --- sequence numbers --- */

static inline uint32_t roce_psn(uint64_t number)
{
	return (uint32_t)number & ROCE_PSN_MASK;
}

/* The number with this PSN that is nearest to `near` >= 2^23, in [near - 2^23, near + 2^23). */
static inline uint64_t roce_number(uint32_t psn, uint64_t near)
{
	uint32_t ahead = (psn - roce_psn(near)) & ROCE_PSN_MASK;

	return ahead < ROCE_MAX_FLIGHT ? near + ahead : near + ahead - ROCE_PSN_MASK - 1;
}

/* The PSN of a packet. */
static inline uint32_t roce_psn_of(const struct packet *packet)
{
	return (uint32_t)packet->seq & ROCE_PSN_MASK;
}

#endif
