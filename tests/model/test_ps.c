/* Parameter servers: time against closed forms, bytes, losses, placement.
 *
 * Closed form (parameter servers with push and pull overlapping, full duplex): the busiest link
 * carries L bytes of gradients each way, T = L / B, with
 *   dedicated, m servers, n workers:  L = max(1, n/m) |U|  (S19 section 5.3)
 *   beside the workers, m = n:        L = 2 (n-1)/n |U|    (S21 section 3, as a ring)
 * The payload rate B of a link is rate * 1460 / (1538 + 84/a): full frames of 1538 bytes on the
 * wire and, on the same link, the ACKs (84 bytes, one for a = 2 segments) of the other direction.
 * Nothing can be pulled before the first block of each worker has been added: the first round of
 * blocks on the busiest link, max(n, m) blocks of 64 kB, comes on top, for dedicated servers;
 * beside workers both directions of both roles share the links, so pulls begin in the first round
 * of pushes. */
#include "model_run.h"

#include "collective/ps.h"
#include "workload/jobs/jobs_parts.h"

#include <math.h>
#include <stdlib.h>

#define WIRE    (1538.0 + 84.0 / 2)
#define PAYLOAD (10e9 / 8 * 1460 / WIRE) /* bytes a second */

/* `jobs` equal jobs on a star; `rest` continues the scenario. */
static void build(struct run *run, unsigned hosts, unsigned workers, const char *servers,
		  const char *layers, const char *rest)
{
	run_build(run,
		  "{ 'name': 't', 'topology': { 'kind': 'star', 'hosts': %u }, 'jobs': ["
		  " { 'workers': %u, 'all_reduce': 'ps', 'servers': %s, 'overlap': 'layers',"
		  "   'model': { 'layers': [ %s ] } } ] %s }",
		  hosts, workers, servers, layers, rest);
}

static double iteration_s(const struct run *run)
{
	size_t count;
	const double *durations = jobs_report(run->s->jobs)->durations;
	count = jobs_report(run->s->jobs)->duration_count;

	cr_assert_eq(count, 1);
	return durations[0];
}

static double larger(double a, double b)
{
	return a > b ? a : b;
}

/* --- time --- */

/* Within 1.6 %: DCTCP shares a server's port among the workers' connections only on average, worst
 * after slow start, and a block waits for the slowest: with m < n that costs 0.5 to 1.3 % of 50 MB,
 * with m = n nothing. */
Test(ps, time_dedicated)
{
	for (unsigned n = 4; n <= 8; n *= 2) {
		for (unsigned m = 1; m <= n; m *= m == 1 ? 4 : 2) {
			double load = larger(1, (double)n / m) * 50e6, want, t;
			char servers[16];
			struct run run;

			snprintf(servers, sizeof(servers), "%u", m);
			build(&run, n + m, n, servers, "{ 'gradient': '50MB' }", "");
			run_to(&run, END_ALL_DONE);
			t = iteration_s(&run);
			want = (load + 64e3 * larger(n, m)) / PAYLOAD;
			printf("n = %u, m = %u: %.3f ms, %.4f of the closed form\n", n, m, t * 1e3,
			       t / want);
			cr_expect_float_eq(t / want, 1.006, 0.01);
			run_free(&run);
		}
	}
}

/* As a ring's time: 2 (n-1)/n |U| / B. 1 % for the beginning and the end. */
Test(ps, time_beside_workers)
{
	for (unsigned n = 2; n <= 16; n *= 2) {
		double want = 2.0 * (n - 1) / n * 25e6 / PAYLOAD, t;
		struct run run;

		build(&run, n, n, "{ 'placement': 'workers' }", "{ 'gradient': '25MB' }", "");
		run_to(&run, END_ALL_DONE);
		t = iteration_s(&run);
		printf("n = %u: %.3f ms, %.4f of the closed form\n", n, t * 1e3, t / want);
		cr_expect_float_eq(t / want, 1.004, 0.01);
		run_free(&run);
	}
}

