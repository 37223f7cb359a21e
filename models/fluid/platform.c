#include "fluid/platform.h"

#include "base/fail.h"
#include "base/mem.h"
#include "fluid/fluid.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Lists the uses of all links, sorted by link (a counting sort). `end[l]` must be 0; it becomes the
 * index after the last use of link l. */
static void group_by_link(struct platform *platform, const struct fluid_route *const *routes,
			  size_t *end, size_t links)
{
	size_t total = 0;

	for (uint32_t r = 0; r < platform->routes; r++)
		for (size_t i = 0; i < routes[r]->stream.count; i++)
			end[routes[r]->stream.links[i].link]++;
	for (size_t l = 0; l < links; l++) {
		size_t here = end[l];

		end[l] = total; /* first use of the link; the next loop moves it to the end */
		total += here;
		platform->meeting_count += here > 1;
	}
	platform->uses = xcalloc(total, sizeof(*platform->uses));
	for (uint32_t r = 0; r < platform->routes; r++)
		for (size_t i = 0; i < routes[r]->stream.count; i++)
			platform->uses[end[routes[r]->stream.links[i].link]++] =
				(struct use){ r, routes[r]->stream.links[i].weight };
}

static void find_meetings(struct platform *platform, const struct fluid_route *const *routes,
			  const struct fluid_links *links)
{
	size_t *end = xcalloc(links->count, sizeof(*end)), begin = 0;
	struct meeting *meeting;

	platform->meeting_of = xcalloc(links->count, sizeof(*platform->meeting_of));
	group_by_link(platform, routes, end, links->count);
	meeting = platform->meetings =
		xcalloc(platform->meeting_count, sizeof(*platform->meetings));
	for (size_t l = 0; l < links->count; begin = end[l++]) {
		bool meet = end[l] - begin > 1;

		platform->meeting_of[l] =
			meet ? (uint32_t)(meeting - platform->meetings) : PLATFORM_NONE;
		if (meet)
			*meeting++ = (struct meeting){ .link = (uint32_t)l,
						       .first = begin,
						       .count = end[l] - begin,
						       .capacity = links->capacity[l] };
	}
	free(end);
}

void platform_build(struct platform *platform, const struct fluid_route *const *routes,
		    uint32_t count, const struct fluid_links *links)
{
	*platform = (struct platform){ .routes = count };
	while ((uint64_t)platform->side * platform->side < count)
		platform->side++;
	find_meetings(platform, routes, links);
}

/* --- shares --- */

/* Whether the busy routes of a link exceed its capacity, each at the rate that it has alone. */
static bool may_be_full(const struct platform *platform, const struct meeting *meeting,
			const struct fluid_route *const *busy)
{
	double max = 0;

	for (size_t i = 0; i < meeting->count; i++) {
		const struct use *use = &platform->uses[meeting->first + i];

		if (busy[use->route])
			max += use->weight * busy[use->route]->alone;
	}
	return max > meeting->capacity;
}

/* Sets the shares of windows that ignore ECN marks, at a link where they meet streams that heed
 * marks. The streams get the rest of the link, but at least what their smallest windows take. A
 * window gets the largest of its shares over all such links. */
static void share_queue(const struct platform *platform, const struct meeting *meeting,
			const struct fluid_route *const *busy, double *share)
{
	const struct use *uses = &platform->uses[meeting->first];
	double windows = 0, heeding = 0;

	for (size_t i = 0; i < meeting->count; i++) {
		const struct fluid_route *route = busy[uses[i].route];

		if (route && route->stream.fixed)
			windows += uses[i].weight * route->stream.share;
		else if (route)
			heeding += uses[i].weight * route->stream.share;
	}
	if (windows <= 0 || heeding <= 0)
		return;
	for (size_t i = 0; i < meeting->count; i++) {
		const struct fluid_route *route = busy[uses[i].route];
		double left;

		if (!route || !route->stream.fixed)
			continue;
		left = fmax(1 - windows, heeding * route->stream.min);
		share[uses[i].route] =
			fmax(share[uses[i].route], heeding * route->stream.share / left);
	}
}

/* A number for the sender of a route: the job, or 0 for all flows together. */
static uint64_t sender(const struct fluid_route *route)
{
	return route->key & FLUID_KEY_OF_JOB ? route->key >> FLUID_KEY_BITS : 0;
}

/* Whether several senders take turns at this NIC, and whether TCP is among them. */
static void find_senders(const struct platform *platform, const struct meeting *nic,
			 const struct fluid_route *const *busy, bool *several, bool *filled)
{
	const struct use *uses = &platform->uses[nic->first];
	const struct fluid_route *first = NULL;

	*several = *filled = false;
	for (size_t i = 0; i < nic->count; i++) {
		const struct fluid_route *route = busy[uses[i].route];

		if (!route)
			continue;
		first = first ? first : route;
		*several |= sender(route) != sender(first);
		*filled |= route->stream.fills;
	}
}

/* Sets the shares of routes whose senders take turns at a NIC. TCP fills the queues of switches.
 * Beside TCP, a window that ignores ECN marks has most of its packets in these queues and misses
 * some of its turns. So it gets the smaller of its turn and its share in the queues. */
