/* The links at which routes meet: their description for SimGrid, and the shares of routes there. */
#ifndef INASIM_FLUID_PLATFORM_H
#define INASIM_FLUID_PLATFORM_H

#include "base/types.h"
#include "collective/plan.h"

#include <stdbool.h>

/* A route as the platform needs it. */
struct fluid_route {
	struct plan_stream stream; /* owns its links: each once, by number; NULL = route removed */
	double alone;              /* its rate when nobody else is there, bytes per second */
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
	struct use *uses;      /* of links by routes, link by link */
	uint32_t routes, side; /* as of struct solver_question (simgrid/protocol.h) */
	char *text;            /* the description for SimGrid */
	size_t length;
};

/* Describes `count` routes, named as simgrid/protocol.h says. The text leaves out links that even
 * all routes at full speed do not fill. */
void platform_build(struct platform *platform, const struct fluid_route *const *routes,
		    uint32_t count, const struct fluid_links *links);
void platform_release(struct platform *platform);

/* Finds the shares of routes when only some are busy; `busy` is NULL for the others. A share is 0
 * if the route is idle, or if no link can slow it down: it then keeps the rate that it has alone.
 * False if all shares are 0.
 *
 * Senders that meet at a NIC take turns there; all others meet in queues of switches. A window that
 * ignores marks has a fixed part of such a link, which is a share of part / (1 - part) against all
 * streams that heed marks (as TCP does). Those fill the rest. */
bool platform_shares(const struct platform *platform, const struct fluid_route *const *busy,
		     size_t nics, double *share);

#endif
