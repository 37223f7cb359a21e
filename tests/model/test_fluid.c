/* The fluid engine: the program's rates and SimGrid's against an independent max-min solver
 * (maxmin.h), on random networks with weights, caps and shares, while transfers come and go. */
#include "maxmin.h"

#include "core/rng.h"
#include "fluid/fluid.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LINKS  12
#define ROUTES 24

/* A random network and its routes, for the engine and for maxmin(). */
struct system {
	double capacity[LINKS];
	struct plan_link links[ROUTES][LINKS];
	struct maxmin_use uses[ROUTES][LINKS];
	struct maxmin_flow flows[ROUTES];
	struct sim sim;
	struct checks checks;
	struct fluid *fluid;
	uint32_t route[ROUTES];
	sim_time ended[ROUTES]; /* 0 = not yet */
};

static void on_ended(void *owner, uint32_t route)
{
	struct system *system = owner;

	for (int f = 0; f < ROUTES; f++)
		if (system->route[f] == route)
			system->ended[f] = system->sim.now;
}

static void add_route(struct system *system, int f)
{
	const struct maxmin_flow *flow = &system->flows[f];

	system->route[f] =
		fluid_route_add(system->fluid,
				&(struct plan_stream){ .links = system->links[f],
						       .count = flow->count,
						       .cap = flow->cap,
						       .share = 1,
						       .turn = flow->share },
				FLUID_KEY_OF_JOB | (uint64_t)f << FLUID_KEY_BITS, on_ended, system);
}

/* Every second seed is for SimGrid. */
static void draw(struct system *system, uint64_t seed)
{
	char *error = NULL;
	struct rng rng;

	memset(system, 0, sizeof(*system));
	rng_init(&rng, seed, "fluid test", 0);
	for (int l = 0; l < LINKS; l++)
		system->capacity[l] = 1e9 * (1 + (double)rng_below(&rng, 100));
	for (int f = 0; f < ROUTES; f++) {
		struct maxmin_flow *flow = &system->flows[f];

		flow->uses = system->uses[f];
		flow->cap =
			rng_below(&rng, 3) ? INFINITY : 1e8 * (1 + (double)rng_below(&rng, 100));
		flow->share = rng_below(&rng, 2) ? 1 : 0.01 * (1 + (double)rng_below(&rng, 200));
		for (uint32_t l = 0; l < LINKS; l++) {
			uint32_t weight = rng_below(&rng, 3) ? 0 : 1 + (uint32_t)rng_below(&rng, 3);

			if (!weight && !(l == LINKS - 1 && !flow->count))
				continue;
			weight = weight ? weight : 1;
			system->links[f][flow->count] = (struct plan_link){ l, weight };
			system->uses[f][flow->count++] = (struct maxmin_use){ l, weight };
		}
	}
	sim_init(&system->sim, 1);
	system->fluid = fluid_open(&system->sim, &system->checks, system->capacity, LINKS, LINKS,
				   true, seed % 2 ? FLUID_SIMGRID : FLUID_FILLING, &error);
	cr_assert_not_null(system->fluid, "%s", error ? error : "");
}

static void release(struct system *system)
{
	fluid_free(system->fluid);
	sim_release(&system->sim);
}

static void nothing(struct sim *sim, uint32_t entity, void *owner)
{
	(void)sim, (void)entity, (void)owner;
}

/* All that happens up to a time. */
static void run_to(struct system *system, sim_time until)
{
	struct timer alarm;

	timer_open(&system->sim, &alarm, SIM_SAMPLE, sim_key(SIM_SAMPLE, 1), nothing, NULL);
	timer_set(&system->sim, &alarm, until);
	while (system->sim.now < until)
		cr_assert(sim_run(&system->sim, 1));
	timer_close(&system->sim, &alarm);
	cr_assert_eq(system->checks.conservation_violations, 0, "%s", system->checks.first);
}

/* 8 networks (at night 20) of 12 links and 24 routes, all of them busy: every rate within 1e-9. */
Test(fluid, shares_are_max_min)
{
	static struct system system;

	for (uint64_t seed = 0; seed < (getenv("NIGHTLY") ? 20 : 8); seed++) {
		double rate[ROUTES];
		const double *progress;

		draw(&system, seed);
		for (int f = 0; f < ROUTES; f++)
			add_route(&system, f);
		for (int f = 0; f < ROUTES; f++)
			fluid_start(system.fluid, system.route[f], 1e12);
		run_to(&system, PS_PER_S);
		maxmin(LINKS, system.capacity, ROUTES, system.flows, rate);
		progress = fluid_progress(system.fluid);
		for (int f = 0; f < ROUTES; f++)
			cr_expect_float_eq(progress[system.route[f]] / rate[f], 1, 1e-9,
					   "seed %d, route %d: %.17g, not %.17g", (int)seed, f,
					   progress[system.route[f]], rate[f]);
		release(&system);
	}
}

/* Two routes on a NIC, a third one on another link of the second. With turns of half a frame the
 * second has a third of that link, as two jobs; as flows it has a half, whatever their numbers. */
