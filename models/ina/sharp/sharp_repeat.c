/* The state of SHARP, for runs that repeat themselves (core/repeat.h).
 *
 * Chunks keep their places in the rings of nodes, as a period is a multiple of both a ring's length
 * and a row. More chunks may be in flight than a ring has places, so a skip ends before a worker
 * has sent the last chunk of its tensor. States with repairs or a lock to come are never equal.
 *
 * A reduce-scatter or all-gather repeats itself where sharp_news() is a multiple of a row; else the
 * numbers told last drift against rows from period to period. */
#include "ina/sharp/sharp.h"

#include "net/repeat.h"

#include <string.h>

/* In rows: as a power of two, a ring shares only powers of two with a row. */
uint64_t sharp_period(const void *self)
{
	const struct sharp *job = self;
	uint64_t row = sharp_row(job), ring = job->mask + 1;

	while (ring > 1 && row % 2 == 0) {
		ring /= 2;
		row /= 2;
	}
	return ring;
}

/* --- packets and sums --- */

const struct repeat_stream *sharp_stream(const void *self, const struct packet *packet)
{
	const struct sharp *job = ina_job_of(self, packet);

	return job && packet->chunk != SHARP_ACK_CHUNK ? &job->packets : NULL;
}

static void sharp_repeat_sum(struct sharp *job, struct repeat *repeat, uint64_t chunk,
			     uint64_t *value)
{
	const struct exact *exact = &job->base.exact;
	uint64_t weight = exact_weight(exact, chunk, *value);

	repeat_same(repeat, weight);
	repeat_number(repeat, &chunk, &job->packets);
	if (repeat->moving)
		*value = weight * exact_chunk(exact, chunk);
}

/* The numbers that a packet tells have 32 bits. */
static void repeat_told(const struct sharp *job, struct repeat *repeat, struct packet *packet)
{
	uint32_t told[2];

	memcpy(told, packet->own, sizeof(told));
	for (unsigned i = 0; i < 2; i++)
		if (repeat->moving)
			told[i] += (uint32_t)(repeat->periods * job->packets.step);
		else
			repeat_same(repeat, told[i] - (uint32_t)job->packets.base);
	memcpy(packet->own, told, sizeof(told));
}

void sharp_repeat_packet(void *self, struct repeat *repeat, struct packet *packet)
{
	struct sharp *job = ina_job_of(self, packet);

	if (!job || packet->chunk == SHARP_ACK_CHUNK) {
		repeat_same(repeat, packet->chunk);
		repeat_same(repeat, packet->value);
	} else {
		sharp_repeat_sum(job, repeat, packet->chunk, &packet->value);
		repeat_number(repeat, &packet->chunk, &job->packets);
	}
	if (job) /* else nobody listens */
		repeat_told(job, repeat, packet);
}

/* --- nodes --- */

static void repeat_entry(struct sharp *job, struct repeat *repeat, uint64_t chunk,
			 struct sharp_entry *entry)
{
	sharp_repeat_sum(job, repeat, chunk, &entry->value);
	repeat_due(repeat, &entry->ready);
	repeat_same(repeat, (uint64_t)entry->count << 32 | entry->back);
	repeat_same(repeat, (uint64_t)entry->flags << 1 | entry->end);
}

static void repeat_child(const struct sharp *job, struct repeat *repeat, struct sharp_child *child)
{
	if (child->resend != SHARP_NONE || child->probe)
		repeat_never(repeat);
	repeat_same(repeat, child->nacked);
	repeat_number(repeat, &child->received, &job->packets);
	repeat_number(repeat, &child->has, &job->packets);
	repeat_number(repeat, &child->freed, &job->packets);
}

/* The root sends nothing up, so its counters of that direction stay as they are. */
static void repeat_counters(struct sharp_node *node, struct repeat *repeat)
{
	uint64_t *const down[] = { &node->touched, &node->complete,     &node->have,
				   &node->sent,    &node->down_freed,   &node->down_limit,
				   &node->told,    &node->told_complete },
			*const up[] = { &node->next, &node->freed, &node->limit, &node->told_freed,
					&node->told_have };
	const struct repeat_stream *stream = &node->job->packets;

	for (size_t i = 0; i < sizeof(down) / sizeof(*down); i++)
		repeat_number(repeat, down[i], stream);
	for (size_t i = 0; !sharp_is_root(node) && i < sizeof(up) / sizeof(*up); i++)
		repeat_number(repeat, up[i], stream);
}

