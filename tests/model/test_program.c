/* Programs that are written down: when nodes begin, what messages and groups take, 1F1B against its
 * closed form, several groups by several schemes. Every worker checks all sums, always. */
#include "model_run.h"

#include "collective/schedule.h"
#include "workload/jobs/jobs_parts.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>

#define RATE    10e9
#define ONE_WAY (RATE * 1460 / 1538) /* of data, if nothing comes the other way */
#define STAR    "'kind': 'star', 'hosts': 8, 'host': { 'nic_jitter': '0s' }"

/* Builds a run of a program on a topology; `job` are more keys of the job, `roles` the program. */
static void build(struct run *run, const char *topology, const char *job, const char *roles)
{
	run_build(run,
		  "{ 'name': 't', 'topology': { %s },"
		  " 'jobs': [ { 'all_reduce': 'ring', %s 'model': { %s } } ] }",
		  topology, job, roles);
}

/* The duration of iteration `i` of three, unless the job says of how many. */
static double iteration(const char *topology, const char *job, const char *roles, size_t i)
{
	char keys[512];
	struct run run;
	double t;

	snprintf(keys, sizeof(keys), "%s %s", strstr(job, "'iterations'") ? "" : "'iterations': 3,",
		 job);
	build(&run, topology, keys, roles);
	run_to(&run, END_ALL_DONE);
	cr_assert_gt(jobs_report(run.s->jobs)->duration_count, i);
	t = jobs_report(run.s->jobs)->durations[i];
	run_free(&run);
	return t;
}

#define PAIR(a, b)                                                                                 \
	"'roles': [ { 'ranks': [0], 'nodes': [ " a " ] }, { 'ranks': [1], 'nodes': [ " b " ] } ]"

/* Streams do one node after the other, and do not wait for each other. */
Test(program, streams)
{
#define C(time, stream) "{ 'compute': '" time "', 'stream': '" stream "' }"
	static const char *const one[] = {
		"'roles': [ { 'ranks': [0], 'nodes': [ " C("1ms", "a") ", " C("2ms", "a") " ] } ]",
		"'roles': [ { 'ranks': [0], 'nodes': [ " C("1ms", "a") ", " C("2ms", "b") " ] } ]",
		"'roles': [ { 'ranks': [0], 'nodes': [ { 'name': 'x', 'compute': '1ms', 'stream': "
		"'a' }, { 'compute': '2ms', 'stream': 'b', 'after': ['x'] } ] } ]",
	};
#undef C

	near(iteration(STAR, "", one[0], 1), 3e-3, 1e-12, "one stream");
	near(iteration(STAR, "", one[1], 1), 2e-3, 1e-12, "two streams");
	near(iteration(STAR, "", one[2], 1), 3e-3, 1e-12, "two streams, one after the other");
	near(iteration(STAR, "'compute_scale': 0.5,", one[0], 1), 1.5e-3, 1e-12, "scaled");
}

/* With "after_previous" an iteration begins while the last one's tail is under way: the longer of
 * two streams decides from the second iteration on, and without it their sum. */
Test(program, iterations_overlap)
{
	static const char tail[] =
		"'roles': [ { 'ranks': [0], 'nodes': [ { 'name': 'a', 'compute': '1ms'%s }, "
		"{ 'name': 'b', 'compute': '2ms', 'stream': 's', 'after': ['a'] } ] } ]";
	char text[512];

	snprintf(text, sizeof(text), tail, "");
	near(iteration(STAR, "", text, 2), 3e-3, 1e-12, "one after the other");
	snprintf(text, sizeof(text), tail, ", 'after_previous': ['a']");
	near(iteration(STAR, "", text, 2), 2e-3, 1e-12, "overlapping");
}

/* A message is there when its last byte is; the sender goes on at once. */
Test(program, messages)
{
	double t = iteration(STAR, "",
			     PAIR("{ 'compute': '1ms' }, { 'send': '5MB', 'peer': [1] }, "
				  "{ 'receive': '1B', 'peer': [1] }",
				  "{ 'receive': '5MB', 'peer': [0] }, { 'compute': '2ms' }, "
				  "{ 'send': '1B', 'peer': [0] }"),
			     2);
	double sent_on = iteration(STAR, "",
				   PAIR("{ 'send': '5MB', 'peer': [1] }, { 'compute': '9ms' }",
					"{ 'receive': '5MB', 'peer': [0] }"),
				   2);

	near(t, 3e-3 + 5e6 * 8 / ONE_WAY, 0.005, "ping-pong");
	near(sent_on, 9e-3, 1e-12, "computing beside the message");
}

