/* Jobs: what an iteration takes, who waits for whom. All exact, to the picosecond:
 * switches add without delay of their own, so with equal workers that start together
 * on an idle star, SwitchML is a pipeline with a closed form.
 *
 * n chunks of 32 elements, frames of 200 bytes on the wire (180 + 20), x = 160 ns
 * each at 10 Gbps: the last chunk leaves at n x, reaches the switch after 1 us +
 * 500 ns, and the sum is sent at once (x) and takes 1 us: T(n) = (n + 1) x + 2.5 us.
 * It holds when the window covers the round trip, 2x + 2.5 us < s x; s = 32 here. */
#include "model_run.h"

#include "workload/jobs/jobs_parts.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#define X       160000    /* ps on the wire of a chunk */
#define PIECE   128       /* bytes */
#define LATENCY PS_PER_US /* of the controller, the default */
#define MS      PS_PER_MS

static sim_time aggregation(uint64_t chunks)
{
	return (chunks + 1) * X + 2500000;
}

static const struct job *job_of(const struct run *run, size_t i)
{
	return &run->s->jobs->jobs[i];
}

static sim_time running(const struct run *run, size_t i)
{
	return job_of(run, i)->finish - job_of(run, i)->start;
}

static void one_job(struct run *run, const char *rest)
{
	run_build(run,
		  "{ 'name': 't', 'topology': { 'kind': 'star', 'hosts': 4 },"
		  " 'jobs': [ { 'workers': 4, 'all_reduce': 'switchml', %s } ] }",
		  rest);
}

/* Without overlap an iteration is computation plus communication, no more: forward
 * and backward of all layers, then the sum of all gradients as one tensor. */
Test(jobs, no_overlap)
{
	struct run run;
	sim_time iteration = 5 * MS + aggregation(1000);
	const double *durations;
	size_t count;

	one_job(&run, "'iterations': 7, 'model': { 'layers': ["
		      " { 'gradient': '76800B', 'forward': '0.5ms', 'backward': '1ms' },"
		      " { 'gradient': '51200B', 'forward': '1.5ms', 'backward': '2ms' } ] }");
	run_to(&run, END_ALL_DONE);
	cr_expect_eq(running(&run, 0), 7 * iteration, "%lu ps instead of %lu",
		     (unsigned long)running(&run, 0), (unsigned long)(7 * iteration));
	durations = jobs_report(run.s->jobs)->durations;
	count = jobs_report(run.s->jobs)->duration_count;
	cr_assert_eq(count, 7);
	for (size_t i = 0; i < 7; i++)
		cr_expect_float_eq(durations[i], seconds_of(iteration), 1e-15);
	run_free(&run);
}

/* Alone on one switch, SwitchML takes its ideal time; with overlap no ideal is known. Bandwidths
 * are NCCL's: bytes over the time of the exchange, times 2 (n - 1) / n. */
Test(jobs, ideal_time_and_bandwidth)
{
	const struct job_record *record;
	struct run run;
	double exchange = seconds_of(aggregation(1000));

	one_job(&run, "'iterations': 3, 'model': { 'layers': ["
		      " { 'gradient': '128000B', 'forward': '1ms', 'backward': '2ms' } ] }");
	run_to(&run, END_ALL_DONE);
	record = jobs_report(run.s->jobs)->records;
	cr_expect_float_eq(record->slowdown, 1, 1e-12, "%.9f", record->slowdown);
	cr_expect_float_eq(record->busbw, 128000 / exchange * 2 * 3 / 4, 1);
	cr_expect_eq(job_of(&run, 0)->ideal, LATENCY + 3 * (3 * MS + aggregation(1000)));
	run_free(&run);
	one_job(&run, "'overlap': 'layers', 'iterations': 3, 'model': { 'layers': ["
		      " { 'gradient': '1280B', 'forward': '100us', 'backward': '100us' },"
		      " { 'gradient': '1280B', 'forward': '100us', 'backward': '100us' } ] }");
	run_to(&run, END_ALL_DONE);
	cr_expect(isnan(jobs_report(run.s->jobs)->records->slowdown));
	cr_expect_eq(job_of(&run, 0)->ideal, 0);
	run_free(&run);
}

/* Slowdown of a job without computing; the run itself would end by a violation below 1. */
static double slowdown_of(const char *scheme, const char *more, unsigned workers, unsigned size,
			  const char *topology, const char *rest)
{
	struct run run;
	double slowdown;

	run_build(&run,
		  "{ 'name': 't', 'topology': { %s, 'switch': { 'pause': true } }, 'schemes': {"
		  " 'panama': { 'aggregate_above': '0B' }, 'switchml_star': { 'aggregate_above':"
		  " '0B' }, '%s': { '_': 0 %s } }, 'jobs': [ { 'workers': %u, 'all_reduce': '%s',"
		  " 'iterations': 3, 'model': { 'layers': [ { 'gradient': '%uB' } ] } %s } ] }",
		  topology,
		  strcmp(scheme, "panama") && strcmp(scheme, "switchml_star") ? scheme : "_", more,
		  workers, scheme, size, rest);
	run_to(&run, END_ALL_DONE);
	slowdown = jobs_report(run.s->jobs)->records[0].slowdown;
	run_free(&run);
	return slowdown;
}

