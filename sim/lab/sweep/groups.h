/* Groups the points of a sweep that differ only in their replication: one group for each
 * combination of axis values that has points. */
#ifndef INASIM_LAB_SWEEP_GROUPS_H
#define INASIM_LAB_SWEEP_GROUPS_H

#include "data/verdict.h"
#include "lab/sweep/sweep_table.h"

struct group {
	const size_t *levels;                    /* by axis: the level of all points of the group */
	const struct sweep_point *const *points; /* in the order of their numbers */
	size_t count;
	size_t censored;    /* points whose work is not all done, or that have no metrics */
	size_t substituted; /* points with work that was done by another scheme */
};

struct groups {
	struct group *items; /* in the order of the numbers of their first points */
	size_t count;
	const struct sweep_point **points; /* the array that items[].points point into */
};

/* Groups the points of a table, which must outlive the groups. */
struct groups groups_of(const struct sweep_table *table);
void groups_release(struct groups *groups);

/* The group of these levels, or that which stands for them: an axis that does not apply to a group
 * fits with any level. NULL if there is none. */
const struct group *groups_find(const struct sweep_table *table, const struct groups *groups,
				const size_t *levels);

/* Whether a group has two or more points, all done and equal in every metric. Then nothing that
 * matters is random in their scenario, and there is nothing to estimate. */
bool group_is_same(const struct sweep_table *table, const struct group *group);

/* Returns how many groups have two or more points. *same becomes the number of these for which
 * group_is_same() holds. */
size_t groups_replicated(const struct sweep_table *table, size_t *same);

/* Whether "precision" has spared replications: some group has fewer points than others could. */
bool groups_spared(const struct sweep_table *table, const struct groups *groups);

/* Returns the value of a metric in each point of a group, NaN where a point has none; all NaN if
 * `metric` is SIZE_MAX. The caller frees. Unfinished points count with the work that they finished:
 * to leave slow runs out would be worse. */
double *group_values(const struct group *group, size_t metric);

/* The mean of a metric over the points of a group, and its interval. */
struct estimate group_mean(const struct group *group, size_t metric);

/* How much of the work behind a metric the points of a group have done: jobs or flows, of all
 * points with results. A mean is `partial`, one over survivors, if a point is not done or jobs
 * behind the mean have not finished; flows that a planned end cuts off are seen in `finished`
 * alone. */
struct group_work {
	bool known; /* the metric is one of jobs or flows */
	uint64_t finished, count;
	bool partial;
};
struct group_work group_work(const struct sweep_table *table, const struct group *group,
			     size_t metric);

/* Compares the mean of a metric in `group` with that in `base`, which may be of another sweep. If
 * their common replications were run with the same seeds (common random numbers), the comparison is
 * over pairs of replications; else the two are independent samples. Groups with unfinished work get
 * no verdict. */
struct group_ratio {
	bool paired;
	struct estimate ratio, difference; /* group / base, group - base */
	double means[2]; /* if paired: of base and group over complete pairs; else NaN */
	struct verdict verdict;
};
struct group_ratio group_ratio(const struct group *base, size_t base_metric,
			       const struct group *group, size_t metric,
			       const struct verdict_rule *rule);

/* Writes groups.csv to PATH: a row for each group and metric, with the values of the axes and the
 * groups_columns, which sim/cli/README.md explains. False and *error (caller frees) on failure;
 * PATH is then unchanged. */
bool groups_write(const struct sweep_table *table, const char *path, char **error);

#endif
