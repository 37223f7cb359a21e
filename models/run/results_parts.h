/* Shared by the files that write results: results.c (tables), results_summary.c
 * (summary.json) and results_terminal.c. */
#ifndef INASIM_RUN_RESULTS_PARTS_H
#define INASIM_RUN_RESULTS_PARTS_H

#include "run/results.h"
#include "run/simulation_state.h"

extern const struct out_schema summary_schema;

enum job_field {
	JOB_JCT,
	JOB_WAITING_TIME,
	JOB_COMPUTE,
	JOB_COMMUNICATION,
	JOB_SLOWDOWN, /* no time; of those with an ideal one */
	JOB_BUSBW,    /* bytes per second; of those with several workers */
	JOB_FIELDS
};

/* Values of one field of the finished jobs, in seconds: of a group, or of all groups of one
 * name, or (both NULL) of all; the caller frees. */
double *results_job_values(const struct simulation *s, const struct job_group_conf *group,
			   const char *name, enum job_field field, size_t *count);

/* Jobs that ran as something else than they were given, a line each; and what the run alone could
 * tell of what is hardly meant. Lists with NULL behind the last, for results_lines_free(). */
char **results_otherwise(const struct simulation *s);
char **results_warnings(const struct simulation *s);
void results_lines_free(char **lines);

/* A copy of values (the caller frees): distributions sort. */
double *results_copy(const double *values, size_t count);

/* The longest backlog of a port, bytes on the wire. */
uint64_t results_max_queue(const struct simulation *s, uint32_t port);

#endif
