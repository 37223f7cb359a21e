#include "crosscheck/random_scenario.h"

#include "base/mem.h"
#include "core/rng.h"
#include "ina/schemes.h"
#include "out/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define JOBS_MOST       6
#define WORKERS_MOST    16
#define TENSORS_MOST    3
#define SERVERS_MOST    3
#define LEAST_KB        1000
#define MOST_KB         50000
#define FLOWS_MOST      4
#define ECN_KB_PER_GBPS 13   /* 85 full frames at 10 Gbps, as PANAMA section 7 */
#define PACKET_BUDGET   15e6 /* hops of packets: some seconds of CPU time */
#define COUNT(list)     (sizeof(list) / sizeof((list)[0]))

struct drawn_job {
	unsigned scheme;
	uint32_t workers, servers, iterations, tensors;
	uint64_t gradient_kb[TENSORS_MOST], forward_us, arrival_us;
	bool overlap;
	const char *placement;
};

struct drawn_flow {
	uint32_t src, dst;
	uint64_t size_kb;
};

struct drawn {
	const char *kind;
	uint32_t hosts, leaves, spines, oversubscription, tiers;
	uint32_t slots;  /* of a host: 1, or one for every job */
	uint32_t places; /* slots of all hosts that are left */
	uint32_t gbps;
	const char *delay;
	uint32_t elements; /* of a packet, in all schemes that have a choice */
	struct drawn_job jobs[JOBS_MOST];
	uint32_t job_count;
	struct drawn_flow flows[FLOWS_MOST];
	uint32_t flow_count;
};

static uint32_t between(struct rng *rng, uint32_t least, uint32_t most)
{
	return least + (uint32_t)rng_below(rng, most - least + 1);
}

static const char *one_of(struct rng *rng, const char *const *list, size_t count)
{
	return list[rng_below(rng, count)];
}

/* Log-uniform: small ones are as many as large ones. By squaring, not by exp(), whose last
 * bit differs among C libraries: 50 = 2^5.64, in steps of 2^(1/8). */
static uint64_t size_kb(struct rng *rng)
{
	double size = LEAST_KB;

	for (uint64_t steps = rng_below(rng, 46); steps > 0; steps--)
		size *= 1.0905077326652577; /* 2^(1/8) */
	return size > MOST_KB ? MOST_KB : (uint64_t)size;
}

static void draw_network(struct rng *rng, struct drawn *drawn)
{
	static const uint32_t rates[] = { 10, 25, 40, 100 };
	static const char *const delays[] = { "500ns", "1us", "2us" };
	static const uint32_t ratios[] = { 1, 1, 2, 4 };

	switch (rng_below(rng, 3)) {
	case 0:
		drawn->kind = "star";
		drawn->tiers = 1;
		drawn->hosts = between(rng, 4, 20);
		break;
	case 1:
		drawn->kind = "leaf-spine";
		drawn->tiers = 2;
		drawn->leaves = between(rng, 2, 4);
		drawn->spines = between(rng, 1, 4);
		drawn->hosts = drawn->leaves * between(rng, 2, 6);
		drawn->oversubscription = ratios[rng_below(rng, COUNT(ratios))];
		break;
	default:
		drawn->kind = "fat-tree";
		drawn->tiers = 3;
		drawn->hosts = 16; /* k = 4 */
	}
	drawn->gbps = rates[rng_below(rng, COUNT(rates))];
	drawn->delay = one_of(rng, delays, COUNT(delays));
}

/* False when there is no room for it: nobody waits for hosts. */
static bool draw_job(struct rng *rng, struct drawn *drawn, unsigned scheme, struct drawn_job *job)
{
	static const char *const placements[] = { "compact", "spread", "random" };
	bool servers = scheme_ops(scheme)->servers;
	uint32_t most = drawn->hosts < drawn->places ? drawn->hosts : drawn->places;

	if (most < 2u + servers)
		return false;
	most -= servers;
	job->scheme = scheme;
	job->workers = between(rng, 2, most > WORKERS_MOST ? WORKERS_MOST : most);
	if (servers) {
		uint32_t room = most + 1 - job->workers;

		job->servers = between(rng, 1, room > SERVERS_MOST ? SERVERS_MOST : room);
	}
	drawn->places -= job->workers + job->servers;
	job->iterations = between(rng, 1, 5);
	job->tensors = between(rng, 1, TENSORS_MOST);
	for (uint32_t i = 0; i < job->tensors; i++)
		job->gradient_kb[i] = size_kb(rng);
	job->forward_us = rng_below(rng, 2) ? rng_below(rng, 1000) : 0;
	job->arrival_us = rng_below(rng, 2) ? rng_below(rng, 2000) : 0;
	job->overlap = rng_below(rng, 2);
	job->placement = one_of(rng, placements, COUNT(placements));
	return true;
}

