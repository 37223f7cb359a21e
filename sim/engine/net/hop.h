/* The path of a packet from node to node, shared by networks with and without PAUSE. */
#ifndef INASIM_NET_HOP_H
#define INASIM_NET_HOP_H

#include "net/state.h"

/* For the hot path: inlined into each caller, which compilers would not do on their own. */
#define HOT_INLINE static inline __attribute__((always_inline))

#define COPIES_AHEAD 4 /* see hop_prefetch_copies() */

sim_handler hop_arrive;
sim_handler hop_arrive_balanced; /* network_balance() */
sim_handler hop_port_free;       /* sched_init() */

/* network.send and network.switch_send(_each) in networks without PAUSE. */
void hop_send(struct network *net, uint32_t port, const struct packet *packet);
void hop_switch_send(struct network *net, uint32_t back, const struct switch_send *send);
void hop_switch_send_each(struct network *net, uint32_t back, const struct packet *packets,
			  const uint32_t *ports, uint32_t count);

/* The egress port by which the packet at the head leaves the node at the far end. At a host, this
 * is the host's own port, for an answer. There is no branch, since it could not be predicted. */
HOT_INLINE uint32_t hop_out_port(const struct port *port, const struct packet *packet)
{
	uint32_t in_switch = !port->to_host;

	return port->to_port + (packet->route[packet->hop * in_switch] & -in_switch);
}

/* The time of an arrival with the jitter and the cores of the host at the far end, and with delays
 * by tests. */
sim_time hop_jittered(struct network *net, uint32_t number, sim_time arrival);

/* Schedules the port's event: the arrival of the packet at the head, which leaves at `depart`. */
HOT_INLINE void hop_schedule_head(struct network *net, uint32_t number, const struct port *port,
				  sim_time depart)
{
	sim_time at = depart + port_class(net, port)->latency;

	if (__builtin_expect(port->flags & PORT_JITTERS, 0))
		at = hop_jittered(net, number, at);
	sim_schedule(net->sim, number, at);
}

/* For hop_marks(): whether a packet is marked that finds `queue` above ecn_min. Counts the mark. */
bool hop_marks_long(struct network *net, uint32_t number, uint64_t queue);

/* Whether ECN marks a packet that enters a queue, after port_advance_with(). Counts the mark. */
HOT_INLINE bool hop_marks(struct network *net, uint32_t number, const struct packet *packet)
{
	const struct port *port = &net->ports[number];
	const struct link_class *link = port_class(net, port);
	uint64_t queue =
		link->ecn_in_packets ? port->count - port->sent : port->queued_bytes - packet->size;

	return queue > link->ecn_min && packet->flags & PACKET_ECT &&
	       hop_marks_long(net, number, queue);
}

/* Stores a backlog longer than any before. */
void hop_longest_backlog(struct port *port, sim_time backlog);

/* Keeps the longest backlog. `backlog`: time that the port needs to send all packets it holds,
 * including a new one. */
HOT_INLINE void hop_note_backlog(struct port *port, sim_time backlog)
{
	if (__builtin_expect(backlog >= (port->max_backlog_ns + UINT64_C(1)) * PS_PER_NS, 0))
		hop_longest_backlog(port, backlog);
}

/* For ports with PORT_SLOW: whether the arriving packet is lost, by chance, by an outage or by a
 * test. If not, it takes the next leg of its route when it is time to (legs.h). Counts watched
 * traffic. */
bool hop_lose(struct network *net, uint32_t number, const struct packet *packet);

/* Tells onlooker and recorder that a packet enters the queue of a port, behind the first `at`
 * packets of the port's ring. Part of the slow path. */
void hop_queued(struct network *net, uint32_t number, const struct packet *packet, uint32_t at);

/* Counts a packet that has crossed the link of a port, and adds it to the digest. */
HOT_INLINE void hop_note(struct network *net, uint32_t number, const struct packet *packet)
{
	net->hops++;
	sim_digest(net->sim, number, packet->seq ^ packet_label(packet));
}

/* Takes the packet at the head off the ring. False if the ring is empty then. */
HOT_INLINE bool hop_unlink_head(struct port *port)
{
	uint32_t waited = !port->sent;

	/* the packet may still count as queued, as port_advance() is lazy; again no branch */
	port->sent -= !waited;
	port->queued_bytes -= port_head(port)->size & -waited;
	if (!--port->count) {
		port->head = 0; /* the first places stay in the cache */
		return false;
	}
	port->head = ring_index(port, 1);
	return true;
}

