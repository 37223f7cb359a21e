/* Runs in which nothing can happen any more before their time limit: they end with the last thing
 * that happened, whoever looks on. */
#include "model_run.h"

#include <inttypes.h>
#include <stdlib.h>

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
	struct sim_observer observer = { before, after, &witness, NULL };

	run_build(&seen, LOST, seed, network, flows, "");
	witness.s = seen.s;
	simulation_observe(seen.s, &observer);
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

/* Lines of the report that have these words; the number behind each one's colon is below `max`. */
static unsigned lines_with(const char *report, const char *words, uint64_t max)
{
	unsigned count = 0;

	for (const char *at = strstr(report, words); at; at = strstr(at + 1, words)) {
		while (at[-1] != ':')
			at--;
		cr_expect_lt(strtoull(at, NULL, 10), max, "%.80s", at);
		at = strstr(at, words);
		count++;
	}
	return count;
}

/* Connections that have something under way at a time limit are told one by one, with what they
 * lack: ten of a kind at most. */
Test(end, connections_that_are_not_done)
{
	static const char *const transports[] = { "dctcp", "roce" };

	for (unsigned flows = 3; flows <= 12; flows += 9)
		for (unsigned t = 0; t < 2; t++) {
			char *text = NULL;
			size_t length = 0;
			FILE *to = open_memstream(&text, &length);
			struct run run;

			run_build(
				&run,
				"{'name': 't', 'topology': {'kind': 'star', 'hosts': 2}, 'flows': "
				"[{'count': %u, 'size': '1MB', 'pairs': [[0, 1]], 'transport': "
				"'%s', 'arrival': {'at': '0s'}}], 'stop': {'after': '100us'}}",
				flows, transports[t]);
			run_to(&run, END_TIME_LIMIT);
			simulation_report(run.s, to);
			fclose(to);
			cr_expect_eq(lines_with(text,
						t ? " packets are not acknowledged"
						  : " of 1000000 bytes acknowledged",
						t ? 977 : 1000000),
				     flows < 10 ? flows : 10, "%s", text);
			free(text);
			run_free(&run);
		}
}

/* Every worker of a scheme whose job is in its midst is told, with what it waits for. */
Test(end, workers_that_are_not_done)
{
	static const struct {
		const char *scheme, *words;
	} cases[] = {
		{ "switchml", "SwitchML job 0: worker %u (host %u) waits for chunk " },
		{ "panama", "PANAMA job 0: worker %u (host %u) waits for VID " },
		{ "netreduce", "NetReduce job 0: worker %u (host %u) " },
		{ "atp", "ATP job 0: worker %u (host %u) " },
		{ "esa", "ESA job 0: worker %u (host %u) " },
		{ "sharp", "SHARP job 0: worker %u (host %u) has results of " },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *text = NULL, words[80];
		size_t length = 0;
		FILE *to = open_memstream(&text, &length);
		struct run run;

		run_build(&run,
			  "{'name': 't', 'topology': {'kind': 'star', 'hosts': 8}, 'schemes': "
			  "{'panama': {'aggregate_above': '0B'}, 'switchml': {'slots': 1}}, "
			  "'jobs': [{'workers': [0, 1, 2, "
			  "3], 'all_reduce': '%s', 'model': {'layers': [{'gradient': '1MB'}]}}], "
			  "'stop': {'after': '100us'}}",
			  cases[i].scheme);
		run_to(&run, END_TIME_LIMIT);
		simulation_report(run.s, to);
		fclose(to);
		for (unsigned w = 0; w < 4; w++) {
			snprintf(words, sizeof(words), cases[i].words, w, w);
			cr_expect_not_null(strstr(text, words), "no \"%s\" in %s", words, text);
		}
		free(text);
		run_free(&run);
	}
}
