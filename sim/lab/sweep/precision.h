/* How many replications a plan with a "precision" wants of each combination of axis values: so many
 * until the interval of the mean of one metric is narrow enough.
 *
 * It looks at the first `least` replications, then at half as many more, and so on. Each look
 * ignores the results of later replications, even if there are some: so what is wanted in the end
 * depends neither on the order of runs, nor on how many go at once, nor on interruptions. Looking
 * several times makes intervals hold the mean somewhat less often than they say (Law, Simulation
 * Modeling and Analysis, 5th ed., section 9.4.1). */
#ifndef INASIM_LAB_SWEEP_PRECISION_H
#define INASIM_LAB_SWEEP_PRECISION_H

#include "lab/sweep/plan.h"
#include "lab/sweep/record.h"

struct precision {
	size_t combinations; /* whose wanted points have all ended */
	size_t reached;      /* of these: whose interval is narrow enough */
	bool lacking;        /* a point has results without the metric */
};

/* Says of each point, by number, whether it is wanted; of all where the plan has no precision.
 * Reads the results of those that have ended from FOLDER (DIR/points). */
struct precision precision_wanted(const struct plan *plan, const struct point_facts *facts,
				  const struct point_record *records, const char *folder,
				  bool *wanted);

#endif
