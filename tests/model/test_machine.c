/* Machines with several GPUs: flat ring, hierarchical, parallel ring and parallel NetReduce of 32
 * GPUs, 8 a machine, against NetReduce's equations 1 to 3 and that of a parallel ring; and what the
 * stages inside machines cost any other scheme.
 *
 * The closed forms are given the rate that is left for data: 1024 bytes of 1086 + 20, and an ACK of
 * 84 bytes for each 64 packets of the other direction. They have alpha for a step between machines,
 * too: step_latency. */
#include "model_run.h"

#include "formulas/formulas.h"
#include "workload/jobs/jobs_parts.h"

#define DATA_RATE (100e9 * 1024 / (1086 + 20 + 84 / 64.0))

static void build(struct run *run, const char *job, const char *gpus, const char *layers,
		  unsigned iterations)
{
	run_build(run,
		  "{ 'name': 't', 'topology': { 'kind': 'star', 'hosts': 8, 'link': { 'rate': "
		  "'100Gbps' },"
		  " 'switch': { 'pause': true }, 'host': { 'gpus': { %s } } },"
		  " 'schemes': { 'ring': { 'transport': 'dcqcn', 'ack_every': 64, 'step_latency': "
		  "'1us' } },"
		  " 'jobs': [ { 'workers': 4, 'overlap': 'layers', 'iterations': %u, %s,"
		  " 'model': { 'layers': [ %s ] } } ] }",
		  gpus, iterations, job, layers);
}

static double time_of(const char *job, const char *gpus, const char *layers)
{
	struct run run;
	double time;

	build(&run, job, gpus, layers, 1);
	run_to(&run, END_ALL_DONE);
	time = jobs_report(run.s->jobs)->records[0].communication;
	run_free(&run);
	return time;
}

/* 5 % asked for; 1 % found. */
Test(machine, closed_forms_of_32_gpus, .timeout = 60)
{
	static const struct {
		const char *formula, *job;
	} forms[] = {
		{ "flat_ring", "'all_reduce': 'ring', 'inside': 'ring'" },
		{ "tencent", "'all_reduce': 'ring', 'inside': 'master'" },
		{ "parallel_ring", "'all_reduce': 'ring', 'inside': 'scatter'" },
		{ "parallel_netreduce", "'all_reduce': 'netreduce', 'inside': 'scatter'" },
	};
	static const struct {
		const char *gpus;
		double rate;
	} intra[] = { { "'count': 8, 'rate': '15.75GBps'", 126e9 },
		      { "'count': 8, 'rate': '50GBps'", 400e9 },
		      { "'count': 8, 'rate': '150GBps'", 1200e9 } };

	for (size_t f = 0; f < 4; f++)
		for (size_t i = 0; i < 3; i++) {
			struct formula_inputs x = { .gpus = 32,
						    .per_machine = 8,
						    .alpha = 1e-6,
						    .bytes = 100e6,
						    .inter = DATA_RATE,
						    .intra = intra[i].rate };
			double want = formula_find(forms[f].formula)->value(&x);
			double t = time_of(forms[f].job, intra[i].gpus, "{ 'gradient': '100MB' }");

			printf("%s, B_intra %s: %.3f ms, %.4f of the closed form\n",
			       forms[f].formula, intra[i].gpus, t * 1e3, t / want);
			cr_expect_float_eq(t / want, 1, 0.01, "%s", forms[f].formula);
		}
}

/* All GPUs of a machine over one link: reduce-scatter and all-gather take 8 times as long,
 * reduction to a master and broadcast 9/2 times. */
Test(machine, shared_link)
{
	static const char *const own = "'count': 8, 'rate': '100GBps', 'latency': '0s'";
	static const char *const one =
		"'count': 8, 'rate': '100GBps', 'latency': '0s', 'shared': true";
	static const char *const scatter = "'all_reduce': 'ring'";
	static const char *const master = "'all_reduce': 'ring', 'inside': 'master'";
	static const char *const tensor = "{ 'gradient': '8MB' }";
	double once = 8e6 / 100e9 * 7 / 8;

	cr_expect_float_eq(time_of(scatter, one, tensor) - time_of(scatter, own, tensor),
			   2 * 7 * once, 1e-9);
	cr_expect_float_eq(time_of(master, one, tensor) - time_of(master, own, tensor),
			   2 * 7 * once, 1e-9);
}