/* A packet has reached a host. */
HOT_INLINE void hop_deliver(struct network *net, uint32_t host, const struct packet *packet)
{
	network_catch_up(net, host, net->sim->now);
	net->delivered++;
	net->protocols[packet->protocol].ops->deliver(net->protocols[packet->protocol].self, host,
						      packet);
}

/* Prefetches memory for later copies, while copies leave by `count` ports and the i-th is next. */
HOT_INLINE void hop_prefetch_copies(const struct network *net, const uint32_t *ports, uint32_t i,
				    uint32_t count)
{
	if (i + 2 * COPIES_AHEAD < count)
		__builtin_prefetch(&net->ports[ports[i + 2 * COPIES_AHEAD]]);
	if (i + COPIES_AHEAD < count)
		port_prefetch_tail(&net->ports[ports[i + COPIES_AHEAD]]);
}

/* --- the one path --- */

/* What hop_put() does with a packet. ADMISSION_OVER: nothing more, because the packet has been
 * dropped or put in ahead of others. */
enum admission { ADMIT, ADMIT_MARKED, ADMISSION_OVER };

/* The steps of a hop that differ in networks with PAUSE. The kinds are constants, and the path
 * below is compiled once for each, so no call goes through a pointer. */
struct hop_kind {
	bool stops; /* PAUSE: packets may be charged, and a departure may be SIM_TIME_MAX */
	/* Decides on a packet if the queue is not quiet. queued_bytes includes the packet. */
	enum admission (*admit)(struct network *net, uint32_t port, const struct packet *packet,
				uint8_t hop);
	void (*resize)(struct network *net, uint32_t port, uint8_t bits);
	/* Puts a packet that came into a switch by port `in` into the queue of port `out`. */
	void (*forward)(struct network *net, uint32_t in, uint32_t out, const struct packet *packet,
			uint8_t hop);
	/* Sends a scheme's answer to a packet that came in by port `in`. */
	void (*copies)(struct network *net, uint32_t in, const struct switch_send *send);
	/* Returns the port at the far end that leads back to `port`. */
	uint32_t (*reverse)(const struct network *net, uint32_t port);
	/* Only with PAUSE. Stores the charge of the packet at place `at` of the ring. */
	void (*charge)(struct network *net, uint32_t port, uint32_t at, uint32_t charge);
	/* Only with PAUSE. Called when a packet has been put into the ring. */
	void (*has_come)(struct network *net, uint32_t port);
	/* Only with PAUSE. Called before the packet at the head leaves the ring. */
	void (*leaves)(struct network *net, uint32_t port);
};

/* Copies a packet that has passed `hop` switches into the queue. For packets that switches only
 * forward, this is the only copy per hop. Fields are changed in the ring and not
 * in a temporary, because a narrow store before a wide load stalls the processor. */
HOT_INLINE void hop_put(struct network *net, uint32_t number, const struct packet *packet,
			uint8_t hop, uint32_t charge, const struct hop_kind *kind)
{
	struct port *port = &net->ports[number];
	const struct link_class *link = port_class(net, port);
	sim_time now = net->sim->now, depart = port->busy_until;
	uint64_t busy = -(uint64_t)(depart > now); /* a mask: a branch could not be predicted */
	enum admission admission = ADMIT;
	uint32_t size = packet->size;
	struct packet *slot;

	depart = now + ((depart - now) & busy);
	port->sent = port->count - ((port->count - port->sent) & (uint32_t)busy);
	port->queued_bytes = (port->queued_bytes & busy) + size;
	/* These counts of the queue may include packets that have left. Then the slow path is taken
	 * in vain, but it is never missed. */
	if (__builtin_expect(port->queued_bytes > link->quiet_bytes ||
				     port->count - port->sent > link->quiet_packets,
			     0)) {
		admission = kind->admit(net, number, packet, hop);
		if (admission == ADMISSION_OVER)
			return;
	}
	if (__builtin_expect(port->count >> port->ring_bits, 0))
		kind->resize(net, number, ring_bits_more(port));
	if (!kind->stops || __builtin_expect(depart != SIM_TIME_MAX, 1))
		depart += link_transmission(link, size);
	port->busy_until = depart;
	port->bytes += size;
	if (!kind->stops)
		hop_note_backlog(port, depart - now);
	if (kind->stops)
		kind->charge(net, number, ring_index(port, port->count), charge);
	slot = &port->ring[ring_index(port, port->count)];
	*slot = *packet;
	slot->depart = depart;
	slot->hop = hop;
	port->packets++; /* not next to `bytes`: the compiler would pair them, which is slower */
	if (__builtin_expect(admission == ADMIT_MARKED, 0))
		slot->flags |= PACKET_CE;
	if (port->count++ == 0 && (!kind->stops || depart != SIM_TIME_MAX))
		hop_schedule_head(net, number, port, depart);
	if (kind->stops)
		kind->has_come(net, number);
}

