/* Looking ahead, for speed only: what the next hops touch is fetched into the cache before their
 * events. */
#ifndef INASIM_NET_AHEAD_H
#define INASIM_NET_AHEAD_H

#include "net/state.h"

#define HOP_AHEAD 28 /* events that net_look_ahead() wants to know */

/* How many events ahead of its own each thing is prefetched, at most: looks come every
 * SIM_LOOK_EVERY events, so for some events it is up to SIM_LOOK_EVERY - 1 less. */
enum { AHEAD_PORT = HOP_AHEAD - 1, AHEAD_PACKET = 19, AHEAD_OUT = 12, AHEAD_TAIL = 6 };

sim_lookahead net_look_ahead;

#endif
