/* NetReduce without loss: what is on which link, closed forms of the time, windows, rings, jobs,
 * memory, headers, marks, and that the checks fire. */
#include "test_netreduce.h"

#include "transport/roce_conn.h"

#include <math.h>

#define WIRE 1106.0 /* bytes of a packet of 1 KB on the wire, 1086 without preamble and gap */

/* --- volumes --- */

static void carried(const struct network *net, uint32_t port, uint64_t packets)
{
	uint64_t count, size;

	port_carried(&net->ports[port], &count, &size);
	cr_expect_eq(count, packets, "port %u: %" PRIu64, port, count);
}

/* A worker sends its packets and an ACK a message (the last ones are under way at the end), and
 * receives as many, whatever their number; packets have 62 bytes besides their payload, the first
 * of a message 32 more. */
Test(netreduce, volume_of_a_worker)
{
	for (unsigned workers = 2; workers <= 16; workers *= 2) {
		struct bench bench;
		uint64_t count, size;

		bench_job_of(&bench, STAR(16), 1, 0, workers, 170, 170 * 4, "");
		bench_finish(&bench, 170 * 4 * workers);
		for (uint32_t w = 0; w < workers; w++) {
			carried(bench.net, w, 170 * 4 + 3);
			carried(bench.net, bench.net->cold[w].reverse, 170 * 4 + 3);
			port_carried(&bench.net->ports[w], &count, &size);
			cr_expect_eq(size, 4 * (170 * 1086 + 32) + 3 * 64);
		}
		cr_expect_eq(worker_stats(&bench).retransmissions, 0);
		bench_close(&bench);
	}
}

/* Every connection delivers what was posted to it, in order: RoCE's numbers at both ends. */
Test(netreduce, connections_keep_their_volume)
{
	struct bench bench;
	struct netreduce *job;

	bench_job_of(&bench, SPINE, 1, 0, 4, 10, 10 * 6, "");
	while (!(job = bench_job(&bench, 0)) || job->rings[0].ends[3].results < 4)
		cr_assert(sim_run(&bench.run.s->sim, 1));
	for (uint32_t w = 0; w < 4; w++) {
		const struct end *end = &job->rings[0].ends[w],
				 *next = &job->rings[0].ends[(w + 1) % 4];
		uint64_t received =
			bench.scheme->roce->conns[end->connection]->rx.next - job->rings[0].first;

		cr_expect_eq(received / 10, next->results);
		cr_expect_leq(received, end->posted * 10);
	}
	bench_finish(&bench, 10 * 6 * 4);
	bench_close(&bench);
}

/* A tensor of one element costs a message, and one of an element more than a message two. */
Test(netreduce, tensors_are_padded)
{
	struct bench bench;

	bench_open(&bench, "{'name': 't', 'topology': {" STAR(
				   3) "}, 'schemes': {'netreduce': {'message': 9}},"
				      " 'jobs': [{'workers': 3, 'overlap': 'layers', 'all_reduce': "
				      "'netreduce', "
				      "'model': {'layers': "
				      "[{'gradient': '4B'}, {'gradient': '9220B'}, {'gradient': "
				      "'9216B'}]}}]}");
	bench_finish(&bench, 3 * 9 * 4);
	cr_expect_eq(bench.up, 3 * 9 * 4);
	bench_close(&bench);
}

/* A rack with one worker has sums of one. (A job of one exchanges nothing: jobs.c.) */
Test(netreduce, one_worker_in_a_rack)
{
	struct bench bench;

	bench_open(&bench,
		   "{'name': 't', 'topology': {'kind': 'leaf-spine', 'leaves': 3, 'spines': 1, "
		   "'hosts_per_leaf': 1}, 'schemes': {'netreduce': {'message': 5}}, 'jobs': "
		   "[{'workers': 3, 'all_reduce': 'netreduce', 'model': {'layers': [{'gradient': "
		   "'40kB'}]}}]}");
	bench_finish(&bench, 3 * 40);
	bench_close(&bench);
}

/* --- two levels: table 3 --- */