/* No job beats its ideal: of a few bytes, where messages are shorter than a segment, and of many,
 * with late workers, over TCP and RoCE, near and far. On one switch the ideal is within a tenth
 * for 1 MB of all but parameter servers over TCP. */
Test(jobs, never_faster_than_ideal)
{
	static const char *const transports[] = { "dctcp", "dcqcn" };
	static const char *const topologies[] = {
		"'kind': 'star', 'hosts': 16",
		"'kind': 'fat-tree', 'k': 4, 'link': { 'rate': '10Gbps' }"
	};
	static const unsigned sizes[] = { 4, 439, 108000, 1000000 }, workers[] = { 2, 7, 8 };
	static const char *const late = ", 'stragglers': { 'workers': 1, 'slowdown': 3 }, "
					"'compute_scale': 0.001, 'send_jitter': '30us'";

	for (unsigned i = 0; all_reduce_ops(i); i++)
		for (unsigned k = 0; k < 2 * 2 * 4 * 3; k++) {
			const char *name = scheme_ops(i)->name;
			bool star = !(k / 2 % 2), known = strcmp(name, "double_tree");
			unsigned size = sizes[k / 4 % 4];
			bool connects = !strcmp(name, "ring") || !strcmp(name, "ps") ||
					!strcmp(name, "halving_doubling");
			char more[64] = "";
			double slowdown;

			if (run_is_nvls(i))
				continue;
			if (connects)
				snprintf(more, sizeof(more), ", 'transport': '%s'",
					 transports[k % 2]);
			slowdown = slowdown_of(name, more, workers[k / 16], size, topologies[!star],
					       k % 2 && !connects ? late : "");
			if (!known) {
				cr_expect(isnan(slowdown));
				continue;
			}
			cr_expect_geq(slowdown, 1, "%s %u", name, k);
			if (star && size == 1000000 && (connects || !(k % 2)) && strcmp(name, "ps"))
				cr_expect_leq(slowdown, 1.1, "%s %u: %.4f", name, k, slowdown);
		}
}

/* The check of ideals: a job that seems to have arrived later than it did has taken less. */
Test(jobs, less_than_ideal_is_a_violation)
{
	struct run run;

	one_job(&run, "'iterations': 3, 'model': { 'layers': [ { 'gradient': '128000B' } ] }");
	run_until(&run, LATENCY + 1);
	run.s->jobs->jobs[0].arrival += 2;
	run_to(&run, END_VIOLATION);
	cr_expect_not_null(strstr(run.s->checks.first, "less than its ideal"));
	run_free(&run);
}

/* Two layers with overlap. From the sums of iteration i: forward f1 + f2, backward of
 * layer 2 (b2), then its n2 chunks go while layer 1 computes (b1), then n1 more:
 *   T = f1 + f2 + b2 + max(b1 + n1 x, (n1 + n2) x) + x + 2.5 us,
 * in both cases of the maximum. (The chunks of the second tensor leave when it is
 * handed over, or right behind the first one's.) */
Test(jobs, two_layers_overlap)
{
	static const struct {
		uint64_t n1, n2;
		sim_time f1, f2, b1, b2;
	} cases[] = {
		{ 1000, 2000, MS, 2 * MS, 3 * MS, 4 * MS }, /* computing hides it */
		{ 1000, 2000, MS, 2 * MS, MS / 8, MS },     /* communication hides computing */
		{ 50, 5000, 0, MS / 2, MS / 2, MS / 4 },    /* most of n2 is hidden */
		{ 3000, 10, MS / 8, MS / 2, MS / 16,
		  MS / 4 }, /* the front layer is the large one */
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t n1 = cases[i].n1, n2 = cases[i].n2;
		sim_time late = cases[i].b1 + n1 * X, dense = (n1 + n2) * X, iteration;
		char rest[512];
		struct run run;

		iteration = cases[i].f1 + cases[i].f2 + cases[i].b2 +
			    (late > dense ? late : dense) + X + 2500000;
		snprintf(rest, sizeof(rest),
			 "'overlap': 'layers', 'iterations': 3, 'model': { 'layers': ["
			 " { 'gradient': '%luB', 'forward': '%luns', 'backward': '%luns' },"
			 " { 'gradient': '%luB', 'forward': '%luns', 'backward': '%luns' } ] }",
			 (unsigned long)n1 * PIECE, (unsigned long)(cases[i].f1 / PS_PER_NS),
			 (unsigned long)(cases[i].b1 / PS_PER_NS), (unsigned long)n2 * PIECE,
			 (unsigned long)(cases[i].f2 / PS_PER_NS),
			 (unsigned long)(cases[i].b2 / PS_PER_NS));
		one_job(&run, rest);
		run_to(&run, END_ALL_DONE);
		cr_expect_eq(running(&run, 0), 3 * iteration, "case %zu: %lu ps instead of %lu", i,
			     (unsigned long)running(&run, 0), (unsigned long)(3 * iteration));
		run_free(&run);
	}
}

/* Loses the result of chunk 9, the last of layer 2, on its way to worker 0, once. */
static bool lose_chunk_9(struct tap *tap, uint32_t host, struct packet *packet)
{
	int *lost = tap->owner;

	if (packet->seq != 9 || host != 0 || *lost)
		return true;
	*lost = 1;
	return false;
}

