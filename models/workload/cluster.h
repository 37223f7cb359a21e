/* Which hosts are free, and which of them a job gets.
 *
 * A host has a fixed number of slots. The slots of a host go to different jobs, one worker or
 * server each. A rack is the hosts of one switch. A pod is a set of racks that reach each other
 * over the second tier (leaf-spine: all racks; star: the one rack). A machine with several NICs is
 * one host here, in the rack of its first NIC. */
#ifndef INASIM_WORKLOAD_CLUSTER_H
#define INASIM_WORKLOAD_CLUSTER_H

#include "collective/machine_conf.h"
#include "conf/conf.h"
#include "core/rng.h"
#include "topo/topology.h"

#include <stdbool.h>

enum placement {
	/* all in one rack, the one with least room that is enough; else all in one pod, the one
	 * with least room that is enough; else anywhere, in the racks with most room first */
	PLACEMENT_COMPACT,
	PLACEMENT_SPREAD, /* on the emptiest hosts first, racks in turn */
	PLACEMENT_RANDOM, /* uniform over the hosts with room */
	PLACEMENTS
};

extern const char *const placement_names[]; /* NULL behind the last */

/* What a user may write under "cluster". */
struct cluster_conf {
	sim_time controller_latency; /* from the controller's decision to the workers' start */
	struct {
		int form;               /* enum pool_form */
		int64_t number;         /* POOL_NUMBER: the last `number` hosts; 0 = none */
		struct conf_list hosts; /* of int64_t */
		bool given;
	} servers;
};
enum pool_form { POOL_NUMBER, POOL_HOSTS };

extern const struct conf_table cluster_table;
extern const struct conf_row host_item; /* of a list of hosts */

/* Reports errors that the rows cannot find, in a network of `hosts` hosts. */
void cluster_conf_check(const struct cluster_conf *conf, struct conf_doc *doc, uint32_t hosts);

/* The hosts that are kept for parameter servers (caller frees); *count gets their number. */
uint32_t *cluster_conf_pool(const struct cluster_conf *conf, uint32_t hosts, uint32_t *count);

/* What a list in the scenario uses a host for. */
enum host_use { HOST_FREE, HOST_POOL, HOST_WORKER, HOST_SERVER };

/* Checks that the hosts of a list (of int64_t, at `pointer`) exist and have no use yet, so that
 * none stands twice. Notes the use of each in `uses`, by host. */
void cluster_check_list(const struct conf_list *list, enum host_use use, struct conf_doc *doc,
			const char *pointer, uint32_t hosts, uint8_t *uses);

struct cluster {
	uint32_t host_count, rack_count, pod_count;
	uint32_t slots_per_host;
	uint32_t *host_free;  /* free slots, by host */
	uint32_t *rack_room;  /* hosts with a free slot, by rack */
	uint32_t room;        /* sum of rack_room: the most hosts that a job can get */
	uint32_t *rack_of;    /* by host */
	uint32_t *rack_first; /* by rack: its first place in rack_hosts; last entry: the end */
	uint32_t *rack_hosts; /* ascending within a rack */
	uint32_t *pod_of;     /* by rack */
};

/* Fills in the racks and pods of `topo`, with all slots free. Keeps no pointer to `topo`. */
void cluster_init(struct cluster *cluster, const struct topology *topo,
		  const struct machine_conf *machine);
void cluster_destroy(struct cluster *cluster);

/* Takes a slot on each of `workers + servers` different hosts. Writes the hosts to `hosts`: those
 * of workers by rank, then those of servers. Compact fills its racks with workers first, so servers
 * are in the last racks. It sorts workers, and servers, by host number, so that neighbours in rank
 * are neighbours in the network. Spread and random keep the order in which hosts are chosen.
 * Returns false and takes nothing if too few hosts have a free slot. Only PLACEMENT_RANDOM uses
 * `rng`. */
bool cluster_place(struct cluster *cluster, enum placement policy, uint32_t workers,
		   uint32_t servers, struct rng *rng, uint32_t *hosts);

/* Like cluster_place() for `count` workers, but none of the hosts in `barred` is chosen. */
bool cluster_place_apart(struct cluster *cluster, enum placement policy, uint32_t count,
			 struct rng *rng, const uint32_t *barred, uint32_t barred_count,
			 uint32_t *hosts);

/* Takes all slots of these hosts for good. All these slots must be free. */
void cluster_withdraw(struct cluster *cluster, const uint32_t *hosts, uint32_t count);

/* Takes one slot of each host of a list. Returns false and takes nothing if a host has no free
 * slot, does not exist, or is listed twice. */
bool cluster_take_list(struct cluster *cluster, const uint32_t *hosts, uint32_t count);

/* Gives the slots of a job back. */
void cluster_release(struct cluster *cluster, const uint32_t *hosts, uint32_t count);

#endif
