/* Congestion control of a connection: how much may be in flight, and how fast it may leave.
 *
 * An algorithm is one file with one const struct cc_ops, one const struct conf_table for its
 * parameters, and one line in CONGESTION_CONTROLS (of TCP) or ROCE_CONTROLS. It moves a window and
 * may set a rate; the transport detects and repairs loss. Windows are doubles: they decide what to
 * send, and additions, multiplications, divisions and square roots of IEEE doubles are the same
 * everywhere. The time at which a packet leaves is integer arithmetic (`rate`). */
#ifndef INASIM_TRANSPORT_CC_CC_H
#define INASIM_TRANSPORT_CC_CC_H

#include "conf/conf.h"

#include <assert.h>
#include <stdalign.h>
#include <stdbool.h>

#define CONGESTION_CONTROLS(X)                                                                     \
	X(dctcp)                                                                                   \
	X(reno)                                                                                    \
	X(swift)
#define ROCE_CONTROLS(X)                                                                           \
	X(dcqcn)                                                                                   \
	X(swift)                                                                                   \
	X(line_rate)

#define CC_INDEX(name)      CC_##name,
#define ROCE_CC_INDEX(name) ROCE_CC_##name,
enum cc_index { CONGESTION_CONTROLS(CC_INDEX) CC_COUNT };
enum roce_cc_index { ROCE_CONTROLS(ROCE_CC_INDEX) ROCE_CC_COUNT };
#undef CC_INDEX
#undef ROCE_CC_INDEX

#define CC_STATE_BYTES 48

struct cc {
	double cwnd, ssthresh; /* bytes; a packet may always go when nothing is in flight */
	double mss;
	bps rate;         /* at which frames leave; 0: as fast as the window allows */
	sim_time gap;     /* between packets, for a window below one packet; 0 = none */
	bps line;         /* rate of the sender's link */
	const void *conf; /* parameters, as ops->table describes them; not owned */
	/* What the switches of the path add to an idle round trip: their latency and that of the
	 * links behind them, both ways. 0 unless cc_ops.delays. */
	sim_time switches;
	uint32_t hops;                                         /* switches on the path */
	alignas(uint64_t) unsigned char state[CC_STATE_BYTES]; /* of the algorithm: CC_STATE() */
};

/* Defines struct x *x_of(const struct cc *): the state of an algorithm, which has to fit. */
#define CC_STATE(name)                                                                             \
	static_assert(sizeof(struct name) <= CC_STATE_BYTES, #name " has too much state");         \
	static inline struct name *name##_of(const struct cc *cc)                                  \
	{                                                                                          \
		return (struct name *)(uintptr_t)cc->state;                                        \
	}

struct cc_ack {
	uint64_t ack;     /* cumulative: everything below has arrived */
	uint64_t snd_nxt; /* next new byte */
	uint64_t acked;   /* bytes newly acknowledged, 0 for a duplicate */
	bool ece;         /* the packet that caused this ACK was marked */
	bool in_recovery; /* of a loss */
	uint64_t growth;  /* how many of `acked` may open the window: 0 if the application or the
			   * receiver, not the window, was the limit */
	sim_time now;
	sim_time rtt; /* of the packet that caused this ACK; without the receiver's wait for a
		       * control with cc_ops.delays */
};

struct cc_ops {
	const char *name, *help;
	const struct conf_table *table; /* its parameters: /tcp/control/NAME */
	bool ecn;                       /* packets are ECN-capable */
	bool paces;                     /* sets `rate` or `gap` */
	bool delays;                    /* goes by cc_ack.rtt */
	/* Optional. cwnd, ssthresh, mss, line, conf, hops and switches are set before;
	 * all else is 0. */
	void (*init)(struct cc *cc);
	/* TCP requires the next three; over RoCE they are optional. */
	void (*on_ack)(struct cc *cc, const struct cc_ack *ack);
	void (*on_loss)(struct cc *cc, sim_time now); /* TCP: third duplicate ACK; RoCE: NACK */
	/* The nth timeout, from 1, since something new was acknowledged. `flight` in bytes. */
	void (*on_timeout)(struct cc *cc, unsigned nth, uint64_t flight, sim_time now);
	/* Required of TCP's controls that keep positions in the stream: adds `by` to them
	 * (transport/tcp_repeat.c). */
	void (*move)(struct cc *cc, uint64_t by);
	/* Optional; only RoCE calls the rest. A frame of `size` bytes leaves now; the rate that
	 * this function sets decides the gap behind that frame. An algorithm's timers need no
	 * events, because nobody looks at the rate between two packets: this function and on_cnp()
	 * run the timers that were due before now. */
	void (*on_send)(struct cc *cc, uint32_t size, sim_time now);
	/* The receiver says that marked packets have come. */
	void (*on_cnp)(struct cc *cc, sim_time now);
	/* Required with on_cnp(): the shortest time between two CNPs of a receiver. 0: it sends no
	 * CNPs, but sets a bit in the ACK of each marked packet. */
	sim_time (*cnp_interval)(const struct cc *cc);
};

/* Each fills an array of pointers to the parameters of all controls of TCP, or of RoCE. */
extern const struct conf_table cc_table, roce_cc_table;

/* The place of a control's parameters in that array. */
unsigned cc_index(const struct conf_table *table, const struct cc_ops *ops);

/* Slow start up to ssthresh, then one mss a window. */
void cc_grow(struct cc *cc, uint64_t growth);
/* Half a window, at least two segments (as Linux; RFC 5681 halves the flight). */
void cc_halve(struct cc *cc, sim_time now);
/* RFC 5681 (4): half of what was in flight, then slow start from one segment; ssthresh stays when
 * the same segment times out again. */
void cc_collapse(struct cc *cc, unsigned nth, uint64_t flight, sim_time now);

#endif
