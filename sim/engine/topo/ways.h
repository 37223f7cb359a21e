/* The links by which hosts take part, where hosts have several: planes, NICs, links inside
 * machines.
 *
 * A pair of hosts takes a shortest route. If several pairs of links, one of the source and one of
 * the destination, give routes of the least cost, entropy chooses: first the link of the source
 * (entropy % choices), then that of the destination, with what is left of entropy, then the
 * switches in between. So a source spreads its connections evenly over its links, as a bond does
 * that hashes addresses and ports. A switch that chose the destination's link as well would count
 * paths; this counts links.
 *
 * The ranks of a tree or of another job in switches have one link each, for the whole job. */
#ifndef INASIM_TOPO_WAYS_H
#define INASIM_TOPO_WAYS_H

#include "topo/tree.h"

struct way {
	uint32_t from, to; /* egress ports: of the source, and of the destination */
};

/* Chooses the links of two different hosts, and divides *entropy by the number of choices.
 * `distances` are between switches; links whose egress port has `dead` > 0 do not exist (NULL: all
 * do). Returns false if there is no route. */
bool ways_choose(const struct topology *topo, uint32_t src, uint32_t dst, tree_distances *distances,
		 const uint16_t *dead, uint64_t *entropy, struct way *way);

/* Chooses the egress port of each of these hosts for a job whose packets all pass one switch: the
 * switch whose farthest host is nearest, as in tree_nearest(), and for each host its nearest link.
 * Among equally near links of a host the same entropy chooses for all, so hosts with like links
 * share switches. Where hosts have one link, or no switch reaches all of them, a port is the
 * number of its host. `ports` may be `hosts`. */
void ways_of_job(const struct topology *topo, const uint32_t *hosts, size_t count, uint64_t entropy,
		 uint32_t *ports);

#endif
