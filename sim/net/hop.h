/* The way of a packet, inside net/: what network.c needs to hand to the engine, and
 * the parts of a hop that lossless networks share. */
#ifndef INASIM_NET_HOP_H
#define INASIM_NET_HOP_H

#include "net/network.h"

/* Code that the compiler would rather share than inline three times. */
#define HOT_INLINE static inline __attribute__((always_inline))

#define HOP_AHEAD 24 /* events that hop_look_ahead() wants to know */

/* How far ahead of its event what is asked for. */
enum { AHEAD_PORT = HOP_AHEAD, AHEAD_PACKET = 16, AHEAD_OUT = 10, AHEAD_TAIL = 5 };

sim_handler hop_arrive;
sim_lookahead hop_look_ahead;

/* Where the packet at the head goes on: at a host it is the host's own port, for an
 * answer. Whether it is a host cannot be foreseen, so this takes no branch. */
HOT_INLINE uint32_t hop_out_port(const struct port *port, const struct packet *packet)
{
	uint32_t in_switch = !port->to_host;

	return port->to_port + (packet->route[packet->hop * in_switch] & -in_switch);
}

/* Adds the random processing of the host at the far end, if it has any. */
sim_time hop_jittered(struct network *net, uint32_t number, sim_time arrival);

/* Whether a queue above ecn_min marks. */
bool hop_marks(const struct link_class *link, struct rng *stream, uint64_t queue);

/* A backlog longer than any before. */
void hop_note_backlog(struct port *port, sim_time backlog);

/* Whether the link loses the packet at the head, by chance. */
bool hop_lose(struct network *net, uint32_t number);

#endif
