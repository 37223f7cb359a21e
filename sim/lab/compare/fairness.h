/* How evenly the members of a group of a scenario were served: Jain's index of
 *
 *   jain.flows.NAME   size / FCT of each flow,
 *   jain.jobs.NAME    gradient_bytes * iterations_done / (finish_s - start_s) of
 *                     each job
 *
 * over those that have finished and are measured (warm-up and window of the scenario), if there are
 * at least two. It takes members as entitled to the same: flows of unlike sizes differ in
 * throughput without any unfairness. */
#ifndef INASIM_LAB_COMPARE_FAIRNESS_H
#define INASIM_LAB_COMPARE_FAIRNESS_H

#include "data/inference.h"

#define FAIRNESS_PREFIX "jain."

struct fairness_group {
	char *metric;
	double index;           /* NaN where fewer than two have finished */
	size_t finished, count; /* members */
	struct jain rates;      /* of the finished ones, bytes a second */
};

struct fairness {
	struct fairness_group *groups; /* flows, then jobs, each in the order of the table */
	size_t count, capacity;
};

/* Reads flows.csv and jobs.csv in DIR; there are no groups without these tables. False and *error
 * (caller frees) if one cannot be read; `fairness` is then empty. */
bool fairness_read(const char *dir, struct fairness *fairness, char **error);
void fairness_release(struct fairness *fairness);

/* NULL if there is no such group. */
const struct fairness_group *fairness_find(const struct fairness *fairness, const char *metric);

#endif
