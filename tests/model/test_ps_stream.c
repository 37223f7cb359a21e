/* Parameter servers with SwitchML's packets: the same closed forms as a switch where the servers
 * have as many links as the workers (SwitchML, section 5.3 and figure 4):
 *   dedicated, m servers, n workers:  T = max(1, n/m) |U| / (B g)
 *   beside the workers, m = n:        T = 2 (n-1)/n |U| / (B g)
 * with the goodput g = 128/200 of 180-byte packets and no ACKs, within 0.2 % for the first and the
 * last round trip. */
#include "model_run.h"

#include "ina/switchml/switchml.h"
#include "workload/jobs/jobs_parts.h"

#include <math.h>
#include <stdlib.h>

#define RATE (10e9 / 8 * 128 / 200) /* payload bytes a second */

static void build(struct run *run, unsigned hosts, unsigned workers, const char *servers,
		  const char *rest, uint64_t size)
{
	run_build(run,
		  "{ 'name': 't', 'topology': { 'kind': 'star', 'hosts': %u }, 'jobs': ["
		  " { 'workers': %u, 'all_reduce': 'ps_stream', 'servers': %s,"
		  "   'model': { 'layers': [ { 'gradient': '%luB' } ] } } ] %s }",
		  hosts, workers, servers, (unsigned long)size, rest);
}

static double iteration_s(const struct run *run)
{
	size_t count;
	const double *durations = jobs_report(run->s->jobs)->durations;
	count = jobs_report(run->s->jobs)->duration_count;

	cr_assert_eq(count, 1);
	return durations[0];
}

static uint64_t packets_of(const struct run *run, uint32_t port)
{
	uint64_t packets, size;

	port_carried(&run->s->topo.net.ports[port], &packets, &size);
	return packets;
}

/* The bytes, too: a worker's G packets up and down, G n/m at a server. */
Test(ps_stream, dedicated)
{
	const uint64_t chunks = 31250;

	for (unsigned n = 4; n <= 8; n *= 2) {
		for (unsigned m = 1; m <= n; m *= 2) {
			double want = (double)n / m * 4e6 / RATE, t;
			char servers[16];
			struct run run;

			snprintf(servers, sizeof(servers), "%u", m);
			build(&run, n + m, n, servers, "", 4000000);
			run_to(&run, END_ALL_DONE);
			t = iteration_s(&run);
			printf("n = %u, m = %u: %.3f ms, %.4f of the closed form\n", n, m, t * 1e3,
			       t / want);
			cr_expect_float_eq(t / want, 1.001, 0.002);
			for (uint32_t w = 0; w < n; w++)
				cr_expect_eq(packets_of(&run, w), chunks);
			for (uint32_t q = n; q < n + m; q++) /* slots do not divide chunks evenly */
				cr_expect_lt(fabs((double)packets_of(&run, q) -
						  (double)(chunks * n) / m),
					     n * 128.0);
			cr_expect_eq(run.s->checks.exact_checked, n * chunks);
			cr_expect_eq(run.s->topo.net.dropped, 0);
			run_free(&run);
		}
	}
}

Test(ps_stream, beside_workers)
{
	for (unsigned n = 2; n <= 16; n *= 2) {
		double want = 2.0 * (n - 1) / n * 4e6 / RATE, t;
		struct run run;

		build(&run, n, n, "{ 'placement': 'workers' }", "", 4000000);
		run_to(&run, END_ALL_DONE);
		t = iteration_s(&run);
		printf("n = %u: %.3f ms, %.4f of the closed form\n", n, t * 1e3, t / want);
		cr_expect_float_eq(t / want, 1.001, 0.002);
		cr_expect_eq(run.s->checks.exact_checked, n * UINT64_C(31250));
		run_free(&run);
	}
}

