#include "collective/fusion.h"

#include "base/mem.h"
#include "base/ring.h"
#include "collective/tensors.h"
#include "transport/keys.h"
#include "why/why.h"

#include <stdlib.h>

/* A fusion's timer shares its tag with those of machine.c, whose keys have a worker here. */
#define NO_WORKER 0xffffff

/* Tensors `first` to `end` - 1. */
struct buffer {
	uint64_t first, end;
	uint32_t missing; /* workers that lack its sum */
};

struct fusion {
	const struct network *net;
	struct collective_job job;
	const struct collective_ops *ops; /* of the scheme */
	void *instance;
	sim_time cycle, start;
	bytes max; /* of a buffer */
	struct tensor_sizes sizes;
	uint64_t *contributed;  /* tensors, by worker */
	uint64_t handed_over;   /* tensors that the scheme has got */
	uint32_t ahead;         /* workers that have contributed more tensors than handed_over */
	struct buffer *buffers; /* ring of buffers whose sum some worker lacks */
	uint64_t mask, oldest, end;
	bool hinted; /* `hint` came with the next tensor to be handed over */
	struct collective_hint hint;
	struct timer timer; /* end of the cycle */
	uint32_t way;       /* while it is set, for --why: from why_passes() */
};

static uint32_t in_job(const struct fusion *fusion, uint32_t worker)
{
	return (uint32_t)collective_worker_number(&fusion->job, worker);
}

/* Sets the timer if some tensor is ready at all workers, the last of which is `worker`. */
static void await_end_of_cycle(struct fusion *fusion, uint32_t worker)
{
	struct sim *sim = fusion->net->sim;
	sim_time past = (sim->now - fusion->start) % fusion->cycle;

	if (fusion->ahead != fusion->job.workers || timer_pending(sim, &fusion->timer))
		return;
	fusion->way = why_passes(fusion->net, fusion->job.number, in_job(fusion, worker));
	timer_set(sim, &fusion->timer, past ? sim->now - past + fusion->cycle : sim->now);
}

/* The number of tensors that are ready at all workers. */
static uint64_t ready(const struct fusion *fusion)
{
	uint64_t min = UINT64_MAX;

	for (uint32_t w = 0; w < fusion->job.workers; w++)
		if (fusion->contributed[w] < min)
			min = fusion->contributed[w];
	return min;
}

/* Puts as many tensors before `end` into the buffer as fit, at least one. Returns their bytes. */
static bytes fill(struct fusion *fusion, uint64_t end, struct buffer *buffer)
{
	bytes size = 0;

	*buffer = (struct buffer){ fusion->handed_over, fusion->handed_over, fusion->job.workers };
	do
		size += fusion->sizes.of[buffer->end++];
	while (buffer->end < end && size + fusion->sizes.of[buffer->end] <= fusion->max);
	fusion->handed_over = buffer->end;
	return size;
}

/* Hands the next buffer, of tensors before `end`, to the scheme for all workers. */
static void hand_over(struct fusion *fusion, uint64_t end)
{
	struct buffer buffer;
	bytes size = fill(fusion, end, &buffer);

	fusion->buffers = ring_reserve(fusion->buffers, &fusion->mask, fusion->oldest, fusion->end,
				       sizeof(*fusion->buffers));
	fusion->buffers[fusion->end++ & fusion->mask] = buffer;
	for (uint32_t w = 0; w < fusion->job.workers; w++) {
		why_passed(fusion->net, fusion->job.number, in_job(fusion, w), fusion->way, false);
		if (fusion->hinted)
			fusion->ops->hint(fusion->instance, w, &fusion->hint);
		fusion->ops->contribute(fusion->instance, w, size);
	}
}

static void on_cycle(struct sim *sim, uint32_t entity, void *owner)
{
	struct fusion *fusion = owner;
	uint64_t end = ready(fusion);

	(void)sim, (void)entity;
	while (fusion->handed_over < end)
		hand_over(fusion, end);
	why_way_over(fusion->net, fusion->way);
	fusion->hinted = false;
	fusion->ahead = 0;
	for (uint32_t w = 0; w < fusion->job.workers; w++)
		fusion->ahead += fusion->contributed[w] > end;
	await_end_of_cycle(fusion, 0);
}

static void on_done(void *owner, uint32_t worker, uint64_t number)
{
	struct fusion *fusion = owner;
	struct buffer *buffer = &fusion->buffers[number & fusion->mask];

	buffer->missing--;
	for (uint64_t t = buffer->first; t < buffer->end; t++)
		fusion->job.done(fusion->job.owner, worker, t);
	while (fusion->oldest < fusion->end &&
	       !fusion->buffers[fusion->oldest & fusion->mask].missing)
		fusion->oldest++;
}

struct fusion *fusion_new(const struct network *net, struct collective_job *job, sim_time cycle,
			  bytes buffer)
{
	struct fusion *fusion = xcalloc(1, sizeof(*fusion));

	*fusion = (struct fusion){
		.net = net, .job = *job, .cycle = cycle, .max = buffer, .start = net->sim->now
	};
	fusion->contributed = xcalloc(job->workers, sizeof(*fusion->contributed));
	timer_open(net->sim, &fusion->timer, SIM_TIMER,
		   timer_key_of_job(TIMER_MACHINE, job->number, NO_WORKER), on_cycle, fusion);
	sim_name(net->sim, on_cycle, "fusion buffers are handed over");
	job->done = on_done;
	job->owner = fusion;
	return fusion;
}

void fusion_open(struct fusion *fusion, const struct collective_ops *ops, void *instance)
{
	fusion->ops = ops;
	fusion->instance = instance;
}

void fusion_free(struct fusion *fusion)
{
	if (!fusion)
		return;
	timer_close(fusion->net->sim, &fusion->timer);
	free(fusion->contributed);
	free(fusion->buffers);
	free(fusion->sizes.of);
	free(fusion);
}

void fusion_hint(struct fusion *fusion, uint32_t worker, const struct collective_hint *hint)
{
	if (fusion->contributed[worker] != fusion->handed_over)
		return;
	fusion->hinted = true;
	fusion->hint = *hint;
}

void fusion_contribute(struct fusion *fusion, uint32_t worker, bytes size)
{
	fusion->ahead += fusion->contributed[worker] == fusion->handed_over;
	tensor_sizes_add(&fusion->sizes, fusion->contributed[worker]++, size);
	await_end_of_cycle(fusion, worker);
}
