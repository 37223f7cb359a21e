#include "collective/holding_times.h"

#include <math.h>

void holding_times_merge(struct holding_times *times, const struct holding_times *other)
{
	times->count += other->count;
	times->sum += other->sum;
	for (unsigned i = 0; i < HOLDING_CLASSES; i++)
		times->classes[i] += other->classes[i];
}

double holding_times_mean(const struct holding_times *times)
{
	return times->count ? (double)times->sum / (double)PS_PER_S / (double)times->count : NAN;
}

/* The largest time of a class. */
static sim_time class_end(unsigned class)
{
	unsigned octave = class >> HOLDING_BITS;

	if (octave == 0)
		return class;
	octave--; /* time >> octave is 32 to 63: octave k has the classes from (k + 1) * 32 on */
	return ((((sim_time) class - ((sim_time)octave << HOLDING_BITS)) + 1) << octave) - 1;
}

double holding_times_percentile(const struct holding_times *times, double p)
{
	double rank = ceil(p * (double)times->count);
	uint64_t sum = 0;

	if ((double)times->count * (1 - p) < 1)
		return NAN;
	for (unsigned i = 0; i < HOLDING_CLASSES; i++) {
		sum += times->classes[i];
		if ((double)sum >= rank)
			return seconds_of(class_end(i));
	}
	return NAN;
}
