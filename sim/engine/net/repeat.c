#include "net/repeat.h"

#include "net/lossless.h"
#include "net/nic.h"

static_assert(sizeof(struct packet) == 48 && offsetof(struct packet, generation) == 24,
	      "network_repeat_packet() leaves out only `depart`");

bool network_can_repeat(const struct network *net)
{
	return !net->watch && !net->onlooker && !net->faults && !net->outages && !net->sched;
}

void network_repeat_packet(const struct network *net, struct repeat *repeat, struct packet *packet)
{
	const struct protocol_ops *ops = net->protocols[packet->protocol].ops;
	struct packet rest = *packet;

	if (!ops->repeat) {
		repeat_never(repeat);
		return;
	}
	if (ops->repeats_slot)
		rest.slot = 0;
	if (ops->repeats_own)
		memset(rest.own, 0, sizeof(rest.own));
	repeat_same_bytes(repeat, &rest.generation,
			  sizeof(rest) - offsetof(struct packet, generation));
	ops->repeat(net->protocols[packet->protocol].self, repeat, packet);
}

static void repeat_rng(struct repeat *repeat, const struct rng *rng)
{
	repeat_same_bytes(repeat, rng, sizeof(*rng));
}

static void repeat_port(const struct network *net, struct repeat *repeat, uint32_t number)
{
	struct port *port = &net->ports[number];
	struct port_cold *cold = &net->cold[number];

	if (!repeat->moving) /* so that equal states have an equal `sent`, which moves lazily */
		port_advance(port, repeat->sim->now);
	repeat_same(repeat, (uint64_t)port->count << 32 | port->sent);
	repeat_same(repeat, (uint64_t)port->max_backlog_ns << 8 | port->flags);
	repeat_same(repeat, port->queued_bytes);
	repeat_due(repeat, &port->busy_until);
	repeat_event(repeat, number);
	for (uint32_t i = 0; i < port->count; i++) {
		struct packet *packet = &port->ring[ring_index(port, i)];

		/* not repeat_due(): of a packet on the wire it is past, but decides its arrival */
		repeat_time(repeat, &packet->depart);
		network_repeat_packet(net, repeat, packet);
	}
	repeat_count(repeat, &port->packets);
	repeat_count(repeat, &port->bytes);
	repeat_count(repeat, &cold->drops);
	repeat_count(repeat, &cold->losses);
	repeat_count(repeat, &cold->marks);
	repeat_due(repeat, &cold->last_arrival);
	repeat_rng(repeat, &cold->loss_stream);
	repeat_rng(repeat, &cold->jitter_stream);
	repeat_rng(repeat, &cold->mark_stream);
}

static void repeat_nic(struct repeat *repeat, const struct nic *nic)
{
	const struct nic_source *source = nic->last;

	repeat_same(repeat, (uint64_t)nic->armed << 1 | nic->by_event);
	repeat_event(repeat, nic->entity);
	repeat_rng(repeat, &nic->idle_stream);
	while (source) { /* the waiting sources, in order */
		repeat_same(repeat, (uintptr_t)source);
		repeat_same(repeat, (uint32_t)source->credit);
		source = source->next == nic->last ? NULL : source->next;
	}
	repeat_same(repeat, 0);
}

void network_repeat(struct network *net, struct repeat *repeat)
{
	uint64_t hops = net->hops;

	for (uint32_t i = 0; i < net->port_count; i++)
		repeat_port(net, repeat, i);
	for (uint32_t h = 0; h < net->host_ports; h++)
		repeat_nic(repeat, &net->nics[h]);
	if (net->lossless)
		lossless_repeat(net, repeat);
	repeat_same(repeat, net->nics_by_event);
	repeat_count(repeat, &net->created);
	repeat_count(repeat, &net->delivered);
	repeat_count(repeat, &net->dropped);
	repeat_count(repeat, &net->lost);
	repeat_count(repeat, &net->absorbed);
	repeat_count(repeat, &net->hops);
	repeat->hops_skipped += net->hops - hops;
}
