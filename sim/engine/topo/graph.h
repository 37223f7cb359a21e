/* Any network: the hosts, switches and links that a user has written down.
 *
 * A graph is read (models/scenario/graph_conf.h), then finished once, and never changes after that.
 * Nodes are numbered as in a network: hosts first, then switches. Ports of a switch are numbered in
 * the order of its links, and links have the order in which they were written.
 *
 * A host has one link or several: two planes, a NIC and NVLinks, two links to one switch. The first
 * is to a switch, which is the host's rack. Hosts may also be linked with each other. No packet
 * passes through a host.
 *
 * All routes are shortest paths, with the least sum of `cost`, which is 1 for a link by default.
 * Each switch chooses among equally short next links by the flow's entropy: it takes the link
 * entropy % choices and leaves entropy / choices to the next switch. So a fat tree written as a
 * graph, with its links in the order of fat_tree.c, has the routes of the built-in one. */
#ifndef INASIM_TOPO_GRAPH_H
#define INASIM_TOPO_GRAPH_H

#include "topo/topology.h"

#define GRAPH_HOSTS_MAX    65536
#define GRAPH_SWITCHES_MAX 65536
#define GRAPH_LINKS_MAX    (1 << 20)
#define GRAPH_NAME_MAX     23 /* characters of a node's name */

struct graph_link {
	uint32_t a, b; /* nodes; if one is a host, `a` is */
	struct link_conf link;
	uint32_t cost;
	bool inside; /* of a machine: no load of flows is measured by it */
};

/* A link of a host. */
struct graph_host_end {
	uint32_t node; /* at the far end */
	uint32_t cost;
	uint16_t port; /* local, of that node */
};

/* One end of a link between switches. */
struct graph_end {
	uint32_t sw; /* at the far end */
	uint32_t cost;
	uint16_t port; /* local, of this switch */
};

struct graph {
	/* as written by the user; not owned */
	uint32_t hosts, switches, link_count;
	const char *const *names;       /* by node */
	const struct graph_link *links; /* parallel links have one entry each */
	const struct switch_conf *settings;
	const uint8_t *settings_of; /* by switch: index in `settings` */
	bool says; /* `passes` of settings alone says which switches add, whatever the tier */

	/* computed by graph_finish(); not owned either */
	uint16_t *ports;      /* by switch: number of ports */
	uint8_t *tiers;       /* by switch: 1 + links to the nearest switch that has hosts */
	uint32_t *host_first; /* by host: index of its first entry in `host_ends`; one more */
	struct graph_host_end *host_ends; /* in the order of the host's ports */
	uint32_t *first; /* by switch: index of its first entry in `ends`; one more at the end */
	struct graph_end *ends;
	unsigned longest; /* switches on the longest route; an upper bound unless `exact` */
	bool exact;
	double mean_links; /* of routes between racks, hosts' links included; rough unless exact */
	/* links of hosts [0] and of the fabric [1]: */
	struct link_conf worst[2]; /* lowest rate, longest delay, highest loss */
	bps fastest[2];
	sim_time latency; /* longest pipeline of a switch */
	bps host_rate; /* mean over hosts of the sum of their links, without those inside machines
			*/
	uint32_t largest_rack; /* hosts of the switch that has the most */
	bool several;          /* a host has several links */
};

/* Computes the second part of struct graph. Reports hosts whose first link is to no switch, parts
 * that are not connected, too many ports, tiers or kinds of links (NETWORK_CLASSES_MAX), and routes
 * longer than HOPS_MAX; then the graph must not be used. own() returns zeroed memory that lives as
 * long as the graph. */
void graph_finish(struct graph *graph, const struct topology_mistakes *to,
		  void *(*own)(void *owner, size_t count, size_t size), void *owner);

/* The switch of a host's first link. */
static inline uint32_t graph_above(const struct graph *graph, uint32_t host)
{
	return graph->host_ends[graph->host_first[host]].node - graph->hosts;
}

/* Which of the parallel links from a switch it is that begins at a port, counted from 0 in the
 * order of ports; UINT32_MAX if the link is none of several. */
uint32_t graph_parallel(const struct graph *graph, uint32_t sw, uint16_t port);

/* --- routes: graph_routes.c --- */

/* Keeps distances from all switches to destinations, which are computed on first use. In most
 * networks the destinations that have hosts take only some MB. */
struct graph_routes;

struct graph_routes *graph_routes_new(const struct graph *graph);
void graph_routes_free(struct graph_routes *routes); /* NULL is allowed */

/* The sum of costs from each switch to switch `to`, by switch. Valid until the next call. */
const uint32_t *graph_distances(struct graph_routes *routes, uint32_t to);

/* Goes one link along a shortest path: returns the local port of *sw, and *sw becomes the switch at
 * the far end. `distances` are those to the destination, which is not *sw. Chooses among equals by
 * *entropy % choices, and divides *entropy by the number of choices. */
uint16_t graph_next(const struct graph *graph, const uint32_t *distances, uint32_t *sw,
		    uint64_t *entropy);

#endif
