#include "net/ahead.h"

#include "net/hop.h"
#include "net/nic.h"

/* A hop follows a chain of cache lines that nothing has touched for a microsecond:
 * the port, its packet, the next egress port or the connection, the place in its
 * ring. Each step is prefetched some events before the next step needs it. */

#define SOURCE_LINES 5 /* cache lines of a source's state, from its struct nic_source on */

static void prefetch_source(const struct nic *nic)
{
	const struct nic_source *source = nic->last ? nic->last->next : NULL;

	if (!source)
		return;
	__builtin_prefetch(source->owner);
	for (size_t line = 0; line < SOURCE_LINES; line++)
		__builtin_prefetch((const char *)source + 64 * line);
}

/* Lets the scheme prefetch for an AGGREGATION packet, which need not follow its route. `again`: the
 * second call, some events later. */
static void prefetch_scheme(const struct network *net, const struct port *port, bool again)
{
	const struct packet *packet = port_head(port);
	const struct protocol_ops *ops = net->protocols[packet->protocol].ops;

	if (!again)
		__builtin_prefetch(&net->cold[port - net->ports].reverse);
	if (ops->ahead)
		ops->ahead(net->protocols[packet->protocol].self, port->to, packet, again);
}

/* Prefetches the memory that the packet at the head of a port touches on arrival. */
static void prefetch_out(const struct network *net, const struct port *port)
{
	const struct packet *packet = port_head(port);

	if (__builtin_expect(packet->kind == PACKET_AGGREGATION, 0)) {
		prefetch_scheme(net, port, false);
		if (!port->to_host)
			return;
	}
	__builtin_prefetch(&net->ports[hop_out_port(port, packet)]);
	if (!port->to_host)
		return;
	__builtin_prefetch(&net->nics[port->to_port]);
	if (net->protocols[packet->protocol].ops->prefetch)
		net->protocols[packet->protocol].ops->prefetch(
			net->protocols[packet->protocol].self, packet);
}

/* The NIC of an entity; NULL for other entities. NICs are numbered right after ports. */
static inline const struct nic *nic_of(const struct network *net, uint32_t entity)
{
	uint32_t host = entity - net->port_count;

	return host < net->host_ports ? &net->nics[host] : NULL;
}

/* The port of an entity; NULL for other entities. */
HOT_INLINE const struct port *port_of(const struct network *net, uint32_t entity)
{
	return __builtin_expect(entity < net->port_count, 1) ? &net->ports[entity] : NULL;
}

HOT_INLINE void ahead_port(const struct network *net, uint32_t id)
{
	const struct port *port = port_of(net, id);
	const struct nic *nic;

	if (port) {
		__builtin_prefetch(port);
	} else if ((nic = nic_of(net, id))) {
		__builtin_prefetch(nic);
		__builtin_prefetch(&net->ports[nic->port]);
	}
}

HOT_INLINE void ahead_packet(const struct network *net, uint32_t id)
{
	const struct port *port = port_of(net, id);
	const struct nic *nic;

	if (port)
		port_prefetch(port_head(port));
	else if ((nic = nic_of(net, id)))
		__builtin_prefetch(nic->last); /* last->next is the first source */
}

HOT_INLINE void ahead_out(const struct network *net, uint32_t id)
{
	const struct port *port = port_of(net, id);
	const struct nic *nic;

	if (port)
		prefetch_out(net, port);
	else if ((nic = nic_of(net, id)))
		prefetch_source(nic);
}

HOT_INLINE void ahead_tail(const struct network *net, uint32_t id)
{
	const struct port *port = port_of(net, id);
	const struct nic *nic;

	if (!port) {
		if ((nic = nic_of(net, id)))
			port_prefetch_tail(&net->ports[nic->port]);
		return;
	}
	if (__builtin_expect(port_head(port)->kind == PACKET_AGGREGATION, 0)) {
		prefetch_scheme(net, port, true);
		if (!port->to_host)
			return;
	}
	port_prefetch_tail(&net->ports[hop_out_port(port, port_head(port))]);
}

void net_look_ahead(const struct sim *sim, const struct eq_item *next, size_t count)
{
	const struct network *net = sim->block.owner;

	if (count < HOP_AHEAD)
		return; /* with so few events, their memory is in the cache */
#pragma GCC unroll 4
	for (size_t i = 0; i < SIM_LOOK_EVERY; i++) {
		ahead_port(net, next[AHEAD_PORT - i].id);
		ahead_packet(net, next[AHEAD_PACKET - i].id);
		ahead_out(net, next[AHEAD_OUT - i].id);
		ahead_tail(net, next[AHEAD_TAIL - i].id);
	}
}