/* With one block of credit push and pull take turns: T = 2 L / B, and without ACKs beside the data.
 * 1 %: in each turn the last packet's way to the server and back, and its ACKs. */
Test(ps, time_in_turns)
{
	double want = 2 * 4 * 8e6 * 8 / 10e9 * 1538 / 1460, t;
	struct run run;

	build(&run, 5, 4, "1", "{ 'gradient': '8MB' }",
	      ", 'schemes': { 'ps': { 'credit': 1, 'ps_block': '1MB' } }");
	run_to(&run, END_ALL_DONE);
	t = iteration_s(&run);
	printf("in turns: %.3f ms, %.4f of the closed form\n", t * 1e3, t / want);
	cr_expect_float_eq(t / want, 1.005, 0.01);
	run_free(&run);
}

/* A small tensor, exactly: one block each way, one hop after the other. A frame of 158 bytes (100
 * bytes of gradient) takes 178 * 0.8 ns a link; 1 us propagation a link, 500 ns the switch; the
 * server's last copy leaves behind the first, and at the switch the n frames of one direction meet:
 * 2 n transmissions in all for the slowest, with n = 2 and one server up:   x + 1.5 us, then the
 * server's port: 2 x + 1 us (the second waits for the first) down: the ACK of the second (84
 * bytes), 2 x + 1.5 us (the second copy), x + 1 us. */
Test(ps, time_small)
{
	const struct job *job;
	sim_time x = 178 * 800, want = x + 1500000 + 2 * x + 1000000;
	struct run run;

	want += 84 * 800 + 2 * x + 1500000 + x + 1000000;
	build(&run, 3, 2, "1", "{ 'gradient': '100B' }", "");
	run_to(&run, END_ALL_DONE);
	job = &run.s->jobs->jobs[0];
	cr_expect_eq(job->finish - job->start, want, "%lu ps, not %lu",
		     (unsigned long)(job->finish - job->start), (unsigned long)want);
	run_free(&run);
}

/* --- bytes --- */

/* Shard q of E elements over m servers, at least one byte. */
static uint64_t shard(uint64_t size, uint64_t m, uint64_t q)
{
	uint64_t elements = (size + 3) / 4, n = elements * (q + 1) / m - elements * q / m;

	return n ? 4 * n : 1;
}

static uint64_t blocks(uint64_t size, uint64_t block)
{
	return (size + block - 1) / block;
}

/* Payload that each host has sent and got. */
static void sum_hosts(const struct run *run, uint64_t *sent, uint64_t *got)
{
	for (size_t i = 0; i < run->s->tcp->count; i++) {
		const struct tcp_conn *conn = run_conn(run, (uint32_t)i);

		cr_expect_eq(conn->tx.written, conn->rx.next);
		sent[conn->tx.host] += conn->tx.written;
		got[conn->rx.host] += conn->rx.next;
	}
}

/* Worker w on host w; server q on host n + q, or beside worker q. What crosses links: a worker's
 * gradients once up and the sums once down, except those of a server on its own host; a server's
 * shard from and to each worker on another host. */
