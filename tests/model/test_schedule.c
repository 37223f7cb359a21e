/* Halving-doubling and the double binary tree: their times against the closed forms, every sum, and
 * who sends to whom. The ring, which is a schedule too: test_ring.c.
 *
 * Closed forms: inasim formula halving_doubling, double_tree. The rate that they are given is what
 * is left for data of a link that also carries ACKs: rate * 1460 / (1538 + 84 / 2). */
#include "model_run.h"

#include "collective/schedule.h"
#include "formulas/formulas.h"
#include "workload/jobs/jobs_parts.h"

#include <math.h>

#define SIZE      40e6
#define DATA_RATE (10e9 * 1460 / (1538 + 42))

/* One job without computing on a 10-Gbps star of exactly its size. */
static void build(struct run *run, const char *scheme, unsigned ranks, const char *layers,
		  const char *rest)
{
	run_build(run,
		  "{ 'name': 't', 'topology': { 'kind': 'star', 'hosts': %u %s },"
		  " 'jobs': [ { 'workers': %u, 'all_reduce': '%s', 'overlap': 'layers',"
		  "   'model': { 'layers': [ %s ] } } ] }",
		  ranks, rest, ranks, scheme, layers);
}

static double time_of(const char *scheme, unsigned ranks, const char *rest)
{
	struct run run;
	double t;

	build(&run, scheme, ranks, "{ 'gradient': '40MB' }", rest);
	run_to(&run, END_ALL_DONE);
	cr_assert_eq(jobs_report(run.s->jobs)->duration_count, 1);
	t = jobs_report(run.s->jobs)->durations[0];
	run_free(&run);
	return t;
}

static double closed_form(const char *scheme, unsigned ranks, double rate)
{
	struct formula_inputs x = { .workers = ranks, .bytes = SIZE, .rate = rate, .chunk = 64e3 };

	return formula_find(scheme)->value(&x);
}

#define ANALYTIC "}, 'fidelity': 'analytic', 'tcp': { "
#define ROCE(scheme)                                                                               \
	", 'switch': { 'pause': true } }, 'schemes': { '" scheme                                   \
	"': { 'transport': 'dcqcn', 'ack_every': 64 } "

/* Within 3 %, over TCP, and of the analytic fidelity. Where pairs fold, folding has no ACKs beside
 * its data: up to 1.8 % faster than the closed form with them. */
static void check_time(const char *scheme, unsigned ranks)
{
	double t = time_of(scheme, ranks, ""), analytic = time_of(scheme, ranks, ANALYTIC);
	double want = closed_form(scheme, ranks, DATA_RATE);

	printf("%s, %u ranks: %.3f ms, analytic %.3f, closed form %.3f (%.4f, %.4f)\n", scheme,
	       ranks, t * 1e3, analytic * 1e3, want * 1e3, t / want, analytic / want);
	cr_expect_float_eq(t / want, 1, 0.03);
	cr_expect_float_eq(analytic / want, 1, 0.03);
}

Test(schedule, time_of_halving_doubling)
{
	for (unsigned p = 2; p <= 9; p++)
		check_time("halving_doubling", p);
	check_time("halving_doubling", 16);
}

Test(schedule, time_of_double_tree)
{
	for (unsigned p = 4; p <= 9; p++)
		check_time("double_tree", p);
	check_time("double_tree", 16);
}

/* One chunk in each tree, the fidelities against each other: what fills the trees is all that there
 * is, and a pair sends all the time. */
Test(schedule, double_tree_of_one_chunk)
{
	for (unsigned p = 2; p <= 16; p += p < 4 ? 1 : 4) {
		double time[2];

		for (int f = 0; f < 2; f++) {
			struct run run;

			build(&run, "double_tree", p, "{ 'gradient': '100kB' }", f ? ANALYTIC : "");
			run_to(&run, END_ALL_DONE);
			time[f] = jobs_report(run.s->jobs)->records[0].communication;
			run_free(&run);
		}
		cr_expect_float_eq(time[0] / time[1], 1, 0.03, "%u: %.4f", p, time[0] / time[1]);
	}
}

/* Over RoCE with DCQCN and an ACK for each 64 packets of 1024 bytes in 1086, on a lossless network.
 */
