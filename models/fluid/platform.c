/* Text for SimGrid: see simgrid/protocol.h for names. */
#include "base/fail.h"
#include "base/hash.h"
#include "base/mem.h"
#include "fluid/fluid.h"
#include "fluid/fluid_parts.h"
#include "fluid/simgrid/protocol.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A link as the routes of the epoch use it. */
struct use {
	uint32_t route, weight;
};

struct shared {
	uint32_t link;
	size_t first, count; /* of its uses */
	double capacity;
	uint64_t hash; /* of its uses */
};

struct uses {
	struct use *list; /* grouped by link, in the order of routes */
	struct shared *shared;
	size_t count; /* of shared */
};

/* Counting sort of all entries by link. */
static void group_by_link(struct uses *uses, const struct fluid_route *const *routes,
			  uint32_t count, const double *capacity, size_t links)
{
	size_t *end = xcalloc(links + 1, sizeof(*end)), total = 0, begin = 0;

	for (uint32_t r = 0; r < count; r++)
		for (size_t i = 0; i < routes[r]->count; i++)
			end[routes[r]->links[i].link]++;
	for (size_t l = 0; l < links; l++) {
		size_t here = end[l];

		end[l] = total;
		total += here;
		uses->count += here > 0;
	}
	uses->list = xcalloc(total, sizeof(*uses->list));
	uses->shared = xcalloc(uses->count, sizeof(*uses->shared));
	for (uint32_t r = 0; r < count; r++)
		for (size_t i = 0; i < routes[r]->count; i++)
			uses->list[end[routes[r]->links[i].link]++] =
				(struct use){ r, routes[r]->links[i].weight };
	uses->count = 0;
	for (size_t l = 0; l < links; l++) {
		if (end[l] > begin)
			uses->shared[uses->count++] = (struct shared){ .link = (uint32_t)l,
								       .first = begin,
								       .count = end[l] - begin,
								       .capacity = capacity[l] };
		begin = end[l];
	}
	free(end);
}

/* Who sends by turns: the routes of a job differ in the last bits of their keys only. */
static uint64_t sender(const struct fluid_route *route)
{
	return route->key >> FLUID_KEY_BITS;
}

/* Who sends by this NIC: several that take turns, and TCP among them? */
static void find_senders(const struct uses *uses, const struct shared *nic,
			 const struct fluid_route *const *routes, bool *several, bool *filled)
{
	const struct use *list = &uses->list[nic->first];

	*several = *filled = false;
	for (size_t i = 0; i < nic->count; i++) {
		*several |= sender(routes[list[i].route]) != sender(routes[list[0].route]);
		*filled |= routes[list[i].route]->fills;
	}
}

/* By route. Those of several senders that meet at a NIC wait for turns there, all others in the
 * queues of switches. TCP fills these until marks come; a fixed window beside it is there, too, and
 * has no packet left for each of its turns. */
static double *find_shares(const struct uses *uses, const struct fluid_route *const *routes,
			   uint32_t count, size_t nics)
{
	double *shares = xcalloc(count, sizeof(*shares));

	for (uint32_t r = 0; r < count; r++)
		shares[r] = INFINITY; /* of turns */
	for (size_t s = 0; s < uses->count && uses->shared[s].link < nics; s++) {
		const struct use *list = &uses->list[uses->shared[s].first];
		bool several, filled;

		find_senders(uses, &uses->shared[s], routes, &several, &filled);
		for (size_t i = 0; several && i < uses->shared[s].count; i++) {
			const struct fluid_route *route = routes[list[i].route];
			double *share = &shares[list[i].route];

			*share = fmin(*share, route->turn);
			if (filled && route->fixed)
				*share = fmin(*share, route->share);
		}
	}
	for (uint32_t r = 0; r < count; r++)
		if (isinf(shares[r]))
			shares[r] = routes[r]->share;
	return shares;
}

/* Could its routes fill it, if nothing else stopped them? */
static bool may_be_full(const struct uses *uses, const struct shared *shared,
			const struct fluid_route *const *routes)
{
	double most = 0;

	if (shared->count == 1)
		return false; /* it is in the rate that the route has when alone */
	for (size_t i = 0; i < shared->count; i++) {
		const struct use *use = &uses->list[shared->first + i];

		most += use->weight * routes[use->route]->alone;
	}
	return most > shared->capacity;
}

static void hash_uses(const struct uses *uses, struct shared *shared)
{
	for (size_t i = 0; i < shared->count; i++) {
		const struct use *use = &uses->list[shared->first + i];

		shared->hash = hash_pair(shared->hash, (uint64_t)use->route << 32 | use->weight);
	}
}

/* Equal uses side by side, the slowest link first. */
static int by_uses(const void *a, const void *b)
{
	const struct shared *x = a, *y = b;

	if (x->hash != y->hash)
		return x->hash < y->hash ? -1 : 1;
	if (x->count != y->count)
		return x->count < y->count ? -1 : 1;
	if (x->capacity < y->capacity || x->capacity > y->capacity)
		return x->capacity < y->capacity ? -1 : 1;
	return x->link < y->link ? -1 : x->link > y->link;
}

