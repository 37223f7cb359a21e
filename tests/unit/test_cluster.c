#include "workload/cluster.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <criterion/criterion.h>
#include <math.h>

static uint64_t free_slots(const struct cluster *cluster)
{
	uint64_t sum = 0;

	for (uint32_t host = 0; host < cluster->host_count; host++)
		sum += cluster->host_free[host];
	return sum;
}

/* A network without traffic: only its shape matters here. */
struct site {
	struct topology_conf conf;
	struct sim sim;
	struct topology topo;
	struct cluster cluster;
};

enum { STAR, LEAF_SPINE, FAT_TREE }; /* as in TOPOLOGIES */

static void site_init(struct site *site, int kind, int64_t size, uint32_t slots)
{
	site->conf = (struct topology_conf){
		.kind = kind,
		.hosts = size,
		.k = size,
		.leaves = size,
		.spines = 2,
		.hosts_per_leaf = 4,
		.link = { .rate = UINT64_C(10000000000), .delay = PS_PER_US },
		.switches = { .buffer = 1000000 },
	};
	sim_init(&site->sim, 1);
	topology_build(&site->topo, &site->conf, &site->sim);
	cluster_init(&site->cluster, &site->topo, &(struct machine_conf){ .slots = slots });
}

static void site_release(struct site *site)
{
	cluster_destroy(&site->cluster);
	topology_release(&site->topo);
	sim_release(&site->sim);
}

static void place(struct site *site, enum placement policy, uint32_t count, uint32_t *hosts)
{
	cr_assert(cluster_place(&site->cluster, policy, count, 0, NULL, hosts));
}

static void expect_hosts(const uint32_t *hosts, const uint32_t *want, size_t count)
{
	for (size_t i = 0; i < count; i++)
		cr_expect_eq(hosts[i], want[i], "worker %zu on host %u, not %u", i, hosts[i],
			     want[i]);
}

/* Racks and pods come from the wiring: in a fat tree host/(k/2) and host/(k*k/4),
 * in a leaf-spine one pod, in a star one rack. */
Test(cluster, racks_and_pods)
{
	struct site site;

	site_init(&site, FAT_TREE, 8, 1);
	cr_expect_eq(site.cluster.rack_count, 32);
	cr_expect_eq(site.cluster.pod_count, 8);
	for (uint32_t h = 0; h < 128; h++) {
		cr_expect_eq(site.cluster.rack_of[h], h / 4);
		cr_expect_eq(site.cluster.pod_of[site.cluster.rack_of[h]], h / 16);
	}
	site_release(&site);
	site_init(&site, LEAF_SPINE, 3, 1);
	cr_expect_eq(site.cluster.rack_count, 3);
	cr_expect_eq(site.cluster.pod_count, 1);
	site_release(&site);
	site_init(&site, STAR, 9, 3);
	cr_expect_eq(site.cluster.rack_count, 1);
	cr_expect_eq(site.cluster.pod_count, 1);
	cr_expect_eq(free_slots(&site.cluster), 27);
	site_release(&site);
}

/* k = 4: racks of 2 hosts, pods of 4. One rack if one fits, and then the one
 * with least room; else one pod; else racks with most room first. */
Test(cluster, compact)
{
	struct site site;
	uint32_t hosts[16];

	site_init(&site, FAT_TREE, 4, 1);
	cr_assert(cluster_take_list(&site.cluster, (const uint32_t[]){ 5 }, 1));
	place(&site, PLACEMENT_COMPACT, 1, hosts); /* the half rack fits best */
	expect_hosts(hosts, (const uint32_t[]){ 4 }, 1);
	place(&site, PLACEMENT_COMPACT, 2, hosts); /* a whole rack, not two halves */
	expect_hosts(hosts, (const uint32_t[]){ 0, 1 }, 2);
	place(&site, PLACEMENT_COMPACT, 3, hosts); /* pods 0 and 1 have 2 left, so pod 2 */
	expect_hosts(hosts, (const uint32_t[]){ 8, 9, 10 }, 3);
	place(&site, PLACEMENT_COMPACT, 6, hosts); /* no pod: full racks 1, 3, 6, whole */
	expect_hosts(hosts, (const uint32_t[]){ 2, 3, 6, 7, 12, 13 }, 6);
	place(&site, PLACEMENT_COMPACT, 3, hosts); /* the rest: 11, 14, 15 */
	expect_hosts(hosts, (const uint32_t[]){ 11, 14, 15 }, 3);
	cr_expect_eq(free_slots(&site.cluster), 0);
	site_release(&site);
}