/* A forward pass waits for the sum of its own layer. Ten chunks each; worker 0 gets
 * the sum of layer 2 only after a timeout (1 ms), that of layer 1 in time:
 *   iteration 0: f1 + f2 + b2, chunk 9 leaves after 9 x, 1 ms later it goes again and
 *     its result comes back: 2 x + 2.5 us;
 *   iteration 1: worker 0 has done f1 meanwhile and goes on with f2, b2, b1: T(10). */
Test(jobs, forward_waits_for_its_layer)
{
	const double *durations;
	struct run run;
	struct tap tap;
	size_t count;
	int lost = 0;

	one_job(&run, "'overlap': 'layers', 'iterations': 2, 'model': { 'layers': ["
		      " { 'gradient': '1280B', 'forward': '100us', 'backward': '100us' },"
		      " { 'gradient': '1280B', 'forward': '100us', 'backward': '100us' } ] }");
	tap_in(&tap, &run, "switchml", lose_chunk_9, &lost);
	run_to(&run, END_ALL_DONE);
	durations = jobs_report(run.s->jobs)->durations;
	count = jobs_report(run.s->jobs)->duration_count;
	cr_assert_eq(count, 2);
	cr_expect_float_eq(durations[0], seconds_of(MS + 3 * MS / 10 + 11 * X + 2500000), 1e-15);
	cr_expect_float_eq(durations[1], seconds_of(3 * MS / 10 + aggregation(10)), 1e-15);
	run_free(&run);
}

/* Two layers of n chunks, each sent in halves in the order of ESA's section 7.2: back,
 * front, front, back. The front layer's sums are in when 3/2 n chunks are, and its
 * forward pass f hides the rest. From the first gradient to the end of the forward pass:
 *   cycle = max((3/2 n + 1) x + 2.5 us + f, (2 n + 1) x + 2.5 us) + f. */
Test(jobs, send_order)
{
	static const sim_time forward[] = { 100 * PS_PER_US, 20 * PS_PER_US };
	const uint64_t n = 1000;

	for (size_t i = 0; i < 2; i++) {
		sim_time f = forward[i], hidden = aggregation(3 * n / 2) + f,
			 dense = aggregation(2 * n), cycle = (hidden > dense ? hidden : dense) + f;
		const double *cycles;
		char rest[512];
		struct run run;
		size_t count;

		snprintf(rest, sizeof(rest),
			 "'overlap': 'layers', 'iterations': 4, 'model': { 'send_order': [1, 0, 0, "
			 "1],"
			 " 'layers': [ { 'gradient': '128kB', 'forward': '%luns' },"
			 "             { 'gradient': '128kB', 'forward': '%luns' } ] }",
			 (unsigned long)(f / PS_PER_NS), (unsigned long)(f / PS_PER_NS));
		one_job(&run, rest);
		run_to(&run, END_ALL_DONE);
		cycles = jobs_report(run.s->jobs)->cycles;
		count = jobs_report(run.s->jobs)->cycle_count;
		cr_assert_eq(count, 2, "%zu: none for the first two iterations", count);
		for (size_t c = 0; c < count; c++)
			cr_expect_float_eq(cycles[c], seconds_of(cycle), 1e-15, "%g not %g",
					   cycles[c], seconds_of(cycle));
		cr_expect_eq(running(&run, 0), 2 * f + 3 * cycle + aggregation(2 * n));
		run_free(&run);
	}
}

/* Gaps before gradients are part of no computation, and are drawn once an iteration
 * or for each tensor: with U(0, J) and w workers the slowest draw has mean J w/(w+1);
 * per tensor, the slowest sum of four lies between the mean 2 J and the bound 4 J. */
Test(jobs, send_jitter)
{
	static const struct {
		const char *per;
		double least_us, most_us;
	} cases[] = { { "iteration", 80 * 0.93, 80 * 1.07 }, { "tensor", 200, 300 } };

	for (size_t i = 0; i < 2; i++) {
		sim_time bare = 200 * PS_PER_US + aggregation(40);
		double gap_us;
		char rest[512];
		struct run run;

		snprintf(rest, sizeof(rest),
			 "'overlap': 'layers', 'iterations': 400, 'send_jitter': '100us',"
			 " 'send_jitter_per': '%s', 'model': { 'send_order': [1, 0, 0, 1], "
			 "'layers': ["
			 " { 'gradient': '2560B', 'forward': '100us' },"
			 " { 'gradient': '2560B', 'forward': '100us' } ] }",
			 cases[i].per);
		one_job(&run, rest);
		run_to(&run, END_ALL_DONE);
		gap_us = 1e6 * seconds_of(running(&run, 0) - 400 * bare) / 400;
		cr_expect(gap_us > cases[i].least_us && gap_us < cases[i].most_us, "%s: %g us",
			  cases[i].per, gap_us);
		cr_expect_float_eq(jobs_report(run.s->jobs)->records[0].compute, 400 * 200e-6,
				   1e-9);
		run_free(&run);
	}
}

