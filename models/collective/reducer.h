/* The time that hosts need to add gradients: each host is one serial resource, which all parameter
 * servers on it share, first come first served.
 *
 * Without a rate adding takes no time. With one (topology.host.reduction_rate), `size` bytes of
 * received gradients take size * 8 / rate, rounded up to a picosecond, after all that the host was
 * asked to add before. The completion times of a host never decrease, so a caller keeps what it
 * waits for in a FIFO with one timer, and nothing is allocated per packet. */
#ifndef INASIM_COLLECTIVE_REDUCER_H
#define INASIM_COLLECTIVE_REDUCER_H

#include "base/types.h"

/* Of all hosts of a run. */
struct reducers {
	bps rate; /* 0 = no limit */
	uint32_t hosts;
	struct reducer *host; /* owned */
};

struct reducer {
	sim_time free_at; /* when all that it was asked to add will have been added */
	sim_time busy;    /* time spent adding until then */
};

void reducers_init(struct reducers *reducers, uint32_t hosts, bps rate);
void reducers_release(struct reducers *reducers);

/* The host is to add `size` bytes. Returns when it is done: `now` at the earliest. */
sim_time reducers_add(struct reducers *reducers, uint32_t host, sim_time now, bytes size);

#endif
