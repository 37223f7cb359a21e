#include "net/wire.h"

#include "base/mem.h"
#include "net/hop.h"

#include <stdlib.h>

#define FETCH_AHEAD 8

/* --- giving --- */

static void give(struct network *net, uint32_t number, const struct packet *packet)
{
	struct crossings *to = &net->crossings[net->part_of[net->ports[number].to]];

	to->items = array_reserve(to->items, to->count, &to->capacity, sizeof(*to->items));
	to->items[to->count].packet = *packet;
	to->items[to->count++].wire = net->wire_of[number];
}

/* Ports that go on holding packets stay in the list of those that have been scheduled. */
sim_time wires_give(struct sim *part, sim_time end)
{
	struct network *net = part->block.owner;
	uint32_t *list = part->queue.away;
	size_t count = part->queue.away_count, left = 0;
	sim_time next = SIM_TIME_MAX;

	for (size_t i = 0; i < count; i++) {
		struct port *port = &net->ports[list[i]];

		while (port->count && port_head(port)->depart < end) {
			give(net, list[i], port_head(port));
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

static void put_on_wire(struct network *net, struct wire *wire, const struct packet *packet)
{
	struct port *port = &wire->port;

	if (port->count >> port->ring_bits)
		port_resize(port, ring_bits_more(port));
	port->ring[ring_index(port, port->count)] = *packet;
	port->sent++;
	if (port->count++ == 0)
		sim_schedule(net->sim, wire->entity,
			     packet->depart + port_class(net, port)->latency);
}

static void take_from(struct network *net, struct crossings *from)
{
	for (size_t i = 0; i < from->count; i++) {
		if (i + FETCH_AHEAD < from->count) {
			struct wire *later = &net->wires[from->items[i + FETCH_AHEAD].wire];

			__builtin_prefetch(&later->port, 1);
			__builtin_prefetch(&later->number);
		}
		put_on_wire(net, &net->wires[from->items[i].wire], &from->items[i].packet);
	}
	from->count = 0;
}

void wires_take(struct sim *part)
{
	struct network *net = part->block.owner;

	for (unsigned p = 1; p <= net->part_count; p++)
		take_from(net, &net->views[p]->crossings[parts_number(part)]);
}

/* --- opening and closing --- */

static bool crosses(const struct network *net, uint32_t number)
{
	uint32_t from = net->ports[net->cold[number].reverse].to;

	return net->part_of[from] != net->part_of[net->ports[number].to];
}

static void wire_open(struct network *net, uint32_t number, struct wire *wire)
{
	unsigned part = net->part_of[net->ports[number].to];

	wire->port = net->ports[number];
	wire->port.ring = wire->port.small;
	wire->number = number;
	wire->entity = sim_add_entity(net->sim, SIM_ARRIVAL, sim_key(SIM_ARRIVAL, number),
				      hop_arrive_by_wire, wire);
	sim_silent(net->sim, wire->entity);
	parts_place(net->sim, wire->entity, part);
	parts_place(net->sim, number, EQ_AWAY);
}

void wires_open(struct network *net)
{
	uint32_t n = 0;

	net->first_wire = (uint32_t)net->sim->queue.node_count;
	net->wire_of = xcalloc(net->port_count, sizeof(*net->wire_of));
	for (uint32_t p = 0; p < net->port_count; p++)
		net->wire_of[p] = crosses(net, p) ? net->wire_count++ : UINT32_MAX;
	net->wires = xaligned(64, net->wire_count * sizeof(*net->wires));
	for (uint32_t p = 0; p < net->port_count; p++)
		if (net->wire_of[p] != UINT32_MAX)
			wire_open(net, p, &net->wires[n++]);
}

static void pull_back(struct port *port, const struct port *wire)
{
	while ((port->count + wire->count) >> port->ring_bits && wire->count)
		port_resize(port, ring_bits_more(port));
	port->head = ring_index(port, 0u - wire->count);
	for (uint32_t i = 0; i < wire->count; i++)
		port->ring[ring_index(port, i)] = wire->ring[ring_index(wire, i)];
	port->count += wire->count;
	port->sent += wire->count;
}

void wires_pull_back(struct network *net)
{
	for (uint32_t w = 0; w < net->wire_count; w++) {
		struct wire *wire = &net->wires[w];

		pull_back(&net->ports[wire->number], &wire->port);
		if (wire->port.count)
			sim_cancel(net->views[net->part_of[wire->port.to]]->sim, wire->entity);
		else
			equeue_inherit(&net->sim->queue, wire->number, wire->entity);
	}
}

void wires_close(struct network *net)
{
	for (uint32_t w = 0; w < net->wire_count; w++) {
		struct wire *wire = &net->wires[w];
		const struct port *port = &net->ports[wire->number];

		if (port->count)
			hop_schedule_head(net, wire->number, port, port_head(port)->depart);
		if (wire->port.ring != wire->port.small)
			free(wire->port.ring);
	}
	free(net->wires);
	free(net->wire_of);
	net->wires = NULL;
	net->wire_of = NULL;
	net->wire_count = 0;
}
