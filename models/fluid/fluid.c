#include "fluid/fluid.h"

#include "base/mem.h"
#include "fluid/solver.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* An epoch's clock is a double that starts at 0: after so many ticks its last digit is 1e-13, a
 * tenth of SimGrid's precision. A tick is a second; of transfers that take hours or days, 2,
 * 4, 8... seconds, so that each can end within an epoch. Epochs that get older end by a timer. */
#define EPOCH_TICKS 1000

struct fluid {
	struct sim *sim;
	struct checks *checks;
	struct fluid_links links;
	double *carried;            /* by link: of transfers that have ended */
	double *carried_now;        /* fluid_all_carried() */
	struct fluid_route *routes; /* by number */
	size_t count, room;
	uint32_t *idle; /* numbers of routes for reuse */
	size_t idle_count, idle_room;
	size_t active;
	uint32_t *ended; /* routes whose transfers have ended, not yet told */
	size_t ended_count, ended_room;
	struct timer timer;    /* for them */
	struct timer age;      /* the epoch has become too old */
	struct solver *solver; /* NULL = transfers do not share */
	bool open, failed;     /* an epoch is under way; the solver has failed */
	bool stopped;
	sim_time epoch_from; /* its time 0 */
	double tick;         /* of its clock, in seconds; a power of 2 */
	sim_time bound;      /* no transfer can end before, whatever begins */
	sim_time quiet;      /* nor before this, if none begins and none ends */
	uint32_t *numbers;   /* of the epoch's routes */
	size_t numbers_room;
	void (*prepare)(void *owner); /* before an epoch; may be NULL */
	void *owner;
	double *progress; /* by number */
	size_t progress_room;
	/* Rates are constant until a transfer begins or ends; the solver has told them since: */
	bool rates_known;
	double looked_at; /* epoch time */
	uint64_t looks;   /* fluid_looks() */
};

static double epoch_time(const struct fluid *fluid, sim_time at)
{
	return at == SIM_TIME_MAX ? INFINITY
				  : (double)(at - fluid->epoch_from) * 1e-12 / fluid->tick;
}

/* Rounded once, and never before now. */
static sim_time sim_time_of(const struct fluid *fluid, double at)
{
	sim_time time = fluid->epoch_from + (sim_time)llround(at * fluid->tick * 1e12);

	SIM_BUG_ON(time + (sim_time)(1000 * fluid->tick) < fluid->sim->now);
	return time < fluid->sim->now ? fluid->sim->now : time;
}

static void fail(struct fluid *fluid)
{
	if (!fluid->failed)
		checks_violated(fluid->checks, &fluid->checks->conservation_violations,
				"the SimGrid process ended unexpectedly, at %.9f s",
				seconds_of(fluid->sim->now));
	fluid->failed = true;
	fluid->open = false;
	sim_stop(fluid->sim);
}

/* The solver's answer; NULL when it has failed, which then is told. */
static const struct epoch_reply *ask_solver(struct fluid *fluid, enum order_kind kind, sim_time at)
{
	const struct epoch_reply *reply = solver_ask(fluid->solver, kind, epoch_time(fluid, at));

	if (!reply)
		fail(fluid);
	return reply;
}

/* --- epochs --- */

/* When a transfer ends if it is alone; with a solver, which decides, a margin for rounding. */
static sim_time earliest(const struct fluid *fluid, const struct fluid_route *route)
{
	double takes = route->remaining / route->alone * 1e12;

	if (!fluid->solver)
		return fluid->sim->now + (sim_time)llround(takes);
	takes = takes * (1 - 1e-12) - 2;
	if (takes <= 0)
		return fluid->sim->now;
	return takes < 1e19 ? fluid->sim->now + (sim_time)takes : SIM_TIME_MAX;
}

static void lower_bound(struct fluid *fluid, const struct fluid_route *route)
{
	if (route->earliest < fluid->bound)
		fluid->bound = route->earliest;
}

static void find_bound(struct fluid *fluid)
{
	fluid->bound = SIM_TIME_MAX;
	for (size_t i = 0; i < fluid->count; i++)
		if (fluid->routes[i].active)
			lower_bound(fluid, &fluid->routes[i]);
}

