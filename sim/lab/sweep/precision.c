#include "lab/sweep/precision.h"

#include "base/mem.h"
#include "data/inference.h"
#include "data/json_read.h"
#include "lab/summary.h"
#include "lab/sweep/point.h"

#include <math.h>
#include <stdlib.h>

/* The replications of one combination. */
struct series {
	const struct plan *plan;
	const struct point_facts *facts;    /* by replication */
	const struct point_record *records; /* by replication */
	const char *folder;
	double *values; /* of the metric, by replication, as far as they were read */
	size_t count;   /* of values read so far */
	bool lacking;   /* some results lack the metric */
};

/* Reads the metric of a replication. NaN: there are no results, or they lack the metric. */
static double value_of(struct series *series, size_t replication)
{
	char *error = NULL, *result;
	struct summary summary;
	double value = NAN;

	if (!point_status_is_usable(series->records[replication].status))
		return NAN;
	result = point_path(series->folder, series->facts[replication].hash, "");
	if (summary_read(&summary, result, &error)) {
		value = summary_value(&summary, series->plan->precision.of);
		series->lacking |= summary_find(&summary, series->plan->precision.of) == SIZE_MAX;
	}
	summary_release(&summary);
	free(error);
	free(result);
	return value;
}

/* Whether none of the first `count` replications has to run (again) under the limits it had. */
static bool have_ended(const struct series *series, size_t count)
{
	for (size_t r = 0; r < count; r++)
		if (record_wants_run(&series->records[r], &series->records[r].limits))
			return false;
	return true;
}

/* Whether the interval over the first `count` replications is narrow enough; false if there is no
 * interval (NaN). */
static bool is_precise(struct series *series, size_t count)
{
	struct estimate mean;

	while (series->count < count) {
		series->values[series->count] = value_of(series, series->count);
		series->count++;
	}
	mean = infer_mean(series->values, count, INFERENCE_LEVEL);
	return fmax(mean.high - mean.value, mean.value - mean.low) <=
	       series->plan->precision.within * fabs(mean.value);
}

/* How many replications are wanted, judging by those that have ended so far. */
static size_t wanted_of(struct series *series, struct precision *precision)
{
	size_t max = series->plan->replications, count = series->plan->precision.least;
	bool precise = false;

	while (have_ended(series, count)) {
		precise = is_precise(series, count);
		if (precise || count == max) {
			precision->combinations++;
			precision->reached += precise;
			break;
		}
		count += (count + 1) / 2;
		count = count < max ? count : max;
	}
	return count;
}

struct precision precision_wanted(const struct plan *plan, const struct point_facts *facts,
				  const struct point_record *records, const char *folder,
				  bool *wanted)
{
	struct precision precision = { 0 };
	size_t max = plan->replications;
	double *values = xcalloc(max, sizeof(*values)); /* used by one series after the other */

	for (size_t first = 0; first < plan->point_count; first += max) {
		struct series series = { .plan = plan,
					 .facts = facts + first,
					 .records = records + first,
					 .folder = folder,
					 .values = values };
		size_t count = plan->precision.of ? wanted_of(&series, &precision) : max;

		for (size_t r = 0; r < max; r++)
			wanted[first + r] = r < count;
		precision.lacking |= series.lacking;
	}
	free(values);
	return precision;
}
