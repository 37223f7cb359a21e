/* Names of links in tables and scenarios. A link belongs to the tier of its lower end and leads up,
 * away from hosts, or down. The highest tier of switches is the lower end of no link: tiers of
 * links count from 0 (hosts) to topology_tiers() - 1. */
#ifndef INASIM_SCENARIO_LINKS_H
#define INASIM_SCENARIO_LINKS_H

#include "topo/topology.h"

struct link_place {
	uint32_t from;
	unsigned tier;
	bool up;
};

struct link_place link_place_of(const struct network *net, uint32_t port);

/* "leaf0 -> h3"; returns `text`. */
#define LINK_NAME 72
char *link_name(const struct topology *topo, uint32_t port, char text[LINK_NAME]);

/* Reads "TIER/up" or "TIER/down"; false if this topology has no such links. */
bool links_parse(const char *text, const struct topology_conf *conf, struct link_place *place);

/* The number of egress ports of a valid configuration; links are numbered below it. */
uint32_t links_count(const struct topology_conf *conf);

#endif