/* Fusion to one tensor is the same as no overlap. */
Test(jobs, fusion)
{
	struct run run;

	for (int i = 0; i < 2; i++) {
		one_job(&run,
			i ? "'overlap': 'layers', 'fusion': '1GB', 'model': { 'layers': ["
			    " { 'gradient': '12800B', 'backward': '1ms' },"
			    " { 'gradient': '12800B', 'forward': '1ms' } ] }"
			  : "'model': { 'layers': [ { 'gradient': '12800B', 'backward': '1ms' },"
			    " { 'gradient': '12800B', 'forward': '1ms' } ] }");
		run_to(&run, END_ALL_DONE);
		cr_expect_eq(running(&run, 0), 2 * MS + aggregation(200));
		run_free(&run);
	}
}

/* Ten gradients that appear after 1, 2, ... 10 ms, with cycles of 5 ms from the instance's start
 * on, which is before the workers' by the controller's latency: 4, 5 and 1 are handed over after 5,
 * 10 and 15 ms; with a slow worker, which has them after 2, 4, ... 20 ms, 2, 2, 3, 2 and 1. A sum
 * of a chunk at each worker for each buffer says how many there were. */
Test(jobs, fusion_cycle)
{
	static const struct {
		const char *rest;
		unsigned cycles, buffers;
	} cases[] = {
		{ "", 3, 3 },
		{ ", 'fusion': '8B'", 3, 2 + 3 + 1 },
		{ ", 'fusion': '15B'", 3, 2 + 2 + 1 },
		{ ", 'fusion': '1B'", 3, 10 },
		{ ", 'stragglers': { 'workers': 1 }", 5, 5 },
	};
	char rest[1024];
	struct run run;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int n = snprintf(rest, sizeof(rest),
				 "'overlap': 'layers', 'fusion_cycle': '5ms'%s, 'model': { "
				 "'layers': [",
				 cases[i].rest);

		for (unsigned l = 0; l < 10; l++)
			n += snprintf(rest + n, sizeof(rest) - (size_t)n,
				      "%s{ 'gradient': '4B', 'backward': '1ms' }", l ? ", " : "");
		snprintf(rest + n, sizeof(rest) - (size_t)n, "] }");
		one_job(&run, rest);
		run_to(&run, END_ALL_DONE);
		cr_expect_eq(run.s->checks.exact_checked, 4 * cases[i].buffers, "case %zu", i);
		cr_expect_eq(running(&run, 0) + LATENCY, cases[i].cycles * 5 * MS + aggregation(1),
			     "case %zu: %lu ps", i, (unsigned long)running(&run, 0));
		run_free(&run);
	}
}

/* Buffers of several iterations are in flight beside each other, before machines of several GPUs,
 * and by streams. */
Test(jobs, fusion_cycle_of_everything)
{
	static const char *const with[] = { "'host': { 'slots': 1 }",
					    "'host': { 'gpus': { 'count': 4 } }" };
	static const char *const schemes[] = { "ring", "esa", "ps" };
	struct run run;

	for (unsigned i = 0; i < 12; i++) {
		run_build(&run,
			  "{ 'name': 't', 'fidelity': '%s', 'topology': { 'kind': 'star', 'hosts': "
			  "8, %s }, "
			  "'jobs': [ { 'workers': 4, 'iterations': 3, 'all_reduce': '%s', "
			  "'overlap': 'layers', "
			  "'fusion_cycle': '30us', 'fusion': '100kB', 'compute_jitter': 0.5, "
			  "'model': { 'layers': [ "
			  "{ 'gradient': '30kB', 'backward': '10us' }, { 'gradient': '50kB', "
			  "'backward': '20us' }, "
			  "{ 'gradient': '50kB', 'backward': '20us' }, { 'gradient': '900kB', "
			  "'backward': "
			  "'30us' } ] } } ] }",
			  i < 6 ? "packet" : "fluid", with[i % 2], schemes[i / 2 % 3]);
		run_to(&run, END_ALL_DONE);
		cr_expect_eq(jobs_report(run.s->jobs)->finished, 1);
		run_free(&run);
	}
}

/* JCT = waiting + compute + communication; waiting is the controller's latency for a
 * job that finds its hosts free; compute is exactly what the model says. */
Test(jobs, accounts)
{
	static const char *const latencies[] = { "1us", "10ms", "1ns" };
	static const sim_time latency_ps[] = { PS_PER_US, 10 * MS, PS_PER_NS };

	for (int i = 0; i < 3; i++) {
		const struct job_record *record;
		struct run run;

		run_build(&run,
			  "{ 'name': 't', 'topology': { 'kind': 'star', 'hosts': 4 },"
			  " 'cluster': { 'controller_latency': '%s' },"
			  " 'jobs': [ { 'workers': 4, 'all_reduce': 'switchml', 'iterations': 4,"
			  "   'arrival': { 'at': '3ms' }, 'model': { 'layers': ["
			  "   { 'gradient': '12800B', 'forward': '1ms', 'backward': '2ms' } ] } } "
			  "] }",
			  latencies[i]);
		run_to(&run, END_ALL_DONE);
		cr_expect_eq(job_of(&run, 0)->arrival, 3 * MS);
		cr_expect_eq(job_of(&run, 0)->start, 3 * MS + latency_ps[i]);
		cr_expect_eq(running(&run, 0), 12 * MS + 4 * aggregation(100));
		record = jobs_report(run.s->jobs)->records;
		cr_expect_float_eq(record->waiting, seconds_of(latency_ps[i]), 1e-17);
		cr_expect_float_eq(record->compute, 12e-3, 1e-16);
		cr_expect_float_eq(record->communication, seconds_of(4 * aggregation(100)), 1e-16);
		cr_expect_float_eq(record->jct,
				   record->waiting + record->compute + record->communication,
				   1e-16);
		run_free(&run);
	}
}

