/* The ranks of a schedule: their order, the machines and channels that they form, the edges' ends
 * and keys. All that a plan needs, without connections. */
#include "collective/schedule.h"

#include "base/mem.h"
#include "transport/keys.h"

#include <stdlib.h>

enum order { ORDER_PLACEMENT, ORDER_RANDOM };
const char *const schedule_orders[] = {
	[ORDER_PLACEMENT] = "placement", [ORDER_RANDOM] = "random", NULL
};

bool schedule_draws(const void *conf)
{
	return ((const struct schedule_conf *)conf)->order == ORDER_RANDOM;
}

/* --- the order of ranks --- */

static int by_machine(const void *a, const void *b)
{
	const struct schedule_rank *x = a, *y = b;

	if (x->machine != y->machine)
		return x->machine < y->machine ? -1 : 1;
	return x->gpu < y->gpu ? -1 : x->gpu > y->gpu;
}

/* Where machines have one worker each, hosts tell them apart. */
static uint32_t machine_of(const struct schedule *schedule, uint32_t worker)
{
	return schedule->job.machines ? schedule->job.machines[worker]
				      : schedule->job.hosts[worker];
}

/* Fills in the ranks' places in the order of ranks. A listed order stays as it is. */
static void order_ranks(struct schedule *schedule)
{
	const struct schedule_scheme *scheme = schedule->scheme;
	const struct machine_conf *machine = scheme->env.machine;
	uint32_t p = schedule->count, each = schedule_ranks_each(schedule);
	uint32_t *order = xcalloc(p, sizeof(*order));
	struct rng rng;

	for (uint32_t g = 0; g < p; g++)
		order[g] = g;
	if (!schedule->job.listed && scheme->conf->order == ORDER_RANDOM) {
		rng_init(&rng, scheme->env.sim->seed, "ring order",
			 schedule->job.number - schedule->channel);
		rng_shuffle(&rng, order, p);
	}
	for (uint32_t r = 0; r < p; r++) {
		uint32_t worker = order[r] / each, host = schedule->job.hosts[worker];

		if (each > 1) /* `host` is a machine; neighbouring GPUs may share a NIC */
			host = machine_nic(machine, scheme->env.topo->net.hosts, host,
					   order[r] % each * machine_nics(machine) / each);
		schedule->ranks[r] =
			(struct schedule_rank){ .schedule = schedule,
						.worker = worker,
						.machine = machine_of(schedule, worker),
						.gpu = order[r],
						.host = host };
	}
	if (!schedule->job.listed && scheme->conf->order == ORDER_PLACEMENT)
		qsort(schedule->ranks, p, sizeof(*schedule->ranks), by_machine);
	free(order);
}

static void find_runs(struct schedule *schedule)
{
	const struct schedule_rank *ranks = schedule->ranks;

	for (uint32_t r = 0; r < schedule->count; r++) {
		if (!r || ranks[r].machine != ranks[r - 1].machine)
			schedule->runs[schedule->run_count++] = (struct schedule_run){ .first = r };
		schedule->runs[schedule->run_count - 1].count++;
	}
}

/* The first rank of a run whose NIC is the run's NIC number `nic`, or none. */
static uint32_t first_at_nic(const struct schedule *schedule, const struct schedule_run *run,
			     uint32_t nic)
{
	uint32_t r = run->first, end = run->first + run->count;

	while (nic && ++r < end)
		nic -= schedule->ranks[r].host != schedule->ranks[r - 1].host;
	return r < end ? r : SCHEDULE_NOBODY;
}

/* The number of NICs that the ranks of each run have at least, up to the most channels. */
static uint32_t channels_of(const struct schedule *schedule)
{
	uint32_t max = (uint32_t)schedule->scheme->conf->channels, channels = 1;

	if (!schedule->ops->channels || schedule->run_count == 1)
		return 1;
	for (; !max || channels < max; channels++)
		for (uint32_t i = 0; i < schedule->run_count; i++)
			if (first_at_nic(schedule, &schedule->runs[i], channels) == SCHEDULE_NOBODY)
				return channels;
	return channels;
}

static void reverse(struct schedule_rank *ranks, uint32_t count)
{
	for (uint32_t i = 0; i < count / 2; i++) {
		struct schedule_rank rank = ranks[i];

		ranks[i] = ranks[count - 1 - i];
		ranks[count - 1 - i] = rank;
	}
}

/* Each run begins with the first rank at the channel's NIC, and goes around. */
static void turn_runs(struct schedule *schedule)
{
	for (uint32_t i = 0; i < schedule->run_count; i++) {
		struct schedule_run *run = &schedule->runs[i];
		struct schedule_rank *ranks = &schedule->ranks[run->first];
		uint32_t ahead = 0;

		if (schedule->channel)
			ahead = first_at_nic(schedule, run, schedule->channel) - run->first;
		reverse(ranks, ahead);
		reverse(ranks + ahead, run->count - ahead);
		reverse(ranks, run->count);
		run->host = ranks->host;
		for (uint32_t k = 0; k < run->count; k++)
			ranks[k].run = i;
	}
}

