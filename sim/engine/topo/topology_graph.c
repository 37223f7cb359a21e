/* The topology of a graph: see graph.h. */
#include "base/hash.h"
#include "base/mem.h"
#include "net/legs.h"
#include "topo/graph.h"
#include "topo/tree.h"

#include <stdlib.h>
#include <string.h>

static const char *const keys[] = { "graph", "uplink", NULL };

#define TEN(t)                                                                                     \
	"tier" #t "0", "tier" #t "1", "tier" #t "2", "tier" #t "3", "tier" #t "4", "tier" #t "5",  \
		"tier" #t "6", "tier" #t "7", "tier" #t "8", "tier" #t "9"
/* Names of tiers 0 to 69; graph.c allows fewer (TIERS_MAX). */
static const char *const tiers[] = { "host",  "tier1", "tier2", "tier3", "tier4", "tier5",
				     "tier6", "tier7", "tier8", "tier9", TEN(1),  TEN(2),
				     TEN(3),  TEN(4),  TEN(5),  TEN(6) };

static void graph_check(const struct topology_conf *conf, const struct topology_mistakes *to)
{
	(void)conf, (void)to; /* graph_finish() has reported all mistakes */
}

static void graph_count(const struct topology_conf *conf, uint32_t *hosts, uint32_t *switches)
{
	*hosts = conf->graph->hosts;
	*switches = conf->graph->switches;
}

static void graph_shape(const struct topology_conf *conf, uint16_t *switch_ports, uint8_t *tier)
{
	memcpy(switch_ports, conf->graph->ports, conf->graph->switches * sizeof(*switch_ports));
	memcpy(tier, conf->graph->tiers, conf->graph->switches * sizeof(*tier));
}

static void graph_host_links(const struct topology_conf *conf, uint16_t *links)
{
	const struct graph *graph = conf->graph;

	for (uint32_t h = 0; h < graph->hosts; h++)
		links[h] = (uint16_t)(graph->host_first[h + 1] - graph->host_first[h]);
}

static unsigned graph_longest(const struct topology_conf *conf)
{
	return conf->graph->longest;
}

static void graph_prepare(struct topology *topo)
{
	const struct graph *graph = topo->conf->graph;

	topo->routes = graph_routes_new(graph);
	if (graph->longest > ROUTE_MAX || topo->conf->fails) /* detours may be longer */
		network_long_routes(&topo->net);
}

static void graph_wire(struct topology *topo)
{
	const struct graph *graph = topo->conf->graph;
	uint16_t *port = xcalloc(graph->hosts + graph->switches, sizeof(*port)); /* by node */

	for (uint32_t l = 0; l < graph->link_count; l++) {
		const struct graph_link *link = &graph->links[l];
		uint16_t pa = port[link->a]++;

		topology_link_by(topo, link->a, pa, link->b, port[link->b]++, &link->link);
	}
	free(port);
}

static void graph_route(const struct topology *topo, uint32_t src, uint32_t dst, uint64_t entropy,
			struct route *route)
{
	const struct graph *graph = topo->conf->graph;
	const struct network *net = &topo->net;
	uint32_t sw = net->ports[src].to - net->hosts, to = net->ports[dst].to - net->hosts;
	uint16_t out[HOPS_MAX] = { 0 };
	unsigned count = 0;

	if (net->cold[src].reverse == dst) { /* a link between two hosts */
		legs_route(net->legs, out, 0, route);
		return;
	}
	if (sw != to) {
		const uint32_t *distances = graph_distances(topo->routes, to);

		while (sw != to) {
			SIM_BUG_ON(count == graph->longest - 1);
			out[count++] = graph_next(graph, distances, &sw, &entropy);
		}
	}
	out[count++] = topology_down_port(topo, dst);
	legs_route(net->legs, out, count, route);
}

/* --- trees --- */

static const uint32_t *distances_to(const struct topology *topo, uint32_t to)
{
	return graph_distances(topo->routes, to);
}

static uint32_t graph_root(const struct topology *topo, const uint32_t *hosts, size_t count,
			   uint64_t entropy)
{
	/* any distance is allowed; UINT32_MAX means that there is no path */
	return tree_nearest(topo, hosts, count, distances_to, UINT32_MAX - 1, entropy);
}

static uint16_t graph_up(const struct topology *topo, uint32_t sw, uint32_t root)
{
	uint64_t entropy = hash_pair(root, sw);

	return graph_next(topo->conf->graph, graph_distances(topo->routes, root), &sw, &entropy);
}

static void graph_switch_name(const struct topology *topo, uint32_t sw, char *buffer, size_t size)
{
	topology_node_name(topo, topo->net.hosts + sw, buffer, size);
}

const struct topology_ops graph_topology = {
	.name = "graph",
	.help = "any hosts, switches and links, in place or in a file",
	.keys = keys,
	.check = graph_check,
	.count = graph_count,
	.shape = graph_shape,
	.prepare = graph_prepare,
	.wire = graph_wire,
	.host_links = graph_host_links,
	.longest = graph_longest,
	.route = graph_route,
	.distances = distances_to,
	.root = graph_root,
	.up = graph_up,
	.switch_name = graph_switch_name,
	.tier_names = tiers,
};
