/* Flows that start when others have ended (triggers of htsim): at which instant, and which. */
#include "model_run.h"

#include "base/mem.h"

#include <stdlib.h>
#include <unistd.h>

/* Runs a connection matrix of so many connections and triggers to its end; returns when that is. */
static sim_time end_of(unsigned connections, unsigned triggers, const char *lines,
		       uint64_t *finished)
{
	char *path = xasprintf("%s/after-%ld.cm", INASIM_WORK_DIR, (long)getpid());
	FILE *to = fopen(path, "w");
	struct run run;
	sim_time end;

	cr_assert_not_null(to);
	fprintf(to, "Nodes 8\nConnections %u\nTriggers %u\n%s", connections, triggers, lines);
	fclose(to);
	run_build(
		&run,
		"{ 'name': 't', 'topology': { 'kind': 'star', 'hosts': 8, 'host': { 'nic_jitter': "
		"'0s' } }, 'flows': [ { 'arrival': { 'trace': '%s', 'start_unit': 'ns' } } ] }",
		path);
	run_to(&run, END_ALL_DONE);
	end = run.s->sim.now;
	*finished = flows_finished(run.s->flows);
	run_free(&run);
	unlink(path);
	free(path);
	return end;
}

/* A chain takes the sum to the picosecond, whatever the hosts; one that waits for the sender's last
 * acknowledgement takes longer; one that begins later, later. */
Test(flow_after, chain)
{
	uint64_t finished;
	sim_time alone = end_of(1, 0, "0->1 start 0 size 300000\n", &finished);
	sim_time received = end_of(2, 1,
				   "0->1 id 1 start 0 size 300000 recv_done_trigger 7\n"
				   "2->3 id 2 trigger 7 size 300000\ntrigger id 7 oneshot\n",
				   &finished);
	sim_time sent = end_of(2, 1,
			       "2->3 id 2 trigger 7 size 300000\n"
			       "0->1 id 1 start 9 size 300000 send_done_trigger 7\n"
			       "trigger id 7 multishot\n",
			       &finished);

	cr_expect_eq(finished, 2);
	cr_expect_eq(received, 2 * alone);
	cr_expect_gt(sent, 2 * alone + 9 * PS_PER_NS);
	cr_expect_lt(sent, 2 * alone + 9 * PS_PER_NS + 10 * PS_PER_US);
}

/* A barrier waits for the last, here the second; then all start that wait for it. */
Test(flow_after, barrier)
{
	uint64_t finished;
	sim_time alone = end_of(1, 0, "0->1 start 0 size 300000\n", &finished);
	sim_time end = end_of(4, 1,
			      "0->1 start 0 size 300000 recv_done_trigger 3\n"
			      "2->3 start 50000 size 300000 recv_done_trigger 3\n"
			      "4->5 trigger 3 size 300000\n6->7 trigger 3 size 300000\n"
			      "trigger id 3 barrier count 2\n",
			      &finished);

	cr_expect_eq(finished, 4);
	cr_expect_eq(end, 50 * PS_PER_US + 2 * alone);
}