/* In a flat ring over one link a machine, the 7 edges of each take turns: 14 chunks of 1/32 in the
 * time of 2, and the ring waits for them where that is longer than a step between machines. */
Test(machine, shared_link_of_a_ring)
{
	static const char *const ring = "'all_reduce': 'ring', 'inside': 'ring'";
	static const char *const tensor = "{ 'gradient': '32MB' }";
	double t = time_of(ring, "'count': 8, 'rate': '5GBps', 'latency': '0s', 'shared': true",
			   tensor);
	double steps = 62 * 7 * 1e6 / 5e9;

	cr_expect_float_eq(t / steps, 1, 0.05, "%.6f s, not %.6f s", t, steps);
}

/* Each scheme takes the stages and what it takes between machines: that much longer than without
 * GPUs, for one tensor. Within 0.5 us: what comes at one time is in another order. */
Test(machine, every_scheme_with_reduction_inside, .timeout = 60)
{
	static const char *const schemes[] = {
		"ring",      "halving_doubling", "double_tree", "ps",
		"ps_stream", "switchml",         "atp",         "esa",
		"panama",    "switchml_star",    "netreduce"
	};

	for (size_t i = 0; i < sizeof(schemes) / sizeof(schemes[0]); i++) {
		struct formula_machine machine = { 8, PS_PER_US, UINT64_C(1200000000000), false };
		char job[64];
		double with, without;

		snprintf(job, sizeof(job), "'all_reduce': '%s'", schemes[i]);
		with = time_of(job, "'count': 8, 'rate': '150GBps'", "{ 'gradient': '2MB' }");
		without = time_of(job, "'count': 1", "{ 'gradient': '2MB' }");
		cr_expect_float_eq(with - without,
				   2 * seconds_of(formula_machine_scatter(&machine, 2000000)), 5e-7,
				   "%s: %.12f", schemes[i], with - without);
	}
}

/* All sums are right where all GPUs are ranks, in every schedule, with several tensors and
 * iterations (of the last one 16 chunks wait for a link between GPUs); and where several tensors
 * are in the stages at once. */
Test(machine, sums, .timeout = 60)
{
	static const char *const layers = "{ 'gradient': '300kB', 'backward': '10us' }, { "
					  "'gradient': '4B' }, { 'gradient': '2000012B' }";
	static const struct {
		const char *job;
		uint64_t pieces; /* of all three tensors */
	} jobs[] = {
		{ "'all_reduce': 'ring', 'inside': 'ring'", 3 * 32 },
		{ "'all_reduce': 'halving_doubling', 'inside': 'ring'", 3 * 32 },
		{ "'all_reduce': 'double_tree', 'inside': 'ring'", 2 * (3 + 1 + 16) },
	};
	static const char *const staged[] = { "esa", "switchml", "ring" };
	struct run run;

	for (size_t i = 0; i < 3; i++) {
		build(&run, jobs[i].job, "'count': 8, 'rate': '50GBps'", layers, 3);
		run_to(&run, END_ALL_DONE);
		cr_expect_eq(run.s->checks.exact_checked, 3 * 32 * jobs[i].pieces, "%s",
			     jobs[i].job);
		run_free(&run);
	}
	for (size_t i = 0; i < 3; i++) {
		char job[64];

		snprintf(job, sizeof(job), "'all_reduce': '%s', 'inside': 'master'", staged[i]);
		build(&run, job, "'count': 8, 'rate': '2GBps'", layers, 3);
		run_to(&run, END_ALL_DONE);
		cr_expect_gt(run.s->checks.exact_checked, 0);
		run_free(&run);
	}
}
