/* Plans of all schemes: fluid = closed form on idle networks, and packets agree with both.
 *
 * Scenarios of one job of 8 workers, one tensor (or a train of them) in an iteration, on a star, a
 * leaf-spine and a fat tree. */
#include "model_run.h"

#include "base/mem.h"
#include "workload/jobs/jobs_parts.h"

#include <math.h>

#define STAR "'kind': 'star', 'hosts': 16, 'link': { 'rate': '25Gbps', 'delay': '1us' }"
#define SPINE                                                                                      \
	"'kind': 'leaf-spine', 'leaves': 4, 'spines': 4, 'hosts_per_leaf': 8,"                     \
	" 'link': { 'rate': '25Gbps', 'delay': '1us' }"
#define FAT "'kind': 'fat-tree', 'k': 4, 'link': { 'rate': '100Gbps', 'delay': '1us' }"

#define DEEP ", 'switch': { 'ecn': false, 'buffer': '16MB' }"

/* Behind the topology: at most 4 segments in flight, less than a round trip holds. */
#define WINDOW "}, 'tcp': { 'max_window': '5840B'"
#define NARROW "}, 'tcp': { 'max_window': '2920B'" /* 2 segments */

#define TENSOR "{ 'gradient': '10MB' }"
#define SMALL  "{ 'gradient': '2500kB' }" /* where packets are many and alike */
#define TRAIN                                                                                      \
	"{ 'gradient': '10MB' }, { 'gradient': '3MB', 'forward': '1ms' }, { 'gradient': '1kB' }"

/* No sub-minimal jobs; a window that fits into queues. */
static const char schemes[] = "'panama': { 'aggregate_above': '0B' },"
			      "'switchml_star': { 'aggregate_above': '0B', 'window': 16 }";

/* No two chunks in flight that have the same aggregator (racks_that_come_apart_collide); and no
 * window that is larger than the path. */
/* The same for ATP. */
#define APART "'atp': { 'index': 'position' }"
#define ROOMY "'esa': { 'elements_per_packet': 256, 'memory': '16MB', 'max_window': '64kB' }"

struct row {
	const char *scheme, *topology, *more; /* more: keys of the topology */
	double packets;                       /* may be so much slower or faster than fluid */
	const char *keys;                     /* of a scheme; NULL: none */
	const char *tensor;                   /* NULL: TENSOR */
};

/* Why 2 % is not always met: 64 DCTCP connections of 8 parameter servers get shares that differ,
 * and a sum waits for the slowest; what is left without marks: ACKs of pulls, which start slowly,
 * queue behind pushes. A window of four segments with an ACK for every second goes in pairs, of
 * which fluid knows the delay on average. A double tree with a window of two segments is 18 %
 * slower in packets; the cause is not known. Chunks of an ATP job that meet in an aggregator queue
 * at the server, and marks halve the window; where each position of the window has an aggregator of
 * its own, only the marks are left. */
static const struct row rows[] = {
	{ "ring", STAR, "", 0.02 },
	{ "ring", SPINE, "", 0.02 },
	{ "ring", FAT, "", 0.02 },
	{ "ring", STAR, WINDOW, 0.03 },
	{ "halving_doubling", STAR, "", 0.02 },
	{ "halving_doubling", STAR, WINDOW, 0.04 },
	{ "double_tree", STAR, "", 0.03 },
	{ "double_tree", STAR, NARROW, 0.2 },
	{ "ps", STAR, "", 0.02 },
	{ "ps", STAR, WINDOW, 0.02 },
	{ "ps", SPINE, DEEP, 0.02 },
	{ "ps", SPINE, "", 0.06 },
	{ "ps", FAT, DEEP, 0.05 },
	{ "ps", FAT, "", 0.12 },
	{ "ps_stream", STAR, "", 0.02, NULL, SMALL },
	{ "ps_stream", SPINE, "", 0.02, NULL, SMALL },
	{ "ps_stream", FAT, "", 0.02, NULL, SMALL },
	{ "switchml", STAR, "", 0.02 },
	{ "switchml", SPINE, "", 0.02 },
	{ "switchml", FAT, "", 0.02 },
	{ "atp", STAR, "", 0.2 },
	{ "atp", SPINE, "", 0.2 },
	{ "atp", FAT, "", 0.1 },
	{ "atp", STAR, "", 0.005, APART },
	{ "atp", SPINE, "", 0.005, APART },
	{ "atp", FAT, ", 'switch': { 'ecn': false }", 0.005, APART },
	{ "esa", STAR, "", 0.02 },
	{ "esa", SPINE, "", 0.02 },
	{ "esa", FAT, DEEP, 0.005, ROOMY },
	{ "esa", FAT, "", 0.005, ROOMY },
	{ "panama", STAR, "", 0.02 },
	{ "panama", SPINE, "", 0.02 },
	{ "panama", FAT, "", 0.02 },
	{ "switchml_star", STAR, "", 0.02 },
	{ "switchml_star", SPINE, "", 0.02 },
	{ "switchml_star", FAT, "", 0.02 },
	{ "netreduce", STAR, "", 0.02 },
	{ "netreduce", SPINE, "", 0.02 },
	{ "netreduce", FAT, "", 0.02 },
	{ "netreduce", FAT, "", 0.02, "'netreduce': { 'message': 20, 'rings': 2 }" },
	{ "netreduce", FAT, "", 0.02, "'netreduce': { 'message': 20, 'window': 1 }" },
	/* an ACK for each packet, where the window decides */
	{ "netreduce", FAT, "", 0.02, "'netreduce': { 'message': 1, 'window': 1 }" },
	{ "sharp", STAR, "", 0.02 },
	{ "sharp", SPINE, "", 0.02 },
	{ "sharp", FAT, "", 0.02 },
	/* where its window decides, credits come back after two round trips over a hop, over any
	 * number of tiers */
	{ "sharp", STAR, "", 0.06, "'sharp': { 'window': '8KB' }" },
	{ "sharp", SPINE, "", 0.06, "'sharp': { 'window': '8KB' }" },
	{ "sharp", FAT, "", 0.06, "'sharp': { 'window': '8KB' }" },
};

