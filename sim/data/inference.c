#include "data/inference.h"

#include "base/fail.h"
#include "base/mem.h"
#include "data/stats.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

bool estimate_excludes(const struct estimate *estimate, double value)
{
	return estimate->low > value || estimate->high < value; /* false for NaN */
}

double estimate_half_width(const struct estimate *e)
{
	double half = (e->high - e->low) / 2;

	return fabs(e->value - half - e->low) <= 1e-9 * fabs(e->value) ? half : NAN;
}

/* ---- Samples ---- */

/* The values that are not missing; the caller frees. */
static double *present(const double *values, size_t count, size_t *n)
{
	double *kept = xmalloc((count + 1) * sizeof(*kept));

	*n = 0;
	for (size_t i = 0; i < count; i++)
		if (!isnan(values[i]))
			kept[(*n)++] = values[i];
	return kept;
}

/* Pairs of which both sides are present. */
struct pairs {
	double *a, *b;  /* owned */
	size_t n;       /* pairs in a and b */
	size_t missing; /* pairs left out */
};

static struct pairs pairs_of(const double *a, const double *b, size_t count)
{
	struct pairs pairs = { .a = xmalloc((count + 1) * sizeof(*a)),
			       .b = xmalloc((count + 1) * sizeof(*b)) };

	for (size_t i = 0; i < count; i++) {
		if (isnan(a[i]) || isnan(b[i]))
			continue;
		pairs.a[pairs.n] = a[i];
		pairs.b[pairs.n++] = b[i];
	}
	pairs.missing = count - pairs.n;
	return pairs;
}

static void pairs_release(struct pairs *pairs)
{
	free(pairs->a);
	free(pairs->b);
}

void infer_complete_pairs(double *a, double *b, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (isnan(a[i]) || isnan(b[i]))
			a[i] = b[i] = NAN;
}

struct moments {
	size_t n, missing;
	double mean;
	double error2; /* squared standard error of the mean; NaN below two values */
};

static struct moments moments_of(const double *values, size_t count)
{
	size_t n;
	double *kept = present(values, count, &n);
	struct moments m = { n, count - n, stats_mean(kept, n), NAN };

	if (n >= 2)
		m.error2 = gsl_stats_variance_m(kept, 1, n, m.mean) / (double)n;
	free(kept);
	return m;
}

static double t_quantile(double level, double freedom)
{
	return gsl_cdf_tdist_Pinv((1 + level) / 2, freedom);
}

/* Satterthwaite's degrees of freedom for the sum of two squared errors, of `a` and `b` values. */
static double satterthwaite(double error2_a, size_t a, double error2_b, size_t b)
{
	double sum = error2_a + error2_b;

	if (sum == 0)
		return (double)(a + b - 2);
	return sum * sum /
	       (error2_a * error2_a / (double)(a - 1) + error2_b * error2_b / (double)(b - 1));
}

/* ---- Intervals above 0 ---- */

static bool all_positive(const double *values, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (values[i] <= 0) /* NaN passes */
			return false;
	return true;
}

/* If the interval around a value above 0 reaches 0, replaces it by the interval of the value's
 * logarithm. `half` is t times the standard error of the value; the logarithm's standard error is
 * that of the value, divided by the value. */
static void stay_above_0(struct estimate *e, double half)
{
	if (e->low <= 0) {
		e->low = e->value * exp(-half / e->value);
		e->high = e->value * exp(half / e->value);
	}
}

/* ---- Means and differences ---- */

static struct estimate t_mean(const double *values, size_t count, double level)
{
	struct moments m = moments_of(values, count);
	struct estimate e = { m.mean, NAN, NAN, m.n, m.missing };

	if (m.n >= INFERENCE_MIN) {
		double half = t_quantile(level, (double)(m.n - 1)) * sqrt(m.error2);

		e.low = m.mean - half;
		e.high = m.mean + half;
	}
	return e;
}

struct estimate infer_mean(const double *values, size_t count, double level)
{
	struct estimate e = t_mean(values, count, level);

	if (all_positive(values, count))
		stay_above_0(&e, e.high - e.value);
	return e;
}

struct estimate infer_sections(double pooled, const double *sections, size_t count, double level)
{
	struct estimate e = { pooled, NAN, NAN, count, 0 };
	double squares = 0;

	for (size_t i = 0; i < count; i++) {
		squares += pow(sections[i] - pooled, 2); /* NaN if one is missing */
		e.missing += isnan(sections[i]) ? 1 : 0;
	}
	e.n -= e.missing;
	if (count < INFERENCE_MIN || isnan(squares))
		return e;
	double freedom = (double)count - 1;
	double half = t_quantile(level, freedom) * sqrt(squares / freedom / (double)count);

	e.low = pooled - half;
	e.high = pooled + half;
	if (pooled > 0 && all_positive(sections, count))
		stay_above_0(&e, half);
	return e;
}

double infer_sd(const double *values, size_t count)
{
	struct moments m = moments_of(values, count);

	return sqrt(m.error2 * (double)m.n);
}

struct estimate infer_difference_paired(const double *a, const double *b, size_t count,
					double level)
{
	double *difference = xmalloc((count + 1) * sizeof(*difference));
	struct estimate e;

	for (size_t i = 0; i < count; i++)
		difference[i] = b[i] - a[i]; /* NaN if either is */
	e = t_mean(difference, count, level);
	free(difference);
	return e;
}

struct estimate infer_difference(const double *a, size_t a_count, const double *b, size_t b_count,
				 double level)
{
	struct moments ma = moments_of(a, a_count), mb = moments_of(b, b_count);
	struct estimate e = { mb.mean - ma.mean, NAN, NAN, ma.n + mb.n, ma.missing + mb.missing };

	if (ma.n >= INFERENCE_MIN && mb.n >= INFERENCE_MIN) {
		double freedom = satterthwaite(ma.error2, ma.n, mb.error2, mb.n);
		double half = t_quantile(level, freedom) * sqrt(ma.error2 + mb.error2);

		e.low = e.value - half;
		e.high = e.value + half;
	}
	return e;
}

