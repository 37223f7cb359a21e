/* The least time that a job can take: no run beats it, as no flow beats its ideal.
 *
 * An iteration computes, and then exchanges at least what the bound of its scheme's plan says
 * (collective/plan.h), between hosts that are neighbours. With slow workers it takes that of the
 * others or the computing of the slow ones, whichever is longer: what the others have exchanged
 * while they waited need not be exchanged again. */
#include "workload/jobs/jobs_parts.h"

#include <inttypes.h>

/* How long a worker computes in an iteration, without jitter. */
static sim_time compute_time(const struct job *job, double slowdown)
{
	double factor = job->conf->compute_scale * slowdown;
	sim_time sum = 0;

	for (size_t l = 0; l < job->dnn->layer_count; l++)
		sum += (sim_time)((double)job->dnn->layers[l].forward * factor) +
		       (sim_time)((double)job->dnn->layers[l].backward * factor);
	return sum;
}

/* The exchange of an iteration; 0 if no bound is known. */
static sim_time exchange_time(struct job *job)
{
	const struct collective_ops *ops = job_scheme(job);
	struct collective_job spec = job_spec(job);
	struct stream_plan plan = { 0 };
	const char *never;
	sim_time time;
	void *admitted = ops->plan(job_reduces(job)->self, &spec, &plan, &never);

	if (!admitted)
		return 0;
	time = plan_bound_time(&plan.bound, &job->jobs->env.topo->net, &spec,
			       job->dnn->tensors[0].size);
	plan_release(&plan);
	ops->withdraw(admitted);
	return time;
}

sim_time job_ideal(struct job *job)
{
	const struct job_group_conf *conf = job->conf;
	const struct collective_ops *ops = job_scheme(job);
	int64_t slow = conf->stragglers.workers;
	sim_time latest = compute_time(job, slow > 0 ? conf->stragglers.slowdown : 1);
	sim_time first = compute_time(job, slow >= job->workers ? conf->stragglers.slowdown : 1);
	sim_time exchange = 0, once;

	if (job->jobs->env.fluid || conf->program) /* streams and programs have no ideals */
		return 0;
	if (!job_is_alone(job)) {
		if (!ops->plan || conf->exchanges || job->gpus > 1 || job->dnn->tensor_count > 1 ||
		    conf->overlap != OVERLAP_NONE)
			return 0;
		/* Failures change paths and schemes. Plans take all switches to add. */
		if (job->jobs->env.topo->detours ||
		    (ops->memory && !topology_all_aggregate(job->jobs->env.topo->conf)))
			return 0;
		exchange = exchange_time(job);
		if (!exchange)
			return 0;
	}
	once = first + exchange > latest ? first + exchange : latest;
	return job->jobs->latency + (sim_time)job->iterations * once;
}

void job_check_ideal(const struct job *job)
{
	const struct model_env *env = &job->jobs->env;
	sim_time jct = job->finish - job->arrival;

	if (jct >= job->ideal)
		return;
	checks_violated(env->checks, &env->checks->conservation_violations,
			"job %" PRIu32 " took %.12f s, less than its ideal %.12f s", job->number,
			seconds_of(jct), seconds_of(job->ideal));
	sim_stop(env->sim);
}
