#include "workload/jobs/job_trace.h"

#include "base/mem.h"
#include "collective/schemes.h"
#include "data/csv_read.h"
#include "workload/data_file.h"
#include "workload/flows/size_cdf.h"

#include <stdlib.h>
#include <string.h>

/* Reads a number from `min` to UINT32_MAX. */
static uint32_t cell_u32(struct csv *csv, int column, uint32_t min)
{
	uint64_t value = csv_u64(csv, column);

	if (value < min)
		csv_complain(csv, column, "is too small");
	else if (value > UINT32_MAX)
		csv_complain(csv, column, "is too large");
	return (uint32_t)value;
}

/* Reads a time that must not be before `last`. */
static sim_time cell_time_after(struct csv *csv, int column, sim_time last)
{
	sim_time time = data_time(csv, column, PS_PER_S);

	if (time < last)
		csv_complain(csv, column, "is earlier than in the previous row");
	return time;
}

/* Reads the name of a scheme. Returns -1 for an empty cell, or without such a column. */
static int cell_scheme(struct csv *csv, int column)
{
	if (column < 0 || csv_empty(csv, column))
		return -1;
	for (int i = 0; all_reduce_names[i]; i++)
		if (!strcmp(csv_text(csv, column), all_reduce_names[i]))
			return i;
	csv_complain(csv, column, "is not a scheme (inasim list schemes)");
	return -1;
}

static void read_jobs(struct job_trace *trace, struct csv *csv)
{
	int id = csv_need(csv, "job_id"), submit = csv_need(csv, "submit_s");
	int gpus = csv_need(csv, "gpus"), duration = csv_find(csv, "duration_s");
	int model = csv_find(csv, "model"), scheme = csv_find(csv, "scheme");
	size_t capacity = 0;
	sim_time last = 0;

	trace->durations = duration >= 0;
	trace->unread = csv_unread(csv);
	while (csv_next(csv)) {
		struct trace_job job = { .id = xstrdup(csv_text(csv, id)) };

		/* csv_complain() keeps the first mistake; an initializer would have no order */
		job.submit = cell_time_after(csv, submit, last);
		job.gpus = cell_u32(csv, gpus, 1);
		if (duration >= 0)
			job.duration = data_time(csv, duration, PS_PER_S);
		if (model >= 0 && !csv_empty(csv, model))
			job.model = xstrdup(csv_text(csv, model));
		job.scheme = cell_scheme(csv, scheme);
		last = job.submit;
		trace->jobs =
			array_reserve(trace->jobs, trace->count, &capacity, sizeof(*trace->jobs));
		trace->jobs[trace->count++] = job;
	}
}

bool job_trace_load(struct job_trace *trace, const char *path, char **error)
{
	struct csv *csv = csv_open(path, error);

	*trace = (struct job_trace){ 0 };
	if (!csv)
		return false;
	trace->path = xstrdup(path);
	read_jobs(trace, csv);
	if (csv_close(csv, error))
		return true;
	job_trace_release(trace);
	return false;
}

void job_trace_cut(struct job_trace *trace, size_t count)
{
	while (trace->count > count) {
		const struct trace_job *last = &trace->jobs[--trace->count];

		free(last->id);
		free(last->model);
	}
}

void job_trace_release(struct job_trace *trace)
{
	job_trace_cut(trace, 0);
	free(trace->jobs);
	free(trace->unread);
	free(trace->path);
	*trace = (struct job_trace){ 0 };
}

/* A host, by its number or by its name in a graph. */
static uint32_t cell_host(struct csv *csv, int column, const struct graph *graph)
{
	const char *name = csv_text(csv, column);

	if (!name[strspn(name, "0123456789")])
		return cell_u32(csv, column, 0);
	for (uint32_t host = 0; graph && host < graph->hosts; host++)
		if (!strcmp(graph->names[host], name))
			return host;
	csv_complain(csv, column,
		     graph ? "is neither the number nor the name of a host"
			   : "is no number of a host; only graphs have names");
	return 0;
}

static bytes cell_size(struct csv *csv, int column)
{
	bytes size;

	if (!strcmp(csv_text(csv, column), "endless"))
		return FLOW_ENDLESS;
	size = csv_u64(csv, column);
	if (size == 0)
		csv_complain(csv, column, "is no size of a flow");
	if (size > FLOW_MAX)
		csv_complain(csv, column, "is more than 2^50 bytes");
	return size;
}

static void read_flows(struct flow_trace *trace, struct csv *csv, const struct graph *graph)
{
	int start = csv_need(csv, "start_s"), src = csv_need(csv, "src"),
	    dst = csv_need(csv, "dst");
	int size = csv_need(csv, "size_bytes");
	size_t capacity = 0;
	sim_time last = 0;

	trace->unread = csv_unread(csv);
	while (csv_next(csv)) {
		struct trace_flow flow;

		last = flow.start = cell_time_after(csv, start, last);
		flow.src = cell_host(csv, src, graph);
		flow.dst = cell_host(csv, dst, graph);
		flow.size = cell_size(csv, size);
		if (flow.src == flow.dst)
			csv_complain(csv, dst, "is the source as well");
		trace->flows =
			array_reserve(trace->flows, trace->count, &capacity, sizeof(*trace->flows));
		trace->flows[trace->count++] = flow;
	}
}

bool flow_trace_load(struct flow_trace *trace, const char *path, const struct graph *graph,
		     char **error)
{
	struct csv *csv = csv_open(path, error);

	*trace = (struct flow_trace){ 0 };
	if (!csv)
		return false;
	read_flows(trace, csv, graph);
	trace->timed = trace->count;
	if (csv_close(csv, error))
		return true;
	flow_trace_release(trace);
	return false;
}

void flow_trace_release(struct flow_trace *trace)
{
	free(trace->flows);
	free(trace->waits);
	free(trace->unread);
	*trace = (struct flow_trace){ 0 };
}