/* Figure 5: W1 and W2 below L1, W3 and W4 below L2. L1 sends one sum up for {W1->W2, W2->W3}, the
 * spine sends the sum of {L1->S, L2->S} to both, and L1 makes {W1->W2, W4->W1} of it. */
Test(netreduce, connection_translation)
{
	struct bench bench;
	struct netreduce *job;
	const struct ring_node *nodes;
	const uint64_t packets = 170 * 3;

	bench_job_of(&bench, SPINE, 1, 0, 4, 170, (unsigned)packets, "");
	while (!(job = bench_job(&bench, 0)))
		cr_assert(sim_run(&bench.run.s->sim, 1));
	nodes = job->rings[0].nodes;
	cr_assert_eq(job->base.tree.tree->node_count, 3);
	cr_expect_eq(nodes[0].outlet_count, 0);
	cr_expect_eq(nodes[0].place->children, 2);
	for (uint32_t n = 1; n < 3; n++) {
		const struct end *ends = job->rings[0].ends;
		bool second = ends[2].node == n;

		cr_expect_eq(nodes[n].outlet_count, 2);
		cr_expect_eq(nodes[n].outlets[0].connection, ends[second ? 1 : 0].connection);
		cr_expect_eq(nodes[n].outlets[1].connection, ends[second ? 2 : 3].connection);
	}
	for (uint32_t n = 1; n < 3; n++) {
		uint32_t up = nodes[n].place->up_port;

		nodes = job->rings[0].nodes;
		cr_expect_eq(bench.net->ports[up].to, bench.net->hosts + nodes[0].place->sw);
	}
	bench_finish(&bench, packets * 4);
	cr_expect_eq(bench.up, packets * 4);
	cr_expect_eq(bench.inner_up, packets * 2, "a sum of each leaf");
	cr_expect_eq(bench.inner_down, packets * 2, "and one to each");
	cr_expect_eq(bench.results, packets * 4);
	bench_close(&bench);
}

/* A fat tree has a level more: one sum on each link of the tree, up and down. */
Test(netreduce, three_levels)
{
	struct bench bench;
	struct netreduce *job;
	uint64_t edges;

	bench_job_of(&bench, FAT, 1, 0, 16, 10, 100, "");
	while (!(job = bench_job(&bench, 0)))
		cr_assert(sim_run(&bench.run.s->sim, 1));
	edges = job->base.tree.tree->node_count - 1;
	cr_expect_eq(edges, 12, "4 pods: an aggregation switch and two edge switches each");
	bench_finish(&bench, 100 * 16);
	cr_expect_eq(bench.inner_up, 100 * edges);
	cr_expect_eq(bench.inner_down, 100 * edges);
	bench_close(&bench);
}

/* --- time --- */

static double duration(const struct bench *bench)
{
	cr_assert_eq(jobs_report(bench->run.s->jobs)->duration_count, 1);
	return jobs_report(bench->run.s->jobs)->durations[0];
}

/* A packet there and back: host, switch (500 ns), accelerator, switch, host; link delays of 500 ns.
 */
#define TRIP (2 * (WIRE * 8 / 100e9 + 500e-9) + 500e-9 + 1e-6)

/* Packets at the rate of the link, and the last one's way; the first of each message has 32 bytes
 * more. An ACK a message is on the same link, and delays its last packets by its 84 bytes. */
Test(netreduce, saturates_the_link)
{
	for (unsigned workers = 2; workers <= 32; workers *= 4) {
		struct bench bench;
		double messages = 100, packets = 170 * messages;
		double wire = packets * WIRE + messages * (32 + 84);
		double expected = wire * 8 / 100e9 + TRIP;

		bench_job_of(&bench, STAR(32), 1, 0, workers, 170, 17000, "");
		bench_finish(&bench, 17000 * workers);
		cr_expect_float_eq(duration(&bench), expected, 0.001 * expected, "%u: %.9g, %.9g",
				   workers, duration(&bench), expected);
		/* table 6: goodput over frame bytes 0.938, which is 0.943 by the sizes of the
		 * headers */
		cr_expect_float_eq(1024 * 170 / (1086.0 * 170 + 32), 0.9427, 1e-4);
		cr_expect_geq(packets * 1024 * 8 / duration(&bench), 0.92 * 100e9);
		bench_close(&bench);
	}
}

