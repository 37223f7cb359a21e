/* Checkpoints over simulated time (core/checkpoint.h). */
#include "core/checkpoint.h"

#include <criterion/criterion.h>

/* The digest after time t of a made-up run. */
static uint64_t digest_at(sim_time t)
{
	return t * 31 + 7;
}

/* And its events: a thousand a nanosecond. */
static uint64_t events_at(sim_time t)
{
	return t;
}

static void run_to(struct checkpoints *c, sim_time end)
{
	checkpoints_init(c);
	while (checkpoints_next(c) <= end) {
		sim_time at = checkpoints_next(c);

		checkpoints_add(c, events_at(at), digest_at(at));
	}
}

/* Whatever the length of the run: times are multiples of one power of two of
 * nanoseconds, without gaps, up to less than one distance before the end; the
 * values are those of their times; and at least half the list is in use. */
Test(checkpoint, equally_spaced_whatever_the_end)
{
	for (sim_time end = PS_PER_NS; end < 3 * PS_PER_S; end = end * 7 / 5 + 13) {
		struct checkpoints c;

		run_to(&c, end);
		cr_assert_eq((c.every / PS_PER_NS) & (c.every / PS_PER_NS - 1), 0);
		cr_assert_lt(c.count, CHECKPOINTS_MAX);
		if (end >= CHECKPOINTS_MAX * PS_PER_NS)
			cr_assert_geq(c.count, CHECKPOINTS_MAX / 2 - 1);
		for (size_t i = 0; i < c.count; i++) {
			cr_assert_eq(c.list[i].at, (i + 1) * c.every);
			cr_assert_eq(c.list[i].events, events_at(c.list[i].at));
			cr_assert_eq(c.list[i].digest, digest_at(c.list[i].at));
		}
		cr_assert_gt(c.list[c.count - 1].at + c.every, end);
	}
}

/* The cost: how many are taken, those that are dropped later included. Each
 * doubling takes half a list, so a run of 3 s takes less than 128 * (log2(3e9) + 2)
 * = 4288 and keeps 128 or more, if it has an event every picosecond or one every
 * microsecond; one without events takes less than 8 * (log2(3e9) + 2) = 268. */
Test(checkpoint, few_are_taken)
{
	static const struct {
		sim_time event_every;
		size_t most, kept;
	} runs[] = { { 1, 4288, 128 },
		     { PS_PER_US, 4288, 128 },
		     { 10 * PS_PER_S, 268, CHECKPOINTS_FEW / 2 } };

	for (size_t i = 0; i < 3; i++) {
		struct checkpoints c;
		size_t taken = 0;

		checkpoints_init(&c);
		while (checkpoints_next(&c) <= 3 * PS_PER_S) {
			checkpoints_add(&c, checkpoints_next(&c) / runs[i].event_every, 0);
			taken++;
		}
		cr_expect_lt(taken, runs[i].most);
		cr_expect_geq(c.count, runs[i].kept - 1);
	}
}

/* A short run of n events, one every 30 ns: in all, not more than one for 128
 * events and those of the beginning. */
Test(checkpoint, few_are_taken_of_short_runs)
{
	for (uint64_t events = 100; events < 100000; events *= 3) {
		struct checkpoints c;
		size_t taken = 0;

		checkpoints_init(&c);
		while (checkpoints_next(&c) <= events * 30 * PS_PER_NS) {
			checkpoints_add(&c, checkpoints_next(&c) / (30 * PS_PER_NS), 0);
			taken++;
		}
		cr_expect(c.count < CHECKPOINTS_FEW || c.count * CHECKPOINT_EVENTS <= events);
		cr_expect_leq(taken, events / 64 + 200, "%zu of %lu events", taken,
			      (unsigned long)events);
	}
}

/* The interval that is found holds the first difference, and is not longer than
 * the wider spacing of the two lists; equal runs of unequal length do not differ.
 * Lists that have no common time behind the change cannot tell. */
Test(checkpoint, first_difference)
{
	static const sim_time ends[] = { 300 * PS_PER_NS, 1000 * PS_PER_NS, 77777 * PS_PER_NS };

	for (size_t i = 0; i < 3; i++)
		for (size_t j = 0; j < 3; j++) {
			struct checkpoints a, b;
			sim_time after, until, wide;
			sim_time change = 250 * PS_PER_NS;
			sim_time shorter = ends[i] < ends[j] ? ends[i] : ends[j];
			bool seen;

			run_to(&a, ends[i]);
			run_to(&b, ends[j]);
			cr_assert_not(checkpoints_differ(a.list, a.count, b.list, b.count, &after,
							 &until));
			for (size_t k = 0; k < b.count; k++)
				if (b.list[k].at >= change)
					b.list[k].digest++;
			wide = a.every > b.every ? a.every : b.every;
			seen = checkpoints_differ(a.list, a.count, b.list, b.count, &after, &until);
			cr_assert_eq(seen, (change + wide - 1) / wide * wide <= shorter);
			if (!seen)
				continue;
			cr_assert_lt(after, change);
			cr_assert_geq(until, change);
			cr_assert_leq(until - after, wide);
		}
}
