/* The state of a network, for runs that repeat themselves (core/repeat.h): what decides its future
 * (rings of ports, transmitters, NICs and their turns), and what only counts. */
#ifndef INASIM_NET_REPEAT_H
#define INASIM_NET_REPEAT_H

#include "core/repeat.h"
#include "net/state.h"

/* Whether network_repeat() covers all of the state: not with partitions, watched ports, an onlooker
 * or faults of tests. */
bool network_can_repeat(const struct network *net);

/* For repeat.walk, after whoever sets the streams of packets (repeat_base()). */
void network_repeat(struct network *net, struct repeat *repeat);

/* Goes through a packet but for its `depart`. Also for packets that hosts or schemes hold. */
void network_repeat_packet(const struct network *net, struct repeat *repeat, struct packet *packet);

#endif
