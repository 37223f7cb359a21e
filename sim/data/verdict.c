#include "data/verdict.h"

#include "base/mem.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define EXPECTED_MAX 1e6 /* beyond, a number of replications says nothing */

size_t verdict_replications(size_t n, double half, double target, double level)
{
	double p = (1 + level) / 2;
	double scale = half * sqrt((double)n) / gsl_cdf_tdist_Pinv(p, (double)(n - 1)); /* S */
	double min = pow(scale * gsl_cdf_ugaussian_Pinv(p) / target, 2); /* as z <= t */

	if (!(min < EXPECTED_MAX))
		return 0;
	size_t i = min > (double)n ? (size_t)min : n;

	while (scale / sqrt((double)i) * gsl_cdf_tdist_Pinv(p, (double)(i - 1)) > target)
		i++;
	return i;
}

/* How many more replications than n are expected until an interval excludes 1 or, of the lower
 * level, lies within the margin. */
static size_t expected(const struct estimate *wide, const struct estimate *narrow, size_t n,
		       double margin, double error)
{
	double r = wide->value, apart = fabs(r - 1);
	double inside = fmin(1 + margin - r, r - 1 / (1 + margin));
	size_t differ =
		apart > 0 ? verdict_replications(n, (wide->high - wide->low) / 2, apart, 1 - error)
			  : 0;
	size_t alike = inside > 0 ? verdict_replications(n, (narrow->high - narrow->low) / 2,
							 inside, 1 - 2 * error)
				  : 0;
	size_t min = differ && (!alike || differ < alike) ? differ : alike;

	return min > n ? min - n : min == n; /* Fieller's ends are not symmetric */
}

/* `wide` and `narrow`: the ratio b / a with its intervals of levels 1 - error, 1 - 2 error. `n`:
 * pairs, or the fewer of two samples. */
static struct verdict judge(const struct estimate *wide, const struct estimate *narrow, size_t n,
			    double error, double margin)
{
	struct verdict v = { .kind = VERDICT_UNRESOLVED, .margin = margin };

	if (isnan(wide->value))
		return (struct verdict){ .kind = VERDICT_NONE };
	if (n < INFERENCE_MIN) {
		v.more = INFERENCE_MIN - n;
		v.few = true;
	} else if (narrow->low >= 1 / (1 + margin) && narrow->high <= 1 + margin) {
		v.kind = VERDICT_SAME;
	} else if (wide->low > 1) {
		v.kind = VERDICT_A;
		v.low = wide->low - 1;
		v.high = wide->high - 1;
	} else if (wide->high < 1) {
		v.kind = VERDICT_B;
		v.low = wide->high > 0 ? 1 / wide->high - 1 : INFINITY;
		v.high = wide->low > 0 ? 1 / wide->low - 1 : INFINITY;
	} else if (!isnan(wide->low) && !isnan(narrow->low)) {
		v.more = expected(wide, narrow, n, margin, error);
	}
	return v;
}

static bool is_constant(const double *values, size_t count, double *constant)
{
	*constant = NAN;
	for (size_t i = 0; i < count; i++) {
		if (isnan(values[i]))
			continue;
		if (!isnan(*constant) && values[i] != *constant)
			return false;
		*constant = values[i];
	}
	return true;
}

/* Of constants: several replications that agree say nothing of what would change them. */
static struct verdict of_constants(double a, double b, size_t n, struct verdict otherwise)
{
	if (n < 2 || isnan(a) || isnan(b))
		return otherwise;
	return (struct verdict){ .kind = a == b ? VERDICT_NONE : VERDICT_CONSTANT };
}

struct verdict verdict_paired(const double *a, const double *b, size_t count,
			      const struct verdict_rule *rule)
{
	double error = VERDICT_ERROR / (double)rule->looks, ca, cb;
	struct estimate wide = infer_ratio_paired(a, b, count, 1 - error);
	struct estimate narrow = infer_ratio_paired(a, b, count, 1 - 2 * error);
	struct verdict v = judge(&wide, &narrow, wide.n, error, rule->margin);

	if (is_constant(a, count, &ca) && is_constant(b, count, &cb))
		return of_constants(ca, cb, wide.n, v);
	return v;
}

struct verdict verdict_independent(const double *a, size_t a_count, const double *b, size_t b_count,
				   const struct verdict_rule *rule)
{
	double error = VERDICT_ERROR / (double)rule->looks, ca, cb;
	struct estimate wide = infer_ratio(a, a_count, b, b_count, 1 - error);
	struct estimate narrow = infer_ratio(a, a_count, b, b_count, 1 - 2 * error);
	size_t na = infer_mean(a, a_count, 0.5).n, nb = infer_mean(b, b_count, 0.5).n;
	size_t n = na < nb ? na : nb;
	struct verdict v = judge(&wide, &narrow, n, error, rule->margin);

	if (is_constant(a, a_count, &ca) && is_constant(b, b_count, &cb))
		return of_constants(ca, cb, n, v);
	return v;
}

bool verdict_is_resolved(const struct verdict *verdict)
{
	return verdict->kind == VERDICT_A || verdict->kind == VERDICT_B ||
	       verdict->kind == VERDICT_SAME;
}

/* "A faster by 3 to 5 %", or "by 4 %" where both ends print the same. */
static char *words_of_difference(const struct verdict *v, const char *name, const char *how)
{
	char low[32], high[32];

	if (isinf(v->low)) /* b is 0 */
		return xasprintf("%s %s", name, how);
	snprintf(low, sizeof(low), "%.3g", 100 * v->low);
	snprintf(high, sizeof(high), "%.3g", 100 * v->high);
	if (isinf(v->high))
		return xasprintf("%s %s by %s %% or more", name, how, low);
	if (!strcmp(low, high))
		return xasprintf("%s %s by %s %%", name, how, low);
	return xasprintf("%s %s by %s to %s %%", name, how, low, high);
}

char *verdict_words(const struct verdict *v, const char *a, const char *b, bool times)
{
	switch (v->kind) {
	case VERDICT_NONE:
		break;
	case VERDICT_A:
		return times ? words_of_difference(v, a, "faster")
			     : words_of_difference(v, b, "higher");
	case VERDICT_B:
		return times ? words_of_difference(v, b, "faster")
			     : words_of_difference(v, a, "higher");
	case VERDICT_SAME:
		return xasprintf("the same within %g %%", 100 * v->margin);
	case VERDICT_UNRESOLVED:
		if (!v->more)
			return xstrdup("unresolved");
		return xasprintf("unresolved (%s%zu more replication%s expected)",
				 v->few ? "at least " : "", v->more, v->more == 1 ? "" : "s");
	case VERDICT_CONSTANT:
		return xstrdup("unresolved (all replications are the same: perturb them)");
	case VERDICT_UNFINISHED:
		return xstrdup("no verdict (unfinished work)");
	}
	return xstrdup("");
}
