/* Routes around links that have failed, for networks whose links may fail (net/outage.h).
 *
 * Routing learns of a failure late, when somebody tells it. From then on the usual route of a flow
 * stays if all its links work, as with resilient hashing. Any other route becomes a shortest path
 * over the links that work, chosen by the flow's entropy: each switch uses number % choices and
 * leaves number / choices to the next. In a graph such a path may be longer than the longest usual
 * one. In all other kinds it may not: so a packet that has gone down never goes up again, and PAUSE
 * causes no circles.
 *
 * Packets under way keep the route that they have. */
#ifndef INASIM_TOPO_DETOURS_H
#define INASIM_TOPO_DETOURS_H

#include "topo/topology.h"

/* For topology_build(), when all links are there; detours_free() takes NULL. */
struct detours *detours_new(const struct topology *topo);
void detours_free(const struct topology *topo, struct detours *detours);

/* topology.detours, or .forever, learns that the link behind a port has one failure more or (down
 * is false) less. */
void detours_learn(const struct topology *topo, struct detours *detours, uint32_t port, bool down);

/* As topology_ops.root and .up, but over the links of which routing knows no failure. For
 * tree_root() and tree_build(), once routing knows of any failure. TREE_NONE: no switch reaches all
 * hosts. */
uint32_t detours_root(const struct topology *topo, const uint32_t *hosts, size_t count,
		      uint64_t entropy);
uint16_t detours_up(const struct topology *topo, uint32_t sw, uint32_t root);

/* Whether routing knows of failures now. */
bool detours_any(const struct topology *topo);

#endif
