/* How long a job would take alone on an idle network, by the closed form of its scheme's plan. */
#include "workload/jobs/jobs_parts.h"

#include <math.h>
#include <stdlib.h>

/* How long the slowest worker computes in an iteration, without jitter. */
static sim_time compute_time(const struct job *job)
{
	const struct job_group_conf *conf = job->conf;
	double factor = conf->compute_scale *
			(conf->stragglers.workers > 0 ? conf->stragglers.slowdown : 1);
	sim_time sum = 0;

	for (size_t l = 0; l < job->dnn->layer_count; l++)
		sum += (sim_time)((double)job->dnn->layers[l].forward * factor) +
		       (sim_time)((double)job->dnn->layers[l].backward * factor);
	return sum;
}

/* How long the exchanges of all iterations take. Windows grow from one exchange to the next. */
static sim_time exchange_time(const struct job *job, const struct stream_plan *plan)
{
	const struct network *net = &job->jobs->env.topo->net;
	bytes size = job->dnn->tensors[0].size;
	double *rates = plan_idle_rates(plan, net), longest = 0; /* seconds of the slowest stream */
	struct plan_ramp ramp = plan->ramp;
	sim_time once, sum = 0;

	for (size_t i = 0; i < plan->count; i++)
		longest =
			fmax(longest, plan_wire_bytes(&plan->streams[i].packets, size) / rates[i]);
	free(rates);
	once = (sim_time)(longest * (double)PS_PER_S) + plan_latency(plan, size);
	for (int64_t i = 0; i < job->iterations; i++) {
		plan_ramp_rest(&ramp);
		sum += plan_ramp_tensor(plan, &ramp, size) + once;
	}
	return sum;
}

sim_time job_ideal(struct job *job)
{
	const struct collective_ops *ops = job_scheme(job);
	sim_time time = job->jobs->latency + (sim_time)job->iterations * compute_time(job);
	struct collective_job spec = job_spec(job);
	struct stream_plan plan = { 0 };
	const char *never;
	void *admitted;

	if (job->workers == 1)
		return job->jobs->env.fluid ? 0 : time; /* streams have no ideals */
	if (job->fell_back) /* part of the job ran under another scheme */
		return 0;
	/* the plan has the sums of trees whose switches all add up */
	if (ops->memory && !topology_all_aggregate(job->jobs->env.topo->conf))
		return 0;
	if (!ops->plan || job->conf->exchanges || machine_gpus(job->jobs->env.machine) > 1 ||
	    job->dnn->tensor_count > 1 || job->conf->overlap != OVERLAP_NONE)
		return 0;
	admitted = ops->plan(job->jobs->schemes[job->conf->all_reduce].self, &spec, &plan, &never);
	if (!admitted)
		return 0;
	time += exchange_time(job, &plan);
	plan_release(&plan);
	ops->withdraw(admitted);
	return time;
}
