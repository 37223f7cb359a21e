/* Reads the table of a sweep that `sweep collect` has written: DIR/sweep.csv, and DIR/sweep.json,
 * which says which columns of sweep.csv are axes and which are metrics. */
#ifndef INASIM_LAB_SWEEP_SWEEP_TABLE_H
#define INASIM_LAB_SWEEP_SWEEP_TABLE_H

#include "lab/sweep/record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct sweep_axis {
	const char *name;
	const char **values; /* as the plan writes them, of cases the labels; in the plan's order */
	size_t count;
};

struct sweep_point {
	uint64_t number;
	const char *hash; /* 16 digits; its result directory is DIR/points/HASH */
	uint64_t replication, seed;
	enum point_status status;
	const char *warnings;  /* of its run, in one text; "" = none */
	bool usable;           /* done or unfinished: it has metrics */
	size_t *levels;        /* by axis: index into the axis' values; SIZE_MAX at the end */
	const double *metrics; /* by metric; NaN where the cell is empty */
};

struct sweep_table {
	const char *dir, *name;
	struct sweep_axis *axes;
	const char **axis_names; /* by axis: its name again, for searches and messages */
	size_t axis_count;
	const char **metrics; /* "jobs.jct_s.mean", ... */
	size_t metric_count;
	struct sweep_point *points; /* in the order of their numbers, in which there may be gaps */
	size_t point_count;
	uint64_t replications;

	struct conf_doc *doc; /* sweep.json; owns what is above, except `points` and `dir` */

	/* Used only in sweep_table.c. */
	size_t capacity; /* of points */
	uint64_t rows;   /* how many sweep.csv has by sweep.json; 0 = it does not say */
};

/* Columns besides axes and metrics, which no axis may be named after; end with NULL. In sweep.csv
 * the axes stand before "status", and the metrics before "warnings", whose texts have commas. */
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

/* The same for names that a user typed. False and *error (caller frees) if there is no such axis or
 * value. */
bool sweep_table_find_axis(const struct sweep_table *table, const char *name, size_t *axis,
			   char **error);
bool sweep_axis_find(const struct sweep_axis *axis, const char *value, size_t *level, char **error);

/* Whether no point has several groups of jobs: then a mean over all jobs of a point is one over
 * like jobs. If some point has, adds to `groups` the metric jobs.by_name.NAME.jct_s.mean of each
 * group. */
struct names;
bool sweep_table_jobs_alike(const struct sweep_table *table, struct names *groups);

/* What the runs of the sweep warn of: each text once, most frequent first. Returns how many texts
 * there are, and fills in the first `size` of them. */
struct sweep_warning {
	const char *text; /* all warnings of a run */
	size_t points;    /* how many have this text */
};
size_t sweep_table_warnings(const struct sweep_table *table, struct sweep_warning *list,
			    size_t size);

/* Prints the first few of these warnings as lines "LEAD: N of M points: TEXT". */
void sweep_table_print_warnings(const struct sweep_table *table, const char *lead, FILE *to);

#endif