/* Message m + N may go when all of m is back. With one message in the window, each takes its own
 * time and a round trip; with two, the second has to cover the round trip, not both (section 3.2
 * says 2 x message >= rate x RTT). */
Test(netreduce, window)
{
	for (unsigned window = 1; window <= 3; window++) {
		struct bench bench;
		char rows[80];
		double length = 10, messages = 60, packet = WIRE * 8 / 100e9;
		double message = length * packet + 32 * 8 / 100e9;
		double round = message + TRIP - packet; /* until all of a message is back */
		double gap = fmax(message, round / window), expected;

		/* 10 us more, so that windows do not cover it */
		snprintf(rows, sizeof(rows), ", 'latency': '11us', 'window': %u", window);
		round += 10e-6;
		gap = fmax(message, round / window);
		bench_job_of(&bench, STAR(4), 1, 0, 4, 10, 600, rows);
		bench_finish(&bench, 600 * 4);
		expected = (messages - window) * gap + round;
		cr_expect_float_eq(duration(&bench), expected, 0.02 * expected, "%u: %.9g, %.9g",
				   window, duration(&bench), expected);
		bench_close(&bench);
	}
}

/* Each switch on the way has an accelerator, up and down, the root one. What "repeats" takes for a
 * round trip is this time, but for the headers of the first packet. */
Test(netreduce, latency_of_accelerators)
{
	static const struct {
		const char *topology;
		unsigned workers, times;
	} cases[] = { { STAR(4), 4, 1 }, { SPINE, 4, 3 }, { FAT, 16, 5 } };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		double with, without;
		struct bench bench;

		bench_job_of(&bench, cases[i].topology, 1, 0, cases[i].workers, 1, 1, "");
		bench_finish(&bench, cases[i].workers);
		with = duration(&bench);
		cr_expect_float_eq(seconds_of(bench.scheme->round_trip), with, 30e-9);
		bench_close(&bench);
		bench_job_of(&bench, cases[i].topology, 1, 0, cases[i].workers, 1, 1,
			     ", 'latency': '0s'");
		bench_finish(&bench, cases[i].workers);
		without = duration(&bench);
		bench_close(&bench);
		cr_expect_float_eq(with - without, cases[i].times * 1e-6, 1e-12);
	}
}

/* --- workers --- */

/* A worker that is late stops the others after N messages. */
Test(netreduce, waits_for_the_slowest)
{
	struct bench bench;
	const struct netreduce *job;

	bench_open(
		&bench,
		"{'name': 't', 'topology': {" STAR(
			3) "}, 'schemes': {'netreduce': {'message': 10}}, 'jobs': [{'workers': 3, "
			   "'all_reduce': 'netreduce', 'stragglers': {'workers': 1, 'slowdown': "
			   "10},"
			   " 'model': {'layers': [{'backward': '100us', 'gradient': '1MB'}]}}]}");
	run_until(&bench.run, 500 * PS_PER_US);
	cr_assert_not_null(job = bench_job(&bench, 0));
	for (uint32_t w = 0, late = 0; w < 3; w++) {
		const struct end *end = &job->rings[0].ends[w];

		late += end->posted == 0;
		cr_expect(end->posted == 0 || end->posted == 2);
		cr_expect_eq(end->results, 0);
		cr_expect_leq(late, 1);
	}
	bench_finish(&bench, 3 * 980);
	bench_close(&bench);
}

/* --- rings and jobs --- */

/* n rings share the NICs: the same bytes in the same time. Each has its memory. */
Test(netreduce, rings)
{
	double alone = 0;

	for (unsigned rings = 1; rings <= 4; rings *= 2) {
		struct bench bench;
		char rows[40];

		snprintf(rows, sizeof(rows), ", 'rings': %u", rings);
		bench_job_of(&bench, STAR(4), 1, 0, 4, 100, 100 * 64, rows);
		bench_finish(&bench, 100 * 64 * 4);
		cr_expect_eq(bench.scheme->base.memory[0].used_max_bytes,
			     (uint64_t)4 * 4 * 100 * 1024 * rings);
		if (rings == 1)
			alone = duration(&bench);
		else
			cr_expect_float_eq(duration(&bench), alone, 0.01 * alone);
		bench_close(&bench);
	}
}

