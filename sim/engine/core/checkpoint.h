/* Digests over simulated time: some hundred checkpoints, equally spaced over a
 * run whose end nobody knows beforehand.
 *
 * They start dense, a nanosecond apart. Whenever there are too many, every second
 * one is dropped and the distance doubles. So the times are multiples of a power
 * of two of nanoseconds, at any moment the list covers the whole run evenly, and
 * two runs have common times however long they are. Too many is 256, and in short
 * runs more than one for 128 events: so a run of more than 32,768 events keeps 128
 * or more, whatever its length, and taking them costs less than 1 % of its time. */
#ifndef INASIM_CORE_CHECKPOINT_H
#define INASIM_CORE_CHECKPOINT_H

#include "base/types.h"

#include <stdbool.h>
#include <stddef.h>

#define CHECKPOINTS_MAX   256
#define CHECKPOINTS_FEW   16  /* never too many */
#define CHECKPOINT_EVENTS 128 /* at least, for each one beyond these */

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
