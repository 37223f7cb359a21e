/* Jobs whose scheme stands on something that has failed: their tensors begin anew.
 *
 * When a switch loses what it has added up, the scheme of each job that stands on it ends at once
 * (but for schemes that recover by themselves), and its workers wait. A link that fails ends
 * nothing: what is sent again may still come through. When the controller hears of it, and the
 * scheme still stands on something that fails, it starts the scheme again, on another tree, with
 * memory admitted anew. All tensors that are not whole everywhere are handed over again by all
 * workers, in the same order, so sums stay exactly once; a worker that has one already takes no
 * notice of it.
 *
 * Where there is no way while something may still be repaired, or no memory, the job waits. Where
 * there will never be one, it fails. */
#include "workload/jobs/jobs_parts.h"

#include "base/mem.h"
#include "base/ring.h"

#include <stdlib.h>
#include <string.h>

struct job_restart {
	uint64_t first; /* tensor of the job's stream that is number 0 of its scheme's */
	uint64_t whole; /* tensors before it are whole everywhere */
	uint64_t end;   /* some worker has handed over all before it */
	/* By tensor, from `whole` on. */
	uint32_t *missing; /* ring: workers that lack its sum */
	uint8_t *held;     /* ring, and in it by worker */
	uint64_t *handed;  /* by worker: tensors that it has handed over to the job, ... */
	uint64_t *sent;    /* ... and the job to its scheme */
	uint64_t mask, mask_held;
	bool refilling;
	bool waits; /* the controller has acted; it waits for memory or a repair */
};

void job_restart_open(struct job *job)
{
	struct job_restart *restart = xcalloc(1, sizeof(*restart));

	restart->handed = xcalloc(job->workers, sizeof(*restart->handed));
	restart->sent = xcalloc(job->workers, sizeof(*restart->sent));
	job->restart = restart;
}

void job_restart_close(struct job *job)
{
	struct job_restart *restart = job->restart;

	if (!restart)
		return;
	free(restart->missing);
	free(restart->held);
	free(restart->handed);
	free(restart->sent);
	free(restart);
	job->restart = NULL;
}

static uint8_t *held_at(const struct job *job, uint64_t tensor)
{
	const struct job_restart *restart = job->restart;

	return &restart->held[(tensor & restart->mask_held) * job->workers];
}

static void add_tensor(struct job *job)
{
	struct job_restart *restart = job->restart;
	uint64_t tensor = restart->end;

	restart->missing = ring_reserve(restart->missing, &restart->mask, restart->whole, tensor,
					sizeof(*restart->missing));
	restart->held = ring_reserve(restart->held, &restart->mask_held, restart->whole, tensor,
				     job->workers);
	restart->end++;
	restart->missing[tensor & restart->mask] = job->workers;
	memset(held_at(job, tensor), 0, job->workers);
}

static void send(struct job *job, uint32_t w, bytes size)
{
	job->restart->sent[w]++;
	if (job->fusion)
		fusion_contribute(job->fusion, w, size);
	else
		job_scheme(job)->contribute(job->instance, w, size);
}

void job_restart_reduce(struct job_worker *worker, bytes size)
{
	struct job *job = worker->job;
	struct job_restart *restart = job->restart;

	if (restart->handed[worker->number]++ == restart->end)
		add_tensor(job);
	if (job->instance && !restart->refilling)
		send(job, worker->number, size);
}

bool job_restart_holds(struct job *job, uint32_t w, uint64_t *tensor)
{
	struct job_restart *restart = job->restart;

	*tensor += restart->first;
	if (*tensor < restart->whole || held_at(job, *tensor)[w])
		return false;
	held_at(job, *tensor)[w] = 1;
	restart->missing[*tensor & restart->mask]--;
	while (restart->whole < restart->end && !restart->missing[restart->whole & restart->mask])
		restart->whole++;
	return true;
}

/* What the workers have handed over goes to the new instance. A sum that comes back meanwhile may
 * make a worker hand over more, which comes behind. */
