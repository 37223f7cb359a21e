/* The way of a packet from node to node, and the parts of a hop that lossless networks share. */
#ifndef INASIM_NET_HOP_H
#define INASIM_NET_HOP_H

#include "net/state.h"

/* Code that the compiler would rather share than inline three times. */
#define HOT_INLINE static inline __attribute__((always_inline))

sim_handler hop_arrive;

/* network.send and network.switch_send where there is no PAUSE. */
void hop_send(struct network *net, uint32_t host, const struct packet *packet);
void hop_switch_send(struct network *net, uint32_t back, const struct switch_send *send);

/* Puts a packet into an egress queue: tail drop, ECN mark (instantaneous queue
 * before the packet is added), then its place in time. A drop is counted. */
void network_enqueue(struct network *net, uint32_t port, const struct packet *packet);

/* Where the packet at the head goes on: at a host it is the host's own port, for an
 * answer. Whether it is a host cannot be foreseen, so this takes no branch. */
HOT_INLINE uint32_t hop_out_port(const struct port *port, const struct packet *packet)
{
	uint32_t in_switch = !port->to_host;

	return port->to_port + (packet->route[packet->hop * in_switch] & -in_switch);
}

/* Adds the random processing of the host at the far end, if it has any. */
sim_time hop_jittered(struct network *net, uint32_t number, sim_time arrival);

/* The packet at the head leaves at a known time: its arrival becomes the port's event. */
HOT_INLINE void hop_schedule_head(struct network *net, uint32_t number, const struct port *port,
				  sim_time depart)
{
	sim_time at = depart + port_class(net, port)->latency;

	if (__builtin_expect(port->flags & PORT_JITTERS, 0))
		at = hop_jittered(net, number, at);
	sim_schedule(net->sim, number, at);
}

/* Whether a queue above ecn_min marks; counts it. */
bool hop_marks_long(struct network *net, uint32_t number, uint64_t queue);

/* Whether ECN marks a packet that comes to a queue, which is up to date (port_advance_with());
 * counts it. */
HOT_INLINE bool hop_marks(struct network *net, uint32_t number, const struct packet *packet)
{
	const struct port *port = &net->ports[number];
	const struct link_class *link = port_class(net, port);
	uint64_t queue =
		link->ecn_in_packets ? port->count - port->sent : port->queued_bytes - packet->size;

	return queue > link->ecn_min && packet->flags & PACKET_ECT &&
	       hop_marks_long(net, number, queue);
}

/* A backlog longer than any before. */
void hop_longest_backlog(struct port *port, sim_time backlog);

/* The time until a port has sent all it holds, after a packet has come. */
HOT_INLINE void hop_note_backlog(struct port *port, sim_time backlog)
{
	if (__builtin_expect(backlog >= (port->max_backlog_ns + UINT64_C(1)) * PS_PER_NS, 0))
		hop_longest_backlog(port, backlog);
}

/* Whether the link loses the packet at the head, by chance. */
bool hop_lose(struct network *net, uint32_t number);

/* A packet has crossed the link behind a port. */
HOT_INLINE void hop_note(struct network *net, uint32_t number, const struct packet *packet)
{
	net->hops++;
	sim_digest(net->sim, number, packet->seq ^ packet_label(packet));
}

/* Takes the packet at the head off. False when there is none behind it. */
HOT_INLINE bool hop_unlink_head(struct port *port)
{
	uint32_t waited = !port->sent;

	/* also without a branch */
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

/* Asks a scheme what a switch does with an AGGREGATION packet that came from where port `back`
 * leads. */
HOT_INLINE void hop_at_switch(struct network *net, uint32_t sw, uint32_t back,
			      struct packet *packet, struct switch_actions *actions)
{
	actions->forward = false;
	actions->count = 0;
	net->protocols[packet->protocol].ops->at_switch(net->protocols[packet->protocol].self, sw,
							back, packet, actions);
}

#endif
