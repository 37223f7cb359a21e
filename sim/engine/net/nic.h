/* The network card (NIC) of a host's link, whose sources take turns.
 *
 * A source (a connection, a tree of a job ...) that may send is put into the
 * NIC's ring of waiting sources. Whenever the transmitter is free, the NIC takes
 * a packet from the next source. So the packets of a window wait at their source
 * and not in an unbounded queue, as with TCP small queues or RDMA queue pairs.
 * Sources share a NIC equally whatever their windows are: by packets (NIC_TURNS)
 * or by bytes (NIC_BYTES). The two differ where packet sizes differ: beside one
 * stream of 1518-byte TCP frames, a stream of 180-byte aggregation packets gets
 * about a ninth of the link by packets, and half of it by bytes. With NIC_FIFO
 * all packets of a source go into the port's queue at once: the plain model, in
 * which one large window delays everybody.
 *
 * Deferred departures. When its transmitter becomes free and sources wait, a NIC has an event if a
 * source that is not `deferrable` has ever waited in its ring, if the host has cores, or if the
 * network defers nothing.
 * Otherwise the NIC only sets PORT_DEFERRED, and the departure is carried out later, before
 * anything could tell the difference:
 *   - before the packet at the head of the port arrives, since deferred packets come behind it;
 *   - before a packet is delivered to the host;
 *   - before a source of the host is taken out;
 *   - before the state that a source's pull() reads is changed, see nic_wake();
 *   - before any timer runs (sim->catch_up), except those of which timer_apart() was called.
 * In pull(), sim->now is set back to the time of the departure, so results and digests are the
 * same. Only code that marks a source as deferrable has to care. */
#ifndef INASIM_NET_NIC_H
#define INASIM_NET_NIC_H

#include "core/rng.h"
#include "net/state.h"

enum nic_pull {
	NIC_NOTHING, /* no packet; the source leaves the ring */
	NIC_LAST,    /* a packet, but no further one is ready; the source leaves the ring */
	NIC_MORE,    /* a packet, and another one is ready */
};

/* A source fills in *packet, which goes to the port now, and starts its timers. */
typedef enum nic_pull nic_source_pull(void *owner, struct packet *packet);

enum nic_mode {
	NIC_TURNS, /* one packet per turn */
	NIC_FIFO,
	NIC_BYTES, /* deficit round robin: NIC_QUANTUM bytes per turn */
};

#define NIC_NONE    UINT32_MAX
#define NIC_QUANTUM 1538 /* a full-sized frame with preamble and gap */

/* Embedded in its owner, which calls nic_forget() before freeing it. */
struct nic_source {
	struct nic_source *next;
	nic_source_pull *pull;
	void *owner;
	int32_t credit; /* NIC_BYTES: bytes left of this turn */
	bool waiting;
	bool urgent;     /* sends control packets only, which a host never holds back */
	bool deferrable; /* may be set if nic_deferrable() allows it. Speed only */
};

struct nic {
	struct network *net;
	struct nic_source *last; /* ring of waiting sources: last->next is next to be served */
	uint32_t port;           /* egress port; the number of the host if this is its first */
	uint32_t entity;         /* its event: the transmitter becomes free */
	uint8_t mode;            /* enum nic_mode */
	bool armed;              /* the entity is pending; saves a look at the event queue */
	bool by_event;           /* no departure is deferred any more */
	bool catching_up; /* sim->now is set back: even the next departure may be in the past */
	bool listed;      /* in the list that begins at network.deferred_first */
	bool serving;     /* nic_serve() is running */
	struct rng idle_stream; /* for idle_max, see below */
} __attribute__((aligned(64))); /* one cache line */

/* A NIC that was idle delays its next data packet by a random time, uniform up to
 * link_class.idle_max. Without this delay, hosts that send when something arrives would keep their
 * order in a queue for ever, and phases would decide shares (Floyd and Jacobson, "On Traffic Phase
 * Effects in Packet-Switched Gateways", 1992). Control packets, and data that follows data without
 * a gap, are not delayed. */

/* A NIC whose host has cores (struct host_cores) takes the next data packet when these are done
 * with the one before, or when the transmitter is free, whichever is later. */

void nic_init(struct nic *nic, struct network *net, uint32_t port, enum nic_mode mode);

/* Whether a source may be `deferrable`. `min` is the shortest timer that its pull() sets; it must
 * exceed the longest time by which a departure is deferred (network.nic_lag). Call this after all
 * links have been made. A deferrable source promises that the state that pull() reads changes in
 * events of its host only. Code that reads or writes this state in an event of another host calls
 * network_catch_up() first. */
bool nic_deferrable(const struct network *net, sim_time min);

/* From now on departures may be deferred, if no link of a host has latency 0. Call it after all
 * links have been made. */
void nic_may_defer(struct network *net);

/* The source has something to send; no effect if it waits already. Deferred departures must not see
 * a later change of the state that pull() reads. So code that changes this state outside of
 * deliveries to the host and timers first calls network_catch_up(); nic_wake() checks this. */
void nic_wake(struct nic *nic, struct nic_source *source);

/* Serves the sources if the port is free. Also called when PAUSE no longer stops the port. */
void nic_go_on(struct nic *nic);

/* The source of a host takes another of the host's NICs, given by its egress port. It is woken
 * there if it waited. */
void nic_move(struct network *net, struct nic_source *source, uint32_t from, uint32_t to);

/* Takes a source out of the ring. */
void nic_forget(struct nic *nic, struct nic_source *source);

#endif
