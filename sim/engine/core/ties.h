/* What met at one place in one picosecond, and in which order it came.
 *
 * The order of such ties is drawn anew at each time (equeue.h). Once each pair that met has come in
 * both orders, and all else went the same way, their order decides nothing. Neighbours in the order
 * are enough: swapping them leads from any order to any other. */
#ifndef INASIM_CORE_TIES_H
#define INASIM_CORE_TIES_H

#include "base/types.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tie_pair {
	uint64_t key;    /* of both, in either order; 0 = none */
	unsigned orders; /* seen: a bit for each */
};

struct tie_last {
	sim_time at;
	uint64_t what, by;
};

/* Zeroed, it has seen nothing. */
struct ties {
	struct tie_last *last; /* by place; owned */
	size_t places;
	struct tie_pair *pairs; /* hashed; owned */
	size_t count, mask;
	size_t one_way; /* pairs that came in one order only, so far */
};

/* Something came to a place, in the order of events. `what` is a name that it shares with what
 * comes in its stead in later periods; what came `by` the same event is no tie. */
void ties_note(struct ties *ties, size_t place, sim_time at, uint64_t what, uint64_t by);

/* Each pair has come in both orders. */
static inline bool ties_decide_nothing(const struct ties *ties)
{
	return !ties->one_way;
}

/* Has seen nothing again. */
void ties_clear(struct ties *ties);
void ties_release(struct ties *ties);

#endif