static void check_bytes(unsigned n, unsigned m, bool beside, const uint64_t *sizes, size_t tensors,
			const char *rest)
{
	uint64_t sent[64] = { 0 }, got[64] = { 0 }, want[64] = { 0 }, checks = 0;
	char layers[512] = "", servers[80];
	struct run run;

	for (size_t i = 0; i < tensors; i++)
		snprintf(layers + strlen(layers), sizeof(layers) - strlen(layers),
			 "%s{ 'gradient': '%luB' }", i ? ", " : "", (unsigned long)sizes[i]);
	snprintf(servers, sizeof(servers), "{ 'count': %u, 'placement': '%s' }", m,
		 beside ? "workers" : "own");
	build(&run, beside ? n : n + m, n, servers, layers, rest);
	run_to(&run, END_ALL_DONE);
	sum_hosts(&run, sent, got);
	for (size_t i = 0; i < tensors; i++) {
		for (unsigned q = 0; q < m; q++) {
			uint64_t size = shard(sizes[i], m, q);

			checks += n * blocks(size, 1000);
			for (unsigned w = 0; w < n; w++) {
				if (beside && w == q)
					continue;
				want[w] += size;
				want[beside ? q : n + q] += size;
			}
		}
	}
	for (unsigned h = 0; h < (beside ? n : n + m); h++) {
		cr_expect_eq(sent[h], want[h], "%u workers, %u servers, host %u: %lu, not %lu", n,
			     m, h, (unsigned long)sent[h], (unsigned long)want[h]);
		cr_expect_eq(got[h], want[h]);
	}
	cr_expect_eq(run.s->checks.exact_checked, checks); /* each block once at each worker */
	cr_expect_eq(tcp_open_count(run.s->tcp), 0);
	run_free(&run);
}

/* Shards that do not divide, fewer elements than servers, sizes that are not whole elements,
 * several tensors; blocks of 1000 bytes, with and without limits to running ahead. */
Test(ps, bytes)
{
	const uint64_t odd[] = { 12, 4001, 400, 99999, 3, 50000 };

	for (unsigned n = 2; n <= 5; n++) {
		for (unsigned m = 1; m <= 5; m++) {
			for (unsigned credit = 0; credit <= 2; credit++) {
				char rest[96];

				snprintf(rest, sizeof(rest),
					 ", 'schemes': { 'ps': { 'ps_block': '1000B', 'credit': "
					 "%u } }",
					 credit);
				check_bytes(n, m, false, odd, 6, rest);
				if (m <= n)
					check_bytes(n, m, true, odd, 6, rest);
			}
		}
	}
	check_bytes(33, 7, false, (const uint64_t[]){ 1, 100000 }, 2,
		    ", 'schemes': { 'ps': { 'ps_block': '1000B' } }");
}

/* |U| each way at a worker, n |U| / m at a dedicated server, 2 (n-1)/n |U| beside workers. */
Test(ps, volume)
{
	const unsigned n = 8;

	for (unsigned m = 1; m <= n; m *= 2) {
		for (int beside = 0; beside <= (m == n); beside++) {
			uint64_t sent[16] = { 0 }, got[16] = { 0 };
			char servers[64];
			struct run run;

			snprintf(servers, sizeof(servers), "{ 'count': %u, 'placement': '%s' }", m,
				 beside ? "workers" : "own");
			build(&run, 16, n, servers, "{ 'gradient': '1024kB' }", "");
			run_to(&run, END_ALL_DONE);
			sum_hosts(&run, sent, got);
			for (unsigned w = 0; w < n; w++)
				cr_expect_eq(got[w], beside ? 2 * 1024000 * (n - 1) / n : 1024000);
			for (unsigned q = 0; q < m && !beside; q++)
				cr_expect_eq(sent[n + q], 1024000 * n / m);
			run_free(&run);
		}
	}
}

/* --- losses --- */

/* With losses (1e-3 on each link) the same bytes, the same sums. */
Test(ps, loss)
{
	const char *rest = ", 'schemes': { 'ps': { 'ps_block': '1000B' } },"
			   " 'tcp': { 'min_rto': '1ms', 'initial_rto': '1ms' }";
	uint64_t again = 0;

	for (unsigned n = 2; n <= 6; n += 2) {
		struct run run;

		run_build(&run,
			  "{ 'name': 't', 'topology': { 'kind': 'star', 'hosts': %u, 'link': {"
			  " 'rate': '10Gbps', 'delay': '1us', 'loss': 0.001 } }, 'jobs': ["
			  " { 'workers': %u, 'all_reduce': 'ps', 'iterations': 2,"
			  "   'model': { 'layers': [ { 'gradient': '500kB' } ] } } ] %s }",
			  2 * n, n, rest);
		run_to(&run, END_ALL_DONE);
		again += run.s->jobs->jobs[0].stats.retransmissions;
		cr_expect_gt(run.s->topo.net.lost, 0);
		/* shards of 500 kB / n, two iterations, each block at each worker */
		cr_expect_eq(run.s->checks.exact_checked,
			     (uint64_t)2 * n * n *
				     blocks(shard(500000, n, 0) > shard(500000, n, n - 1)
						    ? shard(500000, n, 0)
						    : shard(500000, n, n - 1),
					    1000));
		run_free(&run);
	}
	cr_expect_gt(again, 0);
}

