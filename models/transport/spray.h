/* Packets of one connection over all shortest paths. A packet's entropy value (EV) picks its route
 * as a flow's hash does with ECMP, so a switch that hashes is meant, and the sender changes what it
 * hashes. Which value a packet gets is decided here.
 *
 * random: each packet draws one. oblivious: all in turn, in an order that is drawn anew each time
 * round (uet-htsim, uec_mp.cpp). reps: values of which an ACK came without a mark are used again,
 * others are drawn (REPS, Bonato et al. 2024, with its ring of eight; without the freezing of paths
 * after a timeout).
 *
 * With as many values as uet-htsim a permutation takes as long as there (scenarios/baselines), if
 * DCTCP's threshold is near a bandwidth-delay product, since any marked path cuts the window of
 * all, and if RACK waits long enough, since a segment that it takes for lost costs half a window.
 *
 * Values lead to routes of connections (transport_route()); several may lead to one. ACKs keep the
 * path of the connection. */
#ifndef INASIM_TRANSPORT_SPRAY_H
#define INASIM_TRANSPORT_SPRAY_H

#include "core/rng.h"
#include "topo/topology.h"

enum spray_kind { SPRAY_NONE, SPRAY_RANDOM, SPRAY_OBLIVIOUS, SPRAY_REPS };
extern const char *const spray_names[];

#define SPRAY_RING 8

struct spray {
	struct rng rng;
	uint16_t kind, mask; /* enum spray_kind; number of values less 1, a power of two less 1 */
	uint16_t value;      /* of the newest packet */
	uint16_t turn, order;
	uint16_t ring[SPRAY_RING]; /* values to be used again: `kept` of them, the oldest first */
	uint8_t first, kept;
	struct route routes[]; /* by value */
};

/* A spray over 2^k = `paths` values for a connection with this key; the caller frees it. Fill in
 * its routes by spray_route() before use. */
struct spray *spray_new(int kind, uint32_t paths, uint64_t seed, uint64_t key);
/* Sets all routes anew, now and after each failure that routing learns of. On a host with several
 * links all of them leave by that of `own`, the connection's route. */
void spray_route(struct spray *spray, const struct topology *topo, uint32_t src, uint32_t dst,
		 uint64_t key, const struct route *own);
/* The value of the next packet. */
uint16_t spray_next(struct spray *spray);
/* An ACK says that the packet with this value has arrived. */
void spray_answered(struct spray *spray, uint16_t value, bool marked);

#endif
