#include "collective/fusion.h"

#include "base/mem.h"
#include "base/ring.h"
#include "collective/tensors.h"
#include "transport/keys.h"

#include <stdlib.h>

#define RING_FIRST 8 /* a power of two */
#define NO_WORKER  0xffffff

/* Tensors `first` to `end` - 1 in one. */
struct buffer {
	uint64_t first, end;
	uint32_t missing; /* workers that have no sum of it */
};

struct fusion {
	const struct fusion_scheme *scheme;
	struct collective_job job;
	void *inner;
	sim_time start;
	struct tensor_sizes sizes;
	uint64_t *contributed;  /* by worker: tensors */
	uint64_t handed_over;   /* tensors */
	uint32_t ahead;         /* workers that have contributed more */
	struct buffer *buffers; /* ring by number: those that some worker has no sum of */
	uint64_t mask, oldest, end;
	bool hinted; /* `hint` is of the first tensor that is not handed over */
	struct collective_hint hint;
	struct timer timer; /* the end of the cycle */
};

/* Once there is something that all workers have. */
static void await_end_of_cycle(struct fusion *fusion)
{
	struct sim *sim = fusion->scheme->sim;
	sim_time cycle = fusion->scheme->cycle, past = (sim->now - fusion->start) % cycle;

	if (fusion->ahead == fusion->job.workers && !timer_pending(sim, &fusion->timer))
		timer_set(sim, &fusion->timer, past ? sim->now - past + cycle : sim->now);
}

/* Tensors that all workers have. */
static uint64_t ready(const struct fusion *fusion)
{
	uint64_t least = UINT64_MAX;

	for (uint32_t w = 0; w < fusion->job.workers; w++)
		if (fusion->contributed[w] < least)
			least = fusion->contributed[w];
	return least;
}

/* As many as fit, one at least; up to `end`. Returns their bytes. */
static bytes fill(struct fusion *fusion, uint64_t end, struct buffer *buffer)
{
	bytes size = 0;

	*buffer = (struct buffer){ fusion->handed_over, fusion->handed_over, fusion->job.workers };
	do
		size += fusion->sizes.of[buffer->end++];
	while (buffer->end < end && size + fusion->sizes.of[buffer->end] <= fusion->scheme->buffer);
	fusion->handed_over = buffer->end;
	return size;
}

static void hand_over(struct fusion *fusion, uint64_t end)
{
	const struct collective_ops *ops = fusion->scheme->inner.ops;
	struct buffer buffer;
	bytes size = fill(fusion, end, &buffer);

	fusion->buffers = ring_reserve(fusion->buffers, &fusion->mask, fusion->oldest, fusion->end,
				       sizeof(*fusion->buffers));
	fusion->buffers[fusion->end++ & fusion->mask] = buffer;
	for (uint32_t w = 0; w < fusion->job.workers; w++) {
		if (fusion->hinted)
			ops->hint(fusion->inner, w, &fusion->hint);
		ops->contribute(fusion->inner, w, size);
	}
}

static void on_cycle(struct sim *sim, uint32_t entity, void *owner)
{
	struct fusion *fusion = owner;
	uint64_t end = ready(fusion);

	(void)sim, (void)entity;
	while (fusion->handed_over < end)
		hand_over(fusion, end);
	fusion->hinted = false;
	fusion->ahead = 0;
	for (uint32_t w = 0; w < fusion->job.workers; w++)
		fusion->ahead += fusion->contributed[w] > end;
	await_end_of_cycle(fusion);
}

/* A worker may take its next step, and contribute, from within. */
static void on_done(void *owner, uint32_t worker, uint64_t number)
{
	struct fusion *fusion = owner;
	struct buffer *buffer = &fusion->buffers[number & fusion->mask];
	uint64_t end = buffer->end;

	buffer->missing--;
	for (uint64_t t = buffer->first; t < end; t++)
		fusion->job.done(fusion->job.owner, worker, t);
	while (fusion->oldest < fusion->end &&
	       !fusion->buffers[fusion->oldest & fusion->mask].missing)
		fusion->oldest++;
}

/* --- the interface --- */

static void free_fusion(struct fusion *fusion)
{
	timer_close(fusion->scheme->sim, &fusion->timer);
	free(fusion->contributed);
	free(fusion->buffers);
	free(fusion->sizes.of);
	free(fusion);
}

static void *start(void *self, const struct collective_job *job, const char **never)
{
	const struct fusion_scheme *scheme = self;
	struct fusion *fusion = xcalloc(1, sizeof(*fusion));
	struct collective_job inner = *job;

	fusion->scheme = scheme;
	fusion->job = *job;
	fusion->start = scheme->sim->now;
	fusion->contributed = xcalloc(job->workers, sizeof(*fusion->contributed));
	fusion->mask = RING_FIRST - 1;
	fusion->buffers = xcalloc(RING_FIRST, sizeof(*fusion->buffers));
	timer_open(scheme->sim, &fusion->timer, SIM_TIMER,
		   timer_key_of_job(TIMER_MACHINE, job->number, NO_WORKER), on_cycle, fusion);
	sim_name(scheme->sim, on_cycle, "fusion buffers are handed over");
	inner.done = on_done;
	inner.owner = fusion;
	fusion->inner = scheme->inner.ops->start(scheme->inner.self, &inner, never);
	if (fusion->inner)
		return fusion;
	free_fusion(fusion);
	return NULL;
}

/* Of the tensors of a cycle the scheme hears what the last worker says of the first. */
static void hint(void *instance, uint32_t worker, const struct collective_hint *hint)
{
	struct fusion *fusion = instance;

	if (!fusion->scheme->inner.ops->hint || fusion->contributed[worker] != fusion->handed_over)
		return;
	fusion->hinted = true;
	fusion->hint = *hint;
}

static void contribute(void *instance, uint32_t worker, bytes size)
{
	struct fusion *fusion = instance;

	fusion->ahead += fusion->contributed[worker] == fusion->handed_over;
	tensor_sizes_add(&fusion->sizes, fusion->contributed[worker]++, size);
	await_end_of_cycle(fusion);
}

static void finish(void *instance)
{
	struct fusion *fusion = instance;

	fusion->scheme->inner.ops->finish(fusion->inner);
	free_fusion(fusion);
}

static void stats(const void *instance, struct collective_stats *sum)
{
	const struct fusion *fusion = instance;

	fusion->scheme->inner.ops->stats(fusion->inner, sum);
}

static uint64_t slots(const void *instance)
{
	const struct fusion *fusion = instance;
	const struct collective_ops *ops = fusion->scheme->inner.ops;

	return ops->slots ? ops->slots(fusion->inner) : 0;
}

static struct collective_actual ran_as(const void *instance)
{
	const struct fusion *fusion = instance;
	const struct collective_ops *ops = fusion->scheme->inner.ops;

	return ops->ran_as ? ops->ran_as(fusion->inner) : (struct collective_actual){ 0 };
}

static void report_waiting(const void *instance, FILE *to, size_t limit)
{
	const struct fusion *fusion = instance;

	fusion->scheme->inner.ops->report_waiting(fusion->inner, to, limit);
}

const struct collective_ops fusion_collective = {
	.name = "fusion",
	.start = start,
	.hint = hint,
	.contribute = contribute,
	.finish = finish,
	.stats = stats,
	.slots = slots,
	.ran_as = ran_as,
	.report_waiting = report_waiting,
};
