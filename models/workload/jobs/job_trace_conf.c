/* The trace of a group of jobs: checks its rows; makes a group for each model and scheme in it. */
#include "workload/jobs/jobs_parts.h"

#include "base/mem.h"
#include "workload/data_file.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define LATEST_ARRIVAL_PS (200.0 * 24 * 3600 * PS_PER_S) /* later than any run; fits sim_time */

uint64_t job_trace_workers(const struct job_group_conf *conf, const struct trace_job *job)
{
	uint64_t per = (uint64_t)conf->arrival.gpus_per_worker;

	return (job->gpus + per - 1) / per;
}

/* Why a job of a trace cannot run; NULL when it can. Caller frees. */
static char *job_mistake(const struct job_group_conf *conf, uint32_t hosts, uint32_t pool,
			 const struct trace_job *job)
{
	const char *path = conf->arrival.jobs->path;
	uint64_t workers = job_trace_workers(conf, job);
	uint32_t servers = workers > hosts ? 0 : job_group_servers(conf, (uint32_t)workers);
	uint32_t own = workers > hosts ? 0 : job_group_own_servers(conf, (uint32_t)workers);

	if (conf->servers.placement == SERVERS_SHARED && servers > pool)
		return xasprintf("%s: job %s has %" PRIu64 " workers and so %" PRIu32
				 " servers on shared hosts, but only %" PRIu32
				 " hosts are kept for servers; see \"count\" of its servers",
				 path, job->id, workers, servers, pool);
	if (own && workers + own > hosts)
		return xasprintf("%s: job %s needs %" PRIu64 " workers and %" PRIu32
				 " servers on hosts of their own, but the network has %" PRIu32
				 " hosts for them; see gpus_per_worker",
				 path, job->id, workers, own, hosts);
	if (workers > 1 && conf->servers.placement == SERVERS_WORKERS &&
	    conf->servers.number > (int64_t)workers)
		return xasprintf("%s: job %s has %" PRIu64 " workers, fewer than the %" PRId64
				 " servers that should be beside them",
				 path, job->id, workers, conf->servers.number);
	if (workers > hosts)
		return xasprintf("%s: job %s needs %" PRIu64
				 " workers, but the network has %" PRIu32
				 " hosts; see gpus_per_worker",
				 path, job->id, workers, hosts);
	if (conf->experts && workers > EXCHANGE_WORKERS_MAX)
		return xasprintf("%s: job %s has %" PRIu64
				 " workers, but experts are spread over at most %d; see "
				 "gpus_per_worker",
				 path, job->id, workers, EXCHANGE_WORKERS_MAX);
	if ((double)job->submit / conf->arrival.speedup > LATEST_ARRIVAL_PS)
		return xasprintf("%s: job %s"
				 " arrives after more than 200 days; see speedup",
				 path, job->id);
	return NULL;
}

