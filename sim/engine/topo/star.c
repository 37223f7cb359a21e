/* One switch, all hosts on it. */
#include "topo/topology.h"

static const char *const keys[] = { "hosts", NULL };
static const char *const tiers[] = { "host", "switch" };

static void star_check(const struct topology_conf *conf, const struct topology_mistakes *to)
{
	(void)conf, (void)to; /* every number of hosts that "hosts" allows makes a star */
}

static void star_count(const struct topology_conf *conf, uint32_t *hosts, uint32_t *switches)
{
	*hosts = (uint32_t)conf->hosts;
	*switches = 1;
}

static void star_shape(const struct topology_conf *conf, uint16_t *switch_ports, uint8_t *tier)
{
	switch_ports[0] = (uint16_t)conf->hosts;
	tier[0] = 1;
}

static void star_wire(struct topology *topo)
{
	for (uint32_t h = 0; h < topo->net.hosts; h++)
		topology_link(topo, h, 0, topo->net.hosts, (uint16_t)h);
}

static void star_route(const struct topology *topo, uint32_t src, uint32_t dst, uint64_t entropy,
		       struct route *route)
{
	(void)topo, (void)src, (void)entropy;
	route->hops = 1;
	route->out[0] = (uint16_t)dst;
}

static uint32_t star_root(const struct topology *topo, const uint32_t *hosts, size_t count,
			  uint64_t entropy)
{
	(void)topo, (void)hosts, (void)count, (void)entropy;
	return 0;
}

static uint16_t star_up(const struct topology *topo, uint32_t sw, uint32_t root)
{
	(void)topo, (void)sw, (void)root;
	return 0; /* never called: there is no other switch */
}

static void star_switch_name(const struct topology *topo, uint32_t sw, char *buffer, size_t size)
{
	(void)topo, (void)sw;
	snprintf(buffer, size, "switch");
}

const struct topology_ops star_topology = {
	.name = "star",
	.help = "hosts on one switch",
	.keys = keys,
	.check = star_check,
	.count = star_count,
	.shape = star_shape,
	.wire = star_wire,
	.route = star_route,
	.root = star_root,
	.up = star_up,
	.switch_name = star_switch_name,
	.tier_names = tiers,
};
