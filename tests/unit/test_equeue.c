#include "core/equeue.h"

#include "core/rng.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

#define ENTITIES 300

/* The naive model: an array of what is pending, searched at every pop. The order among equal times
 * and classes is the queue's own, but must not depend on tuning or history. */
struct model {
	sim_time at[ENTITIES];
	bool pending[ENTITIES];
	uint8_t class[ENTITIES];
	uint32_t count;
};

struct trial {
	struct equeue q;
	struct model model;
	struct rng rng;
	sim_time now;
	uint32_t log[200000]; /* entities in the order of their pops */
	size_t logged;
};

/* Width of a slot (2^shift ps) and number of slots (2^bits). The wider the slot,
 * the fewer bits of the tie fit into a rank: 52 leaves 8, which collide. */
static const struct {
	unsigned shift, bits;
} tunings[] = { { 10, 14 }, { 6, 6 },  { 1, 6 },   { 20, 8 },
		{ 13, 10 }, { 36, 7 }, { 40, 16 }, { 52, 6 } };

#define TUNINGS (sizeof(tunings) / sizeof(tunings[0]))

static void trial_init(struct trial *trial, uint64_t seed, size_t tuning)
{
	*trial = (struct trial){ 0 };
	rng_init(&trial->rng, seed, "trial", 0);
	equeue_init(&trial->q, seed);
	equeue_tune(&trial->q, tunings[tuning].shift, tunings[tuning].bits);
	for (uint32_t i = 0; i < ENTITIES; i++) {
		trial->model.class[i] = (uint8_t)(i % 5);
		cr_assert_eq(
			equeue_add(&trial->q, trial->model.class[i], (uint64_t)(i % 5) << 56 | i),
			i);
	}
}

static void push(struct trial *trial, uint32_t id, sim_time at)
{
	equeue_push(&trial->q, id, at);
	trial->model.at[id] = at;
	trial->model.pending[id] = true;
	trial->model.count++;
}

static void cancel(struct trial *trial, uint32_t id)
{
	equeue_cancel(&trial->q, id);
	trial->model.count -= trial->model.pending[id];
	trial->model.pending[id] = false;
}

/* Pops one event and checks that none pending is before it in (time, class). */
static uint32_t pop(struct trial *trial)
{
	struct model *model = &trial->model;
	sim_time at = 0;
	uint32_t id = equeue_pop(&trial->q, &at);

	if (id == EQ_NONE) {
		cr_assert_eq(model->count, 0, "%u events are lost", model->count);
		return id;
	}
	cr_assert(model->pending[id], "%u is not pending", id);
	cr_assert_eq(at, model->at[id]);
	cr_assert_geq(at, trial->now);
	for (uint32_t i = 0; i < ENTITIES; i++)
		cr_assert_not(model->pending[i] && (model->at[i] < at ||
						    (model->at[i] == at &&
							     model->class[i] < model -> class[id])),
			      "%u comes before %u", i, id);
	model->pending[id] = false;
	model->count--;
	trial->now = at;
	trial->log[trial->logged++] = id;
	return id;
}

/* Times between events as in a simulation: ties, the same nanosecond, packets, timers, never. */
static sim_time distance(struct rng *rng)
{
	switch (rng_below(rng, 8)) {
	case 0:
		return 0;
	case 1:
		return rng_below(rng, 1000);
	case 2:
	case 3:
		return 1000 * rng_below(rng, 8); /* many equal times */
	case 4:
		return 1230400 + 1000 * rng_below(rng, 4);
	case 5:
		return rng_below(rng, PS_PER_MS);
	case 6:
		return PS_PER_MS * (1 + rng_below(rng, 5));
	default:
		return rng_below(rng, 1000) ? rng_below(rng, 10 * PS_PER_S) : 20 * 86400 * PS_PER_S;
	}
}

/* One random life of a queue. Entities are chosen by the trial's own stream, so
 * every tuning sees the same life as long as the order of pops is the same. */
static void live(struct trial *trial, int steps)
{
	for (int step = 0; step < steps; step++) {
		uint32_t id = (uint32_t)rng_below(&trial->rng, ENTITIES);
		uint64_t dice = rng_below(&trial->rng, 10);

		if (dice < 5) {
			sim_time at = trial->now + distance(&trial->rng);

			if (!trial->model.pending[id])
				push(trial, id, at);
		} else if (dice == 5) {
			cancel(trial, id);
		} else if (trial->model.count) {
			pop(trial);
		}
	}
	while (pop(trial) != EQ_NONE)
		;
}

