/* Arrivals that were recorded elsewhere: of jobs, and of flows.
 *
 * Jobs: columns job_id (any text), submit_s, gpus, and, if they are there,
 * duration_s, model, scheme (of this job; an empty cell: its group's); flows:
 * start_s, src, dst, size_bytes. Other columns are passed over, and named. Seconds are decimal
 * numbers and are converted exactly. Both are in the order of their times; a row that is earlier
 * than the one before is an error, for it tells of a table sorted by something
 * else or of two tables in one. */
#ifndef INASIM_WORKLOAD_JOBS_JOB_TRACE_H
#define INASIM_WORKLOAD_JOBS_JOB_TRACE_H

#include "base/types.h"

#include <stdbool.h>
#include <stddef.h>

struct trace_job {
	char *id; /* as in the file; owned by the trace */
	sim_time submit;
	sim_time duration; /* 0 where the trace has none */
	uint32_t gpus;     /* at least 1 */
	char *model;       /* NULL = it names none; owned by the trace */
	int scheme;        /* enum scheme_index; -1 = it names none */
};

struct job_trace {
	struct trace_job *jobs;
	size_t count;
	bool durations; /* it has a column duration_s */
	char *unread;   /* names of columns that nobody reads, or NULL */
};

struct trace_flow {
	sim_time start;
	bytes size; /* at least 1 */
	uint32_t src, dst;
};

struct flow_trace {
	struct trace_flow *flows;
	size_t count;
	char *unread; /* as above */
};

/* False and *error (caller frees), with file and line, when something is wrong;
 * then there is nothing to release. Whether hosts exist is the caller's check. */
bool job_trace_load(struct job_trace *trace, const char *path, char **error);
/* Keeps the first `count`, if there are more. */
void job_trace_cut(struct job_trace *trace, size_t count);
void job_trace_release(struct job_trace *trace);

bool flow_trace_load(struct flow_trace *trace, const char *path, char **error);
void flow_trace_release(struct flow_trace *trace);

#endif
