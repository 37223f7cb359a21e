/* DCTCP's state and its ops, for tests and for connections that always use DCTCP. */
#ifndef INASIM_TRANSPORT_CC_DCTCP_H
#define INASIM_TRANSPORT_CC_DCTCP_H

#include "transport/cc/cc.h"

struct dctcp {
	double alpha;        /* estimate of the marked fraction */
	uint64_t window_end; /* alpha is updated when more than this is acknowledged */
	uint64_t bytes_acked, bytes_marked;
	uint64_t cwr_end; /* no second cut before all below this is acknowledged */
	bool cwr;
};
CC_STATE(dctcp)

extern const struct cc_ops dctcp_cc;

#endif