/* 100 iterations in 4 steps of 25: a step under way counts by what it has received itself. It
 * computes for 25 ms, then 25,000 chunks take 4 ms. */
Test(jobs, progress_of_steps)
{
	struct run run;
	sim_time step = 25 * MS + aggregation(25000);

	one_job(&run, "'iterations': 100, 'max_steps': 4, 'model': { 'layers': [ { 'gradient': "
		      "'128kB', 'forward': '1ms' } ] }");
	run_until(&run, LATENCY + step + 10 * MS);
	cr_expect_eq(jobs_progress(run.s->jobs), 0.25);
	run_until(&run, LATENCY + step + 27 * MS);
	cr_expect_float_eq(jobs_progress(run.s->jobs), 0.375, 1e-3);
	run_free(&run);
}

/* One worker: its own gradient is the sum, nothing is sent, a ring or a switch is
 * not asked. Also with layers, and with no computing at all. */
Test(jobs, single_worker)
{
	for (int i = 0; i < 4; i++) {
		struct run run;

		run_build(&run,
			  "{ 'name': 't', 'topology': { 'kind': 'star', 'hosts': 2 },"
			  " 'jobs': [ { 'workers': 1, 'all_reduce': '%s', 'iterations': 5, "
			  "'overlap': "
			  "   '%s', 'compute_scale': %d, 'model': { 'layers': ["
			  "   { 'gradient': '1MB', 'forward': '1ms', 'backward': '2ms' },"
			  "   { 'gradient': '1MB', 'forward': '3ms', 'backward': '4ms' } ] } } ] }",
			  i % 2 ? "ring" : "switchml", i % 2 ? "layers" : "none", i < 2);
		run_to(&run, END_ALL_DONE);
		cr_expect_eq(running(&run, 0), i < 2 ? 50 * MS : 0);
		cr_expect_eq(job_of(&run, 0)->iterations_done, 5);
		cr_expect_eq(run.s->topo.net.created, 0);
		run_free(&run);
	}
}

/* --- slow workers --- */

/* A straggler (the last ranks) slows every iteration by its factor: all sums need it.
 * The timers of the others, which wait for 10 ms, must not expire meanwhile. */
Test(jobs, stragglers)
{
	struct run run;

	run_build(&run,
		  "{ 'name': 't', 'topology': { 'kind': 'star', 'hosts': 4 },"
		  " 'schemes': { 'switchml': { 'retransmission_timeout': '1s' } },"
		  " 'jobs': [ { 'workers': 4, 'all_reduce': 'switchml', 'iterations': 6,"
		  "   'stragglers': { 'workers': 2, 'slowdown': 3.5 }, 'model': { 'layers': ["
		  "   { 'gradient': '12800B', 'forward': '1ms', 'backward': '3ms' } ] } } ] }");
	run_to(&run, END_ALL_DONE);
	cr_expect_eq(running(&run, 0), 6 * (14 * MS + aggregation(100)));
	/* the mean over the workers: two of 4 ms and two of 14 ms */
	cr_expect_float_eq(jobs_report(run.s->jobs)->records->compute, 6 * 9e-3, 1e-15);
	run_free(&run);
}

/* Jitter of computing: uniform in [c, c (1 + j)], new for each worker and iteration.
 * An iteration takes the slowest of 4: mean c (1 + j 4/5), standard deviation
 * j c sqrt(4 / (25 * 6)); 4 sigma of the mean of 400. Likewise the start jitter, which
 * begins when the iteration could, not while the sums are still on their way: the
 * communication here (163 us) is longer than the jitter. */
Test(jobs, jitter)
{
	for (int i = 0; i < 2; i++) {
		double sum = 0, min = 1, max = 0, comm = seconds_of(aggregation(1000));
		const double *durations;
		struct run run;
		size_t count;

		one_job(&run,
			i ? "'iterations': 400, 'start_jitter': '100us', 'model': { 'layers': ["
			    " { 'gradient': '128000B', 'forward': '1ms' } ] }"
			  : "'iterations': 400, 'compute_jitter': 0.1, 'model': { 'layers': ["
			    " { 'gradient': '128000B', 'forward': '1ms' } ] }");
		run_to(&run, END_ALL_DONE);
		durations = jobs_report(run.s->jobs)->durations;
		count = jobs_report(run.s->jobs)->duration_count;
		cr_assert_eq(count, 400);
		for (size_t n = 0; n < 400; n++) {
			double extra = (durations[n] - comm - 1e-3) / 0.1e-3;

			sum += extra;
			min = fmin(min, extra);
			max = fmax(max, extra);
		}
		/* all chunks wait for the last worker, which sends at full rate */
		printf("%s jitter: slowest of 4 at %.3f..%.3f, mean %.4f\n",
		       i ? "start" : "compute", min, max, sum / 400);
		cr_expect_geq(min, 0);
		cr_expect_leq(max, 1);
		cr_expect_float_eq(sum / 400, 0.8, 4 * sqrt(4.0 / 150) / 20);
		run_free(&run);
	}
}

