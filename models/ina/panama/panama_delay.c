/* The time that an accelerator takes. A sum leaves after the latency of equation 3, which begins
 * when the sum is complete or, where ports are slow, when these are free. An accelerator has one
 * pending event. */
#include "ina/panama/panama.h"

#include "base/mem.h"
#include "base/ring.h"
#include "formulas/formulas.h"
#include "transport/keys.h"

#include <stdlib.h>

#define NARROWEST 64 /* bus of the prototype, bits */

sim_time panama_latency(const struct panama_latency *latency, uint32_t frame, uint32_t ports)
{
	const struct panama_equation *e = &latency->equation;

	if (latency->form == PANAMA_LATENCY_TIME)
		return latency->time;
	return formula_panama_latency(frame, (uint64_t)e->bus, e->cycle, e->adder, ports, e->fixed);
}

int64_t panama_bus_for(const struct panama_equation *equation, bps rate)
{
	int64_t bus = NARROWEST;

	while ((double)bus * PS_PER_S < (double)rate * (double)equation->cycle)
		bus *= 2;
	return bus;
}

sim_time panama_slow_port(const struct panama_latency *latency, uint32_t frame, bps rate)
{
	const struct panama_equation *equation = &latency->equation;

	if (latency->form == PANAMA_LATENCY_TIME ||
	    (double)equation->bus * PS_PER_S >= (double)rate * (double)equation->cycle)
		return 0;
	return (uint64_t)frame * 8 * equation->cycle / (uint64_t)equation->bus;
}

struct panama_latency panama_accelerators(const struct panama_conf *conf,
					  const struct topology_conf *topology)
{
	struct panama_latency latency = conf->latency;

	if (latency.form == PANAMA_LATENCY_EQUATION && !latency.equation.bus)
		latency.equation.bus =
			panama_bus_for(&latency.equation, topology_fastest(topology));
	return latency;
}

/* With a fraction, several sums may wait for one packet: two leave at once (panama_switch.c), the
 * others later and without headroom (panama_backlog.c). */
struct collective_burst panama_burst(const void *conf, const struct topology_conf *topology,
				     uint32_t ports)
{
	const struct panama_conf *panama = conf;
	struct panama_latency latency = panama_accelerators(panama, topology);

	return (struct collective_burst){
		.held = panama_latency(&latency, ina_frame(panama), ports),
		.packets = panama->fraction < 1 ? PANAMA_SUMS_AT_ONCE : 1,
	};
}

static void panama_delay_on_due(struct sim *sim, uint32_t entity, void *owner)
{
	struct panama_accelerator *a = owner;
	const struct panama_held *first = &a->held[a->held_head & a->held_mask];
	const struct panama_sequence *sequence =
		ina_find(&a->scheme->sequences, first->packet.flow);
	struct switch_send send;

	(void)entity;
	if (sequence) {
		panama_send_on(&sequence->nodes[first->node], &first->packet, &send);
		network_switch_send(&a->scheme->base.env.topo->net, first->back, &send);
	}
	if (++a->held_head < a->held_end)
		timer_set(sim, &a->timer, a->held[a->held_head & a->held_mask].due);
}

sim_time panama_ports_free(const struct panama_node *node, sim_time now)
{
	const struct panama_accelerator *a = node->accelerator;
	const struct network *net = &a->scheme->base.env.topo->net;
	uint32_t first = net->switch_nodes[a->sw].first_port;
	sim_time from = now;

	if (!a->slow)
		return now;
	for (uint32_t c = 0; c < node->children; c++)
		if (a->free_at[node->down_ports[c] - first] > from)
			from = a->free_at[node->down_ports[c] - first];
	for (uint32_t c = 0; c < node->children; c++)
		a->free_at[node->down_ports[c] - first] = from + a->slow;
	return from;
}

void panama_delay(const struct panama_node *node, const struct packet *packet, uint32_t number,
		  uint32_t back)
{
	struct panama_accelerator *a = node->accelerator;
	struct sim *sim = a->scheme->base.env.sim;
	sim_time from = panama_ports_free(node, sim->now);
	struct panama_held new = {
		.due = from + a->latency, .packet = *packet, .node = number, .back = back
	};
	uint64_t at;

	a->held = ring_reserve(a->held, &a->held_mask, a->held_head, a->held_end, sizeof(*a->held));
	/* keeps the order of `due`: where ports are slow, a sum may overtake another */
	for (at = a->held_end++; at > a->held_head; at--) {
		const struct panama_held *before = &a->held[(at - 1) & a->held_mask];

		if (before->due <= new.due)
			break;
		a->held[at & a->held_mask] = *before;
	}
	a->held[at & a->held_mask] = new;
	if (at == a->held_head)
		timer_set(sim, &a->timer, new.due);
}

void panama_delay_init(struct panama_accelerator *a)
{
	struct sim *sim = a->scheme->base.env.sim;
	uint64_t key = timer_key(TIMER_PANAMA_ACCELERATOR,
				 (uint64_t)a->scheme->base.protocol << 32 | a->sw);

	if (a->slow)
		a->free_at = xcalloc(a->ports, sizeof(*a->free_at));
	timer_open(sim, &a->timer, SIM_TIMER, key, panama_delay_on_due, a);
	timer_apart(sim, &a->timer);
	sim_name(sim, panama_delay_on_due, "accelerator of switch %w");
}

void panama_delay_release(struct panama_accelerator *a)
{
	timer_close(a->scheme->base.env.sim, &a->timer);
	free(a->held);
	free(a->free_at);
}
