/* How long aggregators are held: count, mean and percentiles. The histogram has 32 classes an
 * octave, so a percentile is at most 1/32 too high. */
#ifndef INASIM_COLLECTIVE_HOLDING_TIMES_H
#define INASIM_COLLECTIVE_HOLDING_TIMES_H

#include "base/types.h"

#define HOLDING_BITS    5 /* 2^5 classes an octave */
#define HOLDING_CLASSES ((64 - HOLDING_BITS + 1) << HOLDING_BITS)

struct holding_times {
	uint64_t count;
	unsigned __int128 sum;
	uint64_t classes[HOLDING_CLASSES];
};

static inline unsigned holding_class(sim_time time)
{
	unsigned octave;

	if (time >> HOLDING_BITS == 0)
		return (unsigned)time;
	octave = 63 - (unsigned)__builtin_clzll(time) - HOLDING_BITS;
	return (octave << HOLDING_BITS) + (unsigned)(time >> octave);
}

static inline void holding_times_add(struct holding_times *times, sim_time time)
{
	times->count++;
	times->sum += time;
	times->classes[holding_class(time)]++;
}

/* Adds all of `other`. */
void holding_times_merge(struct holding_times *times, const struct holding_times *other);

/* In seconds; NAN if nothing was held. */
double holding_times_mean(const struct holding_times *times);

/* In seconds: the upper end of the class of the nearest rank. `p` is from 0 to 1. NAN for fewer
 * than 1 / (1 - p) times. */
double holding_times_percentile(const struct holding_times *times, double p);

#endif