/* --- waiting for hosts --- */

/* Eight hosts; jobs of 6, 6 and 2 workers at once. The second waits for the first;
 * the third would fit but waits behind it: first come, first served. */
Test(jobs, queue_is_fifo)
{
	struct run run;

	run_build(&run,
		  "{ 'name': 't', 'topology': { 'kind': 'star', 'hosts': 8 }, 'jobs': ["
		  " { 'name': 'a', 'workers': 6, 'all_reduce': 'switchml', 'model': { 'layers': ["
		  "   { 'gradient': '12800B', 'forward': '7ms' } ] } },"
		  " { 'name': 'b', 'workers': 6, 'all_reduce': 'switchml', 'model': { 'layers': ["
		  "   { 'gradient': '12800B', 'forward': '3ms' } ] } },"
		  " { 'name': 'c', 'workers': 2, 'all_reduce': 'switchml', 'model': { 'layers': ["
		  "   { 'gradient': '12800B', 'forward': '1ms' } ] } } ] }");
	run_to(&run, END_ALL_DONE);
	cr_expect_eq(job_of(&run, 0)->start, LATENCY);
	cr_expect_eq(job_of(&run, 0)->finish, LATENCY + 7 * MS + aggregation(100));
	cr_expect_eq(job_of(&run, 1)->start, job_of(&run, 0)->finish + LATENCY);
	cr_expect_eq(job_of(&run, 2)->start, job_of(&run, 0)->finish + LATENCY);
	cr_expect_eq(job_of(&run, 1)->finish - job_of(&run, 1)->start, 3 * MS + aggregation(100));
	cr_expect_str_eq(jobs_report(run.s->jobs)->records[0].group->name,
			 "a"); /* in the order of finishing */
	cr_expect_str_eq(jobs_report(run.s->jobs)->records[1].group->name, "c");
	run_free(&run);
}

/* One after the other on the same hosts: job i of a burst starts when job i-1 ends,
 * plus the latency, to the picosecond. */
Test(jobs, one_after_the_other)
{
	struct run run;

	one_job(&run, "'count': 5, 'model': { 'layers': [ { 'gradient': '12800B',"
		      " 'forward': '1ms' } ] }");
	run_to(&run, END_ALL_DONE);
	for (sim_time i = 0; i < 5; i++) {
		cr_expect_eq(job_of(&run, i)->start,
			     (i + 1) * LATENCY + i * (MS + aggregation(100)));
		cr_expect_eq(job_of(&run, i)->number, i);
	}
	run_free(&run);
}

/* With two slots a host serves two jobs, and never two workers of one: 8 workers on
 * 8 hosts twice, side by side, and a third job of 8 waits. */
Test(jobs, slots)
{
	struct run run;

	run_build(&run, "{ 'name': 't', 'topology': { 'kind': 'star', 'hosts': 8,"
			" 'host': { 'slots': 2 } }, 'jobs': [ { 'count': 3, 'workers': 8,"
			" 'all_reduce': 'ring', 'model': { 'layers': [ { 'gradient': '400kB',"
			" 'forward': '1ms' } ] } } ] }");
	run_until(&run, MS / 2);
	cr_expect_eq(jobs_report(run.s->jobs)->running, 2);
	for (size_t i = 0; i < 2; i++) {
		uint32_t seen = 0;

		for (uint32_t w = 0; w < 8; w++)
			seen |= 1u << job_of(&run, i)->hosts[w];
		cr_expect_eq(seen, 0xff);
	}
	run_to(&run, END_ALL_DONE);
	cr_expect_eq(job_of(&run, 1)->start, LATENCY);
	cr_expect_gt(job_of(&run, 2)->start, MS);
	run_free(&run);
}

/* Switch memory is a resource too: with room for one job's slots the second waits,
 * although hosts are free. */
Test(jobs, queue_for_memory)
{
	struct run run;

	run_build(&run,
		  "{ 'name': 't', 'topology': { 'kind': 'star', 'hosts': 8 },"
		  " 'schemes': { 'switchml': { 'memory': '12000B', 'slots': 32 } },"
		  " 'jobs': [ { 'count': 2, 'workers': 4, 'all_reduce': 'switchml',"
		  " 'model': { 'layers': [ { 'gradient': '12800B', 'forward': '1ms' } ] } } ] }");
	run_to(&run, END_ALL_DONE);
	cr_expect_eq(job_of(&run, 1)->start, job_of(&run, 0)->finish + LATENCY);
	run_free(&run);
}

/* --- placement --- */

static unsigned racks_of(const struct run *run, size_t job)
{
	bool used[8] = { false };
	unsigned racks = 0;

	for (uint32_t w = 0; w < job_of(run, job)->workers; w++) {
		uint32_t rack = job_of(run, job)->hosts[w] / 4;

		racks += !used[rack];
		used[rack] = true;
	}
	return racks;
}

