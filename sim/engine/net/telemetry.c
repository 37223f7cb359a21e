#include "net/telemetry.h"

struct int_begun telemetry_begun(const struct port *port)
{
	struct int_begun begun = { port->packets - port->count, port->bytes };

	for (uint32_t i = 0; i < port->count; i++)
		begun.bytes -= port->ring[ring_index(port, i)].size;
	return begun;
}

/* Fills in the record of a packet that has begun, if it has one. */
static void fill(const struct network *net, const struct port *port, const struct packet *packet,
		 const struct int_begun *before)
{
	const struct link_class *link = port_class(net, port);
	const struct protocol_ops *ops = net->protocols[packet->protocol].ops;
	struct int_record *record = NULL;

	if (ops->telemetry)
		record = ops->telemetry(net->protocols[packet->protocol].self, packet);
	if (!record)
		return;
	record->hops = packet->hop;
	record->hop[packet->hop - 1] = (struct int_hop){
		.at = packet->depart - link_transmission(link, packet->size),
		.sent = before->bytes + before->packets * link->wire_extra,
		.queue = port->bytes - before->bytes - packet->size,
		.rate = link->rate,
	};
}

/* Nothing has been put in since the last look. So all that is in the ring now waited already when
 * those packets began that have begun since. */
void telemetry_look(struct network *net, uint32_t number)
{
	const struct port *port = &net->ports[number];
	const struct link_class *link = port_class(net, port);
	struct int_begun *begun = &net->telemetry[number];
	uint64_t head = port->packets - port->count;

	while (begun->packets < port->packets) {
		const struct packet *packet =
			&port->ring[ring_index(port, (uint32_t)(begun->packets - head))];

		if (packet->depart == SIM_TIME_MAX ||
		    packet->depart - link_transmission(link, packet->size) > net->sim->now)
			return;
		fill(net, port, packet, begun);
		begun->packets++;
		begun->bytes += packet->size;
	}
}
