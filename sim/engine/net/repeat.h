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

/* A period is recorded from now on, by `recorder`; NULL: no more. */
void network_record(struct network *net, struct repeat *recorder);

/* For hops: a packet comes into the queue of a port while a period is recorded. */
void network_repeat_queued(const struct network *net, uint32_t port, const struct packet *packet);

/* For repeat.fact. */
uint32_t network_repeat_fact(const struct network *net, uint32_t port, struct repeat_fact *fact);

#endif