static void place(struct run *run, const char *policy, int seed)
{
	run_build(run,
		  "{ 'name': 't', 'seed': %d, 'topology': { 'kind': 'leaf-spine', 'leaves': 8,"
		  " 'spines': 2, 'hosts_per_leaf': 4 }, 'jobs': [ { 'count': 2, 'workers': 4,"
		  " 'placement': '%s', 'all_reduce': 'ring',"
		  " 'model': { 'layers': [ { 'gradient': '40kB', 'forward': '1ms' } ] } } ] }",
		  seed, policy);
	run_until(run, MS / 2);
}

/* Four workers in racks of four: compact, one rack each; spread, four racks each;
 * random, other hosts with another seed. */
Test(jobs, placement)
{
	struct run run, other;
	bool differs = false;

	place(&run, "compact", 1);
	cr_expect(racks_of(&run, 0) == 1 && racks_of(&run, 1) == 1);
	run_to(&run, END_ALL_DONE);
	run_free(&run);
	place(&run, "spread", 1);
	cr_expect(racks_of(&run, 0) == 4 && racks_of(&run, 1) == 4);
	run_to(&run, END_ALL_DONE);
	run_free(&run);
	place(&run, "random", 1);
	place(&other, "random", 2);
	for (uint32_t w = 0; w < 4; w++)
		differs |= job_of(&run, 0)->hosts[w] != job_of(&other, 0)->hosts[w];
	cr_expect(differs);
	run_free(&run);
	run_free(&other);
}

/* A list of hosts is taken as it stands; two jobs that want one host queue for it. */
Test(jobs, named_hosts)
{
	struct run run;

	run_build(&run, "{ 'name': 't', 'topology': { 'kind': 'star', 'hosts': 8 }, 'jobs': ["
			" { 'workers': [5, 2, 7], 'all_reduce': 'switchml', 'model': { 'layers': ["
			"   { 'gradient': '12800B', 'forward': '2ms' } ] } },"
			" { 'workers': [1, 5], 'all_reduce': 'switchml', 'model': { 'layers': ["
			"   { 'gradient': '12800B', 'forward': '1ms' } ] } } ] }");
	run_until(&run, MS);
	cr_expect_eq(job_of(&run, 0)->hosts[0], 5);
	cr_expect_eq(job_of(&run, 0)->hosts[1], 2);
	cr_expect_eq(job_of(&run, 0)->hosts[2], 7);
	run_to(&run, END_ALL_DONE);
	cr_expect_eq(job_of(&run, 1)->start, job_of(&run, 0)->finish + LATENCY);
	run_free(&run);
}

/* --- arrivals --- */

/* Poisson: gaps with the mean that was asked for, 4 sigma of 1,000; numbers of
 * workers drawn uniformly from the range (chi-square with 6 degrees of freedom below
 * 22.5, p = 0.001). The jobs are in the order of arrival. */
Test(jobs, poisson_arrivals)
{
	double counts[9] = { 0 }, chi = 0, mean;
	struct run run;

	run_build(&run,
		  "{ 'name': 't', 'topology': { 'kind': 'star', 'hosts': 64 }, 'jobs': ["
		  " { 'count': 1000, 'workers': { 'min': 2, 'max': 8 }, 'all_reduce': 'switchml',"
		  "   'arrival': { 'poisson_gap': '1ms' },"
		  "   'model': { 'layers': [ { 'gradient': '128B', 'forward': '0.1ms' } ] } } ] }");
	run_to(&run, END_ALL_DONE);
	mean = seconds_of(job_of(&run, 999)->arrival) / 1000;
	cr_expect_float_eq(mean, 1e-3, 4 * 1e-3 / sqrt(1000));
	for (size_t i = 0; i < 1000; i++) {
		cr_assert(job_of(&run, i)->workers >= 2 && job_of(&run, i)->workers <= 8);
		counts[job_of(&run, i)->workers]++;
		if (i)
			cr_assert_geq(job_of(&run, i)->arrival, job_of(&run, i - 1)->arrival);
		cr_expect_geq(job_of(&run, i)->start, job_of(&run, i)->arrival + LATENCY);
	}
	for (int w = 2; w <= 8; w++)
		chi += (counts[w] - 1000.0 / 7) * (counts[w] - 1000.0 / 7) / (1000.0 / 7);
	cr_expect_leq(chi, 22.5);
	run_free(&run);
}

static void write_trace(char *path, const char *rows)
{
	int descriptor = mkstemp(path);
	FILE *file = descriptor >= 0 ? fdopen(descriptor, "w") : NULL;

	cr_assert_not_null(file);
	fprintf(file, "job_id,submit_s,gpus,duration_s\n%s", rows);
	fclose(file);
}

#define TRACED                                                                                     \
	"{ 'name': 't', 'topology': { 'kind': 'star', 'hosts': 8 }, 'jobs': ["                     \
	" { 'iterations': 'duration', 'all_reduce': 'switchml',"                                   \
	"   'arrival': { 'trace': '%s', 'speedup': %s, 'gpus_per_worker': %d, 'limit': %d },"      \
	"   'model': { 'layers': [ { 'gradient': '128B', 'forward': '1ms' } ] } } ] }"

/* A trace: submissions and durations divided by speedup, GPUs rounded up to workers,
 * iterations = duration / computing time of one, rounded, at least one. */
