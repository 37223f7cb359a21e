/* Intervals, warm-up and fairness against published numbers, against numbers from
 * an independent computation (Python 3: Student's t by Simpson's rule on its
 * density and bisection, binomial tails in exact fractions, Fieller's interval in
 * the textbook's form), and by their coverage in simulation. */
#include "data/inference.h"

#include "core/rng.h"
#include "data/stats.h"

#include <criterion/criterion.h>
#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#define LEVEL INFERENCE_LEVEL

/* Student, Biometrika 6 (1908): extra hours of sleep of ten patients under two
 * drugs; the data set `sleep` of R. */
static const double drug1[] = { 0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0 };
static const double drug2[] = { 1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4 };

static void expect(double got, double want, double relative, int line)
{
	cr_expect(fabs(got - want) <= relative * fabs(want), "line %d: %.15g, not %.15g", line, got,
		  want);
}
#define EXPECT(got, want, relative) expect(got, want, relative, __LINE__)

static void expect_estimate(struct estimate e, double value, double low, double high, size_t n,
			    int line)
{
	expect(e.value, value, 1e-9, line);
	expect(e.low, low, 1e-8, line);
	expect(e.high, high, 1e-8, line);
	cr_expect_eq(e.n, n, "line %d: n is %zu", line, e.n);
}
#define EXPECT_ESTIMATE(...) expect_estimate(__VA_ARGS__, __LINE__)

/* Expects an estimate without interval. A `value` of NAN: without value, too. */
static void expect_open(struct estimate e, double value, size_t n, size_t missing, int line)
{
	cr_expect(isnan(value) ? isnan(e.value) : e.value == value, "line %d: %g", line, e.value);
	cr_expect(isnan(e.low) && isnan(e.high), "line %d: %g %g", line, e.low, e.high);
	cr_expect(e.n == n && e.missing == missing, "line %d: %zu %zu", line, e.n, e.missing);
	cr_expect_not(estimate_excludes(&e, 1e300), "line %d", line);
}
#define EXPECT_OPEN(...) expect_open(__VA_ARGS__, __LINE__)

static struct rng stream(uint64_t id)
{
	struct rng rng;
	rng_init(&rng, 1, "test.inference", id);
	return rng;
}

/* ---- Means ---- */

/* Two-sided 95 % points of Student's t as every textbook prints them: for values
 * 0, 0, ..., 0, n the standard error is 1 by construction, so half the interval is
 * the point itself. */
Test(inference, student_t_points)
{
	static const struct {
		size_t n;
		double t;
	} points[] = { { 3, 4.303 }, { 4, 3.182 }, { 5, 2.776 }, { 10, 2.262 }, { 30, 2.045 } };
	for (size_t i = 0; i < sizeof(points) / sizeof(*points); i++) {
		size_t n = points[i].n;
		double x[30] = { 0 };
		x[n - 1] = (double)n;
		struct estimate e = infer_mean(x, n, LEVEL);
		EXPECT(e.value, 1, 1e-14);
		cr_expect_float_eq((e.high - e.low) / 2, points[i].t, 0.0005, "n %zu: %g", n,
				   (e.high - e.low) / 2);
	}
}

/* NIST StRD, univariate: certified means and standard deviations of NumAcc1 to
 * NumAcc4, whose data are given by a rule and hard on sums of squares. */
Test(inference, nist_numerical_accuracy)
{
	static const struct {
		double first, low, high, sd;
	} sets[] = { { 1.2, 1.1, 1.3, 0.1 },
		     { 1000000.2, 1000000.1, 1000000.3, 0.1 },
		     { 10000000.2, 10000000.1, 10000000.3, 0.1 } };
	const double one[] = { 10000001, 10000003, 10000002 };
	cr_expect_eq(infer_mean(one, 3, LEVEL).value, 10000002);
	cr_expect_eq(infer_sd(one, 3), 1);
	for (size_t s = 0; s < 3; s++) {
		double x[1001] = { sets[s].first };
		for (size_t i = 1; i < 1001; i++)
			x[i] = i % 2 ? sets[s].low : sets[s].high;
		EXPECT(infer_mean(x, 1001, LEVEL).value, sets[s].first, 1e-14);
		EXPECT(infer_sd(x, 1001), sets[s].sd, 1e-8); /* the data lose 8 digits as doubles */
	}
}