static void repeat_times(struct sharp_node *node, struct repeat *repeat)
{
	repeat_due(repeat, &node->up_free);
	repeat_due(repeat, &node->down_free);
	if (node->alarm.due(node) == SIM_TIME_MAX)
		repeat_same(repeat, 0);
	else
		repeat_time(repeat, &node->progress);
	repeat_time(repeat, &node->turn_at);
	repeat_event(repeat, node->turn.id);
	repeat_alarm(repeat, &node->alarm);
}

static void repeat_node(struct sharp_node *node, struct repeat *repeat)
{
	struct sharp *job = node->job;
	bool root = sharp_is_root(node);

	if (node->resending || node->timed_out || node->probe > node->freed)
		repeat_never(repeat);
	repeat_same(repeat, (uint64_t)node->slowest << 32 | node->fullest);
	repeat_same(repeat, (uint64_t)node->nacked << 1 | node->end_freed);
	for (uint64_t i = root ? node->down_freed : node->freed; i < node->touched; i++)
		repeat_entry(job, repeat, i, sharp_sum_of(node, i));
	for (uint64_t i = node->down_freed; !root && i < node->have;
	     i = sharp_down_from(node, i + 1))
		repeat_entry(job, repeat, i, sharp_result_of(node, i));
	for (uint32_t c = 0; c < node->base.place->children; c++)
		repeat_child(job, repeat, &node->child[c]);
	repeat_times(node, repeat);
	repeat_counters(node, repeat);
}

/* --- workers --- */

static void repeat_worker(struct sharp_worker *worker, struct repeat *repeat)
{
	struct sharp *job = (struct sharp *)worker->base.job;
	uint64_t to_send = worker->tensor_end - worker->next;
	uint64_t *const counters[] = { &worker->result,  &worker->told, &worker->next,
				       &worker->highest, &worker->got,  &worker->limit };

	if (worker->probe || worker->next < worker->highest)
		repeat_never(repeat);
	repeat_left(repeat, &to_send, 2 * sharp_row(job));
	repeat_same(repeat, ina_available(&worker->base));
	repeat_same(repeat, worker->tensor_end);
	repeat_same(repeat, (uint64_t)worker->mode << 8 | worker->ack);
	repeat_same(repeat, worker->nacked << 2 | worker->waited << 1 | worker->blocked);
	if (worker->alarm.due(worker) == SIM_TIME_MAX)
		repeat_same(repeat, 0);
	else
		repeat_time(repeat, &worker->progress);
	for (size_t i = 0; i < sizeof(counters) / sizeof(*counters); i++)
		repeat_number(repeat, counters[i], &job->packets);
	repeat_alarm(repeat, &worker->alarm);
}

/* --- the whole --- */

void sharp_repeat_job(void *self, struct repeat *repeat)
{
	struct sharp *job = self;

	if (job->lock == SHARP_QUEUED || job->lock == SHARP_COMING)
		repeat_never(repeat);
	job->packets.base = job->base.stream.base * sharp_row(job);
	repeat_base(repeat, &job->packets);
	repeat_same(repeat, job->lock);
	repeat_same(repeat, job->finished);
	for (uint32_t n = 0; n < job->base.tree.tree->node_count; n++)
		repeat_node(ina_node(&job->base, n), repeat);
	for (uint32_t w = 0; w < job->base.spec.workers; w++)
		repeat_worker((struct sharp_worker *)ina_worker(&job->base, w), repeat);
}

void sharp_repeat(void *self, struct repeat *repeat)
{
	struct sharp_scheme *scheme = self;

	ina_repeat(scheme, repeat);
	ina_repeat(scheme->parts[SHARP_REDUCE_SCATTER], repeat);
	ina_repeat(scheme->parts[SHARP_ALL_GATHER], repeat);
}
