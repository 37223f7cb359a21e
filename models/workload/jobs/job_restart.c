/* Restarts collectives of jobs when something that they use has failed.
 *
 * When a switch loses its partial sums, the schemes of all jobs that use the switch stop at once,
 * and the workers wait. Only schemes that recover by themselves go on. A failed link stops nothing,
 * because retransmissions may still get through. When the controller hears of the failure, it stops
 * the schemes that still use a failed link or switch. It starts the stopped schemes again, on
 * another tree and with memory admitted anew. From the first tensor whose sum some worker lacks,
 * all workers hand over all tensors again, in the same order. So each sum still counts each worker
 * once; a worker that has the sum already ignores the new one.
 *
 * If there is no tree, the job falls back to the scheme that its group names ("fallback"). A job
 * without a fallback waits while a repair may still bring a tree, just as it waits for memory. If
 * there will never be a tree, the job fails.
 *
 * If a job's host is cut off for good, a free host takes its place after "restart_delay", and all
 * collectives of the job restart. Workers keep what they have computed: the delay stands for the
 * time to compute it again. */
#include "workload/jobs/jobs_parts.h"

#include "base/mem.h"
#include "base/ring.h"

#include <stdlib.h>
#include <string.h>

struct job_restart {
	struct job_exchange *exchange;
	uint32_t ranks; /* of its group */
	struct tensor_sizes sizes;
	/* Tensors are numbered as in the job's stream. */
	uint64_t first;    /* the tensor that is number 0 in the current instance of the scheme */
	uint64_t whole;    /* all ranks have the sums of the tensors before this one */
	uint64_t end;      /* some rank has handed over all tensors before this one */
	uint32_t *missing; /* ring by tensor, from `whole` on: how many ranks lack its sum */
	uint8_t *held;     /* ring by tensor, `ranks` entries each: whether the rank has its sum */
	uint64_t mask, mask_held; /* of the two rings */
	uint64_t *handed;         /* by rank: how many tensors it has handed over */
	uint64_t *sent;           /* by rank: how many of these the scheme has got */
	bool refilling;           /* in refill() */
	bool waits; /* the controller could not start it: it waits for memory or a repair */
};

struct job_restart *job_restart_new(struct job_exchange *exchange)
{
	struct job_restart *restart = xcalloc(1, sizeof(*restart));

	restart->exchange = exchange;
	restart->ranks = exchange->group->count;
	restart->handed = xcalloc(restart->ranks, sizeof(*restart->handed));
	restart->sent = xcalloc(restart->ranks, sizeof(*restart->sent));
	return restart;
}

void job_restart_free(struct job_restart *restart)
{
	if (!restart)
		return;
	free(restart->sizes.of);
	free(restart->missing);
	free(restart->held);
	free(restart->handed);
	free(restart->sent);
	free(restart);
}

static const char cut_off[] = "no way between its hosts is left";

/* --- what goes to the scheme, and comes back --- */

static uint8_t *held_at(const struct job_restart *restart, uint64_t tensor)
{
	return &restart->held[(tensor & restart->mask_held) * restart->ranks];
}

/* The first rank hands over a new tensor, whose sum no rank has yet. */
static void add_tensor(struct job_restart *restart)
{
	uint64_t tensor = restart->end;

	restart->missing = ring_reserve(restart->missing, &restart->mask, restart->whole, tensor,
					sizeof(*restart->missing));
	restart->held = ring_reserve(restart->held, &restart->mask_held, restart->whole, tensor,
				     restart->ranks);
	restart->end++;
	restart->missing[tensor & restart->mask] = restart->ranks;
	memset(held_at(restart, tensor), 0, restart->ranks);
}

/* Passes the next tensor of a rank on to the scheme. */
static void send(struct job_restart *restart, uint32_t rank)
{
	bytes size = restart->sizes.of[restart->sent[rank]++];
	struct job_exchange *exchange = restart->exchange;

	if (exchange->fusion)
		fusion_contribute(exchange->fusion, rank, size);
	else
		exchange->ops->contribute(exchange->instance, rank, size);
}

void job_restart_reduce(struct job_restart *restart, uint32_t rank, bytes size)
{
	if (restart->handed[rank] == restart->end)
		add_tensor(restart);
	tensor_sizes_add(&restart->sizes, restart->handed[rank]++, size);
	if (restart->exchange->instance && !restart->refilling)
		send(restart, rank);
}

bool job_restart_holds(struct job_restart *restart, uint32_t rank, uint64_t *tensor)
{
	*tensor += restart->first;
	if (*tensor < restart->whole || held_at(restart, *tensor)[rank])
		return false;
	held_at(restart, *tensor)[rank] = 1;
	restart->missing[*tensor & restart->mask]--;
	while (restart->whole < restart->end && !restart->missing[restart->whole & restart->mask])
		restart->whole++;
	return true;
}

/* Passes the tensors that ranks have handed over, from restart->first on, to the new instance. A
 * sum that comes back meanwhile may make a rank hand over another tensor, which is passed on here,
 * too. */
static void refill(struct job_restart *restart)
{
	struct job_exchange *exchange = restart->exchange;
	bool more = true;

	restart->refilling = true;
	while (more) {
		more = false;
		for (uint32_t r = 0; r < restart->ranks; r++)
			while (restart->sent[r] < restart->handed[r]) {
				worker_hint(&exchange->job->worker[exchange->group->ranks[r]],
					    exchange, r, restart->sent[r]);
				send(restart, r);
				more = true;
			}
	}
	restart->refilling = false;
}

/* --- the end of an instance, and the next --- */

