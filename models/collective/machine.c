#include "collective/machine.h"

#include "base/mem.h"
#include "base/ring.h"
#include "collective/tensors.h"
#include "formulas/formulas.h"
#include "transport/keys.h"

#include <stdlib.h>

const char *const inside_names[] = {
	[INSIDE_SCATTER] = "scatter", [INSIDE_MASTER] = "master", [INSIDE_RING] = "ring", NULL
};

/* The work of the GPUs on a tensor before or after the scheme. */
struct stage {
	sim_time due; /* when the stage ends */
	bool after;   /* after the scheme; false: before it */
	bool hinted;  /* `hint` is set; only before the scheme */
	uint64_t tensor;
	bytes size;
	struct collective_hint hint;
};

struct machine {
	struct machines *machines;
	uint32_t number;      /* of the worker */
	uint64_t contributed; /* tensors */
	uint16_t *missing;    /* ring by tensor: rails whose part of the sum is missing */
	uint64_t missing_mask, oldest;
	bool hinted; /* `hint` is of the next tensor */
	struct collective_hint hint;
	struct stage *stages; /* ring: the first is under way, the others wait */
	uint64_t mask, first, end;
	sim_time free_at;   /* end of the last stage */
	struct timer timer; /* end of the first stage */
};

/* NIC i of every machine, and their instance of the scheme. */
struct rail {
	struct machines *machines;
	void *inner;
	uint32_t *hosts; /* workers, then servers */
};

struct machines {
	const struct machine_scheme *scheme;
	struct collective_job job;
	struct rail *rails;
	uint32_t rail_count; /* 0: the machine is alone */
	struct tensor_sizes sizes;
	struct machine *machine; /* by worker */
};

