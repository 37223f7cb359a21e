/* PANAMA with a fraction below 1: complete sums that may not leave at once. The last packet of a
 * tensor waits for all workers. When the last worker's packet comes, all sums behind it may be
 * complete, a whole window. But the headroom of PAUSE allows only two sums to leave because one
 * packet came in (panama_burst()).
 *
 * So the other sums wait in the accelerator's memory, and a timer sends one per frame time of the
 * link by which the packet came, or more slowly where ports are slow (panama_delay.c), as if each
 * had come with a packet of its own. No sum leaves while the neighbour on that link is told to
 * stop. Later packets cannot replace the timer, because there may be none. While any sum waits, new
 * ones of the sequence at this switch queue behind it, to stay in order. */
#include "ina/panama/panama.h"

#include "base/mem.h"
#include "net/lossless.h"
#include "transport/keys.h"

#include <stdlib.h>

struct panama_backlog {
	struct panama_sequence *sequence;
	uint32_t node;
	uint32_t back; /* egress port to the sender of the packet that completed the sums */
	struct timer timer;
};

static sim_time frame_time(const struct panama_backlog *backlog)
{
	const struct panama_scheme *scheme = panama_scheme(backlog->sequence->job);
	const struct network *net = &scheme->base.env.topo->net;

	return link_transmission(port_class(net, &net->ports[backlog->back]), scheme->base.frame);
}

/* The next sum leaves a frame time behind one whose latency began at `from`, or later where ports
 * are slow. */
static void set_timer(struct sim *sim, struct panama_backlog *backlog,
		      const struct panama_node *node, sim_time from)
{
	sim_time free = panama_ports_free(node, from), next = from + frame_time(backlog);

	timer_set(sim, &backlog->timer, (free > next ? free : next) + node->accelerator->latency);
}

/* Sends the next sum. The accelerator's latency has passed already. */
static void panama_backlog_on_due(struct sim *sim, uint32_t entity, void *owner)
{
	struct panama_backlog *backlog = owner;
	struct panama_sequence *sequence = backlog->sequence;
	struct panama_node *node = &sequence->nodes[backlog->node];
	struct network *net = &sequence->job->base.scheme->env.topo->net;
	struct switch_send send;
	struct packet sum;
	bool stopped = net->lossless && lossless_ingress(net, backlog->back)->stopped;
	bool sent = false;

	(void)entity;
	while (!stopped && !sent && panama_is_over(sequence, node))
		sent = panama_pass(sequence, node, &sum);
	if (sent) {
		panama_send_on(node, &sum, &send);
		network_switch_send(net, backlog->back, &send);
	}
	node->behind = panama_is_over(sequence, node);
	if (node->behind)
		set_timer(sim, backlog, node, sim->now - node->accelerator->latency);
}

void panama_backlog_begin(struct panama_sequence *sequence, struct panama_node *node, uint32_t back)
{
	uint32_t number = (uint32_t)(node - sequence->nodes);
	struct panama_backlog *backlog = &sequence->backlogs[number];
	struct sim *sim = sequence->job->base.scheme->env.sim;

	node->behind = true;
	backlog->back = back;
	set_timer(sim, backlog, node, sim->now);
}

void panama_backlog_open(struct panama_sequence *sequence)
{
	struct sim *sim = sequence->job->base.scheme->env.sim;

	sequence->backlogs = xcalloc(sequence->node_count, sizeof(*sequence->backlogs));
	for (uint32_t i = 0; i < sequence->node_count; i++) {
		struct panama_backlog *backlog = &sequence->backlogs[i];
		uint64_t key =
			timer_key(TIMER_PANAMA_BACKLOG, (uint64_t)sequence->number << 20 | i);

		backlog->sequence = sequence;
		backlog->node = i;
		timer_open(sim, &backlog->timer, SIM_TIMER, key, panama_backlog_on_due, backlog);
		timer_apart(sim, &backlog->timer);
	}
	sim_name(sim, panama_backlog_on_due, "sums that wait in an accelerator");
}

void panama_backlog_close(struct panama_sequence *sequence)
{
	if (!sequence->backlogs)
		return;
	for (uint32_t i = 0; i < sequence->node_count; i++)
		timer_close(sequence->job->base.scheme->env.sim, &sequence->backlogs[i].timer);
	free(sequence->backlogs);
}
