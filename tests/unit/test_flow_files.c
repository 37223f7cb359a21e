/* Flow traces in the files of other simulators: what they mean, and what is refused, with the line.
 */
#include "base/mem.h"
#include "base/units.h"
#include "workload/flows/flow_files.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Loads a file with this text. Returns an error (caller frees), or NULL. */
static char *load(struct flow_trace *trace, const char *text, const char *ending,
		  enum start_unit unit, const struct graph *graph)
{
	char *path = xasprintf("%s/flows-%ld%s", INASIM_WORK_DIR, (long)getpid(), ending);
	char *error = NULL;
	FILE *to = fopen(path, "w");

	cr_assert_not_null(to);
	fputs(text, to);
	fclose(to);
	if (flow_file_load(trace, path, unit, graph, &error))
		cr_assert_null(error);
	unlink(path);
	free(path);
	return error;
}

static void expect(const struct flow_trace *trace, size_t i, uint32_t src, uint32_t dst, bytes size,
		   sim_time start)
{
	cr_assert_lt(i, trace->count);
	cr_expect_eq(trace->flows[i].src, src);
	cr_expect_eq(trace->flows[i].dst, dst);
	cr_expect_eq(trace->flows[i].size, size);
	cr_expect_eq(trace->flows[i].start, start);
}

/* In any order; flows of one instant stay in theirs. */
Test(flow_files, matrix)
{
	static const struct {
		enum start_unit unit;
		sim_time ps;
	} units[] = { { START_NS, PS_PER_NS }, { START_US, PS_PER_US }, { START_S, PS_PER_S } };
	static const char text[] = "# a comment\nNodes 4\r\nConnections 4\nTriggers 1\n"
				   "3->1 id 1 start 7 size 2000000 send_done_trigger 1 prio 2\n"
				   "0->2 start 2 size 5 addon\n2->0 start 7 size 6\n"
				   "1->0 start 2 size 9\ntrigger id 1 oneshot\n";
	struct flow_trace trace;

	for (unsigned i = 0; i < 3; i++) {
		cr_assert_null(load(&trace, text, ".cm", units[i].unit, NULL));
		cr_assert_eq(trace.count, 4);
		expect(&trace, 0, 0, 2, 5, 2 * units[i].ps);
		expect(&trace, 1, 1, 0, 9, 2 * units[i].ps);
		expect(&trace, 2, 3, 1, 2000000, 7 * units[i].ps);
		expect(&trace, 3, 2, 0, 6, 7 * units[i].ps);
		flow_trace_release(&trace);
	}
	/* waits: flow 2 of the file, now the first, lets two start, one of which lets the first */
	cr_assert_null(load(&trace,
			    "Nodes 4\nConnections 4\nTriggers 2\n3->1 trigger 5 size 1\n"
			    "1->2 trigger 4 size 2 recv_done_trigger 5\n"
			    "0->1 start 3 size 3 send_done_trigger 4\n2->0 trigger 4 size 4\n"
			    "trigger id 5 oneshot\ntrigger id 4 oneshot\n",
			    ".cm", START_PS, NULL));
	cr_assert_eq(trace.timed, 1);
	cr_assert_eq(trace.wait_count, 3);
	expect(&trace, 0, 0, 1, 3, 3);
	for (size_t i = 0; i < 3; i++) {
		const struct trace_wait *wait = &trace.waits[i];

		cr_expect_eq(wait->sent, i < 2);
		cr_expect_eq(trace.flows[wait->flow].size, i < 2 ? 3 : 2);
		cr_expect_eq(trace.flows[wait->next].size, i == 0 ? 2 : i == 1 ? 4 : 1);
	}
	flow_trace_release(&trace);
	cr_assert_null(load(&trace, "Nodes 2\nConnections 1\n0->1 start 1.25 size 1\n", ".cm",
			    START_NS, NULL));
	expect(&trace, 0, 0, 1, 1, 1250);
	flow_trace_release(&trace);
}