static void note_ended(struct fluid *fluid, uint32_t number, sim_time time)
{
	fluid->routes[number].remaining = 0;
	fluid->ended = array_reserve(fluid->ended, fluid->ended_count, &fluid->ended_room,
				     sizeof(*fluid->ended));
	fluid->ended[fluid->ended_count++] = number;
	if (!timer_pending(fluid->sim, &fluid->timer))
		timer_set(fluid->sim, &fluid->timer, time);
}

/* Without a solver: what remains, by the time that is left. */
static void take_remaining(struct fluid *fluid)
{
	for (size_t i = 0; i < fluid->count; i++) {
		struct fluid_route *route = &fluid->routes[i];

		if (route->active && route->remaining > 0)
			route->remaining =
				fmin(route->bytes,
				     seconds_of(route->earliest - fluid->sim->now) * route->alone);
	}
}

/* A transfer begins, has ended or is broken off: from now on rates are others. */
static void change_rates(struct fluid *fluid)
{
	fluid->rates_known = false;
	fluid->quiet = 0;
}

/* Takes what remains of each transfer; the epoch is over. */
static void end_epoch(struct fluid *fluid)
{
	const struct epoch_reply *reply;

	if (!fluid->solver)
		take_remaining(fluid);
	if (!fluid->open)
		return;
	fluid->open = false;
	fluid->rates_known = false;
	timer_cancel(fluid->sim, &fluid->age);
	reply = ask_solver(fluid, ORDER_END, fluid->sim->now);
	if (!reply)
		return;
	for (uint32_t i = 0; i < reply->count; i++) {
		const struct epoch_fact *fact = &reply->facts[i];
		uint32_t number = fluid->numbers[fact->route];

		if (fact->remains && fact->value > 0)
			fluid->routes[number].remaining = fact->value;
		else
			note_ended(fluid, number,
				   fact->remains ? fluid->sim->now
						 : sim_time_of(fluid, fact->value));
	}
}

static void on_age(struct sim *sim, uint32_t entity, void *owner)
{
	(void)entity;
	sim->uncounted++;
	end_epoch(owner);
}

/* The routes that exist now, in the order of their numbers; caller frees. */
static const struct fluid_route **list_routes(struct fluid *fluid, uint32_t *count)
{
	const struct fluid_route **list = xcalloc(fluid->count, sizeof(*list));

	*count = 0;
	for (size_t i = 0; i < fluid->count; i++) {
		if (!fluid->routes[i].links)
			continue;
		fluid->numbers = array_reserve(fluid->numbers, *count, &fluid->numbers_room,
					       sizeof(*fluid->numbers));
		fluid->numbers[*count] = (uint32_t)i;
		fluid->routes[i].in_epoch = *count;
		list[(*count)++] = &fluid->routes[i];
	}
	return list;
}

/* An epoch with this tick has room for the transfer, if it is alone. */
static bool has_room(const struct fluid_route *route, double tick)
{
	return route->remaining <= EPOCH_TICKS * tick * route->alone;
}

static double tick_for_all(const struct fluid *fluid)
{
	double tick = 1;

	for (size_t i = 0; i < fluid->count; i++)
		while (fluid->routes[i].active && !has_room(&fluid->routes[i], tick))
			tick *= 2;
	return tick;
}

static sim_time epoch_longest(const struct fluid *fluid)
{
	return (sim_time)(EPOCH_TICKS * fluid->tick) * PS_PER_S;
}

/* Their transfers go on from what remains. */
static void begin_epoch(struct fluid *fluid)
{
	struct platform platform;
	const struct fluid_route **list;
	uint32_t count;

	if (fluid->prepare)
		fluid->prepare(fluid->owner);
	list = list_routes(fluid, &count);
	fluid->epoch_from = fluid->sim->now;
	fluid->tick = tick_for_all(fluid);
	fluid->open = true;
	timer_set(fluid->sim, &fluid->age, fluid->sim->now + epoch_longest(fluid));
	platform_build(&platform, list, count, &fluid->links, fluid->tick);
	free(list);
	if (!solver_begin(fluid->solver, &platform))
		fail(fluid);
	platform_release(&platform);
	for (size_t i = 0; i < fluid->count; i++) {
		struct fluid_route *route = &fluid->routes[i];

		if (!route->active || route->remaining <= 0)
			continue;
		solver_start(fluid->solver, route->in_epoch, 0, route->remaining);
		route->earliest = earliest(fluid, route);
	}
	find_bound(fluid);
}

