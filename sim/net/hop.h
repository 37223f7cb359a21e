/* The way of a packet, inside net/: what network.c needs to hand to the engine, and
 * the parts of a hop that lossless networks share. */
#ifndef INASIM_NET_HOP_H
#define INASIM_NET_HOP_H

#include "net/network.h"

#define HOP_AHEAD 24 /* events that hop_look_ahead() wants to know */

sim_handler hop_arrive;
sim_lookahead hop_look_ahead;

/* Adds the random processing of the host at the far end, if it has any. */
sim_time hop_jittered(struct network *net, uint32_t number, sim_time arrival);

/* Whether a queue above ecn_min marks. */
bool hop_marks(const struct link_class *link, struct rng *stream, uint64_t queue);

/* A backlog longer than any before. */
void hop_note_backlog(struct port *port, sim_time backlog);

/* Whether the link loses the packet at the head, by chance. */
bool hop_lose(struct network *net, uint32_t number);

#endif
