/* What can be concluded from samples: confidence intervals, fairness.
 *
 * NaN is a missing value (unfinished work, an empty cell): it is counted and never averaged.
 * Intervals assume independent values: replications are independent, flows and iterations of one
 * run only roughly.
 *
 * Which method, and why:
 * - Means: Student's t, paired where both sides saw the same random numbers, Welch's where they did
 *   not (Law, Simulation Modeling and Analysis, 5th ed., sections 9.4 and 10.2).
 * - Ratios: the ratio of the means, with Fieller's interval (Fieller, J. R. Statist. Soc. B 16,
 *   1954). The estimate is then the quotient of the two numbers that a table shows side by side (a
 *   mean of ratios or of their logarithms is not), and zeros are allowed. If the interval of a
 *   paired ratio stays above 0, then it excludes 1 exactly when the interval of the paired
 *   difference excludes 0.
 * - Quantiles: order statistics, whose coverage is at least the level for any distribution, exactly
 *   and without random numbers (David and Nagaraja, Order Statistics, 3rd ed., section 7.1).
 * - Ratios of quantiles: percentile bootstrap, pairs resampled together (Efron and Tibshirani, An
 *   Introduction to the Bootstrap, 1993, chapter 13). Not BCa: its acceleration comes from the
 *   jackknife, which is inconsistent for quantiles (ibid., section 11.6). */
#ifndef INASIM_DATA_INFERENCE_H
#define INASIM_DATA_INFERENCE_H

#include "core/rng.h"

#include <stdbool.h>
#include <stddef.h>

#define INFERENCE_LEVEL 0.95
#define INFERENCE_MIN   3 /* values on each side, or pairs, that an interval of means needs */

struct estimate {
	double value;     /* NaN: there is none */
	double low, high; /* NaN: values are too few for an interval, or it has no bounds */
	size_t n;         /* values used; of two samples: pairs, or values of both if not paired */
	size_t missing;   /* values, or pairs, that are missing */
};

/* Whether there is an interval and `value` is not in it. */
bool estimate_excludes(const struct estimate *estimate, double value);

/* Half of the interval if `value` is in its middle, else NaN. */
double estimate_half_width(const struct estimate *estimate);

/* Mean and t-interval. A mean needs one value, an interval INFERENCE_MIN values. The t-interval may
 * reach 0 although all values are above 0, like times. Then the interval of the mean's logarithm
 * replaces it, which is wide but stays above 0. The standard error of the logarithm is error / mean
 * by the delta method (Casella and Berger, Statistical Inference, 2nd ed., section 5.5.4).
 * Fieller's intervals of ratios, below, are replaced in the same way. */
struct estimate infer_mean(const double *values, size_t count, double level);

/* Makes both sides of a pair NaN where one is missing: a paired ratio uses only the other pairs. */
void infer_complete_pairs(double *a, double *b, size_t count);

/* Standard deviation (divisor n - 1) of the values that are not missing; NaN below two. */
double infer_sd(const double *values, size_t count);

/* Difference mean(b) - mean(a) and ratio mean(b) / mean(a) over pairs (a[i], b[i]) of which neither
 * side is missing. There is no ratio where mean(a) is 0, and no interval of the ratio where mean(a)
 * does not differ from 0 significantly (Fieller's set is then unbounded). */
struct estimate infer_difference_paired(const double *a, const double *b, size_t count,
					double level);
struct estimate infer_ratio_paired(const double *a, const double *b, size_t count, double level);

/* Difference and ratio of the means of two independent samples. Degrees of freedom are
 * Satterthwaite's (Welch, Biometrika 34, 1947). Those of a ratio are computed as if its estimate
 * were its true value (Tamhane and Logan, J. Biopharm. Stat. 14, 2004). */
struct estimate infer_difference(const double *a, size_t a_count, const double *b, size_t b_count,
				 double level);
struct estimate infer_ratio(const double *a, size_t a_count, const double *b, size_t b_count,
			    double level);

/* Nearest-rank quantile, 0 < p < 1. Like stats_percentile(), there is none below 10 / (1 - p)
 * values; but there is a median from 3 values on, by infer_median(). The interval lies between two
 * of the sorted values; there is none where values are too few for this level. */
struct estimate infer_quantile(const double *values, size_t count, double p, double level);

/* The median of few values. From 20 values on it is nearest-rank, like stats_percentile(); below,
 * it is the middle value or the mean of the two in the middle. The interval goes from the k-th
 * smallest to the k-th largest value. It holds the median of the distribution that the values are
 * drawn from with a probability of `level`, which is exactly 1 - 2 P(Bin(n, 1/2) < k) if the
 * distribution is continuous (David and Nagaraja, Order Statistics, 3rd ed., section 7.1). k is the
 * largest with a level of at least `wanted`; if there is none, k is 1. All NaN for less than 3
 * values. */
struct median {
	double value, low, high, level;
};
struct median infer_median(const double *sorted, size_t count, double wanted);

/* The interval of a quantile goes from the *low-th to the *high-th smallest of n values. These are
 * the closest ranks for which the quantile lies below the interval with a probability of at most
 * (1 - level) / 2, and above it likewise. *low 0 or *high n + 1: n is too small for that side. */
void infer_quantile_ranks(size_t n, double p, double level, size_t *low, size_t *high);

/* The quantile of b over that of a; no interval where a resampled quantile of a is 0. */
struct estimate infer_quantile_ratio_paired(const double *a, const double *b, size_t count,
					    double p, double level, struct rng *rng);
struct estimate infer_quantile_ratio(const double *a, size_t a_count, const double *b,
				     size_t b_count, double p, double level, struct rng *rng);

/* Jain's index of fairness, (sum x)^2 / (n sum x^2): 1 when all are equal, k / n when k of n share
 * alike and the others have nothing (Jain, Chiu and Hawe, DEC-TR-301, 1984). NaN for no values and
 * where all are 0. Values come one by one; a struct of zeros has none. */
struct jain {
	double n, sum, squares;
};
void jain_add(struct jain *jain, double value);
double jain_index(const struct jain *jain);

#endif
