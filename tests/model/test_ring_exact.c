/* The exactly-once check of a ring must fail when a sum is wrong: a check that
 * cannot fail proves nothing. The ring is compiled in here, with its inside open. */
#define ring_collective ring_as_it_is
#include "collective/ring.c"
#undef ring_collective

#include "model_run.h"

static struct ring *the_ring;

static void *noting_start(void *scheme, const struct collective_job *job, const char **never)
{
	return the_ring = ring_as_it_is.start(scheme, job, never);
}

const struct collective_ops ring_collective = {
	.name = "ring",
	.help = "ring, watched",
	.table = &ring_table,
	.open = ring_open,
	.close = free,
	.start = noting_start,
	.contribute = ring_contribute,
	.finish = ring_finish,
	.stats = ring_stats,
	.report_waiting = ring_report_waiting,
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
Test(ring_exact, untouched)
{
	struct run run;

	build(&run);
	run_to(&run, END_ALL_DONE);
	cr_expect_not_null(the_ring);
	cr_expect_eq(run.s->checks.exact_checked, 2 * 6 * 6);
	run_free(&run);
}

/* Runs until rank 2 has written its message `number`. */
static void until_sent(struct run *run, uint64_t number)
{
	while (!the_ring || the_ring->ranks[2].sent <= number)
		cr_assert(sim_run(&run->s->sim, 1));
	cr_assert_leq(the_ring->ranks[3].received, number);
}

/* One bit of a message that is under way, in each step of reduce-scatter and of
 * all-gather, in the first iteration or the second. */
Test(ring_exact, corrupted_message)
{
	for (uint64_t number = 0; number < 20; number++) {
		struct run run;

		build(&run);
		until_sent(&run, number);
		the_ring->ranks[2].in_flight[number % 12] ^= UINT64_C(1) << (number * 3);
		expect_violation(&run);
	}
}

/* A contribution twice, or not at all. */
Test(ring_exact, doubled_or_lost_contribution)
{
	for (int lost = 0; lost < 2; lost++) {
		struct run run;
		uint64_t own;

		build(&run);
		until_sent(&run, 2);
		own = exact_contribution(&the_ring->exact, the_ring->ranks[2].worker, 0);
		/* message 2 of rank 2 carries chunk 0 */
		cr_assert_eq(chunk_sent(the_ring, 2, 2), 0);
		the_ring->ranks[2].in_flight[2] += lost ? -own : own;
		expect_violation(&run);
	}
}

/* A chunk of another tensor (a stale buffer), and two chunks that are mixed up. */
Test(ring_exact, misdirected_chunk)
{
	struct run run;
	uint64_t stale;

	build(&run);
	until_sent(&run, 3);
	stale = the_ring->ranks[2].in_flight[3];
	until_sent(&run, 13);
	the_ring->ranks[2].in_flight[13 % 12] = stale;
	expect_violation(&run);
	build(&run);
	while (!the_ring || the_ring->ranks[1].sent != 1) /* chunk 1 is out; 0 and 5 are next */
		cr_assert(sim_run(&run.s->sim, 1));
	stale = the_ring->ranks[1].chunks[0];
	the_ring->ranks[1].chunks[0] = the_ring->ranks[1].chunks[5];
	the_ring->ranks[1].chunks[5] = stale;
	expect_violation(&run);
}