#define TWO_JOBS                                                                                   \
	"'jobs': [{'workers': [0, 1, 2], 'all_reduce': 'netreduce', 'model': {'layers': "          \
	"[{'gradient': '1MB'}]}}, {'workers': [3, 4, 5], 'all_reduce': 'netreduce', 'model': "     \
	"{'layers': [{'gradient': '1MB'}]}}]"

/* Memory of their own: three workers need 3 x 4 x 170 KB = 2.09 MB. Two jobs fit beside each other,
 * or one after the other, or not at all. */
Test(netreduce, memory_of_jobs)
{
	struct bench bench;
	const char *group;

	bench_open(&bench,
		   "{'name': 't', 'topology': {" STAR(6) "}, 'schemes': {'netreduce': {'memory': "
							 "'4177920B'}}, " TWO_JOBS "}");
	bench_finish(&bench, 2 * 3 * 1020);
	cr_expect_eq(bench.scheme->base.memory[0].used_max_bytes, 4177920);
	bench_close(&bench);
	bench_open(&bench,
		   "{'name': 't', 'topology': {" STAR(6) "}, 'schemes': {'netreduce': {'memory': "
							 "'4177919B'}}, " TWO_JOBS "}");
	bench_finish(&bench, 2 * 3 * 1020);
	cr_expect_eq(bench.scheme->base.memory[0].used_max_bytes, 2088960);
	cr_expect_eq(jobs_report(bench.run.s->jobs)->duration_count, 2);
	cr_expect_null(jobs_reason(bench.run.s->jobs, JOB_REFUSED, &group));
	bench_close(&bench);
}

/* A job that does not fit where it is placed is refused: three workers below one leaf. */
Test(netreduce, memory_that_is_never_enough)
{
	struct bench bench;
	const char *group;

	bench_open(
		&bench,
		"{'name': 't', 'topology': {'kind': 'leaf-spine', 'leaves': 2, 'spines': 1, "
		"'hosts_per_leaf': 3}, 'schemes': {'netreduce': {'memory': '2088959B'}}, " TWO_JOBS
		"}");
	simulation_go(bench.run.s, &(struct simulation_options){ 0 });
	cr_expect_eq(jobs_report(bench.run.s->jobs)->refused, 2);
	cr_expect_not_null(strstr(jobs_reason(bench.run.s->jobs, JOB_REFUSED, &group),
				  "no room for two windows of each worker and switch"));
	cr_expect_eq(bench.run.s->checks.exact_checked, 0);
	cr_expect_eq(bench.scheme->base.memory[0].used_max_bytes, 0);
	bench_close(&bench);
}

/* --- marks --- */

static uint32_t marked_rank;
static struct protocol_ops marking;
static const struct protocol_ops *real;
static struct bench *marked_bench;

/* Marks all packets of one worker before its switch sees them. */
static void mark(void *self, uint32_t sw, uint32_t back, struct packet *packet,
		 struct switch_actions *actions)
{
	const struct end *end = netreduce_end(self, packet);

	if (end && !(packet->flags & PACKET_RESULT) &&
	    back == marked_bench->net->cold[marked_rank].reverse)
		packet->flags |= PACKET_CE;
	real->at_switch(self, sw, back, packet, actions);
}

static void open_marked(struct bench *bench, const char *topology)
{
	uint8_t number;

	bench_job_of(bench, topology, 1, 0, 4, 170, 170 * 20, "");
	number = bench_protocol(bench);
	real = bench->net->protocols[number].ops;
	marking = *real;
	marking.at_switch = mark;
	bench->net->protocols[number].ops = &marking;
	marked_bench = bench;
	marked_rank = 2;
}

/* CNPs that each connection has had, at the end of message 15. */
static void cnps(struct bench *bench, uint64_t counts[4])
{
	const struct netreduce *job;

	while (!(job = bench_job(bench, 0)) || job->rings[0].ends[3].results < 15)
		cr_assert(sim_run(&bench->run.s->sim, 1));
	for (uint32_t w = 0; w < 4; w++)
		counts[w] =
			roce_stats(bench->scheme->roce, job->rings[0].ends[w].connection)->marks;
}

