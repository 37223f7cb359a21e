#include "links.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

static unsigned tier_of_node(const struct network *net, uint32_t node)
{
	return node < net->hosts ? 0 : net->switch_nodes[node - net->hosts].tier;
}

struct link_place link_place_of(const struct network *net, uint32_t port)
{
	uint32_t from = net->ports[net->rare[port].reverse].to;
	unsigned lower = tier_of_node(net, from), other = tier_of_node(net, net->ports[port].to);

	return (struct link_place){ .from = from,
				    .tier = lower < other ? lower : other,
				    .up = lower < other };
}

/* Highest tier, and ports of hosts and switches. */
static void shape_of(const struct topology_conf *conf, unsigned *highest, uint32_t *ports)
{
	const struct topology_ops *ops = topology_kind((size_t)conf->kind);
	uint32_t hosts, switches;
	uint16_t *of_switch;
	uint8_t *tiers;

	ops->count(conf, &hosts, &switches);
	of_switch = xcalloc(switches, sizeof(*of_switch));
	tiers = xcalloc(switches, sizeof(*tiers));
	ops->shape(conf, of_switch, tiers);
	*highest = 0;
	*ports = hosts;
	for (uint32_t i = 0; i < switches; i++) {
		*highest = tiers[i] > *highest ? tiers[i] : *highest;
		*ports += of_switch[i];
	}
	free(of_switch);
	free(tiers);
}

unsigned links_tiers(const struct topology_conf *conf)
{
	unsigned highest;
	uint32_t ports;

	shape_of(conf, &highest, &ports);
	return highest;
}

uint32_t links_count(const struct topology_conf *conf)
{
	unsigned highest;
	uint32_t ports;

	shape_of(conf, &highest, &ports);
	return ports;
}

bool links_parse(const char *text, const struct topology_conf *conf, struct link_place *place)
{
	const struct topology_ops *ops = topology_kind((size_t)conf->kind);
	const char *slash = strchr(text, '/');
	size_t length = slash ? (size_t)(slash - text) : 0;

	if (!slash || (strcmp(slash, "/up") && strcmp(slash, "/down")))
		return false;
	place->up = !strcmp(slash, "/up");
	for (place->tier = 0; place->tier < links_tiers(conf); place->tier++)
		if (strlen(ops->tier_names[place->tier]) == length &&
		    !memcmp(ops->tier_names[place->tier], text, length))
			return true;
	return false;
}
