#include "crosscheck/outcome.h"

#include "base/mem.h"
#include "out/csv_read.h"
#include "out/folder.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- reading --- */

static void read_job(struct csv *csv, struct outcome *outcome)
{
	struct outcome_job job = {
		.number = csv_u64(csv, csv_need(csv, "job_id")),
		.workers = csv_u64(csv, csv_need(csv, "workers")),
		.finished = csv_flag(csv, csv_need(csv, "finished")),
	};

	if (job.finished) {
		job.exchange_s = csv_real(csv, csv_need(csv, "exchange_s"));
		job.finish_s = csv_real(csv, csv_need(csv, "finish_s"));
	}
	job.name = xstrdup(csv_text(csv, csv_need(csv, "name")));
	outcome->jobs = array_reserve(outcome->jobs, outcome->job_count, &outcome->job_capacity,
				      sizeof(job));
	outcome->jobs[outcome->job_count++] = job;
}

/* Rows come in the order of completion; numbers have gaps where groups are not enabled. */
static void read_flow(struct csv *csv, struct outcome *outcome)
{
	uint64_t number = csv_u64(csv, csv_need(csv, "flow_id"));
	int fct = csv_need(csv, "fct_s");

	for (; outcome->flow_count <= number; outcome->flow_count++) {
		outcome->flows = array_reserve(outcome->flows, outcome->flow_count,
					       &outcome->flow_capacity, sizeof(*outcome->flows));
		outcome->flows[outcome->flow_count] = (struct outcome_flow){ NULL, NAN };
	}
	free(outcome->flows[number].group);
	outcome->flows[number].group = xstrdup(csv_text(csv, csv_need(csv, "group")));
	if (!csv_empty(csv, fct))
		outcome->flows[number].fct_s = csv_real(csv, fct);
}

/* A run without jobs, or flows, has no table of them. */
static bool read_table(const char *dir, const char *file, struct outcome *outcome,
		       void (*read_row)(struct csv *csv, struct outcome *outcome), char **error)
{
	char *path;
	struct csv *csv;

	if (!folder_has(dir, file))
		return true;
	path = folder_join(dir, file);
	csv = csv_open(path, error);
	free(path);
	if (!csv)
		return false;
	while (csv_next(csv))
		read_row(csv, outcome);
	return csv_close(csv, error);
}

static int by_number(const void *a, const void *b)
{
	const struct outcome_job *x = a, *y = b;

	return (x->number > y->number) - (x->number < y->number);
}

bool outcome_read(const char *dir, struct outcome *outcome, char **error)
{
	*outcome = (struct outcome){ 0 };
	if (!read_table(dir, "jobs.csv", outcome, read_job, error) ||
	    !read_table(dir, "flows.csv", outcome, read_flow, error))
		return false;
	if (outcome->job_count)
		qsort(outcome->jobs, outcome->job_count, sizeof(outcome->jobs[0]), by_number);
	return true;
}

void outcome_release(struct outcome *outcome)
{
	for (size_t i = 0; i < outcome->job_count; i++)
		free(outcome->jobs[i].name);
	for (size_t i = 0; i < outcome->flow_count; i++)
		free(outcome->flows[i].group);
	free(outcome->jobs);
	free(outcome->flows);
}

/* --- side by side --- */

struct items {
	struct outcome_item *list;
	size_t count, capacity;
};

static void add(struct items *items, enum outcome_what what, char *name, double packet_s,
		double fluid_s)
{
	items->list =
		array_reserve(items->list, items->count, &items->capacity, sizeof(items->list[0]));
	items->list[items->count++] =
		(struct outcome_item){ what, name, packet_s, fluid_s, packet_s / fluid_s - 1 };
}

/* Jobs of one worker exchange nothing. */
static void add_jobs(struct items *items, const struct outcome *packet, const struct outcome *fluid)
{
	for (size_t i = 0; i < packet->job_count && i < fluid->job_count; i++) {
		const struct outcome_job *a = &packet->jobs[i], *b = &fluid->jobs[i];

		if (a->workers > 1)
			add(items, OUTCOME_JOB,
			    xasprintf("job %" PRIu64 " (%s)", a->number, a->name),
			    a->finished ? a->exchange_s : NAN, b->finished ? b->exchange_s : NAN);
	}
}

/* Over the flows of a group that finished in both runs. */
static void add_group(struct items *items, const struct outcome *packet,
		      const struct outcome *fluid, size_t first)
{
	const char *group = packet->flows[first].group;
	double packet_s = 0, fluid_s = 0;
	size_t count = 0;

	for (size_t i = first; i < packet->flow_count && i < fluid->flow_count; i++) {
		if (!packet->flows[i].group || strcmp(packet->flows[i].group, group) ||
		    isnan(packet->flows[i].fct_s) || isnan(fluid->flows[i].fct_s))
			continue;
		packet_s += packet->flows[i].fct_s;
		fluid_s += fluid->flows[i].fct_s;
		count++;
	}
	if (count)
		add(items, OUTCOME_FLOWS, xasprintf("flows %s (%zu)", group, count),
		    packet_s / (double)count, fluid_s / (double)count);
}

static bool is_first_of_group(const struct outcome *outcome, size_t flow)
{
	const char *group = outcome->flows[flow].group;

	for (size_t i = 0; group && i < flow; i++)
		if (outcome->flows[i].group && !strcmp(outcome->flows[i].group, group))
			return false;
	return group;
}

/* NAN while a job is missing. */
static double end_of_jobs(const struct outcome *outcome)
{
	double end = 0;

	for (size_t i = 0; i < outcome->job_count; i++) {
		if (!outcome->jobs[i].finished)
			return NAN;
		end = fmax(end, outcome->jobs[i].finish_s);
	}
	return end;
}

struct outcome_item *outcome_pair(const struct outcome *packet, const struct outcome *fluid,
				  size_t *count)
{
	struct items items = { 0 };

	add_jobs(&items, packet, fluid);
	for (size_t i = 0; i < packet->flow_count; i++)
		if (is_first_of_group(packet, i))
			add_group(&items, packet, fluid, i);
	if (packet->job_count)
		add(&items, OUTCOME_END, xstrdup("end of the last job"), end_of_jobs(packet),
		    end_of_jobs(fluid));
	*count = items.count;
	return items.list;
}

void outcome_items_free(struct outcome_item *items, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(items[i].name);
	free(items);
}
