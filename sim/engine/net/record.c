#include "net/record.h"

static void fill_fact(const struct network *net, const struct packet *packet,
		      struct repeat_fact *fact)
{
	const struct protocol_ops *ops = net->protocols[packet->protocol].ops;

	fact->seq = packet->seq;
	fact->label = packet_label(packet);
	if (ops->stream)
		fact->stream = ops->stream(net->protocols[packet->protocol].self, packet);
}

/* Packets other than AGGREGATION are forwarded by the event of their arrival, so NULL names them. A
 * scheme may send the same packet whichever contribution comes last, so an AGGREGATION packet is
 * named by its own fact. */
void network_repeat_queued(const struct network *net, uint32_t port, const struct packet *packet)
{
	struct repeat_fact fact = { .at = net->sim->now, .entity = port };

	if (port < net->host_ports)
		return; /* nobody but the host's NIC sends by this port */
	if (packet->kind != PACKET_AGGREGATION) {
		repeat_meeting(net->recorder, port, NULL);
		return;
	}
	fill_fact(net, packet, &fact);
	repeat_meeting(net->recorder, port, &fact);
}

uint32_t network_repeat_fact(const struct network *net, uint32_t number, struct repeat_fact *fact)
{
	const struct port *port = &net->ports[number];
	const struct packet *head = port_head(port);

	fill_fact(net, head, fact);
	return port->to_host || head->kind == PACKET_AGGREGATION ? net->port_count + port->to
								 : REPEAT_NO_PLACE;
}
