#include "fluid/fluid.h"

#include "base/mem.h"
#include "fluid/filling.h"
#include "fluid/platform.h"
#include "fluid/solver.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NOWHERE UINT32_MAX

/* Numbers in the keys of the two timers. */
#define KEY_NEXT    (UINT64_C(1) << 40)
#define KEY_CHANGED (UINT64_C(1) << 41)

/* The last argument of sim_digest() when a transfer ends; when it begins, `links_hash`. */
#define DIGEST_END 1

/* A route and its transfer. */
struct transfer {
	struct fluid_route route;
	void (*ended)(void *owner, uint32_t route);
	void *owner;
	uint32_t place; /* number in the platform; NOWHERE: not in the platform */
	bool active;    /* a transfer runs */
	double bytes;
	double remaining; /* bytes, at `changed_at` */
	double rate;      /* bytes per second, since `changed_at` */
	sim_time end;     /* if the rate stays */
};

/* Rates change when a transfer begins, ends or is aborted, and when capacities change. New rates
 * are computed at the end of that instant and stay until the next change, so the end of every
 * transfer is known. */
struct fluid {
	struct sim *sim;
	struct checks *checks;
	struct fluid_links links;
	double *carried;            /* by link: bytes of transfers that are over */
	double *carried_now;        /* result of fluid_all_carried() */
	struct transfer *transfers; /* by number of their route */
	size_t count, room;
	uint32_t *spare; /* numbers of removed routes, for reuse */
	size_t spare_count, spare_room;
	size_t active;        /* number of transfers that run */
	sim_time changed_at;  /* the last change of rates */
	struct timer changed; /* end of that instant: computes the new rates */
	struct timer next;    /* end of the next transfer */
	double *progress;     /* result of fluid_progress() */
	bool stopped;
	bool sharing;
	/* If transfers share links: */
	struct solver *simgrid; /* NULL: the program computes rates itself */
	struct platform platform;
	bool outdated; /* the platform lacks a busy route */
	bool told;     /* SimGrid has the platform */
	/* By number in the platform: */
	uint32_t *numbers;               /* of the route here; NOWHERE if it has been removed */
	const struct fluid_route **busy; /* NULL for an idle route */
	double *values;                  /* the shares of all routes, then their rates */
};

static void fail(struct fluid *fluid)
{
	checks_violated(fluid->checks, &fluid->checks->conservation_violations,
			"the SimGrid process ended unexpectedly, at %.9f s",
			seconds_of(fluid->sim->now));
	sim_stop(fluid->sim);
}

/* --- rates --- */

/* Builds a platform of all routes that exist. */
static void renew_platform(struct fluid *fluid)
{
	const struct fluid_route **routes = xcalloc(fluid->count, sizeof(*routes));
	uint32_t count = 0;

	fluid->numbers = xrealloc(fluid->numbers, fluid->room, sizeof(*fluid->numbers));
	fluid->busy = xrealloc(fluid->busy, fluid->room, sizeof(*fluid->busy));
	fluid->values = xrealloc(fluid->values, 2 * fluid->room, sizeof(*fluid->values));
	for (uint32_t i = 0; i < fluid->count; i++) {
		if (!fluid->transfers[i].route.stream.links)
			continue;
		fluid->transfers[i].place = count;
		fluid->numbers[count] = i;
		routes[count++] = &fluid->transfers[i].route;
	}
	platform_release(&fluid->platform);
	platform_build(&fluid->platform, routes, count, &fluid->links);
	if (fluid->simgrid)
		platform_write(&fluid->platform, routes, fluid->links.count);
	fluid->outdated = fluid->told = false;
	free(routes);
}

/* Computes rates from shares. False if SimGrid has failed. */
static bool solve(struct fluid *fluid, const double *share, double *rate)
{
	bool fresh = !fluid->told;

	if (!fluid->simgrid) {
		filling_rates(&fluid->platform, (const struct fluid_route *const *)fluid->busy,
			      share, rate);
		return true;
	}
	fluid->told = true;
	return solver_rates(fluid->simgrid, &fluid->platform, fresh, share, rate);
}

