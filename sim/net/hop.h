/* The way of a packet, inside net/: what network.c needs to hand to the engine. */
#ifndef INASIM_NET_HOP_H
#define INASIM_NET_HOP_H

#include "core/sim.h"

#define HOP_AHEAD 24 /* events that hop_look_ahead() wants to know */

sim_handler hop_arrive;
sim_lookahead hop_look_ahead;

#endif
