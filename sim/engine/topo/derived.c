/* Values that follow from a configuration, before the network is built. */
#include "topo/topology.h"

#include "net/network.h"
#include "topo/graph.h"

#include <string.h>

#define FULL_FRAME 1518

/* PANAMA section 7: 85 full frames at 10 Gbps, a queue of 103 us. */
#define MARK_BYTES UINT64_C(129030)
#define MARK_RATE  UINT64_C(10000000000)
#define BUFFER_MIN UINT64_C(1000000) /* at rates up to MARK_RATE; faster ports have more */

static_assert(TOPOLOGY_RATE_MAX < UINT64_MAX / MARK_BYTES, "no overflow in topology_first_mark()");

uint32_t topology_hosts(const struct topology_conf *conf)
{
	uint32_t hosts, switches;

	topology_ops_of(conf)->count(conf, &hosts, &switches);
	return hosts;
}

uint32_t topology_racks(const struct topology_conf *conf)
{
	struct topology_shape shape;
	uint32_t racks = 0;

	topology_shape(conf, &shape);
	for (uint32_t s = 0; s < shape.switches; s++)
		racks += shape.tiers[s] == 1;
	topology_shape_release(&shape);
	return racks;
}

uint32_t topology_rack(const struct topology_conf *conf)
{
	return conf->graph ? conf->graph->largest_rack
			   : topology_hosts(conf) / topology_racks(conf);
}

double topology_mean_links(const struct topology_conf *conf)
{
	return conf->graph ? conf->graph->mean_links : topology_longest(conf) + 1;
}

uint32_t topology_pod(const struct topology_conf *conf)
{
	const struct topology_ops *ops = topology_ops_of(conf);

	return ops->pod ? ops->pod(conf) : topology_hosts(conf);
}

bps topology_uplink_rate(const struct topology_conf *conf)
{
	if (conf->graph)
		return conf->graph->fastest[1];
	if (conf->uplink_given)
		return conf->uplink.rate;
	if (conf->oversubscription != 0)
		return (bps)((double)conf->link.rate * (double)conf->hosts_per_leaf /
			     ((double)conf->spines * conf->oversubscription));
	return conf->link.rate;
}

bps topology_host_rate(const struct topology_conf *conf)
{
	return conf->graph ? conf->graph->host_rate : conf->link.rate;
}

struct link_conf topology_link_conf(const struct topology_conf *conf, bool fabric)
{
	struct link_conf link = fabric && conf->uplink_given ? conf->uplink : conf->link;

	if (conf->graph)
		return conf->graph->worst[fabric];
	if (fabric)
		link.rate = topology_uplink_rate(conf);
	return link;
}

sim_time topology_switch_latency(const struct topology_conf *conf)
{
	return conf->graph ? conf->graph->latency : conf->switches.latency;
}

bool topology_loses(const struct topology_conf *conf)
{
	return topology_link_conf(conf, false).loss > 0 || topology_link_conf(conf, true).loss > 0;
}

bool topology_all_aggregate(const struct topology_conf *conf)
{
	const struct graph *graph = conf->graph;

	for (uint32_t s = 0; graph && s < graph->switches; s++)
		if (graph->settings[graph->settings_of[s]].passes)
			return false;
	return (graph && graph->says) || !strcmp(conf->switches.aggregation, "all");
}

const char *topology_own_memory(const struct topology_conf *conf)
{
	const struct graph *graph = conf->graph;

	for (uint32_t s = 0; graph && s < graph->switches; s++)
		if (graph->settings[graph->settings_of[s]].memory)
			return graph->names[graph->hosts + s];
	return NULL;
}

struct queue_size topology_first_mark(const struct ecn_conf *ecn, bps rate)
{
	switch ((enum ecn_form)ecn->form) {
	case ECN_SWITCH:
		break;
	case ECN_STEP:
		return ecn->step.threshold;
	case ECN_RAMP:
		return ecn->ramp.kmin;
	}
	return (struct queue_size){ .amount =
					    ecn->on ? rate * MARK_BYTES / MARK_RATE : UINT64_MAX };
}