Test(schedule, time_over_roce)
{
	double rate = 10e9 * 1024 / (1086 + 20 + 84 / 64.0);
	double t = time_of("halving_doubling", 8, ROCE("halving_doubling"));

	printf("halving_doubling over RoCE: %.4f of the closed form\n",
	       t / closed_form("halving_doubling", 8, rate));
	cr_expect_float_eq(t / closed_form("halving_doubling", 8, rate), 1, 0.03);
	t = time_of("double_tree", 8, ROCE("double_tree"));
	printf("double_tree over RoCE: %.4f of the closed form\n",
	       t / closed_form("double_tree", 8, rate));
	cr_expect_float_eq(t / closed_form("double_tree", 8, rate), 1, 0.03);
}

/* Without credit, connections that have more of a link run ahead, and what they leave is of no use
 * to those behind: NCCL bounds it, and so does the default. */
Test(schedule, credit)
{
	double without =
		time_of("double_tree", 4, "}, 'schemes': { 'double_tree': { 'credit': 0 } ");

	cr_expect_gt(without, 1.1 * time_of("double_tree", 4, ""));
}

/* A constant before each step: 2 log2 n of them follow on each other, and two where pairs fold. */
Test(schedule, step_latency)
{
	for (unsigned p = 4; p <= 6; p += 2) {
		double t[2];

		for (int i = 0; i < 2; i++) {
			struct run run;

			build(&run, "halving_doubling", p, "{ 'gradient': '40kB' }",
			      i ? "}, 'schemes': { 'halving_doubling': { 'step_latency': '10us' } "
				: "");
			run_to(&run, END_ALL_DONE);
			t[i] = jobs_report(run.s->jobs)->durations[0];
			run_free(&run);
		}
		cr_expect_float_eq(t[1] - t[0], (p == 4 ? 4 : 6) * 10e-6, 5e-7, "%.9f",
				   t[1] - t[0]);
	}
}

/* --- sums --- */

/* Every piece of every tensor is right at every worker, and nothing is left open. */
static void check_sums(const char *scheme, unsigned p, const uint64_t *sizes, size_t tensors,
		       uint64_t pieces, const char *rest)
{
	char layers[512] = "";
	struct run run;

	for (size_t i = 0; i < tensors; i++)
		snprintf(layers + strlen(layers), sizeof(layers) - strlen(layers),
			 "%s{ 'gradient': '%luB' }", i ? ", " : "", (unsigned long)sizes[i]);
	build(&run, scheme, p, layers, rest);
	run_to(&run, END_ALL_DONE);
	cr_expect_eq(run.s->checks.exact_checked, p * pieces, "%s of %u", scheme, p);
	cr_expect_eq(tcp_open_count(run.s->tcp), 0);
	run_free(&run);
}

/* Numbers of ranks of any kind, fewer elements than pieces, sizes that are not whole elements,
 * several tensors, with losses and without. */
Test(schedule, sums)
{
	static const uint64_t sizes[] = { 1000000, 1, 12, 4001, 399999 };
	static const char *const losses =
		", 'link': { 'rate': '10Gbps', 'delay': '1us', 'loss': 0.001 } }, 'tcp': "
		"{ 'min_rto': '1ms', 'initial_rto': '1ms' ";

	for (unsigned p = 2; p <= 17; p++) {
		uint64_t even = UINT64_C(1) << (31 - __builtin_clz(p));

		for (int lossy = 0; lossy < 2; lossy++) {
			check_sums("halving_doubling", p, sizes, 5, 5 * even, lossy ? losses : "");
			/* chunks of 64 kB of each half: 8, 1, 1, 1, 4 */
			check_sums("double_tree", p, sizes, 5, 2 * (8 + 1 + 1 + 1 + 4),
				   lossy ? losses : "");
		}
	}
	check_sums("halving_doubling", 33, sizes, 5, 5 * 32, "");
	check_sums("double_tree", 33, sizes, 5, 30, "");
}

/* --- who sends to whom --- */

static struct schedule *instance_of(const struct run *run)
{
	const struct job *job = &run->s->jobs->jobs[0];

	return job->exchanges ? job->exchanges[0].instance : NULL;
}

/* Bytes between ranks, by halving-doubling of 4: a half with the one at distance 2, a quarter with
 * the neighbour, both ways and twice. */