static void refill(struct job *job)
{
	struct job_restart *restart = job->restart;
	bool more = true;

	restart->refilling = true;
	while (more) {
		more = false;
		for (uint32_t w = 0; w < job->workers; w++)
			while (restart->sent[w] < restart->handed[w]) {
				size_t place = (size_t)(restart->sent[w] % job->dnn->tensor_count);

				worker_hint(&job->worker[w], place);
				send(job, w, job->dnn->tensors[place].size);
				more = true;
			}
	}
	restart->refilling = false;
}

/* The scheme ends before its time; the workers wait. */
static void suspend(struct job *job)
{
	job_add_stats(job);
	job_stop_scheme(job, true);
}

static bool exchanges_intact(const struct job *job, bool links)
{
	for (size_t i = 0; i < job->exchange_count; i++) {
		const struct job_exchange *exchange = &job->exchanges[i];

		if (exchange->ops->intact && !exchange->ops->intact(exchange->instance, links))
			return false;
	}
	return true;
}

static bool intact(const struct job *job, bool links)
{
	return !job->instance || !job_scheme(job)->intact ||
	       job_scheme(job)->intact(job->instance, links);
}

static bool runs(const struct job *job)
{
	return job->worker && job->workers > 1 && job->iterations_done < job->iterations;
}

void jobs_switch_failed(struct jobs *jobs, uint32_t sw)
{
	for (unsigned s = 0; scheme_ops(s); s++)
		if (jobs->schemes[s].self && jobs->schemes[s].ops->wipe)
			jobs->schemes[s].ops->wipe(jobs->schemes[s].self, sw);
	for (size_t i = 0; i < jobs->report.arrived; i++)
		if (runs(&jobs->jobs[i]) && !intact(&jobs->jobs[i], false))
			suspend(&jobs->jobs[i]);
}

bool job_is_cut_off(const struct job *job)
{
	const struct topology *topo = job->jobs->env.topo;
	const struct machine_conf *machine = job->jobs->env.machine;
	uint32_t count = job->workers + job->servers, nics = machine_nics(machine);

	if (!topo->forever)
		return false;
	for (uint32_t i = 0; i < count; i++)
		for (uint32_t j = 0; j < count; j++)
			for (uint32_t r = 0; i != j && r < nics; r++)
				if (!topology_ever_reaches(
					    topo,
					    machine_nic(machine, topo->net.hosts, job->hosts[i], r),
					    machine_nic(machine, topo->net.hosts, job->hosts[j],
							r)))
					return true;
	return false;
}

/* Starts the scheme again; false where that is not possible now, *never as start() says. */
static bool resume(struct job *job, const char **never)
{
	struct job_restart *restart = job->restart;

	if (!job_start_scheme(job, never))
		return false;
	restart->waits = false;
	restart->first = restart->whole;
	for (uint32_t w = 0; w < job->workers; w++)
		restart->sent[w] = restart->first;
	job->restarts++;
	refill(job);
	return true;
}

/* Returns why the job can never go on, or NULL. */
static const char *recover(struct job *job)
{
	bool last = !job->jobs->may_change;
	const char *never = NULL;

	if (!exchanges_intact(job, true) && (last || !exchanges_intact(job, false)))
		return "a tree of its exchanges, which is not built anew, has failed";
	if (job_is_cut_off(job))
		return "no way between its hosts is left";
	if (!job_has_scheme(job))
		return NULL;
	if (!intact(job, true))
		suspend(job);
	if (job->instance || resume(job, &never))
		return NULL;
	job->restart->waits = true;
	return last ? never : NULL;
}

void jobs_failures_known(struct jobs *jobs, bool may_change)
{
	jobs->may_change = may_change;
	for (size_t i = 0; i < jobs->report.arrived; i++) {
		struct job *job = &jobs->jobs[i];
		const char *why = runs(job) ? recover(job) : NULL;

		if (why)
			job_fail(job, why);
	}
	jobs_start_waiting(jobs);
}

void jobs_resume(struct jobs *jobs)
{
	const char *never;

	for (size_t i = 0; i < jobs->report.arrived; i++)
		if (jobs->jobs[i].restart && jobs->jobs[i].restart->waits && runs(&jobs->jobs[i]))
			resume(&jobs->jobs[i], &never);
}
