#include "fluid/filling.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>

/* Levels this close are one: rounding alone tells them apart. */
#define TOGETHER 1e-12

/* A link while rates rise. */
struct filling_link {
	double left;   /* capacity without the routes that have stopped */
	double weight; /* of the routes that rise: weight times share, summed up */
	size_t rising; /* number of these routes */
};

/* A level is a rate divided by its share. */
struct filling {
	const struct platform *platform;
	const struct fluid_route *const *busy;
	const double *share;
	double *rate;               /* 0 while a route rises */
	struct filling_link *links; /* by meeting */
	uint32_t *open;             /* meetings on which routes rise */
	double *level;              /* by place in `open`: at which the link is full */
	uint32_t *rising;           /* routes */
	size_t open_count, rising_count;
	double reached; /* level of all routes that rise */
};

/* The level at which a route has the rate that it has alone. */
static double own_level(const struct filling *fill, uint32_t route)
{
	return fill->busy[route]->alone / fill->share[route];
}

static void begin(struct filling *fill)
{
	const struct platform *platform = fill->platform;

	for (uint32_t r = 0; r < platform->routes; r++) {
		fill->rate[r] = 0;
		if (fill->share[r] > 0)
			fill->rising[fill->rising_count++] = r;
	}
	for (uint32_t m = 0; m < platform->meeting_count; m++) {
		const struct meeting *meeting = &platform->meetings[m];
		struct filling_link *link = &fill->links[m];

		if (!meeting->full)
			continue;
		fill->open[fill->open_count++] = m;
		link->left = meeting->capacity;
		for (size_t i = 0; i < meeting->count; i++) {
			const struct use *use = &platform->uses[meeting->first + i];

			link->weight += use->weight * fill->share[use->route];
			link->rising += fill->share[use->route] > 0;
		}
	}
}

/* The lowest level at which a route stops. Forgets links on which none rises any more, and routes
 * that have stopped. */
static double next_level(struct filling *fill)
{
	double lowest = INFINITY;
	size_t open = 0, rising = 0;

	for (size_t i = 0; i < fill->open_count; i++) {
		const struct filling_link *link = &fill->links[fill->open[i]];

		if (!link->rising)
			continue;
		fill->open[open] = fill->open[i];
		fill->level[open] = link->left / link->weight;
		if (fill->level[open] < lowest)
			lowest = fill->level[open];
		open++;
	}
	for (size_t i = 0; i < fill->rising_count; i++) {
		uint32_t route = fill->rising[i];

		if (fill->rate[route] > 0)
			continue;
		fill->rising[rising++] = route;
		if (own_level(fill, route) < lowest)
			lowest = own_level(fill, route);
	}
	fill->open_count = open;
	fill->rising_count = rising;
	/* rounding must not take a link below what its routes have */
	return fmax(lowest, fill->reached);
}

/* Stops a route, unless it has stopped. */
static void stop(struct filling *fill, uint32_t route)
{
	const struct plan_stream *stream = &fill->busy[route]->stream;

	if (fill->rate[route] > 0)
		return;
	fill->rate[route] = fill->reached * fill->share[route];
	for (size_t i = 0; i < stream->count; i++) {
		uint32_t meeting = fill->platform->meeting_of[stream->links[i].link];
		struct filling_link *link = &fill->links[meeting];

		if (meeting == PLATFORM_NONE)
			continue;
		link->left -= stream->links[i].weight * fill->rate[route];
		link->weight -= stream->links[i].weight * fill->share[route];
		link->rising--;
	}
}

/* Stops all routes that stop at this level. */
static void stop_all(struct filling *fill)
{
	const struct platform *platform = fill->platform;
	double highest = fill->reached * (1 + TOGETHER);

	for (size_t i = 0; i < fill->open_count; i++) {
		const struct meeting *meeting = &platform->meetings[fill->open[i]];
		const struct use *uses = &platform->uses[meeting->first];

		if (fill->level[i] > highest)
			continue;
		for (size_t u = 0; u < meeting->count; u++)
			if (fill->share[uses[u].route] > 0)
				stop(fill, uses[u].route);
	}
	for (size_t i = 0; i < fill->rising_count; i++)
		if (own_level(fill, fill->rising[i]) <= highest)
			stop(fill, fill->rising[i]);
}

void filling_rates(const struct platform *platform, const struct fluid_route *const *busy,
		   const double *share, double *rate)
{
	struct filling fill = { .platform = platform,
				.busy = busy,
				.share = share,
				.rate = rate,
				.links = xcalloc(platform->meeting_count, sizeof(*fill.links)),
				.open = xcalloc(platform->meeting_count, sizeof(*fill.open)),
				.level = xcalloc(platform->meeting_count, sizeof(*fill.level)),
				.rising = xcalloc(platform->routes, sizeof(*fill.rising)) };

	begin(&fill);
	while ((fill.reached = next_level(&fill)) < INFINITY)
		stop_all(&fill);
	free(fill.links);
	free(fill.open);
	free(fill.level);
	free(fill.rising);
}
