/* The load of short flows: the mean rate that the short flows of a group with Poisson arrivals have
 * on each link. The fluid fidelity subtracts this load from the links' capacities instead of
 * running these flows one by one.
 *
 * The load counts bytes on the wire. ACKs are counted on the links of the data. The load covers all
 * pairs that the group may draw (in a graph, for "uniform", a sample of them), and a sample of
 * their equal paths. */
#include "workload/flows/flows_parts.h"

#include "base/mem.h"
#include "topo/links.h"

#include <stdlib.h>

#define QUANTILES       10000 /* of a table of sizes: its mean is exact to about 1e-4 */
#define PATHS           64    /* drawn for each pair */
#define PAIRS_LOOKED_AT 65536 /* about the number of pairs in the sample of a graph */
#define KINDS           64    /* more than any value of kind_of() */

/* --- bytes --- */

/* Bytes on the wire of a short flow and its ACKs; 0 if it is not short. */
static double wire_of_short(const struct model_env *env, bytes size)
{
	struct plan_packets packets = plan_tcp_packets(
		env->tcp, &env->topo->net, (uint32_t)tcp_parameters(env->tcp)->ack_every);

	return size < env->load_below ? plan_wire_bytes(&packets, size) : 0;
}

/* Mean bytes on the wire of the flows of a group; those that are not short count as 0. */
static double mean_wire(const struct model_env *env, const struct sizes *sizes)
{
	double mean = 0;

	if (!sizes->count)
		return wire_of_short(env, sizes_scaled(sizes, sizes->fixed));
	for (size_t t = 0; t < sizes->count; t++) {
		double sum = 0;

		for (int q = 0; q < QUANTILES; q++) {
			bytes size = size_cdf_quantile(sizes->cdfs[t], (q + 0.5) / QUANTILES);

			sum += wire_of_short(env, sizes_scaled(sizes, size));
		}
		mean += weights_fraction(&sizes->weights, t) * sum / QUANTILES;
	}
	return mean;
}

/* --- links --- */

/* Spreads the load of one pair over its paths. */
static void add_pair(const struct topology *topo, uint32_t src, uint32_t dst, double rate,
		     double *load)
{
	for (uint64_t path = 0; path < PATHS; path++) {
		uint32_t ports[HOPS_MAX + 1];
		struct route route;
		unsigned count;

		topology_route(topo, src, dst, hash_pair(path, (uint64_t)src << 32 | dst), &route);
		count = topology_path(topo, src, &route, ports);
		for (unsigned i = 0; i < count; i++)
			load[ports[i]] += rate / PATHS;
	}
}

/* A number for the tier and direction of a link. Links with the same number are alike, since they
 * all lead to the same tier. */
static unsigned kind_of(const struct network *net, uint32_t port)
{
	struct link_place place = link_place_of(net, port);

	return place.tier * LINK_WAYS + place.way;
}

/* All hosts see the same network. So one path from host 0 to each other host shows how much load
 * crosses each kind of link. The links of a kind share this load evenly. */
static void add_uniform(const struct topology *topo, double rate, double *load)
{
	const struct network *net = &topo->net;
	double crossing[KINDS] = { 0 };
	uint32_t links[KINDS] = { 0 };

	for (uint32_t dst = 1; dst < net->hosts; dst++) {
		uint32_t ports[HOPS_MAX + 1];
		struct route route;
		unsigned count;

		topology_route(topo, 0, dst, 0, &route);
		count = topology_path(topo, 0, &route, ports);
		for (unsigned i = 0; i < count; i++)
			crossing[kind_of(net, ports[i])] += rate / (net->hosts - 1);
	}
	for (uint32_t p = 0; p < net->port_count; p++)
		links[kind_of(net, p)]++;
	for (uint32_t p = 0; p < net->port_count; p++)
		load[p] += crossing[kind_of(net, p)] / links[kind_of(net, p)];
}

/* In a graph each host sees a different network, so this takes a sample of the pairs, small enough
 * to be fast. Each host is the source, and the destination, of equally many pairs. */
static void add_sampled(const struct topology *topo, double rate, double *load)
{
	uint32_t hosts = topo->net.hosts, others = hosts - 1, looks = PAIRS_LOOKED_AT / hosts;
	uint32_t peers = looks < 1 ? 1 : looks < others ? looks : others;

	for (uint32_t i = 0; i < peers; i++) {
		uint32_t distance = 1 + (uint32_t)((uint64_t)i * others / peers);

		for (uint32_t src = 0; src < hosts; src++)
			add_pair(topo, src, (src + distance) % hosts, rate / hosts / peers, load);
	}
}

static void add_listed(const struct topology *topo, const struct flow_group_conf *conf, double rate,
		       double *load)
{
	size_t count = conf->pairs.list.count;

	for (size_t i = 0; i < count; i++) {
		const int64_t *pair = flow_group_pair(conf, i);

		add_pair(topo, (uint32_t)pair[0], (uint32_t)pair[1], rate / (double)count, load);
	}
}

void flow_load_add(struct group *group, double per_s)
{
	const struct flow_group_conf *conf = group->conf;
	const struct model_env *env = &group->flows->env;
	const struct topology *topo = env->topo;
	uint32_t hosts = topo->net.hosts;
	double rate = per_s * mean_wire(env, conf->sizes), *load = group->load;

	if (conf->pairs.form == PAIRS_LIST) {
		add_listed(topo, conf, rate, load);
		return;
	}
	switch ((enum pairs_kind)conf->pairs.kind) {
	case PAIRS_UNIFORM:
		(topo->conf->graph ? add_sampled : add_uniform)(topo, rate, load);
		return;
	case PAIRS_PERMUTATION:
		for (uint32_t i = 0; i < hosts; i++)
			add_pair(topo, group->order[i], group->order[(i + 1) % hosts], rate / hosts,
				 load);
		return;
	case PAIRS_INCAST:
		for (uint32_t i = 0; i < (uint32_t)conf->fan_in; i++)
			add_pair(topo, group->order[i], (uint32_t)conf->receiver,
				 rate / (double)conf->fan_in, load);
		return;
	}
}
