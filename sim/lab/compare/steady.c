#include "lab/compare/steady.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

static size_t present(const double *values, size_t count)
{
	size_t n = 0;
	for (size_t i = 0; i < count; i++)
		n += isnan(values[i]) ? 0 : 1;
	return n;
}

/* How many values are cut from the beginning, unfinished ones included. */
static size_t find_cut(struct steady *steady, const struct samples *samples, double warmup_s)
{
	size_t cut = 0;
	if (isnan(warmup_s)) {
		cut = infer_warmup(samples->values, samples->count);
		if (cut != SIZE_MAX)
			return cut;
		steady->cut = present(samples->values, samples->count) < INFERENCE_WARMUP_MIN
				      ? STEADY_TOO_FEW
				      : STEADY_MOVING;
		return 0;
	}
	steady->cut = STEADY_GIVEN;
	while (cut < samples->count && samples->times[cut] < warmup_s)
		cut++;
	return cut;
}

static size_t batches_for(const struct steady *steady)
{
	if (steady->cut == STEADY_TOO_FEW || steady->cut == STEADY_MOVING ||
	    steady->kept < STEADY_BATCHES_FEW * STEADY_SIZE_MIN)
		return 0;
	return steady->kept < 10 * STEADY_BATCHES ? STEADY_BATCHES_FEW : STEADY_BATCHES;
}

void steady_init(struct steady *steady, struct samples *samples, double warmup_s)
{
	*steady = (struct steady){ .members = samples->members,
				   .groups = samples->groups,
				   .from_s = NAN };
	samples_by_time(samples);
	size_t cut = find_cut(steady, samples, warmup_s), rest = samples->count - cut;
	const double *values = samples->count ? samples->values + cut : NULL;
	steady->dropped = present(samples->values, cut);
	steady->kept = present(values, rest);
	steady->kept_unfinished = rest - steady->kept;
	for (size_t i = 0; i < rest && isnan(steady->from_s); i++)
		if (!isnan(values[i]))
			steady->from_s = samples->times[cut + i];
	size_t batches = batches_for(steady);
	steady->batch = infer_batch_means(values, rest, batches, INFERENCE_LEVEL);
	if (batches > 0)
		return;
	steady->batch.mean = infer_mean(values, rest, INFERENCE_LEVEL);
	steady->batch.mean.low = steady->batch.mean.high = NAN;
}

void steady_release(struct steady *steady)
{
	free(steady->batch.means);
	steady->batch.means = NULL;
}

const char *steady_verdict(const struct steady *steady)
{
	if (steady->batch.means == NULL)
		return "no interval";
	if (isnan(steady->batch.p_value))
		return "all equal";
	return steady->batch.independent ? "independent" : "correlated: too short";
}

void steady_json(struct json *json, const char *key, const struct steady *steady)
{
	static const char *const cuts[] = { [STEADY_FOUND] = "mser-5",
					    [STEADY_GIVEN] = "given",
					    [STEADY_TOO_FEW] = "too_few",
					    [STEADY_MOVING] = "not_settled" };
	json_open_object(json, key);
	json_string(json, "warmup", cuts[steady->cut]);
	json_u64(json, "dropped", steady->dropped);
	json_u64(json, "kept", steady->kept);
	json_u64(json, "kept_unfinished", steady->kept_unfinished);
	json_real(json, "from_s", steady->from_s);
	json_u64(json, "members", steady->members);
	json_u64(json, "groups", steady->groups);
	json_u64(json, "batches", steady->batch.batches);
	json_u64(json, "batch_size", steady->batch.size);
	json_real(json, "lag1", steady->batch.lag1);
	json_real(json, "p_value", steady->batch.p_value);
	if (isnan(steady->batch.p_value))
		json_null(json, "independent");
	else
		json_bool(json, "independent", steady->batch.independent);
	json_close_object(json);
}
