/* Congestion control of a connection: how much may be in flight, and how fast it may leave.
 *
 * An algorithm is one file with one const struct cc_ops, one const struct conf_table for its
 * parameters, a line in CONGESTION_CONTROLS (of TCP), in ROCE_CONTROLS, or in both, and a name for
 * each of these transports in connection.c. It sets a window, a rate or both; the transport detects
 * and repairs loss. Windows are doubles: IEEE 754 makes additions, multiplications, divisions and
 * square roots the same on every machine. Departure times are computed from `rate` in integers. */
#ifndef INASIM_TRANSPORT_CC_CC_H
#define INASIM_TRANSPORT_CC_CC_H

#include "conf/conf.h"

#include <assert.h>
#include <stdalign.h>
#include <stdbool.h>

#define CONGESTION_CONTROLS(X)                                                                     \
	X(dctcp)                                                                                   \
	X(cubic)                                                                                   \
	X(reno)                                                                                    \
	X(swift)
#define ROCE_CONTROLS(X)                                                                           \
	X(dcqcn)                                                                                   \
	X(swift)                                                                                   \
	X(line_rate)                                                                               \
	X(hpcc)                                                                                    \
	X(timely)                                                                                  \
	X(nscc)

#define CC_INDEX(name)      CC_##name,
#define ROCE_CC_INDEX(name) ROCE_CC_##name,
enum cc_index { CONGESTION_CONTROLS(CC_INDEX) CC_COUNT };
enum roce_cc_index { ROCE_CONTROLS(ROCE_CC_INDEX) ROCE_CC_COUNT };
#undef CC_INDEX
#undef ROCE_CC_INDEX

#define CC_STATE_BYTES 48

struct cc {
	double cwnd, ssthresh; /* bytes; a packet may always go when nothing is in flight */
	double mss;            /* payload bytes of a full packet */
	bps rate;         /* pacing rate; 0: no pacing, frames leave as fast as the window allows */
	sim_time gap;     /* between packets while the window is below one packet; otherwise 0 */
	bps line;         /* rate of the sender's link */
	const void *conf; /* parameters, as ops->table describes them; not owned */
	/* Time that the switches on the path, each with the link that leads to it, add to an idle
	 * round trip, both ways. Set only for a control with cc_ops.delays, otherwise 0. Follows
	 * the routes, as `hops` does. */
	sim_time switches;
	uint32_t hops; /* switches on the path */
	bool trims;    /* switches cut packets (net/network.h); as `trip` */
	/* Idle, through the top of the network. Set only with cc_ops.telemetry() or selective. */
	sim_time trip;
	alignas(uint64_t) unsigned char state[CC_STATE_BYTES]; /* the algorithm's, see CC_STATE() */
};