/* HPCC's own file declares two flows and goes on with more, and a legend. */
Test(flow_files, hpcc)
{
	static const char text[] = "2 \n2 1 3 100 200000000 2\n3 1 3 100 5000000 2.000001\n"
				   "4 1 3 100 7 2\n\nFirst line: flow #\n";
	const char *const names[] = { "h1", "h2", "h3", "s0" };
	struct graph graph = { .hosts = 3, .names = names };
	struct flow_trace trace;

	cr_assert_null(load(&trace, text, ".txt", START_NONE, NULL));
	cr_assert_eq(trace.count, 2);
	expect(&trace, 0, 2, 1, 200000000, 2 * PS_PER_S);
	expect(&trace, 1, 3, 1, 5000000, 2 * PS_PER_S + PS_PER_US);
	flow_trace_release(&trace);
	cr_assert_null(load(&trace, text, ".txt", START_NONE, &graph));
	expect(&trace, 1, 2, 0, 5000000, 2 * PS_PER_S + PS_PER_US);
	flow_trace_release(&trace);
	graph.hosts = 2;
	cr_expect(strstr(load(&trace, text, ".txt", START_NONE, &graph),
			 ":3: the network has no host \"h3\", for node 3"));
}

Test(flow_files, refused)
{
	static const struct {
		const char *text, *ending, *words;
		enum start_unit unit;
	} wrong[] = {
		{ "Nodes 2\nConnections 1\n0->1 start 5 size 1\n", ".cm",
		  ":3: \"start_unit\" does not say in which unit this is", START_NONE },
		{ "Nodes 2\nConnections 2\n0->1 start 5 size 1\n", ".cm",
		  "has 1 connections and 0 triggers, and says 2 and 0", START_PS },
		{ "Nodes 2\nConnections 1\n0->1 id 1 trigger 1 size 1\n", ".cm",
		  ":3: there is no trigger 1", START_PS },
		{ "Nodes 2\nConnections 1\nTriggers 1\n0->1 trigger 1 size 1\ntrigger id 1 "
		  "oneshot\n",
		  ".cm", ":4: 0 flows fire trigger 1; allowed: 1", START_PS },
		{ "Nodes 2\nConnections 1\nTriggers 1\n0->1 trigger 1 size 1 recv_done_trigger 1\n"
		  "trigger id 1 oneshot\n",
		  ".cm", ":4: this flow never starts", START_PS },
		{ "Nodes 2\nConnections 1\nTriggers 1\n0->1 start 1 size 1\ntrigger id 1 often\n",
		  ".cm", ":5: \"often\"; allowed: oneshot", START_PS },
		{ "Nodes 2\nConnections 1\n0->1 start 1 trigger 1 size 1\n", ".cm",
		  ":3: a flow has either", START_PS },
		{ "Nodes 2\nConnections 1\n0->1 start 5 size 0 send_done_trigger 1\n", ".cm",
		  ":3: a flow without end (size 0) fires no trigger", START_PS },
		{ "Nodes 2\nConnections 1\n0->1 size 5\n", ".cm",
		  ":3: a flow has either \"start\" or \"trigger\"", START_PS },
		{ "Nodes 2\nConnections 1\n1->1 start 5 size 1\n", ".cm",
		  ":3: host 1 sends to itself", START_PS },
		{ "Nodes 2\nConnections 1\n0->1 start 0.5 size 1\n", ".cm", ":3: start is \"0.5\"",
		  START_PS },
		{ "Nodes 2\nConnections 1\n0->1 begin 5 size 1\n", ".cm",
		  ":3: \"begin\" is unknown here", START_PS },
		{ "Knoten 2\n", ".cm", ":1: \"Knoten\"; allowed: Nodes", START_PS },
		{ "Nodes 2\nConnections 0\nFailures 1\n", ".cm",
		  "failures are written in the scenario", START_PS },
		{ "2\n0 1 3 100 5 2\n", ".txt", ":3: a source is \"\"", START_NONE },
		{ "1\n0 1 3 100 0 2\n", ".txt", ":2: a flow of 0 bytes", START_NONE },
		{ "1\n0 1 3 100 5 x\n", ".txt", ":2: start is \"x\"", START_NONE },
		{ "1\n0 1 3 100 5 2\n", ".txt", "\"start_unit\" is for connection matrices",
		  START_US },
	};
	struct flow_trace trace;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		char *error = load(&trace, wrong[i].text, wrong[i].ending, wrong[i].unit, NULL);

		cr_expect(error && strstr(error, wrong[i].words), "\"%s\" is not in \"%s\"",
			  wrong[i].words, error);
		free(error);
	}
}
