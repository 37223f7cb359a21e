#include "ina/common/racks.h"

#include "base/hash.h"
#include "base/mem.h"
#include "net/outage.h"

#include <stdlib.h>

#define NOWHERE UINT32_MAX

static uint32_t switch_above(const struct network *net, uint32_t port)
{
	return net->ports[port].to - net->hosts;
}

/* The rack of a switch, made if there is none; RACK_NONE when there are 31 others. */
static uint8_t find_rack(struct racks *racks, uint32_t sw)
{
	for (uint32_t r = 0; r < racks->count; r++)
		if (racks->racks[r].sw == sw)
			return (uint8_t)r;
	if (racks->count == RACK_INPUTS_MAX)
		return RACK_NONE;
	racks->racks = xrealloc(racks->racks, racks->count + 1, sizeof(*racks->racks));
	racks->racks[racks->count] = (struct rack){ .sw = sw };
	return (uint8_t)racks->count++;
}

/* Adds the next bit to a set of inputs and returns it; 0 when all 31 are taken. The set has the
 * lowest bits, so the next one is the set plus 1. */
static uint32_t next_bit(uint32_t *set)
{
	uint32_t bit = *set + 1;

	if (bit >> RACK_INPUTS_MAX)
		return 0;
	*set |= bit;
	return bit;
}

/* Numbers racks and the inputs of both levels. False when a level has too many. */
static bool number_racks(struct racks *racks, const struct topology *topo, const uint32_t *workers,
			 uint32_t count)
{
	for (uint32_t w = 0; w < count; w++) {
		uint32_t sw = switch_above(&topo->net, workers[w]);
		struct bitmap *self = &racks->of_worker[w];

		self->rack = RACK_NONE;
		if (sw == racks->sw || !topology_aggregates(topo, sw))
			continue;
		self->rack = find_rack(racks, sw);
		if (self->rack == RACK_NONE)
			return false;
		self->bits = next_bit(&racks->racks[self->rack].all);
		if (!self->bits)
			return false;
		racks->racks[self->rack].down_port = workers[w];
	}
	racks->all = (uint32_t)((UINT64_C(1) << racks->count) - 1); /* racks come first */
	for (uint32_t w = 0; w < count; w++) {
		if (racks->of_worker[w].rack != RACK_NONE)
			continue;
		racks->of_worker[w].bits = next_bit(&racks->all);
		if (!racks->of_worker[w].bits)
			return false;
	}
	return true;
}

/* Results come from switch `from` to `sw`, which sends them on over `port`. */
static void add_fan_out(struct racks *racks, uint32_t from, uint32_t sw, uint32_t port)
{
	uint32_t number = racks->fan_out_of_switch[sw];
	struct fan_out *fan;

	if (number == NOWHERE) {
		number = racks->fan_out_of_switch[sw] = racks->fan_out_count;
		racks->fan_outs = xrealloc(racks->fan_outs, racks->fan_out_count + 1,
					   sizeof(*racks->fan_outs));
		racks->fan_outs[racks->fan_out_count++] = (struct fan_out){ .from = from };
	}
	fan = &racks->fan_outs[number];
	SIM_BUG_ON(fan->from != from); /* one tree: every copy comes once */
	for (uint32_t i = 0; i < fan->count; i++)
		if (fan->ports[i] == port)
			return;
	fan->ports = xrealloc(fan->ports, fan->count + 1, sizeof(*fan->ports));
	fan->ports[fan->count++] = port;
}

/* Adds the path of results to a worker: its route to the server, reversed. Of the switches that
 * results reach already, the path begins at the nearest to the worker. So every copy comes once,
 * whatever the graph. */
static void add_worker(struct racks *racks, const struct topology *topo, uint32_t worker,
		       uint64_t entropy)
{
	const struct network *net = &topo->net;
	uint32_t ports[HOPS_MAX + 1], from = racks->sw;
	struct route route;
	unsigned i = 0, last;

	if (worker == racks->server) { /* even there, results come by way of the switch */
		add_fan_out(racks, racks->sw, racks->sw, racks->server_port);
		return;
	}
	topology_route_between(topo, worker, racks->server, entropy, &route);
	/* ports[i] leads to the i-th switch, ports[last] to level 1, the next one to the server */
	last = topology_path(topo, network_node(net, worker), &route, ports) - 2;
	while (i < last &&
	       racks->fan_out_of_switch[net->ports[ports[i]].to - net->hosts] == NOWHERE)
		i++;
	for (;; i--) {
		uint32_t sw = net->ports[ports[i]].to - net->hosts;

		if (racks->fan_out_of_switch[sw] != NOWHERE)
			from = racks->fan_outs[racks->fan_out_of_switch[sw]].from;
		add_fan_out(racks, from, sw, net->cold[ports[i]].reverse);
		if (i == 0)
			return;
		from = sw;
	}
}

