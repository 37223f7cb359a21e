/* Names of links in tables and scenarios. A link belongs to the tier of its lower end, 0 for hosts.
 * A link leads up (away from hosts), down, or across (to a switch of the same tier). */
#ifndef INASIM_ENGINE_TOPO_LINKS_H
#define INASIM_ENGINE_TOPO_LINKS_H

#include "topo/topology.h"

enum link_way { LINK_UP, LINK_DOWN, LINK_ACROSS, LINK_WAYS };
extern const char *const link_way_names[]; /* "up", ... */

struct link_place {
	uint32_t from;
	unsigned tier;
	enum link_way way;
};

struct link_place link_place_of(const struct network *net, uint32_t port);

/* Writes the name of the link of a port, such as "leaf0 -> h3", and returns `text`. */
#define LINK_NAME 72
char *link_name(const struct topology *topo, uint32_t port, char text[LINK_NAME]);

/* Reads "TIER/up" or "TIER/down" into `tier` and `way` of *place. False if the text has another
 * form, or if this topology has no such tier below its highest one. Links across have no such
 * name. */
bool links_parse(const char *text, const struct topology_conf *conf, struct link_place *place);

/* The number of links, one per egress port, of a valid configuration. Links are numbered from 0. */
uint32_t links_count(const struct topology_conf *conf);

#endif