/* Takes the packet at the head, which has arrived, off the ring and schedules the next arrival. */
HOT_INLINE void hop_next(struct network *net, uint32_t number, struct port *port,
			 const struct hop_kind *kind)
{
	if (kind->stops)
		kind->leaves(net, number);
	if (hop_unlink_head(port) && (!kind->stops || port_head(port)->depart != SIM_TIME_MAX))
		hop_schedule_head(net, number, port, port_head(port)->depart);
}

/* Makes the ring smaller if most of it is unused. */
HOT_INLINE void hop_shrink(struct network *net, uint32_t number, const struct port *port,
			   const struct hop_kind *kind)
{
	if (__builtin_expect(ring_is_wide(port), 0))
		kind->resize(net, number, port->ring_bits - 1);
}

/* Calls the scheme for an AGGREGATION packet that has passed the pipeline of a switch. */
HOT_INLINE void hop_aggregate(struct network *net, uint32_t number, struct packet *packet,
			      const struct hop_kind *kind)
{
	uint32_t sw = net->ports[number].to - net->hosts, in = kind->reverse(net, number);
	struct switch_actions actions;

	actions.forward = false; /* no initializer: it would clear the packets, too */
	actions.count = 0;
	net->protocols[packet->protocol].ops->at_switch(net->protocols[packet->protocol].self, sw,
							in, packet, &actions);
	if (actions.forward)
		kind->forward(net, in,
			      net->switch_nodes[sw].first_port + packet->route[packet->hop], packet,
			      packet->hop + 1);
	else
		net->absorbed++;
	for (unsigned i = 0; i < actions.count; i++)
		kind->copies(net, in, &actions.send[i]);
}

/* Prefetches the packet that will arrive next, if known. Speed only: between two arrivals a ring
 * drops out of the first-level cache, even if all rings fit into the second level. */
HOT_INLINE void hop_prefetch_next(const struct network *net)
{
	uint32_t next = equeue_coming(&net->sim->queue);

	if (next < net->port_count)
		__builtin_prefetch(port_head(&net->ports[next]));
}

/* The packet at the head of a port's ring reaches the far end. */
HOT_INLINE void hop_path(struct network *net, uint32_t number, const struct hop_kind *kind,
			 void (*aggregate)(struct network *net, uint32_t number,
					   struct packet *packet))
{
	struct port *port = &net->ports[number];
	const struct packet *head;
	struct packet packet;

	if (port->flags & PORT_DEFERRED && port->busy_until < net->sim->now)
		net->catch_up(net, number, net->sim->now); /* adds packets behind the head */
	head = port_head(port);
	hop_note(net, number, head);
	if (__builtin_expect(port->flags & PORT_SLOW, 0) && hop_lose(net, number, head)) {
		hop_next(net, number, port, kind);
		hop_shrink(net, number, port, kind);
		return;
	}
	hop_prefetch_next(net);
	if (!port->to_host && __builtin_expect(head->kind != PACKET_AGGREGATION, 1)) {
		/* into another port's ring, so `head` stays valid while it is copied */
		kind->forward(net, kind->reverse(net, number),
			      port->to_port + head->route[head->hop], head, head->hop + 1);
		hop_next(net, number, port, kind);
		hop_shrink(net, number, port, kind);
		return;
	}
	if (port->to_host) {
		/* `head` stays valid: only a switch puts packets into this ring, not the host */
		hop_next(net, number, port, kind);
		hop_deliver(net, port->to_port, head);
		hop_shrink(net, number, port, kind);
		return;
	}
	packet = *head;
	hop_next(net, number, port, kind);
	hop_shrink(net, number, port, kind);
	aggregate(net, number, &packet);
}

#endif
