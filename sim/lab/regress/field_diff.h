/* A run and its reference side by side: summaries with a tolerance per field, resolved scenarios.
 * Jobs are matched whatever they are called, and what is new is no difference. */
#ifndef INASIM_LAB_REGRESS_FIELD_DIFF_H
#define INASIM_LAB_REGRESS_FIELD_DIFF_H

#include "lab/regress/regress_index.h"

#include <cjson/cJSON.h>

struct field_diff {
	char *path;              /* "jobs.jct_s.mean", "flows.by_size.0.count" */
	char *reference, *found; /* as text; "missing" where there is none */
	struct {
		bool given; /* both are numbers */
		double reference, found;
	} numbers;
	bool tolerant;             /* a tolerance applied, else the two had to be equal */
	double relative, absolute; /* the tolerance, which was exceeded */
};

/* All zero is empty. */
struct field_diffs {
	struct field_diff *fields;
	size_t count;
	size_t added; /* fields that only the second tree has: noted, not listed */
};

/* Compares into an empty `diffs`. The first tolerance whose pattern fits a number's path applies;
 * what none fits is compared exactly. Members of an object "by_name" are compared by position: what
 * jobs are called is no result. */
void field_diffs_find(const cJSON *reference, const cJSON *found,
		      const struct regress_tolerance *tolerances, size_t count,
		      struct field_diffs *diffs);
void field_diffs_release(struct field_diffs *diffs);

/* By how much a number has grown, relative to the reference: 0.01 is 1 %. NAN where either value is
 * no number or the reference is 0. */
double field_diff_change(const struct field_diff *diff);

/* Removes from a summary what depends on the machine, the scenario's name, and what is compared by
 * itself: digest and events. */
void summary_strip(cJSON *summary);

#endif
