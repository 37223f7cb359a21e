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
 *   mean of ratios or of their logarithms is not), and zeros are allowed. Where the interval of a
 *   paired ratio stays above 0, it excludes 1 exactly when that of the paired difference excludes
 * 0.
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
	double low, high; /* NaN: no interval, as values are too few or it is not bounded */
	size_t n;         /* values used: pairs if paired, else those of both samples */
	size_t missing;   /* values, or pairs, that are missing */
};

/* Whether there is an interval and `value` is not in it. */
bool estimate_excludes(const struct estimate *estimate, double value);

/* Half of the interval if `value` is in its middle, else NaN. */
double estimate_half_width(const struct estimate *estimate);

/* Mean and t-interval. A mean needs one value, an interval INFERENCE_MIN. If all values are above
 * 0, as times are, but the t-interval would reach 0, it is replaced by the interval of the mean's
 * logarithm, whose standard error is error / mean by the delta method (Casella and Berger,
 * Statistical Inference, 2nd ed., section 5.5.4). That one is wide, as it should be. Fieller's
 * intervals of ratios, below, are replaced in the same way. */
struct estimate infer_mean(const double *values, size_t count, double level);

/* Makes both sides of a pair NaN where one is missing. What is left is what a paired ratio uses. */
void infer_complete_pairs(double *a, double *b, size_t count);

/* Standard deviation (n - 1) of the values that are not missing; NaN below two. */
double infer_sd(const double *values, size_t count);

/* b - a and b / a of the means of pairs (a[i], b[i]); a pair needs both. No ratio where mean(a) is
 * 0; no interval of it where mean(a) does not differ from 0 significantly (Fieller's set is then
 * unbounded). */
struct estimate infer_difference_paired(const double *a, const double *b, size_t count,
					double level);
struct estimate infer_ratio_paired(const double *a, const double *b, size_t count, double level);

/* The same of two independent samples. Degrees of freedom by Satterthwaite;
 * Welch, Biometrika 34 (1947); for the ratio at its estimate: Tamhane and Logan,
 * J. Biopharm. Stat. 14 (2004). */
struct estimate infer_difference(const double *a, size_t a_count, const double *b, size_t b_count,
				 double level);
struct estimate infer_ratio(const double *a, size_t a_count, const double *b, size_t b_count,
			    double level);

/* Nearest-rank quantile 0 < p < 1; none below 10 / (1 - p) values, as stats_percentile(), but a
 * median from 3 on, as infer_median(). Interval between two order statistics; none where too few
 * values give no interval of this level. */
struct estimate infer_quantile(const double *values, size_t count, double p, double level);

/* The median of few values, and the interval between the k-th values from either end. The median is
 * nearest-rank from 20 values on, as stats_percentile(); below, the middle value or the mean of the
 * two in the middle. The interval holds the median of what the values are drawn from with a
 * probability of `level`: exactly 1 - 2 P(Bin(n, 1/2) < k) for any continuous distribution (David
 * and Nagaraja, Order Statistics, 3rd ed., section 7.1). k is the largest for which that is at
 * least `wanted`; if there is none, 1. All NaN for less than 3 values. */
struct median {
	double value, low, high, level;
};
struct median infer_median(const double *sorted, size_t count, double wanted);

/* Ranks (from 1) of the two order statistics of n values that bound the interval of a quantile: the
 * closest ones with a probability of at most (1 - level) / 2 beyond either. 0 or n + 1: n is too
 * small for this side. */
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
