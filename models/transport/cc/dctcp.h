/* DCTCP's state and its ops, for tests and for connections that always use DCTCP. */
#ifndef INASIM_TRANSPORT_CC_DCTCP_H
#define INASIM_TRANSPORT_CC_DCTCP_H

#include "transport/cc/cc.h"

enum dctcp_rules { DCTCP_RFC8257, DCTCP_LINUX };

struct dctcp_conf {
	double g;
	int rules; /* enum dctcp_rules; linux: the next three hold */
	bool cwr_above, whole_packets, prr;
};

struct dctcp {
	double alpha;        /* estimate of the marked fraction */
	uint64_t window_end; /* alpha is updated when more than this is acknowledged */
	uint64_t bytes_acked, bytes_marked;
	uint64_t
		cwr_end; /* no second cut before all below this is acknowledged; 0: none was made */
	float prior;     /* with prr: window before the cut */
	/* With prr, until cwr_end: bytes that have arrived since the cut. With whole_packets,
	 * otherwise: bytes on the way to the next packet of the window. */
	float counted;
};
CC_STATE(dctcp)

extern const struct cc_ops dctcp_cc;

#endif
