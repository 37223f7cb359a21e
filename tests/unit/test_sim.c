/* The loop of a simulation: catching up before a timer runs, and what catch_up() may do. */
#include "core/sim.h"

#include <criterion/criterion.h>

#define MANY 1000 /* more timers than there is room for at first */

struct host {
	struct timer late[MANY];
	unsigned caught_up, ran;
	sim_time until;
};

static void nothing(struct sim *sim, uint32_t entity, void *owner)
{
	(void)sim, (void)entity, (void)owner;
}

static void count(struct sim *sim, uint32_t entity, void *owner)
{
	struct host *host = owner;

	(void)sim, (void)entity;
	cr_expect_eq(host->caught_up, 1, "the timer ran first");
	host->ran++;
}

static struct sim sim;

/* Acts as a source that opens a connection when the NIC asks it for packets. */
static void catch_up(void *owner, sim_time until)
{
	struct host *host = owner;

	host->until = until;
	host->caught_up++;
	for (unsigned i = 0; i < MANY; i++)
		timer_open(&sim, &host->late[i], SIM_TIMER, sim_key(SIM_TIMER, 1 + i), nothing,
			   NULL);
}

/* The table of entities moves in memory meanwhile; the right handler runs all the same. */
Test(sim, catching_up_before_a_timer_may_open_timers)
{
	static struct host host;
	struct timer timer;

	sim_init(&sim, 1);
	sim.catch_up = catch_up;
	sim.catch_up_owner = &host;
	timer_open(&sim, &timer, SIM_TIMER, sim_key(SIM_TIMER, 0), count, &host);
	timer_set(&sim, &timer, 100);
	cr_expect_not(sim_run(&sim, UINT64_MAX));
	cr_expect_eq(host.caught_up, 1);
	cr_expect_eq(host.ran, 1);
	cr_expect_eq(host.until, 101);
	sim_release(&sim);
}

/* catch_up() finds the timer pending, and cancels it or sets it again. */
struct delayed {
	struct timer timer, other;
	sim_time again; /* 0 = cancelled for good */
	sim_time ran[2];
	unsigned count, others;
};

static void note(struct sim *s, uint32_t entity, void *owner)
{
	struct delayed *delayed = owner;

	(void)entity;
	cr_assert_lt(delayed->count, 2);
	delayed->ran[delayed->count++] = s->now;
}

static void note_other(struct sim *s, uint32_t entity, void *owner)
{
	struct delayed *delayed = owner;

	(void)s, (void)entity;
	delayed->others++;
}

static void decide(void *owner, sim_time until)
{
	struct delayed *delayed = owner;

	if (until == 101) {
		cr_expect(timer_pending(&sim, &delayed->timer));
		timer_cancel(&sim, &delayed->timer);
		if (delayed->again)
			timer_set(&sim, &delayed->timer, delayed->again);
	}
}

static void run_delayed(struct delayed *delayed)
{
	sim_init(&sim, 1);
	sim.catch_up = decide;
	sim.catch_up_owner = delayed;
	timer_open(&sim, &delayed->timer, SIM_TIMER, sim_key(SIM_TIMER, 0), note, delayed);
	timer_open(&sim, &delayed->other, SIM_TIMER, sim_key(SIM_TIMER, 1), note_other, delayed);
	timer_set(&sim, &delayed->timer, 100);
	timer_set(&sim, &delayed->other, 150);
	cr_expect_not(sim_run(&sim, UINT64_MAX));
	cr_expect_eq(delayed->others, 1);
	sim_release(&sim);
}

/* An event that catch_up() cancels neither runs nor counts. */
Test(sim, catching_up_may_take_the_timer_back)
{
	struct delayed delayed = { 0 };

	run_delayed(&delayed);
	cr_expect_eq(delayed.count, 0);
	cr_expect_eq(sim.events, 1);
}

Test(sim, catching_up_may_set_the_timer_again)
{
	struct delayed delayed = { .again = 200 };

	run_delayed(&delayed);
	cr_expect_eq(delayed.count, 1);
	cr_expect_eq(delayed.ran[0], 200);
	cr_expect_eq(sim.events, 2);
}

/* Samples, the end of the run and cancelled events do not keep a run going. */
Test(sim, looks_and_the_end_are_no_moves)
{
	struct timer timer, look, end;

	sim_init(&sim, 1);
	timer_open(&sim, &timer, SIM_TIMER, sim_key(SIM_TIMER, 0), nothing, NULL);
	timer_open(&sim, &look, SIM_SAMPLE, sim_key(SIM_SAMPLE, 0), nothing, NULL);
	timer_open(&sim, &end, SIM_CONTROL, sim_key(SIM_CONTROL, 0), nothing, NULL);
	timer_set(&sim, &timer, 100);
	timer_set(&sim, &look, 200);
	timer_set(&sim, &end, 300);
	cr_expect(sim_moves(&sim, end.id));
	cr_expect(sim_run(&sim, 1));
	cr_expect_not(sim_moves(&sim, end.id));
	cr_expect(sim_moves(&sim, EQ_NONE));
	cr_expect_not(sim_run(&sim, UINT64_MAX));
	cr_expect_eq(sim.now, 300);
	cr_expect_eq(sim_last_move(&sim, end.id), 100);
	timer_set(&sim, &timer, 400);
	cr_expect(sim_moves(&sim, end.id));
	timer_cancel(&sim, &timer);
	cr_expect_not(sim_moves(&sim, end.id));
	cr_expect_eq(sim_last_move(&sim, end.id), 0);
	sim_release(&sim);
}
