/* Tells core/repeat.h about a period of a network that is recorded: facts of the digest, and
 * packets that meet in queues and nodes. */
#ifndef INASIM_NET_RECORD_H
#define INASIM_NET_RECORD_H

#include "core/repeat.h"
#include "net/state.h"

/* From now on `recorder` records a period; NULL ends this. `recorder` is not owned. */
void network_record(struct network *net, struct repeat *recorder);

/* Called by hops while a period is recorded: a packet enters the queue of a port. */
void network_repeat_queued(const struct network *net, uint32_t port, const struct packet *packet);

/* For repeat.fact. */
uint32_t network_repeat_fact(const struct network *net, uint32_t port, struct repeat_fact *fact);

#endif
