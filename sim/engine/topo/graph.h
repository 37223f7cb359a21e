/* Any network: hosts, switches and the links between them, as somebody has written them down.
 *
 * A graph is read (models/scenario/graph_conf.h), then finished once, and never changes after that.
 * Nodes are numbered as in a network: hosts first, then switches. Ports of a switch are numbered in
 * the order of its links, which are in the order in which they were written.
 *
 * Routes are all shortest paths: of the least sum of `cost`, which is 1 a link unless somebody says
 * otherwise. Each switch chooses among its equally short next links by the flow's entropy, of which
 * it takes its own digits: number % choices; the next switch goes on with number / choices. So a
 * fat tree written as a graph has the routes of the built-in one. */
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

/* A link as a switch sees it, to another switch. */
struct graph_end {
	uint32_t sw; /* at the far end */
	uint32_t cost;
	uint16_t port; /* local, of this switch */
};

struct graph {
	/* what was written; not owned */
	uint32_t hosts, switches, link_count;
	const char *const *names;           /* by node */
	const struct graph_link *links;     /* parallel ones one by one */
	const struct switch_conf *settings; /* some, of which ... */
	const uint8_t *settings_of;         /* ... each switch has one */

	/* what follows, by graph_finish(); not owned either */
	uint16_t *ports; /* by switch */
	uint8_t *
		tiers; /* by switch: 1 = with hosts; else links to the nearest that has some, + 1 */
	uint32_t *above; /* by host: its switch */
	uint32_t *first; /* by switch, and one more: its first end, in ... */
	struct graph_end *ends;
	unsigned longest; /* switches on the longest route; an upper bound unless `exact` */
	bool exact;
	double mean_links; /* of a route between two racks, hosts' links included; if exact */
	/* Of links of hosts [0] and of the fabric [1]: */
	struct link_conf worst[2]; /* lowest rate, longest delay, highest loss */
	bps fastest[2];
	sim_time latency;      /* longest of a switch */
	bps host_rate;         /* mean of hosts' links */
	uint32_t largest_rack; /* hosts below the switch that has the most */
};

/* Works out what follows. Tells of hosts without a link or with several, of parts that are not
 * connected, of routes longer than HOPS_MAX, of too many kinds of links (NETWORK_CLASSES_MAX); then
 * the graph is not to be used. own() gives zeroed memory that lives as long as the graph. */
void graph_finish(struct graph *graph, const struct topology_mistakes *to,
		  void *(*own)(void *owner, size_t count, size_t size), void *owner);

/* --- routes: graph_routes.c --- */

/* Distances by destination, found when they are first asked for. All of them would be switches
 * times switches; of those to a switch that has hosts, few networks need more than some megabytes.
 */
struct graph_routes;

struct graph_routes *graph_routes_new(const struct graph *graph);
void graph_routes_free(struct graph_routes *routes); /* takes NULL */

/* Finds the distances to all switches that have hosts now. False, and it does nothing, where those
 * to all switches are more than are kept at a time: some will be forgotten. */
bool graph_routes_fill(struct graph_routes *routes);

/* Sum of costs from each switch to switch `to`. Valid until the next call. */
const uint32_t *graph_distances(struct graph_routes *routes, uint32_t to);

/* The local port that leads on from `sw`, one of the nearest ways to `to`, which is another; takes
 * its digits from *entropy. */
uint16_t graph_next(const struct graph *graph, const uint32_t *distances, uint32_t *sw,
		    uint64_t *entropy);

#endif