/* The route of a worker that is an input of level 1. ECMP gives each worker a path of its own if
 * the worker is not below level 1. (The workers of a rack share a path.) */
static void find_direct(struct racks *racks, const struct topology *topo, uint32_t worker,
			uint64_t entropy, struct route *route)
{
	const struct network *net = &topo->net;
	uint32_t sw = switch_above(net, worker);

	if (sw != racks->sw) {
		topology_route_between(topo, worker, racks->server, hash_pair(entropy, worker),
				       route);
		return;
	}
	/* even packets from the server's own host go by way of the switch */
	*route = (struct route){ .hops = 1, .link = (uint8_t)network_local(net, worker) };
	route->out[0] = (uint16_t)(racks->server_port - net->switch_nodes[sw].first_port);
}

static void find_routes(struct racks *racks, const struct topology *topo, const uint32_t *workers,
			uint32_t count, uint64_t entropy)
{
	const struct network *net = &topo->net;

	for (uint32_t w = 0; w < count; w++)
		if (racks->of_worker[w].rack == RACK_NONE)
			find_direct(racks, topo, workers[w], entropy, &racks->direct[w]);
	for (uint32_t r = 0; r < racks->count; r++) {
		struct rack *rack = &racks->racks[r];

		topology_route_between(topo, rack->down_port, racks->server,
				       hash_pair(entropy, rack->sw), &rack->up);
		topology_route_between(topo, racks->server, rack->down_port, entropy, &rack->down);
		rack->up_port = network_port(net, net->hosts + rack->sw, rack->up.out[0]);
	}
}

static void forget_fan_outs(struct racks *racks)
{
	for (uint32_t i = 0; i < racks->fan_out_count; i++)
		free(racks->fan_outs[i].ports);
	free(racks->fan_outs);
	racks->fan_outs = NULL;
	racks->fan_out_count = 0;
}

void racks_reroute(struct racks *racks, const struct topology *topo, const uint32_t *workers,
		   uint32_t count, uint64_t entropy)
{
	forget_fan_outs(racks);
	for (uint32_t s = 0; s < topo->net.switches; s++)
		racks->fan_out_of_switch[s] = NOWHERE;
	find_routes(racks, topo, workers, count, entropy);
	for (uint32_t w = 0; w < count; w++)
		add_worker(racks, topo, workers[w], entropy);
}

bool racks_work(const struct racks *racks, const struct topology *topo, const uint32_t *workers,
		uint32_t count)
{
	if (network_is_down(&topo->net, racks->server_port) ||
	    (!racks->passes && network_adds_nothing(&topo->net, racks->sw)))
		return false;
	for (uint32_t w = 0; w < count; w++)
		if (racks->of_worker[w].rack == RACK_NONE &&
		    !topology_works(topo, network_node(&topo->net, workers[w]), &racks->direct[w]))
			return false;
	for (uint32_t r = 0; r < racks->count; r++)
		if (!topology_works(topo, network_node(&topo->net, racks->racks[r].down_port),
				    &racks->racks[r].up) ||
		    network_adds_nothing(&topo->net, racks->racks[r].sw))
			return false;
	for (uint32_t f = 0; f < racks->fan_out_count; f++)
		for (uint32_t i = 0; i < racks->fan_outs[f].count; i++)
			if (network_is_down(&topo->net, racks->fan_outs[f].ports[i]))
				return false;
	return true;
}

bool racks_init(struct racks *racks, const struct topology *topo, const uint32_t *workers,
		uint32_t count, uint32_t server, uint64_t entropy)
{
	const struct network *net = &topo->net;

	*racks = (struct racks){ .server = server, .sw = switch_above(net, server) };
	racks->passes = !topology_aggregates(topo, racks->sw);
	racks->server_port = net->cold[server].reverse;
	racks->of_worker = xcalloc(count, sizeof(*racks->of_worker));
	racks->direct = xcalloc(count, sizeof(*racks->direct));
	racks->fan_out_of_switch = xcalloc(net->switches, sizeof(*racks->fan_out_of_switch));
	if (!number_racks(racks, topo, workers, count))
		return false;
	racks_reroute(racks, topo, workers, count, entropy);
	return true;
}

void racks_release(struct racks *racks)
{
	forget_fan_outs(racks);
	free(racks->fan_out_of_switch);
	free(racks->of_worker);
	free(racks->direct);
	free(racks->racks);
}
