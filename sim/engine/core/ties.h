/* Ties: things that came to one place in one picosecond, and their order.
 *
 * The order of ties is drawn anew at each time (equeue.h). If each pair that met has come in both
 * orders, with the same consequences, the order of ties has no influence. Only neighbours in an
 * order count as pairs, since swaps of neighbours lead from any order to any other. */
#ifndef INASIM_CORE_TIES_H
#define INASIM_CORE_TIES_H

#include "base/types.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tie_pair {
	uint64_t key;    /* hash of the two names, sorted; 0 marks a free entry */
	unsigned orders; /* seen so far: enum tie_orders */
};

enum tie_orders { SMALLER_FIRST = 1, LARGER_FIRST = 2, BOTH_ORDERS = 3 };

/* The last arguments of ties_note() for a place. */
struct tie_last {
	sim_time at;
	uint64_t what, by;
};

/* All zero: nothing has come yet. */
struct ties {
	struct tie_last *last; /* by place; owned */
	size_t places;
	struct tie_pair *pairs; /* hashed; owned */
	size_t count, mask;
	size_t one_way; /* pairs that have come in one order only */
};

/* Notes that something has come to a place. Call it in the order of events. `what` is its name; its
 * counterpart in later periods has the same name. `by` is the number of the event: things that come
 * in the same event are no tie. */
void ties_note(struct ties *ties, size_t place, sim_time at, uint64_t what, uint64_t by);

/* Whether each pair has come in both orders. */
static inline bool ties_decide_nothing(const struct ties *ties)
{
	return !ties->one_way;
}

/* Forgets all pairs. */
void ties_clear(struct ties *ties);
void ties_release(struct ties *ties);

#endif