/* Defines x_of(cc): the algorithm's struct x in cc->state. Checks that the struct fits. */
#define CC_STATE(name)                                                                             \
	static_assert(sizeof(struct name) <= CC_STATE_BYTES, #name " has too much state");         \
	static inline struct name *name##_of(const struct cc *cc)                                  \
	{                                                                                          \
		return (struct name *)(uintptr_t)cc->state;                                        \
	}

/* The same for a struct that does not fit: cc_ops.state is its size, and cc->state points to it. */
#define CC_LARGE_STATE(name)                                                                       \
	static inline struct name *name##_of(const struct cc *cc)                                  \
	{                                                                                          \
		return *(struct name *const *)(const void *)cc->state;                             \
	}

struct cc_ack {
	uint64_t ack;     /* cumulative: everything below has arrived */
	uint64_t snd_nxt; /* next byte to send; after going back, a byte sent before */
	uint64_t acked;   /* bytes newly acknowledged, 0 for a duplicate */
	/* TCP, and RoCE with cc_ops.selective: the packet that caused this ACK was marked;
	 * otherwise see on_cnp(). */
	bool ece;
	bool in_recovery; /* TCP: in fast recovery; RoCE: packets are sent again */
	uint64_t growth;  /* bytes of `acked` that may open the window: 0 if the application or the
			   * receiver, not the window, limited the sender */
	sim_time now;
	/* TCP: round trip of the earliest segment that this ACK answers; for a control with
	 * cc_ops.delays, without the time for which the receiver delayed the ACK. RoCE: round trip
	 * of the newest packet; means nothing if the connection's owner makes the packets. */
	sim_time rtt;
	/* Only for a control with cc_ops.telemetry(). What the switches told of the newest packet
	 * and of the one before it, over as many of them; NULL: nothing new. */
	const struct int_record *telemetry, *former;
};

/* Only for a control with cc_ops.selective. Bytes that are known to have arrived since the last
 * ACK, in order or not; of a packet that a switch has cut, as this ACK says, or 0; on their way. */
struct cc_arrival {
	uint64_t arrived, trimmed, flight;
};

struct int_record; /* net/telemetry.h */

struct cc_ops {
	const char *name, *help;
	const struct conf_table *table; /* its parameters: /tcp/control/NAME */
	bool ecn;                       /* packets are ECN-capable */
	bool paces;                     /* sets `rate` or `gap` */
	bool delays;                    /* reacts to cc_ack.rtt */
	/* RoCE: needs selective repeat (roce_conf.recovery). Its window bounds what is on its way,
	 * repeated packets, too, and not those that have come out of order or were trimmed. */
	bool selective;
	size_t state; /* bytes that the transport allocates, zeroed; see CC_LARGE_STATE() */
	/* Required with `delays`: the round trip in ps that a large window aims at. Reads conf,
	 * hops and switches. */
	double (*target)(const struct cc *cc);
	/* Optional. All members but cwnd, ssthresh, mss, line, conf, hops, switches and trip are
	 * 0. */
	void (*init)(struct cc *cc);
	/* on_ack(), on_loss() and on_timeout() are required over TCP, optional over RoCE. */
	void (*on_ack)(struct cc *cc, const struct cc_ack *ack);
	/* In place of on_ack(), of a control with `selective`. */
	void (*on_arrival)(struct cc *cc, const struct cc_ack *ack, const struct cc_arrival *news);
	void (*on_loss)(struct cc *cc, sim_time now); /* TCP: third duplicate ACK; RoCE: NACK */
	/* `nth`: timeouts since new data was acknowledged, from 1. `flight`: bytes in flight. */
	void (*on_timeout)(struct cc *cc, unsigned nth, uint64_t flight, sim_time now);
	/* Adds `by` bytes to the stream positions in the state (transport/tcp_repeat.c). Over TCP,
	 * required of a control that keeps such positions. */
	void (*move)(struct cc *cc, uint64_t by);
	/* Optional; only RoCE calls this and the functions below. A frame of `size` bytes leaves
	 * now; the rate that on_send() sets decides the gap behind that frame. Nobody reads the
	 * rate between two packets, so an algorithm's timers need no events: on_send() and on_cnp()
	 * first run the timers that were due before now. */
	void (*on_send)(struct cc *cc, uint32_t size, sim_time now);
	/* A CNP, or an ACK with the bit that cnp_interval() tells of, has arrived: the receiver got
	 * marked packets. */
	void (*on_cnp)(struct cc *cc, sim_time now);
	/* Required with on_cnp(). The shortest time between two CNPs of a receiver. 0: the receiver
	 * sends no CNPs, but sets a bit in the next ACK after a marked packet. */
	sim_time (*cnp_interval)(const struct cc *cc);
	/* Optional. Packets collect telemetry, and this header, in bytes, makes them and their ACKs
	 * so much longer. */
	uint32_t (*telemetry)(const struct cc *cc);
};

/* The parameters of all controls. Each table fills an array with one pointer per control. */
extern const struct conf_table cc_table, roce_cc_table;

/* The index of a control's parameters in the array that `table` fills. */
unsigned cc_index(const struct conf_table *table, const struct cc_ops *ops);

/* For transports. Calls cc_ops.init(), with room for cc_ops.state. */
void cc_open(struct cc *cc, const struct cc_ops *ops);
/* Frees what cc_ops.state asked for. */
void cc_close(struct cc *cc, const struct cc_ops *ops);

/* Grows the window: slow start up to ssthresh, then one mss per window. `growth`: as in cc_ack. */
void cc_grow(struct cc *cc, uint64_t growth);
/* Halves the window, to two segments at least (as Linux; RFC 5681 halves the bytes in flight). */
void cc_halve(struct cc *cc, sim_time now);
/* RFC 5681, equation (4): ssthresh becomes half of `flight`, at least two segments, and slow start
 * begins at one segment. Does nothing when the same segment times out again (`nth` > 1). */
void cc_collapse(struct cc *cc, unsigned nth, uint64_t flight, sim_time now);

#endif
