/* A host's network card: its sources take turns.
 *
 * A source (a connection, a tree of a job ...) that may send is put into the
 * NIC's ring of waiting sources; the NIC takes one packet from the next source
 * whenever its transmitter is free. A window therefore waits at its source and
 * not in an unbounded queue, as with TCP small queues or RDMA queue pairs, and
 * sources share a NIC whatever their windows are: packet by packet, or byte by
 * byte. The difference is large where packets differ: beside one stream of
 * 1518-byte TCP frames, a stream of 180-byte aggregation packets gets an eighth
 * of the link in turns of a packet, and half of it in turns of equal bytes.
 * With NIC_FIFO a source's packets are all taken at once into the port's queue
 * (the plain model, which lets one large window delay everybody).
 *
 * Deferred departures. That a transmitter becomes free is an event of the NIC, unless all sources
 * in its ring are `deferrable`. Then it is noted (PORT_DEFERRED), and what the event would do is
 * done later, before anything could tell the difference:
 *   - before the packet at the head of the port arrives, since packets that the NIC sends meanwhile
 *     come behind it;
 *   - before a packet is delivered to the host;
 *   - when a source of the host is taken out;
 *   - before what a source reads is changed, see nic_wake();
 *   - before any timer runs (sim->catch_up), but for those of switches (timer_apart()).
 * While its sources are asked, sim->now is set back to the time of the departure, so results and
 * digests are the same. Only those who mark a source as deferrable have to care. */
#ifndef INASIM_NET_NIC_H
#define INASIM_NET_NIC_H

#include "core/rng.h"
#include "net/state.h"

enum nic_pull {
	NIC_NOTHING, /* no packet, the source drops out */
	NIC_LAST,    /* a packet, and none is ready behind it */
	NIC_MORE,    /* a packet, and another one is ready */
};

/* Fills in *packet, which leaves now (the caller starts timers here). */
typedef enum nic_pull nic_source_pull(void *owner, struct packet *packet);

enum nic_mode {
	NIC_TURNS, /* a packet a turn */
	NIC_FIFO,
	NIC_BYTES, /* deficit round robin: as many packets as NIC_QUANTUM has bytes */
};

#define NIC_NONE    UINT32_MAX
#define NIC_QUANTUM 1538 /* a full-sized frame with preamble and gap */

/* Embedded in its owner, which calls nic_forget() before it goes away. */
struct nic_source {
	struct nic_source *next;
	nic_source_pull *pull;
	void *owner;
	int32_t credit; /* NIC_BYTES: bytes left of this turn */
	bool waiting;
	bool urgent;     /* sends control packets only, which a host never holds back */
	bool deferrable; /* set where nic_deferrable() allows it: speed only */
};

struct nic {
	struct network *net;
	struct nic_source *last; /* ring of waiting sources: last->next is next to be served */
	uint32_t host;           /* its egress port has the same number */
	uint32_t entity;         /* its event: the transmitter becomes free */
	uint8_t mode;            /* enum nic_mode */
	bool armed;       /* the entity is pending, known without a look at the event queue */
	bool by_event;    /* defers nothing any more */
	bool catching_up; /* sim->now is set back: even the next departure may be in the past */
	bool listed;      /* in the list that begins at network.deferred_first */
	bool serving;     /* a source is asked for a packet */
	struct rng idle_stream; /* see idle_max below */
} __attribute__((aligned(64))); /* a line of cache */

/* A NIC that was idle begins to send data up to link_class.idle_max later, uniform. Without that,
 * hosts that send when something arrives keep their order in a queue for ever, and phases decide
 * shares (Floyd and Jacobson, "On Traffic Phase Effects in Packet-Switched Gateways", 1992). Data
 * that follows data without a gap is not delayed, nor are control packets. */

void nic_init(struct nic *nic, struct network *net, uint32_t host, enum nic_mode mode);

/* Whether a source may be `deferrable`; ask when all links are there. A departure is deferred by at
 * most the latency of the host's link, so the shortest timer that pull() sets (`min`) must be
 * longer. The source promises that what pull() reads changes in events of its host only; whoever
 * reads or writes it in an event of another host calls network_catch_up() first. */
bool nic_deferrable(const struct network *net, sim_time min);

/* When all links are there: from now on departures may be deferred, if all links of hosts take
 * time. */
void nic_may_defer(struct network *net);

/* The network has been cut: each NIC moves to the view of its host. Before the first packet. */
void nic_cut(struct network *net);
/* Each NIC moves back to the whole, with what it has deferred. */
void nic_join(struct network *net);

/* The source has something to send; harmless when it waits already. Departures that are deferred
 * must not see a later change of what pull() reads. So whoever makes such a change, other than in a
 * delivery to the host or in a timer, first calls network_catch_up(); nic_wake() checks that. */
void nic_wake(struct nic *nic, struct nic_source *source);

/* The port is no longer stopped by PAUSE (while it is, it is busy for ever). */
void nic_go_on(struct nic *nic);

/* Takes a source out of the ring. */
void nic_forget(struct nic *nic, struct nic_source *source);

#endif
