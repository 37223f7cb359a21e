/* Exact summaries of samples, from all values. */
#ifndef INASIM_DATA_STATS_H
#define INASIM_DATA_STATS_H

#include <stddef.h>

/* Sorts `values` in ascending order, as parameters `sorted` below must be. */
void stats_sort(double *values, size_t count);

/* Nearest-rank percentile, 0 < p < 1: the smallest value that at least a fraction p of the values
 * does not exceed. NaN for fewer than 10 / (1 - p) values, which say too little. */
double stats_percentile(const double *sorted, size_t count, double p);

/* The rank of this percentile among `count` sorted values, from 1; 0 if there is none. */
size_t stats_rank(size_t count, double p);

/* NaN for no values. */
double stats_mean(const double *values, size_t count);
double stats_max(const double *sorted, size_t count);

#endif
