/* A cluster of SimGrid (<cluster> of a platform file, DTD 4.1) as a topology.
 *
 *   topology="FAT_TREE", one level      star
 *                        two levels     leaf-spine
 *                        three levels   fat-tree, when it is one of k-port switches
 *   topology="FLAT" (or none)           star; the latency of a backbone is the switch's
 *
 * `lat` becomes the delay of each link, and switches get no latency of their own, so
 * that the latency of every route is what SimGrid has. What cannot be had is an error
 * when the network would be another one (shared or fat-pipe links, hosts with several
 * cables, unequal trees) and a warning when it is nearly the same or does not matter
 * for packets; each names its line. */
#ifndef INASIM_EXCHANGE_SIMGRID_IMPORT_H
#define INASIM_EXCHANGE_SIMGRID_IMPORT_H

#include <stdbool.h>
#include <stddef.h>

struct import_note {
	unsigned long line; /* of the XML; from 1 */
	bool error;         /* else a warning */
	char *text;         /* owned */
};

struct simgrid_import {
	char *topology; /* a "topology" object as JSON text, which says where its values come
			   from; NULL when there is an error; owned */
	struct import_note *notes;
	size_t count, capacity;
};

/* Reads a platform from memory. The caller releases the result. */
void simgrid_import(const char *xml, size_t length, struct simgrid_import *import);
void simgrid_import_release(struct simgrid_import *import);

#endif
