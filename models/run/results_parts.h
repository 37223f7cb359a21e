/* Shared by the files that write results: results.c (tables), results_values.c (metrics of the
 * run), results_summary.c (summary.json), results_remarks.c (warnings), results_terminal.c and
 * fairness.c. */
#ifndef INASIM_RUN_RESULTS_PARTS_H
#define INASIM_RUN_RESULTS_PARTS_H

#include "data/inference.h"
#include "data/json.h"
#include "data/metrics.h"
#include "run/results.h"
#include "run/simulation_state.h"
#include "topo/links.h"

extern const struct out_schema summary_schema;

/* The rows of JOB_METRICS; `at` is an offset in struct job_record. The last row has no name. */
struct job_metric {
	const char *name, *head;
	size_t at;
};
extern const struct job_metric results_job_metrics[];

/* The values of a metric, one for each measured job that has finished and has a value. Selects the
 * jobs of `group` and those alike, or of all groups called `name` if `group` is NULL, or all jobs
 * if both are NULL. The caller frees. */
double *results_job_values(const struct simulation *s, const struct job_group_conf *group,
			   const char *name, const struct job_metric *metric, size_t *count);

/* Lists of lines that end with NULL: jobs that did not run as the scenario says, and warnings of
 * what the run showed. results_lines_free() frees a list. */
char **results_otherwise(const struct simulation *s);
char **results_warnings(const struct simulation *s);
void results_lines_free(char **lines);

/* Write "by_name" of the open object "flows", and "by_tier" of the open object "network". */
void fairness_flows(struct json *json, const struct simulation *s);
void fairness_links(struct json *json, const struct simulation *s);

/* Sums for Jain's index over the utilizations of a tier's links in one direction. Sets *max to the
 * largest utilization. */
struct jain fairness_tier(const struct simulation *s, unsigned tier, enum link_way way,
			  double *max);

/* A sorted copy. The caller frees. */
double *results_sorted(const double *values, size_t count);

/* The metrics of the run, at its end. */
struct run_values results_values(const struct simulation *s);

/* The longest backlog that a port has had, in bytes on the wire. */
uint64_t results_max_queue(const struct simulation *s, uint32_t port);

#endif
