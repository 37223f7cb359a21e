#include "workload/cluster.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

#define ANYWHERE UINT32_MAX /* in place of a pod: in all pods */
#define NO_RACK  UINT32_MAX

const char *const placement_names[] = {
	[PLACEMENT_COMPACT] = "compact",
	[PLACEMENT_SPREAD] = "spread",
	[PLACEMENT_RANDOM] = "random",
	[PLACEMENTS] = NULL,
};

/* --- the shape of the network --- */

/* A number that all bottom switches of a pod share: the lowest second-tier node linked to the
 * switch (fat tree: the pod's first aggregation switch; leaf-spine: spine 0), else 0. */
static uint32_t pod_name(const struct network *net, uint32_t sw)
{
	const struct switch_node *node = &net->switch_nodes[sw];
	uint32_t lowest = UINT32_MAX;

	for (uint32_t i = 0; i < node->ports; i++) {
		uint32_t peer = net->ports[node->first_port + i].to;

		if (peer >= net->hosts && net->switch_nodes[peer - net->hosts].tier == 2 &&
		    peer < lowest)
			lowest = peer;
	}
	return lowest == UINT32_MAX ? 0 : lowest;
}

/* Numbers racks and pods by their lowest hosts, and counts the hosts of rack r in
 * rack_first[r + 1]. */
static void number_racks(struct cluster *cluster, const struct topology *topo,
			 const struct machine_conf *machine)
{
	const struct network *net = &topo->net;
	uint32_t *rack_of_switch = xmalloc(net->switches * sizeof(*rack_of_switch));
	uint32_t *pod_of_node = xmalloc((net->hosts + net->switches) * sizeof(*pod_of_node));

	/* bytes of 0xff give NO_RACK, and UINT32_MAX for no pod */
	memset(rack_of_switch, 0xff, net->switches * sizeof(*rack_of_switch));
	memset(pod_of_node, 0xff, (net->hosts + net->switches) * sizeof(*pod_of_node));
	for (uint32_t host = 0; host < cluster->host_count; host++) {
		uint32_t sw = net->ports[machine_nic(machine, net->hosts, host, 0)].to - net->hosts;

		SIM_BUG_ON(sw >= net->switches); /* each host is linked to a switch */
		if (rack_of_switch[sw] == NO_RACK) {
			uint32_t name = pod_name(net, sw);

			if (pod_of_node[name] == UINT32_MAX)
				pod_of_node[name] = cluster->pod_count++;
			cluster->pod_of[cluster->rack_count] = pod_of_node[name];
			rack_of_switch[sw] = cluster->rack_count++;
		}
		cluster->rack_of[host] = rack_of_switch[sw];
		cluster->rack_first[rack_of_switch[sw] + 1]++;
	}
	free(rack_of_switch);
	free(pod_of_node);
}

/* Lists the hosts of each rack. Turns rack_first from counts into the places where racks begin. */
static void list_racks(struct cluster *cluster)
{
	uint32_t *next = xcalloc(cluster->rack_count, sizeof(*next));

	for (uint32_t rack = 0; rack < cluster->rack_count; rack++) {
		cluster->rack_first[rack + 1] += cluster->rack_first[rack];
		next[rack] = cluster->rack_first[rack];
	}
	for (uint32_t host = 0; host < cluster->host_count; host++) {
		uint32_t rack = cluster->rack_of[host];

		cluster->rack_hosts[next[rack]++] = host;
		cluster->rack_room[rack]++;
	}
	free(next);
}

void cluster_init(struct cluster *cluster, const struct topology *topo,
		  const struct machine_conf *machine)
{
	const struct network *net = &topo->net;
	uint32_t hosts = machine_count(machine, net->hosts);
	uint32_t slots_per_host = (uint32_t)machine->slots;

	*cluster = (struct cluster){ .host_count = hosts, .slots_per_host = slots_per_host };
	SIM_BUG_ON(slots_per_host == 0);
	cluster->room = hosts;
	cluster->host_free = xcalloc(hosts, sizeof(*cluster->host_free));
	cluster->rack_of = xcalloc(hosts, sizeof(*cluster->rack_of));
	cluster->rack_hosts = xcalloc(hosts, sizeof(*cluster->rack_hosts));
	cluster->rack_room = xcalloc(net->switches, sizeof(*cluster->rack_room));
	cluster->rack_first = xcalloc(net->switches + 1, sizeof(*cluster->rack_first));
	cluster->pod_of = xcalloc(net->switches, sizeof(*cluster->pod_of));
	for (uint32_t host = 0; host < hosts; host++)
		cluster->host_free[host] = slots_per_host;
	number_racks(cluster, topo, machine);
	list_racks(cluster);
}

