/* The state of SwitchML, for runs that repeat themselves (core/repeat.h). */
#include "ina/switchml/switchml.h"

uint64_t switchml_period(const void *self)
{
	return SWITCHML_VERSIONS * (uint64_t)((const struct switchml *)self)->slots;
}

static void repeat_worker(struct worker *worker, struct repeat *repeat)
{
	const struct switchml *job = switchml_of(worker);

	repeat_same_bytes(repeat, &worker->ready, sizeof(worker->ready));
	repeat_same_bytes(repeat, &worker->sent, sizeof(worker->sent));
	repeat_same(repeat, worker->rto.timeout);
	repeat_same(repeat, worker->rto.srtt);
	repeat_same(repeat, worker->rto.rttvar);
	repeat_same(repeat, worker->rto.expired);
	repeat_same(repeat, worker->rto.threshold);
	repeat_count(repeat, &worker->overtaken);
	repeat_alarm(repeat, &worker->alarm);
	for (uint32_t i = 0; i < job->slots; i++) {
		struct worker_slot *slot = &worker->slots[i];

		repeat_number(repeat, &slot->chunk, &job->base.stream);
		repeat_same_bytes(repeat, &slot->previous,
				  sizeof(*slot) - offsetof(struct worker_slot, previous));
		if (slot->state == WORKER_SLOT_SENT || slot->state == WORKER_SLOT_EXPIRED)
			repeat_time(repeat, &slot->sent);
	}
}

static void repeat_node(struct switchml *job, struct node *node, struct repeat *repeat)
{
	for (uint32_t i = 0; i < SWITCHML_VERSIONS * job->slots; i++) {
		struct slot *slot = &node->slots[i];

		ina_repeat_sum(&job->base, repeat, &slot->chunk, &slot->value);
		repeat_same(repeat,
			    (uint64_t)slot->count << 16 | (uint64_t)slot->state << 8 | slot->late);
		repeat_same_bytes(repeat, &node->seen[(size_t)i * node->words],
				  node->words * sizeof(*node->seen));
	}
	for (uint32_t i = 0;
	     node->next && i < job->slots / job->format.message * node->base.place->inputs; i++)
		repeat_same(repeat, node->next[i]);
}

void switchml_repeat(void *self, struct repeat *repeat)
{
	struct switchml *job = self;

	for (uint32_t w = 0; w < job->base.spec.workers; w++)
		repeat_worker(switchml_worker(job, w), repeat);
	for (uint32_t n = 0; n < job->base.tree.tree->node_count; n++)
		if (!job->base.tree.tree->nodes[n].passes)
			repeat_node(job, ina_node(&job->base, n), repeat);
}