static void number_ranks(struct schedule *schedule)
{
	for (uint32_t r = 0; r < schedule->count; r++) {
		struct schedule_rank *rank = &schedule->ranks[r];

		rank->number = r;
		schedule->rank_of_gpu[rank->gpu] = r;
		for (unsigned i = 0; i < SCHEDULE_THREADS; i++)
			rank->threads[i] = (struct schedule_thread){ .rank = rank, .number = i };
	}
}

/* The numbers by which link_of() finds links are below this. */
static uint32_t link_count(const struct schedule *schedule)
{
	uint32_t count = schedule->count;

	for (uint32_t r = 0; schedule->job.machines && r < schedule->count; r++)
		if (schedule->ranks[r].machine >= count)
			count = schedule->ranks[r].machine + 1;
	return count;
}

static struct schedule *new_channel(struct schedule_scheme *scheme, const struct schedule_ops *ops,
				    const struct collective_job *job, uint32_t channel)
{
	struct schedule *schedule = xcalloc(1, sizeof(*schedule));

	schedule->lead = schedule;
	schedule->channel = channel;
	schedule->scheme = scheme;
	schedule->ops = ops;
	schedule->job = *job;
	schedule->job.number += channel;
	schedule->count = job->workers * (job->gpus ? job->gpus : 1);
	exact_init(&schedule->exact, scheme->env.checks, scheme->env.sim->seed,
		   schedule->job.number, schedule->count);
	schedule->ranks = xcalloc(schedule->count, sizeof(*schedule->ranks));
	schedule->rank_of_gpu = xcalloc(schedule->count, sizeof(*schedule->rank_of_gpu));
	schedule->runs = xcalloc(schedule->count, sizeof(*schedule->runs));
	order_ranks(schedule);
	find_runs(schedule);
	turn_runs(schedule);
	number_ranks(schedule);
	if (ops->prepare)
		ops->prepare(schedule);
	schedule->edge_count = ops->edges(schedule);
	return schedule;
}

struct schedule *schedule_new(struct schedule_scheme *scheme, const struct schedule_ops *ops,
			      const struct collective_job *job)
{
	struct schedule *lead = new_channel(scheme, ops, job, 0), **last = &lead->next;

	lead->link_free = xcalloc(link_count(lead), sizeof(*lead->link_free));
	for (uint32_t c = 1, channels = channels_of(lead); c < channels; c++) {
		*last = new_channel(scheme, ops, job, c);
		(*last)->lead = lead;
		last = &(*last)->next;
	}
	return lead;
}

void schedule_free(void *self)
{
	struct schedule *schedule = self, *next;

	for (; schedule; schedule = next) {
		next = schedule->next;
		exact_release(&schedule->exact);
		for (uint32_t r = 0; r < schedule->count; r++)
			free(schedule->ranks[r].sums);
		free(schedule->ranks);
		free(schedule->rank_of_gpu);
		free(schedule->runs);
		free(schedule->link_free);
		free(schedule->edges);
		free(schedule->sizes.of);
		free(schedule->data);
		free(schedule);
	}
}

/* --- edges --- */

bool schedule_local(const struct schedule *schedule, const struct schedule_ends *ends)
{
	return schedule->ranks[ends->from].machine == schedule->ranks[ends->to].machine;
}

uint32_t schedule_nic(const struct schedule *schedule, uint32_t rank)
{
	const struct schedule_rank *from = &schedule->ranks[rank];

	return schedule->ops->channels ? schedule->runs[from->run].host : from->host;
}

uint64_t schedule_edge_key(const struct schedule *schedule, uint32_t edge)
{
	return connection_key(CONNECTION_RING, (uint64_t)schedule->job.number << 20 |
						       (schedule->job.first_edge + edge));
}

void schedule_plan_edge(const struct schedule *schedule, uint32_t edge, struct plan_stream *stream,
			uint32_t weight, struct plan_path *longest, struct plan_path *round_trip)
{
	const struct model_env *env = &schedule->scheme->env;
	uint64_t key = schedule_edge_key(schedule, edge);
	struct schedule_ends ends;
	struct plan_path path;
	uint32_t from, to;

	if (!schedule->ops->ends(schedule, edge, &ends))
		return;
	from = schedule_nic(schedule, ends.from);
	to = schedule_nic(schedule, ends.to);
	path = plan_add_connection(stream, env->topo, from, to, key, weight);
	plan_path_longest(longest, &path);
	path = plan_tcp_round_trip(env->tcp, env->topo, from, to, key);
	plan_path_longest(round_trip, &path);
}

struct plan_bound schedule_bound(const struct schedule *schedule)
{
	const struct schedule_scheme *scheme = schedule->scheme;

	return (struct plan_bound){ .framing =
					    connection_framing(scheme->env.tcp, scheme->env.roce,
							       (unsigned)scheme->conf->transport),
				    .step = scheme->conf->step_latency };
}