/* ---- Ratios of means ---- */

/* Fieller's interval around r = mean(b) / mean(a). It holds every r + x that a t-test of
 * mean(b - (r + x) a) = 0 does not reject. With d = b - r a, whose mean is 0:
 *
 *     (x mean_a)^2 <= t^2 (dd - 2 x ad + x^2 aa),
 *
 * where aa and dd are the squared errors of the means of a and d, and ad is their covariance. In
 * terms of d nothing cancels numerically, unlike in the textbook's form in b. */
static void fieller(struct estimate *e, double mean_a, double aa, double dd, double ad, double t)
{
	double t2 = t * t;
	double lead = mean_a * mean_a - t2 * aa;

	if (!(lead > 0)) /* mean_a may be 0 */
		return;
	double root = sqrt(t2 * t2 * ad * ad + lead * t2 * dd);

	e->low = e->value + (-t2 * ad - root) / lead;
	e->high = e->value + (-t2 * ad + root) / lead;
}

struct estimate infer_ratio_paired(const double *a, const double *b, size_t count, double level)
{
	struct pairs pairs = pairs_of(a, b, count);
	size_t n = pairs.n;
	struct estimate e = { NAN, NAN, NAN, n, pairs.missing };
	double mean_a = stats_mean(pairs.a, n);

	if (n >= 1 && mean_a != 0)
		e.value = stats_mean(pairs.b, n) / mean_a;
	if (n >= INFERENCE_MIN && mean_a != 0) {
		double *d = pairs.b;
		double aa;
		double dd;
		double ad;
		double t;

		for (size_t i = 0; i < n; i++)
			d[i] -= e.value * pairs.a[i];
		aa = gsl_stats_variance(pairs.a, 1, n) / (double)n;
		dd = gsl_stats_variance(d, 1, n) / (double)n;
		ad = gsl_stats_covariance(pairs.a, 1, d, 1, n) / (double)n;
		t = t_quantile(level, (double)(n - 1));
		fieller(&e, mean_a, aa, dd, ad, t);
		if (all_positive(a, count) && all_positive(b, count))
			stay_above_0(&e, t * sqrt(dd) / mean_a);
	}
	pairs_release(&pairs);
	return e;
}

struct estimate infer_ratio(const double *a, size_t a_count, const double *b, size_t b_count,
			    double level)
{
	struct moments ma = moments_of(a, a_count), mb = moments_of(b, b_count);
	struct estimate e = { NAN, NAN, NAN, ma.n + mb.n, ma.missing + mb.missing };

	if (ma.mean == 0)
		return e;
	double r = mb.mean / ma.mean; /* NaN where a sample is empty */

	e.value = r;
	if (ma.n >= INFERENCE_MIN && mb.n >= INFERENCE_MIN) {
		double scaled = r * r * ma.error2, dd = mb.error2 + scaled;
		double t = t_quantile(level, satterthwaite(scaled, ma.n, mb.error2, mb.n));
		/* The samples are independent: only the term -r a of d = b - r a varies with a. */

		fieller(&e, ma.mean, ma.error2, dd, -r * ma.error2, t);
		if (all_positive(a, a_count) && all_positive(b, b_count))
			stay_above_0(&e, t * sqrt(dd) / ma.mean);
	}
	return e;
}

/* ---- Quantiles ---- */

/* The number B of values below the quantile has the distribution Bin(n, p). The sum of its
 * densities starts more than 12 standard deviations below the mean, and so leaves out almost no
 * probability: at 0 the density of a million values underflows. */
void infer_quantile_ranks(size_t n, double p, double level, size_t *low, size_t *high)
{
	SIM_BUG_ON(!(p > 0 && p < 1) || n > UINT32_MAX);
	double tail = (1 - level) / 2, mean = (double)n * p;
	double start = floor(mean - 12 * sqrt(mean * (1 - p)) - 12);
	size_t k = start > 0 ? (size_t)start : 0;
	double density = gsl_ran_binomial_pdf((unsigned)k, p, (unsigned)n);
	double below = density; /* P(B <= k) */

	*low = 0;
	*high = n + 1;
	for (; k < n; k++) {
		if (below <= tail)
			*low = k + 1;
		if (below >= 1 - tail) {
			*high = k + 1;
			return;
		}
		density *= (double)(n - k) / (double)(k + 1) * p / (1 - p);
		below += density;
	}
}

struct median infer_median(const double *sorted, size_t count, double wanted)
{
	size_t k, unused, rank = stats_rank(count, 0.5);

	if (count < 3)
		return (struct median){ NAN, NAN, NAN, NAN };
	infer_quantile_ranks(count, 0.5, wanted, &k, &unused);
	if (!k)
		k = 1;
	return (struct median){
		.value =
			rank ? sorted[rank - 1] : (sorted[(count - 1) / 2] + sorted[count / 2]) / 2,
		.low = sorted[k - 1],
		.high = sorted[count - k],
		.level = 1 - 2 * gsl_cdf_binomial_P((unsigned)k - 1, 0.5, (unsigned)count),
	};
}

/* ---- Jain's index ---- */

void jain_add(struct jain *jain, double value)
{
	if (isnan(value))
		return;
	jain->n++;
	jain->sum += value;
	jain->squares += value * value;
}

double jain_index(const struct jain *jain)
{
	return jain->squares > 0 ? jain->sum * jain->sum / (jain->n * jain->squares) : NAN;
}