/* MTU-sized packets (figure 7): g = 1464/1536. */
Test(ps_stream, mtu)
{
	struct run run;

	build(&run, 8, 4, "4", ", 'schemes': { 'ps_stream': { 'format': 's19-mtu' } }", 16000000);
	run_to(&run, END_ALL_DONE);
	cr_expect_float_eq(iteration_s(&run) / (16e6 * 8 / 10e9 * 1536 / 1464), 1.001, 0.002);
	run_free(&run);
}

/* One packet, exactly: with x = 160 ns a link, up x + 1.5 us and the server's port, where two meet,
 * 2 x + 1 us; down the second copy 2 x + 1.5 us, x + 1 us. */
Test(ps_stream, one_packet)
{
	const struct job *job;
	struct run run;

	build(&run, 3, 2, "1", "", 128);
	run_to(&run, END_ALL_DONE);
	job = &run.s->jobs->jobs[0];
	cr_expect_eq(job->finish - job->start, 6 * 160000 + 5000000, "%lu ps",
		     (unsigned long)(job->finish - job->start));
	run_free(&run);
}

/* Any size, any number of servers, more servers than slots in use, several tensors: each chunk once
 * at each worker (the sums are checked always). */
Test(ps_stream, shapes)
{
	for (unsigned n = 2; n <= 5; n++) {
		for (unsigned m = 1; m <= 6; m++) {
			for (int beside = 0; beside <= (m <= n); beside++) {
				struct run run;

				run_build(
					&run,
					"{ 'name': 't', 'topology': { 'kind': 'star', 'hosts': "
					"12 }, 'schemes': { 'ps_stream': { 'slots': %u } },"
					" 'jobs': [ { 'workers': %u, 'all_reduce': 'ps_stream',"
					"   'servers': { 'count': %u, 'placement': '%s' },"
					"   'iterations': 2, 'overlap': 'layers',"
					"   'model': { 'layers': [ { 'gradient': '1B' },"
					"     { 'gradient': '12801B' }, { 'gradient': '128B' } ] } "
					"} ] }",
					m == 6 ? 4 : 16, n, m, beside ? "workers" : "own");
				run_to(&run, END_ALL_DONE);
				cr_expect_eq(run.s->checks.exact_checked, 2 * n * (1 + 101 + 1));
				run_free(&run);
			}
		}
	}
}

/* 1 % loss on every link, and timers that are too short, so that there are duplicates everywhere.
 */
Test(ps_stream, loss)
{
	static const char *const timeouts[] = { "1ms", "20us", "6us" };

	for (int beside = 0; beside < 2; beside++) {
		for (size_t i = 0; i < 3; i++) {
			struct run run;

			run_build(
				&run,
				"{ 'name': 't', 'topology': { 'kind': 'star', 'hosts': 8, 'link': "
				"{ 'rate': '10Gbps', 'delay': '1us', 'loss': 0.01 } },"
				" 'schemes': { 'ps_stream': { 'slots': 32, "
				"'retransmission_timeout': '%s' } },"
				" 'jobs': [ { 'workers': 4, 'all_reduce': 'ps_stream',"
				"   'servers': { 'count': 4, 'placement': '%s' },"
				"   'model': { 'layers': [ { 'gradient': '128000B' } ] } } ] }",
				timeouts[i], beside ? "workers" : "own");
			run_to(&run, END_ALL_DONE);
			cr_expect_eq(run.s->checks.exact_checked, 4 * 1000);
			cr_expect_gt(run.s->topo.net.lost, 0);
			cr_expect_gt(run.s->jobs->jobs[0].stats.retransmissions, 0);
			cr_expect_gt(run.s->jobs->jobs[0].stats.repairs, 0);
			run_free(&run);
		}
	}
}

/* A central server whose port takes 64 packets of the n s = 8 * 64 that come at once: drops there,
 * repaired by timers. */
