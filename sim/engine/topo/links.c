#include "topo/links.h"

#include <stdio.h>
#include <string.h>

const char *const link_way_names[] = {
	[LINK_UP] = "up", [LINK_DOWN] = "down", [LINK_ACROSS] = "across", [LINK_WAYS] = NULL
};

static unsigned tier_of_node(const struct network *net, uint32_t node)
{
	return node < net->hosts ? 0 : net->switch_nodes[node - net->hosts].tier;
}

struct link_place link_place_of(const struct network *net, uint32_t port)
{
	uint32_t from = net->ports[net->cold[port].reverse].to;
	unsigned near = tier_of_node(net, from), far = tier_of_node(net, net->ports[port].to);

	return (struct link_place){ .from = from,
				    .tier = near < far ? near : far,
				    .way = near < far   ? LINK_UP
					   : near > far ? LINK_DOWN
							: LINK_ACROSS };
}

char *link_name(const struct topology *topo, uint32_t port, char text[LINK_NAME])
{
	char from[32], to[32];

	topology_node_name(topo, link_place_of(&topo->net, port).from, from, sizeof(from));
	topology_node_name(topo, topo->net.ports[port].to, to, sizeof(to));
	snprintf(text, LINK_NAME, "%s -> %s", from, to);
	return text;
}

uint32_t links_count(const struct topology_conf *conf)
{
	struct topology_shape shape;
	uint32_t ports;

	topology_shape(conf, &shape);
	ports = shape.hosts;
	for (uint32_t h = 0; shape.links && h < shape.hosts; h++)
		ports += shape.links[h] - 1u;
	for (uint32_t i = 0; i < shape.switches; i++)
		ports += shape.ports[i];
	topology_shape_release(&shape);
	return ports;
}

bool links_parse(const char *text, const struct topology_conf *conf, struct link_place *place)
{
	const struct topology_ops *ops = topology_ops_of(conf);
	const char *slash = strchr(text, '/');
	size_t length = slash ? (size_t)(slash - text) : 0;
	unsigned tiers;

	if (!slash || (strcmp(slash, "/up") && strcmp(slash, "/down")))
		return false;
	place->way = strcmp(slash, "/up") ? LINK_DOWN : LINK_UP;
	tiers = topology_tiers(conf);
	for (place->tier = 0; place->tier < tiers; place->tier++)
		if (strlen(ops->tier_names[place->tier]) == length &&
		    !memcmp(ops->tier_names[place->tier], text, length))
			return true;
	return false;
}
