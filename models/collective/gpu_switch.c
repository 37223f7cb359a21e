#include "collective/gpu_switch.h"

#include "base/mem.h"
#include "base/ring.h"
#include "collective/tensors.h"
#include "formulas/formulas.h"
#include "transport/keys.h"
#include "why/why.h"

#include <inttypes.h>
#include <stdlib.h>

struct gpu_switch {
	const struct model_env *env;
	struct collective_job job;
	bool half; /* a reduce-scatter or an all-gather */
	struct tensor_sizes sizes;
	uint64_t *handed;  /* by member: tensors that it has handed over */
	uint32_t *missing; /* ring by tensor: members that have not */
	uint32_t *ways;    /* ring by tensor, for --why: from why_passes() */
	uint64_t way_mask;
	uint64_t mask, first, end; /* tensors under way */
	bool busy;                 /* with tensor `first` */
	struct timer timer;        /* its end */
};

/* Begins the oldest tensor if all members have handed it over. */
static void begin(struct gpu_switch *it)
{
	const struct gpus_conf *gpus = &it->env->machine->gpus;
	struct formula_machine machine = { it->job.workers, gpus->latency, gpus->rate, false };

	if (it->busy || it->first == it->end || it->missing[it->first & it->mask])
		return;
	it->busy = true;
	timer_set(it->env->sim, &it->timer,
		  it->env->sim->now +
			  formula_machine_switch(&machine, it->sizes.of[it->first], it->half));
}

static void on_due(struct sim *sim, uint32_t entity, void *owner)
{
	struct gpu_switch *it = owner;
	const struct network *net = &it->env->topo->net;
	uint64_t tensor = it->first++;
	uint32_t way = it->ways[tensor & it->way_mask];

	(void)sim, (void)entity;
	it->busy = false;
	begin(it);
	for (uint32_t w = 0; w < it->job.workers; w++) {
		why_passed(net, it->job.number, (uint32_t)collective_worker_number(&it->job, w),
			   way, true);
		it->job.done(it->job.owner, w, tensor);
	}
	why_way_over(net, way);
}

static void contribute(void *instance, uint32_t worker, bytes size)
{
	struct gpu_switch *it = instance;
	uint64_t tensor = it->handed[worker]++;

	tensor_sizes_add(&it->sizes, tensor, size);
	if (tensor == it->end) {
		it->missing = ring_reserve(it->missing, &it->mask, it->first, it->end,
					   sizeof(*it->missing));
		it->ways = ring_reserve(it->ways, &it->way_mask, it->first, it->end,
					sizeof(*it->ways));
		it->missing[it->end++ & it->mask] = it->job.workers;
	}
	if (!--it->missing[tensor & it->mask])
		it->ways[tensor & it->way_mask] =
			why_passes(&it->env->topo->net, it->job.number,
				   (uint32_t)collective_worker_number(&it->job, worker));
	begin(it);
}

static void *start(void *env, const struct collective_job *job, bool half)
{
	struct gpu_switch *it = xcalloc(1, sizeof(*it));

	it->env = env;
	it->job = *job;
	it->half = half;
	it->handed = xcalloc(job->workers, sizeof(*it->handed));
	timer_open(it->env->sim, &it->timer, SIM_TIMER,
		   timer_key_of_job(TIMER_MACHINE, job->number, 0), on_due, it);
	sim_name(it->env->sim, on_due, "sum in the switch of a machine");
	return it;
}

static void *start_whole(void *env, const struct collective_job *job, const char **never)
{
	(void)never;
	return start(env, job, false);
}

static void *start_half(void *env, const struct collective_job *job, const char **never)
{
	(void)never;
	return start(env, job, true);
}

static void finish(void *instance, bool abandoned)
{
	struct gpu_switch *it = instance;

	(void)abandoned;
	timer_close(it->env->sim, &it->timer);
	free(it->handed);
	free(it->missing);
	free(it->ways);
	free(it->sizes.of);
	free(it);
}

static void stats(const void *instance, struct collective_stats *sum)
{
	(void)instance, (void)sum;
}

static size_t report_waiting(const void *instance, FILE *to, size_t limit)
{
	const struct gpu_switch *it = instance;

	if (it->first == it->end || !limit)
		return 0;
	fprintf(to,
		"  nvls of job %" PRIu32 ": tensor %" PRIu64 " lacks %" PRIu32 " of %" PRIu32
		" GPUs\n",
		collective_job_number(&it->job), it->first, it->missing[it->first & it->mask],
		it->job.workers);
	return 1;
}

#define IN_SWITCH(begins)                                                                          \
	{                                                                                          \
		.name = "nvls", .start = begins, .contribute = contribute, .finish = finish,       \
		.stats = stats, .report_waiting = report_waiting,                                  \
	}
const struct collective_ops gpu_switch_all_reduce = IN_SWITCH(start_whole),
			    gpu_switch_reduce_scatter = IN_SWITCH(start_half),
			    gpu_switch_all_gather = IN_SWITCH(start_half);
