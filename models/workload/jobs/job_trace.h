/* Recorded arrivals of jobs and of flows.
 *
 * A trace of jobs has the columns job_id (any text), submit_s and gpus. It may have duration_s, and
 * model and scheme, where an empty cell means those of the group. A trace of flows has start_s,
 * src, dst (numbers of hosts or, in a graph, their names) and size_bytes (or "endless"). Other
 * columns are not read; `unread` has their names. Seconds are decimal numbers, converted exactly.
 * Rows are in the order of their times. A row that is earlier than the one before is an error: such
 * a table is sorted otherwise, or is two tables in one. */
#ifndef INASIM_WORKLOAD_JOBS_JOB_TRACE_H
#define INASIM_WORKLOAD_JOBS_JOB_TRACE_H

#include "topo/graph.h"

#include <stdbool.h>
#include <stddef.h>

struct trace_job {
	char *id; /* as in the file; owned by the trace */
	sim_time submit;
	sim_time duration; /* 0 = the trace has none */
	uint32_t gpus;     /* at least 1 */
	char *model;       /* NULL = it names none; owned by the trace */
	int scheme;        /* enum scheme_index; -1 = it names none */
};

struct job_trace {
	struct trace_job *jobs;
	size_t count;
	bool durations; /* it has a column duration_s */
	char *unread;   /* names of the columns that are not read, or NULL */
	char *path;     /* of the file */
};

struct trace_flow {
	sim_time start;
	bytes size; /* at least 1; FLOW_ENDLESS (size_cdf.h) */
	uint32_t src, dst;
};

/* Flow `next` waits until flow `flow` has been received or, if `sent`, acknowledged. */
struct trace_wait {
	uint32_t flow, next;
	bool sent;
};

struct flow_trace {
	struct trace_flow *flows;
	size_t count;
	size_t timed;             /* the first so many start at their time, the others by `waits` */
	struct trace_wait *waits; /* by flow */
	size_t wait_count;
	char *unread; /* as in struct job_trace */
};

/* Loads a trace. If something is wrong, returns false and *error (caller frees), with file and
 * line; *trace then needs no release. The caller checks whether the hosts exist. */
bool job_trace_load(struct job_trace *trace, const char *path, char **error);
/* Keeps the first `count` jobs, if there are more. */
void job_trace_cut(struct job_trace *trace, size_t count);
void job_trace_release(struct job_trace *trace);

/* `graph`: whose hosts have names; NULL = hosts have numbers only. */
bool flow_trace_load(struct flow_trace *trace, const char *path, const struct graph *graph,
		     char **error);
void flow_trace_release(struct flow_trace *trace);

#endif
