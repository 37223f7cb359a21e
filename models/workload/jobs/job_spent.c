/* What the ranks of a job spend their time on: computing, waits for other stages of a pipeline, and
 * exchanges that computing does not hide, by group.
 *
 * A rank computes, or the time belongs to the exchange whose result ends it. So the parts add up to
 * the job's running time. */
#include "workload/jobs/jobs_parts.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

enum { PART_COMPUTE, PART_OTHER, PARTS };
static const char *const part_names[] = { "compute", "other" };

static const struct out_column part_columns[] = {
	{ "job_id", OUT_COUNT, "The job." },
	{ "name", OUT_TEXT, "Name of its group of jobs." },
	{ "part", OUT_TEXT,
	  "compute; bubble: waits for other stages of a pipeline, messages included; the name or "
	  "kind of a group of ranks: its exchanges, where computing does not hide them; other: "
	  "pauses, and waits for ranks that end later." },
	{ "time_s", OUT_SECONDS, "Mean over ranks, of the whole job." },
	{ 0 },
};
const struct out_schema parts_schema = {
	"parts.csv", "What jobs that exchange more than gradients spend their time on, a row each.",
	part_columns
};

bool job_of_pipeline(const struct job *job, const struct program_group *group)
{
	return group->op == OP_MESSAGE && !group->name && job->program->pipelined;
}

const char *job_part_name(const struct job *job, const struct program_group *group)
{
	if (group->op == OP_MESSAGE && !group->name)
		return job_of_pipeline(job, group) ? "bubble" : "message";
	return group->name ? group->name : program_op_names[group->op];
}

static uint32_t part_of(struct job *job, const char *name)
{
	for (uint32_t i = 0; i < job->part_count; i++)
		if (!strcmp(job->parts[i].name, name))
			return i;
	job->parts = xrealloc(job->parts, job->part_count + 1, sizeof(*job->parts));
	job->parts[job->part_count] = (struct job_part){ .name = xstrdup(name) };
	return job->part_count++;
}

void job_spent_open(struct job *job)
{
	if (!job->conf->exchanges)
		return;
	for (unsigned i = 0; i < PARTS; i++)
		part_of(job, part_names[i]);
	for (size_t g = 0; g < job->program->group_count; g++)
		job->exchanges[g].part = part_of(job, job_part_name(job, &job->program->groups[g]));
}

void job_spent_free(struct job *job)
{
	for (uint32_t i = 0; i < job->part_count; i++)
		free(job->parts[i].name);
	free(job->parts);
}

/* The rank's time since it was last asked belongs to a part. */
static void spend(struct job_worker *worker, uint32_t part)
{
	sim_time now = worker->job->jobs->env.sim->now;

	worker->job->parts[part].time += now - worker->spent;
	worker->spent = now;
}

void worker_spends(struct job_worker *worker, const struct job_exchange *exchange)
{
	if (worker->job->parts && !worker->computing)
		spend(worker, exchange->part);
}

void worker_spends_computing(struct job_worker *worker, bool ends)
{
	if (worker->job->parts)
		spend(worker, ends ? PART_COMPUTE : PART_OTHER);
}

void job_spent_end(struct job *job)
{
	for (uint32_t w = 0; job->parts && w < job->ranks; w++)
		spend(&job->worker[w], job->worker[w].computing ? PART_COMPUTE : PART_OTHER);
	for (uint32_t i = 0; i < job->part_count; i++) {
		struct out_cell cells[] = {
			{ .count = job->number },
			{ .text = job->conf->name },
			{ .text = job->parts[i].name },
			{ .time = job->parts[i].time / job->ranks },
		};

		if (job->jobs->tables.parts)
			out_table_row(job->jobs->tables.parts, cells);
	}
}

char *jobs_spent(const struct jobs *jobs, const struct job_group_conf *conf)
{
	char *text = NULL;

	for (size_t i = 0; i < jobs->report.count && !text; i++) {
		const struct job *job = &jobs->jobs[i];
		double all = 0;

		if (job->conf != conf || job->state != JOB_OVER)
			continue;
		for (uint32_t p = 0; p < job->part_count; p++)
			all += (double)job->parts[p].time;
		for (uint32_t p = 0; p < job->part_count; p++) {
			char *longer;

			if ((double)job->parts[p].time < all / 1000)
				continue;
			longer = xasprintf("%s%s%s %.1f %%", text ? text : "", text ? ", " : "",
					   job->parts[p].name,
					   100 * (double)job->parts[p].time / all);
			free(text);
			text = longer;
		}
	}
	return text;
}