/* Without ECN the first windows of 16 workers, 10 segments each, meet at a server's port that takes
 * 64 kB: drops there and nowhere else on the way up; all is repaired. */
Test(ps, incast)
{
	struct run run;
	uint64_t at_server, all = 0;

	run_build(&run, "{ 'name': 't', 'topology': { 'kind': 'star', 'hosts': 17, 'switch': {"
			" 'buffer': '64kB', 'ecn': false } },"
			" 'schemes': { 'ps': { 'transport': 'reno' } },"
			" 'jobs': [ { 'workers': 16, 'servers': 1, 'all_reduce': 'ps',"
			"   'model': { 'layers': [ { 'gradient': '1MB' } ] } } ] }");
	run_to(&run, END_ALL_DONE);
	for (uint32_t p = 0; p < run.s->topo.net.port_count; p++)
		all += run.s->topo.net.cold[p].drops;
	at_server = run.s->topo.net.cold[run.s->topo.net.cold[16].reverse].drops;
	printf("%lu drops, %lu retransmissions\n", (unsigned long)at_server,
	       (unsigned long)run.s->jobs->jobs[0].stats.retransmissions);
	/* 160 segments of 1538 bytes come at 16 times the port's rate: of those beyond the queue's
	 * 64 kB at most a sixteenth has left meanwhile */
	cr_expect_geq(at_server, 160 - 64000 / 1518 - 160 / 16 - 1);
	cr_expect_eq(all, at_server);
	cr_expect_geq(run.s->jobs->jobs[0].stats.retransmissions, at_server);
	run_free(&run);
}

/* --- waiting --- */

/* All compute 1 ms, the last worker 5 ms. Every block waits for it, then the whole tensor passes:
 * with dedicated servers (m = n) its own link sets the pace, so T is as without straggler, within
 * the first round of blocks. With 4 blocks of credit the others have at most those in advance. */
Test(ps, straggler)
{
	double t[2] = { 0 };

	for (int i = 0; i < 2; i++) {
		struct run run;

		run_build(&run,
			  "{ 'name': 't', 'topology': { 'kind': 'star', 'hosts': 16 },"
			  " 'jobs': [ { 'workers': 8, 'all_reduce': 'ps', 'stragglers': { "
			  "'workers': %d,"
			  " 'slowdown': 5 }, 'model': { 'layers': [ { 'gradient': '8MB',"
			  " 'backward': '1ms' } ] } } ] }",
			  i);
		run_to(&run, END_ALL_DONE);
		t[i] = iteration_s(&run) - (i ? 5e-3 : 1e-3);
		run_free(&run);
	}
	printf("all-reduce %.3f ms, after the straggler %.3f ms\n", t[0] * 1e3, t[1] * 1e3);
	cr_expect_leq(t[1], t[0] * 1.01);
	cr_expect_geq(t[1], 8e6 / PAYLOAD); /* its own |U| up, at least */
}