static void draw_flow(struct rng *rng, const struct drawn *drawn, struct drawn_flow *flow)
{
	flow->src = between(rng, 0, drawn->hosts - 1);
	flow->dst = (flow->src + between(rng, 1, drawn->hosts - 1)) % drawn->hosts;
	flow->size_kb = size_kb(rng);
}

/* About the packet-hops of a job: a gradient up and a gradient down a worker. */
static double hops_of(const struct drawn *drawn, const struct drawn_job *job)
{
	double packets = 0;

	for (uint32_t i = 0; i < job->tensors; i++)
		packets += 2 * 1e3 * (double)job->gradient_kb[i] / (4 * drawn->elements);
	return packets * job->workers * job->iterations * drawn->tiers;
}

/* Makes what is too long shorter: fewer iterations, then smaller tensors. */
static void fit_budget(struct drawn *drawn)
{
	double hops = 0, factor;

	for (uint32_t i = 0; i < drawn->job_count; i++)
		hops += hops_of(drawn, &drawn->jobs[i]);
	if (hops <= PACKET_BUDGET)
		return;
	for (uint32_t i = 0; i < drawn->job_count; i++) {
		hops -= hops_of(drawn, &drawn->jobs[i]);
		drawn->jobs[i].iterations = (drawn->jobs[i].iterations + 1) / 2;
		hops += hops_of(drawn, &drawn->jobs[i]);
	}
	factor = hops > PACKET_BUDGET ? PACKET_BUDGET / hops : 1;
	for (uint32_t i = 0; i < drawn->job_count; i++)
		for (uint32_t t = 0; t < drawn->jobs[i].tensors; t++) {
			uint64_t *kb = &drawn->jobs[i].gradient_kb[t];

			*kb = (uint64_t)((double)*kb * factor);
			if (*kb < LEAST_KB)
				*kb = LEAST_KB;
		}
}

/* One fifth each: a job alone; jobs under several schemes with long flows, without; the rest: jobs
 * under one scheme. */
enum family { FAMILY_ALONE, FAMILY_FLOWS, FAMILY_MIXED, FAMILY_ALIKE, FAMILIES = 5 };

static void draw_jobs(struct rng *rng, enum family family, struct drawn *drawn)
{
	unsigned scheme = (unsigned)rng_below(rng, SCHEME_COUNT);
	uint32_t most = family == FAMILY_ALONE ? 1 : between(rng, 2, JOBS_MOST);

	while (drawn->job_count < most &&
	       draw_job(rng, drawn, scheme, &drawn->jobs[drawn->job_count])) {
		drawn->job_count++;
		if (family < FAMILY_ALIKE)
			scheme = (unsigned)rng_below(rng, SCHEME_COUNT);
	}
}

static void draw(struct rng *rng, struct drawn *drawn)
{
	static const uint32_t elements[] = { 64, 128, 256, 256 };
	enum family family = (enum family)rng_below(rng, FAMILIES);

	draw_network(rng, drawn);
	drawn->slots = rng_below(rng, 2) ? 1 : JOBS_MOST;
	drawn->places = drawn->hosts * drawn->slots;
	drawn->elements = elements[rng_below(rng, COUNT(elements))];
	draw_jobs(rng, family, drawn);
	drawn->flow_count = family == FAMILY_FLOWS ? between(rng, 1, FLOWS_MOST) : 0;
	for (uint32_t i = 0; i < drawn->flow_count; i++)
		draw_flow(rng, drawn, &drawn->flows[i]);
	fit_budget(drawn);
}

/* --- as JSON --- */

static void json_quantity(struct json *json, const char *key, uint64_t amount, const char *unit)
{
	char text[32];

	snprintf(text, sizeof(text), "%" PRIu64 "%s", amount, unit);
	json_string(json, key, text);
}

static void json_topology(struct json *json, const struct drawn *drawn)
{
	json_open_object(json, "topology");
	json_string(json, "kind", drawn->kind);
	if (drawn->tiers == 1) {
		json_u64(json, "hosts", drawn->hosts);
	} else if (drawn->tiers == 2) {
		json_u64(json, "leaves", drawn->leaves);
		json_u64(json, "spines", drawn->spines);
		json_u64(json, "hosts_per_leaf", drawn->hosts / drawn->leaves);
		json_u64(json, "oversubscription", drawn->oversubscription);
	} else {
		json_u64(json, "k", 4);
	}
	json_open_object(json, "link");
	json_quantity(json, "rate", drawn->gbps, "Gbps");
	json_string(json, "delay", drawn->delay);
	json_close_object(json);
	json_open_object(json, "switch");
	json_string(json, "buffer", "16MB");
	json_open_object(json, "ecn");
	json_quantity(json, "threshold", ECN_KB_PER_GBPS * drawn->gbps, "kB");
	json_close_object(json);
	json_close_object(json);
	json_open_object(json, "host");
	json_u64(json, "slots", drawn->slots);
	json_string(json, "nic_jitter", "0s");
	json_close_object(json);
	json_close_object(json);
}