static bool names_alike(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

/* Drops the jobs of a trace that are not of the group's part. */
static void keep_part(const struct job_arrival_conf *arrival, struct job_trace *trace)
{
	size_t kept = 0;

	for (size_t i = 0; i < trace->count; i++) {
		struct trace_job job = trace->jobs[i];

		if (job.scheme != arrival->part_scheme ||
		    !names_alike(job.model, arrival->part_model))
			continue;
		trace->jobs[i] = trace->jobs[kept]; /* swap: job_trace_cut() frees the rest */
		trace->jobs[kept++] = job;
	}
	job_trace_cut(trace, kept);
}

static void free_trace(void *trace)
{
	job_trace_release(trace);
	free(trace);
}

/* Loads a trace up to the group's limit, and of that only the group's part. */
static void load_trace(struct job_arrival_conf *arrival, struct conf_doc *doc)
{
	struct job_trace *trace = xcalloc(1, sizeof(*trace));
	char *error = NULL,
	     *path = data_file_find(DATA_JOBS, arrival->trace, conf_path(doc), &error);

	conf_keep(doc, trace, free_trace);
	if (path && job_trace_load(trace, path, &error))
		arrival->jobs = trace;
	else
		arrival->mistake = conf_at(doc, "%s", error);
	if (arrival->jobs && arrival->limit)
		job_trace_cut(trace, (size_t)arrival->limit);
	if (arrival->jobs && arrival->part)
		keep_part(arrival, trace);
	free(path);
	free(error);
}

/* --- a group for each model and scheme that a trace names --- */

static struct job_group_conf *group_at(const struct conf_list *groups, size_t i)
{
	return &((struct job_group_conf *)groups->items)[i];
}

static void append_group(struct conf_list *groups, size_t *capacity,
			 const struct job_group_conf *group, struct conf_doc *doc)
{
	if (groups->count == *capacity) { /* memory of the document cannot grow: copy */
		struct job_group_conf *more = conf_own(doc, 2 * *capacity, sizeof(*more));

		memcpy(more, groups->items, groups->count * sizeof(*more));
		groups->items = more;
		*capacity *= 2;
	}
	*group_at(groups, groups->count++) = *group;
}

/* A group like this one, for the jobs that name the same model and scheme as `job`. */
static struct job_group_conf part_of(const struct job_group_conf *group,
				     const struct trace_job *job, struct conf_doc *doc)
{
	struct job_group_conf part = *group;

	part.arrival.part = true;
	part.arrival.part_scheme = job->scheme;
	part.arrival.part_model = NULL;
	if (job->scheme >= 0)
		part.all_reduce = job->scheme;
	if (job->model) {
		part.arrival.part_model = part.model.name = conf_at(doc, "%s", job->model);
		part.model.form = MODEL_NAMED;
		model_conf_find(&part.model, doc);
	}
	return part;
}

/* Whether group `origin` has a part for this job already. */
static bool has_part(const struct conf_list *groups, size_t origin, const struct trace_job *job)
{
	const struct job_group_conf *all = groups->items;

	for (size_t i = 0; i < groups->count; i++)
		if (all[i].origin == origin && all[i].arrival.part &&
		    all[i].arrival.part_scheme == job->scheme &&
		    names_alike(all[i].arrival.part_model, job->model))
			return true;
	return false;
}

/* Splits a group into parts. The first part takes the place of the group. */
static void part_group(struct conf_list *groups, size_t *capacity, size_t origin,
		       const struct job_trace *trace, struct conf_doc *doc)
{
	struct job_group_conf group = *group_at(groups, origin);

	for (size_t i = 0; i < trace->count; i++) {
		const struct trace_job *job = &trace->jobs[i];
		struct job_group_conf part;

		if (has_part(groups, origin, job))
			continue;
		part = part_of(&group, job, doc);
		if (group_at(groups, origin)->arrival.part)
			append_group(groups, capacity, &part, doc);
		else
			*group_at(groups, origin) = part;
	}
}

static bool names_something(const struct job_trace *trace)
{
	for (size_t i = 0; i < trace->count; i++)
		if (trace->jobs[i].model || trace->jobs[i].scheme >= 0)
			return true;
	return false;
}

static bool model_computes(const struct job_group_conf *group)
{
	double compute_s = 0;

	for (size_t i = 0; i < group->models->count; i++) {
		if (!group->models->dnns[i])
			return false;
		compute_s += seconds_of(group->models->dnns[i]->compute_total);
	}
	return compute_s * group->compute_scale > 0;
}

void job_groups_part(struct conf_list *groups, const struct machine_conf *machine,
		     struct conf_doc *doc)
{
	size_t count = groups->count, capacity = count;

	for (size_t i = 0; i < count; i++) {
		struct job_group_conf *group = group_at(groups, i);

		group->origin = i;
		model_conf_find(&group->model, doc);
		if (group->tokens.form == TOKENS_MATRIX) {
			char *path = data_file_beside(group->tokens.matrix, conf_path(doc));

			group->tokens.matrix = conf_at(doc, "%s", path);
			free(path);
		}
		if (group->arrival.form == JOBS_TRACE)
			load_trace(&group->arrival, doc);
	}
	for (size_t i = 0; i < count; i++) {
		const struct job_trace *trace = group_at(groups, i)->arrival.jobs;

		if (trace && names_something(trace))
			part_group(groups, &capacity, i, trace, doc);
	}
	for (size_t i = 0; i < groups->count; i++) {
		struct job_group_conf *group = group_at(groups, i);

		if (group->arrival.part) /* load again, with only the jobs of the part */
			load_trace(&group->arrival, doc);
		group->models = job_models_load(group, doc);
		if (group->arrival.jobs && group->arrival.jobs->durations &&
		    !group->iterations_given && model_computes(group))
			group->iterations_form = ITERATIONS_RULE; /* durations decide */
		job_group_find_exchanges(group, machine);
		if (group->program && !group->workers.given)
			group->workers = (struct workers_conf){ .form = WORKERS_NUMBER,
								.number = job_program_machines(
									group->program, machine),
								.given = true };
	}
}

bool job_groups_alike(const struct job_group_conf *a, const struct job_group_conf *b)
{
	return a->origin == b->origin && a->all_reduce == b->all_reduce;
}

char *job_group_trace_mistake(const struct job_group_conf *conf, uint32_t hosts, uint32_t pool)
{
	const struct job_trace *trace = conf->arrival.jobs;
	char *mistake = trace ? NULL : xstrdup(conf->arrival.mistake);

	for (size_t i = 0; trace && !mistake && i < trace->count; i++)
		mistake = job_mistake(conf, hosts, pool, &trace->jobs[i]);
	return mistake;
}
