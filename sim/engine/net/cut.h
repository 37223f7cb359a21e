/* Cutting a network into the partitions of core/parts.h.
 *
 * Without the switches of the highest tier a network falls apart into pods. In a leaf-spine these
 * are the racks, although its topology_pod() is all hosts. A partition is some adjacent pods and a
 * share of the highest tier. So only links of the highest tier connect partitions; the shortest
 * latency of these is the lookahead. */
#ifndef INASIM_NET_CUT_H
#define INASIM_NET_CUT_H

#include "net/state.h"

/* Cuts the network into `count` partitions, at most one per pod, which run in `threads` threads.
 * Call it before the first packet. Returns the number of partitions. Returns 1 and does nothing if
 * the network cannot be cut: it has one pod or one tier, a link between partitions has latency 0,
 * its switches send PAUSE, its routes have legs or are found during the run, its links may fail, or
 * tests inject faults. */
unsigned network_cut(struct network *net, unsigned count, unsigned threads);

/* Undoes network_cut(); does nothing if the network is not cut. */
void network_join(struct network *net);

#endif
