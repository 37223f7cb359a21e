/* A scenario's network as a platform of SimGrid (DTD 4.1, as of SimGrid 3.32).
 *
 * Every direction of every link is a <link> of its own, named after its ends
 * ("edge3-agg1"), with its bit rate and, as latency, propagation plus the pipeline of
 * the node that it leads to. Hosts (h0, h1, ...) stand in one zone with the switch
 * that they hang on; a <zoneRoute> for each ordered pair of such switches lists the
 * links between them: one of the paths that ECMP would take, by a hash of the seed
 * and the pair. That is S * (S - 1) routes for S switches with hosts, against
 * N * (N - 1) for hosts; and unlike shortest paths that SimGrid could find by itself
 * (Floyd, Dijkstra), which all pass the same few spines, they spread over the fabric.
 *
 * What SimGrid has no word for is left out, and the file says so: queues, ECN, PAUSE,
 * losses, headers, preamble and gap, jitter, and ECMP for each flow. Hosts of inasim
 * have no speed of computation; SimGrid wants one, so it is 1Gf. */
#ifndef INASIM_CLI_SIMGRID_EXPORT_H
#define INASIM_CLI_SIMGRID_EXPORT_H

#include "topo/topology.h"

#include <stdio.h>

/* `conf` has been checked. The caller looks after errors of `to`. */
void simgrid_export(const struct topology_conf *conf, uint64_t seed, FILE *to);

#endif