/* The pod with least room that takes all, and in it the racks with most room. */
Test(cluster, compact_pods)
{
	struct site site;
	uint32_t hosts[4];

	site_init(&site, FAT_TREE, 4, 1);
	cr_assert(cluster_take_list(&site.cluster, (const uint32_t[]){ 4, 8, 10 }, 3));
	place(&site, PLACEMENT_COMPACT, 3, hosts); /* pods have room 4, 3, 2, 4 */
	expect_hosts(hosts, (const uint32_t[]){ 5, 6, 7 }, 3);
	place(&site, PLACEMENT_COMPACT, 4, hosts);
	expect_hosts(hosts, (const uint32_t[]){ 0, 1, 2, 3 }, 4);
	site_release(&site);
}

/* Several slots serve several jobs: a job gets one slot of a host, however many
 * are free. Compact prefers low numbers, spread the emptiest hosts. */
Test(cluster, slots)
{
	struct site site;
	uint32_t hosts[16];

	site_init(&site, LEAF_SPINE, 2, 2); /* 2 racks of 4 hosts of 2 slots */
	cr_expect_not(cluster_place(&site.cluster, PLACEMENT_COMPACT, 9, 0, NULL, hosts));
	place(&site, PLACEMENT_COMPACT, 5, hosts);
	expect_hosts(hosts, (const uint32_t[]){ 0, 1, 2, 3, 4 }, 5);
	place(&site, PLACEMENT_COMPACT, 2, hosts);
	expect_hosts(hosts, (const uint32_t[]){ 0, 1 }, 2); /* these are full now */
	place(&site, PLACEMENT_SPREAD, 5, hosts);           /* room 2, 4; empty: 5, 6, 7 */
	expect_hosts(hosts, (const uint32_t[]){ 5, 6, 7, 4, 2 }, 5);
	cr_expect_eq(free_slots(&site.cluster), 4);
	cr_expect_eq(site.cluster.room, 4); /* 3, 5, 6, 7 */
	cr_expect_not(cluster_place(&site.cluster, PLACEMENT_SPREAD, 5, 0, NULL, hosts));
	place(&site, PLACEMENT_COMPACT, 4, hosts);
	expect_hosts(hosts, (const uint32_t[]){ 3, 5, 6, 7 }, 4);
	cr_expect_eq(free_slots(&site.cluster), 0);
	site_release(&site);
}

/* Racks take turns, the one with most free slots first. */
Test(cluster, spread)
{
	struct site site;
	uint32_t hosts[8];

	site_init(&site, LEAF_SPINE, 3, 1);
	cr_assert(cluster_take_list(&site.cluster, (const uint32_t[]){ 0, 1, 4 }, 3));
	place(&site, PLACEMENT_SPREAD, 7, hosts); /* room 2, 3, 4 */
	expect_hosts(hosts, (const uint32_t[]){ 8, 5, 2, 9, 6, 3, 10 }, 7);
	site_release(&site);
}

/* Every free host equally often within 4 standard deviations, none twice, busy
 * ones never; the same stream gives the same placement. */
Test(cluster, random_is_uniform)
{
	struct site site;
	struct rng rng, again;
	uint32_t hosts[8], same[8], counts[16] = { 0 };
	const int n = 20000;

	site_init(&site, FAT_TREE, 4, 1);
	cr_assert(cluster_take_list(&site.cluster, (const uint32_t[]){ 3, 12 }, 2));
	rng_init(&rng, 1, "placement", 0);
	rng_init(&again, 1, "placement", 0);
	for (int i = 0; i < n; i++) {
		cr_assert(cluster_place(&site.cluster, PLACEMENT_RANDOM, 5, 0, &rng, hosts));
		for (int j = 0; j < 5; j++)
			counts[hosts[j]]++;
		cluster_release(&site.cluster, hosts, 5); /* bug if one was given twice */
		cr_assert(cluster_place(&site.cluster, PLACEMENT_RANDOM, 5, 0, &again, same));
		cluster_release(&site.cluster, same, 5);
		cr_assert_arr_eq(hosts, same, 5 * sizeof(*hosts));
	}
	for (uint32_t h = 0; h < 16; h++) {
		double p = h == 3 || h == 12 ? 0 : 5.0 / 14;

		cr_expect_leq(fabs(counts[h] - n * p), 4 * sqrt(n * p * (1 - p)), "host %u: %u", h,
			      counts[h]);
	}
	site_release(&site);
}