Test(ps_stream, incast)
{
	struct run run;

	run_build(&run, "{ 'name': 't', 'topology': { 'kind': 'star', 'hosts': 9, 'switch': { "
			"'buffer': '12800B' } }, 'schemes': { 'ps_stream': { 'slots': 64 } },"
			" 'jobs': [ { 'workers': 8, 'servers': 1, 'all_reduce': 'ps_stream',"
			"   'model': { 'layers': [ { 'gradient': '8192B' } ] } } ] }");
	run_to(&run, END_ALL_DONE);
	/* 512 packets come in 64 x; 64 leave meanwhile, and 12800 / 180 find room */
	cr_expect_geq(run.s->topo.net.cold[run.s->topo.net.cold[8].reverse].drops,
		      512 - 64 - 12800 / 180 - 8);
	cr_expect_eq(run.s->topo.net.cold[run.s->topo.net.cold[8].reverse].drops,
		     run.s->topo.net.dropped);
	cr_expect_eq(run.s->checks.exact_checked, 8 * 64);
	run_free(&run);
}

/* A server that adds at 4 Gbps: n |U| / R, for two jobs on one host twice that. The timers are long
 * enough for the queue of n s packets. */
Test(ps_stream, reduction_rate)
{
	for (unsigned jobs = 1; jobs <= 2; jobs++) {
		double want = jobs * 4 * 1e6 * 8 / 4e9, t = 0;
		struct run run;

		run_build(&run,
			  "{ 'name': 't', 'topology': { 'kind': 'star', 'hosts': 9,"
			  " 'host': { 'reduction_rate': '4Gbps' } }, 'cluster': { 'servers': 1 },"
			  " 'jobs': [ { 'count': %u, 'workers': 4, 'all_reduce': 'ps_stream',"
			  "   'servers': { 'count': 1, 'placement': 'shared' },"
			  "   'model': { 'layers': [ { 'gradient': '1MB' } ] } } ] }",
			  jobs);
		run_to(&run, END_ALL_DONE);
		for (unsigned i = 0; i < jobs; i++)
			t = fmax(t, jobs_report(run.s->jobs)->records[i].communication);
		printf("%u jobs: %.3f ms, %.4f of the bound\n", jobs, t * 1e3, t / want);
		cr_expect_float_eq(t / want, 1.001, 0.002);
		cr_expect_eq(run.s->jobs->jobs[0].stats.timeouts, 0);
		/* chunks are padded: 7813 of 128 bytes */
		cr_expect_eq(run.s->reducers.host[8].busy, jobs * 4 * UINT64_C(7813) * 128 * 2000);
		run_free(&run);
	}
}

/* Timers that are much shorter than the queue of n s packets: what comes again is not added, and
 * the time stays n |U| / R, for one server, for servers beside workers, and with losses. */