/* Random pushes, cancels and pops: nothing lost, nothing early, and the same
 * order of pops for every width and number of slots. */
Test(equeue, order_does_not_depend_on_tuning)
{
	struct trial *first = malloc(sizeof(*first)), *other = malloc(sizeof(*other));

	for (uint64_t seed = 0; seed < 8; seed++) {
		trial_init(first, seed, 0);
		live(first, 20000);
		for (size_t t = 1; t < TUNINGS; t++) {
			trial_init(other, seed, t);
			live(other, 20000);
			cr_assert_eq(other->logged, first->logged);
			cr_assert_arr_eq(other->log, first->log,
					 first->logged * sizeof(*first->log),
					 "seed %llu, tuning %zu", (unsigned long long)seed, t);
			equeue_release(&other->q);
		}
		equeue_release(&first->q);
	}
	free(first);
	free(other);
}

static void shuffle_and_drain(struct trial *trial, uint64_t order, const sim_time *times)
{
	uint32_t ids[ENTITIES];
	struct rng rng;

	rng_init(&rng, order, "order", 0);
	for (uint32_t i = 0; i < ENTITIES; i++)
		ids[i] = i;
	rng_shuffle(&rng, ids, ENTITIES);
	for (uint32_t i = 0; i < ENTITIES; i++)
		push(trial, ids[i], times[ids[i]]);
	while (pop(trial) != EQ_NONE)
		;
}

/* The order of pops does not depend on the order of insertion, not even among 300 ties. */
Test(equeue, order_does_not_depend_on_insertion)
{
	struct trial *first = malloc(sizeof(*first)), *other = malloc(sizeof(*other));
	sim_time times[ENTITIES];

	for (uint32_t i = 0; i < ENTITIES; i++)
		times[i] = i % 3 ? 5000000 : 5000000 + i % 2;
	for (uint64_t order = 0; order < 20; order++) {
		struct trial *trial = order ? other : first;

		trial_init(trial, 42, order % TUNINGS);
		shuffle_and_drain(trial, order, times);
		cr_assert_eq(trial->logged, ENTITIES);
		if (order) {
			cr_assert_arr_eq(other->log, first->log, ENTITIES * sizeof(*first->log));
			equeue_release(&other->q);
		}
	}
	equeue_release(&first->q);
	free(first);
	free(other);
}

/* Each of 8 tied entities comes first, and last, equally often: over seeds at one
 * time, and over times of one seed. Binomial, 4.5 standard deviations. */
static void expect_fair(bool over_seeds, uint8_t class)
{
	const int n = 20000;
	int firsts[8] = { 0 }, lasts[8] = { 0 };
	const double mean = n / 8.0, deviation = sqrt(n * (1 / 8.0) * (7 / 8.0));

	for (int i = 0; i < n; i++) {
		struct equeue q;
		sim_time at;

		equeue_init(&q, over_seeds ? (uint64_t)i : 1);
		equeue_tune(&q, 10, 6);
		for (uint64_t key = 0; key < 8; key++)
			equeue_push(&q, equeue_add(&q, class, (uint64_t) class << 56 | key),
				    over_seeds ? 1000000 : (sim_time)i * 1230400);
		firsts[equeue_pop(&q, &at)]++;
		for (int j = 0; j < 6; j++)
			equeue_pop(&q, &at);
		lasts[equeue_pop(&q, &at)]++;
		cr_assert_eq(equeue_pop(&q, &at), EQ_NONE);
		equeue_release(&q);
	}
	for (int i = 0; i < 8; i++) {
		cr_expect_lt(fabs(firsts[i] - mean), 4.5 * deviation, "%d first %d times", i,
			     firsts[i]);
		cr_expect_lt(fabs(lasts[i] - mean), 4.5 * deviation, "%d last %d times", i,
			     lasts[i]);
	}
}

Test(equeue, ties_are_fair)
{
	expect_fair(true, 0);
	expect_fair(false, 0);
	expect_fair(false, 4);
}

