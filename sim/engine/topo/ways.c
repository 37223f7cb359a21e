#include "topo/ways.h"

#include "base/mem.h"
#include "topo/detours.h"
#include "topo/graph.h"

#include <stdlib.h>
#include <string.h>

#define FAR UINT64_MAX

static uint32_t cost_of(const struct topology *topo, uint32_t host, uint32_t local)
{
	const struct graph *graph = topo->conf->graph;

	return graph ? graph->host_ends[graph->host_first[host] + local].cost : 1;
}

/* The cost of a route by these links; FAR = there is none. `row` has the distances to the switch of
 * the destination's link, NULL if that leads to a host. */
static uint64_t cost_between(const struct topology *topo, uint32_t from, uint32_t to,
			     const uint32_t *row, uint64_t costs[2])
{
	const struct network *net = &topo->net;
	uint32_t sw = net->ports[from].to - net->hosts;

	if (net->cold[from].reverse == to) /* the link that they share */
		return costs[0];
	if (net->ports[from].to_host || !row || row[sw] == UINT32_MAX)
		return FAR;
	return costs[0] + row[sw] + costs[1];
}

/* One choice among the links of the source (`of_source`) or, once `way->from` is chosen, of the
 * destination. */
struct choice {
	uint64_t best[ROUTE_LINKS_MAX]; /* by local port: the least cost of a route by this link */
	uint64_t min;
};

static void look(const struct topology *topo, uint32_t src, uint32_t dst, tree_distances *distances,
		 const uint16_t *dead, uint32_t only, struct choice *choice)
{
	const struct network *net = &topo->net;
	uint32_t links = network_links(net, src), far_links = network_links(net, dst);
	bool all = only == UINT32_MAX;

	choice->min = FAR;
	for (uint32_t i = 0; i < (all ? links : far_links); i++)
		choice->best[i] = FAR;
	for (uint32_t j = 0; j < far_links; j++) {
		uint32_t to = network_port(net, dst, (uint16_t)j);
		const uint32_t *row = NULL;

		if (dead && dead[net->cold[to].reverse])
			continue;
		if (!net->ports[to].to_host)
			row = distances(topo, net->ports[to].to - net->hosts);
		for (uint32_t i = all ? 0 : only; i < (all ? links : only + 1); i++) {
			uint32_t from = network_port(net, src, (uint16_t)i), at = all ? i : j;
			uint64_t costs[2] = { cost_of(topo, src, i), cost_of(topo, dst, j) }, cost;

			if (dead && dead[from])
				continue;
			cost = cost_between(topo, from, to, row, costs);
			if (cost < choice->best[at])
				choice->best[at] = cost;
			if (cost < choice->min)
				choice->min = cost;
		}
	}
}

/* The local port among `links` that entropy chooses of those with the least cost. */
static uint32_t choose(const struct choice *choice, uint32_t links, uint64_t *entropy)
{
	uint32_t count = 0, i = 0;
	uint64_t number;

	for (uint32_t l = 0; l < links; l++)
		count += choice->best[l] == choice->min;
	number = *entropy % count;
	*entropy /= count;
	for (; choice->best[i] != choice->min || number-- > 0; i++)
		;
	return i;
}

bool ways_choose(const struct topology *topo, uint32_t src, uint32_t dst, tree_distances *distances,
		 const uint16_t *dead, uint64_t *entropy, struct way *way)
{
	const struct network *net = &topo->net;
	struct choice choice;
	uint32_t local;

	look(topo, src, dst, distances, dead, UINT32_MAX, &choice);
	if (choice.min == FAR)
		return false;
	local = choose(&choice, network_links(net, src), entropy);
	way->from = network_port(net, src, (uint16_t)local);
	look(topo, src, dst, distances, dead, local, &choice);
	local = choose(&choice, network_links(net, dst), entropy);
	way->to = network_port(net, dst, (uint16_t)local);
	return true;
}

/* --- jobs --- */

/* How far the hosts of a job are from a switch by their nearest links: the largest, and the sum. */
struct nearness {
	uint64_t farthest, sum;
};