/* t.test(extra ~ group, data = sleep, paired = TRUE) and without `paired`, in R. */
Test(inference, sleep_differences)
{
	EXPECT_ESTIMATE(infer_difference_paired(drug1, drug2, 10, LEVEL), 1.58, 0.7001142367230142,
			2.459885763276986, 10);
	EXPECT_ESTIMATE(infer_difference(drug1, 10, drug2, 10, LEVEL), 1.58, -0.20548323071168,
			3.365483230711683, 20);
}

Test(inference, corner_cases_of_means)
{
	const double x[] = { NAN, 4, NAN }, same[] = { 0.1, 0.1, 0.1, NAN, 0.1 }, two[] = { 1, 3 };
	EXPECT_OPEN(infer_mean(NULL, 0, LEVEL), NAN, 0, 0);
	EXPECT_OPEN(infer_mean(x, 1, LEVEL), NAN, 0, 1);
	EXPECT_OPEN(infer_mean(x, 3, LEVEL), 4, 1, 2);
	EXPECT_OPEN(infer_mean(two, 2, LEVEL), 2, 2, 0);
	struct estimate e = infer_mean(same, 5, LEVEL);
	cr_expect(e.value == 0.1 && e.low == 0.1 && e.high == 0.1 && e.n == 4 && e.missing == 1);
	cr_expect(isnan(infer_sd(x, 3)) && infer_sd(same, 5) == 0);
}

/* 1, 1, 10: mean 4, standard error 3, t 4.30265: 4 -+ 12.9 would begin at -8.9. On the scale of
 * logarithms 4 exp(-+ 3.22699). With a value of 0, or as differences, the t-interval stays. */
Test(inference, times_have_no_interval_below_0)
{
	const double times[] = { 1, 1, NAN, 10 }, zero[] = { 0, 1, 11 }, none[] = { 0, 0, 0, 0 };
	struct estimate e = infer_mean(times, 4, LEVEL);
	EXPECT(e.value, 4, 1e-14);
	EXPECT(e.low, 4 * exp(-0.75 * 4.302652729911275), 1e-9);
	EXPECT(e.high, 4 * exp(0.75 * 4.302652729911275), 1e-9);
	cr_expect_lt(infer_mean(zero, 3, LEVEL).low, 0);
	cr_expect_lt(infer_difference_paired(none, times, 4, LEVEL).low, 0);
}

/* Fieller's intervals would be -0.736 to 2.18, and -0.89 to 2.1 of independent samples. On the
 * scale of logarithms 0.4 exp(-+ t error), where error is that of the difference over
 * mean(b); 2.0237 degrees of freedom by Satterthwaite. With a value of 0 Fieller's stay. */
Test(inference, ratios_of_times_have_no_interval_below_0)
{
	const double a[] = { 10, NAN, 11, 9 }, b[] = { 1, 3, 1, 10 }, zero[] = { 0, NAN, 2, 10 };
	struct estimate e = infer_ratio_paired(a, b, 4, LEVEL);
	EXPECT(e.value, 0.4, 1e-14);
	EXPECT(e.low, 0.012770044148229982, 1e-9);
	EXPECT(e.high, 12.529322384698032, 1e-9);
	cr_expect_lt(infer_ratio_paired(a, zero, 4, LEVEL).low, 0);
	const double c[] = { 1, 1, 10 };
	double half = gsl_cdf_tdist_Pinv(0.975, 2.023702871339497) * 0.7522189397597838;
	e = infer_ratio(a, 4, c, 3, LEVEL);
	EXPECT(e.low, 0.4 * exp(-half), 1e-9);
	EXPECT(e.high, 0.4 * exp(half), 1e-9);
}

