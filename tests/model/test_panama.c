/* PANAMA alone on its network: times against closed forms, trees, orders, shapes of
 * tensors, the 40-MB rule. Sharing: test_panama_share.c; loss and fractions: test_panama_loss.c. */
#include "test_panama.h"

#define T 1.216e-6 /* a frame of 1500 bytes with preamble and gap at 10 Gbps */

static uint64_t chunks_of(uint64_t size)
{
	return (size + 1447) / 1448;
}

static void star(struct bench *bench, unsigned n, const char *scheme, uint64_t size,
		 const char *job)
{
	bench_open(bench, false,
		   "{'name': 't', 'topology': {'kind': 'star', 'hosts': %u, 'link': {'rate': "
		   "'10Gbps', 'delay': '1us'}}, 'schemes': {'panama': {'aggregate_above': '0B' "
		   "%s}}, 'jobs': [{'all_reduce': 'panama', 'workers': %u, 'model': {'layers': "
		   "[{'gradient': '%" PRIu64 "B'}]} %s}]}",
		   n, scheme, n, size, job);
}

/* --- times --- */

/* Goodput alone on the network: packets follow each other at line rate,
 *     TAT = G t,  G = ceil(|U| / payload),  t = 8 (frame + 20) / B,
 * for any number of workers, of switches above each other and of trees; the first rounds of
 * the window (2, 4, 8 packets a round trip of some 6 us) are lost. */
Test(panama_time, goodput_on_one_switch)
{
	static const struct {
		unsigned n;
		const char *format;
		double payload, frame;
	} cases[] = {
		{ 2, "", 1448, 1500 },
		{ 8, "", 1448, 1500 },
		{ 33, "", 1448, 1500 },
		{ 4, ", 'elements_per_packet': 243", 972, 1024 },
		{ 4, ", 'elements_per_packet': 115", 460, 512 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		double wanted = ceil(10e6 / cases[i].payload) * (cases[i].frame + 20) * 8 / 10e9;
		struct bench bench;

		star(&bench, cases[i].n, cases[i].format, 10000000, "");
		bench_finish(&bench);
		expect_near(duration(&bench, 0), wanted, 0.01, "TAT, s");
		bench_close(&bench);
	}
}

Test(panama_time, goodput_on_trees)
{
	static const char *const schemes[] = { "",
					       ", 'trees': 1",
					       ", 'trees': 3",
					       ", 'only_tree': 2",
					       ", 'order': 'strict'",
					       ", 'recovery': true",
					       ", 'fraction': 0.88" };

	for (size_t i = 0; i < sizeof(schemes) / sizeof(schemes[0]); i++) {
		struct bench bench;

		leaf_spine(&bench, 4, 4, 4, "", schemes[i], "16", 10000000, "");
		bench_finish(&bench);
		expect_near(duration(&bench, 0), (double)chunks_of(10000000) * T, 0.01, schemes[i]);
		bench_close(&bench);
	}
}

/* R-P-T1: the prototype (64 bits, 5 ns, 4 ports) takes 370, 695 and 987.5 ns. Equation 3 with
 * 15 ns an adder and 25 ns besides gives the first and the last exactly; of 1024 bytes the
 * table has 5 ns more. Appendix A, figure 14: 512 bits at 200 MHz and 1 GHz, 64 and 128 ports. */
Test(panama_time, latency_of_an_accelerator)
{
	struct panama_latency prototype = {
		.form = PANAMA_LATENCY_EQUATION,
		.equation = { 64, 5 * PS_PER_NS, 15 * PS_PER_NS, 25 * PS_PER_NS },
	};
	struct panama_latency fpga = { .form = PANAMA_LATENCY_EQUATION,
				       .equation = { 512, 5 * PS_PER_NS, 10 * PS_PER_NS, 0 } };
	struct panama_latency fixed = { .form = PANAMA_LATENCY_TIME, .time = 7 };

	cr_expect_eq(panama_latency(&prototype, 512, 4), 370000);
	cr_expect_eq(panama_latency(&prototype, 1024, 4), 690000);
	cr_expect_eq(panama_latency(&prototype, 1500, 4), 987500);
	cr_expect_eq(panama_latency(&fpga, 1536, 64), (24 - 1) * 5000 + 6 * 10000);
	cr_expect_eq(panama_latency(&fpga, 1536, 65), (24 - 1) * 5000 + 7 * 10000);
	cr_expect_eq(panama_latency(&fixed, 1500, 64), 7);
}

/* Equation 1: R = W f. The prototype's 64 bits at 200 MHz are 12.8 Gbps; 100 Gbps need 512 bits. */
Test(panama_time, width_for_a_rate)
{
	static const struct {
		bps gbps;
		int64_t bus;
	} cases[] = {
		{ 1, 64 }, { 10, 64 }, { 25, 128 }, { 40, 256 }, { 100, 512 }, { 400, 2048 }
	};
	struct panama_latency latency = {
		.form = PANAMA_LATENCY_EQUATION,
		.equation = { 64, 5 * PS_PER_NS, 15 * PS_PER_NS, 25 * PS_PER_NS },
	};
	struct panama_conf conf = { .latency = latency };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct topology_conf topology = { .link.rate = cases[i].gbps * 1000000000 };

		cr_expect_eq(panama_bus_for(&latency.equation, topology.link.rate), cases[i].bus);
		conf.latency.equation.bus = 0;
		cr_expect_eq(panama_accelerators(&conf, &topology).equation.bus, cases[i].bus);
		conf.latency.equation.bus = 32;
		cr_expect_eq(panama_accelerators(&conf, &topology).equation.bus, 32);
	}
	cr_expect_eq(panama_slow_port(&latency, 1500, 12800000000), 0);
	cr_expect_eq(panama_slow_port(&latency, 1500, 12800000001), 937500);
}