/* What is missing is said: worker 0 of 2 computes for ever, so worker 1 waits. */
Test(ps, report)
{
	struct run run;
	char *text = NULL;
	size_t length = 0;
	FILE *to = open_memstream(&text, &length);

	run_build(&run, "{ 'name': 't', 'topology': { 'kind': 'star', 'hosts': 4 },"
			" 'stop': { 'after': '1ms' }, 'jobs': [ { 'workers': 2, 'all_reduce': 'ps',"
			" 'stragglers': { 'workers': 1, 'slowdown': 1000 }, 'model': { 'layers': ["
			" { 'gradient': '1MB', 'backward': '100us' } ] } } ] }");
	run_to(&run, END_TIME_LIMIT);
	simulation_report(run.s, to);
	fclose(to);
	cr_expect_not_null(strstr(text, "ps of job 0: worker 0 (host 0) waits for block 0 of "
					"server 0 (host 2), which "
					"has sent 0 and has 4 of this worker"),
			   "%s", text);
	free(text);
	run_free(&run);
}

/* --- the host's reduction rate --- */

/* One central server that adds at R = 4 Gbps, less than its link brings: n |U| / R, and what comes
 * before the first block is there and after the last is added, two blocks' rounds of n: 1 %.
 * Two jobs with their servers on one host: twice that. */
Test(ps, reduction_rate)
{
	for (unsigned jobs = 1; jobs <= 2; jobs++) {
		double want = jobs * 4 * 8e6 * 8 / 4e9, t = 0;
		struct run run;

		run_build(&run,
			  "{ 'name': 't', 'topology': { 'kind': 'star', 'hosts': 9,"
			  " 'host': { 'reduction_rate': '4Gbps' } }, 'cluster': { 'servers': 1 },"
			  " 'jobs': [ { 'count': %u, 'workers': 4, 'all_reduce': 'ps',"
			  "   'servers': { 'count': 1, 'placement': 'shared' },"
			  "   'model': { 'layers': [ { 'gradient': '8MB' } ] } } ] }",
			  jobs);
		run_to(&run, END_ALL_DONE);
		for (unsigned i = 0; i < jobs; i++)
			t = larger(t, jobs_report(run.s->jobs)->records[i].communication);
		printf("%u jobs: %.3f ms, %.4f of the bound\n", jobs, t * 1e3, t / want);
		cr_expect_float_eq(t / want, 1.005, 0.01);
		cr_expect_eq(run.s->reducers.host[8].busy, (sim_time)(want * 1e12));
		run_free(&run);
	}
}

/* A rate well above the link's changes nothing but the time of a block: 64 kB at 1 Tbps, 0.5 us a
 * round of credits. Beside workers each server adds n shards of |U|/n, its own too: |U| / R. */
Test(ps, reduction_rate_limits)
{
	static const struct {
		const char *rate;
		double want, tolerance;
	} cases[] = {
		{ "1Tbps", 2.0 * 3 / 4 * 8e6 / PAYLOAD, 0.015 },
		{ "2Gbps", 8e6 * 8 / 2e9, 0.02 },
	};

	for (size_t i = 0; i < 2; i++) {
		struct run run;
		double t;

		run_build(&run,
			  "{ 'name': 't', 'topology': { 'kind': 'star', 'hosts': 4,"
			  " 'host': { 'reduction_rate': '%s' } },"
			  " 'jobs': [ { 'workers': 4, 'all_reduce': 'ps',"
			  "   'servers': { 'placement': 'workers' },"
			  "   'model': { 'layers': [ { 'gradient': '8MB' } ] } } ] }",
			  cases[i].rate);
		run_to(&run, END_ALL_DONE);
		t = iteration_s(&run);
		printf("%s: %.4f of the closed form\n", cases[i].rate, t / cases[i].want);
		cr_expect_float_eq(t / cases[i].want, 1.005, cases[i].tolerance);
		run_free(&run);
	}
}

/* --- where servers are --- */

/* Two jobs of four workers. One host for the servers of both: its link carries 2 n |U| each way,
 * and the last job ends then. Two hosts: jobs with even numbers on the first, with odd ones on the
 * second, and each job as if alone. 2 %: as time_dedicated. */
