/* Prefetches the memory that the next hops will touch. Speed only. */
#ifndef INASIM_NET_AHEAD_H
#define INASIM_NET_AHEAD_H

#include "net/state.h"

#define HOP_AHEAD 28 /* number of coming events that net_look_ahead() needs */

/* How many events before a hop its port, packet, next port and ring place are prefetched. Looks
 * come every SIM_LOOK_EVERY events, so it may be up to SIM_LOOK_EVERY - 1 events fewer. */
enum { AHEAD_PORT = HOP_AHEAD - 1, AHEAD_PACKET = 19, AHEAD_OUT = 12, AHEAD_TAIL = 6 };

sim_lookahead net_look_ahead;

#endif
