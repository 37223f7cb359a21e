#include "collective/machine.h"

#include "base/mem.h"
#include "base/ring.h"
#include "collective/tensors.h"
#include "formulas/formulas.h"
#include "transport/keys.h"

#include <stdlib.h>

#define STAGES_FIRST 8 /* a power of two */

const char *const inside_names[] = {
	[INSIDE_SCATTER] = "scatter", [INSIDE_MASTER] = "master", [INSIDE_RING] = "ring", NULL
};

/* Of a tensor, before or after the scheme has it. */
struct stage {
	sim_time due;
	bool after;
	bool hinted;
	uint64_t tensor;
	bytes size;
	struct collective_hint hint;
};

struct machine {
	struct machines *machines;
	uint32_t number; /* the worker's */
	uint64_t contributed;
	bool hinted; /* `hint` is of the next tensor */
	struct collective_hint hint;
	struct stage *stages; /* ring: one after the other over its links */
	uint64_t mask, first, end;
	sim_time free_at;
	struct timer timer; /* for the first */
};

struct machines {
	const struct machine_scheme *scheme;
	struct collective_job job;
	void *inner;
	struct tensor_sizes sizes;
	struct machine *machine; /* by worker */
};

static sim_time time_of(const struct machine_scheme *scheme, bool after, bytes size)
{
	const struct gpus_conf *gpus = scheme->gpus;
	struct formula_machine machine = { (uint64_t)gpus->count, gpus->latency, gpus->rate,
					   gpus->shared };

	if (scheme->inside == INSIDE_SCATTER)
		return formula_machine_scatter(&machine, size);
	return after ? formula_machine_broadcast(&machine, size)
		     : formula_machine_reduce(&machine, size);
}

static void add_stage(struct machine *machine, struct stage stage)
{
	const struct machine_scheme *scheme = machine->machines->scheme;
	sim_time now = scheme->sim->now;

	machine->free_at = (machine->free_at > now ? machine->free_at : now) +
			   time_of(scheme, stage.after, stage.size);
	stage.due = machine->free_at;
	machine->stages = ring_reserve(machine->stages, &machine->mask, machine->first,
				       machine->end, sizeof(*machine->stages));
	machine->stages[machine->end & machine->mask] = stage;
	if (machine->end++ == machine->first)
		timer_set(scheme->sim, &machine->timer, stage.due);
}

static void on_due(struct sim *sim, uint32_t entity, void *owner)
{
	struct machine *machine = owner;
	struct machines *machines = machine->machines;
	const struct collective_ops *ops = machines->scheme->inner.ops;
	struct stage stage = machine->stages[machine->first++ & machine->mask];

	(void)entity;
	if (machine->first < machine->end)
		timer_set(sim, &machine->timer,
			  machine->stages[machine->first & machine->mask].due);
	if (stage.after) {
		machines->job.done(machines->job.owner, machine->number, stage.tensor);
		return;
	}
	if (stage.hinted && ops->hint)
		ops->hint(machines->inner, machine->number, &stage.hint);
	ops->contribute(machines->inner, machine->number, stage.size);
}

/* The scheme between machines has the sum. */
static void on_done(void *owner, uint32_t worker, uint64_t tensor)
{
	struct machines *machines = owner;

	add_stage(&machines->machine[worker], (struct stage){ .after = true,
							      .tensor = tensor,
							      .size = machines->sizes.of[tensor] });
}

static void free_machines(struct machines *machines)
{
	for (uint32_t w = 0; w < machines->job.workers; w++) {
		timer_close(machines->scheme->sim, &machines->machine[w].timer);
		free(machines->machine[w].stages);
	}
	free(machines->machine);
	free(machines->sizes.of);
	free(machines);
}

static void *start(void *self, const struct collective_job *job, const char **never)
{
	const struct machine_scheme *scheme = self;
	struct machines *machines = xcalloc(1, sizeof(*machines));
	struct collective_job inner = *job;

	machines->scheme = scheme;
	machines->job = *job;
	machines->machine = xcalloc(job->workers, sizeof(*machines->machine));
	for (uint32_t w = 0; w < job->workers; w++) {
		struct machine *machine = &machines->machine[w];

		*machine = (struct machine){ .machines = machines, .number = w };
		machine->mask = STAGES_FIRST - 1;
		machine->stages = xcalloc(STAGES_FIRST, sizeof(*machine->stages));
		timer_open(scheme->sim, &machine->timer, SIM_TIMER,
			   timer_key_of_job(TIMER_MACHINE, job->number, w), on_due, machine);
	}
	sim_name(scheme->sim, on_due, "GPUs of a machine are through");
	inner.done = on_done;
	inner.owner = machines;
	machines->inner = scheme->inner.ops->start(scheme->inner.self, &inner, never);
	if (machines->inner)
		return machines;
	free_machines(machines);
	return NULL;
}

static void hint(void *instance, uint32_t worker, const struct collective_hint *hint)
{
	struct machine *machine = &((struct machines *)instance)->machine[worker];

	machine->hinted = true;
	machine->hint = *hint;
}

static void contribute(void *instance, uint32_t worker, bytes size)
{
	struct machines *machines = instance;
	struct machine *machine = &machines->machine[worker];

	tensor_sizes_add(&machines->sizes, machine->contributed++, size);
	add_stage(machine,
		  (struct stage){ .size = size, .hinted = machine->hinted, .hint = machine->hint });
	machine->hinted = false;
}

static void finish(void *instance)
{
	struct machines *machines = instance;

	machines->scheme->inner.ops->finish(machines->inner);
	free_machines(machines);
}

static void stats(const void *instance, struct collective_stats *sum)
{
	const struct machines *machines = instance;

	machines->scheme->inner.ops->stats(machines->inner, sum);
}

static uint64_t slots(const void *instance)
{
	const struct machines *machines = instance;
	const struct collective_ops *ops = machines->scheme->inner.ops;

	return ops->slots ? ops->slots(machines->inner) : 0;
}

static struct collective_actual ran_as(const void *instance)
{
	const struct machines *machines = instance;
	const struct collective_ops *ops = machines->scheme->inner.ops;

	return ops->ran_as ? ops->ran_as(machines->inner) : (struct collective_actual){ 0 };
}

static void report_waiting(const void *instance, FILE *to, size_t limit)
{
	const struct machines *machines = instance;

	machines->scheme->inner.ops->report_waiting(machines->inner, to, limit);
}

const struct collective_ops machine_collective = {
	.name = "machines",
	.start = start,
	.hint = hint,
	.contribute = contribute,
	.finish = finish,
	.stats = stats,
	.slots = slots,
	.ran_as = ran_as,
	.report_waiting = report_waiting,
};
