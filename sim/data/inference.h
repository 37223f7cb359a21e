/* What can be concluded from samples: confidence intervals, fairness.
 *
 * NaN is a missing value (unfinished work, an empty cell): it is counted and never averaged.
 * Intervals assume independent values. Replications (runs of other seeds) are; jobs, flows and
 * iterations of one run share its queues and its draws, and are not.
 *
 * Which method, and why:
 * - Means: Student's t, paired where both sides saw the same random numbers, Welch's where they did
 *   not (Law, Simulation Modeling and Analysis, 5th ed., sections 9.4 and 10.2).
 * - Ratios: the ratio of the means, with Fieller's interval (Fieller, J. R. Statist. Soc. B 16,
 *   1954). The estimate is then the quotient of the two numbers that a table shows side by side (a
 *   mean of ratios or of their logarithms is not), and zeros are allowed. Where Fieller's
 *   interval of a paired ratio lies above 0, it excludes 1 exactly when the interval of the paired
 *   difference excludes 0.
 * - Quantiles of what replications have together: sectioning, since their flows are no independent
 *   values (infer_sections()).
 * - Quantiles else: order statistics, whose coverage is at least the level for any distribution,
 * exactly and without random numbers (David and Nagaraja, Order Statistics, 3rd ed., section 7.1).
 */
#ifndef INASIM_DATA_INFERENCE_H
#define INASIM_DATA_INFERENCE_H

#include <stdbool.h>
#include <stddef.h>

#define INFERENCE_LEVEL 0.95
#define INFERENCE_MIN   3 /* values of each sample, or pairs, that an interval of means needs */

struct estimate {
	double value;     /* NaN if there is none */
	double low, high; /* NaN if there are too few values, or the interval has no bounds */
	size_t n;         /* values used; of two samples: pairs, or all if unpaired */
	size_t missing;   /* missing values, or incomplete pairs */
};

/* Whether `value` is outside of the interval; false if there is none. */
bool estimate_excludes(const struct estimate *estimate, double value);

/* Half the width of the interval if `value` is in its middle, else NaN. */
double estimate_half_width(const struct estimate *estimate);

/* Mean and t-interval. A mean needs one value, an interval INFERENCE_MIN values. If all values are
 * above 0, as times are, but the t-interval reaches 0, it is replaced by the interval of the mean's
 * logarithm, which is wide but stays above 0. The standard error of the logarithm is error / mean
 * by the delta method (Casella and Berger, Statistical Inference, 2nd ed., section 5.5.4).
 * Fieller's intervals of ratios, below, are replaced in the same way. */
struct estimate infer_mean(const double *values, size_t count, double level);

/* The interval of an estimate from all values together, such as a percentile, by sectioning:
 * `sections` are the same estimate from each replication alone, whose spread around `pooled` gives
 * the standard error, with Student's t (Asmussen and Glynn, Stochastic Simulation, 2007, section
 * III.5). It needs INFERENCE_MIN sections, none of them missing. Above 0 it stays so, as that of a
 * mean. */
struct estimate infer_sections(double pooled, const double *sections, size_t count, double level);

/* Makes both sides of incomplete pairs NaN; paired ratios use only complete pairs. */
void infer_complete_pairs(double *a, double *b, size_t count);

/* Standard deviation (divisor n - 1) of the values that are not missing; NaN below two. */
double infer_sd(const double *values, size_t count);

/* Difference mean(b) - mean(a) and ratio mean(b) / mean(a) over complete pairs (a[i], b[i]). There
 * is no ratio if mean(a) is 0, and no interval of the ratio if mean(a) does not differ from 0
 * significantly (Fieller's set is then unbounded). */
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

/* The median of few values. From 20 values on it is nearest-rank, like stats_percentile(); below,
 * it is the middle value or the mean of the two in the middle. The interval goes from the k-th
 * smallest to the k-th largest value. `level` is the probability that it holds the median of the
 * distribution that the values are drawn from: exactly 1 - 2 P(Bin(n, 1/2) < k) if the distribution
 * is continuous (David and Nagaraja, Order Statistics, 3rd ed., section 7.1). k is the largest with
 * a level of at least `wanted`; if there is none, k is 1. All NaN for less than 3 values. */
struct median {
	double value, low, high, level;
};
struct median infer_median(const double *sorted, size_t count, double wanted);

/* The interval of a quantile goes from the *low-th to the *high-th smallest of n values. These are
 * the closest ranks for which the quantile is below the interval with a probability of at most (1 -
 * level) / 2, and likewise above it. If n is too small for a side, *low is 0 or *high is n + 1. */
void infer_quantile_ranks(size_t n, double p, double level, size_t *low, size_t *high);

/* Jain's index of fairness, (sum x)^2 / (n sum x^2): 1 if all are equal, k / n if k of n have equal
 * shares and the others nothing (Jain, Chiu and Hawe, DEC-TR-301, 1984). NaN without values and if
 * all are 0. jain_add() adds a value, or ignores NaN; start with a struct of zeros. */
struct jain {
	double n, sum, squares;
};
void jain_add(struct jain *jain, double value);
double jain_index(const struct jain *jain);

#endif
