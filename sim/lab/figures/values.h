/* Values out of a table of a run, in groups; what figures make of them. Private to the figures. */
#ifndef INASIM_LAB_FIGURES_VALUES_H
#define INASIM_LAB_FIGURES_VALUES_H

#include "lab/figures/figure.h"
#include "out/csv_read.h"

/* Which column of which table, by what. Rows that are marked as not measured (warm-up) or not
 * finished do not count. */
struct values_query {
	const char *file, *value;
	const char *group;    /* column; NULL: all is one group */
	const char *subgroup; /* column that is told beside it, or NULL */
	const char *at;       /* column of times that belong to the values, or NULL */
	bool work;            /* rows are flows or jobs: they finish or not, values are above 0 */
	bool by_size;         /* the groups are the classes of SIZES, by the number in `group` */
};

struct value_group {
	char *name, *subname;
	double *at, *values; /* `at` only where the query has it */
	size_t count, at_capacity, capacity;
};

/* All zero is empty. */
struct values {
	struct value_group *groups; /* in the order of their first rows */
	size_t group_count, capacity;
	uint64_t finished, unfinished;
	uint64_t below_one; /* of slowdowns a bug of the simulator, shown and told */
};

#define SIZES 5
extern const char *const size_names[SIZES];

/* Opens DIR/FILE of a run, f->dir. NULL with f->why if there is no such file, NULL with f->error
 * if it cannot be read. */
struct csv *values_table(struct figure *f, const char *file);

/* Closes; false with f->error when the table has a mistake. */
bool values_end(struct figure *f, struct csv *csv);

/* Reads those of f->dir, values sorted where no times belong to them. False with f->why or
 * f->error; to be released in any case. */
bool values_read(struct values *values, struct figure *f, const struct values_query *query);
void values_release(struct values *values);

/* Rows (value, share not larger), thinned evenly but for the largest values. */
void values_cdf(struct figure *f, const double *sorted, size_t count);

#endif
