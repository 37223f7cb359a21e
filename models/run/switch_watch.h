/* Finds what an event did to the aggregators of a switch: compares the switch's counters before and
 * after the event, so that no scheme has to tell. */
#ifndef INASIM_RUN_SWITCH_WATCH_H
#define INASIM_RUN_SWITCH_WATCH_H

#include "collective/collective.h"
#include "run/simulation.h"

/* The switch that a link leads to; UINT32_MAX: a host. */
uint32_t switch_behind(const struct network *net, uint32_t port);

/* Fills in *about with what the scheme of a packet tells of the packet. False: no scheme has sent
 * it, or the scheme tells nothing. */
bool packet_tells(const struct network *net, const struct packet *packet,
		  struct packet_about *about);

struct switch_seen {
	uint64_t used_bytes; /* of all schemes */
	struct collective_stats stats;
};

/* Reads the state of a switch now, all schemes together. */
void switch_look(const struct simulation *simulation, uint32_t sw, struct switch_seen *seen);

/* What happened between two looks at a switch, in order: "collide", "allocate+add",
 * "add+complete+free"; "" for nothing. Returns `text`. */
#define SWITCH_DID 96
char *switch_did(const struct switch_seen *before, const struct switch_seen *after,
		 char text[SWITCH_DID]);

#endif
