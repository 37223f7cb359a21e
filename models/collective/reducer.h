/* Adding gradients up on hosts takes time: one serial resource a host, shared by all parameter
 * servers on it, first come first served.
 *
 * Without a rate adding takes no time. With one (topology.host.reduction_rate), `size` bytes of
 * received gradients take size * 8 / rate, rounded up to a picosecond, behind everything that the
 * host was asked to add before. Completion times of a host never decrease, so a caller keeps what
 * it waits for in a FIFO with one timer, and nothing is allocated per packet. */
#ifndef INASIM_COLLECTIVE_REDUCER_H
#define INASIM_COLLECTIVE_REDUCER_H

#include "base/types.h"

/* Of all hosts of a run. */
struct reducers {
	bps rate; /* 0 = without limit */
	uint32_t hosts;
	struct reducer *host; /* owned */
};

struct reducer {
	sim_time free_at; /* everything before has been added by then */
	sim_time busy;    /* sum of what it has taken or will take */
};

void reducers_init(struct reducers *reducers, uint32_t hosts, bps rate);
void reducers_release(struct reducers *reducers);

/* Host `host` has got `size` bytes to add. Returns when it is done: `now` at the earliest. */
sim_time reducers_add(struct reducers *reducers, uint32_t host, sim_time now, bytes size);

#endif