void cluster_destroy(struct cluster *cluster)
{
	free(cluster->host_free);
	free(cluster->rack_of);
	free(cluster->rack_hosts);
	free(cluster->rack_room);
	free(cluster->rack_first);
	free(cluster->pod_of);
	*cluster = (struct cluster){ 0 };
}

/* --- single slots --- */

static void take(struct cluster *cluster, uint32_t host)
{
	SIM_BUG_ON(cluster->host_free[host] == 0);
	if (--cluster->host_free[host])
		return; /* the host still has room */
	cluster->rack_room[cluster->rack_of[host]]--;
	cluster->room--;
}

static void give_back(struct cluster *cluster, uint32_t host)
{
	SIM_BUG_ON(host >= cluster->host_count ||
		   cluster->host_free[host] == cluster->slots_per_host);
	if (cluster->host_free[host]++)
		return; /* the host had room before */
	cluster->rack_room[cluster->rack_of[host]]++;
	cluster->room++;
}

void cluster_release(struct cluster *cluster, const uint32_t *hosts, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		give_back(cluster, hosts[i]);
}

static void take_all(struct cluster *cluster, const uint32_t *hosts, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		take(cluster, hosts[i]);
}

bool cluster_take_list(struct cluster *cluster, const uint32_t *hosts, uint32_t count)
{
	bool *seen = xcalloc(cluster->host_count, sizeof(*seen)), good = true;

	for (uint32_t i = 0; i < count && good; i++) {
		good = hosts[i] < cluster->host_count && cluster->host_free[hosts[i]] &&
		       !seen[hosts[i]];
		if (good)
			seen[hosts[i]] = true;
	}
	free(seen);
	if (good)
		take_all(cluster, hosts, count);
	return good;
}

/* --- compact. Here and below, hosts are only chosen; cluster_place() takes them --- */

/* The rack to fill next in this pod: of the racks with room for `need` hosts, the one with least
 * room; if there is none, the rack with most room. */
static uint32_t best_rack(const struct cluster *cluster, const uint32_t *room, uint32_t pod,
			  uint32_t need)
{
	uint32_t best = NO_RACK, held = 0; /* held: the room of `best` */

	for (uint32_t rack = 0; rack < cluster->rack_count; rack++) {
		if (room[rack] == 0 || (pod != ANYWHERE && cluster->pod_of[rack] != pod))
			continue;
		/* more room is better up to `need`; above it, less is better */
		if (best == NO_RACK ||
		    (held < need ? room[rack] > held : room[rack] >= need && room[rack] < held)) {
			best = rack;
			held = room[rack];
		}
	}
	return best;
}

/* The pod with least room for at least `need` hosts; ANYWHERE if there is none. */
static uint32_t best_pod(const struct cluster *cluster, uint32_t need)
{
	uint64_t *room = xcalloc(cluster->pod_count, sizeof(*room));
	uint32_t best = ANYWHERE;

	for (uint32_t rack = 0; rack < cluster->rack_count; rack++)
		room[cluster->pod_of[rack]] += cluster->rack_room[rack];
	for (uint32_t pod = 0; pod < cluster->pod_count; pod++)
		if (room[pod] >= need && (best == ANYWHERE || room[pod] < room[best]))
			best = pod;
	free(room);
	return best;
}