/* Ample memory (of ATP and ESA 65,536 aggregators are the most that packets can name); timers that
 * only losses can need (SwitchML's 1 ms is less than what full queues take); trees for tensors of
 * all sizes; recovery, so that a run ends where who heeds no marks fills a buffer. */
static void json_schemes(struct json *json, const struct drawn *drawn)
{
	static const char *const hashed[] = { "atp", "esa" }, *const trees[] = { "panama",
										 "switchml_star" };

	json_open_object(json, "schemes");
	json_open_object(json, "switchml");
	json_string(json, "memory", "1GB");
	json_string(json, "retransmission_timeout", "100ms");
	json_u64(json, "elements_per_packet", drawn->elements);
	json_close_object(json);
	json_open_object(json, "ps_stream");
	json_string(json, "retransmission_timeout", "100ms");
	json_u64(json, "elements_per_packet", drawn->elements);
	json_close_object(json);
	for (size_t i = 0; i < COUNT(hashed); i++) {
		json_open_object(json, hashed[i]);
		json_string(json, "memory", "16MB");
		json_u64(json, "elements_per_packet", drawn->elements);
		json_close_object(json);
	}
	for (size_t i = 0; i < COUNT(trees); i++) {
		json_open_object(json, trees[i]);
		json_string(json, "aggregate_above", "0B");
		json_bool(json, "recovery", true);
		json_u64(json, "elements_per_packet", drawn->elements);
		json_close_object(json);
	}
	json_close_object(json);
}

static void json_job(struct json *json, const struct drawn_job *job, uint32_t number)
{
	char name[32];

	snprintf(name, sizeof(name), "%s-%" PRIu32, scheme_names[job->scheme], number);
	json_open_object(json, NULL);
	json_string(json, "name", name);
	json_string(json, "all_reduce", scheme_names[job->scheme]);
	json_u64(json, "workers", job->workers);
	if (job->servers)
		json_u64(json, "servers", job->servers);
	json_u64(json, "iterations", job->iterations);
	json_string(json, "placement", job->placement);
	json_string(json, "overlap", job->overlap ? "layers" : "none");
	json_open_object(json, "arrival");
	json_quantity(json, "at", job->arrival_us, "us");
	json_close_object(json);
	json_open_object(json, "model");
	json_open_array(json, "layers");
	for (uint32_t i = 0; i < job->tensors; i++) {
		json_open_object(json, NULL);
		json_quantity(json, "gradient", job->gradient_kb[i], "kB");
		json_quantity(json, "forward", job->forward_us, "us");
		json_close_object(json);
	}
	json_close_array(json);
	json_close_object(json);
	json_close_object(json);
}

static void json_flow(struct json *json, const struct drawn_flow *flow, uint32_t number)
{
	char name[32];

	snprintf(name, sizeof(name), "long-%" PRIu32, number);
	json_open_object(json, NULL);
	json_string(json, "name", name);
	json_open_array(json, "pairs");
	json_open_array(json, NULL);
	json_u64(json, NULL, flow->src);
	json_u64(json, NULL, flow->dst);
	json_close_array(json);
	json_close_array(json);
	json_quantity(json, "size", flow->size_kb, "kB");
	json_close_object(json);
}

static char *text_of(const struct drawn *drawn, const char *name, uint64_t seed)
{
	struct json json;

	json_init(&json);
	json_open_object(&json, NULL);
	json_string(&json, "name", name);
	json_u64(&json, "seed", seed);
	json_topology(&json, drawn);
	json_schemes(&json, drawn);
	json_open_array(&json, "jobs");
	for (uint32_t i = 0; i < drawn->job_count; i++)
		json_job(&json, &drawn->jobs[i], i);
	json_close_array(&json);
	json_open_array(&json, "flows");
	for (uint32_t i = 0; i < drawn->flow_count; i++)
		json_flow(&json, &drawn->flows[i], i);
	json_close_array(&json);
	json_close_object(&json);
	return json_finish(&json);
}

char *random_scenario(uint64_t seed, uint64_t number)
{
	struct drawn drawn = { 0 };
	char name[64];
	struct rng rng;

	rng_init(&rng, seed, "random scenarios", number);
	draw(&rng, &drawn);
	snprintf(name, sizeof(name), "random-%" PRIu64 "-%" PRIu64, seed, number);
	return text_of(&drawn, name, number + 1);
}
