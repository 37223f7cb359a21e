#include "topo/detours.h"

#include "base/hash.h"
#include "base/mem.h"
#include "net/legs.h"
#include "topo/graph.h"
#include "topo/tree.h"
#include "topo/ways.h"

#include <stdlib.h>

struct detours {
	uint16_t *dead;              /* by port: failures that routing knows of */
	uint32_t count;              /* ports that have any */
	struct graph working;        /* links that seem to work; only what routes need is set */
	struct graph_routes *routes; /* in `working`; NULL = out of date */
};

struct detours *detours_new(const struct topology *topo)
{
	struct detours *detours = xcalloc(1, sizeof(*detours));
	const struct network *net = &topo->net;

	detours->dead = xcalloc(net->port_count, sizeof(*detours->dead));
	detours->working.switches = net->switches;
	detours->working.first = xcalloc(net->switches + 1, sizeof(*detours->working.first));
	detours->working.ends = xcalloc(net->port_count, sizeof(*detours->working.ends));
	return detours;
}

void detours_free(struct detours *detours)
{
	if (!detours)
		return;
	graph_routes_free(detours->routes);
	free(detours->working.first);
	free(detours->working.ends);
	free(detours->dead);
	free(detours);
}

static void learn_port(struct detours *detours, uint32_t port, bool down)
{
	detours->count -= detours->dead[port] > 0;
	detours->dead[port] = (uint16_t)(detours->dead[port] + (down ? 1 : -1));
	detours->count += detours->dead[port] > 0;
}

void detours_learn(const struct topology *topo, struct detours *detours, uint32_t port, bool down)
{
	learn_port(detours, port, down);
	learn_port(detours, topo->net.cold[port].reverse, down);
	graph_routes_free(detours->routes);
	detours->routes = NULL;
}

bool detours_any(const struct topology *topo)
{
	return topo->detours && topo->detours->count;
}

bool detours_lost(const struct topology *topo, uint32_t port)
{
	return topo->detours && topo->detours->dead[port];
}

/* --- distances --- */

/* Lists the ends of links between switches, in the order of ports. Links of a graph have costs, all
 * others cost 1. */
static void list_ends(const struct topology *topo, struct graph *working)
{
	const struct graph *graph = topo->conf->graph;
	const struct network *net = &topo->net;
	uint32_t count = 0, e = 0;

	for (uint32_t s = 0; s < net->switches; s++) {
		const struct switch_node *node = &net->switch_nodes[s];

		for (uint16_t i = 0; i < node->ports; i++) {
			uint32_t port = node->first_port + i, cost;

			if (net->ports[port].to_host)
				continue;
			cost = graph ? graph->ends[e++].cost : 1;
			if (!topo->detours->dead[port])
				working->ends[count++] =
					(struct graph_end){ .sw = net->ports[port].to - net->hosts,
							    .cost = cost,
							    .port = i };
		}
		working->first[s + 1] = count;
	}
}

const uint32_t *detours_distances(const struct topology *topo, uint32_t to)
{
	struct detours *detours = topo->detours;

	if (!detours->routes) {
		list_ends(topo, &detours->working);
		detours->routes = graph_routes_new(&detours->working);
	}
	return graph_distances(detours->routes, to);
}

/* --- routes --- */

/* Whether a route works, as far as routing knows. */
static bool seems_to_work(const struct topology *topo, uint32_t src, const struct route *route)
{
	uint32_t ports[HOPS_MAX + 1];
	unsigned count = topology_path(topo, src, route, ports);

	for (unsigned i = 0; i < count; i++)
		if (topo->detours->dead[ports[i]])
			return false;
	return true;
}

bool topology_reaches(const struct topology *topo, uint32_t src, uint32_t dst)
{
	struct route route;

	if (!detours_any(topo) || src == dst)
		return true;
	/* if there is a working route, detours_mend() finds it */
	topology_route(topo, src, dst, 0, &route);
	return seems_to_work(topo, src, &route);
}

bool topology_ever_reaches(const struct topology *topo, uint32_t src, uint32_t dst)
{
	struct topology later = *topo;

	if (!topo->forever || !topo->forever->count)
		return true;
	later.detours = topo->forever;
	return topology_reaches(&later, src, dst);
}

/* Replaces a route that leaves by `from` and comes in by the link of `to` by a working one, if
 * there is one. */
static void mend(const struct topology *topo, uint32_t from, uint32_t to, uint64_t entropy,
		 struct route *route)
{
	const struct network *net = &topo->net;
	const struct detours *detours = topo->detours;
	uint32_t sw = net->ports[from].to - net->hosts, last = net->ports[to].to - net->hosts;
	/* A graph has legs. In a Clos network a route with as many switches as the usual one goes
	 * up, then down; a longer one would go down and up again. */
	unsigned max = net->legs ? HOPS_MAX : route->hops, count = 0;
	const uint32_t *distance;
	uint16_t out[HOPS_MAX];

	if (net->cold[from].reverse != to) {
		distance = detours_distances(topo, last);
		if (distance[sw] == UINT32_MAX)
			return;
		while (sw != last && count + 1 < max)
			out[count++] = graph_next(&detours->working, distance, &sw, &entropy);
		if (sw != last) /* too long */
			return;
		out[count++] = topology_down_port(topo, to);
	}
	legs_route(net->legs, out, count, route);
	route->link = (uint8_t)network_local(net, from);
}

void detours_mend_between(const struct topology *topo, uint32_t from, uint32_t to, uint64_t entropy,
			  struct route *route)
{
	const struct detours *detours = topo->detours;

	if (detours->count && !detours->dead[from] && !detours->dead[to] &&
	    !seems_to_work(topo, network_node(&topo->net, from), route))
		mend(topo, from, to, entropy, route);
}

void detours_mend(const struct topology *topo, uint32_t src, uint32_t dst, uint64_t entropy,
		  struct route *route)
{
	const struct detours *detours = topo->detours;
	struct way way;

	if (detours->count && !seems_to_work(topo, src, route) &&
	    ways_choose(topo, src, dst, detours_distances, detours->dead, &entropy, &way))
		mend(topo, way.from, way.to, entropy, route);
}

/* --- trees --- */

uint32_t detours_root(const struct topology *topo, const uint32_t *hosts, size_t count,
		      uint64_t entropy)
{
	uint32_t max = UINT32_MAX - 1;

	/* in a Clos network the way from a host to the root only goes up, so the root has the tier
	 * of the usual one */
	if (!topo->conf->graph)
		max = topo->net.switch_nodes[topo->ops->root(topo, hosts, count, 0)].tier - 1u;
	for (size_t i = 0; i < count; i++)
		if (topo->detours->dead[hosts[i]])
			return TREE_NONE;
	return tree_nearest(topo, hosts, count, detours_distances, max, entropy);
}

uint16_t detours_up(const struct topology *topo, uint32_t sw, uint32_t root)
{
	uint64_t entropy = hash_pair(root, sw);

	return graph_next(&topo->detours->working, detours_distances(topo, root), &sw, &entropy);
}
