/* What follows from a configuration, before anything is built. */
#include "topo/topology.h"

#include "net/network.h"

#define MTU 1518 /* with "pause": true */

uint32_t topology_hosts(const struct topology_conf *conf)
{
	uint32_t hosts, switches;

	topology_kind((size_t)conf->kind)->count(conf, &hosts, &switches);
	return hosts;
}

uint32_t topology_rack(const struct topology_conf *conf)
{
	struct topology_shape shape;
	uint32_t racks = 0, hosts;

	topology_shape(conf, &shape);
	for (uint32_t s = 0; s < shape.switches; s++)
		racks += shape.tiers[s] == 1;
	hosts = shape.hosts / racks;
	topology_shape_release(&shape);
	return hosts;
}

uint32_t topology_pod(const struct topology_conf *conf)
{
	const struct topology_ops *ops = topology_kind((size_t)conf->kind);

	return ops->pod ? ops->pod(conf) : topology_hosts(conf);
}

bps topology_uplink_rate(const struct topology_conf *conf)
{
	if (conf->uplink_given)
		return conf->uplink.rate;
	if (conf->oversubscription != 0)
		return (bps)((double)conf->link.rate * (double)conf->hosts_per_leaf /
			     ((double)conf->spines * conf->oversubscription));
	return conf->link.rate;
}

#define FULL_FRAME 1518

/* PANAMA section 7: 85 full frames at 10 Gbps, a queue of 103 us. */
#define MARK_BYTES UINT64_C(129030)
#define MARK_RATE  UINT64_C(10000000000)
#define BUFFER_MIN UINT64_C(1000000)
#define RATE_MAX   UINT64_C(100000000000000) /* of the rows: 100 Tbps */

static_assert(RATE_MAX < UINT64_MAX / MARK_BYTES, "no overflow");

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

bytes topology_buffer(const struct topology_conf *conf, bool fabric)
{
	bps rate = fabric ? topology_uplink_rate(conf) : conf->link.rate;
	bytes in_proportion = rate / (MARK_RATE / BUFFER_MIN);

	if (conf->switches.buffer)
		return conf->switches.buffer;
	return in_proportion > BUFFER_MIN ? in_proportion : BUFFER_MIN;
}

sim_time topology_transmission(const struct topology_conf *conf, uint32_t frame)
{
	struct link_class link = { .rate = conf->link.rate,
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

	return uplink > conf->link.rate ? uplink : conf->link.rate;
}

/* --- PAUSE --- */

static bool is_on(const struct topology_conf *conf)
{
	const struct pause_conf *pause = &conf->switches.pause;

	return pause->form == PAUSE_SET || pause->on;
}

static bytes less(bytes from, bytes what)
{
	return from > what ? from - what : 0;
}

bytes topology_headroom(const struct topology_conf *conf, bool fabric,
			const struct pause_params *params)
{
	const struct pause_answers *answers = &conf->switches.answers;

	return (answers->packets ? answers->packets : 1) *
	       pause_headroom(fabric ? topology_uplink_rate(conf) : conf->link.rate, params->delay,
			      conf->switches.latency + answers->held, params->response, params->mtu,
			      conf->wire_overhead ? PREAMBLE_AND_GAP : 0);
}

struct pause_params topology_pause(const struct topology_conf *conf, bool fabric)
{
	const struct pause_conf *pause = &conf->switches.pause;
	bool set = pause->form == PAUSE_SET;
	struct pause_params params = { .on = is_on(conf), .memory = topology_buffer(conf, fabric) };

	if (!params.on)
		return params;
	params.mtu = set ? (uint32_t)pause->set.mtu : MTU;
	params.response = set ? pause->set.response : 0;
	params.delay = fabric && conf->uplink_given ? conf->uplink.delay : conf->link.delay;
	params.headroom = set && pause->set.headroom ? pause->set.headroom
						     : topology_headroom(conf, fabric, &params);
	params.xoff = set && pause->set.xoff ? pause->set.xoff
					     : less(params.memory, params.headroom + params.mtu);
	params.hysteresis = 2 * params.mtu;
	params.xon = set && pause->set.xon ? pause->set.xon : less(params.xoff, params.hysteresis);
	params.alpha = set ? (uint64_t)(pause->set.alpha * (double)ALPHA_ONE) : 0;
	return params;
}
