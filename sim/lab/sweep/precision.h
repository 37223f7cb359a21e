/* Decides how many replications of each combination of axis values a plan with a "precision" wants:
 * as many as it takes until the interval of one metric's mean is narrow enough or, with "by", until
 * the comparison with the baseline of an axis has a verdict.
 *
 * The first look is at the first `least` replications. As long as it is not enough, the next look
 * takes half as many replications more; with "perturb", as many as make whole rounds of the
 * perturbations. A look ignores later replications, even if they have results. So the number wanted
 * in the end depends neither on the order of runs, nor on how many run at once, nor on
 * interruptions, unless "cpu" ends it: no look begins when so much CPU time is spent.
 *
 * Intervals that are looked at several times hold the mean somewhat less often than in 95 % of
 * cases (Law, Simulation Modeling and Analysis, 5th ed., section 9.4.1). Verdicts are corrected for
 * it: with k looks at most, each has an error of 5 % / k, so that all together have 5 % at most, be
 * the looks as dependent as they may (Bonferroni). */
#ifndef INASIM_LAB_SWEEP_PRECISION_H
#define INASIM_LAB_SWEEP_PRECISION_H

#include "lab/sweep/plan.h"
#include "lab/sweep/record.h"

struct precision {
	size_t total;   /* combinations or, with "by", comparisons with the baseline */
	size_t ended;   /* of these, with no wanted points left to run */
	size_t reached; /* of these, narrow enough, or with a verdict */
	bool lacking;   /* some point has results without the metric */
};

/* Fills in `wanted`, by number of the point; without a precision all points are wanted. Reads the
 * results of points that have ended from FOLDER (DIR/points). */
struct precision precision_wanted(const struct plan *plan, const struct point_facts *facts,
				  const struct point_record *records, const char *folder,
				  bool *wanted);

/* How many looks there are at most: 1 without a precision. */
size_t precision_looks(const struct plan *plan);

#endif
