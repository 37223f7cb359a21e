/* Decides how many replications of each combination of axis values a plan with a "precision" wants:
 * as many as it takes until the interval of one metric's mean is narrow enough.
 *
 * The first look is at the first `least` replications. As long as the interval is too wide, the
 * next look takes half as many replications more. A look ignores later replications, even if they
 * have results. So the number wanted in the end depends neither on the order of runs, nor on how
 * many run at once, nor on interruptions. Since there are several looks, the intervals hold the
 * mean somewhat less often than in 95 % of cases (Law, Simulation Modeling and Analysis, 5th ed.,
 * section 9.4.1). */
#ifndef INASIM_LAB_SWEEP_PRECISION_H
#define INASIM_LAB_SWEEP_PRECISION_H

#include "lab/sweep/plan.h"
#include "lab/sweep/record.h"

struct precision {
	size_t combinations; /* with no wanted points left to run */
	size_t reached;      /* of these, combinations whose interval is narrow enough */
	bool lacking;        /* some point has results without the metric */
};

/* Fills in `wanted`, by number of the point; without a precision all points are wanted. Reads the
 * results of points that have ended from FOLDER (DIR/points). */
struct precision precision_wanted(const struct plan *plan, const struct point_facts *facts,
				  const struct point_record *records, const char *folder,
				  bool *wanted);

#endif
