/* Builds a lossless network and answers queries about it. See lossless_parts.h. */
#include "net/lossless_parts.h"

#include "base/mem.h"

#include <stdlib.h>

/* In the keys of arrivals, PAUSE frames are numbered from here and packets from 0. The low 24 bits
 * of a frame's number are its port ("%w", see sim_name()). */
#define FRAME_KEYS   (UINT64_C(1) << 40)
#define WATCH_NUMBER (UINT64_C(1) << 40) /* in the watch's key; time series have 0 there */

/* Adds an entity for each port; returns the first one. */
static uint32_t add_entities(struct network *net, enum sim_class class, uint64_t base,
			     sim_handler *handler, const char *name)
{
	uint32_t first = 0;

	for (uint32_t i = 0; i < net->port_count; i++) {
		uint32_t id =
			sim_add_entity(net->sim, class, sim_key(class, base + i), handler, net);

		first = i ? first : id;
	}
	sim_name(net->sim, handler, name);
	return first;
}

void lossless_init(struct network *net)
{
	struct lossless *ll = xcalloc(1, sizeof(*ll));

	net->lossless = ll;
	net->send = lossless_send;
	net->switch_send = lossless_switch_send;
	net->switch_send_each = lossless_switch_send_each;
	net->sim->block.handler = lossless_on_arrival;
	ll->lanes = xaligned(64, net->port_count * sizeof(*ll->lanes));
	ll->memories = xcalloc(net->switches, sizeof(*ll->memories));
	ll->free_cell = CHARGE_NONE;
	for (uint32_t i = 0; i < net->port_count; i++)
		ll->lanes[i].charge = ll->lanes[i].small;
	/* The entities of hosts' ports have the same keys as NICs. This is no clash, since these
	 * entities never get events. */
	ll->first_departure =
		add_entities(net, SIM_DEPARTURE, 0, lossless_on_departure, "departures of port %n");
	ll->first_frame = add_entities(net, SIM_ARRIVAL, FRAME_KEYS, lossless_on_frame,
				       "PAUSE frame of port %w");
	ll->watch = sim_add_entity(net->sim, SIM_SAMPLE, sim_key(SIM_SAMPLE, WATCH_NUMBER),
				   lossless_on_watch, net);
	sim_name(net->sim, lossless_on_watch, "deadlock watch");
}

void lossless_control_first(struct network *net)
{
	net->sim->block.handler = lossless_on_classed_arrival;
}

void lossless_release(struct network *net)
{
	struct lossless *ll = net->lossless;

	if (!ll)
		return;
	for (uint32_t i = 0; i < net->port_count; i++) {
		if (ll->lanes[i].charge != ll->lanes[i].small)
			free(ll->lanes[i].charge);
		free(ll->lanes[i].frames);
	}
	free(ll->lanes);
	free(ll->memories);
	free(ll->cells);
	free(ll);
	net->lossless = NULL;
}

static uint32_t switch_of(const struct network *net, uint32_t port)
{
	uint32_t low = 0, high = net->switches;

	while (high - low > 1) {
		uint32_t middle = (low + high) / 2;

		if (net->switch_nodes[middle].first_port <= port)
			low = middle;
		else
			high = middle;
	}
	return low;
}

void lossless_join(struct network *net, uint32_t port, const struct pause_params *pause)
{
	struct lossless *ll = net->lossless;
	struct lane *lane = &ll->lanes[port];

	lane->reverse = net->cold[port].reverse;
	if (port < net->host_ports)
		return;
	SIM_BUG_ON(!pause->on);
	ingress_init(&lane->in, &ll->memories[switch_of(net, port)], pause);
	lane->response = pause->delay + pause->response;
	ll->mtu = pause->mtu;
}

const struct ingress *lossless_ingress(const struct network *net, uint32_t port)
{
	return &net->lossless->lanes[port].in;
}

sim_time lossless_paused(const struct network *net, uint32_t port)
{
	const struct lane *lane = &net->lossless->lanes[port];

	return net->cold[port].paused_time +
	       (lane->stopped ? net->sim->now - lane->stopped_since : 0);
}

uint64_t lossless_frames(const struct network *net)
{
	return net->lossless->frames;
}
