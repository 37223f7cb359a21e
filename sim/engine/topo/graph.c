/* Checks a graph and computes what follows from it: see graph.h. */
#include "topo/graph.h"

#include "base/mem.h"

#include <inttypes.h>
#include <stdlib.h>

#define PLACE "/topology/graph"

/* The longest route is computed exactly if that takes at most so many looks at switches and ends of
 * links, which is about a second, or if a bound does not show that it is short enough. */
#define EXACT_LOOKS (UINT64_C(1) << 28)
#define TIERS_MAX   63 /* each tier must have a name in topology_graph.c */

static const char *name_of(const struct graph *graph, uint32_t node)
{
	return graph->names[node];
}

static bool is_host(const struct graph *graph, uint32_t node)
{
	return node < graph->hosts;
}

struct graph_memory {
	void *(*own)(void *owner, size_t count, size_t size);
	void *owner;
};

static void *graph_own(const struct graph_memory *memory, size_t count, size_t size)
{
	return memory->own(memory->owner, count, size);
}

/* --- hosts, ports, ends --- */

static bool find_hosts(struct graph *graph, const struct graph_memory *memory,
		       const struct topology_mistakes *to)
{
	uint32_t *links = xcalloc(graph->hosts, sizeof(*links)), wrong = UINT32_MAX;

	graph->above = graph_own(memory, graph->hosts, sizeof(*graph->above));
	for (uint32_t l = 0; l < graph->link_count; l++)
		if (is_host(graph, graph->links[l].a)) {
			links[graph->links[l].a]++;
			graph->above[graph->links[l].a] = graph->links[l].b - graph->hosts;
		}
	for (uint32_t h = graph->hosts; h-- > 0;)
		if (links[h] != 1)
			wrong = h;
	if (wrong != UINT32_MAX && !links[wrong])
		topology_mistake(to, PLACE, "host \"%s\" has no link", name_of(graph, wrong));
	else if (wrong != UINT32_MAX)
		topology_mistake(
			to, PLACE,
			"host \"%s\" has %" PRIu32
			" links; a host is one NIC, so it has one link. Give a machine with "
			"several NICs as several hosts (\"nics\" of /topology/host)",
			name_of(graph, wrong), links[wrong]);
	free(links);
	return wrong == UINT32_MAX;
}

static bool count_ports(struct graph *graph, const struct graph_memory *memory,
			const struct topology_mistakes *to)
{
	uint32_t *ports = xcalloc(graph->switches, sizeof(*ports));
	uint32_t *rack = xcalloc(graph->switches, sizeof(*rack));
	bool fits = true;

	graph->ports = graph_own(memory, graph->switches, sizeof(*graph->ports));
	graph->first = graph_own(memory, graph->switches + 1, sizeof(*graph->first));
	for (uint32_t l = 0; l < graph->link_count; l++) {
		const struct graph_link *link = &graph->links[l];

		ports[link->b - graph->hosts]++;
		if (is_host(graph, link->a)) {
			uint32_t below = ++rack[link->b - graph->hosts];

			if (below > graph->largest_rack)
				graph->largest_rack = below;
			continue;
		}
		ports[link->a - graph->hosts]++;
		graph->first[link->a - graph->hosts + 1]++;
		graph->first[link->b - graph->hosts + 1]++;
	}
	for (uint32_t s = 0; s < graph->switches; s++) {
		graph->ports[s] = (uint16_t)ports[s];
		graph->first[s + 1] += graph->first[s];
		if (ports[s] > UINT16_MAX && fits) {
			topology_mistake(to, PLACE,
					 "switch \"%s\" has %" PRIu32 " ports; allowed: at most %d",
					 name_of(graph, graph->hosts + s), ports[s], UINT16_MAX);
			fits = false;
		}
	}
	free(ports);
	free(rack);
	return fits;
}

/* Lists the ends of each switch in the order of its ports. */
static void list_ends(struct graph *graph, const struct graph_memory *memory)
{
	uint32_t *next = xcalloc(graph->switches, sizeof(*next));
	uint16_t *port = xcalloc(graph->switches, sizeof(*port));

	graph->ends = graph_own(memory, graph->first[graph->switches] + 1, sizeof(*graph->ends));
	for (uint32_t l = 0; l < graph->link_count; l++) {
		const struct graph_link *link = &graph->links[l];
		uint32_t a = link->a - graph->hosts, b = link->b - graph->hosts;

		if (is_host(graph, link->a)) {
			port[b]++;
			continue;
		}
		graph->ends[graph->first[a] + next[a]++] =
			(struct graph_end){ .sw = b, .cost = link->cost, .port = port[a]++ };
		graph->ends[graph->first[b] + next[b]++] =
			(struct graph_end){ .sw = a, .cost = link->cost, .port = port[b]++ };
	}
	free(next);
	free(port);
}

/* --- tiers --- */

