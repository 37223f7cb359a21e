/* The time that an accelerator takes: sums leave it in the order in which they were
 * complete, each after the latency of equation 3. One pending event per accelerator. */
#include "ina/panama.h"

#include "base/mem.h"
#include "base/ring.h"
#include "transport/keys.h"

#include <stdlib.h>

#define HELD_FIRST 16 /* a power of two */

sim_time panama_latency(const struct panama_latency *latency, uint32_t frame, uint32_t ports)
{
	uint64_t bits = (uint64_t)frame * 8, bus = (uint64_t)latency->equation.bus, levels = 0;
	sim_time through; /* a fraction of a word counts as such: table 1 has 987.5 ns */

	if (latency->form == PANAMA_LATENCY_TIME)
		return latency->time;
	through = bits > bus ? (bits - bus) * latency->equation.cycle / bus : 0;
	while (UINT64_C(1) << levels < ports)
		levels++; /* of a tree of adders */
	return through + levels * latency->equation.adder + latency->equation.fixed;
}

/* With a fraction, one packet may be what several sums wait for: two leave at once
 * (panama_switch.c), the others when nothing needs headroom for them (panama_backlog.c). */
struct collective_burst panama_burst(const void *conf, uint32_t ports)
{
	const struct panama_conf *panama = conf;

	return (struct collective_burst){
		.held = panama_latency(&panama->latency, panama_frame(panama), ports),
		.packets = panama->fraction < 1 ? PANAMA_SUMS_AT_ONCE : 1,
	};
}

/* The first leaves, unless its job is over. */
static void on_due(struct sim *sim, uint32_t entity, void *owner)
{
	struct panama_accelerator *a = owner;
	const struct panama_held *first = &a->held[a->held_head & a->held_mask];
	const struct panama_lane *lane = a->scheme->lanes[first->packet.flow];
	struct switch_send send;

	(void)entity;
	if (lane) {
		panama_send_on(&lane->nodes[first->node], &first->packet, &send);
		network_switch_send(&a->scheme->env.topo->net, first->back, &send);
	}
	if (++a->held_head < a->held_end)
		timer_set(sim, &a->timer, a->held[a->held_head & a->held_mask].due);
}

void panama_delay(struct panama_accelerator *a, const struct packet *packet, uint32_t node,
		  uint32_t back)
{
	struct sim *sim = a->scheme->env.sim;
	struct panama_held *last;

	a->held = ring_reserve(a->held, &a->held_mask, a->held_head, a->held_end, sizeof(*a->held));
	last = &a->held[a->held_end & a->held_mask];
	*last = (struct panama_held){ sim->now + a->latency, *packet, node, back };
	if (a->held_head == a->held_end++)
		timer_set(sim, &a->timer, last->due);
}

void panama_delay_init(struct panama_accelerator *a)
{
	struct sim *sim = a->scheme->env.sim;
	uint64_t key =
		timer_key(TIMER_PANAMA_ACCELERATOR, (uint64_t)a->scheme->protocol << 32 | a->sw);

	a->held_mask = HELD_FIRST - 1;
	a->held = xcalloc(HELD_FIRST, sizeof(*a->held));
	timer_open(sim, &a->timer, SIM_NOWHERE, SIM_TIMER, key, on_due, a);
	sim_name(sim, on_due, "accelerator of switch %h");
}

void panama_delay_release(struct panama_accelerator *a)
{
	timer_close(a->scheme->env.sim, &a->timer);
	free(a->held);
}