/* Communication of the only job, seconds; optionally, what it counted. */
static double job_counted(const char *fidelity, const struct row *row, const char *layers,
			  unsigned iterations, struct collective_stats *stats)
{
	struct run run;
	double time;

	run_build(&run,
		  "{ 'name': 't', 'fidelity': '%s', 'topology': { %s %s }, 'schemes': { %s%s%s },"
		  " 'jobs': [ { 'workers': 8, 'all_reduce': '%s', 'iterations': %u,"
		  "   'model': { 'layers': [ %s ] } } ] }",
		  fidelity, row->topology, row->more, schemes, row->keys ? ", " : "",
		  row->keys ? row->keys : "", row->scheme, iterations, layers);
	run_to(&run, END_ALL_DONE);
	time = jobs_report(run.s->jobs)->records[0].communication;
	if (stats)
		jobs_stats(run.s->jobs, stats);
	run_free(&run);
	return time;
}

static double job_time(const char *fidelity, const struct row *row, const char *layers,
		       unsigned iterations)
{
	return job_counted(fidelity, row, layers, iterations, NULL);
}

Test(fluid_plans, idle_network_is_the_closed_form)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		double fluid = job_time("fluid", &rows[i], TRAIN, 3);
		double closed = job_time("analytic", &rows[i], TRAIN, 3);

		cr_expect_float_eq(fluid / closed, 1, 1e-6, "%s: %.12f s, closed form %.12f s",
				   rows[i].scheme, fluid, closed);
	}
}

Test(fluid_plans, packets_agree)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const char *tensor = rows[i].tensor ? rows[i].tensor : TENSOR;
		double packets = job_time("packet", &rows[i], tensor, 1);
		double fluid = job_time("fluid", &rows[i], tensor, 1);

		cr_expect_float_eq(packets / fluid, 1, rows[i].packets,
				   "%s, %s: %.9f s, not %.9f s", rows[i].scheme, rows[i].topology,
				   packets, fluid);
	}
}

/* Where chunks of a tree are few, edges within racks and full links between them count. */
Test(fluid_plans, small_tensors_of_trees)
{
	static const struct row rows_of_trees[] = { { "double_tree", SPINE, "", 0.06 },
						    { "double_tree", FAT, "", 0.09 } };

	for (size_t i = 0; i < 2; i++) {
		double packets = job_time("packet", &rows_of_trees[i], "{ 'gradient': '10kB' }", 1);
		double fluid = job_time("fluid", &rows_of_trees[i], "{ 'gradient': '10kB' }", 1);

		cr_expect_float_eq(packets / fluid, 1, rows_of_trees[i].packets,
				   "%s: %.9f s, not %.9f s", rows_of_trees[i].topology, packets,
				   fluid);
	}
}

/* Seconds that 10 MB by SwitchML with so many slots take over an uplink that it shares with long
 * DCTCP flows. `queues`: keys of the switches. */
static double beside_flows(const char *fidelity, const char *queues, unsigned slots,
			   const char *flows)
{
	struct run run;
	double time;

	run_build(
		&run,
		"{ 'name': 't', 'fidelity': '%s', 'topology': { 'kind': 'leaf-spine',"
		"   'leaves': 2, 'spines': 1, 'hosts_per_leaf': 8, 'oversubscription': 8,"
		"   'link': { 'rate': '10Gbps', 'delay': '1us' },"
		"   'switch': { %s } },"
		" 'schemes': { 'switchml': { 'slots': %u, 'memory': '4MB',"
		"   'retransmission_timeout': '100ms' } },"
		" 'jobs': [ { 'workers': [ 0, 1, 8, 9 ], 'all_reduce': 'switchml',"
		"   'arrival': { 'at': '20ms' }, 'model': { 'layers': [ { 'gradient': '10MB' } ] }"
		" } ], 'flows': [ { 'pairs': [ %s ], 'size': '1GB', 'transport': 'dctcp',"
		"   'stop': 'jobs_done' } ], 'stop': { 'when': 'jobs_done', 'after': '10s' } }",
		fidelity, queues, slots, flows);
	run_to(&run, END_JOBS_DONE);
	time = jobs_report(run.s->jobs)->records[0].communication;
	run_free(&run);
	return time;
}

