/* A host's network card: sources take turns, packet by packet.
 *
 * A source (a connection, a tree of a job ...) that may send is put into the
 * NIC's ring of waiting sources; the NIC takes one packet from the next source
 * whenever its transmitter is free. A window therefore waits at its source and
 * not in an unbounded queue, as with TCP small queues or RDMA queue pairs, and
 * sources share a NIC fairly whatever their windows are. With `fifo` a source's
 * packets are all taken at once into the port's queue (the plain model, which
 * lets one large window delay everybody; kept to show the difference). */
#ifndef INASIM_NET_NIC_H
#define INASIM_NET_NIC_H

#include "core/sim.h"
#include "net/packet.h"

struct network;

enum nic_pull {
	NIC_NOTHING, /* no packet, the source drops out */
	NIC_LAST,    /* a packet, and none is ready behind it */
	NIC_MORE,    /* a packet, and another one is ready */
};

/* Fills in *packet, which leaves now (the caller starts timers here). */
typedef enum nic_pull nic_source_pull(void *owner, struct packet *packet);

/* Embedded in its owner, which calls nic_forget() before it goes away. */
struct nic_source {
	struct nic_source *next;
	nic_source_pull *pull;
	void *owner;
	bool waiting;
};

struct nic {
	struct network *net;
	struct nic_source *last; /* ring of waiting sources: last->next is next to be served */
	uint32_t host;           /* its egress port has the same number */
	uint32_t entity;         /* transmitter becomes free */
	bool fifo;
	bool armed;             /* the entity is pending, known without a look at the event queue */
} __attribute__((aligned(32))); /* never across two lines of cache */

void nic_init(struct nic *nic, struct network *net, uint32_t host, bool fifo);

/* The source has something to send. Harmless when it waits already. */
void nic_wake(struct nic *nic, struct nic_source *source);

/* Takes a source out of the ring. */
void nic_forget(struct nic *nic, struct nic_source *source);

#endif
