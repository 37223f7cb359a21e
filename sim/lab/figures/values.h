/* Reads the values of a column of a run's table, grouped by other columns. Private to the
 * figures. */
#ifndef INASIM_LAB_FIGURES_VALUES_H
#define INASIM_LAB_FIGURES_VALUES_H

#include "lab/figures/figure.h"
#include "data/csv_read.h"

#define VALUES_COLUMNS 4

/* What to read. Rows that are not measured (warm-up) or not finished do not count. */
struct values_query {
	const char *file;
	const char *columns[VALUES_COLUMNS]; /* with values; if several, each is a group */
	const char *group; /* column with the group's name; NULL: all rows are one group */
	char *(*name)(struct csv *csv); /* makes the group's name (caller frees) from the current
					 * row, instead of `group`; or NULL */
	const char *subgroup;           /* column with a second name, or NULL */
	const char *at;                 /* column with the time of each value, or NULL */
	bool work;    /* rows are flows or jobs: some may not have finished; values are above 0 */
	bool by_size; /* groups are the run's size classes; column `group` has the size */
};

struct value_group {
	char *name, *subname;
	double *at, *values; /* values ascend; if the query has `at`, they keep the row order */
	size_t count, at_capacity, capacity;
	uint64_t unfinished; /* rows without a value */
	uint64_t from;       /* of a size class: smallest flow size in bytes */
};

/* A struct of zeros is empty. */
struct values {
	struct value_group *groups; /* in the order of their first rows */
	size_t group_count, capacity;
	uint64_t finished, unfinished; /* rows */
	uint64_t below_one;            /* values below 1; a bug if they are slowdowns */
};

/* Opens the table FILE of f->dir. NULL with f->why if there is none, with f->error if it cannot be
 * read. */
struct csv *values_table(struct figure *f, const char *file);

/* Reads the values from f->dir. False with f->why or f->error. Release the values in any case. */
bool values_read(struct values *values, struct figure *f, const struct values_query *query);
void values_release(struct values *values);

/* A percentile to mark on a curve: the rank of its value from 1, and its interval (or NaN). */
struct cdf_mark {
	size_t rank;
	double p, low, high;
};

/* Puts the share of values up to each value, for about a thousand values, the largest and those of
 * the marks. What has not finished counts: it is above all values, so the curve ends below 1. The
 * columns of the figure are "time_s share", or with marks "time_s share percentile low high". */
void values_put_cdf(struct figure *f, const double *sorted, size_t count, uint64_t unfinished,
		    const struct cdf_mark *marks, size_t mark_count);

/* Sorts the groups, those with most values first. If there are more than `keep`, merges the
 * keep-th, counted from 1, and all behind it into one. */
void values_merge(struct values *values, size_t keep);

/* The group of this name, or NULL. */
const struct value_group *values_find(const struct values *values, const char *name);

#endif
