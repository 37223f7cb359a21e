/* Which hosts are free, and which of them a job gets.
 *
 * A host takes a fixed number of workers (slots), each of a different job: the
 * workers of a job are on hosts of their own. A rack is what hangs on one
 * switch; a pod is a set of racks that reach each other over the second tier
 * (leaf-spine: all of them; star: the one rack). */
#ifndef INASIM_WORKLOAD_CLUSTER_H
#define INASIM_WORKLOAD_CLUSTER_H

#include "core/rng.h"
#include "topo/topology.h"

#include <stdbool.h>

enum placement {
	PLACEMENT_COMPACT, /* fewest racks: the best-fitting rack, else the best-fitting pod, else
			    * anywhere; in a pod and anywhere the racks with most room first */
	PLACEMENT_SPREAD,  /* the emptiest hosts, then over as many racks as possible, in turn */
	PLACEMENT_RANDOM,  /* uniform over the hosts with room */
	PLACEMENTS
};

extern const char *const placement_names[]; /* NULL behind the last */

struct cluster {
	uint32_t host_count, rack_count, pod_count;
	uint32_t slots_per_host;
	uint32_t *host_free; /* slots, by host */
	uint32_t *rack_room; /* hosts with a free slot, by rack: what one job may get */
	uint32_t room;       /* the same of all racks */
	uint64_t free_slots;
	uint32_t *rack_of;    /* by host */
	uint32_t *rack_first; /* into rack_hosts, rack_count + 1 entries */
	uint32_t *rack_hosts; /* ascending within a rack */
	uint32_t *pod_of;     /* by rack */
};

/* The topology is only looked at here. */
void cluster_init(struct cluster *cluster, const struct topology *topo, uint32_t slots_per_host);
void cluster_destroy(struct cluster *cluster);

/* Takes a slot on each of `count` hosts, all different, and writes the host of each to `hosts`, in
 * the order of the workers' ranks: compact by host number, so that neighbours in rank are
 * neighbours in the network, spread and random in the order of the choice. False, and nothing is
 * taken, when fewer hosts have a free slot. `rng` is used by PLACEMENT_RANDOM only. */
bool cluster_place(struct cluster *cluster, enum placement policy, uint32_t count, struct rng *rng,
		   uint32_t *hosts);

/* Takes one slot of each host of a list. False, and nothing is taken, when one of
 * them has none, does not exist, or stands twice. */
bool cluster_take_list(struct cluster *cluster, const uint32_t *hosts, uint32_t count);

/* Gives the slots of a job back. */
void cluster_release(struct cluster *cluster, const uint32_t *hosts, uint32_t count);

static inline uint64_t cluster_free_slots(const struct cluster *cluster)
{
	return cluster->free_slots;
}

#endif