Test(fluid, flows_among_themselves_take_no_turns)
{
	static const uint64_t keys[][2] = { { 0, 1 },
					    { 65535, 65536 },
					    { FLUID_KEY_OF_JOB, FLUID_KEY_OF_JOB | 1 << 16 } };
	static struct system system;

	for (size_t i = 0; i < 3; i++) {
		struct plan_link links[] = { { 0, 1 }, { 1, 1 } };
		struct plan_stream stream = { links, 1, .cap = INFINITY, .share = 1, .turn = 0.5 };
		char *error = NULL;
		uint32_t route[3];

		draw(&system, 6);
		system.capacity[0] = system.capacity[1] = 1e9;
		fluid_free(system.fluid);
		system.fluid = fluid_open(&system.sim, &system.checks, system.capacity, LINKS, 1,
					  true, i % 2 ? FLUID_SIMGRID : FLUID_FILLING, &error);
		route[0] = fluid_route_add(system.fluid, &stream, keys[i][0], on_ended, &system);
		stream.count = 2;
		route[1] = fluid_route_add(system.fluid, &stream, keys[i][1], on_ended, &system);
		stream.links = links + 1;
		stream.count = 1;
		route[2] = fluid_route_add(system.fluid, &stream, 2, on_ended, &system);
		for (int r = 0; r < 3; r++)
			fluid_start(system.fluid, route[r], 1e12);
		run_to(&system, PS_PER_S);
		cr_expect_float_eq(fluid_progress(system.fluid)[route[1]], 1e9 / (i < 2 ? 2 : 3),
				   1);
		release(&system);
	}
}

/* The same transfers by maxmin(): rates anew whenever one begins or ends. */
static void follow(const struct system *system, const double *begin, const double *size,
		   double *end)
{
	double left[ROUTES], now = 0;

	memcpy(left, size, sizeof(left));
	for (int open = ROUTES; open;) {
		struct maxmin_flow flows[ROUTES];
		double rate[ROUTES], next = INFINITY;
		int who[ROUTES], count = 0;

		for (int f = 0; f < ROUTES; f++) {
			if (begin[f] > now)
				next = fmin(next, begin[f]);
			else if (left[f] > 0)
				who[count] = f, flows[count++] = system->flows[f];
		}
		maxmin(LINKS, system->capacity, (size_t)count, flows, rate);
		for (int i = 0; i < count; i++)
			next = fmin(next, now + left[who[i]] / rate[i]);
		for (int i = 0; i < count; i++) {
			int f = who[i];

			left[f] -= rate[i] * (next - now);
			if (left[f] > 1e-9 * size[f])
				continue;
			left[f] = 0;
			end[f] = next;
			open--;
		}
		now = next;
	}
}

/* As run_to(), with other events on the way, before each of which a transfer might end. */
static void run_by_steps(struct system *system, sim_time until, int steps)
{
	sim_time from = system->sim.now;

	for (int i = 1; i <= steps; i++)
		run_to(system, from + (until - from) * (sim_time)i / (sim_time)steps);
}

/* Transfers that begin at random times, half of them on routes that nobody has known before, so
 * that the platform is renewed under the others: every end within 1e-9, whether or not somebody
 * looks meanwhile and in however many steps the time between goes by. With a `scale`, all takes so
 * much longer. */
static void come_and_go(uint64_t seed, uint64_t scale, bool look, int steps, sim_time *ends)
{
	static struct system system;
	double begin[ROUTES], size[ROUTES], end[ROUTES];
	struct rng rng;

	draw(&system, seed);
	rng_init(&rng, seed, "fluid times", 0);
	for (int f = 0; f < ROUTES; f++) {
		begin[f] = f ? begin[f - 1] + 0.001 * (double)(scale * rng_below(&rng, 100)) : 0;
		size[f] = 1e8 * (double)(scale * (1 + rng_below(&rng, 20)));
		if (f % 2)
			add_route(&system, f);
	}
	for (int f = 0; f < ROUTES; f++) {
		run_by_steps(&system, (sim_time)llround(begin[f] * 1e12), steps);
		if (f % 2 == 0)
			add_route(&system, f);
		fluid_start(system.fluid, system.route[f], size[f]);
		if (look)
			fluid_progress(system.fluid);
	}
	while (fluid_active(system.fluid))
		run_by_steps(&system, system.sim.now + scale * PS_PER_S, steps);
	follow(&system, begin, size, end);
	for (int f = 0; f < ROUTES; f++)
		cr_expect_float_eq(seconds_of(system.ended[f]) / end[f], 1, 1e-9,
				   "seed %d, transfer %d: %.12f s, not %.12f s", (int)seed, f,
				   seconds_of(system.ended[f]), end[f]);
	memcpy(ends, system.ended, sizeof(system.ended));
	release(&system);
}