/* Two values, or two pairs, say nothing of how far a third may be. */
Test(inference, no_interval_for_fewer_than_three)
{
	const double two[] = { 10, 11 }, other[] = { 30, 33 }, three[] = { 30, 31, 32 };
	EXPECT_OPEN(infer_mean(two, 2, LEVEL), 10.5, 2, 0);
	EXPECT_OPEN(infer_difference_paired(two, other, 2, LEVEL), 21, 2, 0);
	EXPECT_OPEN(infer_ratio_paired(two, other, 2, LEVEL), 3, 2, 0);
	EXPECT_OPEN(infer_difference(two, 2, other, 2, LEVEL), 21, 4, 0);
	EXPECT_OPEN(infer_ratio(two, 2, other, 2, LEVEL), 3, 4, 0);
	EXPECT_OPEN(infer_difference(two, 2, three, 3, LEVEL), 20.5, 5, 0);
	EXPECT_OPEN(infer_ratio(three, 3, two, 2, LEVEL), 10.5 / 31, 5, 0);
	cr_expect_not(isnan(infer_ratio(three, 3, three, 3, LEVEL).low));
}

Test(inference, corner_cases_of_pairs)
{
	const double a[] = { 1, NAN, 3, 4 }, b[] = { 2, 5, NAN, 8 }, none[] = { NAN, NAN };
	struct estimate e = infer_difference_paired(a, b, 4, LEVEL);
	cr_expect(e.n == 2 && e.missing == 2 && e.value == 2.5);
	e = infer_ratio_paired(a, b, 4, LEVEL);
	EXPECT_OPEN(e, 2, 2, 2); /* exact, but mean(a) may be 0 for two values and t(1) */
	EXPECT_OPEN(infer_difference_paired(a, none, 2, LEVEL), NAN, 0, 2);
	EXPECT_OPEN(infer_ratio_paired(a, none, 2, LEVEL), NAN, 0, 2);
	EXPECT_OPEN(infer_ratio_paired(a, b, 1, LEVEL), 2, 1, 0);
	EXPECT_OPEN(infer_difference(a, 1, b, 4, LEVEL), 4, 4, 1);
	EXPECT_OPEN(infer_ratio(a, 1, b, 4, LEVEL), 5, 4, 1);
	EXPECT_OPEN(infer_ratio(none, 2, b, 4, LEVEL), NAN, 3, 3);
	EXPECT_OPEN(infer_ratio(a, 4, none, 2, LEVEL), NAN, 3, 3);
}

/* ---- Ratios ---- */

/* Quotient drug 1 / drug 2. The textbook's form of Fieller's interval:
 * (B -+ sqrt(B^2 - A C)) / A with A = a^2 - t^2 aa, B = a b - t^2 ab, C = b^2 - t^2 bb. */
Test(inference, sleep_ratios)
{
	EXPECT_ESTIMATE(infer_ratio_paired(drug2, drug1, 10, LEVEL), 0.75 / 2.33,
			-0.48491977537192427, 0.6565966852855815, 10);
	EXPECT_ESTIMATE(infer_ratio(drug2, 10, drug1, 10, LEVEL), 0.75 / 2.33, -0.227858121504829,
			1.2266506233972374, 20);
}

/* The mean under drug 1 does not differ from 0 significantly (t = 1.33): a ratio
 * to it can be anything. */
Test(inference, ratio_to_what_may_be_zero_is_unbounded)
{
	struct estimate e = infer_ratio_paired(drug1, drug2, 10, LEVEL);
	EXPECT(e.value, 2.33 / 0.75, 1e-14);
	cr_expect(isnan(e.low) && isnan(e.high));
	const double zero[] = { 0, 0, 0 };
	EXPECT_OPEN(infer_ratio_paired(zero, drug2, 3, LEVEL), NAN, 3, 0);
	EXPECT_OPEN(infer_ratio(zero, 3, drug2, 3, LEVEL), NAN, 6, 0);
}

/* mean((1 + x) a) against mean(a) is known exactly, whatever a is. */
Test(inference, ratio_of_proportional_values_is_exact)
{
	const double a[] = { 3, 5, 8, 13 }, b[] = { 1.5, 2.5, 4, 6.5 };
	struct estimate e = infer_ratio_paired(a, b, 4, LEVEL);
	cr_expect(e.value == 0.5 && e.low == 0.5 && e.high == 0.5);
	e = infer_ratio_paired(a, a, 4, LEVEL);
	cr_expect(e.value == 1 && e.low == 1 && e.high == 1);
	cr_expect_not(estimate_excludes(&e, 1));
}

