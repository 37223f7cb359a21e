/* The exactly-once check of parameter servers must fail when a sum is wrong: a check that cannot
 * fail proves nothing. The scheme is compiled in here, with its inside open. */
#define ps_collective ps_as_it_is
#include "collective/ps.c"
#undef ps_collective

#include "model_run.h"

static struct ps *the_ps;

static void *noting_start(void *scheme, const struct collective_job *job, const char **never)
{
	return the_ps = ps_as_it_is.start(scheme, job, never);
}

const struct collective_ops ps_collective = {
	.name = "ps",
	.help = "parameter servers, watched",
	.table = &ps_table,
	.servers = ps_servers,
	.open = ps_open,
	.close = free,
	.start = noting_start,
	.contribute = ps_contribute,
	.finish = ps_finish,
	.stats = ps_stats,
	.report_waiting = ps_report_waiting,
};

static void build(struct run *run)
{
	the_ps = NULL;
	run_build(run,
		  "{ 'name': 't', 'topology': { 'kind': 'star', 'hosts': 6 },"
		  " 'jobs': [ { 'workers': 4, 'servers': 2, 'all_reduce': 'ps', 'iterations': 2,"
		  "   'model': { 'layers': [ { 'gradient': '600kB', 'backward': '100us' } ] } "
		  "} ] }");
}

/* Five blocks a shard of 300 kB, at 4 workers, twice. */
Test(ps_exact, untouched)
{
	struct run run;

	build(&run);
	run_to(&run, END_ALL_DONE);
	cr_expect_not_null(the_ps);
	cr_expect_eq(run.s->checks.exact_checked, 2 * 4 * 2 * 5);
	run_free(&run);
}

static void expect_violation(struct run *run)
{
	run_to(run, END_VIOLATION);
	cr_expect_not_null(strstr(run->s->checks.first, "ps of job 0: wrong sum"), "%s",
			   run->s->checks.first);
	run_free(run);
}

/* Until server 1 has added a copy of block `number`. */
static struct server *until_begun(struct run *run, uint64_t number)
{
	while (!the_ps || the_ps->servers[1].begun <= number)
		cr_assert(sim_run(&run->s->sim, 1));
	return &the_ps->servers[1];
}

/* One bit of a sum, in any block of the first iteration or the second. */
Test(ps_exact, corrupted_sum)
{
	for (uint64_t number = 0; number < 10; number++) {
		struct server *server;
		struct run run;

		build(&run);
		server = until_begun(&run, number);
		server->blocks[number & server->block_mask].sum ^= UINT64_C(1) << (number * 5);
		expect_violation(&run);
	}
}

/* One worker's copy twice and another's never: the count is right, the sum is not. */
Test(ps_exact, twice_and_never)
{
	struct server *server;
	struct run run;

	build(&run);
	server = until_begun(&run, 2);
	server->blocks[2 & server->block_mask].sum +=
		exact_contribution(&the_ps->exact, 2, ps_block_name(1, 2)) -
		exact_contribution(&the_ps->exact, 3, ps_block_name(1, 2));
	expect_violation(&run);
}
