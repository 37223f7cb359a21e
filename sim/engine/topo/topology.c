#include "topo/topology.h"

#include "base/mem.h"
#include "net/legs.h"
#include "net/lossless.h"
#include "net/hop.h"
#include "net/outage.h"
#include "net/sched.h"
#include "net/shared.h"
#include "topo/detours.h"
#include "topo/graph.h"
#include "topo/ways.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DECLARE(name) extern const struct topology_ops name##_topology;
TOPOLOGIES(DECLARE)
#undef DECLARE

#define ENTRY(name) &name##_topology,
static const struct topology_ops *const kinds[] = { TOPOLOGIES(ENTRY) NULL };
#undef ENTRY

const struct topology_ops *topology_kind(size_t index)
{
	return index < sizeof(kinds) / sizeof(kinds[0]) ? kinds[index] : NULL;
}

const struct topology_ops *topology_ops_of(const struct topology_conf *conf)
{
	return conf->graph ? &graph_topology : kinds[conf->kind];
}

void topology_mistake(const struct topology_mistakes *to, const char *pointer, const char *fmt, ...)
{
	char text[256];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	to->add(to->owner, pointer, text);
}

static void apply_ecn(struct link_params *params, const struct ecn_conf *ecn)
{
	struct queue_size first = topology_first_mark(ecn, params->rate);

	params->ecn_min = params->ecn_max = first.amount;
	params->ecn_in_packets = first.packets;
	if (ecn->form == ECN_RAMP) {
		params->ecn_max = ecn->ramp.kmax.amount;
		params->ecn_max_probability = ecn->ramp.pmax;
	}
}

/* The settings of the switch with node number `node`; a switch of a graph may have its own. */
static const struct switch_conf *settings_of(const struct topology *topo, uint32_t node)
{
	const struct graph *graph = topo->conf->graph;

	return graph ? &graph->settings[graph->settings_of[node - topo->net.hosts]]
		     : &topo->conf->switches;
}

bool topology_aggregates(const struct topology *topo, uint32_t sw)
{
	const char *which = topo->conf->switches.aggregation;

	if (settings_of(topo, topo->net.hosts + sw)->passes || network_adds_nothing(&topo->net, sw))
		return false;
	return (topo->conf->graph && topo->conf->graph->says) || !strcmp(which, "all") ||
	       !strcmp(which, topo->ops->tier_names[topo->net.switch_nodes[sw].tier]);
}

bytes topology_memory(const struct topology *topo, uint32_t sw)
{
	return settings_of(topo, topo->net.hosts + sw)->memory;
}

/* The parameters of a link in one direction, with the queue of `from` and the pipeline of `to`. */
static struct link_params direction(const struct topology *topo, uint32_t from, uint32_t to,
				    const struct link_conf *link)
{
	const struct topology_conf *conf = topo->conf;
	bool from_host = from < topo->net.hosts, to_host = to < topo->net.hosts;
	struct link_params params = { .rate = link->rate,
				      .delay = link->delay,
				      .loss = link->loss };

	params.peer_latency = to_host ? conf->host.latency : settings_of(topo, to)->latency;
	params.peer_jitter = to_host ? conf->host.jitter : 0;
	params.idle_jitter = from_host ? topology_nic_jitter(conf) : 0;
	if (from_host || to_host)
		params.cores = conf->host.cores;
	params.limit = from_host ? (conf->host.queue ? conf->host.queue : UINT64_MAX)
				 : topology_buffer_of(settings_of(topo, from), link->rate);
	apply_ecn(&params, from_host ? &conf->host.ecn : &settings_of(topo, from)->ecn);
	params.wire_overhead = conf->wire_overhead;
	if (!to_host)
		params.pause = topology_pause_of(conf, link, settings_of(topo, to));
	return params;
}

void topology_link_by(struct topology *topo, uint32_t a, uint16_t pa, uint32_t b, uint16_t pb,
		      const struct link_conf *link)
{
	struct link_params ab = direction(topo, a, b, link), ba = direction(topo, b, a, link);

	network_connect(&topo->net, a, pa, &ab, b, pb, &ba);
}

void topology_link(struct topology *topo, uint32_t a, uint16_t pa, uint32_t b, uint16_t pb)
{
	bool fabric = a >= topo->net.hosts && b >= topo->net.hosts;
	struct link_conf link = topology_link_conf(topo->conf, fabric);

	topology_link_by(topo, a, pa, b, pb, &link);
}

static void shape_of(const struct topology_ops *ops, const struct topology_conf *conf,
		     struct topology_shape *shape)
{
	ops->count(conf, &shape->hosts, &shape->switches);
	shape->links = NULL;
	if (ops->host_links) {
		shape->links = xcalloc(shape->hosts, sizeof(*shape->links));
		ops->host_links(conf, shape->links);
	}
	shape->ports = xcalloc(shape->switches, sizeof(*shape->ports));
	shape->tiers = xcalloc(shape->switches, sizeof(*shape->tiers));
	ops->shape(conf, shape->ports, shape->tiers);
}

void topology_shape(const struct topology_conf *conf, struct topology_shape *shape)
{
	shape_of(topology_ops_of(conf), conf, shape);
}

void topology_shape_release(struct topology_shape *shape)
{
	free(shape->links);
	free(shape->ports);
	free(shape->tiers);
}

