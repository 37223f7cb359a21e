/* Two JSON documents of one shape side by side: summaries of runs with a
 * tolerance per field, resolved scenarios. Not compare/json_diff.h, which tells
 * people what differs: here equal means to the last bit, jobs are matched whatever
 * they are called, and what is new is no difference. */
#ifndef INASIM_LAB_REGRESS_TREE_DIFF_H
#define INASIM_LAB_REGRESS_TREE_DIFF_H

#include "lab/regress/regress_index.h"

#include <cjson/cJSON.h>

struct field_diff {
	char *path;              /* "jobs.jct_s.mean", "flows.by_size.0.count" */
	char *reference, *found; /* as text; "missing" where there is none */
	bool tolerant;           /* these were exceeded; else it had to be exact */
	double relative, absolute;
};

/* All zero is empty. */
struct tree_diff {
	struct field_diff *fields;
	size_t count, capacity;
	size_t added; /* fields that only the second tree has: noted, not listed */
};

/* Compares; the first tolerance whose pattern fits a number's path holds, and
 * what none fits is compared exactly. Members of an object "by_name" are compared
 * by position: what jobs are called is no result. */
void tree_compare(const cJSON *reference, const cJSON *found,
		  const struct regress_tolerance *tolerances, size_t count, struct tree_diff *diff);
void tree_diff_release(struct tree_diff *diff);

/* Takes out of a summary what depends on the machine, the scenario's name, and
 * what is compared by itself: digest and events. */
void summary_strip(cJSON *summary);

#endif
