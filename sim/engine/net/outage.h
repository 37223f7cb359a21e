/* Links that fail and are repaired.
 *
 * A link that is down takes packets at its rate, and they go nowhere: each packet that was in the
 * port at any time of the outage is lost, whether it was on the wire, in the queue, or came later.
 * So senders keep their turns and timers, and nothing else has to know. Both directions fail
 * together, and both ends forget that PAUSE has stopped them. A switch that fails takes all its
 * links with it and loses what it has added up. Where only its aggregation fails, it loses what it
 * has added up and the packets that it should add (protocol_ops.adds_at); all else goes on.
 *
 * Arrivals find lost packets in hop_lose(), the slow path of losses by chance. A port that never
 * fails does not take it because of outages (PORT_SLOW). */
#ifndef INASIM_NET_OUTAGE_H
#define INASIM_NET_OUTAGE_H

#include "net/state.h"

struct outages {
	uint16_t *down; /* by port: how many failures keep it down */
	/* By port: data and control packets that it held at its last failure or repair and that
	 * have not arrived. Within a class none overtakes, so they are the next to arrive. */
	uint32_t (*stranded)[2];
	uint64_t *lost;     /* by port: packets lost so far */
	uint64_t failures;  /* so far, of ports and switches */
	uint64_t *failed;   /* by port: `failures` when it last failed; 0 = never */
	uint64_t *wiped;    /* by switch: `failures` when it last lost its memory; 0 = never */
	bool *adds_nothing; /* by switch: its aggregation has failed */
};

/* Links may fail from now on. Call it before the first packet. Such a network is never cut. */
void network_may_fail(struct network *net);
void outages_free(struct outages *outages); /* takes NULL */

static inline bool network_is_down(const struct network *net, uint32_t port)
{
	return net->outages && net->outages->down[port];
}

static inline bool network_adds_nothing(const struct network *net, uint32_t sw)
{
	return net->outages && net->outages->adds_nothing[sw];
}

/* What a port holds at a failure or a repair will be lost. */
void outage_strands(const struct network *net, uint32_t port);

/* For hop_lose(): whether an outage takes the packet that arrives from a port. Counts the loss. */
bool outage_takes(const struct network *net, uint32_t port, const struct packet *packet);

#endif
