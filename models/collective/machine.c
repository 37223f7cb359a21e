#include "collective/machine.h"

#include "base/mem.h"
#include "base/ring.h"
#include "collective/tensors.h"
#include "formulas/formulas.h"
#include "transport/keys.h"
#include "why/why.h"

#include <stdlib.h>

const char *const inside_names[] = { [INSIDE_SCATTER] = "scatter",
				     [INSIDE_MASTER] = "master",
				     [INSIDE_RING] = "ring",
				     [INSIDE_NVLS] = "nvls",
				     NULL };

/* In a timer's key (transport/keys.h), the lane stands above the machine's number. */
#define LANE_SHIFT 22

/* The work of the GPUs on a chunk before or after the scheme, whose tensors are these chunks. */
struct stage {
	sim_time due; /* when the stage ends */
	bool after;   /* after the scheme; false: before it */
	bool hinted;  /* `hint` is set; only before the scheme */
	uint64_t chunk;
	bytes size;
	struct collective_hint hint;
	uint32_t way; /* for --why, from why_passes() */
};

/* Stages that are done one after the other. */
struct lane {
	struct machine *machine;
	struct stage *stages; /* ring: the first is under way, the others wait */
	uint64_t mask, first, end;
	sim_time free_at;   /* when the links are free of the last stage */
	struct timer timer; /* end of the first stage */
};

struct machine {
	struct machines *machines;
	uint32_t number;         /* of the machine, for the scheme */
	uint32_t *workers, gpus; /* that are on it, by their numbers in the job */
	uint64_t contributed;    /* tensors that all of them have handed over */
	uint32_t last;           /* who has handed over last, by number in the job */
	uint64_t begun;          /* chunks of these tensors */
	uint16_t *missing;       /* ring by chunk: rails whose part of the sum is missing */
	uint64_t missing_mask, oldest;
	uint32_t *left; /* ring by tensor: chunks that the GPUs do not hold */
	uint64_t left_mask, unheld;
	bool hinted; /* `hint` is of the next tensor */
	struct collective_hint hint;
	/* The second one is of stages after the scheme, where these do not wait for those before it
	 * (NVLS: sums come up the links, copies go down). */
	struct lane lanes[2];
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
	struct tensor_sizes sizes, chunks;
	uint64_t *tensor_of; /* by chunk */
	size_t tensor_of_capacity;
	struct machine *machine;
	uint32_t count;    /* of machines */
	uint32_t *of;      /* by worker: its machine */
	uint64_t *handed;  /* by worker: tensors that it has handed over */
	uint32_t *heads;   /* by machine: number in the job of its first worker; NULL: the same */
	uint32_t *workers; /* by machine */
};

static struct formula_machine gpus_of(const struct machines *machines)
{
	const struct gpus_conf *gpus = &machines->scheme->conf->gpus;

	return (struct formula_machine){ .n = machines->scheme->gpus,
					 .alpha = gpus->latency,
					 .rate = gpus->rate,
					 .shared = gpus->shared,
					 .links = gpus_links(gpus),
					 .masters = machines->rail_count };
}

/* How long a stage keeps the links. With NVLS that is without the latency, so that stages overlap
 * in it; a GPU's own piece crosses its link in the other direction. */
static sim_time inside_time(const struct machines *machines, const struct stage *stage)
{
	const struct machine_scheme *scheme = machines->scheme;
	struct formula_machine machine = gpus_of(machines);

	if (scheme->inside == INSIDE_NVLS) {
		machine.alpha = 0;
		return formula_machine_switch(&machine, stage->size,
					      !scheme->before || !scheme->after);
	}
	if (scheme->inside == INSIDE_SCATTER)
		return formula_machine_scatter(&machine, stage->size);
	return stage->after ? formula_machine_broadcast(&machine, stage->size)
			    : formula_machine_reduce(&machine, stage->size);
}

static bool begins_tensor(const struct machines *machines, uint64_t chunk)
{
	return !chunk || machines->tensor_of[chunk] != machines->tensor_of[chunk - 1];
}

static sim_time time_of(const struct machines *machines, const struct stage *stage)
{
	const struct machine_scheme *scheme = machines->scheme;
	unsigned __int128 bits = (unsigned __int128)stage->size * 8 * PS_PER_S;
	sim_time time = inside_time(machines, stage);

	if (!stage->after && begins_tensor(machines, stage->chunk))
		time += scheme->launch;
	if (scheme->conversion)
		time += (sim_time)((bits + scheme->conversion - 1) / scheme->conversion);
	return time;
}

