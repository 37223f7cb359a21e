/* Links that fail and are repaired.
 *
 * A port whose link is down still sends at its rate, but every packet is lost that is in the port
 * at any time of the outage: on the wire, in the queue, or put in later. So senders keep their
 * turns and timers and need not know of outages. Both directions fail together, and both ends
 * forget that PAUSE stopped them. When a switch fails, its links fail and it loses its sums. When
 * only its aggregation fails, its partial sums and the packets that it should add up are lost
 * (protocol_ops.adds_at); other traffic goes on.
 *
 * hop_lose(), on the slow path of arrivals, finds lost packets. Only ports that a failure has
 * affected take this path because of outages (PORT_SLOW). */
#ifndef INASIM_NET_OUTAGE_H
#define INASIM_NET_OUTAGE_H

#include "net/state.h"

struct outages {
	uint16_t *down;         /* by port: how many failures keep it down */
	uint16_t *adds_nothing; /* by switch: how many failures stop its aggregation */
	/* By port: number of data and control packets that it held at its last failure or repair
	 * and that have not arrived. Within a class order is kept, so they arrive next. */
	uint32_t (*stranded)[2];
	uint64_t *lost;    /* by port: packets lost so far */
	uint64_t failures; /* so far, of ports and switches */
	uint64_t *failed;  /* by port: `failures` when it last failed; 0 = never */
	uint64_t *wiped;   /* by switch: `failures` when it last lost its memory; 0 = never */
};

/* From now on links may fail, and the network is never cut. Call it before the first packet. */
void network_may_fail(struct network *net);
void outages_free(struct outages *outages); /* NULL is allowed */

static inline bool network_is_down(const struct network *net, uint32_t port)
{
	return net->outages && net->outages->down[port];
}

static inline bool network_adds_nothing(const struct network *net, uint32_t sw)
{
	return net->outages && net->outages->adds_nothing[sw];
}

/* Called at a failure or a repair: all packets that the port holds will be lost. */
void outage_strands(const struct network *net, uint32_t port);

/* For hop_lose(): whether an outage loses the packet that arrives from a port. Counts the loss. */
bool outage_takes(const struct network *net, uint32_t port, const struct packet *packet);

#endif
