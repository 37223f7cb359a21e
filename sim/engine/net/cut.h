/* Cutting a network into the partitions of core/parts.h.
 *
 * Without the switches of the highest tier a network falls apart into pods: those of a fat tree,
 * the racks of a leaf-spine. A partition is some pods in a row and its share of the highest tier.
 * So links between partitions are those to and from the highest tier, and the shortest of them is
 * the lookahead. */
#ifndef INASIM_NET_CUT_H
#define INASIM_NET_CUT_H

#include "net/state.h"

/* Cuts the network, before the first packet, into `count` partitions, but no more than it has pods.
 * They run in `threads` threads. Returns the number of partitions. Returns 1 and does nothing where
 * the network cannot be cut: it has one pod, a link between partitions takes no time, its switches
 * send PAUSE, its routes are found during the run, its links may fail, or tests lose or delay
 * packets by name. */
unsigned network_cut(struct network *net, unsigned count, unsigned threads);

/* Undoes network_cut(); does nothing where the network is not cut. */
void network_join(struct network *net);

#endif