/* What does not fit takes nothing; lists are taken whole or not at all. */
Test(cluster, all_or_nothing)
{
	struct site site;
	uint32_t hosts[20];

	site_init(&site, STAR, 4, 2);
	cr_assert(cluster_take_list(&site.cluster, (const uint32_t[]){ 1, 2 }, 2));
	cr_assert(cluster_take_list(&site.cluster, (const uint32_t[]){ 1 }, 1));
	cr_expect_not(cluster_take_list(&site.cluster, (const uint32_t[]){ 0, 3, 1 }, 3),
		      "1 is full");
	cr_expect_not(cluster_take_list(&site.cluster, (const uint32_t[]){ 3, 3 }, 2),
		      "two slots, but of two jobs");
	cr_expect_not(cluster_take_list(&site.cluster, (const uint32_t[]){ 0, 4 }, 2),
		      "no such host");
	cr_expect_eq(free_slots(&site.cluster), 5);
	for (int policy = 0; policy < PLACEMENTS; policy++)
		cr_expect_not(
			cluster_place(&site.cluster, (enum placement)policy, 4, 0, NULL, hosts));
	cr_expect_eq(free_slots(&site.cluster), 5);
	cr_expect(cluster_place(&site.cluster, PLACEMENT_COMPACT, 3, 0, NULL, hosts));
	cluster_release(&site.cluster, hosts, 3);
	cluster_release(&site.cluster, (const uint32_t[]){ 2, 1, 1 }, 3);
	cr_expect_eq(free_slots(&site.cluster), 8);
	site_release(&site);
}

/* The number of racks with workers of a placement. */
static uint32_t racks_used(const struct cluster *cluster, const uint32_t *hosts, uint32_t count)
{
	bool used[64] = { false };
	uint32_t racks = 0;

	for (uint32_t i = 0; i < count; i++) {
		racks += !used[cluster->rack_of[hosts[i]]];
		used[cluster->rack_of[hosts[i]]] = true;
	}
	return racks;
}

/* The fewest racks with room for `count`, by greed: optimal, as any set of racks will do. */
static uint32_t fewest_racks(const struct cluster *cluster, uint32_t count)
{
	uint32_t room[64], racks = 0;

	for (uint32_t r = 0; r < cluster->rack_count; r++)
		room[r] = cluster->rack_room[r];
	for (uint64_t sum = 0; sum < count; racks++) {
		uint32_t best = 0;

		for (uint32_t r = 1; r < cluster->rack_count; r++)
			best = room[r] > room[best] ? r : best;
		sum += room[best];
		room[best] = 0;
	}
	return racks;
}

static void expect_books(const struct cluster *cluster)
{
	uint64_t hosts = 0, racks = 0, room = 0;

	for (uint32_t h = 0; h < cluster->host_count; h++) {
		cr_assert_leq(cluster->host_free[h], cluster->slots_per_host);
		hosts += cluster->host_free[h];
		room += cluster->host_free[h] > 0;
	}
	for (uint32_t r = 0; r < cluster->rack_count; r++)
		racks += cluster->rack_room[r];
	cr_expect_eq(hosts, free_slots(cluster));
	cr_expect_eq(racks, room);
	cr_expect_eq(cluster->room, room);
}

static void expect_different(const uint32_t *hosts, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		for (uint32_t j = 0; j < i; j++)
			cr_assert_neq(hosts[i], hosts[j]);
}

/* Jobs come and go at random: the books balance, no job has a host twice, compact
 * uses the fewest racks possible in a network of one pod. */
Test(cluster, many_jobs)
{
	struct site site;
	struct rng rng;
	struct {
		uint32_t hosts[40], count;
	} jobs[12] = { 0 };

	site_init(&site, LEAF_SPINE, 12, 3);
	rng_init(&rng, 3, "jobs", 0);
	for (int step = 0; step < 20000; step++) {
		size_t i = (size_t)rng_below(&rng, 12);
		enum placement policy = (enum placement)rng_below(&rng, PLACEMENTS);
		uint32_t count = 1 + (uint32_t)rng_below(&rng, 40), fewest;
		uint64_t before = free_slots(&site.cluster);
		bool fits = site.cluster.room >= count;

		if (jobs[i].count) {
			cluster_release(&site.cluster, jobs[i].hosts, jobs[i].count);
			jobs[i].count = 0;
			continue;
		}
		fewest = fits ? fewest_racks(&site.cluster, count) : 0;
		cr_assert_eq(cluster_place(&site.cluster, policy, count, 0, &rng, jobs[i].hosts),
			     fits);
		if (!fits)
			continue;
		expect_different(jobs[i].hosts, count);
		jobs[i].count = count;
		cr_assert_eq(free_slots(&site.cluster), before - count);
		if (policy == PLACEMENT_COMPACT)
			cr_assert_eq(racks_used(&site.cluster, jobs[i].hosts, count), fewest);
		if (step % 100 == 0)
			expect_books(&site.cluster);
	}
	site_release(&site);
}

