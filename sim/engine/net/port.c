#include "net/port.h"

#include "base/mem.h"

#include <stdlib.h>

void port_resize(struct port *port, uint8_t bits)
{
	struct packet *ring =
		bits <= SMALL_RING_BITS ? port->small : xaligned_raw(64, sizeof(*ring) << bits);
	struct packet *old = port->ring;

	for (uint32_t i = 0; i < port->count; i++)
		ring[i] = old[ring_index(port, i)];
	if (old != port->small)
		free(old);
	port->ring = ring;
	port->ring_bits = bits;
	port->head = 0;
}

void port_insert(struct port *port, uint32_t at, const struct packet *packet, uint8_t hop)
{
	struct packet *slot = &port->ring[ring_index(port, at)];

	for (uint32_t i = port->count; i > at; i--)
		port->ring[ring_index(port, i)] = port->ring[ring_index(port, i - 1)];
	*slot = *packet;
	slot->hop = hop;
	port->count++;
	port->packets++;
	port->bytes += packet->size;
}

uint32_t port_behind_control(const struct port *port, uint32_t from)
{
	while (from < port->count && packet_is_control(&port->ring[ring_index(port, from)]))
		from++;
	return from;
}

void port_carried(const struct port *port, uint64_t *packets, uint64_t *size)
{
	*packets = port->packets - port->count;
	*size = port->bytes;
	for (uint32_t i = 0; i < port->count; i++)
		*size -= port->ring[ring_index(port, i)].size;
}

struct port_sent port_sent(const struct port *port, const struct link_class *link, sim_time now)
{
	struct port_sent sent = { .whole = port->bytes + port->packets * link->wire_extra };

	/* backwards from the tail, up to the last packet that has been sent */
	for (uint32_t i = port->count; i-- > port->sent;) {
		const struct packet *packet = &port->ring[ring_index(port, i)];

		if (packet->depart <= now)
			break;
		sent.whole -= (uint64_t)packet->size + link->wire_extra;
		sent.part += link_sent(link, packet, now);
	}
	return sent;
}
