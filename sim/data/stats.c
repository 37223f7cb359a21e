#include "data/stats.h"

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>

void stats_sort(double *values, size_t count)
{
	gsl_sort(values, 1, count);
}

size_t stats_rank(size_t count, double p)
{
	/* 1 - 1e-12 allows for rounding of products that should be whole */
	if (!count || (double)count * (1 - p) < 10 * (1 - 1e-12))
		return 0;
	return (size_t)ceil(p * (double)count * (1 - 1e-12));
}

double stats_percentile(const double *sorted, size_t count, double p)
{
	size_t rank = stats_rank(count, p);

	return rank ? sorted[rank - 1] : NAN;
}

double stats_mean(const double *values, size_t count)
{
	return count ? gsl_stats_mean(values, 1, count) : NAN;
}

double stats_max(const double *sorted, size_t count)
{
	return count ? sorted[count - 1] : NAN;
}
