/* Summaries of samples: exact, from all values. */
#ifndef INASIM_DATA_STATS_H
#define INASIM_DATA_STATS_H

#include <stddef.h>

/* Sorts `values` in place, ascending: makes what functions below take as `sorted`. */
void stats_sort(double *values, size_t count);

/* Nearest-rank percentile, 0 < p < 1: the smallest value that at least a fraction p of the values
 * does not exceed. NaN for fewer than 10 / (1 - p) values: too few to say much about it. */
double stats_percentile(const double *sorted, size_t count, double p);

/* The rank of that percentile among `count` sorted values, from 1; 0: there is none. */
size_t stats_rank(size_t count, double p);

/* NaN for no values. */
double stats_mean(const double *values, size_t count);
double stats_max(const double *sorted, size_t count);

#endif