/* Sets the rates of routes that others may slow down. False if SimGrid has failed. */
static bool share_links(struct fluid *fluid)
{
	const struct platform *platform = &fluid->platform;
	double *share = fluid->values, *rate = fluid->values + platform->routes;

	for (uint32_t p = 0; p < platform->routes; p++) {
		uint32_t number = fluid->numbers[p];

		fluid->busy[p] = NULL;
		if (number != NOWHERE && fluid->transfers[number].active)
			fluid->busy[p] = &fluid->transfers[number].route;
	}
	if (!platform_shares(platform, fluid->busy, fluid->links.nics, share))
		return true; /* no route slows another one down */
	if (!solve(fluid, share, rate))
		return false;
	for (uint32_t p = 0; p < platform->routes; p++)
		if (share[p] > 0)
			fluid->transfers[fluid->numbers[p]].rate = rate[p];
	return true;
}

/* Sets all rates. False if SimGrid has failed. */
static bool find_rates(struct fluid *fluid)
{
	for (size_t i = 0; i < fluid->count; i++)
		fluid->transfers[i].rate = fluid->transfers[i].route.alone;
	if (!fluid->sharing)
		return true;
	if (fluid->outdated)
		renew_platform(fluid);
	return share_links(fluid);
}

/* Sets the end of each transfer at its present rate, and the timer to the first end. */
static void expect_ends(struct fluid *fluid)
{
	sim_time now = fluid->sim->now, next = SIM_TIME_MAX;

	for (size_t i = 0; i < fluid->count; i++) {
		struct transfer *transfer = &fluid->transfers[i];
		double takes = transfer->remaining / transfer->rate * (double)PS_PER_S;

		if (!transfer->active)
			continue;
		transfer->end = takes < (double)(SIM_TIME_MAX - now)
					? now + (sim_time)llround(takes)
					: SIM_TIME_MAX;
		next = transfer->end < next ? transfer->end : next;
	}
	if (next < SIM_TIME_MAX)
		timer_set(fluid->sim, &fluid->next, next);
}

static void on_changed(struct sim *sim, uint32_t entity, void *owner)
{
	struct fluid *fluid = owner;

	(void)entity;
	sim->uncounted++;
	timer_cancel(sim, &fluid->next);
	if (fluid->active && !find_rates(fluid))
		fail(fluid);
	else
		expect_ends(fluid);
}

static double remaining_now(const struct fluid *fluid, const struct transfer *transfer)
{
	double passed = seconds_of(fluid->sim->now - fluid->changed_at);

	return fmax(transfer->remaining - transfer->rate * passed, 0);
}

/* Rates change now: updates what transfers have carried so far. on_changed() computes the new rates
 * at the end of this instant. */
static void change(struct fluid *fluid)
{
	struct sim *sim = fluid->sim;

	for (size_t i = 0; i < fluid->count && fluid->changed_at < sim->now; i++)
		if (fluid->transfers[i].active)
			fluid->transfers[i].remaining = remaining_now(fluid, &fluid->transfers[i]);
	fluid->changed_at = sim->now;
	if (!timer_pending(sim, &fluid->changed))
		timer_set(sim, &fluid->changed, sim->now);
}

/* --- transfers --- */

/* Adds `carried` bytes of a route to its links. */
static void credit(double *links, const struct fluid_route *route, double carried)
{
	for (size_t i = 0; i < route->stream.count; i++)
		links[route->stream.links[i].link] += route->stream.links[i].weight * carried;
}

