/* Routes around links that have failed, for networks whose links may fail (net/outage.h).
 *
 * Routing learns of a failure with a delay, by detours_learn(). From then on the usual route of a
 * flow stays if all its links work, as with resilient hashing. Otherwise the route becomes a
 * shortest path over working links, chosen by the flow's entropy as in graph.h. In a graph this
 * path may be longer than the longest usual route; in all other kinds it has as many switches as
 * the usual one. So there a packet that has gone down never goes up again, and PAUSE causes no
 * deadlocks; a pair without such a path is cut off, even if others lead down and up again. Clos
 * networks with BGP do the same: switches of a tier, or of its part in a pod, share an AS number,
 * so they refuse routes that have come by one of them (RFC 7938, section 5.2).
 *
 * Packets in flight keep their routes. */
#ifndef INASIM_TOPO_DETOURS_H
#define INASIM_TOPO_DETOURS_H

#include "topo/topology.h"

/* For topology_build(), when all links have been made. detours_free() allows NULL. */
struct detours *detours_new(const struct topology *topo);
void detours_free(struct detours *detours);

/* Tells `detours`, which is topology.detours or .forever, of one more failure (`down`) or one less
 * of the link of a port, in both directions. */
void detours_learn(const struct topology *topo, struct detours *detours, uint32_t port, bool down);

/* For topology_route(): replaces the usual route if routing knows that one of its links has failed.
 * If there is no other route, the usual one stays. */
void detours_mend(const struct topology *topo, uint32_t src, uint32_t dst, uint64_t entropy,
		  struct route *route);

/* detours_mend() for topology_route_between(), which keeps the links of the hosts. */
void detours_mend_between(const struct topology *topo, uint32_t from, uint32_t to, uint64_t entropy,
			  struct route *route);

/* As topology_ops.root and .up, but only over links that work as far as routing knows. For
 * tree_root() and tree_build(), once routing knows of a failure. detours_root() returns TREE_NONE
 * if no switch reaches all hosts. */
uint32_t detours_root(const struct topology *topo, const uint32_t *hosts, size_t count,
		      uint64_t entropy);
uint16_t detours_up(const struct topology *topo, uint32_t sw, uint32_t root);

/* Whether routing knows of failures now, and whether it knows that the link of a port has failed.
 */
bool detours_any(const struct topology *topo);
bool detours_lost(const struct topology *topo, uint32_t port);

/* As topology_ops.distances, but only over links that work as far as routing knows. */
const uint32_t *detours_distances(const struct topology *topo, uint32_t to);

#endif