/* Breadth-first search from all switches with hosts. A switch that is not reached has tier 0. */
static void find_tiers(struct graph *graph, const struct graph_memory *memory)
{
	uint32_t *queue = xcalloc(graph->switches, sizeof(*queue)), head = 0, count = 0;

	graph->tiers = graph_own(memory, graph->switches, sizeof(*graph->tiers));
	for (uint32_t h = 0; h < graph->hosts; h++)
		if (!graph->tiers[graph->above[h]]) {
			graph->tiers[graph->above[h]] = 1;
			queue[count++] = graph->above[h];
		}
	while (head < count) {
		uint32_t sw = queue[head++];

		for (uint32_t e = graph->first[sw]; e < graph->first[sw + 1]; e++) {
			uint32_t peer = graph->ends[e].sw;

			if (graph->tiers[peer] || graph->tiers[sw] > TIERS_MAX)
				continue;
			graph->tiers[peer] = (uint8_t)(graph->tiers[sw] + 1);
			queue[count++] = peer;
		}
	}
	free(queue);
}

static bool check_tiers(const struct graph *graph, const struct topology_mistakes *to)
{
	for (uint32_t s = 0; s < graph->switches; s++)
		if (graph->tiers[s] > TIERS_MAX) {
			topology_mistake(to, PLACE,
					 "switch \"%s\" is more than %d links from all hosts",
					 name_of(graph, graph->hosts + s), TIERS_MAX);
			return false;
		}
	return true;
}

/* --- the longest route --- */

static int by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Stores for each switch how many switches, ends included, its shortest path to the destination
 * has; of several such paths, the one with the most switches counts. Goes through the switches by
 * distance, so that the next switches on a path are known. */
static void count_hops(const struct graph *graph, const uint32_t *distances, uint64_t *order,
		       uint32_t *hops)
{
	for (uint32_t s = 0; s < graph->switches; s++)
		order[s] = (uint64_t)distances[s] << 32 | s;
	qsort(order, graph->switches, sizeof(*order), by_value);
	for (uint32_t i = 0; i < graph->switches; i++) {
		uint32_t sw = (uint32_t)order[i];

		hops[sw] = 1;
		for (uint32_t e = graph->first[sw]; e < graph->first[sw + 1]; e++) {
			const struct graph_end *end = &graph->ends[e];

			if (distances[end->sw] + end->cost == distances[sw] &&
			    hops[end->sw] + 1 > hops[sw])
				hops[sw] = hops[end->sw] + 1;
		}
	}
}

/* Finds the longest and the mean route over all pairs of racks. Stops at a route that is longer
 * than HOPS_MAX. `plain`: all costs are 1, so a route has distance + 1 switches. */
static void measure_routes(struct graph *graph, struct graph_routes *routes, bool plain)
{
	uint64_t *order = xcalloc(graph->switches, sizeof(*order)), sum = 0, pairs = 0;
	uint32_t *hops = xcalloc(graph->switches, sizeof(*hops));

	graph->longest = 1;
	for (uint32_t to = 0; to < graph->switches && graph->longest <= HOPS_MAX; to++) {
		const uint32_t *distances;

		if (graph->tiers[to] != 1)
			continue;
		distances = graph_distances(routes, to);
		if (!plain)
			count_hops(graph, distances, order, hops);
		for (uint32_t s = 0; s < graph->switches; s++) {
			uint32_t switches = plain ? distances[s] + 1 : hops[s];

			if (graph->tiers[s] != 1 || s == to)
				continue;
			sum += switches + 1;
			pairs++;
			graph->longest = switches > graph->longest ? switches : graph->longest;
		}
	}
	graph->exact = true;
	graph->mean_links = pairs ? (double)sum / (double)pairs : 2;
	free(order);
	free(hops);
}

/* Finds bounds. A path by way of the switch of host 0 costs at most 2 x `farthest`, and a shortest
 * path costs no more. It has the most links if each of them is a cheapest one. The mean is taken to
 * be half of that number, plus two links of hosts. */
static void bound_routes(struct graph *graph, struct graph_routes *routes, uint32_t cheapest)
{
	const uint32_t *distances = graph_distances(routes, graph->above[0]);
	uint64_t farthest = 0;

	for (uint32_t s = 0; s < graph->switches; s++)
		farthest = distances[s] > farthest ? distances[s] : farthest;
	graph->longest = (unsigned)(2 * farthest / cheapest) + 1;
	graph->mean_links = (double)farthest / cheapest + 2;
}