/* 16,000 hosts: thousands of placements stay a matter of a second. */
Test(cluster, large)
{
	struct site site;
	uint32_t hosts[4][96];
	struct rng rng;

	site_init(&site, FAT_TREE, 40, 1);
	rng_init(&rng, 1, "large", 0);
	cr_expect_eq(site.topo.net.hosts, 16000);
	for (int i = 0; i < 2000; i++) {
		for (int j = 0; j < 4; j++)
			cr_assert(cluster_place(&site.cluster, (enum placement)(j % PLACEMENTS), 96,
						0, &rng, hosts[j]));
		for (int j = 0; j < 4; j++)
			cluster_release(&site.cluster, hosts[j], 96);
	}
	cr_expect_eq(free_slots(&site.cluster), 16000);
	site_release(&site);
}

/* --- parameter servers --- */

/* Racks of 4. If one rack takes all, servers come after the workers. Otherwise workers fill racks
 * first, so servers are in the last rack. */
Test(cluster, servers_compact)
{
	struct site site;
	uint32_t hosts[16];

	site_init(&site, LEAF_SPINE, 4, 1);
	cr_assert(cluster_place(&site.cluster, PLACEMENT_COMPACT, 3, 1, NULL, hosts));
	expect_hosts(hosts, (const uint32_t[]){ 0, 1, 2, 3 }, 4);
	cr_assert(cluster_take_list(&site.cluster, (const uint32_t[]){ 4, 5 }, 2));
	cr_assert(cluster_place(&site.cluster, PLACEMENT_COMPACT, 4, 1, NULL, hosts));
	expect_hosts(hosts, (const uint32_t[]){ 8, 9, 10, 11, 6 }, 5); /* 6 has a lower number */
	cr_expect_not(cluster_place(&site.cluster, PLACEMENT_COMPACT, 5, 1, NULL, hosts));
	cr_assert(cluster_place(&site.cluster, PLACEMENT_COMPACT, 2, 3, NULL, hosts));
	expect_hosts(hosts, (const uint32_t[]){ 12, 13, 7, 14, 15 }, 5);
	cr_expect_eq(free_slots(&site.cluster), 0);
	site_release(&site);
}

/* With spread, racks go on taking turns for the servers. */
Test(cluster, servers_spread)
{
	struct site site;
	uint32_t hosts[8];

	site_init(&site, LEAF_SPINE, 4, 1);
	cr_assert(cluster_place(&site.cluster, PLACEMENT_SPREAD, 3, 2, NULL, hosts));
	expect_hosts(hosts, (const uint32_t[]){ 0, 4, 8, 12, 1 }, 5);
	site_release(&site);
}

/* Barred hosts are not chosen, although they have free slots, and have them again afterwards. */
Test(cluster, apart)
{
	struct site site;
	const uint32_t barred[] = { 0, 1, 2 };
	uint32_t hosts[8];
	struct rng rng;

	site_init(&site, STAR, 5, 2);
	rng_init(&rng, 1, "placement", 0);
	cr_assert(cluster_take_list(&site.cluster, barred, 3));
	for (int policy = 0; policy < PLACEMENTS; policy++) {
		cr_expect_not(cluster_place_apart(&site.cluster, (enum placement)policy, 3, &rng,
						  barred, 3, hosts));
		cr_expect_eq(free_slots(&site.cluster), 7);
		cr_assert(cluster_place_apart(&site.cluster, (enum placement)policy, 2, &rng,
					      barred, 3, hosts));
		cr_expect_eq(hosts[0] + hosts[1], 3 + 4);
		cluster_release(&site.cluster, hosts, 2);
	}
	expect_books(&site.cluster);
	site_release(&site);
}

/* A pool takes its hosts with all slots. */
Test(cluster, withdraw)
{
	const struct cluster_conf last = { .servers = { .form = POOL_NUMBER, .number = 2 } };
	uint32_t hosts[8], count, *pool = cluster_conf_pool(&last, 5, &count);
	struct site site;

	cr_assert_eq(count, 2);
	expect_hosts(pool, (const uint32_t[]){ 3, 4 }, 2);
	site_init(&site, STAR, 5, 2);
	cluster_withdraw(&site.cluster, pool, count);
	cr_expect_eq(free_slots(&site.cluster), 6);
	cr_expect_not(cluster_place(&site.cluster, PLACEMENT_COMPACT, 4, 0, NULL, hosts));
	cr_expect_not(cluster_take_list(&site.cluster, pool, 1));
	place(&site, PLACEMENT_SPREAD, 3, hosts);
	expect_hosts(hosts, (const uint32_t[]){ 0, 1, 2 }, 3);
	expect_books(&site.cluster);
	site_release(&site);
	free(pool);
}

Test(cluster, names)
{
	for (int i = 0; i < PLACEMENTS; i++)
		cr_assert_not_null(placement_names[i]);
	cr_assert_null(placement_names[PLACEMENTS]);
}
