/* The links at which routes meet: their description for SimGrid, and the shares of routes there. */
#ifndef INASIM_FLUID_PLATFORM_H
#define INASIM_FLUID_PLATFORM_H

#include "base/types.h"
#include "collective/plan.h"

#include <stdbool.h>

/* A route as the platform needs it. */
struct fluid_route {
	/* `links` is owned, and lists each link once, by number. NULL: the route is removed. */
	struct plan_stream stream;
	double alone; /* rate of its transfer when no other is there, bytes per second */
	/* For the digest: `key` of fluid_route_add(), and a hash of links and weights. */
	uint64_t key, links_hash;
};

struct fluid_links {
	double *capacity; /* by link, bytes per second; owned */
	size_t count;
	size_t nics; /* links 0 to nics - 1 lead out of NICs */
};

struct platform {
	struct meeting *meetings; /* links that several routes use, by number */
	size_t meeting_count;
	struct use *uses;      /* of links by routes: those of link 0, of link 1, ... */
	uint32_t routes, side; /* see struct solver_question (simgrid/protocol.h) */
	char *text;            /* the description for SimGrid */
	size_t length;
};

/* Describes `count` routes, named as simgrid/protocol.h says. The text leaves out a link whose
 * routes cannot fill it, each at the rate that it has alone. */
void platform_build(struct platform *platform, const struct fluid_route *const *routes,
		    uint32_t count, const struct fluid_links *links);
void platform_release(struct platform *platform);

/* Finds the shares of routes when only some are busy; `busy[r]` is NULL for an idle route r. A
 * share is 0 if the route is idle, or if no link can slow it down: such a route keeps the rate that
 * it has alone. Returns whether any share is above 0: else there is nothing to ask the solver.
 *
 * Streams of several senders that meet at a NIC take turns there. Elsewhere streams meet in the
 * queue of a switch. There a window that ignores marks has a fixed part p of the link, and the
 * streams that heed marks (as TCP does) fill the rest. So its share is p / (1 - P) of the sum of
 * theirs, where P is the sum of all such parts. */
bool platform_shares(const struct platform *platform, const struct fluid_route *const *busy,
		     size_t nics, double *share);

#endif