/* What a worker of the machine gets now, or has handed over, passes on to all of its workers. */
static uint32_t passes(const struct machine *machine, uint32_t worker)
{
	const struct machines *machines = machine->machines;

	return why_passes(&machines->scheme->topo->net, machines->job.number,
			  (uint32_t)collective_worker_number(&machines->job, worker));
}

/* The machine's first worker, who stands for it in the scheme, has what has come by a way. */
static void passed(const struct machine *machine, uint32_t way)
{
	const struct machines *machines = machine->machines;
	const struct network *net = &machines->scheme->topo->net;

	why_passed(net, machines->job.number,
		   (uint32_t)collective_worker_number(&machines->job, machine->workers[0]), way,
		   machines->scheme->gpus > 1);
	why_way_over(net, way);
}

static void add_stage(struct machine *machine, struct stage stage)
{
	const struct machine_scheme *scheme = machine->machines->scheme;
	bool nvls = scheme->inside == INSIDE_NVLS;
	struct lane *lane = &machine->lanes[nvls && stage.after];
	sim_time now = scheme->sim->now;

	stage.way = passes(machine, stage.after ? machine->workers[0] : machine->last);
	lane->free_at =
		(lane->free_at > now ? lane->free_at : now) + time_of(machine->machines, &stage);
	stage.due = lane->free_at + (nvls ? scheme->conf->gpus.latency : 0);
	lane->stages = ring_reserve(lane->stages, &lane->mask, lane->first, lane->end,
				    sizeof(*lane->stages));
	lane->stages[lane->end & lane->mask] = stage;
	if (lane->end++ == lane->first)
		timer_set(scheme->sim, &lane->timer, stage.due);
}

static const struct collective_ops *inner_ops(const struct machines *machines)
{
	return machines->scheme->inner.ops;
}

/* Hands a chunk over to the scheme: an equal part to each rail. */
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

/* The GPUs hold the sum of a chunk. */
static void holds(struct machine *machine, uint64_t chunk)
{
	const struct collective_job *job = &machine->machines->job;
	uint64_t tensor = machine->machines->tensor_of[chunk];

	if (--machine->left[tensor & machine->left_mask])
		return;
	while (machine->unheld < machine->contributed &&
	       !machine->left[machine->unheld & machine->left_mask])
		machine->unheld++;
	for (uint32_t i = 0; i < machine->gpus; i++)
		job->done(job->owner, machine->workers[i], tensor);
}

/* The machine has all parts of the sum of a chunk. */
static void summed(struct machine *machine, uint64_t chunk)
{
	while (machine->oldest < machine->begun &&
	       !machine->missing[machine->oldest & machine->missing_mask])
		machine->oldest++;
	if (!machine->machines->scheme->after) {
		passed(machine, passes(machine, machine->workers[0]));
		holds(machine, chunk);
		return;
	}
	add_stage(machine, (struct stage){ .after = true,
					   .chunk = chunk,
					   .size = machine->machines->chunks.of[chunk] });
}

/* What comes after the first stage: the scheme, if there are other machines. */
static void between(struct machine *machine, const struct stage *stage)
{
	if (machine->machines->rail_count)
		hand_over(machine, stage);
	else
		summed(machine, stage->chunk);
}

static void on_due(struct sim *sim, uint32_t entity, void *owner)
{
	struct lane *lane = owner;
	struct stage stage = lane->stages[lane->first++ & lane->mask];

	(void)entity;
	if (lane->first < lane->end)
		timer_set(sim, &lane->timer, lane->stages[lane->first & lane->mask].due);
	passed(lane->machine, stage.way);
	if (stage.after)
		holds(lane->machine, stage.chunk);
	else
		between(lane->machine, &stage);
}

/* A machine holds the sum of a rail's part of a chunk. */
static void on_done(void *owner, uint32_t number, uint64_t chunk)
{
	struct machines *machines = ((struct rail *)owner)->machines;
	struct machine *machine = &machines->machine[number];

	if (!--machine->missing[chunk & machine->missing_mask])
		summed(machine, chunk);
}

/* --- life --- */

static void free_machines(struct machines *machines)
{
	for (uint32_t m = 0; m < machines->count; m++) {
		for (unsigned i = 0; i < 2; i++) {
			timer_close(machines->scheme->sim, &machines->machine[m].lanes[i].timer);
			free(machines->machine[m].lanes[i].stages);
		}
		free(machines->machine[m].missing);
		free(machines->machine[m].left);
	}
	for (uint32_t r = 0; r < machines->rail_count; r++)
		free(machines->rails[r].hosts);
	free(machines->rails);
	free(machines->machine);
	free(machines->of);
	free(machines->handed);
	free(machines->heads);
	free(machines->workers);
	free(machines->sizes.of);
	free(machines->chunks.of);
	free(machines->tensor_of);
	free(machines);
}