bytes topology_buffer_of(const struct switch_conf *at, bps rate)
{
	bytes in_proportion = rate / (MARK_RATE / BUFFER_MIN);

	if (at->shared.size) {
		double alpha = at->shared.alpha;
		bytes alone = (bytes)((double)at->shared.size * alpha / (1 + alpha));

		return at->buffer && at->buffer < alone ? at->buffer : alone;
	}
	if (at->buffer)
		return at->buffer;
	return in_proportion > BUFFER_MIN ? in_proportion : BUFFER_MIN;
}

bytes topology_buffer(const struct topology_conf *conf, bool fabric)
{
	const struct graph *graph = conf->graph;
	bps rate = topology_link_conf(conf, fabric).rate;
	bytes min = UINT64_MAX;

	if (!graph)
		return topology_buffer_of(&conf->switches, rate);
	for (uint32_t s = 0; s < graph->switches; s++) {
		bytes buffer = topology_buffer_of(&graph->settings[graph->settings_of[s]], rate);

		min = buffer < min ? buffer : min;
	}
	return min;
}

sim_time topology_transmission(const struct topology_conf *conf, uint32_t frame)
{
	struct link_class link = { .rate = topology_link_conf(conf, false).rate,
				   .wire_extra = conf->wire_overhead ? PREAMBLE_AND_GAP : 0 };

	return link_transmission(&link, frame);
}

sim_time topology_nic_jitter(const struct topology_conf *conf)
{
	return conf->host.nic_jitter_given ? conf->host.nic_jitter
					   : topology_transmission(conf, FULL_FRAME);
}

bps topology_fastest(const struct topology_conf *conf)
{
	bps uplink = topology_uplink_rate(conf);
	bps host = conf->graph ? conf->graph->fastest[0] : conf->link.rate;

	return uplink > host ? uplink : host;
}

/* --- PAUSE --- */

static bool is_on(const struct topology_conf *conf)
{
	const struct pause_conf *pause = &conf->switches.pause;

	return pause->form == PAUSE_SET || pause->on;
}

/* `from` - `what`, but not below 0. */
static bytes less(bytes from, bytes what)
{
	return from > what ? from - what : 0;
}

bytes topology_headroom_of(const struct topology_conf *conf, const struct link_conf *link,
			   const struct switch_conf *at, const struct pause_params *params)
{
	const struct pause_answers *answers = &conf->switches.answers;

	return (answers->packets ? answers->packets : 1) *
	       pause_headroom(link->rate, params->delay, at->latency + answers->held,
			      params->response, params->mtu,
			      conf->wire_overhead ? PREAMBLE_AND_GAP : 0);
}

struct pause_params topology_pause_of(const struct topology_conf *conf,
				      const struct link_conf *link, const struct switch_conf *at)
{
	const struct pause_conf *pause = &conf->switches.pause;
	bool set = pause->form == PAUSE_SET;
	struct pause_params params = { .on = is_on(conf),
				       .memory = topology_buffer_of(at, link->rate) };

	if (!params.on)
		return params;
	params.mtu = set ? (uint32_t)pause->set.mtu : FULL_FRAME;
	params.response = set ? pause->set.response : 0;
	params.delay = link->delay;
	params.headroom = set && pause->set.headroom
				  ? pause->set.headroom
				  : topology_headroom_of(conf, link, at, &params);
	params.xoff = set && pause->set.xoff ? pause->set.xoff
					     : less(params.memory, params.headroom + params.mtu);
	params.hysteresis = 2 * params.mtu;
	params.xon = set && pause->set.xon ? pause->set.xon : less(params.xoff, params.hysteresis);
	params.alpha = set ? (uint64_t)(pause->set.alpha * (double)ALPHA_ONE) : 0;
	return params;
}

struct pause_params topology_pause(const struct topology_conf *conf, bool fabric)
{
	struct link_conf link = topology_link_conf(conf, fabric);

	return topology_pause_of(conf, &link, &conf->switches);
}