/* Stores the distance of a host to each switch. Links that have failed do not count. */
static void measure_host(const struct topology *topo, uint32_t host, tree_distances *distances,
			 uint64_t *near)
{
	const struct network *net = &topo->net;

	for (uint32_t s = 0; s < net->switches; s++)
		near[s] = FAR;
	for (uint32_t i = 0; i < network_links(net, host); i++) {
		uint32_t port = network_port(net, host, (uint16_t)i);
		const uint32_t *row;

		if (net->ports[port].to_host || detours_lost(topo, port))
			continue;
		row = distances(topo, net->ports[port].to - net->hosts);
		for (uint32_t s = 0; s < net->switches; s++) {
			uint64_t cost = (uint64_t)row[s] + cost_of(topo, host, i);

			if (row[s] != UINT32_MAX && cost < near[s])
				near[s] = cost;
		}
	}
}

/* Of the switches that all hosts reach, one of the best, by entropy; TREE_NONE: there is none. */
static uint32_t best_of(const struct nearness *all, uint32_t switches, uint64_t entropy)
{
	struct nearness best = { FAR, 0 };
	uint32_t found = 0, sw = 0;

	for (uint32_t s = 0; s < switches; s++) {
		const struct nearness *here = &all[s];

		if (here->farthest < best.farthest ||
		    (here->farthest == best.farthest && here->sum < best.sum)) {
			best = *here;
			found = 0;
		}
		found += here->farthest == best.farthest && here->sum == best.sum;
	}
	if (best.farthest == FAR)
		return TREE_NONE;
	entropy %= found;
	for (; all[sw].farthest != best.farthest || all[sw].sum != best.sum || entropy-- > 0; sw++)
		;
	return sw;
}

/* The switch where packets of all these hosts meet. */
static uint32_t meeting(const struct topology *topo, const uint32_t *hosts, size_t count,
			tree_distances *distances, uint64_t entropy)
{
	uint32_t switches = topo->net.switches, sw;
	struct nearness *all = xcalloc(switches, sizeof(*all));
	uint64_t *near = xcalloc(switches, sizeof(*near));

	for (size_t i = 0; i < count; i++) {
		measure_host(topo, hosts[i], distances, near);
		for (uint32_t s = 0; s < switches; s++) {
			all[s].sum += near[s] == FAR ? 0 : near[s];
			all[s].farthest = near[s] > all[s].farthest ? near[s] : all[s].farthest;
		}
	}
	sw = best_of(all, switches, entropy);
	free(all);
	free(near);
	return sw;
}

/* The nearest link of a host to a switch. */
static uint32_t link_towards(const struct topology *topo, uint32_t host, uint32_t sw,
			     tree_distances *distances, uint64_t entropy)
{
	const struct network *net = &topo->net;
	uint32_t links = network_links(net, host);
	struct choice choice = { .min = FAR };

	for (uint32_t i = 0; i < links; i++) {
		uint32_t port = network_port(net, host, (uint16_t)i), row = UINT32_MAX;

		if (!net->ports[port].to_host && !detours_lost(topo, port))
			row = distances(topo, net->ports[port].to - net->hosts)[sw];
		choice.best[i] = row == UINT32_MAX ? FAR : row + cost_of(topo, host, i);
		choice.min = choice.best[i] < choice.min ? choice.best[i] : choice.min;
	}
	return network_port(net, host, (uint16_t)choose(&choice, links, &entropy));
}

void ways_of_job(const struct topology *topo, const uint32_t *hosts, size_t count, uint64_t entropy,
		 uint32_t *ports)
{
	tree_distances *distances = detours_any(topo) ? detours_distances : topo->ops->distances;
	uint32_t sw;

	memmove(ports, hosts, count * sizeof(*ports));
	if (!topo->net.more_links)
		return;
	sw = meeting(topo, hosts, count, distances, entropy);
	for (size_t i = 0; i < count && sw != TREE_NONE; i++)
		ports[i] = link_towards(topo, ports[i], sw, distances, entropy);
}
