/* Checks a graph and computes what follows from it: see graph.h. */
#include "topo/graph.h"

#include "base/mem.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

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

/* Lists the links of each host in the order of its ports. */
static void list_host_ends(struct graph *graph, const struct graph_memory *memory)
{
	uint32_t *first, nodes = graph->hosts + graph->switches, *next;

	first = graph->host_first = graph_own(memory, graph->hosts + 1, sizeof(*first));
	for (uint32_t l = 0; l < graph->link_count; l++) {
		const struct graph_link *link = &graph->links[l];

		if (is_host(graph, link->a))
			first[link->a + 1]++;
		if (is_host(graph, link->b))
			first[link->b + 1]++;
	}
	for (uint32_t h = 0; h < graph->hosts; h++)
		first[h + 1] += first[h];
	graph->host_ends = graph_own(memory, first[graph->hosts] + 1, sizeof(*graph->host_ends));
	next = xcalloc(nodes, sizeof(*next)); /* by node: its next local port */
	for (uint32_t l = 0; l < graph->link_count; l++) {
		uint32_t a = graph->links[l].a, b = graph->links[l].b, cost = graph->links[l].cost;
		uint16_t pa = (uint16_t)next[a]++, pb = (uint16_t)next[b]++;

		if (is_host(graph, a))
			graph->host_ends[first[a] + pa] =
				(struct graph_host_end){ .node = b, .cost = cost, .port = pb };
		if (is_host(graph, b))
			graph->host_ends[first[b] + pb] =
				(struct graph_host_end){ .node = a, .cost = cost, .port = pa };
	}
	free(next);
}

