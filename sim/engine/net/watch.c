#include "net/watch.h"

#include "base/mem.h"
#include "net/ingress.h"

#include <stdlib.h>

void network_watch(struct network *net, net_watch_classifier *class_of, const void *owner)
{
	SIM_BUG_ON(net->watch);
	net->watch = xcalloc(1, sizeof(*net->watch));
	net->watch->class_of = class_of;
	net->watch->owner = owner;
	net->watch->bytes = xcalloc(net->port_count, sizeof(*net->watch->bytes));
}

void network_watch_port(struct network *net, uint32_t port)
{
	net->ports[port].flags |= PORT_SLOW;
}

static unsigned class_of(const struct net_watch *watch, const struct packet *packet)
{
	unsigned class = watch->class_of(watch->owner, packet);

	SIM_BUG_ON(class >= WATCH_CLASSES);
	return class;
}

const struct packet net_watch_frame = { .kind = PACKET_CONTROL, .size = PAUSE_FRAME };

void net_watch_count(struct network *net, uint32_t port, const struct packet *packet)
{
	net->watch->bytes[port][class_of(net->watch, packet)] +=
		(uint64_t)packet->size + port_class(net, &net->ports[port])->wire_extra;
}

static void add_sent(const struct network *net, const struct port *port,
		     struct port_sent sent[WATCH_CLASSES])
{
	for (uint32_t i = 0; i < port->count; i++) {
		const struct packet *packet = &port->ring[ring_index(port, i)];
		double gone = link_sent(port_class(net, port), packet, net->sim->now);

		if (gone > 0)
			sent[class_of(net->watch, packet)].part += gone;
	}
}

void net_watch_sent(const struct network *net, uint32_t number,
		    struct port_sent sent[WATCH_CLASSES])
{
	for (unsigned c = 0; c < WATCH_CLASSES; c++)
		sent[c] = (struct port_sent){ .whole = net->watch->bytes[number][c] };
	add_sent(net, &net->ports[number], sent);
}

void network_queue_by_class(struct network *net, uint32_t number, uint64_t queued[WATCH_CLASSES])
{
	struct port *port = &net->ports[number];

	memset(queued, 0, WATCH_CLASSES * sizeof(*queued));
	port_advance(port, net->sim->now);
	for (uint32_t i = port->sent; i < port->count; i++) {
		const struct packet *packet = &port->ring[ring_index(port, i)];

		queued[class_of(net->watch, packet)] += packet->size;
	}
}

void net_watch_free(struct net_watch *watch)
{
	if (!watch)
		return;
	free(watch->bytes);
	free(watch);
}
