/* Finds what an event did to the aggregators of a switch. Compares the switch's counters before and
 * after the event, so schemes need no code for this. */
#ifndef INASIM_RUN_SWITCH_WATCH_H
#define INASIM_RUN_SWITCH_WATCH_H

#include "collective/collective.h"
#include "run/simulation.h"

/* The switch that a link leads to; UINT32_MAX if it leads to a host. */
uint32_t switch_behind(const struct network *net, uint32_t port);

/* Fills in *about with what the packet's scheme says about the packet. False if the packet is not
 * PACKET_AGGREGATION, or the scheme says nothing. */
bool packet_tells(const struct network *net, const struct packet *packet,
		  struct packet_about *about);

struct switch_seen {
	uint64_t used_bytes; /* of all schemes */
	struct collective_stats stats;
};

/* Reads the present state of a switch, all schemes together. */
void switch_look(const struct simulation *simulation, uint32_t sw, struct switch_seen *seen);

/* Writes what happened between two states of a switch, in order: "collide", "allocate+add",
 * "add+complete+free", or "" for nothing. Returns `text`. */
#define SWITCH_DID 96
char *switch_did(const struct switch_seen *before, const struct switch_seen *after,
		 char text[SWITCH_DID]);

#endif