/* Equal times: the class decides before the tie. */
Test(equeue, classes_at_equal_times)
{
	struct equeue q;
	sim_time at;

	equeue_init(&q, 9);
	for (uint32_t i = 0; i < 100; i++)
		equeue_add(&q, (uint8_t)(i % 5), i);
	for (uint32_t i = 100; i-- > 0;)
		equeue_push(&q, i, 777);
	for (uint32_t i = 0; i < 100; i++)
		cr_expect_eq(equeue_pop(&q, &at) % 5, i / 20);
	equeue_release(&q);
}

/* A renamed entity is ordered by its new name. Cancelling an event that is not pending is harmless.
 * The largest possible times stay distinct. */
Test(equeue, rename_cancel_and_far_end)
{
	struct equeue q;
	sim_time at;

	equeue_init(&q, 9);
	equeue_add(&q, 3, 0);
	equeue_add(&q, 3, 1);
	equeue_cancel(&q, 0);
	equeue_rename(&q, 0, 1, 7);
	equeue_push(&q, 1, SIM_TIME_MAX - 1);
	equeue_push(&q, 0, SIM_TIME_MAX - 1);
	cr_expect_eq(equeue_pop(&q, &at), 0, "class 1 before class 3");
	cr_expect_eq(at, SIM_TIME_MAX - 1);
	equeue_push(&q, 0, SIM_TIME_MAX);
	cr_expect_eq(equeue_pop(&q, &at), 1);
	cr_expect_eq(equeue_pop(&q, &at), 0);
	cr_expect_eq(equeue_pop(&q, &at), EQ_NONE);
	equeue_release(&q);
}

/* After the queue ran dry, an event may be put between the last pop and a cancelled event. */
Test(equeue, dry_after_a_cancel)
{
	static const sim_time cancelled[] = { 5000, 50000, 1000000, 10 * PS_PER_S };

	for (size_t i = 0; i < sizeof(cancelled) / sizeof(cancelled[0]); i++) {
		struct equeue q;
		sim_time at;

		equeue_init(&q, 9);
		equeue_add(&q, 0, 0);
		equeue_add(&q, 0, 1);
		equeue_push(&q, 0, cancelled[i]);
		equeue_cancel(&q, 0);
		cr_expect_eq(equeue_pop(&q, &at), EQ_NONE);
		equeue_push(&q, 1, 1000);
		cr_expect_eq(equeue_pop(&q, &at), 1);
		cr_expect_eq(at, 1000);
		equeue_release(&q);
	}
}

#define EQUALS                                                                                     \
	20 /* entities 1..EQUALS, all at one time; entity 0 comes before them in their slot */

/* Pops them all. */
static void pop_equals(struct equeue *q, uint32_t order[EQUALS], size_t count)
{
	sim_time at;

	for (size_t i = 0; i < count; i++) {
		order[i] = equeue_pop(q, &at);
		cr_assert_eq(at, 5000);
	}
}

static void open_equals(struct equeue *q)
{
	equeue_init(q, 7);
	for (uint32_t i = 0; i <= EQUALS; i++)
		equeue_add(q, 2, i);
	equeue_push(q, 0, 4900);
}

static void fill_equals(struct equeue *q)
{
	sim_time at;

	for (uint32_t i = 1; i <= EQUALS; i++)
		equeue_push(q, i, 5000);
	cr_assert_eq(equeue_pop(q, &at), 0); /* opens their slot */
}

static void open_and_fill(struct equeue *q)
{
	open_equals(q);
	fill_equals(q);
}

/* An event that is first among equals comes last, into their open slot, behind a cancelled one: it
 * is still the first to be popped. */
Test(equeue, order_among_equals_in_spite_of_cancelled_ones)
{
	uint32_t order[EQUALS], again[EQUALS] = { 0 };
	struct equeue q;
	sim_time at;

	open_and_fill(&q);
	pop_equals(&q, order, EQUALS);
	equeue_release(&q);

	open_equals(&q);
	for (size_t i = 1; i < EQUALS; i++)
		equeue_push(&q, order[i], 5000);
	cr_assert_eq(equeue_pop(&q, &at), 0);
	equeue_cancel(&q, order[EQUALS - 1]);
	equeue_push(&q, order[0], 5000);
	pop_equals(&q, again, EQUALS - 1);
	cr_expect_arr_eq(again, order, (EQUALS - 1) * sizeof(*order));
	equeue_release(&q);
}