/* Keeps the bounds if exact values would take too long and the bounds show that routes fit. */
static bool find_longest(struct graph *graph, const struct topology_mistakes *to)
{
	struct graph_routes *routes = graph_routes_new(graph);
	const uint32_t *distances = graph_distances(routes, graph->above[0]);
	uint64_t racks = 0, looks = graph->first[graph->switches] + graph->switches;
	uint32_t cheapest = UINT32_MAX, dearest = 1;
	bool connected = true;

	for (uint32_t e = 0; e < graph->first[graph->switches]; e++) {
		uint32_t cost = graph->ends[e].cost;

		cheapest = cost < cheapest ? cost : cheapest;
		dearest = cost > dearest ? cost : dearest;
	}
	for (uint32_t s = 0; s < graph->switches; s++) {
		racks += graph->tiers[s] == 1;
		if (distances[s] == UINT32_MAX && connected) {
			topology_mistake(
				to, PLACE,
				"no path leads from host \"%s\" to switch \"%s\": the graph "
				"has parts that are not connected",
				name_of(graph, 0), name_of(graph, graph->hosts + s));
			connected = false;
		}
	}
	if (connected)
		bound_routes(graph, routes, cheapest);
	if (connected && (racks * looks <= EXACT_LOOKS || graph->longest > HOPS_MAX))
		measure_routes(graph, routes, dearest == 1);
	graph_routes_free(routes);
	if (graph->longest <= HOPS_MAX)
		return connected;
	topology_mistake(to, PLACE, "a route passes %u switches; allowed: at most %d",
			 graph->longest, HOPS_MAX);
	return false;
}

/* --- links --- */

static void sum_up_links(struct graph *graph)
{
	double rates = 0;

	for (uint32_t l = 0; l < graph->link_count; l++) {
		const struct graph_link *link = &graph->links[l];
		bool fabric = !is_host(graph, link->a);
		struct link_conf *worst = &graph->worst[fabric];

		if (!fabric)
			rates += (double)link->link.rate;
		if (!worst->rate || link->link.rate < worst->rate)
			worst->rate = link->link.rate;
		if (link->link.rate > graph->fastest[fabric])
			graph->fastest[fabric] = link->link.rate;
		if (link->link.delay > worst->delay)
			worst->delay = link->link.delay;
		if (link->link.loss > worst->loss)
			worst->loss = link->link.loss;
	}
	for (uint32_t s = 0; s < graph->switches; s++) {
		sim_time latency = graph->settings[graph->settings_of[s]].latency;

		graph->latency = latency > graph->latency ? latency : graph->latency;
	}
	graph->host_rate = (bps)(rates / graph->hosts);
	if (!graph->fastest[1]) { /* one switch, so no fabric */
		graph->worst[1] = graph->worst[0];
		graph->fastest[1] = graph->fastest[0];
	}
}

/* What the class of a port depends on: its link, and the settings of the switches at its ends. */
struct kind {
	struct link_conf link;
	unsigned from, to;
};

static bool same_kind(const struct kind *a, const struct kind *b)
{
	return a->link.rate == b->link.rate && a->link.delay == b->link.delay &&
	       a->link.loss == b->link.loss && a->from == b->from && a->to == b->to;
}

static bool check_kinds(const struct graph *graph, const struct topology_mistakes *to)
{
	struct kind kinds[NETWORK_CLASSES_MAX];
	unsigned count = 0, i;

	for (uint32_t d = 0; d < 2 * graph->link_count; d++) { /* two directions per link */
		const struct graph_link *link = &graph->links[d / 2];
		uint32_t from = d % 2 ? link->a : link->b, end = d % 2 ? link->b : link->a;
		struct kind kind = { .link = link->link, .from = UINT16_MAX, .to = UINT16_MAX };

		if (!is_host(graph, from))
			kind.from = graph->settings_of[from - graph->hosts];
		if (!is_host(graph, end))
			kind.to = graph->settings_of[end - graph->hosts];
		for (i = 0; i < count && !same_kind(&kinds[i], &kind); i++)
			;
		if (i == NETWORK_CLASSES_MAX) {
			topology_mistake(to, PLACE,
					 "more than %d kinds of links (rate, delay, loss, and the "
					 "settings of the switches at their ends)",
					 NETWORK_CLASSES_MAX);
			return false;
		}
		if (i == count)
			kinds[count++] = kind;
	}
	return true;
}

void graph_finish(struct graph *graph, const struct topology_mistakes *to,
		  void *(*own)(void *owner, size_t count, size_t size), void *owner)
{
	const struct graph_memory memory = { .own = own, .owner = owner };

	if (!find_hosts(graph, &memory, to) || !count_ports(graph, &memory, to))
		return;
	list_ends(graph, &memory);
	find_tiers(graph, &memory);
	if (!check_tiers(graph, to) || !find_longest(graph, to) || !check_kinds(graph, to))
		return;
	sum_up_links(graph);
}

uint32_t graph_parallel(const struct graph *graph, uint32_t sw, uint16_t port)
{
	const struct graph_end *first = &graph->ends[graph->first[sw]],
			       *end = &graph->ends[graph->first[sw + 1]], *own = first;
	uint32_t number = 0, all = 0;

	while (own < end && own->port != port)
		own++;
	for (const struct graph_end *other = first; other < end && own < end; other++) {
		number += other->sw == own->sw && other < own;
		all += other->sw == own->sw;
	}
	return all > 1 ? number : UINT32_MAX;
}
