/* Digests over simulated time: some hundred checkpoints, equally spaced over a
 * run whose end nobody knows beforehand.
 *
 * They start dense, a nanosecond apart. Whenever the list is full, every second
 * one is dropped and the distance doubles. So the times are multiples of a power
 * of two of nanoseconds, at any moment the list covers the whole run evenly and
 * is at least half full (from 256 ns on), and two runs have common times however
 * long they are. A run of T ns takes about 128 * log2(T) of them: nothing beside
 * its events. */
#ifndef INASIM_CORE_CHECKPOINT_H
#define INASIM_CORE_CHECKPOINT_H

#include "base/types.h"

#include <stdbool.h>
#include <stddef.h>

#define CHECKPOINTS_MAX 256

struct checkpoint {
	sim_time at;     /* all events up to this time, and none behind it */
	uint64_t events; /* so many are in */
	uint64_t digest; /* sim_run_digest() */
};

struct checkpoints {
	size_t count;
	sim_time every;
	struct checkpoint list[CHECKPOINTS_MAX];
};

void checkpoints_init(struct checkpoints *checkpoints);

/* When the next one is due: a multiple of `every`, behind the last. */
sim_time checkpoints_next(const struct checkpoints *checkpoints);

/* Adds the one that was due. */
void checkpoints_add(struct checkpoints *checkpoints, uint64_t events, uint64_t digest);

/* Compares two lists at the times that both have. Returns false when all are
 * equal; else the first difference lies in *after < time <= *until. */
bool checkpoints_differ(const struct checkpoint *a, size_t a_count, const struct checkpoint *b,
			size_t b_count, sim_time *after, sim_time *until);

#endif
