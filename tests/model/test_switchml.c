/* SwitchML on one switch without loss: times against closed forms, number of slots,
 * shapes of tensors. Loss: test_switchml_loss.c; trees and memory: test_switchml_tree.c. */
#include "test_switchml.h"

#define RTT_LINKS_US 2.5 /* two delays of 1 us and the pipeline */

/* --- times --- */

/* R-S19-2, flat level. One switch, window large enough: workers send at line rate
 * and results follow, so
 *     TAT = G t + t + 2 delay + pipeline,   G = E / k,   t = 8 (b + 20) / B,
 * which for 10 MB, b = 180 and 10 Gbps is 12.5 ms (+ 2.7 us). */
Test(switchml_time, eight_workers_10_MB_take_12_5_ms)
{
	struct bench bench;

	star(&bench, 8, 10, "", "\"slots\": 128", 10000000);
	bench_finish(&bench, 8 * UINT64_C(78125));
	expect_near(tat(&bench, 0), 12.5e-3, 0.01, "TAT, s", 8);
	expect_near(tat(&bench, 0), 78126 * 160e-9 + RTT_LINKS_US * 1e-6, 1e-9, "exact TAT, s", 8);
	bench_close(&bench);
}

/* The time does not depend on n; loss-free counts (I5): up = down = n G, nothing
 * is sent twice, one multicast per chunk. */
Test(switchml_time, does_not_depend_on_the_number_of_workers)
{
	static const unsigned numbers[] = { 2, 3, 4, 8, 16, 33, 64 };

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		unsigned n = numbers[i];
		uint64_t chunks = 7813; /* 1 MB */
		struct bench bench;
		struct collective_stats stats;

		star(&bench, n, 10, "", "", 1000000);
		bench_finish(&bench, n * chunks);
		expect_near(tat(&bench, 0), 1.25e-3, 0.01, "TAT, s", n);
		cr_expect_eq(bench.up, n * chunks);
		cr_expect_eq(bench.down, n * chunks);
		cr_expect_eq(bench.multicasts, chunks);
		cr_expect_eq(bench.unicasts, 0);
		stats = switch_stats(&bench);
		cr_expect_eq(stats.packets_aggregated, n * chunks);
		cr_expect_eq(stats.results, chunks);
		cr_expect_eq(stats.duplicates + stats.repairs, 0);
		stats = worker_stats(&bench);
		cr_expect_eq(stats.retransmissions + stats.timeouts + stats.stale, 0);
		bench_close(&bench);
	}
}

/* TAT(|U|) = 8 |U| / (B g) with the goodput g of each format of analytic-models
 * section 2: without preamble and gap 128/180, k = 366 (MTU) 1464/1536, k = 64 with
 * 56 bytes 256/332, and ten times faster at 100 Gbps with s = 512. */
