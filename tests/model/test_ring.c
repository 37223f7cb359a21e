/* Ring all-reduce: its time against the closed form, its bytes, its order.
 *
 * Closed form (NetReduce, appendix A, eq. 1 with alpha = 0; ring-allreduce.md,
 * section 1): T = 2 (P-1)/P S / B. The payload rate B of an edge is
 * rate * 1460 / (1538 + 84/a): full frames of 1538 bytes on the wire and, on the
 * same link, the ACKs (84 bytes, one for every a segments) that a rank owes its
 * predecessor. */
#include "model_run.h"

#include "workload/jobs/jobs_parts.h"

#include <math.h>
#include <stdlib.h>

/* One ring job without computing on a 10-Gbps star of exactly its size. */
static void ring_build(struct run *run, unsigned ranks, const char *layers, const char *rest)
{
	run_build(run,
		  "{ 'name': 't', 'topology': { 'kind': 'star', 'hosts': %u %s },"
		  " 'jobs': [ { 'workers': %u, 'all_reduce': 'ring', 'overlap': 'layers',"
		  "   'model': { 'layers': [ %s ] } } ] }",
		  ranks, rest, ranks, layers);
}

static double iteration_s(const struct run *run)
{
	size_t count;
	const double *durations = jobs_report(run->s->jobs)->durations;
	count = jobs_report(run->s->jobs)->duration_count;

	cr_assert_eq(count, 1);
	return durations[0];
}

/* 50 MB, not 100: what does not grow with the size (30 steps of 4 us) weighs more,
 * not less. One percent for it and for the beginning; with an ACK for every second segment (the
 * default) or for eight the time is within 3 % of the plain goodput 1460/1538, with an ACK for each
 * it is 5.5 % above. */
Test(ring, time)
{
	for (unsigned p = 4; p <= 16; p *= 2) {
		for (int every = 1; every <= 8; every *= 2) {
			double sent = 2.0 * (p - 1) / p * 50e6, wire = 1538 + 84.0 / every;
			char rest[128];
			struct run run;
			double t;

			snprintf(rest, sizeof(rest), "}, 'schemes': { 'ring': { 'ack_every': %d } ",
				 every);
			ring_build(&run, p, "{ 'gradient': '50MB' }", rest);
			run_to(&run, END_ALL_DONE);
			t = iteration_s(&run);
			printf("P = %2u, ACK every %d: %.3f ms, %.4f of the closed form, %.4f of "
			       "that "
			       "without ACKs\n",
			       p, every, t * 1e3, t / (sent * 8 / 10e9 / (1460 / wire)),
			       t / (sent * 8 / 10e9 / (1460 / 1538.0)));
			cr_expect_float_eq(t / (sent * 8 / 10e9 / (1460 / wire)), 1.005, 0.01);
			if (every >= 2)
				cr_expect_float_eq(t / (sent * 8 / 10e9 * 1538 / 1460), 1, 0.03);
			run_free(&run);
		}
	}
}

/* P = 2: one exchange of halves and back, S / B in all. */
Test(ring, two)
{
	struct run run;

	ring_build(&run, 2, "{ 'gradient': '10MB' }", "");
	run_to(&run, END_ALL_DONE);
	cr_expect_float_eq(iteration_s(&run) / (10e6 * 8 / 10e9 * 1580 / 1460), 1.003, 0.005);
	run_free(&run);
}

/* --- bytes --- */

/* The 2(P-1) messages that rank r sends of a tensor with E elements: chunk c has the
 * elements from floor(cE/P) to floor((c+1)E/P); an empty one is sent as one byte. */
static uint64_t edge_bytes(uint64_t size, uint64_t p, uint64_t r)
{
	uint64_t elements = (size + 3) / 4, sum = 0;

	for (uint64_t s = 0; s < 2 * (p - 1); s++) {
		uint64_t c = s < p - 1 ? (r + p - s) % p : (r + 1 + p - (s - (p - 1))) % p;
		uint64_t n = elements * (c + 1) / p - elements * c / p;

		sum += n ? 4 * n : 1;
	}
	return sum;
}

static void check_bytes(unsigned p, const uint64_t *sizes, size_t tensors, const char *rest)
{
	char layers[512] = "";
	struct run run;

	for (size_t i = 0; i < tensors; i++)
		snprintf(layers + strlen(layers), sizeof(layers) - strlen(layers),
			 "%s{ 'gradient': '%luB' }", i ? ", " : "", (unsigned long)sizes[i]);
	ring_build(&run, p, layers, rest);
	run_to(&run, END_ALL_DONE);
	for (unsigned r = 0; r < p; r++) {
		uint64_t want = 0, sent = run_conn(&run, r)->tx.written;
		double ideal = 0;

		for (size_t i = 0; i < tensors; i++) {
			want += edge_bytes(sizes[i], p, r);
			ideal += 2.0 * (p - 1) / p * (double)sizes[i];
		}
		cr_expect_eq(sent, want, "%u ranks, edge %u: %lu", p, r, (unsigned long)sent);
		cr_expect_eq(run_conn(&run, r)->rx.next, want);
		/* 2(P-1)/P S within P elements a tensor, or 2(P-1) bytes for empty chunks */
		cr_expect_float_eq((double)sent, ideal, (double)tensors * 4 * p + 4);
	}
	/* each rank checks P chunks of each tensor */
	cr_expect_eq(run.s->checks.exact_checked, (uint64_t)p * p * tensors);
	cr_expect_eq(tcp_open_count(run.s->tcp), 0);
	run_free(&run);
}

