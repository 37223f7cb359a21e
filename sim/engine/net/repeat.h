/* Goes through the state of a network, for runs that repeat themselves (core/repeat.h): rings of
 * ports, transmitters, NICs and their turns, counters. */
#ifndef INASIM_NET_REPEAT_H
#define INASIM_NET_REPEAT_H

#include "core/repeat.h"
#include "net/state.h"

/* Whether network_repeat() covers all of the state. It does not with links that may fail
 * (outage.h), watched ports, an onlooker or faults of tests. */
bool network_can_repeat(const struct network *net);

/* For repeat.walk, which first calls repeat_base() for the streams of packets. */
void network_repeat(struct network *net, struct repeat *repeat);

/* Goes through a packet except its `depart`. Also for packets that hosts or schemes hold. */
void network_repeat_packet(const struct network *net, struct repeat *repeat, struct packet *packet);

#endif
