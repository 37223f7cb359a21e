/* Any network: hosts, switches and the links between them, as somebody has written them down.
 *
 * A graph is read (models/scenario/graph_conf.h), then finished once, and never changes after that.
 * Nodes are numbered as in a network: hosts first, then switches. Ports of a switch are numbered in
 * the order of its links, and links have the order in which they were written.
 *
 * All routes are shortest paths: those with the least sum of `cost`, which is 1 for a link unless
 * somebody says otherwise. Each switch chooses among its equally short next links by digits of the
 * flow's entropy: it uses number % choices and leaves number / choices to the next switch. So a fat
 * tree written as a graph has the routes of the built-in one. */
#ifndef INASIM_TOPO_GRAPH_H
#define INASIM_TOPO_GRAPH_H

#include "topo/topology.h"

#define GRAPH_HOSTS_MAX    65536
#define GRAPH_SWITCHES_MAX 65536
#define GRAPH_LINKS_MAX    (1 << 20)
#define GRAPH_NAME_MAX     23 /* characters of a node's name */

struct graph_link {
	uint32_t a, b; /* nodes; a may be a host, b never is */
	struct link_conf link;
	uint32_t cost;
};

/* A link between switches, as one of the two sees it. */
struct graph_end {
	uint32_t sw; /* at the far end */
	uint32_t cost;
	uint16_t port; /* local, of this switch */
};

struct graph {
	/* what was written; not owned */
	uint32_t hosts, switches, link_count;
	const char *const *names;       /* by node */
	const struct graph_link *links; /* parallel ones one by one */
	const struct switch_conf *settings;
	const uint8_t *settings_of; /* by switch: which of the settings it has */

	/* what follows, by graph_finish(); not owned either */
	uint16_t *ports; /* by switch: how many */
	uint8_t *tiers;  /* by switch: 1 + links to the nearest switch that has hosts */
	uint32_t *above; /* by host: its switch */
	uint32_t *first; /* by switch, and one more at the end: index in `ends` of its first one */
	struct graph_end *ends;
	unsigned longest; /* switches on the longest route; an upper bound unless `exact` */
	bool exact;
	double mean_links; /* of routes between racks, hosts' links included; rough unless exact */
	/* Of links of hosts [0] and of the fabric [1]: */
	struct link_conf worst[2]; /* lowest rate, longest delay, highest loss */
	bps fastest[2];
	sim_time latency;      /* longest of a switch */
	bps host_rate;         /* mean of hosts' links */
	uint32_t largest_rack; /* hosts below the switch that has the most */
};

/* Works out what follows. Reports hosts without a link or with several, parts that are not
 * connected, too many ports, tiers or kinds of links (NETWORK_CLASSES_MAX), and routes longer than
 * HOPS_MAX; then the graph must not be used. own() gives zeroed memory that lives as long as the
 * graph. */
void graph_finish(struct graph *graph, const struct topology_mistakes *to,
		  void *(*own)(void *owner, size_t count, size_t size), void *owner);

/* --- routes: graph_routes.c --- */

/* Distances from all switches to a destination, found when they are first asked for. All
 * destinations would take switches times switches; those that have hosts take no more than some
 * megabytes in most networks. */
struct graph_routes;

struct graph_routes *graph_routes_new(const struct graph *graph);
void graph_routes_free(struct graph_routes *routes); /* takes NULL */

/* Finds at once the distances to all switches that have hosts. Returns false and does nothing where
 * the distances to all switches, with hosts or without, are more than can be kept at a time. Then
 * some will be forgotten, and found again, during the run. */
bool graph_routes_fill(struct graph_routes *routes);

/* Sum of costs from each switch to switch `to`. Valid until the next call. */
const uint32_t *graph_distances(struct graph_routes *routes, uint32_t to);

/* The local port of *sw that leads on, by one of the shortest paths; *sw becomes the switch at its
 * far end. `distances`: to the destination, which is not *sw. *entropy chooses, and loses the
 * digits that were used. */
uint16_t graph_next(const struct graph *graph, const uint32_t *distances, uint32_t *sw,
		    uint64_t *entropy);

#endif
