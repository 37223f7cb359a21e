/* The time that an accelerator takes: two hops between it and its switch, and its pipeline. Packets
 * leave in order. An accelerator has one pending event. */
#include "ina/netreduce/netreduce.h"

#include "base/ring.h"
#include "transport/keys.h"

#include <stdlib.h>

/* Sends the sum to each connection that ends below this switch, with that connection's header, and
 * to the switches below. */
static void send_results(const struct accelerator *a, const struct ring_node *node,
			 const struct held *held)
{
	struct packet *packets = a->scheme->results;

	for (uint32_t i = 0; i < node->outlet_count; i++) {
		const struct outlet *outlet = &node->outlets[i];

		packets[i] = held->packet;
		packets[i].tag = 0;
		packets[i].flow = outlet->connection;
		packets[i].generation = outlet->generation;
		if (held->way == NETREDUCE_RESULTS && outlet->row != TREE_NONE)
			packets[i].flags =
				columns_flags(&node->columns, held->column, outlet->row) |
				PACKET_RESULT;
	}
	for (uint32_t i = 0; i < node->sum_count; i++)
		packets[node->outlet_count + i] = held->packet;
	network_switch_send_each(&a->scheme->base.env.topo->net, held->back, packets, node->ports,
				 node->outlet_count + node->sum_count);
}

static void send_copies(const struct accelerator *a, const struct held *held, const uint32_t *ports,
			uint32_t count)
{
	struct switch_send send = { .packet = held->packet, .ports = ports, .count = count };

	network_switch_send(&a->scheme->base.env.topo->net, held->back, &send);
}

static void netreduce_leave(const struct accelerator *a, const struct end *end,
			    const struct held *held)
{
	const struct netreduce *job = end->ring->job;
	const struct ring_node *node = &end->ring->nodes[job->base.tree.node_of_switch[a->sw]];

	switch (held->way) {
	case NETREDUCE_UP:
		send_copies(a, held, &node->place->up_port, 1);
		return;
	case NETREDUCE_OWN:
		send_copies(a, held, &node->place->input_ports[netreduce_to(end)->row], 1);
		return;
	case NETREDUCE_DOWN:
	case NETREDUCE_RESULTS:
		if (node->outlet_count)
			send_results(a, node, held);
		else
			send_copies(a, held, node->ports, node->sum_count);
		return;
	}
}

static void netreduce_on_due(struct sim *sim, uint32_t entity, void *owner)
{
	struct accelerator *a = owner;
	const struct held *first = &a->held[a->held_head & a->held_mask];
	const struct end *end = netreduce_end(a->scheme, &first->packet);

	(void)entity;
	if (end) /* else the job is over */
		netreduce_leave(a, end, first);
	if (++a->held_head < a->held_end)
		timer_set(sim, &a->timer, a->held[a->held_head & a->held_mask].due);
}

void accelerator_send(struct accelerator *a, const struct held *what)
{
	struct sim *sim = a->scheme->base.env.sim;
	struct held *held;

	a->held = ring_reserve(a->held, &a->held_mask, a->held_head, a->held_end, sizeof(*a->held));
	held = &a->held[a->held_end & a->held_mask];
	*held = *what;
	held->due = sim->now + netreduce_conf(&a->scheme->base)->latency;
	if (a->held_end++ == a->held_head) /* none was held, so the timer was not set */
		timer_set(sim, &a->timer, held->due);
}

void accelerator_init(struct accelerator *a, struct netreduce_scheme *scheme, uint32_t sw)
{
	struct sim *sim = scheme->base.env.sim;
	uint64_t key = timer_key(TIMER_NETREDUCE, sw);

	*a = (struct accelerator){ .scheme = scheme, .memory = &scheme->base.memory[sw], .sw = sw };
	timer_open(sim, &a->timer, SIM_TIMER, key, netreduce_on_due, a);
	timer_apart(sim, &a->timer);
	sim_name(sim, netreduce_on_due, "accelerator of switch %w");
}

void accelerator_release(struct accelerator *a)
{
	timer_close(a->scheme->base.env.sim, &a->timer);
	free(a->held);
}