Test(switchml_time, goodput_of_packet_formats)
{
	static const struct {
		unsigned gbps;
		const char *topology, *scheme;
		double goodput;
	} cases[] = {
		{ 10, ", \"wire_overhead\": false", "\"slots\": 128", 128.0 / 180 },
		{ 10, "", "\"slots\": 128, \"elements_per_packet\": 366", 1464.0 / 1536 },
		{ 10, "", "\"slots\": 128, \"elements_per_packet\": 64, \"header\": 56",
		  256.0 / 332 },
		{ 100, "", "\"slots\": 512", 128.0 / 200 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct bench bench;
		double wanted = 8 * 10e6 / (cases[i].gbps * 1e9 * cases[i].goodput);

		star(&bench, 4, cases[i].gbps, cases[i].topology, cases[i].scheme, 10000000);
		bench_run(&bench);
		cr_assert_eq(bench.s->end, END_ALL_DONE);
		expect_near(tat(&bench, 0), wanted, 0.01, "TAT, s", (double)i);
		bench_close(&bench);
	}
}

/* R-S19-2, pool size. Self-clocked closed form:
 *     RTT(s) = max(RTT0, s t),   TAT(s) = ceil(G / s) RTT(s),
 * RTT0 = 2 t + 12.5 us with 10 us on the host: 12.82 us, knee at s = 80. The RTT
 * includes waiting for the NIC where it is a queue ("fifo"); where sources take
 * turns, a packet is sent when it leaves, and the RTT stays RTT0. */
Test(switchml_time, pool_size)
{
	const double t = 160e-9, rtt0 = 2 * t + 12.5e-6, chunks = 20000;

	for (int fifo = 0; fifo < 2; fifo++) {
		for (unsigned s = 16; s <= 512; s *= 2) {
			struct bench bench;
			char scheme[32];
			double rtt = s * t > rtt0 ? s * t : rtt0;

			snprintf(scheme, sizeof(scheme), "\"slots\": %u", s);
			star(&bench, 4, 10,
			     fifo ? ", \"host\": {\"latency\": \"10us\", \"nic\": \"fifo\"}"
				  : ", \"host\": {\"latency\": \"10us\"}",
			     scheme, (uint64_t)chunks * 128);
			bench_finish(&bench, 4 * (uint64_t)chunks);
			expect_near(tat(&bench, 0), ceil(chunks / s) * rtt, 0.03, "TAT, s", s);
			expect_near(bench.rtt_sum / (double)bench.rtt_count, fifo ? rtt : rtt0,
				    0.03, "RTT, s", s);
			bench_close(&bench);
		}
	}
}

/* Section 3.6: s = smallest power of two with s b >= BDP = B RTT / 8, b = 180 bytes.
 * The paper's 128 at 10 Gbps (RTT in (9.216, 18.432] us) and 512 at 100 Gbps
 * ((3.6864, 7.3728] us); RTT = 2 t + 2.5 us + host, so the host's latency decides.
 * What the memory does not hold is halved: 10 slots of 256 bytes leave 8. Jitter
 * of the host's processing counts, too. */
Test(switchml_time, slots_from_bandwidth_delay_product)
{
	static const struct {
		unsigned gbps, slots;
		const char *host, *scheme;
	} cases[] = {
		{ 10, 128, "\"latency\": \"6.4us\"", "" },
		{ 10, 64, "\"latency\": \"6.39us\"", "" },
		{ 10, 128, "\"latency\": \"15.6us\"", "" },
		{ 10, 256, "\"latency\": \"15.62us\"", "" },
		{ 100, 512, "\"latency\": \"1.16us\"", "" },
		{ 100, 256, "\"latency\": \"1.15us\"", "" },
		{ 10, 8, "\"latency\": \"6.4us\"", "\"memory\": \"2560B\"" },
		{ 10, 1, "\"latency\": \"6.4us\"", "\"memory\": \"256B\"" },
		{ 10, 128, "\"latency\": \"6us\", \"jitter\": \"400ns\"", "" },
		{ 10, 37, "\"latency\": \"6us\"", "\"slots\": 37" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct bench bench;
		char host[96];

		snprintf(host, sizeof(host), ", \"host\": {%s}", cases[i].host);
		star(&bench, 2, cases[i].gbps, host, cases[i].scheme, 1000);
		sim_run(&bench.s->sim, 1); /* the job is admitted */
		cr_assert(bench_job(&bench, 0));
		cr_expect_eq(bench_job(&bench, 0)->slots, cases[i].slots, "case %zu: %u", i,
			     bench_job(&bench, 0)->slots);
		cr_expect_eq(bench.scheme->memory[0].used_bytes,
			     2 * 32 * 4 * cases[i].slots); /* I9 */
		bench_finish(&bench, 2 * 8);
		bench_close(&bench);
	}
}

/* --- shapes of tensors --- */

/* Chunks of a tensor = ceil(elements / k), at least one; versions go on over
 * tensors and iterations. Every combination of sizes around k, s k and 2 s k, three
 * iterations; the invariants are checked at every packet. */
Test(switchml_shape, any_size_of_tensors)
{
	static const unsigned sizes[] = { 1,           4,       127,     128,
					  129,         3 * 128, 4 * 128, 4 * 128 + 1,
					  8 * 128 - 3, 8 * 128, 9 * 128, 17 * 128 + 60 };
	const unsigned count = sizeof(sizes) / sizeof(sizes[0]);

	for (unsigned a = 0; a < count; a++) {
		for (unsigned b = 0; b < count; b++) {
			struct bench bench;
			uint64_t chunks = (sizes[a] + 127) / 128 + (sizes[b] + 127) / 128;

			bench_open(&bench,
				   "{\"name\": \"t\", \"topology\": {\"kind\": \"star\", "
				   "\"hosts\": 3}, "
				   "\"schemes\": {\"switchml\": {\"slots\": 4}}, \"jobs\": "
				   "[{\"workers\": 3, "
				   "\"iterations\": 3, \"overlap\": \"layers\", "
				   "\"compute_jitter\": 0.5, "
				   "\"all_reduce\": \"switchml\", \"model\": {\"layers\": ["
				   "{\"gradient\": \"%uB\", \"backward\": \"1us\"}, {\"gradient\": "
				   "\"%uB\", "
				   "\"forward\": \"1us\"}]}}]}",
				   sizes[a], sizes[b]);
			bench.watch = true;
			bench_finish(&bench, 3 * 3 * chunks);
			cr_expect_eq(bench.up, 3 * 3 * chunks);
			cr_expect_eq(bench.down, 3 * 3 * chunks);
			bench_close(&bench);
		}
	}
}

/* More open tensors than the rings have room for at first, many iterations (the
 * rings are used again: open at once are less than two iterations of 40 tensors), and
 * losses, so that tensors complete out of order. */
static void bounded_rings(struct bench *bench, uint32_t node, const struct packet *packet)
{
	(void)node, (void)packet;
	if (bench_job(bench, 0))
		cr_assert_lt(bench_job(bench, 0)->base.tensors.mask, 128);
}

Test(switchml_shape, many_small_tensors)
{
	enum { LAYERS = 40, ITERATIONS = 50 };

	for (int loss = 0; loss < 2; loss++) {
		char layers[LAYERS * 32] = "";
		struct bench bench;
		uint64_t chunks = 0;

		for (unsigned i = 0; i < LAYERS; i++) {
			size_t used = strlen(layers);

			snprintf(layers + used, sizeof(layers) - used, "%s{\"gradient\": \"%uB\"}",
				 i ? ", " : "", 100 + 7 * i);
			chunks += (100 + 7 * i + 127) / 128;
		}
		bench_open(
			&bench,
			"{\"name\": \"t\", \"topology\": {\"kind\": \"star\", \"hosts\": 4, "
			"\"link\": {\"loss\": %g}}, "
			"\"schemes\": {\"switchml\": {\"slots\": 16, \"retransmission_timeout\": "
			"\"50us\"}}, "
			"\"jobs\": [{\"workers\": 4, \"iterations\": %d, \"overlap\": \"layers\", "
			"\"start_jitter\": \"40us\", \"all_reduce\": \"switchml\", "
			"\"model\": {\"layers\": [%s]}}]}",
			loss ? 0.02 : 0, ITERATIONS, layers);
		bench.after = bounded_rings;
		bench_finish(&bench, 4 * ITERATIONS * chunks);
		if (!loss)
			cr_expect_eq(bench.up - bench.resends, 4 * ITERATIONS * chunks);
		bench_close(&bench);
	}
}

/* R-S19-1: n = 2, s = 4, 8 chunks: at most 4 packets of a worker are out. A worker
 * that starts 1 ms late stalls all others after s packets each (corner case 7). */
static void straggler_lags(struct bench *bench, uint32_t node, const struct packet *packet)
{
	uint64_t *before = bench->owner;

	if (node >= bench->net->hosts && packet->source == 2 && *before == 0)
		*before = bench->up - 1;
}

Test(switchml_shape, straggler_stalls_after_s_packets)
{
	uint64_t before = 0;
	struct bench bench;

	bench_open(
		&bench,
		"{\"name\": \"t\", \"topology\": {\"kind\": \"star\", \"hosts\": 3}, \"schemes\": "
		"{\"switchml\": "
		"{\"slots\": 4, \"retransmission_timeout\": \"10ms\"}}, \"jobs\": [{\"workers\": "
		"3, "
		"\"stragglers\": {\"workers\": 1, \"slowdown\": 1001}, \"all_reduce\": "
		"\"switchml\", "
		"\"model\": {\"layers\": [{\"gradient\": \"1024B\", \"backward\": \"1us\"}]}}]}");
	bench.watch = true;
	bench.after = straggler_lags;
	bench.owner = &before;
	bench_finish(&bench, 3 * 8);
	cr_expect_eq(before, 2 * 4);
	bench_close(&bench);
}