static sim_time time_of(const struct machine_scheme *scheme, bool after, bytes size)
{
	const struct gpus_conf *gpus = &scheme->conf->gpus;
	struct formula_machine machine = { scheme->gpus, gpus->latency, gpus->rate, gpus->shared };

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

static const struct collective_ops *inner_ops(const struct machines *machines)
{
	return machines->scheme->inner.ops;
}

/* Hands a tensor over to the scheme: an equal part to each rail. */
static void hand_over(struct machine *machine, const struct stage *stage)
{
	struct machines *machines = machine->machines;
	const struct collective_ops *ops = inner_ops(machines);

	for (uint32_t r = 0; r < machines->rail_count; r++) {
		void *inner = machines->rails[r].inner;

		if (stage->hinted && ops->hint)
			ops->hint(inner, machine->number, &stage->hint);
		ops->contribute(inner, machine->number,
				tensor_parts(stage->size, r, r + 1, machines->rail_count));
	}
}

/* The machine has all parts of the sum of a tensor. */
static void summed(struct machine *machine, uint64_t tensor)
{
	while (machine->oldest < machine->contributed &&
	       !machine->missing[machine->oldest & machine->missing_mask])
		machine->oldest++;
	add_stage(machine, (struct stage){ .after = true,
					   .tensor = tensor,
					   .size = machine->machines->sizes.of[tensor] });
}

static void on_due(struct sim *sim, uint32_t entity, void *owner)
{
	struct machine *machine = owner;
	struct machines *machines = machine->machines;
	struct stage stage = machine->stages[machine->first++ & machine->mask];

	(void)entity;
	if (machine->first < machine->end)
		timer_set(sim, &machine->timer,
			  machine->stages[machine->first & machine->mask].due);
	if (stage.after)
		machines->job.done(machines->job.owner, machine->number, stage.tensor);
	else if (machines->rail_count)
		hand_over(machine, &stage);
	else
		summed(machine, stage.tensor);
}

/* The worker holds the sum of a rail's part of a tensor. */
static void on_done(void *owner, uint32_t worker, uint64_t tensor)
{
	struct machines *machines = ((struct rail *)owner)->machines;
	struct machine *machine = &machines->machine[worker];

	if (!--machine->missing[tensor & machine->missing_mask])
		summed(machine, tensor);
}

/* --- life --- */

static void free_machines(struct machines *machines)
{
	for (uint32_t w = 0; w < machines->job.workers; w++) {
		timer_close(machines->scheme->sim, &machines->machine[w].timer);
		free(machines->machine[w].stages);
		free(machines->machine[w].missing);
	}
	for (uint32_t r = 0; r < machines->rail_count; r++)
		free(machines->rails[r].hosts);
	free(machines->rails);
	free(machines->machine);
	free(machines->sizes.of);
	free(machines);
}

static void open_machine(struct machines *machines, uint32_t w)
{
	struct machine *machine = &machines->machine[w];

	*machine = (struct machine){ .machines = machines, .number = w };
	timer_open(machines->scheme->sim, &machine->timer, SIM_TIMER,
		   timer_key_of_job(TIMER_MACHINE, machines->job.number, w), on_due, machine);
}

/* False if the scheme's start() returns NULL. */
static bool start_rail(struct machines *machines, uint32_t r, const char **never)
{
	const struct machine_scheme *scheme = machines->scheme;
	uint32_t hosts = scheme->topo->net.hosts;
	struct rail *rail = &machines->rails[r];
	struct collective_job inner = machines->job;

	rail->machines = machines;
	rail->hosts = xcalloc(inner.workers + inner.servers, sizeof(*rail->hosts));
	for (uint32_t i = 0; i < inner.workers; i++)
		rail->hosts[i] = machine_nic(scheme->conf, hosts, inner.hosts[i], r);
	for (uint32_t i = 0; i < inner.servers; i++)
		rail->hosts[inner.workers + i] =
			machine_nic(scheme->conf, hosts, inner.server_hosts[i], r);
	inner.number += r; /* the group's number is that of its first NIC */
	inner.hosts = rail->hosts;
	inner.server_hosts = rail->hosts + inner.workers;
	inner.done = on_done;
	inner.owner = rail;
	rail->inner = scheme->inner.ops->start(scheme->inner.self, &inner, never);
	return rail->inner;
}

static void *start(void *self, const struct collective_job *job, const char **never)
{
	const struct machine_scheme *scheme = self;
	struct machines *machines = xcalloc(1, sizeof(*machines));

	machines->scheme = scheme;
	machines->job = *job;
	machines->machine = xcalloc(job->workers, sizeof(*machines->machine));
	for (uint32_t w = 0; w < job->workers; w++)
		open_machine(machines, w);
	sim_name(scheme->sim, on_due, "GPUs of a machine are done");
	if (job->workers > 1)
		machines->rail_count =
			scheme->inside == INSIDE_MASTER ? 1 : machine_nics(scheme->conf);
	machines->rails = xcalloc(machines->rail_count, sizeof(*machines->rails));
	for (uint32_t r = 0; r < machines->rail_count; r++) {
		if (start_rail(machines, r, never))
			continue;
		while (r--)
			inner_ops(machines)->finish(machines->rails[r].inner);
		free_machines(machines);
		return NULL;
	}
	return machines;
}

static void hint(void *instance, uint32_t worker, const struct collective_hint *hint)
{
	struct machines *machines = instance;
	struct machine *machine = &machines->machine[worker];

	machine->hinted = true;
	machine->hint = *hint;
	if (!machines->rail_count)
		return;
	machine->hint.left /= machines->rail_count;
	machine->hint.iteration_bytes /= machines->rail_count;
}

static void contribute(void *instance, uint32_t worker, bytes size)
{
	struct machines *machines = instance;
	struct machine *machine = &machines->machine[worker];

	machine->missing = ring_reserve(machine->missing, &machine->missing_mask, machine->oldest,
					machine->contributed, sizeof(*machine->missing));
	machine->missing[machine->contributed & machine->missing_mask] =
		(uint16_t)machines->rail_count;
	tensor_sizes_add(&machines->sizes, machine->contributed, size);
	add_stage(machine, (struct stage){ .tensor = machine->contributed++,
					   .size = size,
					   .hinted = machine->hinted,
					   .hint = machine->hint });
	machine->hinted = false;
}

static void finish(void *instance)
{
	struct machines *machines = instance;

	for (uint32_t r = 0; r < machines->rail_count; r++)
		inner_ops(machines)->finish(machines->rails[r].inner);
	free_machines(machines);
}

static void abandon(void *instance)
{
	struct machines *machines = instance;
	const struct collective_ops *ops = inner_ops(machines);

	for (uint32_t r = 0; r < machines->rail_count; r++)
		(ops->abandon ? ops->abandon : ops->finish)(machines->rails[r].inner);
	free_machines(machines);
}

/* --- questions --- */

static bool intact(const void *instance, bool links)
{
	const struct machines *machines = instance;
	const struct collective_ops *ops = inner_ops(machines);

	for (uint32_t r = 0; ops->intact && r < machines->rail_count; r++)
		if (!ops->intact(machines->rails[r].inner, links))
			return false;
	return true;
}

static void stats(const void *instance, struct collective_stats *sum)
{
	const struct machines *machines = instance;

	for (uint32_t r = 0; r < machines->rail_count; r++)
		inner_ops(machines)->stats(machines->rails[r].inner, sum);
}

/* slots() and ran_as() ask only the first rail: the rails differ at most in their trees. */
static uint64_t slots(const void *instance)
{
	const struct machines *machines = instance;
	const struct collective_ops *ops = inner_ops(machines);

	return ops->slots && machines->rail_count ? ops->slots(machines->rails[0].inner) : 0;
}

static struct collective_actual ran_as(const void *instance)
{
	const struct machines *machines = instance;
	const struct collective_ops *ops = inner_ops(machines);

	return ops->ran_as && machines->rail_count ? ops->ran_as(machines->rails[0].inner)
						   : (struct collective_actual){ 0 };
}

static size_t report_waiting(const void *instance, FILE *to, size_t limit)
{
	const struct machines *machines = instance;
	size_t lines = 0;

	for (uint32_t r = 0; r < machines->rail_count && lines < limit; r++)
		lines += inner_ops(machines)->report_waiting(machines->rails[r].inner, to,
							     limit - lines);
	return lines;
}

const struct collective_ops machine_collective = {
	.name = "machines",
	.start = start,
	.hint = hint,
	.contribute = contribute,
	.finish = finish,
	.abandon = abandon,
	.intact = intact,
	.stats = stats,
	.slots = slots,
	.ran_as = ran_as,
	.report_waiting = report_waiting,
};
