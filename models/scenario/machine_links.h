/* Machines as links: makes a graph of a network whose hosts are NICs of machines, with a GPU as the
 * host behind each NIC and links among the GPUs of a machine. */
#ifndef INASIM_SCENARIO_MACHINE_LINKS_H
#define INASIM_SCENARIO_MACHINE_LINKS_H

#include "collective/machine_conf.h"
#include "conf/conf.h"
#include "topo/topology.h"

/* With "inside": "links", sets conf->graph to such a graph, which lives as long as `doc`; else does
 * nothing. `conf` must be valid, a graph or not. GPU g of machine m is host m * gpus + g, "m3g1",
 * whatever the wiring of NICs. The first link of a GPU leads to the switch among the GPUs ("nv3"),
 * if there is one, so that this is its rack; else to the network. Links inside are shortest: each
 * NIC's link costs one more than before. Two of them, or one between GPUs, take the latency of
 * "gpus". Adds an error if GPUs have not a NIC each, or if the network becomes no valid graph. */
void machine_links_make(struct topology_conf *conf, const struct machine_conf *machine,
			struct conf_doc *doc);

#endif