static bool find_hosts(struct graph *graph, const struct graph_memory *memory,
		       const struct topology_mistakes *to)
{
	list_host_ends(graph, memory);
	for (uint32_t h = 0; h < graph->hosts; h++) {
		uint32_t links = graph->host_first[h + 1] - graph->host_first[h];

		if (!links)
			topology_mistake(to, PLACE, "host \"%s\" has no link", name_of(graph, h));
		else if (links > ROUTE_LINKS_MAX)
			topology_mistake(to, PLACE,
					 "host \"%s\" has %" PRIu32 " links; allowed: at most %d",
					 name_of(graph, h), links, ROUTE_LINKS_MAX);
		else if (is_host(graph, graph->host_ends[graph->host_first[h]].node))
			topology_mistake(
				to, PLACE,
				"the first link of host \"%s\" leads to host \"%s\"; it "
				"leads to a switch, which is the host's rack",
				name_of(graph, h),
				name_of(graph, graph->host_ends[graph->host_first[h]].node));
		graph->several |= links > 1;
		if (!links || links > ROUTE_LINKS_MAX ||
		    is_host(graph, graph->host_ends[graph->host_first[h]].node))
			return false;
	}
	return true;
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

		if (is_host(graph, link->b))
			continue;
		ports[link->b - graph->hosts]++;
		if (is_host(graph, link->a))
			continue;
		ports[link->a - graph->hosts]++;
		graph->first[link->a - graph->hosts + 1]++;
		graph->first[link->b - graph->hosts + 1]++;
	}
	for (uint32_t h = 0; h < graph->hosts; h++) {
		uint32_t below = ++rack[graph_above(graph, h)];

		graph->largest_rack = below > graph->largest_rack ? below : graph->largest_rack;
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
			if (!is_host(graph, link->b))
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
	for (uint32_t e = 0; e < graph->host_first[graph->hosts]; e++) {
		uint32_t sw = graph->host_ends[e].node - graph->hosts;

		if (is_host(graph, graph->host_ends[e].node) || graph->tiers[sw])
			continue;
		graph->tiers[sw] = 1;
		queue[count++] = sw;
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

/* --- parts --- */

/* Switches that reach each other. Planes, and the switches inside machines, are parts of their own,
 * as no packet passes through a host. */
struct parts {
	uint32_t *of;    /* by switch */
	uint32_t *first; /* by part: its first switch */
	uint32_t count;
};

static void parts_find(struct parts *parts, const struct graph *graph)
{
	uint32_t *waiting = xcalloc(graph->switches, sizeof(*waiting));

	*parts = (struct parts){ .of = xcalloc(graph->switches, sizeof(*parts->of)),
				 .first = xcalloc(graph->switches, sizeof(*parts->first)) };
	memset(parts->of, 0xff, graph->switches * sizeof(*parts->of)); /* UINT32_MAX: in none */
	for (uint32_t s = 0; s < graph->switches; s++) {
		uint32_t count = 0;

		if (parts->of[s] != UINT32_MAX)
			continue;
		parts->first[parts->count] = s;
		parts->of[s] = parts->count;
		for (waiting[count++] = s; count;) {
			uint32_t sw = waiting[--count];

			for (uint32_t e = graph->first[sw]; e < graph->first[sw + 1]; e++) {
				uint32_t peer = graph->ends[e].sw;

				if (parts->of[peer] != UINT32_MAX)
					continue;
				parts->of[peer] = parts->count;
				waiting[count++] = peer;
			}
		}
		parts->count++;
	}
	free(waiting);
}

static void parts_release(struct parts *parts)
{
	free(parts->of);
	free(parts->first);
}

/* The hosts in each part, by part; a host with several links to a part counts once. `last` has room
 * for a number by part. */
static void count_hosts(const struct graph *graph, const struct parts *parts, uint32_t *hosts,
			uint32_t *last)
{
	for (uint32_t e = 0, h = 0; e < graph->host_first[graph->hosts]; e++) {
		uint32_t node = graph->host_ends[e].node, part;

		while (e >= graph->host_first[h + 1])
			h++;
		if (is_host(graph, node))
			continue;
		part = parts->of[node - graph->hosts];
		hosts[part] += last[part] != h + 1;
		last[part] = h + 1;
	}
}

/* Whether two hosts have a link to one part, or a link between them. `in` has room for a mark by
 * part, all false. */
static bool have_path(const struct graph *graph, const struct parts *parts, uint32_t a, uint32_t b,
		      bool *in)
{
	bool found = false;

	for (int pass = 0; pass < 3; pass++) { /* sets marks, looks, takes marks back */
		uint32_t host = pass == 1 ? b : a;

		for (uint32_t e = graph->host_first[host]; e < graph->host_first[host + 1]; e++) {
			uint32_t node = graph->host_ends[e].node;

			if (is_host(graph, node))
				found |= pass == 1 && node == a;
			else if (pass == 1)
				found |= in[parts->of[node - graph->hosts]];
			else
				in[parts->of[node - graph->hosts]] = !pass;
		}
	}
	return found;
}

/* Whether hosts a and b have links to the same nodes. */
static bool alike(const struct graph *graph, uint32_t a, uint32_t b)
{
	const struct graph_host_end *x = &graph->host_ends[graph->host_first[a]],
				    *y = &graph->host_ends[graph->host_first[b]];
	uint32_t links = graph->host_first[a + 1] - graph->host_first[a];

	if (links != graph->host_first[b + 1] - graph->host_first[b])
		return false;
	for (uint32_t i = 0; i < links; i++)
		if (x[i].node != y[i].node)
			return false;
	return true;
}

/* Reports the first two hosts without a path. If all hosts have a link to one part, there are none;
 * else this looks at the pairs, but only once at hosts in a row that are alike. */
static bool check_pairs(const struct graph *graph, const struct parts *parts,
			const struct topology_mistakes *to)
{
	uint32_t *hosts = xcalloc(parts->count, sizeof(*hosts));
	uint32_t *last = xcalloc(parts->count, sizeof(*last));
	bool *in = xcalloc(parts->count, sizeof(*in)), right = false;

	count_hosts(graph, parts, hosts, last);
	for (uint32_t p = 0; p < parts->count; p++)
		right |= hosts[p] == graph->hosts;
	for (uint32_t a = 0; !right && a < graph->hosts; a++) {
		if (a && alike(graph, a, a - 1))
			continue;
		for (uint32_t b = a + 1; b < graph->hosts; b++) {
			if (have_path(graph, parts, a, b, in))
				continue;
			topology_mistake(
				to, PLACE,
				"no path leads from host \"%s\" to host \"%s\" but through "
				"other hosts, which forward nothing. Where a host forwards, as "
				"in BCube, write a switch in its place and a host below it",
				name_of(graph, a), name_of(graph, b));
			goto out;
		}
	}
	right = true;
out:
	free(hosts);
	free(last);
	free(in);
	return right;
}

static bool check_parts(const struct graph *graph, const struct parts *parts,
			const struct topology_mistakes *to)
{
	uint32_t home = parts->of[graph_above(graph, 0)];

	for (uint32_t s = 0; s < graph->switches; s++)
		if (graph->several ? !graph->tiers[s] : parts->of[s] != home) {
			topology_mistake(
				to, PLACE,
				"no path leads from host \"%s\" to switch \"%s\": the graph "
				"has parts that are not connected",
				name_of(graph, 0), name_of(graph, graph->hosts + s));
			return false;
		}
	return parts->count == 1 || check_pairs(graph, parts, to);
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

			if (graph->tiers[s] != 1 || s == to || distances[s] == UINT32_MAX)
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

/* Finds bounds. Between switches of a part a path by way of its first switch costs at most
 * 2 x `farthest`, and a shortest path costs no more. It has the most links if each of them is a
 * cheapest one. The mean is taken to be half of that number, plus two links of hosts. */
static void bound_routes(struct graph *graph, struct graph_routes *routes,
			 const struct parts *parts, uint32_t cheapest)
{
	uint64_t farthest = 0;

	for (uint32_t p = 0; p < parts->count; p++) {
		const uint32_t *distances = graph_distances(routes, parts->first[p]);

		for (uint32_t s = 0; s < graph->switches; s++)
			if (parts->of[s] == p && distances[s] > farthest)
				farthest = distances[s];
	}
	graph->longest = (unsigned)(2 * farthest / cheapest) + 1;
	graph->mean_links = (double)farthest / cheapest + 2;
}

/* Keeps the bounds if exact values would take too long and the bounds show that routes fit. */
static bool find_longest(struct graph *graph, const struct parts *parts,
			 const struct topology_mistakes *to)
{
	struct graph_routes *routes = graph_routes_new(graph);
	uint64_t racks = 0, looks = graph->first[graph->switches] + graph->switches;
	uint32_t cheapest = UINT32_MAX, dearest = 1;

	for (uint32_t e = 0; e < graph->first[graph->switches]; e++) {
		uint32_t cost = graph->ends[e].cost;

		cheapest = cost < cheapest ? cost : cheapest;
		dearest = cost > dearest ? cost : dearest;
	}
	for (uint32_t s = 0; s < graph->switches; s++)
		racks += graph->tiers[s] == 1;
	bound_routes(graph, routes, parts, cheapest);
	if (racks * looks <= EXACT_LOOKS || graph->longest > HOPS_MAX)
		measure_routes(graph, routes, dearest == 1);
	graph_routes_free(routes);
	if (graph->longest <= HOPS_MAX)
		return true;
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

		if (!fabric && !link->inside)
			rates += (is_host(graph, link->b) ? 2 : 1) * (double)link->link.rate;
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
	struct parts parts;

	if (!find_hosts(graph, &memory, to) || !count_ports(graph, &memory, to))
		return;
	list_ends(graph, &memory);
	find_tiers(graph, &memory);
	parts_find(&parts, graph);
	if (check_tiers(graph, to) && check_parts(graph, &parts, to) &&
	    find_longest(graph, &parts, to) && check_kinds(graph, to))
		sum_up_links(graph);
	parts_release(&parts);
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