/* The n-th message with a tag is the n-th receive with it, in whatever order tags are received. */
Test(program, tags)
{
	double t = iteration(STAR, "",
			     PAIR("{ 'send': '1MB', 'peer': [1], 'tag': 1 }, "
				  "{ 'send': '2MB', 'peer': [1], 'tag': 2 }, "
				  "{ 'receive': '1B', 'peer': [1] }",
				  "{ 'receive': '2MB', 'peer': [0], 'tag': 2 }, "
				  "{ 'receive': '1MB', 'peer': [0], 'tag': 1 }, "
				  "{ 'send': '1B', 'peer': [0] }"),
			     2);

	near(t, 3e6 * 8 / ONE_WAY, 0.02, "two tags");
}

/* An all-reduce of all ranks is that of a network of one layer, to the picosecond. */
Test(program, all_reduce_as_in_layers)
{
	static const char layers[] =
		"{ 'name': 't', 'topology': { " STAR " }, 'jobs': [ { 'all_reduce': '%s', "
		"'iterations': 3, 'workers': 4, 'model': { 'layers': [ { 'gradient': '3MB', "
		"'forward': '20us', 'backward': '30us' } ] } } ] }";
	static const char *const schemes[] = { "ring", "double_tree", "switchml", "esa" };

	for (unsigned i = 0; i < sizeof(schemes) / sizeof(*schemes); i++) {
		struct run run, program;

		run_build(&run, layers, schemes[i]);
		run_to(&run, END_ALL_DONE);
		run_build(&program,
			  "{ 'name': 't', 'topology': { " STAR " }, 'jobs': [ { 'all_reduce': "
			  "'%s', 'iterations': 3, 'model': { 'roles': [ { 'ranks': [0, 1, 2, 3], "
			  "'nodes': [ { 'compute': '50us' }, { 'all_reduce': '3MB' } ] } ] } } ] }",
			  schemes[i]);
		run_to(&program, END_ALL_DONE);
		cr_expect_eq(run.s->sim.now, program.s->sim.now, "%s: %.9f, %.9f s", schemes[i],
			     seconds_of(run.s->sim.now), seconds_of(program.s->sim.now));
		run_free(&program);
		run_free(&run);
	}
}

/* --- 1F1B --- */

