/* Groups the points of a sweep that differ only in their replication: one group for each
 * combination of axis values that has points. */
#ifndef INASIM_LAB_SWEEP_GROUPS_H
#define INASIM_LAB_SWEEP_GROUPS_H

#include "data/inference.h"
#include "lab/sweep/sweep_table.h"

struct group {
	const size_t *levels;                    /* by axis, as its points have them */
	const struct sweep_point *const *points; /* by number */
	size_t count;
	size_t censored; /* points that are not `done`: unfinished, or without metrics */
};

struct groups {
	struct group *items; /* by number of their first points */
	size_t count;
	const struct sweep_point **points; /* which the items point into */
};

/* The table must outlive them. */
struct groups groups_of(const struct sweep_table *table);
void groups_release(struct groups *groups);

/* Whether its points, two or more, are done and agree in every metric: nothing that counts is
 * random in their scenario, and there is nothing to estimate. */
bool group_is_same(const struct sweep_table *table, const struct group *group);

/* The number of groups of two or more points, and in *same how many of them agree. */
size_t groups_replicated(const struct sweep_table *table, size_t *same);

/* Values of a metric over the points of a group, NaN where a point has none (or for metric
 * SIZE_MAX); the caller frees. Unfinished points count, with the work that they finished: leaving
 * slow runs out would be worse. `censored` tells how many there are. */
double *group_values(const struct group *group, size_t metric);

/* Values of a metric of `group` in the order of the replications of `like`, NaN where it has none;
 * the caller frees. `group` may be NULL. */
double *group_values_like(const struct group *like, const struct group *group, size_t metric);

/* The mean of a metric over the points of a group, and its interval. */
struct estimate group_mean(const struct group *group, size_t metric);

/* A metric of `group`, which may be of another sweep, against that of `base`: b / a and b - a, over
 * pairs of replications if those that both have were run with the same seeds (common random
 * numbers), else of two independent samples. */
struct group_ratio {
	bool paired;
	struct estimate ratio, difference;
	double means[2]; /* of base and group over complete pairs; NaN where not paired */
};
struct group_ratio group_ratio(const struct group *base, size_t base_metric,
			       const struct group *group, size_t metric);

/* Writes groups.csv, a row for each group and metric: the axes, then metric, n, mean, sd,
 * half_width_95, low, high (t-interval of the mean; empty where all replications agree), censored,
 * same. False and *error (caller frees) on failure; PATH is then unchanged. */
bool groups_write(const struct sweep_table *table, const char *path, char **error);

#endif
