/* Shared by the files that write results: results.c (tables), results_values.c (metrics of the
 * run), results_summary.c (summary.json), results_remarks.c (warnings) and results_terminal.c. */
#ifndef INASIM_RUN_RESULTS_PARTS_H
#define INASIM_RUN_RESULTS_PARTS_H

#include "data/inference.h"
#include "data/json.h"
#include "data/metrics.h"
#include "run/results.h"
#include "run/simulation_state.h"
#include "topo/links.h"

extern const struct out_schema summary_schema;

/* The rows of JOB_METRICS; `at` is the offset in struct job_record. The last has no name. */
struct job_metric {
	const char *name, *head;
	size_t at;
};
extern const struct job_metric results_job_metrics[];

/* The values of a metric: one for each job that was measured, finished, and has a value. The jobs
 * are those of `group`; if that is NULL, of all groups with this name; if both are NULL, all jobs.
 * The caller frees. */
double *results_job_values(const struct simulation *s, const struct job_group_conf *group,
			   const char *name, const struct job_metric *metric, size_t *count);

/* Lists of lines, with NULL behind the last: jobs that did not run as the scenario says, and
 * warnings that only a run can give. results_lines_free() frees them. */
char **results_otherwise(const struct simulation *s);
char **results_warnings(const struct simulation *s);
void results_lines_free(char **lines);

/* Fairness (fairness.c): write members of the open objects "flows" and "network". */
void fairness_flows(struct json *json, const struct simulation *s);
void fairness_links(struct json *json, const struct simulation *s);

/* The utilizations of the links of a tier in one direction; sets *max to the largest. */
struct jain fairness_tier(const struct simulation *s, unsigned tier, enum link_way way,
			  double *max);

/* A sorted copy. The caller frees. */
double *results_sorted(const double *values, size_t count);

/* The metrics of the run, at its end. */
struct run_values results_values(const struct simulation *s);

/* The longest backlog of a port, bytes on the wire. */
uint64_t results_max_queue(const struct simulation *s, uint32_t port);

#endif