/* What the header promises: the paired ratio excludes 1 exactly when the paired
 * difference excludes 0. */
Test(inference, ratio_and_difference_agree)
{
	struct rng rng = stream(0);
	size_t excluded = 0;
	for (int round = 0; round < 2000; round++) {
		double a[6], b[6];
		for (int i = 0; i < 6; i++) {
			a[i] = 10 + rng_normal(&rng);
			b[i] = a[i] + 1 + rng_normal(&rng);
		}
		struct estimate d = infer_difference_paired(a, b, 6, LEVEL);
		struct estimate r = infer_ratio_paired(a, b, 6, LEVEL);
		cr_assert_eq(estimate_excludes(&d, 0), estimate_excludes(&r, 1), "round %d", round);
		excluded += estimate_excludes(&d, 0);
	}
	cr_expect(excluded > 200 && excluded < 1800, "%zu", excluded); /* both cases did occur */
}

/* ---- Quantiles ---- */

/* Exact fractions; the ranks for medians are those of tables of the sign test. */
Test(inference, ranks_of_quantile_intervals)
{
	static const struct {
		size_t n;
		double p, level;
		size_t low, high;
	} known[] = {
		{ 20, 0.5, 0.95, 6, 15 },         { 50, 0.5, 0.95, 18, 33 },
		{ 100, 0.5, 0.95, 40, 61 },       { 16, 0.75, 0.9, 9, 16 },
		{ 1000, 0.99, 0.95, 983, 997 },   { 1500, 0.99, 0.95, 1477, 1493 },
		{ 2000, 0.95, 0.95, 1880, 1920 }, { 6, 0.5, 0.95, 1, 6 },
		{ 5, 0.5, 0.95, 0, 6 },           { 299, 0.99, 0.95, 292, 300 },
	};
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		size_t low, high;
		infer_quantile_ranks(known[i].n, known[i].p, known[i].level, &low, &high);
		cr_expect(low == known[i].low && high == known[i].high, "n %zu p %g: %zu %zu",
			  known[i].n, known[i].p, low, high);
	}
}

/* For millions of values the binomial is normal: np -+ 1.96 sqrt(np(1-p)). */
Test(inference, ranks_of_large_samples)
{
	size_t n = 4000000, low, high;
	infer_quantile_ranks(n, 0.99, LEVEL, &low, &high);
	double half = 1.959964 * sqrt(4e6 * 0.99 * 0.01);
	cr_expect(fabs((double)low - (3960000 - half)) <= 2, "%zu", low);
	cr_expect(fabs((double)high - (3960000 + half)) <= 2, "%zu", high);
}

/* ---- Coverage ---- */

enum { ROUNDS = 2000 };

/* A share of 0.95 in 2,000 rounds has standard deviation 0.0049; the bounds are five of these. */
static void expect_coverage(size_t hits, double low, double high, const char *what)
{
	double share = (double)hits / ROUNDS;
	cr_expect(share >= low && share <= high, "%s: %.4f", what, share);
}

static bool covers(struct estimate e, double truth)
{
	return e.low <= truth && truth <= e.high;
}

