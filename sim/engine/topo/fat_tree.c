/* Folded Clos of three tiers built from k-port switches (Al-Fares et al., SIGCOMM'08).
 *
 * With h = k/2: k pods, each of h edge and h aggregation switches, h*h cores, k*h*h hosts.
 * Edge:        local ports 0..h-1 to its hosts, h+j to aggregation switch j of its pod.
 * Aggregation: local ports 0..h-1 to the pod's edges; h+c of switch j of a pod to core j*h + c.
 * Core:        local port p to pod p.
 * Switches: edges by pod, then aggregation switches by pod, then cores. */
#include "topo/topology.h"

#include <inttypes.h>

static const char *const keys[] = { "k", NULL };
static const char *const tiers[] = { "host", "edge", "aggregation", "core" };

static uint32_t half_of(const struct topology_conf *conf)
{
	return (uint32_t)conf->k / 2;
}

static void fat_tree_check(const struct topology_conf *conf, const struct topology_mistakes *to)
{
	if (conf->k % 2)
		topology_mistake(to, "/topology/k", "must be even, found %" PRId64, conf->k);
}

static void fat_tree_count(const struct topology_conf *conf, uint32_t *hosts, uint32_t *switches)
{
	uint32_t h = half_of(conf);

	*hosts = 2 * h * h * h;
	*switches = 2 * (2 * h * h) + h * h;
}

static void fat_tree_shape(const struct topology_conf *conf, uint16_t *switch_ports, uint8_t *tier)
{
	uint32_t h = half_of(conf), per_tier = 2 * h * h, count = 2 * per_tier + h * h;

	for (uint32_t s = 0; s < count; s++) {
		switch_ports[s] = (uint16_t)(2 * h);
		tier[s] = (uint8_t)(1 + s / per_tier);
	}
}

static uint32_t fat_tree_pod(const struct topology_conf *conf)
{
	return half_of(conf) * half_of(conf);
}

static void fat_tree_wire(struct topology *topo)
{
	uint32_t h = half_of(topo->conf), hosts = topo->net.hosts, per_tier = 2 * h * h;
	uint32_t edges = hosts, aggregations = edges + per_tier, cores = aggregations + per_tier;

	for (uint32_t host = 0; host < hosts; host++)
		topology_link(topo, host, 0, edges + host / h, (uint16_t)(host % h));
	for (uint32_t pod = 0; pod < 2 * h; pod++) {
		for (uint32_t j = 0; j < h; j++) {
			uint32_t aggregation = aggregations + pod * h + j;

			for (uint32_t i = 0; i < h; i++)
				topology_link(topo, edges + pod * h + i, (uint16_t)(h + j),
					      aggregation, (uint16_t)i);
			for (uint32_t c = 0; c < h; c++)
				topology_link(topo, aggregation, (uint16_t)(h + c),
					      cores + j * h + c, (uint16_t)pod);
		}
	}
}

static void fat_tree_route(const struct topology *topo, uint32_t src, uint32_t dst,
			   uint64_t entropy, struct route *route)
{
	uint32_t h = half_of(topo->conf);
	uint32_t src_edge = src / h, dst_edge = dst / h;
	unsigned i = 0;

	if (src_edge != dst_edge) {
		route->out[i++] = (uint16_t)(h + entropy % h);
		if (src_edge / h != dst_edge / h) {
			route->out[i++] = (uint16_t)(h + entropy / h % h);
			route->out[i++] = (uint16_t)(dst_edge / h);
		}
		route->out[i++] = (uint16_t)(dst_edge % h);
	}
	route->out[i++] = (uint16_t)(dst % h);
	route->hops = (uint8_t)i;
}

static uint32_t fat_tree_root(const struct topology *topo, const uint32_t *hosts, size_t count,
			      uint64_t entropy)
{
	uint32_t h = half_of(topo->conf), per_tier = 2 * h * h, edge = hosts[0] / h;
	bool one_edge = true;

	for (size_t i = 1; i < count; i++) {
		if (hosts[i] / h / h != edge / h)
			return 2 * per_tier + (uint32_t)(entropy % (h * h));
		one_edge &= hosts[i] / h == edge;
	}
	return one_edge ? edge : per_tier + edge / h * h + (uint32_t)(entropy % h);
}

static uint16_t fat_tree_up(const struct topology *topo, uint32_t sw, uint32_t root)
{
	uint32_t h = half_of(topo->conf), per_tier = 2 * h * h;

	if (root < 2 * per_tier) /* an aggregation switch of the same pod; `sw` is an edge */
		return (uint16_t)(h + (root - per_tier) % h);
	root -= 2 * per_tier; /* core j*h + c is joined to aggregation switch j of each pod */
	return (uint16_t)(h + (sw < per_tier ? root / h : root % h));
}

static void fat_tree_switch_name(const struct topology *topo, uint32_t sw, char *buffer,
				 size_t size)
{
	uint32_t h = half_of(topo->conf), per_tier = 2 * h * h;
	uint32_t tier = sw / per_tier < 2 ? sw / per_tier : 2;

	snprintf(buffer, size, "%s%" PRIu32,
		 tier == 0   ? "edge"
		 : tier == 1 ? "agg"
			     : "core",
		 sw - tier * per_tier);
}

const struct topology_ops fat_tree_topology = {
	.name = "fat-tree",
	.help = "three tiers of k-port switches, k*k*k/4 hosts, not oversubscribed",
	.keys = keys,
	.check = fat_tree_check,
	.count = fat_tree_count,
	.shape = fat_tree_shape,
	.pod = fat_tree_pod,
	.wire = fat_tree_wire,
	.route = fat_tree_route,
	.root = fat_tree_root,
	.up = fat_tree_up,
	.switch_name = fat_tree_switch_name,
	.tier_names = tiers,
};
