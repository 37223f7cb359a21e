#include "crosscheck/promise.h"

#include "workload/job_models.h"

#include <math.h>
#include <stdlib.h>

const struct promise promises[CROSSCHECK_KINDS] = {
	[CROSSCHECK_ALONE] = { "one job alone, tensors of 10 MB and more", 0.02, 0.02, INFINITY,
			       "start-up takes a few round trips of many" },
	[CROSSCHECK_ALONE_SMALL] = { "one job alone, smaller tensors", INFINITY, INFINITY, INFINITY,
				     "windows that grow from small ones take round trips that "
				     "fluid does not know" },
	[CROSSCHECK_ALIKE] = { "jobs under one scheme", INFINITY, INFINITY, INFINITY,
			       "equals share nearly evenly, but windows and queues are not "
			       "max-min" },
	[CROSSCHECK_MIXED] = { "jobs under several schemes", INFINITY, INFINITY, INFINITY,
			       "who heeds congestion gives way to who does not" },
	[CROSSCHECK_FLOWS] = { "jobs and long flows", INFINITY, INFINITY, INFINITY,
			       "who heeds congestion gives way to who does not" },
	[CROSSCHECK_OPEN] = { "others", INFINITY, INFINITY, INFINITY,
			      "chance, losses, short flows or arrivals: fluid has no packets to "
			      "lose and takes short flows as load" },
};

/* --- which kind --- */

static bool has_chance(const struct scenario *scenario)
{
	const struct topology_conf *topology = &scenario->topology;

	return topology->link.loss > 0 || (topology->uplink_given && topology->uplink.loss > 0) ||
	       topology->host.jitter > 0;
}

/* Comes at a fixed time, with a fixed number of workers, and computes as it is told. */
static bool is_fixed(const struct job_group_conf *group)
{
	return group->arrival.form == JOBS_AT && !group->arrival.spread &&
	       group->workers.form != WORKERS_RANGE && group->model.form != MODEL_MIX &&
	       group->compute_jitter <= 0 && !group->start_jitter && !group->send_jitter &&
	       !group->stragglers.workers;
}

static bool is_long(const struct flow_group_conf *group)
{
	return group->arrival.form == ARRIVE_AT && group->size.form == SIZE_FIXED &&
	       group->size.fixed >= 1000000;
}

/* The smallest that a worker hands over. */
static double least_tensor(const struct job_group_conf *group)
{
	struct job_models models;
	char *error = NULL;
	double least = INFINITY;

	if (!job_models_load(&models, group, &error)) {
		free(error);
		return 0;
	}
	for (size_t i = 0; i < models.count; i++)
		for (size_t t = 0; t < models.dnns[i]->tensor_count; t++)
			least = fmin(least, (double)models.dnns[i]->tensors[t].size);
	job_models_release(&models);
	return least;
}

enum crosscheck_kind crosscheck_kind(const struct scenario *scenario)
{
	int64_t jobs = 0;
	int scheme = -1;
	bool alike = true, open = has_chance(scenario);
	double least = INFINITY;

	for (size_t i = 0; i < scenario->jobs.count; i++) {
		const struct job_group_conf *group = &scenario_jobs(scenario)[i];

		if (!group->enabled)
			continue;
		open |= !is_fixed(group);
		jobs += group->count ? group->count : 1;
		alike &= scheme < 0 || scheme == group->all_reduce;
		scheme = group->all_reduce;
		if (!open)
			least = fmin(least, least_tensor(group));
	}
	for (size_t i = 0; i < scenario->flows.count; i++)
		open |= scenario_flows(scenario)[i].enabled &&
			!is_long(&scenario_flows(scenario)[i]);
	if (open)
		return CROSSCHECK_OPEN;
	if (scenario_has_flows(scenario))
		return CROSSCHECK_FLOWS;
	if (jobs > 1)
		return alike ? CROSSCHECK_ALIKE : CROSSCHECK_MIXED;
	return least >= ALONE_LARGE ? CROSSCHECK_ALONE : CROSSCHECK_ALONE_SMALL;
}

bool promise_holds(double difference, double bound)
{
	return fabs(difference) <= bound;
}
