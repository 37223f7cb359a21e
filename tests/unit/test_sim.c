/* The loop of a simulation: what is settled before a timer, and what that may do. */
#include "core/sim.h"

#include <criterion/criterion.h>

#define MANY 1000 /* more timers than there is room for at first */

struct host {
	struct timer late[MANY];
	unsigned settled, ran;
	uint32_t site;
};

static void nothing(struct sim *sim, uint32_t entity, void *owner)
{
	(void)sim, (void)entity, (void)owner;
}

static void count(struct sim *sim, uint32_t entity, void *owner)
{
	struct host *host = owner;

	(void)sim, (void)entity;
	cr_expect_eq(host->settled, 1, "the timer ran first");
	host->ran++;
}

static struct sim sim;

/* As a source that opens a connection when the NIC asks it. */
static void settle(void *owner, uint32_t site)
{
	struct host *host = owner;

	host->site = site;
	host->settled++;
	for (unsigned i = 0; i < MANY; i++)
		timer_open(&sim, &host->late[i], SIM_NOWHERE, SIM_TIMER, sim_key(SIM_TIMER, 1 + i),
			   nothing, NULL);
}

/* The table of entities moves meanwhile; the handler is the right one all the same. */
Test(sim, settling_before_a_timer_may_open_timers)
{
	static struct host host;
	struct timer timer;

	sim_init(&sim, 1);
	sim.settle = settle;
	sim.settle_owner = &host;
	timer_open(&sim, &timer, 7, SIM_TIMER, sim_key(SIM_TIMER, 0), count, &host);
	timer_set(&sim, &timer, 100);
	cr_expect_not(sim_run(&sim, UINT64_MAX));
	cr_expect_eq(host.settled, 1);
	cr_expect_eq(host.ran, 1);
	cr_expect_eq(host.site, 7);
	sim_release(&sim);
}
