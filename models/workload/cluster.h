/* Which hosts are free, and which of them a job gets.
 *
 * A host takes a fixed number of workers (slots), each of a different job: the
 * workers of a job are on hosts of their own. A rack is what hangs on one
 * switch; a pod is a set of racks that reach each other over the second tier
 * (leaf-spine: all of them; star: the one rack). A machine with several NICs is
 * one host here, in the rack of its first. */
#ifndef INASIM_WORKLOAD_CLUSTER_H
#define INASIM_WORKLOAD_CLUSTER_H

#include "conf/conf.h"
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

/* What a user may write under "cluster". */
struct cluster_conf {
	sim_time controller_latency; /* from its decision to the workers */
	struct {
		int form; /* enum pool_form */
		int64_t number;
		struct conf_list hosts; /* of int64_t */
		bool given;
	} servers;
};
enum pool_form { POOL_NUMBER, POOL_HOSTS };

extern const struct conf_table cluster_table;
extern const struct conf_row host_item; /* of a list of hosts */

/* Reports what the rows cannot check, in a network of `hosts` hosts. */
void cluster_conf_check(const struct cluster_conf *conf, struct conf_doc *doc, uint32_t hosts);

/* The hosts kept for parameter servers, and their number; caller frees. */
uint32_t *cluster_conf_pool(const struct cluster_conf *conf, uint32_t hosts, uint32_t *count);

/* What the lists of a scenario put on a host. */
enum host_use { HOST_FREE, HOST_POOL, HOST_WORKER, HOST_SERVER };

/* Hosts of a list (of int64_t, at `pointer`) must exist and have no other use. Notes the use of
 * each in `uses`, by host. */
void cluster_check_list(const struct conf_list *list, enum host_use use, struct conf_doc *doc,
			const char *pointer, uint32_t hosts, uint8_t *uses);

struct cluster {
	uint32_t host_count, rack_count, pod_count;
	uint32_t slots_per_host;
	uint32_t *host_free;  /* slots, by host */
	uint32_t *rack_room;  /* hosts with a free slot, by rack: what one job may get */
	uint32_t room;        /* the same, of all racks */
	uint32_t *rack_of;    /* by host */
	uint32_t *rack_first; /* into rack_hosts, rack_count + 1 entries */
	uint32_t *rack_hosts; /* ascending within a rack */
	uint32_t *pod_of;     /* by rack */
};

/* Keeps no pointer to the topology. */
void cluster_init(struct cluster *cluster, const struct topology *topo, uint32_t slots_per_host);
void cluster_destroy(struct cluster *cluster);

/* Takes a slot on each of `workers + servers` different hosts and writes them to `hosts`, workers
 * first, in the order of their ranks. Compact sorts both by host number, so that neighbours in rank
 * are neighbours in the network; spread and random keep the order of the choice. Compact chooses
 * racks for workers and servers together and fills them with workers first, so servers are in the
 * last racks. False, and nothing is taken, when fewer hosts have a free slot. Only
 * PLACEMENT_RANDOM uses `rng`. */
bool cluster_place(struct cluster *cluster, enum placement policy, uint32_t workers,
		   uint32_t servers, struct rng *rng, uint32_t *hosts);

/* The same for `count` hosts, none of them in `barred`. */
bool cluster_place_apart(struct cluster *cluster, enum placement policy, uint32_t count,
			 struct rng *rng, const uint32_t *barred, uint32_t barred_count,
			 uint32_t *hosts);

/* Takes all slots of these hosts for good; all must be free. */
void cluster_withdraw(struct cluster *cluster, const uint32_t *hosts, uint32_t count);

/* Takes one slot of each host of a list. False, and nothing is taken, when one has none, does not
 * exist, or is listed twice. */
bool cluster_take_list(struct cluster *cluster, const uint32_t *hosts, uint32_t count);

/* Gives the slots of a job back. */
void cluster_release(struct cluster *cluster, const uint32_t *hosts, uint32_t count);

#endif
