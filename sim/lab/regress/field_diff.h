/* Compares two JSON trees field by field. The trees belong to a reference and a run: their
 * summaries, with a tolerance for each field, or their resolved scenarios. Jobs may have other
 * names. */
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
	double relative, absolute; /* the tolerance that was exceeded */
};

/* A struct of zeros is empty. */
struct field_diffs {
	struct field_diff *fields;
	size_t count;
	size_t added; /* how many fields that only the second tree has are not in `fields` */
};

/* Fills in `diffs`, which must be empty. The first tolerance whose pattern fits a number's path
 * applies; a value that no pattern fits must be equal. Members of an object "by_name" are compared
 * by position, because names of jobs are no result. A field that only the second tree has is a
 * difference if `additions` is set, else it is counted. */
void field_diffs_find(const cJSON *reference, const cJSON *found,
		      const struct regress_tolerance *tolerances, size_t count, bool additions,
		      struct field_diffs *diffs);
void field_diffs_release(struct field_diffs *diffs);

/* The relative change of a number: 0.01 if it is 1 % above the reference. NAN if either value is no
 * number or the reference is 0. */
double field_diff_change(const struct field_diff *diff);

/* Removes the members of a summary that are not compared field by field: numbers that depend on the
 * machine, the scenario's name, and `digest` and `events`, which the caller compares. */
void summary_strip(cJSON *summary);

#endif
