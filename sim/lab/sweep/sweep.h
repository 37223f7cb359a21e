/* A sweep directory as its plan sees it: how each point ended, what is left to do, the tables. */
#ifndef INASIM_LAB_SWEEP_SWEEP_H
#define INASIM_LAB_SWEEP_SWEEP_H

#include "lab/sweep/plan.h"
#include "lab/sweep/precision.h"
#include "lab/sweep/record.h"

struct sweep {
	const struct plan *plan;         /* checked; not owned */
	const struct point_facts *facts; /* by number; not owned */
	char *dir, *folder;              /* DIR, DIR/points */
	struct point_record *records;    /* by number */
	bool *wanted;                    /* by number: all others are spared by the precision */
	struct precision precision;
	size_t points; /* wanted */
	struct sweep_running {
		char *holder; /* host and process; NULL = nobody runs it */
		double seconds;
	} * running;   /* by number */
	size_t others; /* records of points that the plan does not have; they are left alone */
};

/* Reads the records of all points of the plan; there are none without the directory. Plan and facts
 * must outlive the sweep. */
void sweep_read(struct sweep *sweep, const char *dir, const struct plan *plan,
		const struct point_facts *facts);
void sweep_release(struct sweep *sweep);

/* Makes DIR and DIR/points and copies the plan there. False and *error. */
bool sweep_make(const char *dir, const char *plan_path, char **error);

/* Wanted points by status. */
void sweep_count(const struct sweep *sweep, size_t counts[POINT_STATUSES]);

/* Estimates the CPU time of the pending points from their costs and the time of the points that are
 * done. NAN while none is done. */
double sweep_cpu_left(const struct sweep *sweep, const size_t *pending, size_t count);

/* Numbers of the wanted points that are to be run, highest cost first. The caller frees. */
size_t *sweep_pending(const struct sweep *sweep, const struct point_limits *limits, size_t *count);

/* Writes sweep.csv, costs.csv, sweep.json and groups.csv. Metrics are the numbers of summary.h,
 * except the seed, which has its own column. False and *error (caller frees) on failure. */
bool sweep_collect(const struct sweep *sweep, char **error);

#endif