/* Adds text to a buffer. */
static void add(char **at, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void add(char **at, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	*at += vsprintf(*at, fmt, args);
	va_end(args);
}

static void add_pass(char **at, unsigned stage, unsigned stages, bool back)
{
	bool first = back ? stage + 1 == stages : stage == 0;
	bool last = back ? stage == 0 : stage + 1 == stages;
	int step = back ? -1 : 1;

	if (!first)
		add(at, "{ 'receive': '1B', 'peer': [%d], 'tag': %d }, ", (int)stage - step, back);
	add(at, "{ 'compute': '1ms' }, ");
	if (!last)
		add(at, "{ 'send': '1B', 'peer': [%d], 'tag': %d }, ", (int)stage + step, back);
}

/* One forward, one backward (Megatron-LM schedules.py): warm-up, pairs, the rest. */
static char *one_f_one_b(unsigned stages, unsigned microbatches)
{
	char *text = malloc(1 << 16), *at = text;

	add(&at, "'roles': [ ");
	for (unsigned p = 0; p < stages; p++) {
		unsigned warm = stages - 1 - p < microbatches ? stages - 1 - p : microbatches;

		add(&at, "%s{ 'ranks': [%u], 'nodes': [ ", p ? ", " : "", p);
		for (unsigned i = 0; i < warm; i++)
			add_pass(&at, p, stages, false);
		for (unsigned i = warm; i < microbatches; i++) {
			add_pass(&at, p, stages, false);
			add_pass(&at, p, stages, true);
		}
		for (unsigned i = 0; i < warm; i++)
			add_pass(&at, p, stages, true);
		at -= 2; /* the last comma */
		add(&at, " ] }");
	}
	add(&at, " ]");
	return text;
}

/* (m + P - 1)(F + B), and 2 c ((P - 1) m / P + P - 2) for messages that take c, where P divides m:
 * derived by executing the order. */
Test(program, one_forward_one_backward)
{
	static const unsigned shapes[][2] = { { 2, 2 }, { 2, 8 }, { 4, 4 }, { 4, 8 }, { 8, 8 } };
	double c = iteration(
		STAR, "", PAIR("{ 'send': '1B', 'peer': [1] }", "{ 'receive': '1B', 'peer': [0] }"),
		0); /* the sender runs ahead in later ones */

	for (unsigned i = 0; i < sizeof(shapes) / sizeof(*shapes); i++) {
		double stages = shapes[i][0], m = shapes[i][1];
		char *text = one_f_one_b(shapes[i][0], shapes[i][1]);
		double want =
			(m + stages - 1) * 2e-3 + 2 * c * ((stages - 1) * m / stages + stages - 2);

		near(iteration(STAR, "", text, 0), want, 5e-5, "1F1B");
		free(text);
	}
}

/* --- groups --- */

#define GRID                                                                                       \
	"'groups': [ { 'name': 'tensor', 'members': [[0, 1], [2, 3], [4, 5], [6, 7]] }, "          \
	"{ 'name': 'data', 'members': [[0, 2, 4, 6], [1, 3, 5, 7]] } ], "                          \
	"'roles': [ { 'ranks': [0, 1, 2, 3, 4, 5, 6, 7], 'nodes': [ "                              \
	"{ 'compute': '100us', 'after_previous': ['g'] }, "                                        \
	"{ 'all_reduce': '200kB', 'group': 'tensor' }, { 'compute': '100us' }, "                   \
	"{ 'name': 'g', 'all_reduce': '1MB', 'group': 'data', 'wait': false } ] } ]"

/* Each group by a scheme of its own, alone and with losses; results of several groups of one scheme
 * in one job. */
Test(program, groups_by_schemes)
{
	static const char *const schemes[] = {
		"ring", "halving_doubling", "ps",        "switchml", "atp",
		"esa",  "panama",           "netreduce", "sharp",    "ps_stream",
	};
	static const char *const topologies[] = {
		STAR,
		"'kind': 'leaf-spine', 'leaves': 2, 'spines': 2, 'hosts_per_leaf': 4",
	};

	for (unsigned i = 0; i < sizeof(schemes) / sizeof(*schemes); i++)
		for (unsigned t = 0; t < 2; t++) {
			char job[256];
			struct run run;

			snprintf(job, sizeof(job),
				 "'iterations': 2, 'collectives': [ { 'group': 'tensor', 'scheme': "
				 "'%s' }, { 'group': 'data', 'scheme': '%s' } ],",
				 schemes[i], schemes[(i + 3) % 10]);
			build(&run, topologies[t], job, GRID);
			run_to(&run, END_ALL_DONE);
			cr_expect(run.s->checks.exact_checked > 0);
			run_free(&run);
		}
}

/* Groups that share nothing take the time of one; what is exposed adds to the computing. */
Test(program, groups_beside_each_other)
{
	static const char one[] = "'groups': [ { 'name': 'g', 'members': [[0, 1]] } ], 'roles': [ "
				  "{ 'ranks': [0, 1], 'nodes': [ { 'all_reduce': '1MB', 'group': "
				  "'g' }, { 'compute': '1ms' } ] } ]",
			  four[] = "'groups': [ { 'name': 'g', 'members': [[0, 1], [2, 3], [4, 5], "
				   "[6, 7]] } ], 'roles': [ { 'ranks': [0, 1, 2, 3, 4, 5, 6, 7], "
				   "'nodes': [ { 'all_reduce': '1MB', 'group': 'g' }, { 'compute': "
				   "'1ms' } ] } ]";
	double alone = iteration(STAR, "", one, 1);

	near(iteration(STAR, "", four, 1), alone, 1e-3, "four groups");
	near(alone - iteration(STAR, "'compute_scale': 0,", one, 1), 1e-3, 1e-3, "exposed");
}

/* --- machines with several GPUs: a rank is a GPU --- */

#define MACHINES                                                                                   \
	"'kind': 'star', 'hosts': %u, 'host': { 'nic_jitter': '0s', 'gpus': { 'count': 4, "        \
	"'rate': '400Gbps', 'latency': '2us' }%s }"
#define RANKS16 "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]"

/* Inside a machine a ring of n takes 2 (n - 1) steps of S / n over a link, and its latency. */
Test(program, ring_inside_a_machine)
{
	char topology[256];

	snprintf(topology, sizeof(topology), MACHINES, 2u, "");
	near(iteration(
		     topology, "",
		     "'roles': [ { 'ranks': [0, 1, 2, 3], 'nodes': [ { 'all_reduce': '4MB' } ] } ]",
		     1),
	     2 * 3 * (1e6 * 8 / 400e9 + 2e-6), 1e-9, "ring inside");
}

/* A ring over all GPUs enters each machine once: its NICs carry 2 (R - 1) / R S together. With NICs
 * as rails, groups of GPU i of each machine share nothing, and ranks that are not neighbours in the
 * numbering of hosts stay beside each other. */
Test(program, ring_over_machines)
{
	static const char
		all[] = "'roles': [ { 'ranks': " RANKS16
			", 'nodes': [ { 'all_reduce': '16MB' } ] } ]",
		rails[] = "'groups': [ { 'name': 'g', 'members': [[0, 4, 8, 12], [1, 5, 9, "
			  "13], [2, 6, 10, 14], [3, 7, 11, 15]] } ], 'roles': [ { 'ranks': " RANKS16
			  ", 'nodes': [ { 'all_reduce': '4MB', 'group': 'g' } ] } ]";
	double rate = RATE * 1460 / (1538 + 42);
	char one[256], four[256];

	snprintf(one, sizeof(one), MACHINES, 4u, "");
	snprintf(four, sizeof(four), MACHINES, 16u, ", 'nics': { 'count': 4, 'wiring': 'rails' }");
	near(iteration(one, "", all, 2), 2 * 15 / 16. * 16e6 * 8 / rate, 0.02, "one NIC");
	near(iteration(four, "", all, 2), 2 * 15 / 16. * 16e6 * 8 / (4 * rate), 0.02, "four NICs");
	near(iteration(four, "", rails, 2), 2 * 3 / 4. * 4e6 * 8 / rate, 0.02, "rails");
	near(iteration(four, "'collectives': [ { 'group': 'g', 'scheme': 'switchml' } ],", rails,
		       2) /
		     iteration("'kind': 'star', 'hosts': 4, 'host': { 'nic_jitter': '0s' }",
			       "'collectives': [ { 'group': 'all', 'scheme': 'switchml' } ],",
			       "'roles': [ { 'ranks': [0, 1, 2, 3], 'nodes': [ { 'all_reduce': "
			       "'4MB' } ] } ]",
			       2),
	     1, 0.01, "rails by SwitchML as one of them alone");
}

/* All kinds of collectives in one group; n = 4 of S bytes: (n - 1) / n S each, all-reduce twice. A
 * chain takes S and n - 2 pieces, of which 8 MB have 16. From a root data go one way, and it may go
 * on before the others have them: so of those, one iteration. */
Test(program, kinds)
{
	static const struct {
		const char *kind;
		double times, rate;
		size_t iteration;
	} kinds[] = {
		{ "all_reduce", 1.5, RATE * 1460 / (1538 + 42), 2 },
		{ "reduce_scatter", 0.75, RATE * 1460 / (1538 + 42), 2 },
		{ "all_gather", 0.75, RATE * 1460 / (1538 + 42), 2 },
		{ "all_to_all", 0.75, RATE * 1460 / (1538 + 42), 2 },
		{ "broadcast", 1.125, RATE * 1460 / (1538 + 42), 0 },
		{ "reduce", 1.125, RATE * 1460 / (1538 + 42), 0 },
		{ "gather", 0.75, ONE_WAY, 0 },
		{ "scatter", 0.75, ONE_WAY, 0 },
	};

	for (unsigned i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		char text[256];

		snprintf(text, sizeof(text),
			 "'roles': [ { 'ranks': [0, 1, 2, 3], 'nodes': [ { '%s': '8MB' } ] } ]",
			 kinds[i].kind);
		near(iteration(STAR, kinds[i].iteration ? "" : "'iterations': 1,", text,
			       kinds[i].iteration),
		     kinds[i].times * 8e6 * 8 / kinds[i].rate, 0.02, kinds[i].kind);
	}
}

/* The root is the first of its group, wherever that is in a ring: what it sends counts, and each
 * kind finds a bit that is wrong under way. */
Test(program, roots)
{
	static const char *const kinds[] = { "broadcast", "reduce", "gather", "scatter" };

	for (unsigned i = 0; i < 4; i++) {
		char text[512];
		struct schedule *schedule;
		struct run run;
		uint32_t e = 0;

		snprintf(
			text, sizeof(text),
			"'groups': [ { 'name': 'g', 'members': [[2, 0, 3, 1]] } ], "
			"'roles': [ { 'ranks': [0, 1, 2, 3], 'nodes': [ { '%s': '1200kB', 'group': "
			"'g' } ] } ]",
			kinds[i]);
		build(&run, STAR, "'iterations': 3,", text);
		run_to(&run, END_ALL_DONE);
		cr_expect_eq(run.s->checks.exact_checked,
			     3 * (i == 0   ? 4 * 3
				  : i == 1 ? 3
					   : 4),
			     "%s", kinds[i]);
		cr_expect_eq(run.s->checks.exact_violations, 0);
		run_free(&run);

		build(&run, STAR, "'iterations': 3,", text);
		do
			cr_assert(sim_run(&run.s->sim, 1));
		while (!run.s->jobs->jobs[0].exchanges);
		schedule = run.s->jobs->jobs[0].exchanges[0].instance;
		while (schedule->edges[e].ends.from == SCHEDULE_NOBODY)
			e++;
		while (!schedule->edges[e].sent)
			cr_assert(sim_run(&run.s->sim, 1));
		schedule->edges[e].values[0] ^= 1 << 9;
		run_to(&run, END_VIOLATION);
		cr_expect(strstr(run.s->checks.first, kinds[i]), "%s", run.s->checks.first);
		run_free(&run);
	}
}
