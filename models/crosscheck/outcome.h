/* What two runs of one scenario, as packets and as fluid, have in common: jobs, groups
 * of flows, the end of the last job, side by side. Read from result directories. */
#ifndef INASIM_CROSSCHECK_OUTCOME_H
#define INASIM_CROSSCHECK_OUTCOME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A row of jobs.csv. */
struct outcome_job {
	uint64_t number, workers;
	char *name;
	bool finished;
	double exchange_s, finish_s;
};

/* A row of flows.csv. */
struct outcome_flow {
	char *group;
	double fct_s; /* NAN when it did not finish, or was load and no flow */
};

struct outcome {
	struct outcome_job *jobs; /* by number */
	size_t job_count, job_capacity;
	struct outcome_flow *flows; /* by number */
	size_t flow_count, flow_capacity;
};

/* False and *error (caller frees) when the tables cannot be read. The caller releases the
 * outcome in any case. */
bool outcome_read(const char *dir, struct outcome *outcome, char **error);
void outcome_release(struct outcome *outcome);

/* A job, a group of flows, or the end of all jobs. */
enum outcome_what { OUTCOME_JOB, OUTCOME_FLOWS, OUTCOME_END };

struct outcome_item {
	enum outcome_what what;
	char *name;
	double packet_s, fluid_s; /* NAN = it has none */
	double difference;        /* packet / fluid - 1 */
};

/* Side by side, in the order of the scenario; the caller frees the list and its names. An item
 * that is missing or unfinished in one run has a difference that is not a number. */
struct outcome_item *outcome_pair(const struct outcome *packet, const struct outcome *fluid,
				  size_t *count);
void outcome_items_free(struct outcome_item *items, size_t count);

#endif
