/* The time that hosts need to add gradients. All parameter servers on a host share it as one serial
 * resource, first come first served.
 *
 * With topology.host.reduction_rate, `size` bytes of received gradients take size * 8 / rate,
 * rounded up to a picosecond, after all earlier requests of the host. Each of several NICs of a
 * machine is a host with an equal part of the rate. Without a rate adding takes no time. Completion
 * times of a host never decrease: callers need only a FIFO and one timer. */
#ifndef INASIM_COLLECTIVE_REDUCER_H
#define INASIM_COLLECTIVE_REDUCER_H

#include "base/types.h"

struct reducers {
	bps rate; /* 0 = no limit */
	uint32_t hosts;
	struct reducer *host; /* owned */
};

struct reducer {
	sim_time free_at; /* end of all requests so far */
	sim_time busy;    /* total time spent adding, up to `free_at` */
};

void reducers_init(struct reducers *reducers, uint32_t hosts, bps rate);
void reducers_release(struct reducers *reducers);

/* The host is to add `size` bytes. Returns the completion time, `now` at the earliest. */
sim_time reducers_add(struct reducers *reducers, uint32_t host, sim_time now, bytes size);

#endif
