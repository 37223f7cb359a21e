/* How many replications a plan with a "precision" wants of each combination of axis values: so many
 * until the interval of the mean of one metric is narrow enough.
 *
 * It looks after `least` replications, and then each time after half as many again, at the results
 * of the first so many, whatever else there is by then: what is wanted in the end does not depend
 * on the order of runs, on how many go at once, or on interruptions. Looking several times makes
 * intervals hold the mean somewhat less often than they say (Law, Simulation Modeling and Analysis,
 * 5th ed., section 9.4.1). */
#ifndef INASIM_LAB_SWEEP_PRECISION_H
#define INASIM_LAB_SWEEP_PRECISION_H

#include "lab/sweep/plan.h"
#include "lab/sweep/record.h"

struct precision {
	size_t combinations; /* that have ended as many points as they want */
	size_t reached;      /* of these: that are precise */
	bool lacking;        /* a point has results without the metric */
};

/* Says of each point, by number, whether it is wanted; of all where the plan has no precision.
 * Reads the results of those that have ended from FOLDER (DIR/points). */
struct precision precision_wanted(const struct plan *plan, const struct point_facts *facts,
				  const struct point_record *records, const char *folder,
				  bool *wanted);

#endif