static bool same_uses(const struct uses *uses, const struct shared *a, const struct shared *b)
{
	return a->hash == b->hash && a->count == b->count &&
	       memcmp(&uses->list[a->first], &uses->list[b->first],
		      a->count * sizeof(*uses->list)) == 0;
}

static void keep_what_matters(struct uses *uses, const struct fluid_route *const *routes)
{
	size_t kept = 0;

	for (size_t i = 0; i < uses->count; i++)
		if (may_be_full(uses, &uses->shared[i], routes))
			uses->shared[kept++] = uses->shared[i];
	for (size_t i = 0; i < kept; i++)
		hash_uses(uses, &uses->shared[i]);
	if (kept)
		qsort(uses->shared, kept, sizeof(*uses->shared), by_uses);
	uses->count = 0;
	for (size_t i = 0; i < kept; i++)
		if (!uses->count ||
		    !same_uses(uses, &uses->shared[uses->count - 1], &uses->shared[i]))
			uses->shared[uses->count++] = uses->shared[i];
}

/* --- text --- */

/* Links of each route, by their number in the platform. */
struct listing {
	size_t *end;
	struct use *list; /* `route` is a link here */
};

static void group_by_route(struct listing *listing, const struct uses *uses, uint32_t routes)
{
	size_t total = 0;

	listing->end = xcalloc(routes + 1, sizeof(*listing->end));
	for (size_t s = 0; s < uses->count; s++)
		for (size_t i = 0; i < uses->shared[s].count; i++)
			listing->end[uses->list[uses->shared[s].first + i].route]++;
	for (uint32_t r = 0; r < routes; r++) {
		size_t here = listing->end[r];

		listing->end[r] = total;
		total += here;
	}
	listing->list = xcalloc(total, sizeof(*listing->list));
	for (size_t s = 0; s < uses->count; s++)
		for (size_t i = 0; i < uses->shared[s].count; i++) {
			const struct use *use = &uses->list[uses->shared[s].first + i];

			listing->list[listing->end[use->route]++] =
				(struct use){ (uint32_t)s, use->weight };
		}
}

static void write_routes(FILE *to, const struct platform *platform, const struct listing *listing)
{
	size_t at = 0;

	for (uint32_t r = 0; r < platform->routes; r++) {
		fprintf(to,
			"<route src=\"a%" PRIu32 "\" dst=\"b%" PRIu32
			"\" symmetrical=\"NO\"><link_ctn id=\"c%" PRIu32 "\"/>",
			r / platform->side, r % platform->side, r);
		for (; at < listing->end[r]; at++)
			for (uint32_t w = 0; w < listing->list[at].weight; w++)
				fprintf(to, "<link_ctn id=\"l%" PRIu32 "\"/>",
					listing->list[at].route);
		fprintf(to, "</route>\n");
	}
}

static void write_text(struct platform *platform, const struct uses *uses,
		       const struct fluid_route *const *routes, const double *shares)
{
	struct listing listing;
	FILE *to = open_memstream(&platform->text, &platform->length);

	group_by_route(&listing, uses, platform->routes);
	fprintf(to, "<?xml version='1.0'?>\n"
		    "<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
		    "<platform version=\"4.1\"><zone id=\"z\" routing=\"Full\">\n");
	for (uint32_t h = 0; h < platform->side; h++)
		fprintf(to,
			"<host id=\"a%" PRIu32 "\" speed=\"1f\"/><host id=\"b%" PRIu32
			"\" speed=\"1f\"/>\n",
			h, h);
	for (uint32_t r = 0; r < platform->routes; r++)
		fprintf(to,
			"<link id=\"c%" PRIu32 "\" bandwidth=\"%.17gBps\" latency=\"%.17gs\" "
			"sharing_policy=\"FATPIPE\"/>\n",
			r, routes[r]->alone * platform->tick * EPOCH_SCALE, 1 / shares[r]);
	for (size_t s = 0; s < uses->count; s++)
		fprintf(to, "<link id=\"l%zu\" bandwidth=\"%.17gBps\" latency=\"0s\"/>\n", s,
			uses->shared[s].capacity * platform->tick * EPOCH_SCALE);
	write_routes(to, platform, &listing);
	fprintf(to, "</zone></platform>\n");
	fclose(to);
	free(listing.end);
	free(listing.list);
}

void platform_build(struct platform *platform, const struct fluid_route *const *routes,
		    uint32_t count, const struct fluid_links *links, double tick)
{
	struct uses uses = { 0 };
	double *shares;

	*platform = (struct platform){ .routes = count, .tick = tick };
	while ((uint64_t)platform->side * platform->side < count)
		platform->side++;
	group_by_link(&uses, routes, count, links->capacity, links->count);
	shares = find_shares(&uses, routes, count, links->nics);
	keep_what_matters(&uses, routes);
	platform->links = (uint32_t)uses.count;
	write_text(platform, &uses, routes, shares);
	free(shares);
	free(uses.list);
	free(uses.shared);
}

void platform_release(struct platform *platform)
{
	free(platform->text);
}
