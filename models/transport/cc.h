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
	double g; /* gain of estimators (DCTCP) */
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
	uint64_t growth;  /* those of `acked` by which the window may open: 0 when the application
			   * or the receiver, not the window, was the limit */
};

struct cc_ops {
	const char *name, *help;
	bool ecn; /* packets are ECN-capable */
	/* All required. cwnd, ssthresh, mss, g are set before init. */
	void (*init)(struct cc *cc);
	void (*on_ack)(struct cc *cc, const struct cc_ack *ack);
	void (*on_loss)(struct cc *cc); /* third duplicate ACK */
	/* The first timeout of a segment, not its repetitions; flight in bytes. */
	void (*on_timeout)(struct cc *cc, uint64_t flight);
};

const struct cc_ops *cc_kind(unsigned index); /* NULL behind the last */
extern const char *const cc_names[];          /* for ENUM rows, same order */

/* What every algorithm shares: slow start up to ssthresh, then one mss a window. */
void cc_grow(struct cc *cc, uint64_t growth);
/* Half a window, at least two segments (as Linux; RFC 5681 halves the flight). */
void cc_halve(struct cc *cc);
/* RFC 5681 (4): half of what was in flight, then slow start from one segment. */
void cc_collapse(struct cc *cc, uint64_t flight);

#endif