static unsigned tiers_of(const struct topology_ops *ops, const struct topology_conf *conf)
{
	struct topology_shape shape;
	unsigned highest = 0;

	shape_of(ops, conf, &shape);
	for (uint32_t i = 0; i < shape.switches; i++)
		highest = shape.tiers[i] > highest ? shape.tiers[i] : highest;
	topology_shape_release(&shape);
	return highest;
}

unsigned topology_tiers(const struct topology_conf *conf)
{
	return tiers_of(topology_ops_of(conf), conf);
}

static unsigned longest_of(const struct topology_ops *ops, const struct topology_conf *conf)
{
	return ops->longest ? ops->longest(conf) : 2 * tiers_of(ops, conf) - 1;
}

unsigned topology_longest(const struct topology_conf *conf)
{
	return longest_of(topology_ops_of(conf), conf);
}

void topology_check_routes(const struct topology_ops *ops, const struct topology_conf *conf,
			   const struct topology_mistakes *to)
{
	unsigned longest = longest_of(ops, conf);

	if (longest > ROUTE_MAX)
		topology_mistake(to, "/topology/kind",
				 "packets pass up to %u switches; a route holds at most %d",
				 longest, ROUTE_MAX);
}

void topology_build(struct topology *topo, const struct topology_conf *conf, struct sim *sim)
{
	struct topology_shape shape;

	topo->ops = topology_ops_of(conf);
	topo->conf = conf;
	topo->routes = NULL;
	topo->detours = topo->forever = NULL;
	topology_shape(conf, &shape);
	network_init(&topo->net, sim, shape.hosts, shape.links, shape.switches, shape.ports,
		     shape.tiers, (enum nic_mode)conf->host.nic);
	topology_shape_release(&shape);
	if (topology_pause(conf, false).on)
		lossless_init(&topo->net);
	if (conf->classes == CLASSES_CONTROL_FIRST)
		network_control_first(&topo->net);
	if (conf->switches.trim)
		network_trim(&topo->net);
	for (uint32_t s = 0; s < topo->net.switches && conf->switches.shared.size; s++)
		shared_set(&topo->net, s, conf->switches.shared.size,
			   (uint64_t)(conf->switches.shared.alpha * (double)ALPHA_ONE));
	if (conf->scheduler != SCHEDULER_FIFO)
		sched_init(&topo->net, conf->scheduler == SCHEDULER_STRICT ? NULL : conf->weights,
			   conf->weight_count, hop_port_free);
	if (topo->ops->prepare)
		topo->ops->prepare(topo);
	topo->ops->wire(topo);
	if (conf->switches.ways == WAYS_SHORTEST)
		network_balance(&topo->net, conf->switches.ways_level);
	network_tune(&topo->net);
	if (conf->fails) {
		network_may_fail(&topo->net);
		topo->detours = detours_new(topo);
		topo->forever = detours_new(topo);
	}
}

void topology_release(struct topology *topo)
{
	detours_free(topo->detours);
	detours_free(topo->forever);
	network_release(&topo->net);
	graph_routes_free(topo->routes);
}

void topology_route_between(const struct topology *topo, uint32_t from, uint32_t to,
			    uint64_t entropy, struct route *route)
{
	const struct network *net = &topo->net;

	topo->ops->route(topo, from, to, entropy, route);
	route->link = (uint8_t)network_local(net, from);
	if (topo->detours)
		detours_mend_between(topo, from, to, entropy, route);
}

void topology_route(const struct topology *topo, uint32_t src, uint32_t dst, uint64_t entropy,
		    struct route *route)
{
	uint64_t rest = entropy;
	struct way way;

	if (!topo->net.more_links) { /* ports have the numbers of hosts */
		topology_route_between(topo, src, dst, entropy, route);
		return;
	}
	SIM_BUG_ON(!ways_choose(topo, src, dst, topo->ops->distances, NULL, &rest, &way));
	topo->ops->route(topo, way.from, way.to, rest, route);
	route->link = (uint8_t)network_local(&topo->net, way.from);
	if (topo->detours)
		detours_mend(topo, src, dst, entropy, route);
}

unsigned topology_path(const struct topology *topo, uint32_t src, const struct route *route,
		       uint32_t ports[HOPS_MAX + 1])
{
	const struct network *net = &topo->net;
	uint32_t first = network_port(net, src, route->link), node = net->ports[first].to;
	uint16_t longer[HOPS_MAX];
	const uint16_t *out = route->out;

	if (net->legs) {
		legs_ports(net->legs, route, longer);
		out = longer;
	}
	ports[0] = first;
	for (unsigned i = 0; i < route->hops; i++) {
		ports[i + 1] = network_port(net, node, out[i]);
		node = net->ports[ports[i + 1]].to;
	}
	return route->hops + 1u;
}

bool topology_works(const struct topology *topo, uint32_t src, const struct route *route)
{
	uint32_t ports[HOPS_MAX + 1];
	unsigned count = topology_path(topo, src, route, ports);

	for (unsigned i = 0; i < count; i++)
		if (network_is_down(&topo->net, ports[i]))
			return false;
	return true;
}

char *topology_node_name(const struct topology *topo, uint32_t node, char *buffer, size_t size)
{
	if (topo->conf->graph)
		snprintf(buffer, size, "%s", topo->conf->graph->names[node]);
	else if (node < topo->net.hosts)
		snprintf(buffer, size, "h%" PRIu32, node);
	else
		topo->ops->switch_name(topo, node - topo->net.hosts, buffer, size);
	return buffer;
}
