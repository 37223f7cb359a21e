#include "lab/sweep/precision.h"

#include "base/mem.h"
#include "data/json_read.h"
#include "data/verdict.h"
#include "lab/summary.h"
#include "lab/sweep/point.h"

#include <math.h>
#include <stdlib.h>

/* The replications of one combination. */
struct series {
	const struct plan_point *points; /* by replication, as all that follow */
	const struct point_facts *facts;
	const struct point_record *records;
	double *values; /* of the metric, as far as they were read */
	size_t count;   /* of values read so far */
	size_t wanted;
};

/* All that is judged. */
struct judging {
	const struct plan *plan;
	const char *folder;
	struct series *series; /* by combination */
	size_t count;
	bool spent; /* the CPU time that the plan allows */
	struct precision result;
};

/* --- values --- */

/* Reads the metric of a replication. NaN: there are no results, or they lack the metric. */
static double value_of(struct judging *judging, const struct series *series, size_t replication)
{
	const char *metric = judging->plan->precision.of;
	char *error = NULL, *result;
	struct summary summary;
	double value = NAN;

	if (!point_status_is_usable(series->records[replication].status))
		return NAN;
	result = point_path(judging->folder, series->facts[replication].hash, "");
	if (summary_read(&summary, result, &error)) {
		value = summary_value(&summary, metric);
		judging->result.lacking |= summary_find(&summary, metric) == SIZE_MAX;
	}
	summary_release(&summary);
	free(error);
	free(result);
	return value;
}

static const double *values_of(struct judging *judging, struct series *series, size_t count)
{
	while (series->count < count) {
		series->values[series->count] = value_of(judging, series, series->count);
		series->count++;
	}
	return series->values;
}

/* --- looks --- */

/* How many replications the look behind that at `count` takes; 0: the first one. */
static size_t next_look(const struct plan *plan, size_t count)
{
	size_t next = count ? count + (count + 1) / 2 : plan->precision.least;
	size_t round = plan->perturb.count ? plan->perturb.count : 1;

	next = (next + round - 1) / round * round;
	return next < plan->replications ? next : plan->replications;
}

size_t precision_looks(const struct plan *plan)
{
	size_t looks = 1;

	for (size_t count = next_look(plan, 0); plan->precision.of && count < plan->replications;
	     count = next_look(plan, count))
		looks++;
	return looks;
}

/* Whether none of the first `count` replications has to run (again) under the limits it had. */
static bool have_ended(const struct series *series, size_t count)
{
	for (size_t r = 0; r < count; r++)
		if (record_wants_run(&series->records[r], &series->records[r].limits))
			return false;
	return true;
}

static bool are_done(const struct series *series, size_t count)
{
	for (size_t r = 0; r < count; r++)
		if (!point_status_is_done(series->records[r].status))
			return false;
	return true;
}

enum look { LOOK_ON, LOOK_REACHED, LOOK_HOPELESS };

/* Whether the interval over the first `count` replications is narrow enough; not if there is no
 * interval (NaN). */
static enum look look_at_mean(struct judging *judging, struct series *series, size_t count)
{
	struct estimate mean =
		infer_mean(values_of(judging, series, count), count, INFERENCE_LEVEL);
	double wider = fmax(mean.high - mean.value, mean.value - mean.low);

	return wider <= judging->plan->precision.within * fabs(mean.value) ? LOOK_REACHED : LOOK_ON;
}

/* Whether the first `count` replications of a combination and its baseline have a verdict. Where
 * work is not done they never will. */
static enum look look_at_pair(struct judging *judging, struct series *base, struct series *series,
			      size_t count)
{
	const struct verdict_rule rule = { .margin = judging->plan->precision.within,
					   .looks = precision_looks(judging->plan) };
	const double *a = values_of(judging, base, count), *b = values_of(judging, series, count);
	struct verdict verdict = base->facts[0].seed == series->facts[0].seed
					 ? verdict_paired(a, b, count, &rule)
					 : verdict_independent(a, count, b, count, &rule);

	if (!are_done(base, count) || !are_done(series, count))
		return LOOK_HOPELESS;
	return verdict_is_resolved(&verdict) ? LOOK_REACHED : LOOK_ON;
}

/* Sets how many replications are wanted of a combination and, unless NULL, of its baseline, judging
 * by those that have ended so far. */
static void judge(struct judging *judging, struct series *base, struct series *series)
{
	const struct plan *plan = judging->plan;
	size_t count = next_look(plan, 0);

	judging->result.total++;
	while (have_ended(series, count) && (!base || have_ended(base, count))) {
		enum look look = base ? look_at_pair(judging, base, series, count)
				      : look_at_mean(judging, series, count);

		if (look != LOOK_ON || count == plan->replications || judging->spent) {
			judging->result.ended++;
			judging->result.reached += look == LOOK_REACHED;
			break;
		}
		count = next_look(plan, count);
	}
	series->wanted = series->wanted > count ? series->wanted : count;
	if (base)
		base->wanted = base->wanted > count ? base->wanted : count;
}

/* --- all together --- */

/* The combination that differs from `series` by having the baseline of the axis "by"; NULL: there
 * is none. One to which an axis does not apply, whose level then is the count, fits every value of
 * it. */
static struct series *base_of(const struct judging *judging, const struct series *series)
{
	const struct plan *plan = judging->plan;

	for (size_t c = 0; c < judging->count; c++) {
		const size_t *levels = judging->series[c].points->levels;
		bool fits = true;

		for (size_t a = 0; a < plan->axis_count; a++) {
			size_t want = a == plan->precision.by ? plan->precision.baseline
							      : series->points->levels[a];

			fits = fits && (levels[a] == want || levels[a] == plan->axes[a].count);
		}
		if (fits)
			return &judging->series[c];
	}
	return NULL;
}

static void judge_all(struct judging *judging)
{
	const struct plan_precision *precision = &judging->plan->precision;

	for (size_t c = 0; c < judging->count; c++) {
		struct series *series = &judging->series[c], *base = NULL;

		if (!precision->of) {
			series->wanted = judging->plan->replications;
			continue;
		}
		if (precision->by != SIZE_MAX)
			base = base_of(judging, series);
		if (precision->by == SIZE_MAX || (base && base != series))
			judge(judging, base, series);
		else if (!series->wanted) /* a baseline, or nothing to compare with */
			series->wanted = next_look(judging->plan, 0);
	}
}

static bool is_spent(const struct plan *plan, const struct point_record *records)
{
	double seconds = 0;

	for (size_t i = 0; i < plan->point_count; i++)
		seconds += records[i].cpu_s;
	return plan->precision.cpu && seconds >= seconds_of(plan->precision.cpu);
}

struct precision precision_wanted(const struct plan *plan, const struct point_facts *facts,
				  const struct point_record *records, const char *folder,
				  bool *wanted)
{
	size_t max = plan->replications;
	struct judging judging = { .plan = plan,
				   .folder = folder,
				   .count = plan->point_count / max,
				   .spent = is_spent(plan, records) };
	double *values = xcalloc(plan->point_count, sizeof(*values));

	judging.series = xcalloc(judging.count, sizeof(*judging.series));
	for (size_t c = 0; c < judging.count; c++)
		judging.series[c] = (struct series){ .points = plan->points + c * max,
						     .facts = facts + c * max,
						     .records = records + c * max,
						     .values = values + c * max };
	judge_all(&judging);
	for (size_t i = 0; i < plan->point_count; i++)
		wanted[i] = i % max < judging.series[i / max].wanted;
	free(judging.series);
	free(values);
	return judging.result;
}