Test(jobs, trace)
{
	char path[] = INASIM_WORK_DIR "/inasim_jobs_XXXXXX";
	struct run run;

	write_trace(path, "7,0,1,1\n8,0.5,8,2.6\n9,2,9,0.001\n10,3,99,5\n");
	run_build(&run, TRACED, path, "100", 2, 3);
	run_to(&run, END_ALL_DONE);
	cr_assert_eq(jobs_report(run.s->jobs)->count, 3);
	cr_expect_eq(job_of(&run, 0)->workers, 1);
	cr_expect_eq(job_of(&run, 0)->iterations, 10);
	cr_expect_eq(job_of(&run, 1)->arrival, 5 * MS);
	cr_expect_eq(job_of(&run, 1)->workers, 4);
	cr_expect_eq(job_of(&run, 1)->iterations, 26);
	cr_expect_eq(job_of(&run, 2)->workers, 5);
	cr_expect_eq(job_of(&run, 2)->iterations, 1);
	run_free(&run);
	/* found before the run: job 10 needs 50 of 8 hosts; no such file */
	cr_expect_eq(run_mistakes("job 10 needs 50 workers", TRACED, path, "100", 2, 4), 1);
	cr_expect_eq(run_mistakes("/jobs/0/arrival/trace", TRACED, "nowhere.csv", "1", 2, 4), 1);
	unlink(path);
}

/* Whoever has nobody to add up with is a group of one, under every scheme and in every fidelity
 * that there is for it: no warning and no error is said of it (ps_stream once divided by its
 * servers, which it does not have), nothing is waited for, and the job ends. */
Test(jobs, groups_of_one)
{
	static const struct {
		const char *group, *host;
		bool packets_only;
	} ones[] = {
		{ "'workers': 1", "", false },
		{ "'workers': [2]", "", false },
		{ "'workers': { 'min': 1, 'max': 1 }", "", false },
		{ "'workers': 1, 'overlap': 'layers'", "", false },
		{ "'workers': 1, 'pipeline': { 'stages': 1 }", "", false },
		{ "'workers': 2, 'overlap': 'layers', 'pipeline': { 'stages': 2 }", "", true },
		{ "'workers': 3, 'overlap': 'layers', 'pipeline': { 'stages': 3 }", "", true },
		{ "'workers': 1", "'gpus': { 'count': 1 }", false },
		{ "'workers': 1", "'gpus': { 'count': 8, 'rate': '50GBps' }", false },
		{ "'workers': 1",
		  "'gpus': { 'count': 8, 'rate': '50GBps' }, 'nics': { 'count': 2 }", false },
	};
	static const char *const fidelities[] = { "packet", "analytic" };

	for (unsigned i = 0; all_reduce_ops(i); i++)
		for (size_t k = 0; k < 2 * sizeof(ones) / sizeof(ones[0]); k++) {
			size_t one = k / 2;
			struct run run;

			if (k % 2 && (run_is_nvls(i) || ones[one].packets_only))
				continue;
			run_build(&run,
				  "{ 'name': 't', 'fidelity': '%s', 'topology': { 'kind': 'star',"
				  " 'hosts': 8, 'host': { %s }, 'switch': { 'pause': %s } },"
				  " 'jobs': [ { %s, 'all_reduce': '%s', 'iterations': 2, 'model': {"
				  " 'layers': [ { 'gradient': '100KB', 'forward': '10us' },"
				  " { 'gradient': '4B' }, { 'gradient': '4B' } ] } } ] }",
				  fidelities[k % 2], ones[one].host, k % 2 ? "false" : "true",
				  ones[one].group, scheme_ops(i)->name);
			cr_expect_eq(conf_warnings(run.doc), 0, "%s, %s", scheme_ops(i)->name,
				     ones[one].group);
			run_to(&run, END_ALL_DONE);
			cr_expect_geq(run.s->sim.now, 20 * PS_PER_US);
			run_free(&run);
		}
}

#define WRONG(rest)                                                                                \
	"{ 'name': 't', 'topology': { 'kind': 'star', 'hosts': 4 }, 'jobs': [ { 'all_reduce': "    \
	"'ring', 'model': { 'layers': [ { 'gradient': '4B' } ] }, " rest " } ] }"

Test(jobs, mistakes)
{
	cr_expect_eq(run_mistakes("5 workers", WRONG("'workers': 5")), 1);
	cr_expect_eq(run_mistakes("is listed twice", WRONG("'workers': [1, 2, 1]")), 1);
	cr_expect_eq(run_mistakes("no host 4", WRONG("'workers': [1, 4]")), 1);
	cr_expect_eq(run_mistakes("larger than max", WRONG("'workers': { 'min': 3, 'max': 2 }")),
		     1);
	cr_expect_eq(run_mistakes("needs \"workers\"", WRONG("'count': 1")), 1);
	cr_expect_eq(run_mistakes("only one tensor", WRONG("'workers': 2, 'fusion': '1MB'")), 1);
	cr_expect_eq(run_mistakes("/jobs/0/iterations",
				  WRONG("'workers': 2, 'iterations': 'duration'")) > 0,
		     1);
	cr_expect_eq(run_mistakes("", WRONG("'workers': 4")), 0);
}
