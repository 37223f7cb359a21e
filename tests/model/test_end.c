/* Runs in which nothing can happen any more before their time limit: they end with the last thing
 * that happened, whoever looks on. */
#include "model_run.h"

#include <inttypes.h>

/* Without recovery a tree that lost a packet stands still. The flow fills the buffer of one port.
 */
#define LOST                                                                                       \
	"{'name': 't', 'seed': %d, 'topology': {'kind': 'star', 'hosts': 4, 'switch': {'buffer': " \
	"'3KB'}%s}, 'schemes': {'switchml_star': {'aggregate_above': '1B'}}, 'jobs': [{'name': "   \
	"'tree', 'workers': 3, 'all_reduce': 'switchml_star', 'model': {'layers': [{'gradient': "  \
	"'1MB'}]}}], 'flows': [{'name': 'f', 'size': '300KB', 'pairs': [[3, 0]]}%s], 'stop': "     \
	"{'after': '1h'%s}}"

struct witness {
	const struct simulation *s;
	sim_time last; /* of the events but that of the limit */
};

static void before(void *owner, const struct sim_event *event)
{
	struct witness *witness = owner;

	if (event->entity != witness->s->limit.id)
		witness->last = event->at;
}

static void after(void *owner, const struct sim_event *event)
{
	(void)owner, (void)event;
}

/* An observer sees each event: the time must be the same with it and without. */
static void stands_still(int seed, const char *network, const char *flows)
{
	struct run seen, alone;
	struct witness witness = { 0 };
	const struct sim_observer observer = { before, after, &witness };

	run_build(&seen, LOST, seed, network, flows, "");
	witness.s = seen.s;
	seen.s->observer = &observer;
	run_to(&seen, END_DEADLOCK);
	run_build(&alone, LOST, seed, network, flows, "");
	run_to(&alone, END_DEADLOCK);
	cr_expect_eq(seen.s->sim.now, witness.last, "seed %d: %" PRIu64 " ps, not %" PRIu64, seed,
		     seen.s->sim.now, witness.last);
	cr_expect_eq(alone.s->sim.now, witness.last, "seed %d: %" PRIu64 " ps, not %" PRIu64, seed,
		     alone.s->sim.now, witness.last);
	cr_expect_eq(simulation_digest(seen.s), simulation_digest(alone.s));
	run_free(&seen);
	run_free(&alone);
}

Test(end, time_is_that_of_the_last_event)
{
	for (int seed = 1; seed <= 8; seed++) {
		stands_still(seed, "", "");
		stands_still(seed, ", 'host': {'jitter': '300ns'}", "");
		stands_still(seed, ", 'classes': 'control-first'", "");
	}
}

/* A flow far behind the job's end is waited for, and a timer of TCP as well. */
Test(end, what_starts_later_is_waited_for)
{
	struct run run;

	stands_still(1, "",
		     ", {'name': 'late', 'size': '1MB', 'pairs': [[1, 3]], 'arrival': {'at': "
		     "'20s'}}");
	run_build(&run, LOST, 1, "",
		  ", {'name': 'late', 'size': '1MB', 'pairs': [[1, 3]], 'arrival': {'at': '20s'}}",
		  "");
	run_to(&run, END_DEADLOCK);
	cr_expect_eq(flows_finished(run.s->flows), 2);
	cr_expect(run.s->sim.now > 20 * PS_PER_S && run.s->sim.now < 21 * PS_PER_S);
	run_free(&run);
}

/* A time that is asked for is simulated, whatever happens in it. */
Test(end, a_time_that_is_asked_for_passes)
{
	struct run run;

	run_build(&run, LOST, 1, "", "", ", 'when': 'time'");
	run_to(&run, END_TIME);
	cr_expect_eq(run.s->sim.now, 3600 * PS_PER_S);
	run_free(&run);
}
