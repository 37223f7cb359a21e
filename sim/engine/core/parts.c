#include "core/parts.h"

#include "base/mem.h"

#include <stdlib.h>

struct sim_parts {
	unsigned count;
	struct equeue *queues; /* 0..count; that of the partition that runs is in sim->queue */
	sim_time lookahead;
	sim_time begin; /* of the next window: nothing is pending before */
};

void parts_cut(struct sim *sim, unsigned count, sim_time lookahead)
{
	struct sim_parts *parts = xcalloc(1, sizeof(*parts));

	SIM_BUG_ON(sim->parts || !lookahead || count >= UINT16_MAX);
	*parts = (struct sim_parts){ .count = count, .lookahead = lookahead, .begin = sim->now };
	parts->queues = xcalloc(count + 1, sizeof(*parts->queues));
	for (unsigned p = 1; p <= count; p++) {
		struct equeue *queue = &parts->queues[p];

		equeue_init(queue, sim->seed);
		queue->number = (uint16_t)p;
		queue->last = sim->now;
		queue->all = parts->queues;
		equeue_share(queue, &sim->queue);
	}
	sim->queue.all = parts->queues;
	sim->parts = parts;
}

struct equeue *parts_queue(struct sim *sim, unsigned part)
{
	SIM_BUG_ON(sim->queue.number);
	return part ? &sim->parts->queues[part] : &sim->queue;
}

static void enter(struct sim *sim, unsigned part)
{
	struct equeue *queues = sim->parts->queues;

	if (sim->queue.number == part)
		return;
	equeue_share(&queues[part], &sim->queue);
	queues[sim->queue.number] = sim->queue;
	sim->queue = queues[part];
}

/* The events of one queue before `end`; returns how many. */
static uint64_t run_until(struct sim *sim, sim_time end)
{
	struct equeue *q = &sim->queue;
	uint64_t before = sim->events;
	uint32_t id;

	equeue_bound(q, end);
	while (!sim->stopped && (id = equeue_pop_before(q, &sim->now)) != EQ_NONE) {
		if (sim->events % SIM_LOOK_EVERY == 0 && sim->lookahead)
			sim->lookahead(sim, &q->batch[q->batch_head],
				       q->batch_count - q->batch_head);
		if (id < sim->block_count) {
			sim->events++;
			sim->block.handler(sim, id, sim->block.owner);
		} else {
			sim_run_entity(sim, id);
		}
	}
	return sim->events - before;
}

static bool run_window(struct sim *sim, sim_time end)
{
	uint64_t events = 0;

	for (unsigned p = 1; p <= sim->parts->count && !sim->stopped; p++) {
		enter(sim, p);
		events += run_until(sim, end);
	}
	enter(sim, 0);
	return events;
}

/* The first event of all partitions. */
static sim_time first_event(struct sim *sim)
{
	sim_time first = SIM_TIME_MAX;

	for (unsigned p = 1; p <= sim->parts->count; p++) {
		sim_time at = equeue_first(&sim->parts->queues[p]);

		first = at < first ? at : first;
	}
	return first;
}

bool parts_fits(const struct sim *sim, sim_time until)
{
	return sim->parts->begin + sim->parts->lookahead <= until;
}

/* The event of queue 0 at time `at`, which finds all partitions there. */
static void run_control(struct sim *sim, sim_time at)
{
	uint32_t id;

	equeue_bound(&sim->queue, at + 1);
	id = equeue_pop_before(&sim->queue, &sim->now);
	if (id != EQ_NONE)
		sim_run_entity(sim, id);
}

bool parts_run(struct sim *sim, uint64_t budget, sim_time until)
{
	struct sim_parts *parts = sim->parts;
	uint64_t enough = sim->events < UINT64_MAX - budget ? sim->events + budget : UINT64_MAX;

	while (!sim->stopped && sim->events < enough && parts_fits(sim, until)) {
		sim_time control = equeue_first(&sim->queue), end = parts->begin + parts->lookahead;
		bool idle;

		if (control < end)
			end = control + 1;
		idle = !run_window(sim, end);
		parts->begin = end;
		if (sim->stopped)
			break;
		if (control < end) {
			run_control(sim, control);
			parts->begin = control; /* it may have scheduled events of this time */
			break;
		} else if (idle) {
			sim_time first = first_event(sim);

			parts->begin = first < control ? first : control;
			if (parts->begin == SIM_TIME_MAX)
				return false;
		}
	}
	if (sim->stopped && sim->catch_up)
		sim->catch_up(sim->catch_up_owner, sim->now);
	return !sim->stopped;
}

void parts_free(struct sim *sim)
{
	static const struct equeue nothing;

	if (!sim->parts)
		return;
	for (unsigned p = 1; p <= sim->parts->count; p++) {
		equeue_share(&sim->parts->queues[p], &nothing);
		equeue_release(&sim->parts->queues[p]);
	}
	free(sim->parts->queues);
	free(sim->parts);
	sim->parts = NULL;
	sim->queue.all = NULL;
}

void parts_join(struct sim *sim)
{
	struct equeue *queue = &sim->queue;

	equeue_bound(queue, SIM_TIME_MAX);
	for (uint32_t id = 0; id < queue->node_count; id++) {
		struct eq_node *node = &queue->nodes[id];
		bool pending = equeue_pending(queue, id);

		if (!node->queue)
			continue;
		if (pending)
			equeue_cancel(queue, id);
		node->queue = 0;
		if (pending)
			equeue_push(queue, id, node->at);
	}
	parts_free(sim);
}