/* Whether the switches that the instance uses work and have lost nothing. With `links`, the links
 * between them have to work, too. */
static bool intact(const struct job_restart *restart, bool links)
{
	const struct job_exchange *exchange = restart->exchange;

	return !exchange->instance || !exchange->ops->intact ||
	       exchange->ops->intact(exchange->instance, links);
}

/* Starts the scheme again. If this is impossible now, returns false and *never as start() does. */
static bool resume(struct job_restart *restart, const char **never)
{
	struct job *job = restart->exchange->job;

	if (!job_exchange_start(restart->exchange, never))
		return false;
	restart->waits = false;
	if (job->state == JOB_RUNNING)
		why_begins_anew(job->why);
	restart->first = restart->whole;
	for (uint32_t r = 0; r < restart->ranks; r++)
		restart->sent[r] = restart->first;
	refill(restart);
	return true;
}

/* Moves a collective to links and switches that work. Returns why it can never go on, or NULL. */
static const char *recover(struct job_restart *restart)
{
	struct job_exchange *exchange = restart->exchange;
	const char *never = NULL;

	if (!intact(restart, true))
		job_exchange_stop(exchange);
	if (exchange->instance || resume(restart, &never))
		return NULL;
	if (never && exchange->whole && job_fall_back(exchange->job) && resume(restart, &never))
		return NULL;
	restart->waits = true;
	return exchange->job->jobs->may_change ? NULL : never;
}

/* --- jobs --- */

/* The number of a job's exchanges while it runs, else 0. */
static size_t exchanges_of(const struct job *job)
{
	bool runs = job->worker && job->exchanges && job->iterations_done < job->iterations;

	return runs ? job->program->group_count : 0;
}

void jobs_switch_failed(struct jobs *jobs, uint32_t sw)
{
	for (unsigned s = 0; scheme_ops(s); s++)
		if (jobs->schemes[s].self && jobs->schemes[s].ops->wipe)
			jobs->schemes[s].ops->wipe(jobs->schemes[s].self, sw);
	for (size_t i = 0; i < jobs->report.arrived; i++)
		for (size_t n = 0; n < exchanges_of(&jobs->jobs[i]); n++) {
			struct job_restart *restart = jobs->jobs[i].exchanges[n].restart;

			if (restart && !intact(restart, false))
				job_exchange_stop(restart->exchange);
		}
}

bool job_is_cut_off(const struct job *job)
{
	const struct topology *topo = job->jobs->env.topo;
	const struct machine_conf *machine = job->jobs->env.machine;
	uint32_t count = job->workers + job->servers, nics = machine_nics(machine);
	uint32_t hosts = topo->net.hosts;

	if (!topo->forever)
		return false;
	for (uint32_t i = 0; i < count; i++)
		for (uint32_t j = 0; j < count; j++)
			for (uint32_t r = 0; i != j && r < nics; r++)
				if (!topology_ever_reaches(
					    topo, machine_nic(machine, hosts, job->hosts[i], r),
					    machine_nic(machine, hosts, job->hosts[j], r)))
					return true;
	return false;
}

/* Hosts of a job are cut off: it stops, and goes on elsewhere after restart_delay. */
static void begin_move(struct job *job)
{
	for (size_t n = 0; n < job->program->group_count; n++)
		if (job->exchanges[n].restart && job->exchanges[n].instance)
			job_exchange_stop(&job->exchanges[n]);
	job->moving = true;
	timer_set(job->jobs->env.sim, &job->timer,
		  job->jobs->env.sim->now + job->conf->restart_delay);
}

/* Tells exchanges and --why which hosts the workers have now. */
static void follow_hosts(struct job *job)
{
	for (size_t n = 0; n < job->program->group_count; n++) {
		struct job_exchange *exchange = &job->exchanges[n];

		for (uint32_t m = 0; exchange->hosts && m < exchange->group->count; m++)
			exchange->hosts[m] = job_rank_host(job, exchange->group->ranks[m]);
	}
	for (uint32_t w = 0; w < job->ranks; w++)
		why_moves(job->why, w, job_rank_nic(job, w));
}

const char *job_move(struct job *job)
{
	const char *why = NULL;

	job->moving = false;
	if (!job_replace_hosts(job))
		return "no free host can replace one that is cut off";
	if (job_is_cut_off(job))
		return cut_off;
	follow_hosts(job);
	for (size_t n = 0; !why && n < job->program->group_count; n++)
		if (job->exchanges[n].restart)
			why = recover(job->exchanges[n].restart);
	return why;
}

void jobs_failures_known(struct jobs *jobs, bool may_change)
{
	jobs->may_change = may_change;
	for (size_t i = 0; i < jobs->report.arrived; i++) {
		struct job *job = &jobs->jobs[i];
		size_t count = exchanges_of(job);
		const char *why = count && job->workers > 1 && job_is_cut_off(job) ? cut_off : NULL;

		if (job->moving)
			continue;
		if (why && job->conf->restart_delay_given) {
			begin_move(job);
			continue;
		}
		for (size_t n = 0; !why && n < count; n++)
			if (job->exchanges[n].restart)
				why = recover(job->exchanges[n].restart);
		if (why)
			job_fail(job, why);
	}
	jobs_start_waiting(jobs);
}

void jobs_resume(struct jobs *jobs)
{
	const char *never;

	for (size_t i = 0; i < jobs->report.arrived; i++)
		for (size_t n = 0; n < exchanges_of(&jobs->jobs[i]); n++) {
			struct job_restart *restart = jobs->jobs[i].exchanges[n].restart;

			if (restart && restart->waits && !jobs->jobs[i].moving)
				resume(restart, &never);
		}
}
