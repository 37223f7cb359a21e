/* Fairness for summary.json: among the flows of a group, and among the links of a tier. */
#include "run/results_parts.h"

#include "topo/links.h"

#include <string.h>

static bool seen_before(const struct flow_group_conf *groups, size_t g)
{
	for (size_t h = 0; h < g; h++)
		if (!strcmp(groups[g].name, groups[h].name))
			return true;
	return false;
}

/* Writes all groups with this name as one object. */
static void json_group(struct json *json, const struct simulation *s, const char *name)
{
	const struct flow_group_conf *groups = scenario_flows(s->scenario);
	uint64_t count = 0, finished = 0, endless = 0;
	bytes delivered = 0;
	struct jain jain = { 0 };

	for (size_t g = 0; g < s->scenario->flows.count; g++) {
		const struct flow_group_stats *stats = flows_group(s->flows, g);

		if (strcmp(groups[g].name, name))
			continue;
		count += stats->count;
		finished += stats->finished;
		endless += stats->endless;
		delivered += stats->delivered;
		jain.n += stats->throughput.n;
		jain.sum += stats->throughput.sum;
		jain.squares += stats->throughput.squares;
	}
	json_open_object(json, name);
	json_u64(json, "count", count);
	json_u64(json, "finished", finished);
	if (endless) {
		json_u64(json, "endless", endless);
		json_u64(json, "delivered_bytes", delivered);
	}
	json_real(json, "throughput_bps", jain.sum / jain.n);
	json_real(json, "jain", jain_index(&jain));
	json_close_object(json);
}

void fairness_flows(struct json *json, const struct simulation *s)
{
	const struct flow_group_conf *groups = scenario_flows(s->scenario);

	json_open_object(json, "by_name");
	for (size_t g = 0; g < s->scenario->flows.count; g++)
		if (!seen_before(groups, g))
			json_group(json, s, groups[g].name);
	json_close_object(json);
}

struct jain fairness_tier(const struct simulation *s, unsigned tier, enum link_way way, double *max)
{
	const struct network *net = &s->topo.net;
	double seconds = seconds_of(s->sim.now);
	struct jain jain = { 0 };

	*max = 0;
	for (uint32_t i = 0; i < net->port_count; i++) {
		const struct link_class *link = port_class(net, &net->ports[i]);
		struct link_place place = link_place_of(net, i);
		double used;

		if (place.tier != tier || place.way != way)
			continue;
		used = seconds > 0 ? simulation_carried(s, i) * 8 / ((double)link->rate * seconds)
				   : 0;
		jain_add(&jain, used);
		*max = used > *max ? used : *max;
	}
	return jain;
}

static void json_tier(struct json *json, const struct simulation *s, unsigned tier,
		      enum link_way way)
{
	double max;
	struct jain jain = fairness_tier(s, tier, way, &max);

	if (!jain.n)
		return; /* no such links */
	json_open_object(json, NULL);
	json_string(json, "tier", s->topo.ops->tier_names[tier]);
	json_string(json, "direction", link_way_names[way]);
	json_u64(json, "links", (uint64_t)jain.n);
	json_real(json, "utilization_mean", jain.sum / jain.n);
	json_real(json, "utilization_max", max);
	json_real(json, "utilization_jain", jain_index(&jain));
	json_close_object(json);
}

void fairness_links(struct json *json, const struct simulation *s)
{
	unsigned tiers = topology_tiers(&s->scenario->topology);

	json_open_array(json, "by_tier");
	for (unsigned tier = 0; tier <= tiers; tier++)
		for (enum link_way way = LINK_UP; way < LINK_WAYS; way++)
			json_tier(json, s, tier, way);
	json_close_array(json);
}
