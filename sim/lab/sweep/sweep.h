/* A sweep directory DIR: how each point of its plan ended, which points are left to run, and the
 * tables over all points. */
#ifndef INASIM_LAB_SWEEP_SWEEP_H
#define INASIM_LAB_SWEEP_SWEEP_H

#include "lab/sweep/plan.h"
#include "lab/sweep/precision.h"
#include "lab/sweep/record.h"

struct sweep {
	const struct plan *plan;         /* checked; not owned */
	const struct point_facts *facts; /* by number of the point, as all arrays here; not owned */
	char *dir, *folder;              /* DIR, DIR/points */
	struct point_record *records;
	bool *wanted; /* false: the plan's "precision" does not need the point (precision.h) */
	struct precision precision;
	size_t points; /* how many points are wanted */
	struct sweep_running {
		char *holder;   /* host and process that run the point; NULL: nobody does */
		double seconds; /* for how long already */
	} * running;
	size_t others; /* records in DIR/points that belong to no point of the plan */
};

/* Reads the records of all points of the plan. If there is no DIR, all points are missing. Plan and
 * facts must outlive the sweep. */
void sweep_read(struct sweep *sweep, const char *dir, const struct plan *plan,
		const struct point_facts *facts);
void sweep_release(struct sweep *sweep);

/* Makes DIR and DIR/points and copies the plan to DIR/plan.json. False and *error (caller frees) on
 * failure. */
bool sweep_make(const char *dir, const char *plan_path, char **error);

/* Counts the wanted points of each status. */
void sweep_count(const struct sweep *sweep, size_t counts[POINT_STATUSES]);

/* Estimates the CPU seconds of the pending points from their cost and from the CPU seconds per unit
 * of cost of all points done. NAN while none is done. */
double sweep_cpu_left(const struct sweep *sweep, const size_t *pending, size_t count);

/* Returns the numbers of the wanted points that are to be run, highest cost first; *count becomes
 * their number. The caller frees. */
size_t *sweep_pending(const struct sweep *sweep, const struct point_limits *limits, size_t *count);

/* Writes sweep.csv, costs.csv, sweep.json and groups.csv. Metrics are the numbers of summary.h,
 * except the seed, which has its own column. False and *error (caller frees) on failure. */
bool sweep_collect(const struct sweep *sweep, char **error);

#endif