/* Numbers machines in the order of their first workers. */
static void find_machines(struct machines *machines)
{
	const struct collective_job *job = &machines->job;
	uint32_t *known, end = 0; /* by machine within the job: its number here, plus 1 */

	machines->of = xcalloc(job->workers, sizeof(*machines->of));
	for (uint32_t w = 0; job->machines && w < job->workers; w++)
		end = job->machines[w] >= end ? job->machines[w] + 1 : end;
	known = xcalloc(end + 1, sizeof(*known));
	for (uint32_t w = 0; w < job->workers; w++) {
		uint32_t *number = job->machines ? &known[job->machines[w]] : known;

		if (!job->machines || !*number)
			*number = ++machines->count;
		machines->of[w] = *number - 1;
	}
	free(known);
}

static void open_machines(struct machines *machines)
{
	uint32_t workers = machines->job.workers, each = workers / machines->count;

	machines->machine = xcalloc(machines->count, sizeof(*machines->machine));
	machines->workers = xcalloc(workers, sizeof(*machines->workers));
	machines->handed = xcalloc(workers, sizeof(*machines->handed));
	for (uint32_t m = 0; m < machines->count; m++) {
		struct machine *machine = &machines->machine[m];

		*machine = (struct machine){ .machines = machines,
					     .number = m,
					     .workers = &machines->workers[m * each] };
		for (uint32_t i = 0; i < 2; i++) {
			machine->lanes[i].machine = machine;
			timer_open(machines->scheme->sim, &machine->lanes[i].timer, SIM_TIMER,
				   timer_key_of_job(TIMER_MACHINE, machines->job.number,
						    m | i << LANE_SHIFT),
				   on_due, &machine->lanes[i]);
		}
	}
	for (uint32_t w = 0; w < workers; w++) {
		struct machine *machine = &machines->machine[machines->of[w]];

		SIM_BUG_ON(machine->gpus == each);
		machine->workers[machine->gpus++] = w;
	}
	if (!machines->job.machines)
		return;
	machines->heads = xcalloc(machines->count, sizeof(*machines->heads));
	for (uint32_t m = 0; m < machines->count; m++)
		machines->heads[m] = (uint32_t)collective_worker_number(
			&machines->job, machines->machine[m].workers[0]);
}

/* Whether some GPU of a machine before GPU `i` has the same NIC. */
static bool shares_nic(const struct machine *machine, uint32_t i)
{
	const uint32_t *hosts = machine->machines->job.hosts;

	for (uint32_t k = 0; k < i; k++)
		if (hosts[machine->workers[k]] == hosts[machine->workers[i]])
			return true;
	return false;
}

/* The r-th NIC of a machine's GPUs; UINT32_MAX: there are fewer. */
static uint32_t nic_of(const struct machine *machine, uint32_t r)
{
	for (uint32_t i = 0; i < machine->gpus; i++)
		if (!shares_nic(machine, i) && !r--)
			return machine->machines->job.hosts[machine->workers[i]];
	return UINT32_MAX;
}

static uint32_t count_rails(const struct machines *machines)
{
	uint32_t rails = 0;

	if (machines->count == 1)
		return 0;
	if (!machines->job.machines)
		return machine_nics(machines->scheme->conf);
	while (nic_of(&machines->machine[0], rails) != UINT32_MAX)
		rails++;
	return rails;
}

/* The host of machine m on a rail. */
static uint32_t host_on(const struct machines *machines, uint32_t m, uint32_t r)
{
	const struct machine_scheme *scheme = machines->scheme;

	if (machines->job.machines)
		return nic_of(&machines->machine[m], r);
	return machine_nic(scheme->conf, scheme->topo->net.hosts, machines->job.hosts[m], r);
}

/* The host of a server on a rail. GPUs' servers are on the machines, in their order. */
static uint32_t server_on(const struct machines *machines, uint32_t q, uint32_t r)
{
	const struct machine_scheme *scheme = machines->scheme;

	if (machines->job.machines)
		return host_on(machines, q, r);
	return machine_nic(scheme->conf, scheme->topo->net.hosts, machines->job.server_hosts[q], r);
}