static int compare_hosts(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* Lists hosts rack by rack, in the order in which racks are filled. */
static void place_compact(const struct cluster *cluster, uint32_t count, uint32_t *hosts)
{
	uint32_t *room = xcalloc(cluster->rack_count, sizeof(*room));
	uint32_t placed = 0, pod = ANYWHERE, rack;

	memcpy(room, cluster->rack_room, cluster->rack_count * sizeof(*room));
	rack = best_rack(cluster, room, ANYWHERE, count);
	if (room[rack] < count) {
		pod = best_pod(cluster, count);
		rack = best_rack(cluster, room, pod, count);
	}
	for (;;) {
		for (uint32_t i = cluster->rack_first[rack];
		     i < cluster->rack_first[rack + 1] && placed < count; i++)
			if (cluster->host_free[cluster->rack_hosts[i]])
				hosts[placed++] = cluster->rack_hosts[i];
		if (placed == count)
			break;
		room[rack] = 0;
		rack = best_rack(cluster, room, pod, count - placed);
	}
	free(room);
}

/* --- spread --- */

/* Orders numbers `room << 32 | rack`: most room first, then the lower rack. */
static int compare_room(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	if (x >> 32 != y >> 32)
		return x >> 32 > y >> 32 ? -1 : 1;
	return (x > y) - (x < y);
}

/* All racks, most room first; the caller frees the array. */
static uint32_t *racks_by_room(const struct cluster *cluster)
{
	uint64_t *sorted = xcalloc(cluster->rack_count, sizeof(*sorted));
	uint32_t *racks = xcalloc(cluster->rack_count, sizeof(*racks));

	for (uint32_t rack = 0; rack < cluster->rack_count; rack++)
		sorted[rack] = (uint64_t)cluster->rack_room[rack] << 32 | rack;
	qsort(sorted, cluster->rack_count, sizeof(*sorted), compare_room);
	for (uint32_t rack = 0; rack < cluster->rack_count; rack++)
		racks[rack] = (uint32_t)sorted[rack];
	free(sorted);
	return racks;
}

/* Chooses hosts with exactly `level` free slots, one from each rack in turn, until none is left or
 * `count` are chosen. Returns how many are chosen by then. */
static uint32_t place_level(const struct cluster *cluster, const uint32_t *racks, uint32_t level,
			    uint32_t count, uint32_t placed, uint32_t *hosts)
{
	uint32_t *next = xcalloc(cluster->rack_count, sizeof(*next));
	bool more = true;

	for (uint32_t rack = 0; rack < cluster->rack_count; rack++)
		next[rack] = cluster->rack_first[rack];
	while (more) {
		more = false;
		for (uint32_t i = 0; i < cluster->rack_count && placed < count; i++) {
			uint32_t rack = racks[i], end = cluster->rack_first[rack + 1];

			while (next[rack] < end &&
			       cluster->host_free[cluster->rack_hosts[next[rack]]] != level)
				next[rack]++;
			if (next[rack] == end)
				continue;
			hosts[placed++] = cluster->rack_hosts[next[rack]++];
			more = true;
		}
	}
	free(next);
	return placed;
}

static void place_spread(const struct cluster *cluster, uint32_t count, uint32_t *hosts)
{
	uint32_t *racks = racks_by_room(cluster), placed = 0;

	/* hosts with most free slots first */
	for (uint32_t level = cluster->slots_per_host; placed < count; level--)
		placed = place_level(cluster, racks, level, count, placed, hosts);
	free(racks);
}

/* --- random --- */

/* The first `count` steps of a Fisher-Yates shuffle of the hosts with room. */
static void place_random(const struct cluster *cluster, uint32_t count, struct rng *rng,
			 uint32_t *hosts)
{
	uint32_t *list = xcalloc(cluster->room, sizeof(*list)), filled = 0;

	for (uint32_t host = 0; host < cluster->host_count; host++)
		if (cluster->host_free[host])
			list[filled++] = host;
	for (uint32_t i = 0; i < count; i++) {
		uint64_t j = i + rng_below(rng, filled - i);

		hosts[i] = list[j];
		list[j] = list[i];
	}
	free(list);
}

bool cluster_place(struct cluster *cluster, enum placement policy, uint32_t workers,
		   uint32_t servers, struct rng *rng, uint32_t *hosts)
{
	uint32_t count = workers + servers;

	if (count > cluster->room)
		return false;
	if (count == 0)
		return true;
	switch (policy) {
	case PLACEMENT_COMPACT:
		place_compact(cluster, count, hosts);
		qsort(hosts, workers, sizeof(*hosts), compare_hosts);
		qsort(hosts + workers, servers, sizeof(*hosts), compare_hosts);
		break;
	case PLACEMENT_SPREAD:
		place_spread(cluster, count, hosts);
		break;
	case PLACEMENT_RANDOM:
		place_random(cluster, count, rng, hosts);
		break;
	case PLACEMENTS:
		sim_bug(__FILE__, __LINE__, "no such placement: %d", (int)policy);
	}
	take_all(cluster, hosts, count);
	return true;
}

bool cluster_place_apart(struct cluster *cluster, enum placement policy, uint32_t count,
			 struct rng *rng, const uint32_t *barred, uint32_t barred_count,
			 uint32_t *hosts)
{
	uint32_t *held = xcalloc(barred_count, sizeof(*held));
	bool good;

	/* take all slots of the barred hosts while others are chosen */
	for (uint32_t i = 0; i < barred_count; i++)
		for (; cluster->host_free[barred[i]]; held[i]++)
			take(cluster, barred[i]);
	good = cluster_place(cluster, policy, count, 0, rng, hosts);
	for (uint32_t i = 0; i < barred_count; i++)
		while (held[i]--)
			give_back(cluster, barred[i]);
	free(held);
	return good;
}

void cluster_withdraw(struct cluster *cluster, const uint32_t *hosts, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		SIM_BUG_ON(cluster->host_free[hosts[i]] != cluster->slots_per_host);
		while (cluster->host_free[hosts[i]])
			take(cluster, hosts[i]);
	}
}