/* Ends all transfers that are due now, by number of route, before it calls any ended(). */
static void on_next_end(struct sim *sim, uint32_t entity, void *owner)
{
	struct fluid *fluid = owner;
	uint32_t *ended = xcalloc(fluid->active, sizeof(*ended));
	size_t count = 0;

	(void)entity;
	change(fluid);
	for (uint32_t i = 0; i < fluid->count; i++) {
		struct transfer *transfer = &fluid->transfers[i];

		if (!transfer->active || transfer->end > sim->now)
			continue;
		transfer->active = false;
		credit(fluid->carried, &transfer->route, transfer->bytes);
		sim_digest(sim, transfer->route.key, DIGEST_END);
		ended[count++] = i;
	}
	fluid->active -= count;
	for (size_t i = 0; i < count; i++)
		fluid->transfers[ended[i]].ended(fluid->transfers[ended[i]].owner, ended[i]);
	free(ended);
}

void fluid_start(struct fluid *fluid, uint32_t number, double size)
{
	struct transfer *transfer = &fluid->transfers[number];

	SIM_BUG_ON(transfer->active || !(size > 0));
	change(fluid);
	transfer->active = true;
	transfer->bytes = transfer->remaining = size;
	transfer->end = SIM_TIME_MAX; /* not known yet */
	fluid->active++;
	fluid->outdated |= transfer->place == NOWHERE;
	sim_digest(fluid->sim, transfer->route.key, transfer->route.links_hash);
}

static void find_alone(const struct fluid *fluid, struct fluid_route *route)
{
	route->alone = route->stream.cap;
	for (size_t i = 0; i < route->stream.count; i++) {
		const struct plan_link *link = &route->stream.links[i];

		route->alone = fmin(route->alone, fluid->links.capacity[link->link] / link->weight);
	}
	SIM_BUG_ON(!(route->alone > 0 && isfinite(route->alone)));
}

static uint32_t new_number(struct fluid *fluid)
{
	if (fluid->spare_count)
		return fluid->spare[--fluid->spare_count];
	fluid->transfers = array_reserve(fluid->transfers, fluid->count, &fluid->room,
					 sizeof(*fluid->transfers));
	return (uint32_t)fluid->count++;
}

uint32_t fluid_route_add(struct fluid *fluid, const struct plan_stream *stream, uint64_t key,
			 void (*ended)(void *owner, uint32_t route), void *owner)
{
	uint32_t number = new_number(fluid);
	struct transfer *transfer = &fluid->transfers[number];
	struct fluid_route *route = &transfer->route;
	struct plan_link *links;

	SIM_BUG_ON(!(stream->share > 0 && stream->turn > 0));
	*transfer = (struct transfer){ .ended = ended, .owner = owner, .place = NOWHERE };
	*route = (struct fluid_route){ .stream = *stream, .key = key };
	links = route->stream.links = xcalloc(stream->count + 1, sizeof(*links));
	if (stream->count)
		memcpy(links, stream->links, stream->count * sizeof(*links));
	plan_merge(links, &route->stream.count);
	for (size_t i = 0; i < route->stream.count; i++)
		route->links_hash += hash_pair(links[i].link, links[i].weight);
	find_alone(fluid, route);
	return number;
}

void fluid_route_remove(struct fluid *fluid, uint32_t number)
{
	struct transfer *transfer = &fluid->transfers[number];

	if (transfer->active) {
		change(fluid);
		credit(fluid->carried, &transfer->route, transfer->bytes - transfer->remaining);
		transfer->active = false;
		fluid->active--;
	}
	if (transfer->place != NOWHERE)
		fluid->numbers[transfer->place] = NOWHERE;
	free(transfer->route.stream.links);
	transfer->route.stream.links = NULL;
	fluid->spare = array_reserve(fluid->spare, fluid->spare_count, &fluid->spare_room,
				     sizeof(*fluid->spare));
	fluid->spare[fluid->spare_count++] = number;
}

/* --- questions --- */

double fluid_alone(const struct fluid *fluid, uint32_t route)
{
	return fluid->transfers[route].route.alone;
}

