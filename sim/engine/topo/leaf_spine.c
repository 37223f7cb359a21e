/* Two tiers: every leaf is joined with every spine.
 *
 * Leaf:  local ports 0..h-1 to its hosts, h..h+s-1 to spines 0..s-1.
 * Spine: local port i to leaf i. Switches: leaves first, then spines. */
#include "topo/topology.h"

#include <inttypes.h>

/* Hosts, and links between switches: as many as in the largest fat-tree (k = 64), which takes about
 * 200 MB. */
#define HOSTS_MAX   65536
#define UPLINKS_MAX (2 * 65536)

static const char *const keys[] = { "leaves",           "spines", "hosts_per_leaf",
				    "oversubscription", "uplink", NULL };
static const char *const tiers[] = { "host", "leaf", "spine" };

static void leaf_spine_check(const struct topology_conf *conf, const struct topology_mistakes *to)
{
	if (topology_uplink_rate(conf) < 1000000)
		topology_mistake(to, "/topology/oversubscription",
				 "gives uplinks a rate below 1 Mbps");
	if (topology_uplink_rate(conf) > TOPOLOGY_RATE_MAX)
		topology_mistake(to, "/topology/oversubscription",
				 "gives uplinks a rate above 100 Tbps");
	if (conf->leaves * conf->hosts_per_leaf < 2)
		topology_mistake(to, "/topology", "a network needs at least 2 hosts");
	if (conf->leaves * conf->hosts_per_leaf > HOSTS_MAX)
		topology_mistake(to, "/topology",
				 "%" PRId64 " hosts (leaves x hosts_per_leaf); allowed: at most %d",
				 conf->leaves * conf->hosts_per_leaf, HOSTS_MAX);
	if (conf->leaves * conf->spines > UPLINKS_MAX)
		topology_mistake(to, "/topology",
				 "%" PRId64 " up-links (leaves x spines); allowed: at most %d",
				 conf->leaves * conf->spines, UPLINKS_MAX);
}

static void leaf_spine_count(const struct topology_conf *conf, uint32_t *hosts, uint32_t *switches)
{
	*hosts = (uint32_t)(conf->leaves * conf->hosts_per_leaf);
	*switches = (uint32_t)(conf->leaves + conf->spines);
}

static void leaf_spine_shape(const struct topology_conf *conf, uint16_t *switch_ports,
			     uint8_t *tier)
{
	for (int64_t s = 0; s < conf->leaves + conf->spines; s++) {
		bool leaf = s < conf->leaves;

		switch_ports[s] =
			(uint16_t)(leaf ? conf->hosts_per_leaf + conf->spines : conf->leaves);
		tier[s] = leaf ? 1 : 2;
	}
}

static void leaf_spine_wire(struct topology *topo)
{
	uint32_t per_leaf = (uint32_t)topo->conf->hosts_per_leaf;
	uint32_t leaves = (uint32_t)topo->conf->leaves, hosts = topo->net.hosts;

	for (uint32_t h = 0; h < hosts; h++)
		topology_link(topo, h, 0, hosts + h / per_leaf, (uint16_t)(h % per_leaf));
	for (uint32_t l = 0; l < leaves; l++)
		for (uint32_t s = 0; s < (uint32_t)topo->conf->spines; s++)
			topology_link(topo, hosts + l, (uint16_t)(per_leaf + s), hosts + leaves + s,
				      (uint16_t)l);
}

static void leaf_spine_route(const struct topology *topo, uint32_t src, uint32_t dst,
			     uint64_t entropy, struct route *route)
{
	uint32_t per_leaf = (uint32_t)topo->conf->hosts_per_leaf;
	unsigned i = 0;

	if (src / per_leaf != dst / per_leaf) {
		route->out[i++] = (uint16_t)(per_leaf + entropy % (uint64_t)topo->conf->spines);
		route->out[i++] = (uint16_t)(dst / per_leaf);
	}
	route->out[i++] = (uint16_t)(dst % per_leaf);
	route->hops = (uint8_t)i;
}

static uint32_t leaf_spine_root(const struct topology *topo, const uint32_t *hosts, size_t count,
				uint64_t entropy)
{
	uint32_t per_leaf = (uint32_t)topo->conf->hosts_per_leaf;

	for (size_t i = 1; i < count; i++)
		if (hosts[i] / per_leaf != hosts[0] / per_leaf)
			return (uint32_t)((uint64_t)topo->conf->leaves +
					  entropy % (uint64_t)topo->conf->spines);
	return hosts[0] / per_leaf;
}

static uint16_t leaf_spine_up(const struct topology *topo, uint32_t sw, uint32_t root)
{
	(void)sw;
	return (uint16_t)(topo->conf->hosts_per_leaf + root - topo->conf->leaves);
}

static void leaf_spine_switch_name(const struct topology *topo, uint32_t sw, char *buffer,
				   size_t size)
{
	uint32_t leaves = (uint32_t)topo->conf->leaves;

	if (sw < leaves)
		snprintf(buffer, size, "leaf%" PRIu32, sw);
	else
		snprintf(buffer, size, "spine%" PRIu32, sw - leaves);
}

const struct topology_ops leaf_spine_topology = {
	.name = "leaf-spine",
	.help = "two tiers, every leaf joined with every spine, with oversubscription",
	.keys = keys,
	.check = leaf_spine_check,
	.count = leaf_spine_count,
	.shape = leaf_spine_shape,
	.wire = leaf_spine_wire,
	.route = leaf_spine_route,
	.root = leaf_spine_root,
	.up = leaf_spine_up,
	.switch_name = leaf_spine_switch_name,
	.tier_names = tiers,
};
