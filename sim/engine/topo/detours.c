#include "topo/detours.h"

#include "base/hash.h"
#include "base/mem.h"
#include "net/legs.h"
#include "topo/graph.h"
#include "topo/tree.h"

#include <stdlib.h>

#define FAR UINT32_MAX

struct detours {
	uint16_t *dead;   /* by port: number of failures that routing knows of */
	uint32_t count;   /* number of ports with failures */
	uint32_t *cost;   /* of the link, by port */
	uint32_t **rows;  /* distances, by destination switch; NULL = not known */
	uint32_t *queue;  /* of search() */
	bool *waiting;    /* by switch: it is in `queue` */
	unsigned longest; /* most switches on a route */
};

static void find_costs(const struct topology *topo, struct detours *detours)
{
	const struct graph *graph = topo->conf->graph;
	const struct network *net = &topo->net;

	for (uint32_t p = 0; p < net->port_count; p++)
		detours->cost[p] = 1;
	for (uint32_t s = 0; graph && s < graph->switches; s++)
		for (uint32_t e = graph->first[s]; e < graph->first[s + 1]; e++)
			detours->cost[net->switch_nodes[s].first_port + graph->ends[e].port] =
				graph->ends[e].cost;
}

struct detours *detours_new(const struct topology *topo)
{
	struct detours *detours = xcalloc(1, sizeof(*detours));
	const struct network *net = &topo->net;

	detours->dead = xcalloc(net->port_count, sizeof(*detours->dead));
	detours->cost = xcalloc(net->port_count, sizeof(*detours->cost));
	detours->rows = xcalloc(net->switches, sizeof(*detours->rows));
	detours->queue = xcalloc(net->switches, sizeof(*detours->queue));
	detours->waiting = xcalloc(net->switches, sizeof(*detours->waiting));
	/* with legs a packet has room for any route, otherwise only for usual routes */
	detours->longest = net->legs ? HOPS_MAX : topology_longest(topo->conf);
	find_costs(topo, detours);
	return detours;
}

static void forget(const struct topology *topo, struct detours *detours)
{
	for (uint32_t s = 0; s < topo->net.switches; s++) {
		free(detours->rows[s]);
		detours->rows[s] = NULL;
	}
}

void detours_free(const struct topology *topo, struct detours *detours)
{
	if (!detours)
		return;
	forget(topo, detours);
	free(detours->dead);
	free(detours->cost);
	free(detours->rows);
	free(detours->queue);
	free(detours->waiting);
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
	forget(topo, detours);
}

bool detours_any(const struct topology *topo)
{
	return topo->detours && topo->detours->count;
}

/* --- distances --- */

/* The switch at the far end of a port's link; FAR if a host is there, or if routing knows that the
 * link has failed. */
static uint32_t beyond(const struct topology *topo, uint32_t port)
{
	const struct network *net = &topo->net;

	if (net->ports[port].to_host || topo->detours->dead[port])
		return FAR;
	return net->ports[port].to - net->hosts;
}

/* Finds the distances from a switch, as search() of graph_routes.c. Distances to the switch are the
 * same, since links fail in both directions and cost the same in both. */
static void search(const struct topology *topo, uint32_t from, uint32_t *distance)
{
	struct detours *detours = topo->detours;
	uint32_t head = 0, count = 0, switches = topo->net.switches;

	for (uint32_t s = 0; s < switches; s++)
		distance[s] = FAR;
	distance[from] = 0;
	detours->queue[count++] = from;
	while (count) {
		uint32_t sw = detours->queue[head];
		const struct switch_node *node = &topo->net.switch_nodes[sw];

		head = head + 1 == switches ? 0 : head + 1;
		count--;
		detours->waiting[sw] = false;
		for (uint32_t p = node->first_port; p < node->first_port + node->ports; p++) {
			uint32_t next = beyond(topo, p);

			if (next == FAR || distance[next] <= distance[sw] + detours->cost[p])
				continue;
			distance[next] = distance[sw] + detours->cost[p];
			if (detours->waiting[next])
				continue;
			detours->waiting[next] = true;
			detours->queue[(head + count++) % switches] = next;
		}
	}
}