bool fluid_shares(const struct fluid *fluid)
{
	return fluid->sharing;
}

size_t fluid_active(const struct fluid *fluid)
{
	return fluid->active;
}

const double *fluid_progress(struct fluid *fluid)
{
	fluid->progress = xrealloc(fluid->progress, fluid->room, sizeof(*fluid->progress));
	for (size_t i = 0; i < fluid->count; i++) {
		const struct transfer *transfer = &fluid->transfers[i];

		fluid->progress[i] =
			transfer->active ? transfer->bytes - remaining_now(fluid, transfer) : 0;
	}
	return fluid->progress;
}

const double *fluid_all_carried(struct fluid *fluid)
{
	const double *progress = fluid_progress(fluid);

	memcpy(fluid->carried_now, fluid->carried, fluid->links.count * sizeof(*fluid->carried));
	for (size_t i = 0; i < fluid->count; i++)
		if (fluid->transfers[i].active)
			credit(fluid->carried_now, &fluid->transfers[i].route, progress[i]);
	return fluid->carried_now;
}

double fluid_carried(const struct fluid *fluid, uint32_t link)
{
	return fluid->carried[link];
}

/* --- life --- */

const char *const fluid_solver_names[] = {
	[FLUID_FILLING] = "filling", [FLUID_SIMGRID] = "simgrid", NULL
};

struct fluid *fluid_open(struct sim *sim, struct checks *checks, const double *capacity,
			 size_t links, size_t nics, bool sharing, enum fluid_solver solver,
			 char **error)
{
	bool simgrid = sharing && solver == FLUID_SIMGRID;
	struct solver *process = simgrid ? solver_open(error) : NULL;
	struct fluid *fluid;

	if (simgrid && !process)
		return NULL;
	fluid = xcalloc(1, sizeof(*fluid));
	fluid->sim = sim;
	fluid->checks = checks;
	fluid->sharing = sharing;
	fluid->simgrid = process;
	fluid->links = (struct fluid_links){ xcalloc(links, sizeof(*capacity)), links, nics };
	fluid->carried = xcalloc(links, sizeof(*fluid->carried));
	fluid->carried_now = xcalloc(links, sizeof(*fluid->carried));
	memcpy(fluid->links.capacity, capacity, links * sizeof(*capacity));
	timer_open(sim, &fluid->next, SIM_ARRIVAL, sim_key(SIM_ARRIVAL, KEY_NEXT), on_next_end,
		   fluid);
	sim_name(sim, on_next_end, "a fluid transfer ends");
	/* SIM_SAMPLE is the last class of events: all others of the instant have happened */
	timer_open(sim, &fluid->changed, SIM_SAMPLE, sim_key(SIM_SAMPLE, KEY_CHANGED), on_changed,
		   fluid);
	sim_name(sim, on_changed, "fluid rates change");
	return fluid;
}

double fluid_stop(struct fluid *fluid)
{
	if (fluid->stopped)
		return 0;
	fluid->stopped = true;
	memcpy(fluid->carried, fluid_all_carried(fluid),
	       fluid->links.count * sizeof(*fluid->carried));
	return fluid->simgrid ? solver_close(fluid->simgrid) : 0;
}

void fluid_free(struct fluid *fluid)
{
	if (!fluid)
		return;
	fluid_stop(fluid);
	for (size_t i = 0; i < fluid->count; i++)
		free(fluid->transfers[i].route.stream.links);
	timer_close(fluid->sim, &fluid->next);
	timer_close(fluid->sim, &fluid->changed);
	platform_release(&fluid->platform);
	free(fluid->transfers);
	free(fluid->spare);
	free(fluid->numbers);
	free(fluid->busy);
	free(fluid->values);
	free(fluid->progress);
	free(fluid->links.capacity);
	free(fluid->carried);
	free(fluid->carried_now);
	free(fluid);
}
