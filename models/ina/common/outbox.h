/* A queue of packets that wait for their turns at a host's NIC. */
#ifndef INASIM_INA_COMMON_OUTBOX_H
#define INASIM_INA_COMMON_OUTBOX_H

#include "net/network.h"

struct outbox {
	struct nic *nic; /* not owned */
	struct nic_source source;
	struct packet *ring;
	uint64_t head, count, mask;
};

/* The struct must not move afterwards. */
void outbox_init(struct outbox *outbox, struct nic *nic);
void outbox_release(struct outbox *outbox);

void outbox_send(struct outbox *outbox, const struct packet *packet);

#endif
