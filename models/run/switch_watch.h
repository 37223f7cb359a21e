/* What an event did to the aggregators of a switch, told from the counters before and after it: so
 * no scheme has to say it. */
#ifndef INASIM_RUN_SWITCH_WATCH_H
#define INASIM_RUN_SWITCH_WATCH_H

#include "collective/collective.h"
#include "run/simulation.h"

struct switch_seen {
	uint64_t used_bytes; /* of all schemes */
	struct collective_stats stats;
};

/* The switch as it is now, all schemes together. */
void switch_look(const struct simulation *simulation, uint32_t sw, struct switch_seen *seen);

/* "collide", "allocate+add", "add+complete+free": what happened in between, in this order; "" when
 * nothing did. Returns `text`. */
#define SWITCH_DID 96
char *switch_did(const struct switch_seen *before, const struct switch_seen *after,
		 char text[SWITCH_DID]);

#endif