Test(ps, shared)
{
	for (unsigned pool = 1; pool <= 2; pool++) {
		double want = (2.0 / pool * 4 * 25e6 + 64e3 * 4) / PAYLOAD, t = 0;
		struct run run;

		run_build(&run,
			  "{ 'name': 't', 'topology': { 'kind': 'star', 'hosts': 10 },"
			  " 'cluster': { 'servers': %u },"
			  " 'jobs': [ { 'count': 2, 'workers': 4, 'all_reduce': 'ps',"
			  "   'servers': { 'count': 1, 'placement': 'shared' },"
			  "   'model': { 'layers': [ { 'gradient': '25MB' } ] } } ] }",
			  pool);
		run_until(&run, PS_PER_MS);
		for (uint32_t j = 0; j < 2; j++) {
			const struct job *job = &run.s->jobs->jobs[j];

			cr_assert_eq(job->servers, 1);
			cr_expect_eq(job->hosts[4], pool == 1 ? 9 : 8 + j);
			cr_expect_lt(job->hosts[3], 8); /* no worker on a host of the pool */
		}
		run_to(&run, END_ALL_DONE);
		for (int j = 0; j < 2; j++)
			t = larger(t, jobs_report(run.s->jobs)->records[j].communication);
		printf("%u hosts: %.3f ms, %.4f of the closed form\n", pool, t * 1e3, t / want);
		cr_expect_float_eq(t / want, 1.005, 0.015);
		run_free(&run);
	}
}

static void expect_hosts(const struct run *run, const uint32_t *want, uint32_t count)
{
	const struct job *job = &run->s->jobs->jobs[0];

	cr_assert_eq(job->workers + job->servers, count);
	for (uint32_t i = 0; i < count; i++)
		cr_expect_eq(job->hosts[i], want[i], "%u on host %u, not %u", i, job->hosts[i],
			     want[i]);
}

/* Racks of 4 hosts. Workers and servers as numbers, lists, or one of each: a list is taken as it
 * is, and what is placed beside it is on other hosts, though hosts take two jobs here. */
Test(ps, hosts)
{
	static const struct {
		const char *workers, *rest;
		uint32_t hosts[8], count;
	} cases[] = {
		{ "3", "", { 0, 1, 2, 3, 4, 5 }, 6 },
		{ "2", "", { 0, 1, 2, 3 }, 4 },
		{ "3", ", 'servers': 1", { 0, 1, 2, 3 }, 4 },
		{ "3", ", 'servers': 2, 'placement': 'spread'", { 0, 4, 8, 1, 5 }, 5 },
		{ "[ 5, 2 ]", ", 'servers': [ 9 ]", { 5, 2, 9 }, 3 },
		{ "[ 0, 1 ]", ", 'servers': 2", { 0, 1, 2, 3 }, 4 },
		{ "2", ", 'servers': [ 0 ]", { 1, 2, 0 }, 3 },
		{ "3",
		  ", 'servers': { 'count': 2, 'placement': 'workers' }",
		  { 0, 1, 2, 0, 1 },
		  5 },
		{ "3", ", 'servers': { 'placement': 'workers' }", { 0, 1, 2, 0, 1, 2 }, 6 },
		{ "1", "", { 0 }, 1 }, /* alone there is nothing to add up */
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct run run;

		run_build(&run,
			  "{ 'name': 't', 'topology': { 'kind': 'leaf-spine', 'leaves': 3, "
			  "'spines': 1, 'hosts_per_leaf': 4, 'host': { 'slots': 2 } },"
			  " 'jobs': [ { 'all_reduce': 'ps', 'workers': %s, 'model': { 'layers': ["
			  " { 'gradient': '10kB', 'backward': '1ms' } ] } %s } ] }",
			  cases[i].workers, cases[i].rest);
		run_until(&run, PS_PER_US * 10);
		expect_hosts(&run, cases[i].hosts, cases[i].count);
		run_to(&run, END_ALL_DONE);
		for (uint32_t host = 0; host < 12; host++)
			cr_expect_eq(run.s->jobs->cluster.host_free[host], 2);
		run_free(&run);
	}
}