Test(schedule, bytes_of_halving_doubling)
{
	struct run run;

	build(&run, "halving_doubling", 4, "{ 'gradient': '400kB' }, { 'gradient': '400kB' }", "");
	while (!run.s->jobs->jobs || !instance_of(&run))
		cr_assert(sim_run(&run.s->sim, 1));
	for (uint32_t e = 0; e < instance_of(&run)->edge_count; e++) {
		const struct schedule_ends *ends = &instance_of(&run)->edges[e].ends;

		cr_expect_eq(ends->from ^ ends->to, e % 2 ? 1 : 2);
	}
	run_to(&run, END_ALL_DONE);
	for (uint32_t e = 0; e < 8; e++)
		cr_expect_eq(run_conn(&run, e)->tx.written, e % 2 ? 400000 : 800000);
	run_free(&run);
}

/* NCCL's trees of 8: the first one is 0 - 4 - (2, 6) - (1, 3), (5, 7), the second its mirror image.
 * Whoever has two children in one has none in the other. */
Test(schedule, trees)
{
	static const uint32_t parents[] = { SCHEDULE_NOBODY, 2, 4, 2, 0, 6, 4, 6 };
	struct run run;

	for (unsigned p = 2; p <= 17; p++) {
		uint32_t children[2][17] = { 0 };

		build(&run, "double_tree", p, "{ 'gradient': '4kB' }", "");
		while (!run.s->jobs->jobs || !instance_of(&run))
			cr_assert(sim_run(&run.s->sim, 1));
		for (uint32_t e = 0; e < 4 * p; e += 2) { /* rank e / 4 to its parent */
			struct schedule_ends ends = instance_of(&run)->edges[e].ends;
			uint32_t rank = e / 4, tree = e / 2 % 2;

			if (ends.from != SCHEDULE_NOBODY)
				children[tree][ends.to]++;
			if (p != 8)
				continue;
			rank = tree ? 7 - rank : rank;
			if (parents[rank] == SCHEDULE_NOBODY)
				cr_expect_eq(ends.from, SCHEDULE_NOBODY);
			else
				cr_expect_eq(ends.to, tree ? 7 - parents[rank] : parents[rank]);
		}
		for (uint32_t r = 0; r < p; r++) {
			cr_expect_leq(children[0][r], 2);
			cr_expect_leq(children[1][r], 2);
			cr_expect(children[0][r] < 2 || children[1][r] == 0, "%u of %u", r, p);
		}
		run_to(&run, END_ALL_DONE);
		run_free(&run);
	}
}

/* --- a listed order --- */

/* JCT of four ranks on two racks, over an uplink of a tenth of the hosts' rate. */
static double listed(const char *scheme, const char *order, const char *workers)
{
	struct run run;
	double jct;

	run_build(&run,
		  "{ 'name': 't', 'topology': { 'kind': 'leaf-spine', 'leaves': 2, 'spines': 1,"
		  " 'hosts_per_leaf': 2, 'link': { 'rate': '100Gbps' },"
		  " 'uplink': { 'rate': '10Gbps' } }, 'schemes': { '%s': { 'order': '%s' } },"
		  " 'jobs': [ { 'workers': %s, 'all_reduce': '%s',"
		  "   'model': { 'layers': [ { 'gradient': '10MB' } ] } } ] }",
		  scheme, order, workers, scheme);
	run_to(&run, END_ALL_DONE);
	jct = jobs_report(run.s->jobs)->records[0].jct;
	run_free(&run);
	return jct;
}

/* Ranks are in the order of the list, with any "order". With racks in turns a ring crosses the
 * uplinks twice as often; halving-doubling crosses them with a quarter of the data instead of half,
 * because it first exchanges halves with the rank p / 2 away. The trees' edges change. "order"
 * decides for a number of workers. */
Test(schedule, listed_order)
{
	static const char *const schemes[] = { "ring", "halving_doubling", "double_tree" };

	for (int i = 0; i < 3; i++) {
		double by_rack = listed(schemes[i], "placement", "[0, 1, 2, 3]");
		double in_turns = listed(schemes[i], "placement", "[0, 2, 1, 3]");

		printf("%s: %.3f ms by rack, %.3f ms in turns\n", schemes[i], by_rack * 1e3,
		       in_turns * 1e3);
		cr_expect(i == 0   ? in_turns > 1.9 * by_rack
			  : i == 1 ? in_turns < 0.6 * by_rack
				   : in_turns != by_rack,
			  "%s", schemes[i]);
		cr_expect_eq(listed(schemes[i], "random", "[0, 1, 2, 3]"), by_rack);
		cr_expect_eq(listed(schemes[i], "random", "[0, 2, 1, 3]"), in_turns);
		cr_expect_eq(listed(schemes[i], "placement", "4"), by_rack);
	}
}