/* False if the scheme's start() returns NULL. */
static bool start_rail(struct machines *machines, uint32_t r, const char **never)
{
	const struct machine_scheme *scheme = machines->scheme;
	struct rail *rail = &machines->rails[r];
	struct collective_job inner = machines->job;

	inner.workers = machines->count;
	if (inner.servers > inner.workers && inner.machines)
		inner.servers = inner.workers;
	rail->machines = machines;
	rail->hosts = xcalloc(inner.workers + inner.servers, sizeof(*rail->hosts));
	for (uint32_t i = 0; i < inner.workers; i++)
		rail->hosts[i] = host_on(machines, i, r);
	for (uint32_t i = 0; i < inner.servers; i++)
		rail->hosts[inner.workers + i] = server_on(machines, i, r);
	inner.number += r; /* the group's number is that of its first NIC */
	inner.hosts = rail->hosts;
	inner.server_hosts = rail->hosts + inner.workers;
	if (machines->heads)
		inner.members = machines->heads;
	inner.machines = NULL;
	if (scheme->chunk)
		inner.tensors = UINT64_MAX;
	inner.done = on_done;
	inner.owner = rail;
	why_places(&scheme->topo->net, inner.number, inner.workers, inner.hosts, inner.members);
	rail->inner = scheme->inner.ops->start(scheme->inner.self, &inner, never);
	return rail->inner;
}

static void *start(void *self, const struct collective_job *job, const char **never)
{
	const struct machine_scheme *scheme = self;
	struct machines *machines = xcalloc(1, sizeof(*machines));

	machines->scheme = scheme;
	machines->job = *job;
	find_machines(machines);
	open_machines(machines);
	sim_name(scheme->sim, on_due, "a worker is done with a tensor");
	machines->rail_count = count_rails(machines);
	machines->rails = xcalloc(machines->rail_count, sizeof(*machines->rails));
	for (uint32_t r = 0; r < machines->rail_count; r++) {
		if (start_rail(machines, r, never))
			continue;
		while (r--)
			inner_ops(machines)->finish(machines->rails[r].inner, false);
		free_machines(machines);
		return NULL;
	}
	return machines;
}

static void hint(void *instance, uint32_t worker, const struct collective_hint *hint)
{
	struct machines *machines = instance;
	struct machine *machine = &machines->machine[machines->of[worker]];

	machine->hinted = true;
	machine->hint = *hint;
	if (!machines->rail_count)
		return;
	machine->hint.left /= machines->rail_count;
	machine->hint.iteration_bytes /= machines->rail_count;
}

static void begin_chunk(struct machine *machine, bytes size)
{
	struct machines *machines = machine->machines;
	uint64_t chunk = machine->begun++;
	struct stage stage = {
		.chunk = chunk, .size = size, .hinted = machine->hinted, .hint = machine->hint
	};

	while (machines->tensor_of_capacity <= chunk)
		machines->tensor_of =
			array_reserve(machines->tensor_of, machines->tensor_of_capacity,
				      &machines->tensor_of_capacity, sizeof(*machines->tensor_of));
	machines->tensor_of[chunk] = machine->contributed - 1;
	tensor_sizes_add(&machines->chunks, chunk, size);
	machine->missing = ring_reserve(machine->missing, &machine->missing_mask, machine->oldest,
					chunk, sizeof(*machine->missing));
	machine->missing[chunk & machine->missing_mask] = (uint16_t)machines->rail_count;
	if (machines->scheme->before)
		add_stage(machine, stage);
	else
		between(machine, &stage);
}

/* All GPUs of a machine have handed over its next tensor. */
static void begin(struct machine *machine)
{
	const struct machines *machines = machine->machines;
	bytes size = machines->sizes.of[machine->contributed], max = machines->scheme->chunk;
	uint32_t chunks = max && size > max ? (uint32_t)((size + max - 1) / max) : 1;

	machine->left = ring_reserve(machine->left, &machine->left_mask, machine->unheld,
				     machine->contributed, sizeof(*machine->left));
	machine->left[machine->contributed++ & machine->left_mask] = chunks;
	for (uint32_t i = 0; i < chunks; i++)
		begin_chunk(machine, tensor_parts(size, i, i + 1, chunks));
	machine->hinted = false;
}

static void contribute(void *instance, uint32_t worker, bytes size)
{
	struct machines *machines = instance;
	struct machine *machine = &machines->machine[machines->of[worker]];

	tensor_sizes_add(&machines->sizes, machines->handed[worker]++, size);
	for (uint32_t i = 0; i < machine->gpus; i++)
		if (machines->handed[machine->workers[i]] <= machine->contributed)
			return;
	machine->last = worker;
	begin(machine);
}

static void finish(void *instance, bool abandoned)
{
	struct machines *machines = instance;

	for (uint32_t r = 0; r < machines->rail_count; r++)
		inner_ops(machines)->finish(machines->rails[r].inner, abandoned);
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
	.intact = intact,
	.stats = stats,
	.slots = slots,
	.ran_as = ran_as,
	.report_waiting = report_waiting,
};
