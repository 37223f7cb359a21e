#include "net/wire.h"

#include "base/mem.h"
#include "net/hop.h"

#include <stdlib.h>

#define FETCH_AHEAD 8 /* ports or packets between the current and the prefetched one */

/* --- giving --- */

static void wire_give(struct network *net, uint32_t number, const struct packet *packet)
{
	struct wire_end end = net->wire_ends[number];
	struct crossings *to = &net->crossings[end.part];

	if (to->count == to->capacity)
		to->items = array_reserve(to->items, to->count, &to->capacity, sizeof(*to->items));
	to->items[to->count].packet = *packet;
	to->items[to->count++].wire = end.wire;
}

/* Ports that still hold packets stay in the list `away`. */
sim_time wires_give(struct sim *part, sim_time end)
{
	struct network *net = part->block.owner;
	uint32_t *list = part->queue.away;
	size_t count = part->queue.away_count, left = 0;
	sim_time next = SIM_TIME_MAX;

	for (size_t i = 0; i < count; i++) {
		struct port *port = &net->ports[list[i]];

		if (i + FETCH_AHEAD < count)
			__builtin_prefetch(&net->ports[list[i + FETCH_AHEAD]]);
		while (port->count && port_head(port)->depart < end) {
			wire_give(net, list[i], port_head(port));
			hop_unlink_head(port);
		}
		if (ring_is_wide(port))
			port_resize(port, port->ring_bits - 1);
		if (!port->count)
			continue;
		if (port_head(port)->depart < next)
			next = port_head(port)->depart;
		list[left++] = list[i];
	}
	part->queue.away_count = left;
	return next;
}

/* --- taking --- */

static void put_on_wire(struct network *net, uint32_t number, const struct packet *packet)
{
	struct port *wire = &net->wires[number];

	if (wire->count >> wire->ring_bits)
		port_resize(wire, ring_bits_more(wire));
	wire->ring[ring_index(wire, wire->count)] = *packet;
	wire->sent++; /* nothing waits in a wire */
	if (wire->count++ == 0)
		sim_schedule(net->sim, net->first_wire + number,
			     packet->depart + port_class(net, wire)->latency);
}

static void receive_from(struct network *net, struct crossings *from)
{
	for (size_t i = 0; i < from->count; i++) {
		if (i + FETCH_AHEAD < from->count) {
			uint32_t later = from->items[i + FETCH_AHEAD].wire;

			__builtin_prefetch(&net->wires[later], 1);
			__builtin_prefetch(&net->sim->queue.nodes[net->first_wire + later], 1);
		}
		put_on_wire(net, from->items[i].wire, &from->items[i].packet);
	}
	from->count = 0;
}

void wires_take(struct sim *part)
{
	struct network *net = part->block.owner;

	for (unsigned p = 1; p <= net->part_count; p++)
		receive_from(net, &net->views[p]->crossings[parts_number(part)]);
}

/* --- opening and closing --- */

static unsigned thread_of(const struct network *net, uint32_t node)
{
	return parts_thread(net->part_of[node], net->part_count, net->thread_count);
}

static bool crosses(const struct network *net, uint32_t number)
{
	uint32_t from = net->ports[net->cold[number].reverse].to;

	return thread_of(net, from) != thread_of(net, net->ports[number].to);
}

static void wire_open(struct network *net, uint32_t w, uint32_t number)
{
	uint32_t part = net->part_of[net->ports[number].to], entity;

	net->wire_ports[w] = number;
	net->wire_ends[number] = (struct wire_end){ w, part };
	net->wires[w] = net->ports[number];
	net->wires[w].ring = net->wires[w].small;
	entity = sim_add_entity(net->sim, SIM_ARRIVAL, sim_key(SIM_ARRIVAL, number),
				hop_arrive_by_wire, net);
	SIM_BUG_ON(entity != net->first_wire + w);
	sim_silent(net->sim, entity);
	parts_place(net->sim, entity, part);
	parts_place(net->sim, number, EQ_AWAY);
}

void wires_open(struct network *net)
{
	uint32_t w = 0;

	for (uint32_t p = 0; p < net->port_count; p++)
		net->wire_count += crosses(net, p);
	net->first_wire = (uint32_t)net->sim->queue.node_count;
	net->wires = xaligned(64, net->wire_count * sizeof(*net->wires));
	net->wire_ports = xcalloc(net->wire_count, sizeof(*net->wire_ports));
	net->wire_ends = xcalloc(net->port_count, sizeof(*net->wire_ends));
	for (uint32_t p = 0; p < net->port_count; p++)
		if (crosses(net, p))
			wire_open(net, w++, p);
}

/* Puts the packets on a wire before those in the port's ring. */
static void pull_back(struct port *port, const struct port *wire)
{
	while ((port->count + wire->count) >> port->ring_bits && wire->count)
		port_resize(port, ring_bits_more(port));
	port->head = ring_index(port, 0u - wire->count); /* wire->count places back */
	for (uint32_t i = 0; i < wire->count; i++)
		port->ring[ring_index(port, i)] = wire->ring[ring_index(wire, i)];
	port->count += wire->count;
	port->sent += wire->count;
}

void wires_close(struct network *net)
{
	for (uint32_t w = 0; w < net->wire_count; w++) {
		uint32_t number = net->wire_ports[w], entity = net->first_wire + w;
		struct port *port = &net->ports[number], *wire = &net->wires[w];

		pull_back(port, wire);
		equeue_inherit(&net->sim->queue, number, entity);
		sim_cancel(net->sim, entity);
		if (port->count)
			hop_schedule_head(net, number, port, port_head(port)->depart);
		if (wire->ring != wire->small)
			free(wire->ring);
	}
	free(net->wires);
	free(net->wire_ports);
	free(net->wire_ends);
	net->wires = NULL;
	net->wire_ports = NULL;
	net->wire_ends = NULL;
	net->wire_count = 0;
}