/* Normal values with common random numbers: means 10 and 8. */
Test(inference, coverage_of_means_and_ratios)
{
	struct rng rng = stream(5);
	size_t mean = 0, paired = 0, apart = 0, ratio = 0, ratio_apart = 0;
	for (int round = 0; round < ROUNDS; round++) {
		double a[5], b[5], c[8];
		for (int i = 0; i < 5; i++) {
			double common = rng_normal(&rng);
			a[i] = 10 + common + 0.5 * rng_normal(&rng);
			b[i] = 8 + 0.8 * common + 0.5 * rng_normal(&rng);
		}
		for (int i = 0; i < 8; i++)
			c[i] = 8 + 2 * rng_normal(&rng);
		mean += covers(infer_mean(a, 5, LEVEL), 10);
		paired += covers(infer_difference_paired(a, b, 5, LEVEL), -2);
		ratio += covers(infer_ratio_paired(a, b, 5, LEVEL), 0.8);
		apart += covers(infer_difference(a, 5, c, 8, LEVEL), -2);
		ratio_apart += covers(infer_ratio(a, 5, c, 8, LEVEL), 0.8);
	}
	expect_coverage(mean, 0.9256, 0.9744, "mean");
	expect_coverage(paired, 0.9256, 0.9744, "paired difference");
	expect_coverage(ratio, 0.9256, 0.9744, "paired ratio");
	expect_coverage(apart, 0.9256, 0.9744, "Welch difference"); /* approximate, but close */
	expect_coverage(ratio_apart, 0.9256, 0.9744, "Welch ratio");
}

/* ---- Fairness ---- */

/* Shares 50/50, 30/10 and 50/10 of what would be fair: 9^2 / (3 * 35) = 0.77 (Jain, Durresi and
 * Babic, ATM Forum 99-0045). k of n with equal shares, the others with none: k / n (DEC-TR-301,
 * section on boundedness). */
static double jain_of(const double *values, size_t count)
{
	struct jain jain = { 0 };
	for (size_t i = 0; i < count; i++)
		jain_add(&jain, values[i]);
	return jain_index(&jain);
}

/* t of 2 degrees of freedom is 4.30265; around 12 the values 10, 14, 15 spread by (4 + 4 + 9) / 2.
 */
Test(inference, sections)
{
	const double sections[] = { 10, 14, 15 }, two[] = { 10, 14 }, open[] = { 10, NAN, 15 };
	double half = 4.30265272974946 * sqrt(17. / 6);
	struct estimate e = infer_sections(12, sections, 3, LEVEL);
	cr_expect(e.value == 12 && e.n == 3 && e.missing == 0);
	EXPECT(e.low, 12 - half, 1e-12);
	EXPECT(e.high, 12 + half, 1e-12);
	EXPECT_OPEN(infer_sections(12, two, 2, LEVEL), 12, 2, 0);
	EXPECT_OPEN(infer_sections(12, open, 3, LEVEL), 12, 2, 1);
	EXPECT_OPEN(infer_sections(NAN, sections, 3, LEVEL), NAN, 3, 0);
}

Test(inference, jain_index)
{
	const double shares[] = { 1, 3, NAN, 5 }, zero[] = { 0, 0 };
	double x[100] = { 0 };
	EXPECT(jain_of(shares, 4), 81. / 105, 1e-14);
	for (int k = 0; k < 20; k++)
		x[k] = 3.5;
	EXPECT(jain_of(x, 100), 0.2, 1e-14);
	EXPECT(jain_of(x, 20), 1, 1e-14);
	cr_expect(isnan(jain_of(zero, 2)) && isnan(jain_of(NULL, 0)));
}

/* The median lies between the k-th values from either end with probability 1 - 2 P(Bin(n, 1/2) <
 * k). Tables of the sign test: n = 20, k = 6, 0.9586. */
Test(median, of_few_values)
{
	double values[20];
	struct median m;

	for (int i = 0; i < 20; i++)
		values[i] = i + 1;
	cr_expect(isnan(infer_median(values, 2, 0.95).value));
	m = infer_median(values, 3, 0.95);
	cr_expect(m.value == 2 && m.low == 1 && m.high == 3);
	cr_expect_float_eq(m.level, 0.75, 1e-12);
	m = infer_median(values, 4, 0.95);
	cr_expect(m.value == 2.5 && m.low == 1 && m.high == 4);
	cr_expect_float_eq(m.level, 0.875, 1e-12);
	m = infer_median(values, 6, 0.95);
	cr_expect(m.value == 3.5 && m.low == 1 && m.high == 6);
	cr_expect_float_eq(m.level, 0.96875, 1e-12);
	m = infer_median(values, 20, 0.95);
	cr_expect(m.value == 10 && m.low == 6 && m.high == 15);
	cr_expect_float_eq(m.level, 0.958611, 1e-6);
}
