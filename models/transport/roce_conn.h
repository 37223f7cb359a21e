/* The inside of a connection: for roce*.c, and for tests and traces. All others use roce.h. */
#ifndef INASIM_TRANSPORT_ROCE_CONN_H
#define INASIM_TRANSPORT_ROCE_CONN_H

#include "core/repeat.h"
#include "net/telemetry.h"
#include "transport/roce.h"
#include "transport/spray.h"

/* A posted message that is not yet acknowledged. The packets of the next message follow its own. */
struct roce_message {
	uint64_t first; /* number of its first packet */
	uint64_t size;  /* bytes */
};

/* Selective repeat: a packet that was sent and is not acknowledged. */
struct roce_sent {
	sim_time at;   /* when its newest copy left */
	uint16_t path; /* spray.h: value of that copy */
	bool here;     /* has come, out of order */
	bool lost;     /* waits to be sent again */
};

/* What an ACK says of the packet that it answers, in its `tag`. */
enum roce_answer {
	ROCE_MARKED = 1,  /* it came with a mark of ECN */
	ROCE_TRIMMED = 2, /* a switch had cut it */
};

/* The sender's part of selective repeat (roce_select.c). */
struct roce_select {
	struct roce_sent *sent; /* a ring by number, from `una` on */
	uint64_t mask;
	uint64_t lost_to; /* below: what has not come was lost, or is known to be since */
	uint64_t *again;  /* a ring: numbers of lost packets, to be sent again in this order */
	uint64_t again_mask, again_first, again_end;
	uint64_t flight;    /* packets on their way: sent, neither come nor lost */
	uint64_t recover;   /* behind what was sent when the newest recovery began */
	sim_time newest;    /* when that packet left which left last of those that have come */
	sim_time trip;      /* its round trip */
	struct timer timer; /* for losses that time alone shows; only if packets may overtake */
};

/* The telemetry of a connection's packets, while they and their ACKs are under way. */
struct roce_telemetry {
	struct int_record *records; /* a ring by number of packet, from `una` on */
	uint64_t mask;
	uint64_t number;                  /* of the packet that the newest ACK answered */
	struct int_record newest, former; /* its record, and the one before it */
};

/* The sender's half. Positions are numbers of packets. */
struct roce_tx {
	struct nic_source source;
	struct cc cc;
	const struct cc_ops *ops;
	struct route route;
	uint32_t host;
	uint64_t una, nxt, max; /* first unacknowledged, next to send, behind the highest sent */
	uint64_t end;           /* behind the last packet posted */
	uint64_t asked;         /* behind the last sent packet that asks for an ACK; <= una: none */
	uint32_t ack_every;
	struct roce_select *select;       /* NULL: goes back N; owned */
	struct spray *spray;              /* NULL: all by `route`; owned */
	struct roce_telemetry *telemetry; /* NULL: collects none; owned */
	uint32_t header;                  /* of its packets: roce_conf.header and telemetry */
	struct roce_message *messages;    /* a ring by number of message */
	uint64_t mask;
	uint64_t oldest, at, posted; /* messages: oldest kept, that of `nxt`, next to post */
	uint64_t window;             /* packets that the configuration allows in flight */
	uint8_t flags;               /* of all its packets: PACKET_ECT */
	bool counts;                 /* cc_ops.selective */
	bool limited;                /* the window, not the owner, stopped the sender */
	unsigned timeouts;           /* since something new was acknowledged */
	uint32_t port;               /* egress port of `host` by which packets leave */
	sim_time sent_at;            /* when the newest packet left */
	sim_time next_at;  /* pacing: no packet before this; 0 = no gap behind the newest */
	sim_time nic_wait; /* longest wait of its NIC when idle */
	sim_time deadline; /* retransmission timeout; a timer that fires earlier is set again */
	sim_time timer_at; /* when `timer` fires; SIM_TIME_MAX = not set */
	struct timer timer;
	struct timer pacing; /* only of controls that pace */
};

