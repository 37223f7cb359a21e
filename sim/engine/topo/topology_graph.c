/* A topology that was written down: see graph.h. */
#include "base/hash.h"
#include "base/mem.h"
#include "net/legs.h"
#include "topo/graph.h"

#include <stdlib.h>
#include <string.h>

static const char *const keys[] = { "graph", "uplink", NULL };

#define TEN(t)                                                                                     \
	"tier" #t "0", "tier" #t "1", "tier" #t "2", "tier" #t "3", "tier" #t "4", "tier" #t "5",  \
		"tier" #t "6", "tier" #t "7", "tier" #t "8", "tier" #t "9"
static const char *const tiers[] = { "host",  "tier1", "tier2", "tier3", "tier4", "tier5",
				     "tier6", "tier7", "tier8", "tier9", TEN(1),  TEN(2),
				     TEN(3),  TEN(4),  TEN(5),  TEN(6) };

static void graph_check(const struct topology_conf *conf, const struct topology_mistakes *to)
{
	(void)conf, (void)to; /* graph_finish() has told */
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

static unsigned graph_longest(const struct topology_conf *conf)
{
	return conf->graph->longest;
}

static void graph_prepare(struct topology *topo)
{
	const struct graph *graph = topo->conf->graph;

	topo->routes = graph_routes_new(graph);
	if (!graph_routes_fill(topo->routes))
		topo->net.whole = true;
	if (graph->longest > ROUTE_MAX || topo->conf->fails) /* detours may be longer */
		network_long_routes(&topo->net);
}

static void graph_wire(struct topology *topo)
{
	const struct graph *graph = topo->conf->graph;
	uint16_t *port = xcalloc(graph->switches, sizeof(*port));

	for (uint32_t l = 0; l < graph->link_count; l++) {
		const struct graph_link *link = &graph->links[l];
		uint16_t pa = link->a < graph->hosts ? 0 : port[link->a - graph->hosts]++;

		topology_link_by(topo, link->a, pa, link->b, port[link->b - graph->hosts]++,
				 &link->link);
	}
	free(port);
}

/* The last port, to the host: links are numbered as ports are, so the host's egress port knows. */
static uint16_t down_port(const struct topology *topo, uint32_t host)
{
	const struct network *net = &topo->net;

	return (uint16_t)(net->cold[host].reverse -
			  net->switch_nodes[topo->conf->graph->above[host]].first_port);
}

static void graph_route(const struct topology *topo, uint32_t src, uint32_t dst, uint64_t entropy,
			struct route *route)
{
	const struct graph *graph = topo->conf->graph;
	uint32_t sw = graph->above[src], to = graph->above[dst];
	uint16_t out[HOPS_MAX];
	unsigned count = 0;

	if (sw != to) {
		const uint32_t *distances = graph_distances(topo->routes, to);

		while (sw != to) {
			SIM_BUG_ON(count == graph->longest - 1);
			out[count++] = graph_next(graph, distances, &sw, &entropy);
		}
	}
	out[count++] = down_port(topo, dst);
	if (topo->net.legs) {
		legs_route(topo->net.legs, out, count, route);
		return;
	}
	memcpy(route->out, out, count * sizeof(*out));
	route->hops = (uint8_t)count;
}

/* --- trees --- */

static int by_number(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* The switches above these hosts, each once; returns how many. The caller frees *racks. */
static size_t racks_of(const struct graph *graph, const uint32_t *hosts, size_t count,
		       uint32_t **racks)
{
	size_t different = 0;

	*racks = xcalloc(count, sizeof(**racks));
	for (size_t i = 0; i < count; i++)
		(*racks)[i] = graph->above[hosts[i]];
	qsort(*racks, count, sizeof(**racks), by_number);
	for (size_t i = 0; i < count; i++)
		if (i == 0 || (*racks)[i] != (*racks)[different - 1])
			(*racks)[different++] = (*racks)[i];
	return different;
}

/* How near a switch is to the racks, in links. The one whose farthest rack is nearer wins; of
 * equals, the one with the smaller sum over all racks. */
struct nearness {
	uint32_t farthest;
	uint64_t sum;
};

static bool nearer(const struct nearness *a, const struct nearness *b)
{
	return a->farthest < b->farthest || (a->farthest == b->farthest && a->sum < b->sum);
}

static uint32_t graph_root(const struct topology *topo, const uint32_t *hosts, size_t count,
			   uint64_t entropy)
{
	const struct graph *graph = topo->conf->graph;
	struct nearness *all = xcalloc(graph->switches, sizeof(*all)), best = { UINT32_MAX, 0 };
	uint32_t *racks, found = 0, root = 0;
	size_t rack_count = racks_of(graph, hosts, count, &racks);

	for (size_t r = 0; r < rack_count; r++) {
		const uint32_t *distances = graph_distances(topo->routes, racks[r]);

		for (uint32_t s = 0; s < graph->switches; s++) {
			all[s].sum += distances[s];
			if (distances[s] > all[s].farthest)
				all[s].farthest = distances[s];
		}
	}
	for (uint32_t s = 0; s < graph->switches; s++) {
		if (nearer(&all[s], &best)) {
			best = all[s];
			found = 0;
		}
		found += !nearer(&best, &all[s]);
	}
	entropy %= found; /* `found` switches are as near as the best: takes one of them */
	while (nearer(&best, &all[root]) || entropy-- > 0)
		root++;
	free(racks);
	free(all);
	return root;
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
	.longest = graph_longest,
	.route = graph_route,
	.root = graph_root,
	.up = graph_up,
	.switch_name = graph_switch_name,
	.tier_names = tiers,
};