Test(ps_stream, duplicates_are_not_added)
{
	static const struct {
		const char *servers;
		unsigned max; /* that a server adds of |U|: n, or n / m */
		double loss;
	} cases[] = {
		{ "{ 'count': 1 }", 4, 0 },
		{ "{ 'placement': 'workers' }", 1, 0 },
		{ "{ 'count': 1 }", 4, 0.001 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		double want = cases[i].max * 1e6 * 8 / 1e9;
		sim_time busy = 0;
		struct run run;

		run_build(&run,
			  "{ 'name': 't', 'topology': { 'kind': 'star', 'hosts': 5,"
			  " 'link': { 'rate': '10Gbps', 'delay': '1us', 'loss': %g },"
			  " 'host': { 'reduction_rate': '1Gbps' } },"
			  " 'schemes': { 'ps_stream': { 'slots': 512, "
			  "'retransmission_timeout': '500us' } },"
			  " 'jobs': [ { 'workers': 4, 'all_reduce': 'ps_stream', 'servers': %s,"
			  "   'model': { 'layers': [ { 'gradient': '1MB' } ] } } ] }",
			  cases[i].loss, cases[i].servers);
		run_to(&run, END_ALL_DONE);
		printf("%s: %.3f ms, %.4f of the bound\n", cases[i].servers,
		       iteration_s(&run) * 1e3, iteration_s(&run) / want);
		cr_expect_float_eq(iteration_s(&run) / want, 1.001, 0.001);
		cr_expect_gt(run.s->jobs->jobs[0].stats.retransmissions, 7813);
		for (uint32_t h = 0; h < 5; h++)
			busy += run.s->reducers.host[h].busy;
		cr_expect_eq(busy, 4 * UINT64_C(7813) * 128 * 8000);
		run_free(&run);
	}
}

/* The straggler's own slots complete from hand to hand the moment it hands its tensor over, and the
 * rest takes what its link needs. */
Test(ps_stream, straggler)
{
	struct run run;
	double t;

	run_build(&run,
		  "{ 'name': 't', 'topology': { 'kind': 'star', 'hosts': 4 },"
		  " 'jobs': [ { 'workers': 4, 'all_reduce': 'ps_stream', 'stragglers': { "
		  "'workers': 1, 'slowdown': 5 }, 'servers': { 'placement': 'workers' },"
		  "   'model': { 'layers': [ { 'gradient': '4MB', 'backward': '100us' } ] } } "
		  "] }");
	run_to(&run, END_ALL_DONE);
	t = iteration_s(&run) - 500e-6;
	cr_expect_float_eq(t / (1.5 * 4e6 / RATE), 1.002, 0.003, "%.9f", t);
	run_free(&run);
}

/* Slots: BDP with the round trip over four links, 4 x + 2 * (2 us + 500 ns) = 5.64 us at 10 Gbps:
 * 7050 bytes, 39.2 packets of 180, so 64; at least one a server; or as asked for. */
Test(ps_stream, slots)
{
	static const struct {
		const char *rest, *servers;
		uint32_t slots;
	} cases[] = {
		{ "", "1", 64 },
		{ ", 'schemes': { 'ps_stream': { 'format': 's19-mtu' } }", "1", 16 },
		{ ", 'schemes': { 'ps_stream': { 'format': 's19-mtu' } }", "18", 18 },
		{ ", 'schemes': { 'ps_stream': { 'slots': 5 } }", "1", 5 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct run run;

		build(&run, 20, 2, cases[i].servers, cases[i].rest, 1000);
		run_to(&run, END_ALL_DONE);
		cr_expect_eq(run.s->jobs->jobs[0].slots, cases[i].slots, "case %zu: %lu", i,
			     (unsigned long)run.s->jobs->jobs[0].slots);
		run_free(&run);
	}
	cr_expect_eq(run_mistakes("the memory of hosts has no limit",
				  "{ 'name': 't', 'topology': { 'kind': 'star', 'hosts': 8 },"
				  " 'schemes': { 'ps_stream': { 'slots': 'memory' } },"
				  " 'jobs': [ { 'all_reduce': 'ps_stream', 'workers': 2,"
				  " 'model': 'vgg16' } ] }"),
		     1);
}

/* The largest multiple of the servers where the rule asks for more than there may be. */
Test(ps_stream, most_slots)
{
	struct run run;

	run_build(&run, "{ 'name': 't', 'topology': { 'kind': 'star', 'hosts': 6, 'link': {"
			" 'rate': '400Gbps', 'delay': '100us' } }, 'jobs': [ { 'workers': 3,"
			" 'all_reduce': 'ps_stream', 'servers': 3,"
			" 'model': { 'layers': [ { 'gradient': '1kB' } ] } } ] }");
	run_to(&run, END_ALL_DONE);
	cr_expect_eq(run.s->jobs->jobs[0].slots, 65535, "%lu",
		     (unsigned long)run.s->jobs->jobs[0].slots);
	run_free(&run);
}

/* Numbers of servers that do not divide a power of two: slots by the rule are shared evenly all the
 * same, so T = n/m |U| / (B g); a number of slots that is no multiple gives the first server
 * ceil(s/m) of them, and T = n ceil(s/m)/s |U| / (B g), in packets and as a stream. */
Test(ps_stream, slots_shared_evenly)
{
	static const struct {
		unsigned servers, slots; /* slots 0: by the rule */
		double part;             /* of the busiest server */
	} cases[] = { { 3, 0, 1.0 / 3 },
		      { 5, 0, 1.0 / 5 },
		      { 7, 0, 1.0 / 7 },
		      { 3, 40, 14.0 / 40 },
		      { 7, 71, 11.0 / 71 } };
	static const char *const fidelities[] = { "packet", "fluid" };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		for (size_t f = 0; f < 2; f++) {
			double want = 7 * cases[i].part * 4e6 / RATE, t;
			char servers[16], rest[128], slots[16];
			struct run run;

			snprintf(servers, sizeof(servers), "%u", cases[i].servers);
			snprintf(slots, sizeof(slots), "%u", cases[i].slots);
			snprintf(rest, sizeof(rest),
				 ", 'fidelity': '%s', 'schemes': { 'ps_stream': { 'slots': %s } }",
				 fidelities[f], cases[i].slots ? slots : "'bdp'");
			build(&run, 14, 7, servers, rest, 4000000);
			run_to(&run, END_ALL_DONE);
			t = jobs_report(run.s->jobs)->records[0].communication;
			printf("%u servers, %s: %.3f ms, %.4f of the closed form\n",
			       cases[i].servers, rest, t * 1e3, t / want);
			cr_expect_float_eq(t / want, 1.002, 0.003);
			run_free(&run);
		}
	}
}

/* Few slots at one server: each is free again after the round trip and, as all copies come through
 * one link, n - 1 packets more: 5.64 us + (n - 1) 0.16 us for k packets, in packets as in fluid. */
Test(ps_stream, few_slots)
{
	static const char *const fidelities[] = { "packet", "fluid", "analytic" };

	for (unsigned n = 2; n <= 16; n *= 8) {
		for (unsigned k = 1; k * n * 0.16e-6 < 5.64e-6 + (n - 1) * 0.16e-6; k *= 2) {
			double want = 10240.0 / k * (5.64e-6 + (n - 1) * 0.16e-6), t;

			for (size_t f = 0; f < 3; f++) {
				char rest[128];
				struct run run;

				snprintf(rest, sizeof(rest),
					 ", 'fidelity': '%s', 'schemes': { 'ps_stream': { 'slots': "
					 "%u } }",
					 fidelities[f], k);
				build(&run, n + 1, n, "1", rest, 10240 * 128);
				run_to(&run, END_ALL_DONE);
				t = jobs_report(run.s->jobs)->records[0].communication;
				cr_expect_float_eq(t / want, 1.0015, 0.002,
						   "%u workers, %u slots, %s: %.4f of the closed "
						   "form",
						   n, k, fidelities[f], t / want);
				run_free(&run);
			}
		}
	}
}

/* Slots by the rule keep all links busy, also with packets so large that the round trip is few of
 * them and the wait for the copies of all workers is most of a slot's time. 9,766 packets of 1,080
 * + 20 bytes, 8 x 1,100 B / 10 Gbps = 0.88 us each, 0.88 n/m on a server's link; a round trip is
 * 5 us (3 with 500 ns) and four packets:
 *
 *     n, m      round trip   and wait      m / max(m, n)    slots, of a multiple of m
 *     8, 8      9.7          16.7          16.7             32
 *     16, 16    9.7          24.7          24.7             32
 *     16, 8     7.4 (500 ns) 22.4          11.2             16
 *     16, 1     9.7          24.7          1.5              16
 *     8, 8      60.8 (100 Gbps) 67.8       67.8             128
 *
 * (with the round trip alone 16, 16, 8, 16 and 64). So a tensor takes the links' time and a round
 * trip; 0.5 % for sums of several servers that meet at a worker, and the last slots. In fluid, too.
 */
Test(ps_stream, slots_cover_the_wait)
{
	static const struct {
		unsigned workers, servers, gbps, delay_ns, slots;
	} cases[] = { { 8, 8, 10, 1000, 32 },
		      { 16, 16, 10, 1000, 32 },
		      { 16, 8, 10, 500, 16 },
		      { 16, 1, 10, 1000, 16 },
		      { 8, 8, 100, 1000, 128 } };
	static const char *const fidelities[] = { "packet", "fluid" };

	for (size_t i = 0; i < 2 * sizeof(cases) / sizeof(cases[0]); i++) {
		unsigned n = cases[i / 2].workers, m = cases[i / 2].servers;
		double part = n > m ? (double)n / m : 1;
		double trip = 4e-9 * cases[i / 2].delay_ns + 1e-6, t;
		double want = part * 9766 * 1100 * 8 / (cases[i / 2].gbps * 1e9) + trip;
		struct run run;

		run_build(
			&run,
			"{ 'name': 't', 'fidelity': '%s', 'topology': { 'kind': 'star', 'hosts': "
			"%u,"
			" 'link': { 'rate': '%uGbps', 'delay': '%uns' } },"
			" 'schemes': { 'ps_stream': { 'elements_per_packet': 256, 'header': 56 } },"
			" 'jobs': [ { 'workers': %u, 'all_reduce': 'ps_stream', 'servers': %u,"
			"   'model': { 'layers': [ { 'gradient': '10MB' } ] } } ] }",
			fidelities[i % 2], n + m, cases[i / 2].gbps, cases[i / 2].delay_ns, n, m);
		run_to(&run, END_ALL_DONE);
		cr_expect_eq(run.s->jobs->jobs[0].slots, cases[i / 2].slots, "case %zu: %lu", i / 2,
			     (unsigned long)run.s->jobs->jobs[0].slots);
		t = jobs_report(run.s->jobs)->records[0].communication;
		cr_expect_float_eq(t / want, 1.0025, 0.0025,
				   "case %zu, %s: %.4f of the closed form", i / 2,
				   fidelities[i % 2], t / want);
		run_free(&run);
	}
}

/* What counts is the pair farthest apart, also when worker 0 has a server in its rack: over six
 * links 2 x (6 x 0.16 us + 6 us + 5 x 500 ns) = 18.92 us, 131.4 packets; in a rack 39.2. */
Test(ps_stream, slots_of_the_longest_pair)
{
	struct run run;

	run_build(&run,
		  "{ 'name': 't', 'topology': { 'kind': 'fat-tree', 'k': 4, 'link': { 'rate': "
		  "'10Gbps', 'delay': '1us' } }, 'jobs': [ { 'workers': 8, 'all_reduce': "
		  "'ps_stream', 'placement': 'spread', 'model': { 'layers': [ { 'gradient': "
		  "'1kB' } ] } } ] }");
	run_to(&run, END_ALL_DONE);
	cr_expect_eq(run.s->jobs->jobs[0].slots, 256, "%lu",
		     (unsigned long)run.s->jobs->jobs[0].slots);
	run_free(&run);
}

/* Over racks: each pair of hosts has one path, so that nothing overtakes; losses too. */
Test(ps_stream, racks)
{
	for (int loss = 0; loss < 2; loss++) {
		struct run run;

		run_build(
			&run,
			"{ 'name': 't', 'topology': { 'kind': 'leaf-spine', 'leaves': 4, 'spines': "
			"4, 'hosts_per_leaf': 4, 'link': { 'rate': '10Gbps', 'delay': '1us', "
			"'loss': %s } },"
			" 'schemes': { 'ps_stream': { 'retransmission_timeout': '30us' } },"
			" 'jobs': [ { 'workers': 8, 'all_reduce': 'ps_stream', 'placement': "
			"'random', 'model': { 'layers': [ { 'gradient': '256kB' } ] } } ] }",
			loss ? "0.005" : "0");
		run_to(&run, END_ALL_DONE);
		cr_expect_eq(run.s->checks.exact_checked, 8 * 2000);
		run_free(&run);
	}
}
