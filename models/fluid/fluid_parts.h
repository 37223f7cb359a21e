/* Fluid from the inside: routes, and the platform that SimGrid gets. */
#ifndef INASIM_FLUID_FLUID_PARTS_H
#define INASIM_FLUID_FLUID_PARTS_H

#include "base/types.h"
#include "collective/plan.h"

struct fluid_route {
	struct plan_link *links; /* owned; each once, by number; NULL = removed */
	size_t count;
	double cap, alone;  /* bytes per second */
	double share, turn; /* see struct plan_stream */
	bool fixed, fills;
	uint64_t key, way; /* for the digest: which transfers these are, and a hash of the links */
	void (*ended)(void *owner, uint32_t route);
	void *owner;
	bool active;
	double bytes;      /* of the transfer under way */
	double remaining;  /* of them, when the epoch began or the transfer did */
	double left, rate; /* what the solver said when it was last looked at, and per tick */
	sim_time earliest; /* when it can end */
	uint32_t in_epoch; /* its number there, or NOT_IN_EPOCH */
};

#define NOT_IN_EPOCH UINT32_MAX

struct fluid_links {
	double *capacity; /* by link; owned */
	size_t count;
	size_t nics; /* the first ones */
};

/* The links that some routes share, as a platform description of SimGrid. */
struct platform {
	char *text;
	size_t length;
	uint32_t routes, side, links;
	double tick; /* seconds in one of SimGrid's */
};

/* `routes` lists those of the epoch. Left out is what
 * cannot make a difference: links that even all routes at their fastest do not fill, and of links
 * that carry the same routes with the same weights all but the slowest. */
void platform_build(struct platform *platform, const struct fluid_route *const *routes,
		    uint32_t count, const struct fluid_links *links, double tick);
void platform_release(struct platform *platform);

#endif