/* The receiver's half. */
struct roce_rx {
	struct route route;  /* of the ACKs */
	uint32_t host, port; /* `port`: egress port by which ACKs leave */
	uint64_t next;       /* number of the packet that is due */
	uint64_t discarded;  /* packets out of order that are not kept, or seen before */
	uint16_t *early;     /* selective repeat: payload by number, 0 = has not come; owned */
	uint64_t early_mask, early_count;
	uint64_t answers; /* selective repeat: PSN of the packet that the next ACK answers, shifted
			   */
	uint64_t bytes;   /* of a stream: bytes that have come in order */
	uint64_t expect;  /* the smaller of `wanted` and `mark` */
	uint64_t wanted;  /* `bytes` at which to call delivered(); UINT64_MAX = none */
	uint64_t mark;    /* `bytes` at the next mark (core/repeat.h); UINT64_MAX = none */
	uint32_t answer;  /* bytes of an ACK */
	bool nacked;      /* a NACK has asked for `next`, at `nacked_at` */
	uint16_t says;    /* selective repeat: enum roce_answer, of the next ACK */
	bool congested;   /* a marked packet came, and no ACK has said so yet */
	sim_time nacked_at;
	sim_time echo;         /* of a stream: when the newest packet was sent */
	sim_time cnp_interval; /* as cc_ops.cnp_interval(); SIM_TIME_MAX = the control has none */
	sim_time cnp_from;     /* no CNP before this */
};

struct roce_conn {
	struct roce *roce;
	uint32_t number;
	uint16_t generation;
	bool open;
	uint8_t class; /* net/sched.h */
	struct transport_stats stats;
	struct roce_tx tx;
	struct roce_rx rx;
	const struct tcp_app *app;
	const struct roce_packets *packets; /* NULL: a stream */
	void *owner;
	uint64_t key;
	struct repeat_stream stream; /* of packet numbers, for core/repeat.h */
};

struct roce {
	struct topology *topo;
	const struct roce_conf *conf;
	struct sim *sim;
	sim_time nack_again; /* 0 = never */
	sim_time reorder;    /* roce_conf.reorder, or its default */
	bytes window;        /* roce_conf.window, or its default */
	uint8_t protocol;
	struct roce_conn **conns; /* stable addresses: timers and NICs point into them */
	size_t count, capacity;
	uint32_t *idle;
	size_t idle_count, idle_capacity;
	struct repeat *repeat; /* not owned; NULL = nobody needs marks */
};

/* A connection's first packet number, so large that roce_number() never goes below 0. */
static inline uint64_t roce_first_number(const struct roce *roce)
{
	return (UINT64_C(1) << ROCE_PSN_BITS) + (uint64_t)roce->conf->first_psn;
}

/* roce_tx.c */
void roce_tx_open(struct roce_conn *conn, uint32_t src, uint32_t dst, const struct cc_ops *cc,
		  uint32_t ack_every, uint64_t key);
void roce_tx_close(struct roce_conn *conn);
/* Both routes are new: takes the NICs that they begin with, and tells the control. */
void roce_tx_routed(struct roce_conn *conn);
void roce_tx_wake(struct roce_conn *conn); /* call when there may be something to send */
void roce_tx_receive(struct roce_conn *conn, const struct packet *packet); /* may close it */
struct int_record *roce_record(void *roce, const struct packet *packet);   /* as protocol_ops */
void roce_telemetry_free(struct roce_telemetry *telemetry);                /* NULL is allowed */
void roce_tx_loss(struct roce_conn *conn); /* counts it, and tells the control */

/* roce_select.c: which packets are lost, and go out again */
void roce_select_open(struct roce_conn *conn, uint64_t key);
void roce_select_close(struct roce_conn *conn); /* the connection goes back N from now on */
void roce_select_sent(struct roce_conn *conn, uint64_t number);
/* Whether a lost packet waits to be sent again. */
bool roce_select_waits(const struct roce_tx *tx);
/* Its number, if one waits. */
uint64_t roce_select_next(const struct roce_tx *tx);
/* An ACK that acknowledges all before `una`, `acked` packets more than the last one, and answers
 * one packet. Returns how many packets are known to have come since the last one. */
uint64_t roce_select_take(struct roce_conn *conn, uint64_t acked, const struct packet *ack);
/* All that has not come is lost. */
void roce_select_timed_out(struct roce_tx *tx);

/* roce_rx.c */
void roce_rx_open(struct roce_conn *conn, uint32_t dst); /* route is set */
void roce_rx_close(struct roce_conn *conn);
void roce_rx_receive(struct roce_conn *conn, const struct packet *packet);

/* roce_repeat.c. Sets the receiver's next mark. `comes`: the receiver has just reached a mark. */
void roce_mark(struct roce_conn *conn, bool comes);
const struct repeat_stream *roce_stream(const void *roce, const struct packet *packet);
void roce_repeat_packet(void *roce, struct repeat *repeat, struct packet *packet);

#endif
