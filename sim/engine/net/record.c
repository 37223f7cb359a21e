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

/* Where no scheme is asked, a switch forwards what has arrived in this event. A scheme may send for
 * whichever packet comes last, so there the packet itself says what it is. */
void network_repeat_queued(const struct network *net, uint32_t port, const struct packet *packet)
{
	struct repeat_fact fact = { .at = net->sim->now, .entity = port };

	if (port < net->hosts)
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
