#include "crosscheck/closed_form.h"

#include "base/mem.h"
#include "fluid/collective.h"
#include "simulation_parts.h"
#include "workload/job_models.h"

#include <math.h>
#include <stdlib.h>

/* Bytes of the one tensor of an iteration; 0 when there are several. */
static bytes only_tensor(const struct job_group_conf *group)
{
	struct job_models models;
	char *error = NULL;
	bytes size = 0;

	if (!job_models_load(&models, group, &error)) {
		free(error);
		return 0;
	}
	if (models.count == 1 && models.dnns[0]->tensor_count == 1)
		size = models.dnns[0]->tensors[0].size;
	job_models_release(&models);
	return size;
}

static double idle_time(struct simulation *s, unsigned scheme, const struct outcome_job *job,
			bytes size)
{
	const struct collective_ops *ops = scheme_ops(scheme);
	const struct collective_job spec = {
		.number = (uint32_t)job->number,
		.workers = job->workers,
		.hosts = job->hosts,
		.servers = job->server_count,
		.server_hosts = job->servers,
		.gradients = size,
		.tensors = job->iterations,
	};
	const struct network *net = &s->topo.net;
	struct stream_plan plan = { 0 };
	const char *never = NULL;
	double *capacity, time;
	void *admitted = ops->plan ? ops->plan(s->schemes[scheme], &spec, &plan, &never) : NULL;

	if (!admitted)
		return NAN;
	capacity = xcalloc(net->port_count, sizeof(*capacity));
	for (uint32_t i = 0; i < net->port_count; i++)
		capacity[i] = (double)port_class(net, &net->ports[i])->rate / 8;
	time = plan_idle_time(&plan, capacity, size);
	free(capacity);
	plan_release(&plan);
	ops->withdraw(admitted);
	return time;
}

double closed_form_exchange(const struct scenario *scenario, const char *path,
			    const struct outcome_job *job)
{
	const struct job_group_conf *group = scenario_jobs(scenario);
	struct simulation *s;
	char *error = NULL;
	bytes size;
	double time = NAN;

	while (!group->enabled)
		group++;
	size = only_tensor(group);
	if (!size || job->workers < 2 || !(s = simulation_build(scenario, path, NULL, &error))) {
		free(error);
		return NAN;
	}
	time = (double)job->iterations * idle_time(s, (unsigned)group->all_reduce, job, size);
	simulation_free(s);
	return time;
}
