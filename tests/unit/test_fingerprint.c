/* Observed runs, fingerprints of their events, names of entities. */
#include "lab/regress/fingerprint.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

/* --- where fingerprints are taken --- */

Test(fingerprint, every_event_at_first)
{
	for (uint64_t n = 1; n <= UINT64_C(1) << FINGERPRINT_EXACT; n++)
		cr_assert(fingerprint_due(n));
}

/* fingerprint_count() against a plain loop over all events. The distance to the last fingerprint is
 * at most 1/256 of the event's number. */
Test(fingerprint, count_and_resolution)
{
	uint64_t due = 0, last = 0;

	for (uint64_t n = 1; n < 300000; n++) {
		cr_assert(n <= 8192 || (n - last) * 256 <= n, "event %lu", (unsigned long)n);
		if (fingerprint_due(n)) {
			due++;
			last = n;
		}
		cr_assert_eq(fingerprint_count(n), due + !fingerprint_due(n), "%lu events",
			     (unsigned long)n);
	}
	cr_expect_eq(fingerprint_count(0), 0);
}

/* The same bound for large numbers, by fingerprint_step(); 1e8 events fit into 24 kB. */
Test(fingerprint, resolution_and_size)
{
	for (uint64_t n = 20000; n < UINT64_C(1) << 40; n = n * 3 / 2 + 1)
		cr_assert_leq(fingerprint_step(n) * 256, n);
	cr_expect_leq(2 * fingerprint_count(100000000), 24000);
}

/* --- what they see --- */

struct pinger {
	struct timer timer;
	sim_time gap;
	uint64_t fact;
	unsigned left;
};

static void on_ping(struct sim *sim, uint32_t entity, void *owner)
{
	struct pinger *pinger = owner;

	sim_digest(sim, entity, pinger->fact);
	if (--pinger->left)
		timer_set(sim, &pinger->timer, sim->now + pinger->gap);
}

static void on_sample(struct sim *sim, uint32_t entity, void *owner)
{
	(void)entity;
	sim->uncounted++;
	if (sim->now < 1000)
		timer_set(sim, owner, sim->now + 7);
}

struct seen {
	struct sim *sim;
	uint64_t count;
	sim_time at[200];
	uint16_t prints[200];
};

static void see_before(void *owner, const struct sim_event *event)
{
	struct seen *seen = owner;

	cr_assert_eq(event->number, seen->count + 1);
	cr_assert_eq(event->at, seen->sim->now);
	cr_assert_eq(event->handler, on_ping);
	seen->at[seen->count] = event->at;
}

static void see_after(void *owner, const struct sim_event *event)
{
	struct seen *seen = owner;

	(void)event;
	seen->prints[seen->count++] = fingerprint_now(seen->sim);
}

/* Two pingers of 50 events and a sampler; the second's fact changes at its n-th
 * event if change > 0. Plain or observed. */
static uint64_t ping(struct seen *seen, unsigned change, sim_time late, bool observed)
{
	struct sim sim;
	struct pinger pingers[2] = { { .gap = 10, .fact = 1, .left = 50 },
				     { .gap = 15, .fact = 2, .left = 50 } };
	struct timer sampler;
	struct sim_observer observer = { see_before, see_after, seen };
	uint64_t digest;

	*seen = (struct seen){ .sim = &sim };
	sim_init(&sim, 5);
	for (unsigned i = 0; i < 2; i++) {
		timer_open(&sim, &pingers[i].timer, SIM_TIMER, sim_key(SIM_TIMER, i), on_ping,
			   &pingers[i]);
		timer_set(&sim, &pingers[i].timer, i ? 100 + late : 100);
	}
	timer_open(&sim, &sampler, SIM_SAMPLE, sim_key(SIM_SAMPLE, 0), on_sample, &sampler);
	timer_set(&sim, &sampler, 3);
	while (observed ? sim_observe(&sim, 1, &observer) : sim_run(&sim, 1))
		if (change && pingers[1].left == 50 - change)
			pingers[1].fact = 3;
	cr_assert_eq(sim_event_count(&sim), 100);
	digest = sim_run_digest(&sim);
	sim_release(&sim);
	return digest;
}

Test(fingerprint, observing_changes_nothing)
{
	struct seen seen;

	cr_expect_eq(ping(&seen, 0, 0, false), ping(&seen, 0, 0, true));
	cr_expect_eq(seen.count, 100);
}

static unsigned first_difference(const struct seen *a, const struct seen *b)
{
	unsigned i = 0;

	while (i < 100 && a->prints[i] == b->prints[i])
		i++;
	return i;
}

/* The second pinger's 21st event, at 100 + 20 * 15 = 400, is the first with
 * another fact: the events before it are the same. */
Test(fingerprint, first_event_with_another_fact)
{
	struct seen plain, changed;
	unsigned i;

	ping(&plain, 0, 0, true);
	ping(&changed, 20, 0, true);
	i = first_difference(&plain, &changed);
	cr_assert_lt(i, 100);
	cr_expect_eq(changed.at[i], 400);
}

/* A timer that only fires later is seen at once, too: at 101 instead of 100. */
Test(fingerprint, first_event_at_another_time)
{
	struct seen plain, late;
	unsigned i;

	ping(&plain, 0, 0, true);
	ping(&late, 0, 1, true);
	i = first_difference(&plain, &late);
	cr_assert_lt(i, 2);
	cr_expect_eq(late.at[1], 101);
}

/* --- names --- */

Test(names, parts_of_the_key)
{
	struct sim sim;
	char text[64];

	sim_init(&sim, 1);
	cr_expect_str_eq(sim_entity_name(&sim, on_ping, sim_key(SIM_TIMER, 6), text, sizeof(text)),
			 "entity 6");
	sim_name(&sim, on_ping, "half %h of %n");
	sim_name(&sim, on_sample, "job %j worker %w.");
	sim_name(&sim, on_ping, "not this");
	cr_expect_str_eq(sim_entity_name(&sim, on_ping, sim_key(SIM_TIMER, 6), text, sizeof(text)),
			 "half 3 of 6");
	cr_expect_str_eq(sim_entity_name(&sim, on_sample,
					 sim_key(SIM_TIMER, UINT64_C(5) << 53 | 3 << 24 | 7), text,
					 sizeof(text)),
			 "job 3 worker 7.");
	cr_expect_str_eq(sim_entity_name(&sim, on_ping, sim_key(SIM_TIMER, UINT64_C(1) << 48), text,
					 sizeof(text)),
			 "half 0x800000000000 of 0x1000000000000");
	cr_expect_str_eq(sim_entity_name(&sim, on_ping, sim_key(SIM_TIMER, 6), text, 7), "half 3");
	sim_release(&sim);
}
