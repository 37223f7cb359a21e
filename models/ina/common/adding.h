/* A queue of packets that a host has received and not yet added up. It is used only where the
 * host's reduction rate is limited (collective/reducer.h). */
#ifndef INASIM_INA_COMMON_ADDING_H
#define INASIM_INA_COMMON_ADDING_H

#include "collective/reducer.h"
#include "net/network.h"

struct adding {
	struct network *net; /* not owned */
	uint32_t job;
	struct reducers *reducers; /* not owned */
	uint32_t host;
	struct adding_packet {
		struct packet packet;
		sim_time due;
		uint32_t why; /* what why_work_begins() returned on arrival; why_work_ends() wants
				 it back */
	} * ring;
	uint64_t head, count, mask;
	struct timer timer; /* for the first packet */
	void (*added)(void *owner, const struct packet *packet);
	void *owner;
};

/* `added` is called with each packet when the host has added it up. `key` names the timer
 * (transport/keys.h). The struct must not move afterwards. */
void adding_init(struct adding *queue, struct network *net, uint32_t job, struct reducers *reducers,
		 uint32_t host, uint64_t key,
		 void (*added)(void *owner, const struct packet *packet), void *owner);
void adding_release(struct adding *queue);

/* Queues a packet with `size` bytes to add. A packet with no bytes to add takes no time, but does
 * not overtake the packets before it. */
void adding_push(struct adding *queue, const struct packet *packet, bytes size);

#endif
