/* The inside of a connection: for tcp*.c, and for tests and traces. All others use tcp.h. */
#ifndef INASIM_TRANSPORT_TCP_CONN_H
#define INASIM_TRANSPORT_TCP_CONN_H

#include "core/repeat.h"
#include "transport/ranges.h"
#include "transport/spray.h"
#include "transport/tcp.h"

/* The sender's half. */
struct tcp_tx {
	struct network *net;
	struct nic_source source;
	struct cc cc;
	const struct cc_ops *ops;
	struct route route;
	uint32_t host;
	uint64_t una, nxt, max; /* first unacknowledged, next to send, behind the highest sent */
	uint64_t written;       /* by the application */
	uint64_t recover;       /* `max` when the last recovery or timeout began; 0 = none yet */
	uint64_t usage_end;     /* `limited` and `max_flight` are about the window up to here */
	uint64_t max_flight;
	double inflation;      /* bytes added to the window during recovery */
	struct spray *spray;   /* NULL: all by `route`; owned */
	struct tcp_sack *sack; /* NULL with NewReno's recovery; owned */
	uint64_t gone; /* of the bytes from `una` to `nxt`, not in flight: always 0 with NewReno */
	uint32_t dupacks;
	uint8_t flags; /* of all its segments: PACKET_ECT, PACKET_URGENT */
	bool recovering;
	bool resend;       /* the segment at una goes out next */
	bool limited;      /* the window, not the application, stopped the sender */
	unsigned timeouts; /* since something new was acknowledged */
	uint32_t port;     /* egress port of `host` by which segments leave */
	sim_time srtt, rttvar, rto, min_rto;
	sim_time deadline; /* retransmission timeout; a timer that fires earlier is set again */
	sim_time timer_at; /* when `timer` fires; SIM_TIME_MAX = not set */
	struct timer timer;
	sim_time sent_at;    /* when the newest segment left */
	sim_time next_at;    /* pacing: no segment before this; 0 = no gap behind the newest */
	struct timer pacing; /* only of controls that pace */
};

/* The receiver's half. */
struct tcp_rx {
	struct tcp *tcp;
	struct network *net;
	uint32_t number;
	uint16_t generation;
	uint16_t reported; /* reports so far, modulo 2^16 (tcp_sack.h) */
	bool ce;           /* RFC 8257: DCTCP.CE */
	bool delays;       /* cc_ops.delays of the sender's control */
	bool over;         /* the sender has closed, so new data is ignored */
	uint32_t host;
	uint32_t ack_every;
	uint32_t unacked;       /* segments since the last ACK */
	uint32_t port;          /* egress port of `host` by which ACKs leave */
	struct timer timer;     /* delayed ACK; open only when ack_every > 1 */
	uint64_t next;          /* first byte not yet in order */
	uint64_t expect;        /* the smaller of `wanted` and `mark` */
	uint64_t wanted;        /* set by tcp_expect(); UINT64_MAX = none */
	uint64_t mark;          /* `next` at the next mark (core/repeat.h); UINT64_MAX = none */
	sim_time echo, arrived; /* when the earliest unacknowledged segment was sent, and came */
	struct ranges early;    /* received beyond a hole */
	struct route route;     /* of the ACKs */
	struct tcp_told *told;  /* where reports go; NULL with NewReno's recovery */
};

/* In a period that may repeat: the sender sent a segment, or got an ACK. */
struct tcp_step {
	uint64_t una, nxt; /* after the step */
	sim_time rtt;      /* measured by an ACK */
	bool sent;
	bool odd; /* the window stopped the sender, or the sender saw an ECN mark or a loss */
};

/* Each half has its own cache lines. */
struct tcp_conn {
	struct tcp *tcp;
	uint32_t number;
	uint16_t generation;
	bool open;     /* until the sender closes */
	uint8_t class; /* net/sched.h */
	struct transport_stats stats;
	struct tcp_tx tx;
	_Alignas(64) struct tcp_rx rx;
	const struct tcp_app *app;
	void *owner;
	uint64_t key;
	sim_time closed_at;
	/* For runs that repeat themselves. */
	struct repeat_stream stream; /* bytes */
	struct tcp_step *steps;      /* of the period that began at `steps_since`; owned */
	size_t step_count, step_capacity;
	sim_time steps_since;
};

struct tcp {
	struct topology *topo;
	const struct tcp_conf *conf;
	struct sim *sim;
	uint8_t protocol;
	struct tcp_conn **conns; /* stable addresses: timers and NICs point into them */
	size_t count, capacity;
	struct tcp_conn **idle; /* closed connections; the last is used next */
	size_t idle_count, idle_capacity;
	struct repeat *repeat; /* not owned; NULL = nothing is skipped */
};

/* tcp_tx.c */
void tcp_tx_open(struct tcp_conn *conn, uint32_t src, uint32_t dst, const struct cc_ops *cc,
		 uint64_t key);
void tcp_tx_close(struct tcp_conn *conn);
/* Both routes are new: takes the NICs that they begin with, and tells the control. */
void tcp_tx_routed(struct tcp_conn *conn, uint32_t dst);
void tcp_tx_wake(struct tcp_conn *conn); /* call when there may be something to send */
void tcp_tx_receive(struct tcp_conn *conn, const struct packet *ack); /* may close the connection */

/* Whether so many bytes may be sent: they fit into the window, or nothing is in flight. */
bool tcp_tx_fits(const struct tcp_conn *conn, uint64_t size);
/* By how many of these bytes the window may grow. */
uint64_t tcp_tx_growth(const struct tcp_tx *tx, uint64_t acked);
void tcp_tx_arm(struct tcp_conn *conn); /* sets or stops the retransmission timer */

/* tcp_rx.c */
void tcp_rx_open(struct tcp_conn *conn, uint32_t dst, uint32_t ack_every, uint64_t key);
void tcp_rx_close(struct tcp_conn *conn); /* call when the slot is reused */
void tcp_rx_receive(struct tcp_conn *conn, const struct packet *packet);

/* tcp_repeat.c. Sets the receiver's next mark. `comes`: the receiver has just reached a mark. */
void tcp_mark(struct tcp_conn *conn, bool comes);
void tcp_log(struct tcp_conn *conn, struct tcp_step step);
const struct repeat_stream *tcp_stream(const void *tcp, const struct packet *packet);
void tcp_repeat_packet(void *tcp, struct repeat *repeat, struct packet *packet);

/* tcp_tx.c: applies a step again to window and round-trip estimate, `later` bytes further on. */
void tcp_tx_replay(struct tcp_conn *conn, const struct tcp_step *step, uint64_t later);

static inline bool tcp_is_recorded(const struct tcp_conn *conn)
{
	return __builtin_expect(conn->tcp->repeat && conn->tcp->repeat->recording, 0);
}

#endif
