#include "workload/weights.h"

#include "base/mem.h"

#include <stdlib.h>

void weights_add(struct weights *weights, double weight)
{
	double before = weights->count ? weights->sums[weights->count - 1] : 0;

	weights->sums = array_reserve(weights->sums, weights->count, &weights->capacity,
				      sizeof(*weights->sums));
	weights->sums[weights->count++] = before + weight;
}

void weights_release(struct weights *weights)
{
	free(weights->sums);
	*weights = (struct weights){ 0 };
}

double weights_fraction(const struct weights *weights, size_t i)
{
	double before = i ? weights->sums[i - 1] : 0;

	return (weights->sums[i] - before) / weights->sums[weights->count - 1];
}

size_t weights_draw(const struct weights *weights, struct rng *rng)
{
	size_t last = weights->count - 1, i = 0;
	double at;

	if (!last)
		return 0;
	at = rng_unit(rng) * weights->sums[last];
	while (i < last && weights->sums[i] <= at)
		i++;
	return i;
}