/* P that does not divide the elements, fewer elements than ranks, sizes that are not
 * whole elements, several tensors, one after the other; every sum is right. */
Test(ring, bytes)
{
	for (unsigned p = 2; p <= 9; p++) {
		check_bytes(p, (const uint64_t[]){ 1000000 }, 1, "");
		check_bytes(p, (const uint64_t[]){ 4 }, 1, "");
		check_bytes(p, (const uint64_t[]){ 1 }, 1, "");
		check_bytes(p, (const uint64_t[]){ 12, 4001, 400, 99999, 3, 50000 }, 6, "");
	}
	check_bytes(33, (const uint64_t[]){ 20, 100000 }, 2, "");
}

/* With losses (1e-3 on each link) the same bytes, the same sums. */
Test(ring, loss)
{
	for (unsigned p = 2; p <= 8; p += 3)
		check_bytes(
			p, (const uint64_t[]){ 500000, 77, 300000 }, 3,
			", 'link': { 'rate': '10Gbps', 'delay': '1us', 'loss': 0.001 } }, 'tcp': "
			"{ 'min_rto': '1ms', 'initial_rto': '1ms' ");
}

/* A constant per step: the 2(P-1) steps follow on each other, so 2(P-1) alpha more.
 * Tolerance 0.5 us: data and ACKs meet otherwise in the queues, some 84 bytes each. */
Test(ring, step_latency)
{
	for (unsigned p = 2; p <= 4; p += 2) {
		double t[2];

		for (int i = 0; i < 2; i++) {
			struct run run;

			ring_build(&run, p, "{ 'gradient': '40kB' }",
				   i ? "}, 'schemes': { 'ring': { 'step_latency': '10us' } " : "");
			run_to(&run, END_ALL_DONE);
			t[i] = iteration_s(&run);
			run_free(&run);
		}
		cr_expect_float_eq(t[1] - t[0], 2 * (p - 1) * 10e-6, 5e-7, "%.9f", t[1] - t[0]);
	}
}

/* --- order --- */

/* The cycle of hosts, beginning at the lowest; every host once. */
static void cycle(const struct run *run, unsigned p, uint32_t *hosts)
{
	uint32_t next[64], min = UINT32_MAX;

	for (unsigned r = 0; r < p; r++) {
		next[run_conn(run, r)->tx.host] = run_conn(run, r)->rx.host;
		if (run_conn(run, r)->tx.host < min)
			min = run_conn(run, r)->tx.host;
	}
	hosts[0] = min;
	for (unsigned i = 1; i < p; i++) {
		hosts[i] = next[hosts[i - 1]];
		cr_assert_neq(hosts[i], min, "the cycle is short");
	}
	cr_assert_eq(next[hosts[p - 1]], min);
}

/* placement: by host number, whatever the order of the workers, so that with racks
 * of 4 each rack boundary is crossed once; random: some other single cycle. */
Test(ring, order)
{
	static const char *const placements[] = { "compact", "spread", "random" };

	for (int i = 0; i < 6; i++) {
		uint32_t hosts[12];
		unsigned falls = 0;
		struct run run;

		run_build(&run,
			  "{ 'name': 't', 'topology': { 'kind': 'leaf-spine', 'leaves': 4, "
			  "'spines': 2,"
			  " 'hosts_per_leaf': 4 }, 'schemes': { 'ring': { 'order': '%s' } },"
			  " 'jobs': [ { 'workers': 12, 'all_reduce': 'ring', 'placement': '%s',"
			  "   'model': { 'layers': [ { 'gradient': '10kB' } ] } } ] }",
			  i < 3 ? "placement" : "random", placements[i % 3]);
		run_to(&run, END_ALL_DONE);
		cycle(&run, 12, hosts);
		for (int h = 1; h < 12; h++)
			falls += hosts[h] < hosts[h - 1];
		if (i < 3)
			cr_expect_eq(falls, 0, "%s", placements[i]);
		else
			cr_expect_gt(falls, 0, "%s", placements[i % 3]);
		run_free(&run);
	}
}

/* --- stragglers --- */

/* All compute 1 ms, the last rank 5 ms: the ring cannot end before that rank has sent
 * its own gradient round: 5 ms + T(P) at most and 5 ms + T(P)/2 at least, as the
 * others' share of reduce-scatter needs it too (P-1 of 2(P-1) steps after its start). */
Test(ring, straggler)
{
	double t[2] = { 0 }; /* of the all-reduce after the last has computed: alone, late */

	for (int i = 0; i < 2; i++) {
		struct run run;

		run_build(&run,
			  "{ 'name': 't', 'topology': { 'kind': 'star', 'hosts': 8 },"
			  " 'jobs': [ { 'workers': 8, 'all_reduce': 'ring', 'stragglers': { "
			  "'workers': %d,"
			  " 'slowdown': 5 }, 'model': { 'layers': [ { 'gradient': '4MB',"
			  " 'backward': '1ms' } ] } } ] }",
			  i);
		run_to(&run, END_ALL_DONE);
		t[i] = iteration_s(&run) - (i ? 5e-3 : 1e-3);
		run_free(&run);
	}
	printf("all-reduce %.3f ms, after the straggler %.3f ms\n", t[0] * 1e3, t[1] * 1e3);
	cr_expect_leq(t[1], t[0] * 1.01);
	cr_expect_geq(t[1], t[0] / 2);
}
