/* Directions of links by tier: how tables and scenarios speak of them. A link belongs
 * to the tier of its lower end and leads up, away from hosts, or down. */
#ifndef INASIM_RUN_LINKS_H
#define INASIM_RUN_LINKS_H

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

/* Tiers that links belong to: all but the highest. */
unsigned links_tiers(const struct topology_conf *conf);

/* Reads "TIER/up" or "TIER/down"; false when it is neither for this topology. */
bool links_parse(const char *text, const struct topology_conf *conf, struct link_place *place);

/* Egress ports of a valid configuration: links are numbered below this. */
uint32_t links_count(const struct topology_conf *conf);

#endif
