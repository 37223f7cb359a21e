/* Window-based congestion control of a TCP connection.
 *
 * An algorithm is one file with one const struct cc_ops and one line in
 * CONGESTION_CONTROLS. It moves the window; loss detection and recovery are
 * tcp.c's. Windows are doubles: additions, multiplications and divisions of
 * IEEE doubles are the same everywhere, and they decide what to send, not when. */
#ifndef INASIM_TRANSPORT_CC_H
#define INASIM_TRANSPORT_CC_H

#include "base/types.h"

#include <stdbool.h>

#define CONGESTION_CONTROLS(X)                                                                     \
	X(dctcp)                                                                                   \
	X(reno)

struct cc {
	double cwnd, ssthresh; /* bytes */
	double mss;
	double g;              /* gain of estimators (DCTCP) */
	union {
		struct {
			double alpha;
			uint64_t window_end; /* alpha is updated when this has been acknowledged */
			uint64_t bytes_acked, bytes_marked;
			uint64_t cwr_end; /* no second cut before this has been acknowledged */
			bool cwr;
		} dctcp;
	};
};

struct cc_ack {
	uint64_t ack;     /* cumulative: everything below has arrived */
	uint64_t snd_nxt; /* next new byte */
	uint64_t acked;   /* bytes newly acknowledged, 0 for a duplicate */
	bool ece;         /* the packet that caused this ACK was marked */
	bool in_recovery; /* of a loss */
	bool may_grow;    /* the window, not the application or the NIC, was the limit */
};

struct cc_ops {
	const char *name, *help;
	bool ecn; /* packets are ECN-capable */
	/* All required. cwnd, ssthresh, mss, g are set before init. */
	void (*init)(struct cc *cc);
	void (*on_ack)(struct cc *cc, const struct cc_ack *ack);
	void (*on_loss)(struct cc *cc);                      /* third duplicate ACK */
	void (*on_timeout)(struct cc *cc, uint64_t flight); /* flight in bytes */
};

const struct cc_ops *cc_kind(unsigned index); /* NULL behind the last */
extern const char *const cc_names[];          /* for ENUM rows, same order */

/* What every algorithm shares: slow start, then one mss a window. */
void cc_grow(struct cc *cc, uint64_t acked);
/* RFC 5681: half a window, at least two segments. */
void cc_halve(struct cc *cc);
void cc_collapse(struct cc *cc, uint64_t flight);

#endif