/* Ports slower than links pass a packet each S / R, whatever the trees; those of the default are
 * not, and neither are those that take a time only. Jobs on other ports do not wait. The first
 * rounds of the windows take 3 % where links are the limit. */
Test(panama_time, rate_of_a_port)
{
	static const struct {
		const char *scheme;
		double each;
	} cases[] = {
		{ "", T / 10 },
		{ ", 'accelerator_latency': '1us'", T / 10 },
		{ ", 'accelerator_latency': {'bus': 64}", 937.5e-9 },
		{ ", 'accelerator_latency': {'bus': 256}", 937.5e-9 / 4 },
		{ ", 'trees': 1, 'accelerator_latency': {'bus': 64}", 937.5e-9 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct bench bench;

		bench_open(&bench, false,
			   "{'name': 't', 'topology': {'kind': 'leaf-spine', 'leaves': 2, "
			   "'spines': 4, "
			   "'hosts_per_leaf': 4, 'link': {'rate': '100Gbps', 'delay': '1us'}}, "
			   "'schemes': {'panama': {'aggregate_above': '0B' %s}}, 'jobs': "
			   "[{'all_reduce': 'panama', 'workers': [0, 4], 'model': {'layers': "
			   "[{'gradient': '10MB'}]}}, {'all_reduce': 'panama', 'workers': [1, 2], "
			   "'model': {'layers': [{'gradient': '10MB'}]}}]}",
			   cases[i].scheme);
		bench_finish(&bench);
		for (unsigned j = 0; j < 2; j++)
			expect_near(duration(&bench, j),
				    (double)chunks_of(10000000) * cases[i].each, 0.04,
				    cases[i].scheme);
		bench_close(&bench);
	}
}

/* A port that two jobs share is busy with the packets of both, whichever of their ports it is. */
Test(panama_time, a_port_of_two_jobs)
{
	struct bench bench;

	bench_open(&bench, false,
		   "{'name': 't', 'topology': {'kind': 'star', 'hosts': 3, 'host': {'slots': 2}, "
		   "'link': {'rate': '100Gbps', 'delay': '1us'}}, 'schemes': {'panama': "
		   "{'aggregate_above': '0B', 'accelerator_latency': {'bus': 64}}}, 'jobs': "
		   "[{'all_reduce': 'panama', 'workers': [0, 2], 'model': {'layers': "
		   "[{'gradient': '10MB'}]}}, {'all_reduce': 'panama', 'workers': [1, 2], "
		   "'model': {'layers': [{'gradient': '10MB'}]}}]}");
	bench_finish(&bench);
	for (unsigned j = 0; j < 2; j++)
		expect_near(duration(&bench, j), (double)chunks_of(10000000) * 2 * 937.5e-9, 0.04,
			    "two jobs");
	bench_close(&bench);
}

/* One packet up and down: a transmission and a delay per link, the pipeline of 500 ns per switch,
 * and the accelerator's latency where it is added up, exactly. */
Test(panama_time, one_packet)
{
	struct bench bench;
	double leaf, spine;

	star(&bench, 4, "", 1448, "");
	bench_finish(&bench);
	expect_near(duration(&bench, 0), 2 * T + 2.5e-6 + 987.5e-9, 1e-9, "one switch, s");
	bench_close(&bench);
	star(&bench, 4, ", 'accelerator_latency': '0s'", 1448, "");
	bench_finish(&bench);
	expect_near(duration(&bench, 0), 2 * T + 2.5e-6, 1e-9, "without latency, s");
	bench_close(&bench);
	leaf_spine(&bench, 4, 2, 3, "", "", "12", 1448, "");
	bench_finish(&bench);
	leaf = seconds_of(bench.scheme->accelerators[0].latency);  /* 5 ports: 3 levels */
	spine = seconds_of(bench.scheme->accelerators[4].latency); /* 4 ports: 2 levels */
	expect_near(leaf - spine, 15e-9, 1e-6, "a level of adders, s");
	expect_near(duration(&bench, 0), 4 * T + 4e-6 + 3 * 500e-9 + leaf + spine, 1e-9,
		    "two tiers, s");
	bench_close(&bench);
}

/* --- trees and order --- */

struct sends {
	struct {
		uint32_t tree;
		uint64_t vid;
	} list[64];
	unsigned count;
};

/* What the worker on h0 sends. */
static void note_send(struct bench *bench, uint32_t sw, const struct packet *packet)
{
	const struct panama_sequence *sequence = bench_sequence(bench, packet->flow);
	struct sends *sends = bench->owner;

	if (sw || packet->flags & PACKET_RESULT || packet->source || sends->count == 64)
		return;
	sends->list[sends->count].tree = sequence->tree;
	sends->list[sends->count++].vid = packet->seq;
}

/* R-P-3: four trees, eight packets, worker by worker: p1, p5 on tree 1, p2, p6 on tree 2,
 * p3, p7 on tree 3, p4, p8 on tree 4, sent in this order. Each leaf sends each VID up once, each
 * root down once. */
Test(panama_tree, round_robin)
{
	static const char *const orders[] = { "", ", 'order': 'strict'" };

	for (unsigned o = 0; o < 2; o++) {
		struct sends sends = { 0 };
		struct bench bench;
		struct collective_stats stats;

		leaf_spine(&bench, 4, 4, 2, "", orders[o], "8", 8 * 1448, "");
		bench.at_switch = note_send;
		bench.owner = &sends;
		bench_finish(&bench);
		cr_assert_eq(sends.count, 8);
		for (unsigned p = 0; p < 8; p++) {
			cr_expect_eq(sends.list[p].tree, p % 4);
			cr_expect_eq(sends.list[p].vid, p / 4);
		}
		cr_expect_eq(bench.from_hosts, 8 * 8);
		cr_expect_eq(bench.up, (8 + 4) * 8);
		cr_expect_eq(bench.down, 8 * 8);
		stats = switch_stats(&bench);
		cr_expect_eq(stats.packets_aggregated, (8 + 4) * 8);
		cr_expect_eq(stats.results, 8);
		bench_close(&bench);
	}
}

/* Strict order holds for the whole run, also when one tree is slow. */
static void expect_strict(struct bench *bench, uint32_t sw, const struct packet *packet)
{
	uint64_t *next = bench->owner;
	const struct panama_sequence *sequence = bench_sequence(bench, packet->flow);

	if (sw || packet->flags & PACKET_RESULT || packet->source)
		return;
	cr_assert_eq(panama_chunk(sequence->job, sequence->tree, packet->seq), (*next)++);
}

Test(panama_tree, strict_order)
{
	uint64_t next = 0;
	struct bench bench;

	bench_open(
		&bench, false,
		"{'name': 't', 'topology': {'kind': 'leaf-spine', 'leaves': 2, 'spines': 2, "
		"'hosts_per_leaf': 3, 'link': {'rate': '10Gbps'}, 'switch': {'buffer': '10MB'}}, "
		"'schemes': {'panama': {'aggregate_above': '0B', 'order': 'strict'}}, 'jobs': "
		"[{'all_reduce': 'panama', 'workers': [0, 3], 'iterations': 2, 'model': "
		"{'layers': [{'gradient': '3MB'}]}}], 'flows': [{'pairs': [[1, 4]], 'size': "
		"'5MB', 'arrival': {'at': '0s'}}]}");
	bench.at_switch = expect_strict;
	bench.owner = &next;
	bench_finish(&bench);
	cr_expect_eq(next, 2 * chunks_of(3000000));
	bench_close(&bench);
}

/* Roots: different switches of the lowest tier that has all workers below it. Fat tree of k = 4:
 * edges 0..7, aggregation 8..15, cores 16..19. */
Test(panama_tree, roots)
{
	static const struct {
		const char *workers, *scheme;
		unsigned trees, first, last;
	} cases[] = {
		{ "[0, 1]", "", 1, 0, 0 },
		{ "[0, 2]", "", 2, 8, 9 },
		{ "[4, 5, 6, 7]", "", 2, 10, 11 },
		{ "[0, 4]", "", 4, 16, 19 },
		{ "16", "", 4, 16, 19 },
		{ "[0, 4]", ", 'trees': 2", 2, 16, 19 },
		{ "[0, 4]", ", 'trees': 64", 4, 16, 19 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct panama_job *job;
		struct bench bench;

		bench_open(&bench, false,
			   "{'name': 't', 'topology': {'kind': 'fat-tree', 'k': 4}, 'schemes': "
			   "{'panama': {'aggregate_above': '0B' %s}}, 'jobs': [{'all_reduce': "
			   "'panama', 'workers': %s, 'model': {'layers': [{'gradient': "
			   "'100kB'}]}}]}",
			   cases[i].scheme, cases[i].workers);
		sim_run(&bench.run.s->sim, 1); /* the job is admitted */
		cr_assert(bench_sequence(&bench, 0));
		job = bench_sequence(&bench, 0)->job;
		cr_assert_eq(job->tree_count, cases[i].trees, "case %zu", i);
		for (uint32_t t = 0; t < job->tree_count; t++) {
			uint32_t root = job->trees[t].tree->nodes[0].sw;

			cr_expect(root >= cases[i].first && root <= cases[i].last);
			cr_expect(!t || root > job->trees[t - 1].tree->nodes[0].sw);
		}
		bench_finish(&bench);
		bench_close(&bench);
	}
}

/* PANAMA-Agg i: with as many trees as spines, tree i is that of spine i. */
Test(panama_tree, single_tree)
{
	for (unsigned i = 1; i <= 4; i++) {
		struct bench bench;
		char scheme[32];

		snprintf(scheme, sizeof(scheme), ", 'only_tree': %u", i);
		leaf_spine(&bench, 4, 4, 2, "", scheme, "8", 1000000, "");
		bench_finish(&bench);
		for (unsigned s = 0; s < 4; s++)
			cr_expect_eq(bench.scheme->base.memory[4 + s].stats.results,
				     s + 1 == i ? chunks_of(1000000) : 0);
		bench_close(&bench);
	}
}

/* --- shapes --- */

/* Tensors of less than a packet, than a packet for each tree, one more; three iterations, with
 * and without overlap; every result is right at every worker, each once. */
Test(panama_shape, any_size_of_tensors)
{
	static const unsigned sizes[] = { 1, 4, 1447, 1448, 1449, 4 * 1448, 4 * 1448 + 4, 50000 };
	const unsigned count = sizeof(sizes) / sizeof(sizes[0]);

	for (unsigned a = 0; a < count; a++) {
		for (unsigned b = 0; b < count; b++) {
			uint64_t chunks = chunks_of(sizes[a]) + chunks_of(sizes[b]);
			struct bench bench;

			bench_open(&bench, false,
				   "{'name': 't', 'topology': {'kind': 'leaf-spine', 'leaves': 2, "
				   "'spines': 4, 'hosts_per_leaf': 2}, 'schemes': {'panama': "
				   "{'aggregate_above': '0B'}}, 'jobs': [{'workers': 4, "
				   "'iterations': 3, 'overlap': 'layers', 'compute_jitter': 0.5, "
				   "'all_reduce': 'panama', 'model': {'layers': [{'gradient': "
				   "'%uB', 'backward': '1us'}, {'gradient': '%uB', 'forward': "
				   "'1us'}]}}]}",
				   sizes[a], sizes[b]);
			bench_finish(&bench);
			cr_expect_eq(bench.run.s->checks.exact_checked, 4 * 3 * chunks);
			cr_expect_eq(bench.from_hosts, 4 * 3 * chunks);
			cr_expect_eq(bench.down, 4 * 3 * chunks);
			bench_close(&bench);
		}
	}
}

/* --- the 40-MB rule --- */

/* More than 40 MB of gradients in an iteration are aggregated, 40 MB are not: the ring's time is
 * not below 2 (n - 1) / n of the line time. Over layers the sum counts. */
Test(panama_rule, aggregation_only_above_40_MB)
{
	static const struct {
		const char *layers;
		bool aggregated;
	} cases[] = {
		{ "{'gradient': '40MB'}", false },
		{ "{'gradient': '40000004B'}", true },
		{ "{'gradient': '20MB'}, {'gradient': '20MB'}", false },
		{ "{'gradient': '20MB'}, {'gradient': '20000004B'}", true },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		double line = 40e6 * 8 / 10e9;
		struct bench bench;

		bench_open(
			&bench, false,
			"{'name': 't', 'topology': {'kind': 'star', 'hosts': 4, 'link': {'rate': "
			"'10Gbps'}}, 'jobs': [{'all_reduce': 'panama', 'workers': 4, 'overlap': "
			"'layers', 'model': {'layers': [%s]}}]}",
			cases[i].layers);
		bench_finish(&bench);
		cr_expect_eq(switch_stats(&bench).results > 0, cases[i].aggregated, "case %zu", i);
		if (cases[i].aggregated)
			expect_near(duration(&bench, 0), line * 1520 / 1448, 0.01, "INA, s");
		else
			cr_expect_gt(duration(&bench, 0), 1.5 * line);
		bench_close(&bench);
	}
}

/* Alone on one host a worker needs no network. */
Test(panama_rule, one_worker)
{
	struct bench bench;

	bench_open(
		&bench, false,
		"{'name': 't', 'topology': {'kind': 'star', 'hosts': 2}, 'jobs': [{'all_reduce': "
		"'panama', 'workers': 1, 'model': {'layers': [{'gradient': '50MB'}]}}]}");
	bench_finish(&bench);
	cr_expect_eq(bench.net->hops, 0);
	bench_close(&bench);
}