/* A window that heeds no marks is a part of what is in flight on a link, whoever has the rest: it
 * takes that from one connection as from four. */
Test(fluid_plans, fixed_windows_beside_flows)
{
	static const char *const flows[] = { "[2, 10]", "[2, 10], [3, 11], [4, 12], [5, 13]" };
	static const char marks[] = "'buffer': '4MB', 'ecn': { 'threshold': '129kB' }";
	static const unsigned slots[] = { 64, 128, 512 };

	for (unsigned s = 0; s < 3; s++)
		for (int i = 0; i < 2; i++) {
			double packets = beside_flows("packet", marks, slots[s], flows[i]);
			double fluid = beside_flows("fluid", marks, slots[s], flows[i]);

			cr_expect_float_eq(packets / fluid, 1, 0.05,
					   "%u slots, %s: %.6f s, not %.6f s", slots[s], flows[i],
					   packets, fluid);
		}
}

/* A threshold of 85 packets marks nothing in a queue of 100 kB, which holds 65. */
Test(fluid_plans, threshold_above_the_buffer)
{
	double marked = beside_flows("fluid", "'buffer': '100kB', 'ecn': { 'threshold': '85pkt' }",
				     64, "[2, 10]");
	double never = beside_flows("fluid", "'buffer': '100kB', 'ecn': false", 64, "[2, 10]");

	cr_expect_eq(marked, never, "%.9f s, not %.9f s", marked, never);
}

/* What fluid leaves out of ESA with `index: hash`: of four racks three share a link (ECMP), and the
 * packet of the fourth holds its aggregator until they are through. Chunks that meet there go to
 * the server, and windows wait for them: without marks, as many of them cost as much as the packets
 * are behind fluid, and none are left with more memory and windows that are no larger than the
 * path. A window that halves for each chunk overtaken by others costs far more, one that is cut by
 * their share (the default) something between. With indices that are distinct (the default) nothing
 * meets. */
Test(fluid_plans, racks_that_come_apart_collide)
{
	static const struct row rows_of_esa[] = {
		{ "esa", FAT, DEEP, 0, "'esa': { 'index': 'hash', 'halve_on': 'timeout' }" },
		{ "esa", FAT, DEEP, 0,
		  "'esa': { 'index': 'hash', 'memory': '16MB', 'halve_on': 'timeout' }" },
		{ "esa", FAT, DEEP, 0,
		  "'esa': { 'index': 'hash', 'memory': '16MB', 'max_window': '60kB' }" },
		{ "esa", FAT, DEEP, 0, "'esa': { 'index': 'hash', 'halve_on': 'loss' }" },
		{ "esa", FAT, DEEP, 0, "'esa': { 'index': 'hash' }" },
		{ "esa", FAT, DEEP, 0, NULL },
	};
	struct collective_stats stats[6] = { 0 };
	double behind[6];

	for (int i = 0; i < 6; i++)
		behind[i] = job_counted("packet", &rows_of_esa[i], TENSOR, 1, &stats[i]) /
				    job_time("fluid", &rows_of_esa[i], TENSOR, 1) -
			    1;
	cr_expect(behind[0] > 2 * behind[1] && behind[0] < 0.12, "%g %g", behind[0], behind[1]);
	cr_expect(behind[1] > 0.02 && behind[1] < 0.05, "%g", behind[1]);
	cr_expect_float_eq(behind[2], 0, 0.002, "%g", behind[2]);
	cr_expect_gt(stats[0].server_packets, 2 * stats[1].server_packets);
	cr_expect_gt(stats[1].server_packets, 0);
	cr_expect_eq(stats[2].server_packets, 0);
	cr_expect(behind[3] > 4 * behind[0], "%g %g", behind[3], behind[0]);
	cr_expect(behind[4] > behind[0] && behind[4] < behind[3] / 2, "%g", behind[4]);
	cr_expect_float_eq(behind[5], 0, 0.002, "%g", behind[5]);
}

/* Small tensors on long paths, where windows that grow need hundreds of round trips until the path
 * is full: a tensor waits for those that its own packets need, not for all of them. The ring and
 * the parameter server send less than their first window (10 segments) in each message. */
