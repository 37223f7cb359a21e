/* The parts of a mixture in a scenario, and draws of one of them by weight. */
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

/* All zero is empty. */
struct weights {
	double *sums; /* owned; sums[i] = weight of the parts 0..i */
	size_t count, capacity;
};

/* Another part; its number is the count so far. weight > 0. */
void weights_add(struct weights *weights, double weight);
void weights_release(struct weights *weights);

/* The fraction of part `i`: its weight over the sum of all. */
double weights_fraction(const struct weights *weights, size_t i);

/* The number of a part, drawn with the probability weights_fraction(). Takes one number from the
 * stream, but none when there is only one part: that is drawn as if there were no mixture. */
size_t weights_draw(const struct weights *weights, struct rng *rng);

#endif
