/* What a network tells of a period that is recorded (core/repeat.h): facts of the digest, and what
 * meets in queues and nodes. */
#ifndef INASIM_NET_RECORD_H
#define INASIM_NET_RECORD_H

#include "core/repeat.h"
#include "net/state.h"

/* A period is recorded from now on, by `recorder`; NULL: no more. */
void network_record(struct network *net, struct repeat *recorder);

/* For hops: a packet comes into the queue of a port while a period is recorded. */
void network_repeat_queued(const struct network *net, uint32_t port, const struct packet *packet);

/* For repeat.fact. */
uint32_t network_repeat_fact(const struct network *net, uint32_t port, struct repeat_fact *fact);

#endif
