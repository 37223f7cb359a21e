/* The exactly-once check of a schedule must fail when a sum is wrong: a check that cannot fail
 * proves nothing. The ring is compiled in here, watched; the other schemes have the same check
 * (schedule.c). */
#define ring_collective ring_as_it_is
#include "collective/ring.c"
#undef ring_collective

#include "model_run.h"

static struct schedule *the_ring;

static void *noting_start(void *scheme, const struct collective_job *job, const char **never)
{
	return the_ring = ring_as_it_is.start(scheme, job, never);
}

const struct collective_ops ring_collective = {
	SCHEDULE_OPS,
	.name = "ring",
	.help = "ring, watched",
	.table = &ring_table,
	.start = noting_start,
	.plan = ring_plan,
	.reduce_scatter = &reduce_scatter_collective,
	.all_gather = &all_gather_collective,
};

static void build(struct run *run)
{
	the_ring = NULL;
	run_build(
		run,
		"{ 'name': 't', 'topology': { 'kind': 'star', 'hosts': 6 },"
		" 'jobs': [ { 'workers': 6, 'all_reduce': 'ring', 'iterations': 2,"
		"   'model': { 'layers': [ { 'gradient': '600kB', 'backward': '100us' } ] } } ] }");
}

static void expect_violation(struct run *run)
{
	run_to(run, END_VIOLATION);
	cr_expect_geq(run->s->checks.exact_violations, 1);
	cr_expect_not_null(strstr(run->s->checks.first, "ring of job 0: wrong sum"), "%s",
			   run->s->checks.first);
	run_free(run);
}

/* Untouched, all is well, and the ring is the one that was watched. */
Test(schedule_exact, untouched)
{
	struct run run;

	build(&run);
	run_to(&run, END_ALL_DONE);
	cr_expect_not_null(the_ring);
	cr_expect_eq(run.s->checks.exact_checked, 2 * 6 * 6);
	run_free(&run);
}

/* Edge 2 is that from rank 2 to rank 3; its messages are a piece each. */
static uint64_t *value_under_way(uint64_t number)
{
	return &the_ring->edges[2].values[number & the_ring->edges[2].value_mask];
}

/* Runs until rank 2 has written its message `number`. */
static void until_sent(struct run *run, uint64_t number)
{
	while (!the_ring || the_ring->edges[2].sent <= number)
		cr_assert(sim_run(&run->s->sim, 1));
	cr_assert_leq(the_ring->edges[2].received, number);
}

/* One bit of a message that is under way, in each step of reduce-scatter and of
 * all-gather, in the first iteration or the second. */
Test(schedule_exact, corrupted_message)
{
	for (uint64_t number = 0; number < 20; number++) {
		struct run run;

		build(&run);
		until_sent(&run, number);
		*value_under_way(number) ^= UINT64_C(1) << (number * 3);
		expect_violation(&run);
	}
}

/* A contribution twice, or not at all. */
Test(schedule_exact, doubled_or_lost_contribution)
{
	for (int lost = 0; lost < 2; lost++) {
		struct run run;
		uint64_t own;

		build(&run);
		until_sent(&run, 2);
		own = exact_contribution(&the_ring->exact, the_ring->ranks[2].worker, 0);
		cr_assert_eq(piece_sent(6, 2, 2), 0); /* message 2 of rank 2 carries chunk 0 */
		*value_under_way(2) += lost ? -own : own;
		expect_violation(&run);
	}
}

/* A chunk of another tensor (a stale buffer), and two chunks that are mixed up. */
Test(schedule_exact, misdirected_chunk)
{
	struct run run;
	uint64_t stale;

	build(&run);
	until_sent(&run, 3);
	stale = *value_under_way(3);
	until_sent(&run, 13);
	*value_under_way(13) = stale;
	expect_violation(&run);
	build(&run);
	while (!the_ring || the_ring->edges[1].sent != 1) /* chunk 1 is out; 0 and 5 are next */
		cr_assert(sim_run(&run.s->sim, 1));
	stale = the_ring->ranks[1].sums[0];
	the_ring->ranks[1].sums[0] = the_ring->ranks[1].sums[5];
	the_ring->ranks[1].sums[5] = stale;
	expect_violation(&run);
}
