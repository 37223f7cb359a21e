/* The parts of a mixture in a scenario; draws one of them by weight. */
#ifndef INASIM_WORKLOAD_WEIGHTS_H
#define INASIM_WORKLOAD_WEIGHTS_H

#include "conf/conf.h"
#include "core/rng.h"

#include <stddef.h>

/* An item of a "mix": a table of sizes or a network. */
struct mix_part {
	const char *name;
	double weight;
};

static inline const struct mix_part *mix_part(const struct conf_list *mix, size_t i)
{
	return &((const struct mix_part *)mix->items)[i];
}

/* Weights of parts. Begins zeroed, without parts. */
struct weights {
	double *sums; /* owned; sums[i] = sum of the weights of parts 0..i */
	size_t count, capacity;
};

/* Adds a part with this `weight` > 0. Its number is the previous `count`. */
void weights_add(struct weights *weights, double weight);
void weights_release(struct weights *weights);

/* The fraction of part `i`: its weight over the sum of all. */
double weights_fraction(const struct weights *weights, size_t i);

/* Draws a part with the probability weights_fraction(), and returns its number. Takes one random
 * number from the stream; none if there is only one part, so that all is as without a mixture. */
size_t weights_draw(const struct weights *weights, struct rng *rng);

#endif
