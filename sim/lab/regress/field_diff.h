/* Compares two JSON trees field by field: the summaries of a run and its reference, with a
 * tolerance for each field, or their resolved scenarios. Names of jobs do not matter. A field that
 * only the run has is not a difference. */
#ifndef INASIM_LAB_REGRESS_FIELD_DIFF_H
#define INASIM_LAB_REGRESS_FIELD_DIFF_H

#include "lab/regress/regress_index.h"

#include <cjson/cJSON.h>

struct field_diff {
	char *path;              /* "jobs.jct_s.mean", "flows.by_size.0.count" */
	char *reference, *found; /* the two values as text; "missing" for an absent one */
	struct {
		bool given;              /* both values are numbers */
		double reference, found; /* the numbers; 0 if not given */
	} numbers;
	bool tolerant;             /* a tolerance applied; else the values had to be equal */
	double relative, absolute; /* the tolerance, which was exceeded */
};

/* All zero is empty. */
struct field_diffs {
	struct field_diff *fields;
	size_t count;
	size_t added; /* how many fields only the second tree has; they are not in `fields` */
};

/* Fills in `diffs`, which must be empty. The first tolerance whose pattern fits a number's path
 * applies; a value that no pattern fits must be equal. Members of an object "by_name" are compared
 * by position, because names of jobs are no result. */
void field_diffs_find(const cJSON *reference, const cJSON *found,
		      const struct regress_tolerance *tolerances, size_t count,
		      struct field_diffs *diffs);
void field_diffs_release(struct field_diffs *diffs);

/* By how much a number has grown, relative to the reference: 0.01 is 1 %. NAN where either value is
 * no number or the reference is 0. */
double field_diff_change(const struct field_diff *diff);

/* Removes from a summary what is not compared as a field: numbers that depend on the machine, the
 * scenario's name, and digest and events, which are compared apart. */
void summary_strip(cJSON *summary);

#endif
