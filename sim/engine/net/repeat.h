/* What of a network decides its future, for runs that repeat themselves (core/repeat.h): rings of
 * ports, transmitters, NICs and their turns; and what only counts. */
#ifndef INASIM_NET_REPEAT_H
#define INASIM_NET_REPEAT_H

#include "core/repeat.h"
#include "net/state.h"

/* Whether this can tell all of it: not with partitions, watched ports or faults of tests. */
bool network_can_repeat(const struct network *net);

/* Fits repeat.walk. Behind whoever sets the streams of packets. */
void network_repeat(struct network *net, struct repeat *repeat);

/* A packet but for `depart`: of those that wait at hosts or in switches, too. */
void network_repeat_packet(const struct network *net, struct repeat *repeat, struct packet *packet);

/* Fits repeat.fact. */
const struct repeat_stream *network_repeat_fact(const struct network *net, uint32_t port,
						uint64_t *seq, uint64_t *label);

#endif
