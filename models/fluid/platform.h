/* The links at which routes meet: a platform description of SimGrid, and the shares that routes
 * have there. */
#ifndef INASIM_FLUID_PLATFORM_H
#define INASIM_FLUID_PLATFORM_H

#include "base/types.h"
#include "collective/plan.h"

#include <stdbool.h>

/* What a platform has to know of a route. */
struct fluid_route {
	struct plan_link *links; /* owned; each once, by number; NULL = removed */
	size_t count;
	double cap, alone;         /* bytes per second */
	double share, least, turn; /* see struct plan_stream */
	bool fixed, fills;
	uint64_t key, way; /* for the digest: which transfers these are, and a hash of the links */
};

struct fluid_links {
	double *capacity; /* by link, bytes per second; owned */
	size_t count;
	size_t nics; /* the first ones */
};

struct platform {
	struct meeting *meetings; /* links that several routes use, by number */
	size_t meeting_count;
	struct use *uses;
	uint32_t routes, side;
	char *text;
	size_t length;
};

/* Route i of `routes` is called so in simgrid/protocol.h. Left out of the text are links that even
 * all routes at their fastest do not fill. */
void platform_build(struct platform *platform, const struct fluid_route *const *routes,
		    uint32_t count, const struct fluid_links *links);
void platform_release(struct platform *platform);

/* The shares of the routes of a platform when only some are busy; `busy` has NULL for all others.
 * The share is 0 where the route is idle, and where no link can stop it: there it keeps the rate
 * that it has alone. False when all shares are 0.
 *
 * Several senders that meet at a NIC wait for turns there; all others meet in queues of switches.
 * In these, whoever heeds marks (as TCP does) fills what the marks leave. A window that heeds none
 * has a fixed part of the link: a share of part / (1 - part) against all that heed marks. */
bool platform_shares(const struct platform *platform, const struct fluid_route *const *busy,
		     size_t nics, double *share);

#endif
