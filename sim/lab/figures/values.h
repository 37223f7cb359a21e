/* Values out of a table of a run, in groups. Private to the figures. */
#ifndef INASIM_LAB_FIGURES_VALUES_H
#define INASIM_LAB_FIGURES_VALUES_H

#include "lab/figures/figure.h"
#include "io/csv_read.h"

#define VALUES_COLUMNS 4

/* Which columns of which table, by what. Rows that are marked as not measured (warm-up) or not
 * finished do not count. */
struct values_query {
	const char *file;
	const char *columns[VALUES_COLUMNS]; /* with more than one each is a group */
	const char *group;                   /* column; NULL: all of a column is one group */
	char *(*name)(struct csv *csv); /* of the group of a row, in place of that column; taken */
	const char *subgroup;           /* column that is told beside it, or NULL */
	const char *at;                 /* column of times that belong to the values, or NULL */
	bool work;    /* rows are flows or jobs: they finish or not, values are above 0 */
	bool by_size; /* the groups are the classes of size_names, by the number in `group` */
};

struct value_group {
	char *name, *subname;
	double *at, *values; /* `at` only where the query has it; else the values are sorted */
	size_t count, at_capacity, capacity;
};

/* All zero is empty. */
struct values {
	struct value_group *groups; /* in the order of their first rows */
	size_t group_count, capacity;
	uint64_t finished, unfinished; /* rows */
	uint64_t below_one; /* values: of slowdowns a bug of the simulator, shown and told */
};

#define SIZES 5
extern const char *const size_names[SIZES];

/* Opens DIR/FILE of a run, f->dir. NULL with f->why if there is no such file, NULL with f->error
 * if it cannot be read. */
struct csv *values_table(struct figure *f, const char *file);

/* Reads those of f->dir. False with f->why or f->error; to be released in any case. */
bool values_read(struct values *values, struct figure *f, const struct values_query *query);
void values_release(struct values *values);

/* Sorts the groups, largest first, and makes one of the keep-th and all behind it. */
void values_merge(struct values *values, size_t keep);

/* The group of this name, or NULL. */
const struct value_group *values_find(const struct values *values, const char *name);

#endif