static void share_nic(const struct platform *platform, const struct meeting *nic,
		      const struct fluid_route *const *busy, const double *share, double *turns)
{
	bool several, filled;

	find_senders(platform, nic, busy, &several, &filled);
	for (size_t i = 0; several && i < nic->count; i++) {
		uint32_t r = platform->uses[nic->first + i].route;

		if (!busy[r])
			continue;
		turns[r] = fmin(turns[r], busy[r]->stream.turn);
		if (filled && busy[r]->stream.fixed)
			turns[r] = fmin(turns[r], share[r]);
	}
}

/* Sets the shares of all busy routes as if every link were full. Turns at a NIC override shares in
 * queues. */
static void find_shares(const struct platform *platform, const struct fluid_route *const *busy,
			size_t nics, double *share)
{
	double *turns =
		xcalloc(platform->routes, sizeof(*turns)); /* INFINITY: the route takes no turns */

	for (uint32_t r = 0; r < platform->routes; r++) {
		share[r] = busy[r] ? busy[r]->stream.share : 0;
		turns[r] = INFINITY;
	}
	for (size_t m = 0; m < platform->meeting_count; m++)
		share_queue(platform, &platform->meetings[m], busy, share);
	/* meetings are sorted by link, and NICs are the first links */
	for (size_t m = 0; m < platform->meeting_count && platform->meetings[m].link < nics; m++)
		share_nic(platform, &platform->meetings[m], busy, share, turns);
	for (uint32_t r = 0; r < platform->routes; r++)
		share[r] = isinf(turns[r]) ? share[r] : turns[r];
	free(turns);
}

bool platform_shares(const struct platform *platform, const struct fluid_route *const *busy,
		     size_t nics, double *share)
{
	bool *stopped = xcalloc(platform->routes, sizeof(*stopped)), any = false;

	for (size_t m = 0; m < platform->meeting_count; m++) {
		struct meeting *meeting = &platform->meetings[m];

		meeting->full = may_be_full(platform, meeting, busy);
		if (!meeting->full)
			continue;
		any = true;
		for (size_t i = 0; i < meeting->count; i++)
			stopped[platform->uses[meeting->first + i].route] = true;
	}
	if (any)
		find_shares(platform, busy, nics, share);
	for (uint32_t r = 0; r < platform->routes; r++)
		share[r] = stopped[r] ? share[r] : 0;
	free(stopped);
	return any;
}

/* --- text --- */

/* Writes each route's own link, and the links of the network that the routes could fill together.
 * Returns an array by link of the network that says whether it was written; the caller frees. */
static bool *write_links(FILE *to, struct platform *platform,
			 const struct fluid_route *const *routes, size_t links)
{
	bool *written = xcalloc(links, sizeof(*written));

	for (uint32_t r = 0; r < platform->routes; r++)
		fprintf(to,
			"<link id=\"c%" PRIu32 "\" bandwidth=\"%.17gBps\" latency=\"1s\" "
			"sharing_policy=\"FATPIPE\"/>\n",
			r, routes[r]->alone);
	for (size_t m = 0; m < platform->meeting_count; m++) {
		const struct meeting *meeting = &platform->meetings[m];

		if (!may_be_full(platform, meeting, routes))
			continue;
		written[meeting->link] = true;
		fprintf(to, "<link id=\"l%" PRIu32 "\" bandwidth=\"%.17gBps\" latency=\"0s\"/>\n",
			meeting->link, meeting->capacity);
	}
	return written;
}

static void write_route(FILE *to, const struct platform *platform, uint32_t number,
			const struct plan_stream *stream, const bool *written)
{
	fprintf(to,
		"<route src=\"a%" PRIu32 "\" dst=\"b%" PRIu32
		"\" symmetrical=\"NO\"><link_ctn id=\"c%" PRIu32 "\"/>",
		number / platform->side, number % platform->side, number);
	/* a link of weight 2 is listed twice */
	for (size_t i = 0; i < stream->count; i++)
		for (uint32_t w = 0; written[stream->links[i].link] && w < stream->links[i].weight;
		     w++)
			fprintf(to, "<link_ctn id=\"l%" PRIu32 "\"/>", stream->links[i].link);
	fprintf(to, "</route>\n");
}

void platform_write(struct platform *platform, const struct fluid_route *const *routes,
		    size_t links)
{
	FILE *to = open_memstream(&platform->text, &platform->length);
	bool *written;

	SIM_BUG_ON(!to);
	fprintf(to, "<?xml version='1.0'?>\n"
		    "<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
		    "<platform version=\"4.1\"><zone id=\"z\" routing=\"Full\">\n");
	for (uint32_t h = 0; h < platform->side; h++)
		fprintf(to,
			"<host id=\"a%" PRIu32 "\" speed=\"1f\"/><host id=\"b%" PRIu32
			"\" speed=\"1f\"/>\n",
			h, h);
	written = write_links(to, platform, routes, links);
	for (uint32_t r = 0; r < platform->routes; r++)
		write_route(to, platform, r, &routes[r]->stream, written);
	fprintf(to, "</zone></platform>\n");
	fclose(to);
	free(written);
}

void platform_release(struct platform *platform)
{
	free(platform->meetings);
	free(platform->meeting_of);
	free(platform->uses);
	free(platform->text);
}