/* Servers of their own count against the free hosts: two jobs of 2 + 2 on 5 hosts run one after the
 * other, with servers beside the workers together. */
Test(ps, waiting_for_hosts)
{
	for (int beside = 0; beside <= 1; beside++) {
		const struct job *first, *second;
		struct run run;

		run_build(&run,
			  "{ 'name': 't', 'topology': { 'kind': 'star', 'hosts': 5 },"
			  " 'jobs': [ { 'count': 2, 'all_reduce': 'ps', 'workers': 2, "
			  "'servers': { 'placement': '%s' }, 'model': { 'layers': ["
			  " { 'gradient': '10kB', 'backward': '1ms' } ] } } ] }",
			  beside ? "workers" : "own");
		run_to(&run, END_ALL_DONE);
		first = &run.s->jobs->jobs[0];
		second = &run.s->jobs->jobs[1];
		if (beside)
			cr_expect_eq(second->start, first->start);
		else
			cr_expect_geq(second->start, first->finish);
		run_free(&run);
	}
}

/* 2 x 2,048 x 4,096 connections are as many as their keys have room for, and two a worker more are
 * not. */
Test(ps, most_connections)
{
	struct collective_job job = { .workers = 2048, .servers = 4096 };
	const char *never = NULL;

	cr_expect(!ps_refuses(&job, &never) && !never);
	job.servers++;
	cr_expect(ps_refuses(&job, &never) && never);
}

/* 2 x 2,900 x 2,900 connections are more than their keys have room for, in each fidelity. */
Test(ps, too_many_connections)
{
	static const char *const fidelities[] = { "packet", "fluid", "analytic" };

	for (size_t f = 0; f < 3; f++) {
		const char *group, *refusal;
		struct run run;

		run_build(
			&run,
			"{ 'name': 't', 'fidelity': '%s', 'topology': { 'kind': 'star',"
			" 'hosts': 5800 }, 'jobs': [ { 'workers': 2900, 'all_reduce': 'ps',"
			" 'servers': 2900, 'model': { 'layers': [ { 'gradient': '1MB' } ] } } ] }",
			fidelities[f]);
		simulation_go(run.s, &(struct simulation_options){ 0 });
		refusal = jobs_reason(run.s->jobs, JOB_REFUSED, &group);
		cr_expect(refusal && strstr(refusal, "2^24 connections"), "%s", fidelities[f]);
		run_free(&run);
	}
}

/* --- mistakes; the others stand in tests/invalid.txt --- */

Test(ps, mistakes)
{
	static const struct {
		const char *words, *workers, *rest;
	} cases[] = {
		{ "5 workers and 5 servers on hosts of their own, but the network has 8", "5", "" },
		{ "no hosts are kept for servers", "4", ", 'servers': { 'placement': 'shared' }" },
		{ "4 servers cannot be beside 3 workers", "{ 'min': 3, 'max': 4 }",
		  ", 'servers': { 'count': 4, 'placement': 'workers' }" },
		{ "host 2 has a worker of this job", "[ 1, 2 ]", ", 'servers': [ 3, 2 ]" },
		{ "host 3 is listed twice: a host has one server", "2", ", 'servers': [ 3, 3 ]" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		cr_expect_eq(
			run_mistakes(cases[i].words,
				     "{ 'name': 't', 'topology': { 'kind': 'star', 'hosts': 8 },"
				     " 'jobs': [ { 'all_reduce': 'ps', 'workers': %s,"
				     " 'model': 'vgg16' %s } ] }",
				     cases[i].workers, cases[i].rest),
			1, "%s", cases[i].words);
}