Test(fluid, transfers_come_and_go)
{
	for (uint64_t seed = 0; seed < (getenv("NIGHTLY") ? 10 : 4); seed++) {
		sim_time ends[3][ROUTES];

		come_and_go(seed, 1, false, 1, ends[0]);
		come_and_go(seed, 1, true, 1, ends[1]);
		come_and_go(seed, 1, false, 20, ends[2]);
		cr_expect_arr_eq(ends[0], ends[1], sizeof(ends[0]), "looking changed the run");
		cr_expect_arr_eq(ends[0], ends[2], sizeof(ends[0]), "steps changed the run");
	}
}

/* The same in days and in quarters of hours: a transfer of 200 TB on a link of 1 to 100 GB/s takes
 * up to 2 days alone. */
Test(fluid, transfers_of_days)
{
	for (uint64_t seed = 0; seed < (getenv("NIGHTLY") ? 5 : 2); seed++) {
		sim_time ends[ROUTES];

		come_and_go(seed, 100000, false, 1, ends);
		come_and_go(seed, 1000, true, 7, ends);
	}
}

/* 100 looks at transfers of which one ends after 0.3 s and one begins after 0.5 s: all on the line
 * that the rates of maxmin() make, within 1e-9. */
Test(fluid, looks_follow_the_rates)
{
	static struct system system;
	double rate[3][ROUTES] = { 0 };
	const sim_time step = PS_PER_S / 100;
	const double *progress;

	for (uint64_t seed = 0; seed < 5; seed++) {
		double sum[ROUTES] = { 0 };

		draw(&system, seed);
		maxmin(LINKS, system.capacity, ROUTES - 1, system.flows, rate[0]);
		maxmin(LINKS, system.capacity, ROUTES - 2, system.flows + 1, rate[1] + 1);
		maxmin(LINKS, system.capacity, ROUTES - 1, system.flows + 1, rate[2] + 1);
		for (int f = 0; f < ROUTES; f++)
			add_route(&system, f);
		for (int f = 0; f < ROUTES - 1; f++)
			fluid_start(system.fluid, system.route[f], f ? 1e12 : 0.3 * rate[0][0]);
		for (int i = 1; i <= 100; i++) {
			run_to(&system, (sim_time)i * step);
			progress = fluid_progress(system.fluid);
			for (int f = 1; f < ROUTES; f++) {
				sum[f] += 0.01 * rate[i <= 30 ? 0 : i <= 50 ? 1 : 2][f];
				cr_expect_float_eq(progress[system.route[f]], sum[f], 1e-9 * sum[f],
						   "seed %d, route %d, %d ms: %.17g, not %.17g",
						   (int)seed, f, 10 * i, progress[system.route[f]],
						   sum[f]);
			}
			if (i == 50)
				fluid_start(system.fluid, system.route[ROUTES - 1], 1e12);
		}
		release(&system);
	}
}

/* Bytes that links have carried: weight times size, the part of what is under way included. */
Test(fluid, links_count_what_they_carry)
{
	static struct system system;
	const double *carried;

	draw(&system, 3);
	add_route(&system, 0);
	fluid_start(system.fluid, system.route[0], 1e12);
	run_to(&system, PS_PER_S);
	carried = fluid_all_carried(system.fluid);
	for (size_t i = 0; i < system.flows[0].count; i++)
		cr_expect_float_eq(
			carried[system.links[0][i].link],
			system.links[0][i].weight * fluid_alone(system.fluid, system.route[0]), 1);
	cr_expect_eq(fluid_carried(system.fluid, system.links[0][0].link), 0);
	fluid_stop(system.fluid);
	cr_expect_gt(fluid_carried(system.fluid, system.links[0][0].link), 0);
	release(&system);
}

/* Clocks of long runs: a transfer that begins after 30 days ends to the picosecond. */
Test(fluid, long_runs_keep_their_precision)
{
	static struct system system;
	sim_time month = 30 * 24 * 3600 * PS_PER_S;

	draw(&system, 4);
	system.flows[0] = (struct maxmin_flow){ .cap = 1e9, .share = 1 };
	add_route(&system, 0);
	fluid_start(system.fluid, system.route[0], 1e9);
	run_to(&system, month);
	cr_expect_eq(system.ended[0], PS_PER_S);
	fluid_start(system.fluid, system.route[0], 1e6);
	run_to(&system, month + PS_PER_S);
	cr_expect_eq(system.ended[0], month + PS_PER_MS);
	release(&system);
}

/* Without sharing everybody is alone, and SimGrid is not asked. */
Test(fluid, without_sharing)
{
	static struct system system;
	char *error = NULL;

	draw(&system, 5);
	fluid_free(system.fluid);
	system.fluid = fluid_open(&system.sim, &system.checks, system.capacity, LINKS, LINKS, false,
				  FLUID_SIMGRID, &error);
	for (int f = 0; f < ROUTES; f++) {
		add_route(&system, f);
		fluid_start(system.fluid, system.route[f], 1e9);
	}
	run_to(&system, 1000 * PS_PER_S);
	for (int f = 0; f < ROUTES; f++)
		cr_expect_float_eq(seconds_of(system.ended[f]),
				   1e9 / fluid_alone(system.fluid, system.route[f]), 1e-12);
	cr_expect_eq(fluid_stop(system.fluid), 0);
	release(&system);
}
