/* Reads the table of a sweep that `sweep collect` has written: DIR/sweep.csv, and DIR/sweep.json,
 * which says which columns of sweep.csv are axes and which are metrics. */
#ifndef INASIM_LAB_SWEEP_SWEEP_TABLE_H
#define INASIM_LAB_SWEEP_SWEEP_TABLE_H

#include "data/verdict.h"
#include "lab/sweep/record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct sweep_axis {
	const char *name;
	const char **values; /* as the plan writes them and in its order; for cases, labels. Behind
			      * them "", for points to which the axis does not apply */
	size_t count;
};

struct sweep_point {
	uint64_t number;
	const char *hash; /* 16 digits; its result directory is DIR/points/HASH */
	uint64_t replication, seed;
	enum point_status status;
	const char *warnings; /* summary_warnings() of its run as one text; "" if it has none */
	bool usable;          /* point_status_is_usable(): it has metrics */
	size_t *levels; /* by axis: index into the axis' values, its count if the axis does not
			 * apply to the point; SIZE_MAX at the end */
	const double *metrics; /* by metric; NaN where the cell is empty */
};

struct sweep_table {
	const char *dir, *name;
	struct sweep_axis *axes;
	const char **axis_names; /* names of `axes` again, for searches and messages */
	size_t axis_count;
	const char **metrics; /* "jobs.jct_s.mean", ... */
	size_t metric_count;
	struct sweep_point *points; /* in the order of their numbers, in which there may be gaps */
	size_t point_count;
	uint64_t replications;
	struct verdict_rule rule; /* by which comparisons are judged */

	struct conf_doc *doc; /* sweep.json; owns what is above, except `points` and `dir` */

	/* Used only in sweep_table.c. */
	size_t capacity; /* of points */
	uint64_t rows;   /* of sweep.csv, as sweep.json says; 0 if it does not */
};

/* Columns other than axes and metrics; no axis may have one of their names. Each list ends with
 * NULL. In sweep.csv axes are before "status", and metrics before "warnings": texts with commas
 * come last. */
extern const char *const sweep_columns[], *const costs_columns[], *const groups_columns[];

/* Whether DIR holds a collected sweep: it has a sweep.json. */
bool sweep_table_exists(const char *dir);

/* Reads the table. NULL and *error (caller frees) if files are missing, not collected yet, or do
 * not fit together. The caller frees the table, which owns everything in it. */
struct sweep_table *sweep_table_read(const char *dir, char **error);
void sweep_table_free(struct sweep_table *table);

/* Index by name, or SIZE_MAX. */
size_t sweep_table_axis(const struct sweep_table *table, const char *name);
size_t sweep_table_metric(const struct sweep_table *table, const char *name);
size_t sweep_axis_level(const struct sweep_axis *axis, const char *value);

/* Writes the cell of a point's value: empty if it is "". */
struct csv_writer;
void sweep_axis_put(struct csv_writer *csv, const char *value);

/* Find an axis or a value that a user typed. False and *error (caller frees) if there is none. */
bool sweep_table_find_axis(const struct sweep_table *table, const char *name, size_t *axis,
			   char **error);
bool sweep_axis_find(const struct sweep_axis *axis, const char *value, size_t *level, char **error);

/* The user's label of a value, from labels "VALUE=TEXT" and "AXIS=VALUE=TEXT" (the last that fits);
 * NULL if there is none. */
struct names;
const char *sweep_axis_called(const struct sweep_axis *axis, size_t level,
			      const struct names *labels);
/* NULL, or which label fits no value of any axis (caller frees). */
char *sweep_labels_unknown(const struct sweep_table *table, const struct names *labels);

/* Whether every point has at most one group of jobs, so that a mean over all its jobs is over like
 * jobs. If not, adds to `groups` the metric jobs.by_name.NAME.jct_s.mean of each group. */
bool sweep_table_jobs_alike(const struct sweep_table *table, struct names *groups);

/* Lists the warnings of the sweep's runs: each text once, most frequent first. Returns the number
 * of texts, and fills in the first `size`. */
struct sweep_warning {
	const char *text; /* all warnings of a run, joined */
	size_t points;    /* how many have this text */
};
size_t sweep_table_warnings(const struct sweep_table *table, struct sweep_warning *list,
			    size_t size);

/* Prints the first few of these warnings as lines "LEAD: N of M points: TEXT". */
void sweep_table_print_warnings(const struct sweep_table *table, const char *lead, FILE *to);

#endif