/* On one switch each packet keeps its own mark: only the worker whose packets are marked is told.
 * Over switches a sum has the marks of all, and so has each connection. */
Test(netreduce, marks)
{
	struct bench bench;
	uint64_t counts[4];

	open_marked(&bench, STAR(4));
	cnps(&bench, counts);
	for (uint32_t w = 0; w < 4; w++)
		cr_expect_eq(counts[w] > 0, w == 2, "rank %u: %" PRIu64, w, counts[w]);
	bench_close(&bench);
	open_marked(&bench, SPINE);
	cnps(&bench, counts);
	for (uint32_t w = 0; w < 4; w++)
		cr_expect_gt(counts[w], 0);
	bench_close(&bench);
}

/* --- lossless networks --- */

/* With PAUSE nothing is dropped, whatever else goes to the hosts. */
Test(netreduce, pause)
{
	struct run run;

	run_build(
		&run,
		"{'name': 't', 'topology': {'kind': 'leaf-spine', 'leaves': 2, 'spines': 1, "
		"'hosts_per_leaf': 4, 'link': {'rate': '10Gbps'}, 'switch': {'pause': true, 'ecn': "
		"{'threshold': '30KB'}, 'buffer': '200KB'}}, 'schemes': {'netreduce': {'message': "
		"20}}, 'jobs': [{'workers': [0, 1, 4, 5], 'all_reduce': 'netreduce', 'model': "
		"{'layers': [{'gradient': '2MB'}]}}], 'flows': [{'size': '2MB', 'pairs': 'incast', "
		"'fan_in': 6}]}");
	run_to(&run, END_ALL_DONE);
	cr_expect_eq(run.s->topo.net.dropped, 0);
	run_free(&run);
}

/* --- checks --- */

static bool change(struct tap *tap, uint32_t host, struct packet *packet)
{
	(void)tap, (void)host;
	packet->value++;
	return true;
}

Test(netreduce, wrong_sums_are_seen)
{
	struct run run;
	struct tap tap;

	run_build(&run, "{'name': 't', 'topology': {" STAR(
				3) "}, 'jobs': [{'workers': 3, 'all_reduce': 'netreduce', 'model': "
				   "{'layers': [{'gradient': '1MB'}]}}]}");
	tap_in(&tap, &run, "netreduce", change, NULL);
	run_to(&run, END_VIOLATION);
	run_free(&run);
}

#define GPUS STAR(3) ", 'host': {'gpus': {'count': 8}}"
#define ON(topology, rows)                                                                         \
	"{'name': 't', 'topology': {" topology "}, 'schemes': {'netreduce': {" rows "}}, "         \
	"'jobs': [{'workers': 3, 'all_reduce': 'netreduce', "                                      \
	"'model': {'layers': [{'gradient': '1MB'}]}}]}"
#define WITH(rows) ON(STAR(3), rows)

Test(netreduce, mistakes)
{
	cr_expect_eq(run_mistakes("more than 24-bit sequence numbers tell apart",
				  WITH("'window': 512, 'message': 8193, 'memory': '1TB'")),
		     1);
	cr_expect_eq(run_mistakes("", WITH("'window': 512, 'message': 8192, 'memory': '1TB'")), 0);
	cr_expect_eq(run_mistakes("whole elements", WITH("'roce': {'mtu': 1022}")), 1);
	cr_expect_eq(run_mistakes("allowed: at least \"696320B\"", WITH("'memory': '696319B'")), 1);
	cr_expect_eq(run_mistakes("no room for two windows", WITH("'memory': '696320B'")), 1);
	cr_expect_eq(run_mistakes("no room for two windows", WITH("'memory': '2088959B'")), 1);
	cr_expect_eq(run_mistakes("", WITH("'memory': '2088960B'")), 0);
	/* a worker is a machine, however many GPUs share its NIC */
	cr_expect_eq(run_mistakes("no room for two windows", ON(GPUS, "'memory': '2088959B'")), 1);
	cr_expect_eq(run_mistakes("", ON(GPUS, "'memory': '2088960B'")), 0);
}