static const uint32_t *distances(const struct topology *topo, uint32_t to)
{
	uint32_t **row = &topo->detours->rows[to];

	if (!*row) {
		*row = xcalloc(topo->net.switches, sizeof(**row));
		search(topo, to, *row);
	}
	return *row;
}

/* The next egress port of `sw` on a shortest path. *entropy chooses as in graph_next(). */
static uint32_t next_port(const struct topology *topo, const uint32_t *distance, uint32_t sw,
			  uint64_t *entropy)
{
	const struct switch_node *node = &topo->net.switch_nodes[sw];
	uint32_t choices = 0, p;
	uint64_t choice;

	for (unsigned pass = 0;; pass++) { /* 0 counts the choices, 1 takes one of them */
		for (p = node->first_port; p < node->first_port + node->ports; p++) {
			uint32_t next = beyond(topo, p);

			if (next == FAR || distance[next] == FAR ||
			    distance[next] + topo->detours->cost[p] != distance[sw])
				continue;
			if (pass == 0)
				choices++;
			else if (choice-- == 0)
				return p;
		}
		SIM_BUG_ON(!choices || pass);
		choice = *entropy % choices;
		*entropy /= choices;
	}
}

/* --- routes --- */

/* Whether a route works, as far as routing knows. */
static bool seems_whole(const struct topology *topo, uint32_t src, const struct route *route)
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
	return seems_whole(topo, src, &route);
}

bool topology_ever_reaches(const struct topology *topo, uint32_t src, uint32_t dst)
{
	struct topology later = *topo;

	if (!topo->forever || !topo->forever->count)
		return true;
	later.detours = topo->forever;
	return topology_reaches(&later, src, dst);
}

void detours_mend(const struct topology *topo, uint32_t src, uint32_t dst, uint64_t entropy,
		  struct route *route)
{
	const struct network *net = &topo->net;
	const struct detours *detours = topo->detours;
	uint32_t sw = net->ports[src].to - net->hosts, to = net->ports[dst].to - net->hosts;
	const uint32_t *distance;
	uint16_t out[HOPS_MAX];
	unsigned count = 0;

	if (!detours->count || detours->dead[src] || detours->dead[dst] ||
	    seems_whole(topo, src, route))
		return;
	distance = distances(topo, to);
	if (distance[sw] == FAR)
		return;
	while (sw != to && count + 1 < detours->longest) {
		uint32_t port = next_port(topo, distance, sw, &entropy);

		out[count++] = (uint16_t)(port - net->switch_nodes[sw].first_port);
		sw = net->ports[port].to - net->hosts;
	}
	if (sw != to) /* too long */
		return;
	out[count++] = (uint16_t)(net->cold[dst].reverse - net->switch_nodes[to].first_port);
	legs_route(net->legs, out, count, route);
}

/* --- trees --- */

uint32_t detours_root(const struct topology *topo, const uint32_t *hosts, size_t count,
		      uint64_t entropy)
{
	/* in a Clos network the path from a host to the root only goes up */
	uint32_t max = topo->conf->graph ? FAR - 1 : topology_tiers(topo->conf) - 1;

	for (size_t i = 0; i < count; i++)
		if (topo->detours->dead[hosts[i]])
			return TREE_NONE;
	return tree_nearest(topo, hosts, count, distances, max, entropy);
}

uint16_t detours_up(const struct topology *topo, uint32_t sw, uint32_t root)
{
	uint64_t entropy = hash_pair(root, sw);

	return (uint16_t)(next_port(topo, distances(topo, root), sw, &entropy) -
			  topo->net.switch_nodes[sw].first_port);
}