/* Nobody shares anything: the transfers that end first, if they do so by `until`. */
static void end_alone(struct fluid *fluid, sim_time until)
{
	if (until < fluid->bound)
		return;
	for (size_t i = 0; i < fluid->count; i++)
		if (fluid->routes[i].active && fluid->routes[i].earliest == fluid->bound)
			note_ended(fluid, (uint32_t)i, fluid->bound);
}

/* Nothing has ended by `until`. With a margin for rounding, in the bytes that SimGrid says are left
 * and in its times. */
static void expect_next_end(struct fluid *fluid, const struct epoch_reply *reply, sim_time until)
{
	double left = (reply->next_end - epoch_time(fluid, until)) * fluid->tick * 1e12;

	if (reply->next_end > 0 && left < 1e18)
		fluid->quiet = until + (sim_time)fmax(left * (1 - 1e-6) - 1000 * fluid->tick, 0);
}

/* Lets the solver go on until a transfer ends, or to `until`. */
static void ask(struct fluid *fluid, sim_time until)
{
	const struct epoch_reply *reply;

	if (!fluid->solver) {
		end_alone(fluid, until);
		return;
	}
	if (!fluid->open)
		begin_epoch(fluid);
	if (until - fluid->epoch_from > epoch_longest(fluid))
		until = fluid->epoch_from + epoch_longest(fluid); /* on_age() */
	if (fluid->failed || until < fluid->bound || until < fluid->quiet)
		return;
	reply = ask_solver(fluid, ORDER_RUN, until);
	if (!reply)
		return;
	if (!reply->count)
		expect_next_end(fluid, reply, until);
	for (uint32_t i = 0; i < reply->count; i++)
		note_ended(fluid, fluid->numbers[reply->facts[i].route],
			   sim_time_of(fluid, reply->facts[i].value));
}

/* --- transfers --- */

