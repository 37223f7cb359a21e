/* The links that several routes use, the shares of routes there, and a description for SimGrid. */
#ifndef INASIM_FLUID_PLATFORM_H
#define INASIM_FLUID_PLATFORM_H

#include "base/types.h"
#include "collective/plan.h"

#include <stdbool.h>

/* A route as the platform needs it. */
struct fluid_route {
	/* `links` is owned, and lists each link once, by number. NULL: the route is removed. */
	struct plan_stream stream;
	double alone; /* rate of its transfer if it is alone, bytes per second */
	/* For the digest: `key` of fluid_route_add(), and a hash of links and weights. */
	uint64_t key, links_hash;
};

struct fluid_links {
	double *capacity; /* by link, bytes per second; owned */
	size_t count;
	size_t nics; /* links 0 to nics - 1 lead out of NICs */
};

/* A link that several routes use. */
struct meeting {
	uint32_t link;
	size_t first, count; /* its entries in platform->uses */
	double capacity;
	bool full; /* set by platform_shares(): its busy routes could take more than it has */
};

struct use {
	uint32_t route, weight;
};

#define PLATFORM_NONE UINT32_MAX

struct platform {
	struct meeting *meetings; /* sorted by link */
	size_t meeting_count;
	uint32_t *meeting_of;  /* by link; PLATFORM_NONE: at most one route uses it */
	struct use *uses;      /* of links by routes, sorted by link */
	uint32_t routes, side; /* see struct solver_question (simgrid/protocol.h) */
	char *text;            /* by platform_write(), for SimGrid */
	size_t length;
};

/* Finds where `count` routes meet. */
void platform_build(struct platform *platform, const struct fluid_route *const *routes,
		    uint32_t count, const struct fluid_links *links);
/* Describes these routes, named as simgrid/protocol.h says, to SimGrid. Leaves out links that they
 * cannot fill. `links`: number of links. */
void platform_write(struct platform *platform, const struct fluid_route *const *routes,
		    size_t links);
void platform_release(struct platform *platform);

/* Computes the shares of the busy routes; `busy[r]` is NULL for an idle route r. The share is 0 for
 * an idle route, and for a route that no link can slow down, which keeps the rate that it has
 * alone. Returns whether any share is above 0; if not, the solver is not needed.
 *
 * Streams of several senders that meet at a NIC take turns. Elsewhere streams meet in the queue of
 * a switch. There each window that ignores ECN marks has a fixed fraction p of the link, and the
 * streams that heed marks, as TCP does, fill the rest. So such a window's share is p / (1 - P)
 * times the sum of the heeding streams' shares. P is the sum of all p; 1 - P counts as no less than
 * what the smallest windows of the heeding streams take. */
bool platform_shares(const struct platform *platform, const struct fluid_route *const *busy,
		     size_t nics, double *share);

#endif
