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

void network_repeat_queued(const struct network *net, uint32_t port, const struct packet *packet)
{
	struct repeat_fact fact = { .at = net->sim->now, .entity = port };

	fill_fact(net, packet, &fact);
	repeat_meeting(net->recorder, port, &fact);
}

uint32_t network_repeat_fact(const struct network *net, uint32_t number, struct repeat_fact *fact)
{
	fill_fact(net, port_head(&net->ports[number]), fact);
	return net->port_count + net->ports[number].to;
}