static int by_number(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static void credit(double *links, const struct fluid_route *route, double carried)
{
	for (size_t i = 0; i < route->count; i++)
		links[route->links[i].link] += route->links[i].weight * carried;
}

/* Transfers of one instant end in the order of their routes. */
static void on_ended(struct sim *sim, uint32_t entity, void *owner)
{
	struct fluid *fluid = owner;
	size_t count = fluid->ended_count, told = 0;
	uint32_t *ended = xcalloc(count, sizeof(*ended));

	(void)entity;
	memcpy(ended, fluid->ended, count * sizeof(*ended));
	fluid->ended_count = 0;
	qsort(ended, count, sizeof(*ended), by_number);
	for (size_t i = 0; i < count; i++) {
		struct fluid_route *route = &fluid->routes[ended[i]];

		if (!route->active || route->remaining > 0)
			continue; /* it has been removed */
		route->active = false;
		fluid->active--;
		credit(fluid->carried, route, route->bytes);
		sim_digest(sim, route->key, 1);
		ended[told++] = ended[i];
	}
	change_rates(fluid);
	find_bound(fluid);
	for (size_t i = 0; i < told; i++)
		fluid->routes[ended[i]].ended(fluid->routes[ended[i]].owner, ended[i]);
	free(ended);
}

void fluid_start(struct fluid *fluid, uint32_t number, double size)
{
	struct fluid_route *route = &fluid->routes[number];

	SIM_BUG_ON(route->active || !(size > 0));
	route->active = true;
	route->bytes = route->remaining = size;
	route->earliest = earliest(fluid, route);
	fluid->active++;
	sim_digest(fluid->sim, route->key, route->way);
	if (fluid->open && (route->in_epoch == NOT_IN_EPOCH || !has_room(route, fluid->tick)))
		end_epoch(fluid);
	if (fluid->open)
		solver_start(fluid->solver, route->in_epoch, epoch_time(fluid, fluid->sim->now),
			     size);
	change_rates(fluid);
	lower_bound(fluid, route);
}

static void find_alone(const struct fluid *fluid, struct fluid_route *route)
{
	route->alone = route->cap;
	for (size_t i = 0; i < route->count; i++) {
		double rate = fluid->links.capacity[route->links[i].link] / route->links[i].weight;

		route->alone = fmin(route->alone, rate);
	}
	SIM_BUG_ON(!(route->alone > 0 && isfinite(route->alone)));
}

uint32_t fluid_route_add(struct fluid *fluid, const struct plan_stream *stream, uint64_t key,
			 void (*ended)(void *owner, uint32_t route), void *owner)
{
	struct fluid_route *route;
	uint32_t number;

	if (fluid->idle_count) {
		number = fluid->idle[--fluid->idle_count];
	} else {
		number = (uint32_t)fluid->count;
		fluid->routes = array_reserve(fluid->routes, fluid->count++, &fluid->room,
					      sizeof(*fluid->routes));
	}
	SIM_BUG_ON(!(stream->share > 0 && stream->turn > 0));
	route = &fluid->routes[number];
	*route = (struct fluid_route){ .count = stream->count,
				       .cap = stream->cap,
				       .share = stream->share,
				       .turn = stream->turn,
				       .fixed = stream->fixed,
				       .fills = stream->fills,
				       .key = key,
				       .ended = ended,
				       .owner = owner,
				       .in_epoch = NOT_IN_EPOCH };
	route->links = xcalloc(stream->count + 1, sizeof(*route->links));
	if (stream->count)
		memcpy(route->links, stream->links, stream->count * sizeof(*route->links));
	plan_merge(route->links, &route->count);
	for (size_t i = 0; i < route->count; i++)
		route->way += hash_pair(route->links[i].link, route->links[i].weight);
	find_alone(fluid, route);
	return number;
}

void fluid_route_give(struct fluid *fluid, uint32_t route,
		      void (*ended)(void *owner, uint32_t route), void *owner)
{
	fluid->routes[route].ended = ended;
	fluid->routes[route].owner = owner;
}

void fluid_before_epochs(struct fluid *fluid, void (*prepare)(void *owner), void *owner)
{
	fluid->prepare = prepare;
	fluid->owner = owner;
}

void fluid_route_remove(struct fluid *fluid, uint32_t number)
{
	struct fluid_route *route = &fluid->routes[number];

	if (route->active) {
		end_epoch(fluid);
		credit(fluid->carried, route, route->bytes - route->remaining);
		route->active = false;
		fluid->active--;
		change_rates(fluid);
		find_bound(fluid);
	}
	free(route->links);
	route->links = NULL;
	fluid->idle = array_reserve(fluid->idle, fluid->idle_count, &fluid->idle_room,
				    sizeof(*fluid->idle));
	fluid->idle[fluid->idle_count++] = number;
}

void fluid_set_capacities(struct fluid *fluid, const double *capacity)
{
	end_epoch(fluid);
	memcpy(fluid->links.capacity, capacity, fluid->links.count * sizeof(*capacity));
	for (size_t i = 0; i < fluid->count; i++) {
		struct fluid_route *route = &fluid->routes[i];

		if (!route->links)
			continue;
		find_alone(fluid, route);
		route->earliest = earliest(fluid, route);
	}
	change_rates(fluid);
	find_bound(fluid);
}

/* --- questions --- */

double fluid_alone(const struct fluid *fluid, uint32_t route)
{
	return fluid->routes[route].alone;
}

bool fluid_shares(const struct fluid *fluid)
{
	return fluid->solver;
}

size_t fluid_active(const struct fluid *fluid)
{
	return fluid->active;
}

/* A look right after a change finds rates that are not yet known: the next one asks again. */
static bool find_rates(struct fluid *fluid, double now)
{
	const struct epoch_reply *reply;

	if (fluid->rates_known)
		return true;
	fluid->looks++;
	reply = ask_solver(fluid, ORDER_LOOK, fluid->sim->now);
	if (!reply)
		return false;
	for (size_t i = 0; i < fluid->count; i++)
		fluid->routes[i].left = fluid->routes[i].rate = 0;
	for (uint32_t i = 0; i < reply->count; i++)
		if (reply->facts[i].remains) {
			struct fluid_route *route =
				&fluid->routes[fluid->numbers[reply->facts[i].route]];

			route->left = reply->facts[i].value;
			route->rate = reply->facts[i].rate;
		}
	fluid->rates_known = reply->next_end > 0;
	fluid->looked_at = now;
	return true;
}

/* What of the transfers of the epoch has been carried by now, into the progress of their routes. */
static void look(struct fluid *fluid)
{
	double now = epoch_time(fluid, fluid->sim->now);

	if (!find_rates(fluid, now))
		return;
	for (size_t i = 0; i < fluid->count; i++) {
		const struct fluid_route *route = &fluid->routes[i];

		if (route->active)
			fluid->progress[i] =
				route->bytes -
				fmax(route->left - route->rate * (now - fluid->looked_at), 0);
	}
}

const double *fluid_progress(struct fluid *fluid)
{
	if (!fluid->solver)
		take_remaining(fluid);
	if (fluid->progress_room < fluid->count) {
		fluid->progress_room = fluid->room;
		fluid->progress = xrealloc(fluid->progress, fluid->room, sizeof(*fluid->progress));
	}
	for (size_t i = 0; i < fluid->count; i++) {
		const struct fluid_route *route = &fluid->routes[i];

		fluid->progress[i] = route->active ? route->bytes - route->remaining : 0;
	}
	if (fluid->open && fluid->active && !fluid->failed)
		look(fluid);
	return fluid->progress;
}

const double *fluid_all_carried(struct fluid *fluid)
{
	const double *progress = fluid_progress(fluid);

	if (!fluid->carried_now)
		fluid->carried_now = xcalloc(fluid->links.count, sizeof(*fluid->carried_now));
	memcpy(fluid->carried_now, fluid->carried, fluid->links.count * sizeof(*fluid->carried));
	for (size_t i = 0; i < fluid->count; i++)
		if (fluid->routes[i].active)
			credit(fluid->carried_now, &fluid->routes[i], progress[i]);
	return fluid->carried_now;
}

uint64_t fluid_looks(const struct fluid *fluid)
{
	return fluid->looks;
}

double fluid_carried(const struct fluid *fluid, uint32_t link)
{
	return fluid->carried[link];
}

/* --- life --- */

bool fluid_run(struct fluid *fluid, uint64_t budget, const struct sim_observer *observer)
{
	struct sim *sim = fluid->sim;

	for (; budget; budget--) {
		sim_time next;
		bool any = sim_next(sim, &next);

		if (!any)
			next = SIM_TIME_MAX;
		if (fluid->active && next > sim->now && !timer_pending(sim, &fluid->timer))
			ask(fluid, next);
		if (observer ? !sim_observe(sim, 1, observer) : !sim_run(sim, 1))
			return false;
	}
	return true;
}

struct fluid *fluid_open(struct sim *sim, struct checks *checks, const double *capacity,
			 size_t links, size_t nics, bool share, char **error)
{
	struct solver *solver = share ? solver_open(error) : NULL;
	struct fluid *fluid;

	if (share && !solver)
		return NULL;
	fluid = xcalloc(1, sizeof(*fluid));
	fluid->sim = sim;
	fluid->checks = checks;
	fluid->solver = solver;
	fluid->links = (struct fluid_links){ xcalloc(links, sizeof(*capacity)), links, nics };
	fluid->carried = xcalloc(links, sizeof(*fluid->carried));
	memcpy(fluid->links.capacity, capacity, links * sizeof(*capacity));
	fluid->bound = SIM_TIME_MAX;
	timer_open(sim, &fluid->timer, SIM_NOWHERE, SIM_ARRIVAL,
		   sim_key(SIM_ARRIVAL, UINT64_C(1) << 40), on_ended, fluid);
	sim_name(sim, on_ended, "a fluid transfer ends");
	timer_open(sim, &fluid->age, SIM_NOWHERE, SIM_SAMPLE,
		   sim_key(SIM_SAMPLE, UINT64_C(1) << 41), on_age, fluid);
	sim_name(sim, on_age, "an epoch of the fluid solver ends");
	return fluid;
}

double fluid_stop(struct fluid *fluid)
{
	double cpu_s = 0;

	if (fluid->stopped)
		return 0;
	end_epoch(fluid);
	for (size_t i = 0; i < fluid->count; i++)
		if (fluid->routes[i].active)
			credit(fluid->carried, &fluid->routes[i],
			       fluid->routes[i].bytes - fluid->routes[i].remaining);
	if (fluid->solver)
		cpu_s = solver_close(fluid->solver);
	fluid->stopped = true;
	return cpu_s;
}

void fluid_free(struct fluid *fluid)
{
	if (!fluid)
		return;
	fluid_stop(fluid);
	for (size_t i = 0; i < fluid->count; i++)
		free(fluid->routes[i].links);
	timer_close(fluid->sim, &fluid->timer);
	timer_close(fluid->sim, &fluid->age);
	free(fluid->routes);
	free(fluid->idle);
	free(fluid->ended);
	free(fluid->numbers);
	free(fluid->progress);
	free(fluid->links.capacity);
	free(fluid->carried);
	free(fluid->carried_now);
	free(fluid);
}