Test(fluid_plans, small_tensors_wait_for_their_own_windows)
{
	static const char far[] = "'kind': 'star', 'hosts': 16,"
				  " 'link': { 'rate': '100Gbps', 'delay': '50us' }";
	static const struct {
		struct row row;
		const char *layers;
	} cases[] = {
		{ { "ring", far, "", 0.01 }, "{ 'gradient': '1kB' }" },
		{ { "ps", far, "", 0.01 }, "{ 'gradient': '1kB' }" },
		{ { "esa", far, "", 0.01 }, "{ 'gradient': '1kB' }" },
		{ { "esa", far, "", 0.01 }, "{ 'gradient': '1kB' }, { 'gradient': '3MB' }" },
		{ { "panama", far, "", 0.01 }, "{ 'gradient': '1kB' }" },
		{ { "panama", far, "", 0.01 }, "{ 'gradient': '1kB' }, { 'gradient': '3MB' }" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct row *row = &cases[i].row;
		double packets = job_time("packet", row, cases[i].layers, 3);
		double fluid = job_time("fluid", row, cases[i].layers, 3);

		cr_expect_float_eq(packets / fluid, 1, row->packets, "%s, %s: %.9f s, not %.9f s",
				   row->scheme, cases[i].layers, packets, fluid);
	}
}

/* Windows that start at 60 kB grow over several servers as over one: on a star the links to all of
 * them share a worker's link, and nothing is lost; where racks share links, the slowest server
 * decides. 0.5 %, for each server's last chunk. */
Test(fluid_plans, servers_share_a_window)
{
	static const char star[] = "'kind': 'star', 'hosts': 16,"
				   " 'link': { 'rate': '100Gbps', 'delay': '1us' }";
	static const char spine[] = "'kind': 'leaf-spine', 'leaves': 4, 'spines': 4,"
				    " 'hosts_per_leaf': 4,"
				    " 'link': { 'rate': '100Gbps', 'delay': '1us' }";
	static const struct {
		const char *topology;
		unsigned servers;
	} cases[] = {
		{ star, 1 }, { star, 2 }, { star, 4 }, { star, 8 }, { spine, 2 }, { spine, 4 }
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		double time[2];

		for (int f = 0; f < 2; f++) {
			struct run run;

			run_build(&run,
				  "{ 'name': 't', 'fidelity': '%s', 'topology': { %s,"
				  " 'switch': { 'ecn': false, 'buffer': '16MB' } }, 'schemes': {"
				  " 'esa': { 'elements_per_packet': 256, 'memory': '16MB' } },"
				  " 'jobs': [ { 'workers': 8, 'all_reduce': 'esa', 'servers': %u,"
				  "   'model': { 'layers': [ " TENSOR " ] } } ] }",
				  f ? "fluid" : "packet", cases[i].topology, cases[i].servers);
			run_to(&run, END_ALL_DONE);
			time[f] = jobs_report(run.s->jobs)->records[0].communication;
			run_free(&run);
		}
		cr_expect_float_eq(time[0] / time[1], 1, 0.005, "case %zu: %.9f s, not %.9f s", i,
				   time[0], time[1]);
	}
}

/* Closed forms by hand, for 100 MB on a star at 10 Gbps, without latencies and leads (1e-3):
 * - SwitchML: 781250 packets of 180 + 20 bytes (analytic-models.md, section 2: 125.0 ms);
 * - ring of 8: 2 * 7/8 of the bytes, 1538 + 84/2 on the wire for 1460 (section 1);
 * - PANAMA: 1500 + 20 for 1448;
 * - window of 16 packets: 16 * 128 bytes a round trip of 4.32 us (2 * 1 us there and back, 160 ns
 * on each of 2 links). */
Test(fluid_plans, by_hand)
{
	static const struct {
		const char *scheme, *conf;
		double time;
	} cases[] = {
		{ "switchml", "'switchml': { 'slots': 128 }", 781250 * 200 * 8e-10 },
		{ "ring", "", 1.75 * 1e8 * (1538 + 42) / 1460 * 8e-10 },
		{ "panama", "'panama': { 'trees': 1 }", 1e8 / 1448 * 1520 * 8e-10 },
		{ "switchml", "'switchml': { 'slots': 16 }", 781250 / 16.0 * 2.82e-6 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct run run;
		double time;

		run_build(&run,
			  "{ 'name': 't', 'fidelity': 'fluid', 'topology': { 'kind': 'star',"
			  " 'hosts': 8, 'link': { 'rate': '10Gbps', 'delay': '1us' } },"
			  " 'schemes': { %s }, 'jobs': [ { 'workers': 8, 'all_reduce': '%s',"
			  "   'model': { 'layers': [ { 'gradient': '100MB' } ] } } ] }",
			  cases[i].conf, cases[i].scheme);
		run_to(&run, END_ALL_DONE);
		time = jobs_report(run.s->jobs)->records[0].communication;
		cr_expect_float_eq(time / cases[i].time, 1, 1e-3, "case %zu: %.9f s, not %.9f s", i,
				   time, cases[i].time);
		run_free(&run);
	}
}

/* Parameter servers, 8 workers, 10 MB at 10 Gbps without marks, blocks of 64 kB and of 8 kB. A host
 * link with a worker and a server carries 7 shards up and 7 down, and is never idle, whatever the
 * size of blocks; one that only pushes or pulls waits for the block (of 8 workers) that is on its
 * way through the other. Fluid by hand, without the latency of 12 us (2e-3); packets as fluid. */
Test(fluid_plans, a_link_waits_for_a_block_or_is_used_both_ways)
{
	static const struct {
		const char *servers, *block;
		double shards, blocks; /* of 1.25 MB; of 64000 or 8000 bytes */
	} cases[] = {
		{ "{ 'placement': 'workers' }", "64kB", 14, 0 },
		{ "{ 'placement': 'workers' }", "8kB", 14, 0 },
		{ "8", "64kB", 8, 64000 * 8 },
		{ "8", "8kB", 8, 8000 * 8 },
	};
	static const char *const fidelities[] = { "fluid", "packet" };

	for (size_t i = 0; i < 2 * sizeof(cases) / sizeof(*cases); i++) {
		double data = cases[i / 2].shards * 1.25e6 + cases[i / 2].blocks;
		double by_hand = data * (1538 + 42) / 1460 * 8e-10, time;
		struct run run;

		run_build(&run,
			  "{ 'name': 't', 'fidelity': '%s', 'topology': { 'kind': 'star',"
			  " 'hosts': 16, 'link': { 'rate': '10Gbps', 'delay': '1us' },"
			  " 'switch': { 'ecn': false } },"
			  " 'schemes': { 'ps': { 'ps_block': '%s', 'credit': 16 } },"
			  " 'jobs': [ { 'workers': 8, 'all_reduce': 'ps', 'servers': %s,"
			  "   'model': { 'layers': [ { 'gradient': '10MB' } ] } } ] }",
			  fidelities[i % 2], cases[i / 2].block, cases[i / 2].servers);
		run_to(&run, END_ALL_DONE);
		time = jobs_report(run.s->jobs)->records[0].communication;
		cr_expect_float_eq(time / by_hand, 1, i % 2 ? 0.01 : 2e-3,
				   "case %zu, %s: %.9f s, not %.9f s", i / 2, fidelities[i % 2],
				   time, by_hand);
		run_free(&run);
	}
}

/* A server that adds at R = 4 Gbps what 4 workers send takes n |U| / R, however many headers and
 * ACKs are on the wire. 1 %: a block of each worker comes before the first sum, and one after the
 * last. */
Test(fluid_plans, adding_takes_bytes_of_gradients)
{
	static const char *const fidelities[] = { "packet", "fluid", "analytic" };

	for (unsigned i = 0; i < 6; i++) {
		double want = 4 * 8e6 * 8 / 4e9, time;
		struct run run;

		run_build(
			&run,
			"{ 'name': 't', 'fidelity': '%s', 'topology': { 'kind': 'star', 'hosts': 5,"
			" 'host': { 'reduction_rate': '4Gbps' } },"
			" 'schemes': { 'ps': { 'ack_every': %u } },"
			" 'jobs': [ { 'workers': 4, 'all_reduce': 'ps', 'servers': 1,"
			"   'model': { 'layers': [ { 'gradient': '8MB' } ] } } ] }",
			fidelities[i / 2], i % 2 + 1);
		run_to(&run, END_ALL_DONE);
		time = jobs_report(run.s->jobs)->records[0].communication;
		cr_expect_float_eq(time / want, 1.005, 0.01, "%s, %u: %.9f s, not %.9f s",
				   fidelities[i / 2], i % 2 + 1, time, want);
		run_free(&run);
	}
}

/* Communication of all jobs, in the order of the scenario. */
static __attribute__((format(printf, 2, 3))) void job_times(double *time, const char *scenario, ...)
{
	struct run run;
	va_list args;

	va_start(args, scenario);
	run_vbuild(&run, NULL, scenario, args);
	va_end(args);
	run_to(&run, END_ALL_DONE);
	for (uint64_t i = 0; i < jobs_report(run.s->jobs)->finished; i++) { /* as they finish */
		const struct job_record *job = &jobs_report(run.s->jobs)->records[i];

		time[job->group - scenario_jobs(run.s->scenario)] = job->communication;
	}
	run_free(&run);
}

/* Two PANAMA jobs share two hosts, whose NICs give their workers turns: one of 8 workers has four
 * trees, one of 2 workers in one rack has one root and so one tree. Half of the NICs each. */
Test(fluid_plans, few_trees_have_the_share_of_many)
{
	static const char *const fidelities[] = { "packet", "fluid" };
	double time[2][2];

	for (int f = 0; f < 2; f++)
		job_times(time[f],
			  "{ 'name': 't', 'fidelity': '%s', 'topology': { 'kind': 'fat-tree',"
			  " 'k': 4, 'link': { 'rate': '10Gbps', 'delay': '1us' },"
			  " 'host': { 'slots': 2 } }, 'schemes': { %s }, 'jobs': ["
			  " { 'workers': [ 0, 1, 2, 3, 4, 5, 6, 7 ], 'all_reduce': 'panama',"
			  "   'model': { 'layers': [ { 'gradient': '20MB' } ] } },"
			  " { 'workers': [ 0, 1 ], 'all_reduce': 'panama', 'arrival': { 'at': "
			  "'1us' },"
			  "   'model': { 'layers': [ { 'gradient': '5MB' } ] } } ] }",
			  fidelities[f], schemes);
	/* 10 MB of 1520 bytes for 1448, two jobs; then the rest */
	cr_expect_float_eq(time[1][1] / (1e7 / 1448 * 1520 * 8e-10), 1, 5e-3);
	cr_expect_float_eq(time[1][0] / (2.5e7 / 1448 * 1520 * 8e-10), 1, 5e-3);
	for (int j = 0; j < 2; j++)
		cr_expect_float_eq(time[0][j] / time[1][j], 1, 0.02, "job %d: %.9f s, not %.9f s",
				   j, time[0][j], time[1][j]);
}

/* With 480 kB at leaves of 8 ports each of four trees has windows of at most 10 packets. Together
 * these are more than the path holds, so they have to grow as far as with any other memory. */
Test(fluid_plans, trees_with_small_caps_fill_a_nic_together)
{
	static const char *const fidelities[] = { "packet", "fluid" };
	static const char *const memory[] = { "64MB", "480kB" };
	double time[2][2];

	for (int i = 0; i < 4; i++)
		job_times(
			&time[i / 2][i % 2],
			"{ 'name': 't', 'fidelity': '%s', 'topology': { 'kind': 'leaf-spine',"
			" 'leaves': 4, 'spines': 4, 'hosts_per_leaf': 4,"
			" 'link': { 'rate': '10Gbps', 'delay': '5us' } }, 'schemes': { 'panama': {"
			" 'aggregate_above': '0B', 'memory': '%s' } }, 'jobs': [ { 'workers':"
			" [ 0, 4, 8, 12 ], 'all_reduce': 'panama',"
			" 'model': { 'layers': [ { 'gradient': '1MB' } ] } } ] }",
			fidelities[i / 2], memory[i % 2]);
	cr_expect_float_eq(time[0][1] / time[0][0], 1, 1e-3);
	cr_expect_float_eq(time[1][1] / time[1][0], 1, 1e-9);
	cr_expect_float_eq(time[0][1] / time[1][1], 1, 0.01);
}

/* Two jobs on the same hosts, 10 Gbps, a and b bytes on the wire. Where NICs give turns of a packet
 * they share in proportion to their packets, else equally; the one that is over first leaves the
 * link to the other.
 *
 * - SwitchML (1 MB in 180 + 20 bytes for 128) beside PANAMA (10 MB in 1500 + 20 for 1448);
 * - the server of ps_stream (4 MB, 4 copies of 256 elements) beside a worker of PANAMA (10 MB): a
 * turn for each, however many workers the server has. */
Test(fluid_plans, jobs_share_a_nic_by_turns)
{
	static const char switchml[] = "{ 'workers': [0, 1, 2, 3], 'all_reduce': 'switchml',"
				       " 'model': { 'layers': [ { 'gradient': '1MB' } ] } },"
				       "{ 'workers': [0, 1, 2, 3], 'all_reduce': 'panama',"
				       " 'model': { 'layers': [ { 'gradient': '10MB' } ] } }";
	static const char server[] =
		"{ 'workers': [0, 1, 2, 3], 'servers': [4], 'all_reduce': 'ps_stream',"
		" 'model': { 'layers': [ { 'gradient': '4MB' } ] } },"
		"{ 'workers': [4, 5], 'all_reduce': 'panama',"
		" 'model': { 'layers': [ { 'gradient': '10MB' } ] } }";
	static const struct {
		const char *jobs, *nic;
		double wire[2], packet[2]; /* bytes in all, of a packet */
	} cases[] = {
		{ switchml, "turns", { 1e6 / 128 * 200, 1e7 / 1448 * 1520 }, { 200, 1520 } },
		{ switchml, "bytes", { 1e6 / 128 * 200, 1e7 / 1448 * 1520 }, { 1, 1 } },
		{ server, "turns", { 4 * 4e6 / 1024 * 1096, 1e7 / 1448 * 1520 }, { 1096, 1520 } },
	};
	static const char *const fidelities[] = { "fluid", "packet" };

	for (size_t i = 0; i < 2 * sizeof(cases) / sizeof(*cases); i++) {
		const double *wire = cases[i / 2].wire, *packet = cases[i / 2].packet;
		double both = packet[0] + packet[1], time[2], by_hand[2];
		int first = wire[0] / packet[0] > wire[1] / packet[1];

		by_hand[first] = wire[first] * both / packet[first] * 8e-10;
		by_hand[!first] = (wire[0] + wire[1]) * 8e-10;
		job_times(time,
			  "{ 'name': 't', 'fidelity': '%s', 'topology': { 'kind': 'star',"
			  " 'hosts': 6, 'link': { 'rate': '10Gbps', 'delay': '1us' },"
			  " 'host': { 'slots': 2, 'nic': '%s' } }, 'schemes': {"
			  " 'panama': { 'aggregate_above': '0B', 'trees': 1 },"
			  " 'ps_stream': { 'elements_per_packet': 256 } }, 'jobs': [ %s ] }",
			  fidelities[i % 2], cases[i / 2].nic, cases[i / 2].jobs);
		for (int j = 0; j < 2; j++)
			cr_expect_float_eq(time[j] / by_hand[j], 1, 0.02,
					   "case %zu, %s, job %d: %.9f s, not %.9f s", i / 2,
					   fidelities[i % 2], j, time[j], by_hand[j]);
	}
}

/* A SwitchML job, and a DCTCP flow that keeps the queue before one of its hosts at the marks, 130
 * kB. Its window of 32 packets of 200 bytes goes through once in the 104 us that these take and a
 * round trip of 2.8 us, so it has 4.8 % of the link in packets; in fluid what it is of all that is
 * in flight, 4.6 %. */
Test(fluid_plans, a_fixed_window_waits_in_the_queue_of_tcp)
{
	static const char *const fidelities[] = { "fluid", "packet" };
	double time[2];

	for (int f = 0; f < 2; f++) {
		job_times(&time[f],
			  "{ 'name': 't', 'fidelity': '%s', 'topology': { 'kind': 'star',"
			  " 'hosts': 5, 'link': { 'rate': '10Gbps', 'delay': '1us' },"
			  " 'switch': { 'ecn': { 'threshold': '130kB' }, 'buffer': '2MB' } },"
			  " 'schemes': { 'switchml': { 'slots': 32 } },"
			  " 'jobs': [ { 'workers': [0, 1, 2, 3], 'all_reduce': 'switchml',"
			  "   'model': { 'layers': [ { 'gradient': '2MB' } ] } } ],"
			  " 'flows': [ { 'pairs': [[4, 0]], 'size': '100MB', 'count': 1,"
			  "   'arrival': { 'at': '0s' } } ] }",
			  fidelities[f]);
		cr_expect_float_eq(2e6 / 128 * 200 / 0.047 * 8e-10 / time[f], 1, 0.06, "%s: %.9f s",
				   fidelities[f], time[f]);
	}
}

/* Halving and doubling of 40 MB among 4, whose NICs each send a flow, too: 60 MB at half of the
 * rate, as one connection at a time takes turns. Packets also wait in the queues of flows. */
Test(fluid_plans, halving_doubling_has_one_turn)
{
	static const char *const fidelities[] = { "fluid", "packet" };
	double time;

	for (int f = 0; f < 2; f++) {
		job_times(&time,
			  "{ 'name': 't', 'fidelity': '%s', 'topology': { 'kind': 'star',"
			  " 'hosts': 4, 'link': { 'rate': '10Gbps', 'delay': '1us' } },"
			  " 'jobs': [ { 'workers': 4, 'all_reduce': 'halving_doubling',"
			  "   'model': { 'layers': [ { 'gradient': '40MB' } ] } } ],"
			  " 'flows': [ { 'pairs': [[0, 1], [1, 2], [2, 3], [3, 0]], 'count': 4,"
			  "   'size': '100MB', 'arrival': { 'at': '0s' } } ] }",
			  fidelities[f]);
		cr_expect_float_eq(time / (2 * 60e6 / 1460 * 1538 * 8e-10), 1, 0.05, "%s: %.9f s",
				   fidelities[f], time);
	}
}

/* Two SwitchML* jobs on one uplink; the second comes when the memory of the switches, and so
 * wnd_cap, is shared already. Both have half, for the first one's cap changes with it. */
Test(fluid_plans, who_comes_later_has_no_smaller_window)
{
	double time[2];

	job_times(time,
		  "{ 'name': 't', 'fidelity': 'fluid', 'topology': { 'kind': 'leaf-spine',"
		  " 'leaves': 2, 'spines': 1, 'hosts_per_leaf': 4, 'oversubscription': 4,"
		  " 'link': { 'rate': '10Gbps', 'delay': '1us' } }, 'schemes': { %s }, 'jobs': ["
		  " { 'workers': [0, 1, 4, 5], 'all_reduce': 'switchml_star',"
		  "   'model': { 'layers': [ { 'gradient': '8MB' } ] } },"
		  " { 'workers': [2, 3, 6, 7], 'all_reduce': 'switchml_star',"
		  "   'model': { 'layers': [ { 'gradient': '8MB' } ] } } ] }",
		  "'switchml_star': { 'aggregate_above': '0B' }");
	cr_expect_float_eq(time[0] / time[1], 1, 1e-3, "%.9f and %.9f s", time[0], time[1]);
}

/* A ring of 4 (100 MB: 150 MB over each edge) whose edge to host 1 meets a flow of 30 MB at once,
 * and that to host 3 another one later. Fluid: each edge is held up once. In packets an edge that
 * is held up keeps the others waiting, one more with each chunk; at most both times add up. */
Test(fluid_plans, edges_of_a_ring_are_held_up_one_by_one)
{
	static const char *const fidelities[] = { "fluid", "packet" };
	double edge = 1.5e8 / 1460 * 1580 * 8e-10, flow = 3e7 / 1460 * 1538 * 8e-10, time[2];

	for (int f = 0; f < 2; f++)
		job_times(&time[f],
			  "{ 'name': 't', 'fidelity': '%s', 'topology': { 'kind': 'star',"
			  " 'hosts': 6, 'link': { 'rate': '10Gbps', 'delay': '1us' } },"
			  " 'jobs': [ { 'workers': [0, 1, 2, 3], 'all_reduce': 'ring',"
			  "   'model': { 'layers': [ { 'gradient': '100MB' } ] } } ],"
			  " 'flows': [ { 'pairs': [[4, 1]], 'size': '30MB', 'count': 1,"
			  "   'arrival': { 'at': '0s' } }, { 'pairs': [[5, 3]], 'size': '30MB',"
			  "   'count': 1, 'arrival': { 'at': '80ms' } } ] }",
			  fidelities[f]);
	cr_expect_float_eq(time[0] / (edge + flow), 1, 2e-3, "%.9f s", time[0]);
	cr_expect_geq(time[1], time[0]);
	cr_expect_leq(time[1], (edge + 2 * flow) * 1.01, "%.9f s", time[1]);
}

/* Two SwitchML jobs that one switch has no memory for at once, a queue behind them: waiting and
 * finish are the packets', as the admission is. */
Test(fluid_plans, admission_is_the_packets)
{
	double waiting[2][3];
	const char *fidelities[] = { "packet", "fluid" };

	for (int f = 0; f < 2; f++) {
		struct run run;

		run_build(&run,
			  "{ 'name': 't', 'fidelity': '%s', 'topology': { 'kind': 'star', 'hosts': "
			  "12,"
			  "   'link': { 'rate': '10Gbps', 'delay': '1us' } },"
			  " 'schemes': { 'switchml': { 'slots': 128, 'memory': '60kB' } },"
			  " 'jobs': [ { 'count': 3, 'workers': 4, 'all_reduce': 'switchml',"
			  "   'model': { 'layers': [ { 'gradient': '1MB' } ] } } ] }",
			  fidelities[f]);
		run_to(&run, END_ALL_DONE);
		for (int j = 0; j < 3; j++)
			waiting[f][j] = jobs_report(run.s->jobs)->records[j].waiting;
		run_free(&run);
	}
	cr_expect_gt(waiting[0][2], 1e-3);
	for (int j = 0; j < 3; j++)
		cr_expect_float_eq(waiting[1][j], waiting[0][j], 1e-6);
}

/* A job that a scheme refuses is refused in the same words. */
Test(fluid_plans, refusal_is_the_packets)
{
	const char *fidelities[] = { "packet", "fluid" };
	char *words[2];

	for (int f = 0; f < 2; f++) {
		struct run run;

		run_build(&run,
			  "{ 'name': 't', 'fidelity': '%s', 'topology': { 'kind': 'star', 'hosts': "
			  "12,"
			  "   'link': { 'rate': '10Gbps', 'delay': '1us' } },"
			  " 'schemes': { 'switchml': { 'slots': 128, 'memory': '60kB',"
			  "   'admission': 'refuse' } },"
			  " 'jobs': [ { 'count': 2, 'workers': 4, 'all_reduce': 'switchml',"
			  "   'model': { 'layers': [ { 'gradient': '1MB' } ] } } ] }",
			  fidelities[f]);
		simulation_go(run.s, &(struct simulation_options){ 0 });
		cr_expect_eq(jobs_report(run.s->jobs)->refused, 1);
		cr_assert_not_null(run.s->jobs->jobs[1].reason);
		words[f] = xstrdup(run.s->jobs->jobs[1].reason);
		run_free(&run);
	}
	cr_expect_str_eq(words[0], words[1]);
	free(words[0]);
	free(words[1]);
}

/* Two simulations in one process, in turns: the digest of one alone. */
Test(fluid_plans, two_in_one)
{
	struct run runs[3];
	bool more = true;

	for (int i = 0; i < 3; i++)
		run_build(&runs[i],
			  "{ 'name': 't', 'fidelity': 'fluid', 'topology': { %s },"
			  " 'jobs': [ { 'count': 2, 'workers': 8, 'iterations': 5,"
			  "   'all_reduce': 'ring', 'compute_jitter': 0.3,"
			  "   'model': { 'layers': [ " TRAIN " ] } } ] }",
			  SPINE);
	run_to(&runs[0], END_ALL_DONE);
	while (more) {
		more = sim_run(&runs[1].s->sim, 10);
		more |= sim_run(&runs[2].s->sim, 17);
	}
	for (int i = 1; i < 3; i++)
		cr_expect_eq(simulation_digest(runs[i].s), simulation_digest(runs[0].s));
	for (int i = 0; i < 3; i++)
		run_free(&runs[i]);
}

/* --- flows --- */

/* Alone a flow takes its ideal time and what slow start loses, as packets do: 1e-6. Two into one
 * host take twice as long: DCTCP's shares within 2 %. */
Test(fluid_plans, flows)
{
	double fct[2][3];
	const char *fidelities[] = { "packet", "fluid" };

	for (int f = 0; f < 2; f++) {
		struct run run;
		const struct flow_class *class;
		size_t count;

		run_build(&run,
			  "{ 'name': 't', 'fidelity': '%s', 'topology': { %s }, 'flows': ["
			  " { 'size': '20MB', 'count': 1, 'arrival': { 'at': '0s' }, 'pairs': [[0, "
			  "9]] },"
			  " { 'size': '20MB', 'count': 2, 'arrival': { 'at': '100ms' },"
			  "   'pairs': [[1, 9], [2, 9]] } ] }",
			  fidelities[f], SPINE);
		run_to(&run, END_ALL_DONE);
		class = flows_classes(run.s->flows, &count);
		class += count - 1; /* the largest */
		cr_assert_eq(class->finished, 3);
		memcpy(fct[f], class->fct, sizeof(fct[f]));
		run_free(&run);
	}
	cr_expect_float_eq(fct[1][0] / fct[0][0], 1, 1e-6);
	for (int i = 1; i < 3; i++)
		cr_expect_float_eq(fct[1][i] / fct[0][i], 1, 0.02);
	cr_expect_float_eq(fct[1][1] / fct[1][0], 2, 0.01); /* slow start costs both the same */
}
