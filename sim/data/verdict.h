/* Which of two sides is faster, or that they are the same within a margin, or that this is not
 * resolved: judged from replications, and said in one way everywhere.
 *
 * - "A faster by x to y %": the interval of the ratio of the means excludes 1; x and y are its
 * ends. A faster by 25 %: B takes 25 % longer.
 * - "the same within z %": two one-sided tests (Schuirmann, J. Pharmacokinet. Biopharm. 15, 1987)
 *   reject that one side takes more than z longer than the other. As usual, that is read off the
 *   interval of level 1 - 2 error. Where this holds, it is said even if the interval excludes 1.
 * - "unresolved (n more replications expected)": neither. n is how many of the variance seen so far
 *   would make the interval narrow enough for the nearer of the two (Law, Simulation Modeling and
 *   Analysis, 5th ed., section 9.4.1).
 *
 * The error is the probability of a wrong verdict. Looked at k times, with error / k each time, it
 * stays below `error` whatever the looks depend on (Bonferroni): the rule of sequential sweeps. */
#ifndef INASIM_DATA_VERDICT_H
#define INASIM_DATA_VERDICT_H

#include "data/inference.h"

#define VERDICT_ERROR  0.05
#define VERDICT_MARGIN 0.01 /* our choice */

struct verdict_rule {
	double margin; /* what counts as the same: 0.01 is 1 % */
	size_t looks;  /* how often replications are judged, at most */
};

enum verdict_kind {
	VERDICT_NONE,       /* nothing to compare, or both are the same constant */
	VERDICT_A,          /* a is lower by `low` to `high` of itself */
	VERDICT_B,          /* b is */
	VERDICT_SAME,       /* within the margin */
	VERDICT_UNRESOLVED, /* `more` replications are expected; 0: it cannot be said how many */
	VERDICT_CONSTANT,   /* unresolved: all replications are the same, as nothing is random */
	VERDICT_UNFINISHED, /* some work is missing: its means must not be compared */
};

struct verdict {
	enum verdict_kind kind;
	double low, high, margin;
	size_t more;
	bool few; /* with `more`: too few to estimate a variance, so it takes at least that many */
};

/* From `count` pairs, or from two independent samples. NaN is missing. */
struct verdict verdict_paired(const double *a, const double *b, size_t count,
			      const struct verdict_rule *rule);
struct verdict verdict_independent(const double *a, size_t a_count, const double *b, size_t b_count,
				   const struct verdict_rule *rule);

/* Whether it says which is faster, or that they are the same. */
bool verdict_is_resolved(const struct verdict *verdict);

/* The words of the verdict on sides called `a` and `b`, "" if there is none. `times`: lower is
 * faster; of other metrics it says which is higher. The caller frees. */
char *verdict_words(const struct verdict *verdict, const char *a, const char *b, bool times);

/* The smallest i >= n such that an interval whose half width over n values is `half` is expected to
 * have a half width of at most `target` over i: t(i - 1) sqrt(S^2 / i) <= target (Law, as above).
 */
size_t verdict_replications(size_t n, double half, double target, double level);

#endif
