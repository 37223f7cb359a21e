/* Verdicts against published numbers, and their error in simulation. */
#include "data/verdict.h"

#include "core/rng.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

static const struct verdict_rule once = { .margin = 0.01, .looks = 1 };

static void expect_words(const struct verdict *v, const char *want, bool times, int line)
{
	char *words = verdict_words(v, "A", "B", times);
	cr_expect_str_eq(words, want, "line %d: %s", line, words);
	free(words);
}
#define EXPECT_WORDS(v, want, times) expect_words(v, want, times, __LINE__)

/* Law and Kelton, Simulation Modeling and Analysis, 3rd ed., examples 9.15 and 9.16: the bank, ten
 * replications, mean 2.03, S^2 0.31, 90 %: 16 replications for an error of 0.25 minutes, 27 for one
 * of 10 % (that is, of 0.1 / 1.1 of the estimate). */
Test(verdict, replications_of_the_bank)
{
	const double half = 1.833 * sqrt(0.31 / 10); /* t(9) at 0.95, from the tables */
	cr_expect_eq(verdict_replications(10, half, 0.25, 0.9), 16);
	cr_expect_eq(verdict_replications(10, half, 0.1 / 1.1 * 2.03, 0.9), 27);
	cr_expect_eq(verdict_replications(10, half, 1, 0.9), 10);   /* they are enough */
	cr_expect_eq(verdict_replications(10, half, 1e-9, 0.9), 0); /* no number to tell */
}

/* Student, Biometrika 6 (1908): two drugs, ten patients. The difference of 1.58 has t = 4.0621 and
 * p = 0.002833, and the interval of 90 % that two one-sided tests at 5 % read is 0.867 to 2.293.
 * On a base of 1,000 that hardly varies the ratio of the means shows the difference per mille. */
Test(verdict, sleep)
{
	static const double drug1[] = { 0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0 };
	static const double drug2[] = { 1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4 };
	double a[10], b[10];
	for (int i = 0; i < 10; i++) {
		a[i] = 1000;
		b[i] = 1000 + drug2[i] - drug1[i];
	}
	struct verdict v =
		verdict_paired(a, b, 10, &(struct verdict_rule){ .margin = 2.3e-3, .looks = 1 });
	EXPECT_WORDS(&v, "the same within 0.23 %", true);
	v = verdict_paired(a, b, 10, &(struct verdict_rule){ .margin = 2.29e-3, .looks = 1 });
	EXPECT_WORDS(&v, "A faster by 0.07 to 0.246 %", true); /* 95 %: 0.700 to 2.460 */
	/* p = 0.002833: excluded at 0.05 / 17 = 0.00294, not at 0.05 / 18 = 0.00278 */
	v = verdict_paired(a, b, 10, &(struct verdict_rule){ .margin = 1e-4, .looks = 17 });
	cr_expect_eq(v.kind, VERDICT_A);
	v = verdict_paired(a, b, 10, &(struct verdict_rule){ .margin = 1e-4, .looks = 18 });
	cr_expect_eq(v.kind, VERDICT_UNRESOLVED);
	cr_expect_eq(v.more, 1);
}

/* The numbers are Fieller's in the textbook's form, by Python, with t(3) and t(5.9456). */
Test(verdict, words)
{
	const double x[] = { 10, 11, 12, 13 }, y[] = { 5, 5.4, 6.1, 6.6 }, n[] = { NAN, 1, 2, NAN };
	const double zero[4] = { 0 };
	const double c[] = { 3, 3, 3, 3 }, d[] = { 4, 4, 4, 4 }, u[] = { 10.1, 10.8, 12.2, 12.9 };
	struct verdict v = verdict_paired(x, y, 4, &once);
	EXPECT_WORDS(&v, "B faster by 94.6 to 105 %", true);
	EXPECT_WORDS(&v, "A higher by 94.6 to 105 %", false);
	v = verdict_paired(y, x, 4, &once); /* the same, the other way round */
	EXPECT_WORDS(&v, "A faster by 94.6 to 105 %", true);
	v = verdict_paired(x, n, 4, &once);
	EXPECT_WORDS(&v, "unresolved (at least 1 more replication expected)", true);
	v = verdict_paired(c, d, 4, &once);
	EXPECT_WORDS(&v, "unresolved (all replications are the same: perturb them)", true);
	v = verdict_paired(c, c, 4, &once);
	EXPECT_WORDS(&v, "", true);
	v = verdict_paired(x, u, 4, &once);
	cr_expect(v.kind == VERDICT_UNRESOLVED && v.more > 0 && v.more < 40, "%zu", v.more);
	v = verdict_independent(x, 4, y, 4, &once);
	EXPECT_WORDS(&v, "B faster by 62.3 to 145 %", true);
	v = verdict_paired(x, zero, 4, &once);
	EXPECT_WORDS(&v, "A higher", false);
	v.kind = VERDICT_UNFINISHED;
	EXPECT_WORDS(&v, "no verdict (unfinished work)", true);
}

/* Looks at 5, 8, 12, 18 and 20 pairs, as a sequential sweep has, stop at the first verdict. Where
 * both are equal, "faster" is wrong; where they differ by exactly the margin, "the same" is. At
 * most 5 % of 4,000 rounds may be wrong, + 3 standard errors of 0.34 %. Looks without Bonferroni's
 * division would be wrong more often: the control. */
static double wrong(double ratio, enum verdict_kind not, size_t looks)
{
	static const size_t counts[] = { 5, 8, 12, 18, 20 };
	const struct verdict_rule rule = { .margin = 0.1, .looks = looks };
	size_t errors = 0;
	struct rng rng;
	rng_init(&rng, 1, "test.verdict", looks);
	for (int round = 0; round < 4000; round++) {
		double a[20], b[20];
		struct verdict v = { .kind = VERDICT_UNRESOLVED };
		for (int i = 0; i < 20; i++) {
			double common = 10 + rng_normal(&rng);
			a[i] = common + 0.4 * rng_normal(&rng);
			b[i] = ratio * common + 0.4 * rng_normal(&rng);
		}
		for (int k = 0; k < 5 && !verdict_is_resolved(&v); k++)
			v = verdict_paired(a, b, counts[k], &rule);
		errors += not == VERDICT_SAME ? v.kind == VERDICT_SAME
					      : v.kind == VERDICT_A || v.kind == VERDICT_B;
	}
	return (double)errors / 4000;
}

Test(verdict, error_of_sequential_looks)
{
	double same = wrong(1.1, VERDICT_SAME, 5), faster = wrong(1, VERDICT_A, 5);
	cr_expect(same > 0.01 && same <= 0.06, "the same: %g", same);
	cr_expect(faster <= 0.06, "faster: %g", faster);
	double careless = wrong(1.1, VERDICT_SAME, 1);
	cr_expect_gt(careless, 0.06, "%g", careless);
}
