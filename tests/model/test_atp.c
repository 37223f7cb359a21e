/* ATP without loss: times against closed forms, what servers see, placements,
 * collisions by reason. Loss: test_atp_loss.c. */
#include "test_atp.h"

#define T        (330 * 8 / 100e9) /* a frame of 310 bytes with preamble and gap */
#define DELAY    1e-6
#define PIPELINE 500e-9

/* No two chunks in a window share an aggregator, as they do here and there when each
 * is hashed anew. */
#define APART "\"index\": \"position\", \"positions\": 400"

/* --- one rack --- */

/* Window large enough: workers send at line rate, a chunk crosses four links, so
 *     TAT = (G + 3) t + 4 delay + 2 pipelines,
 * within 1 % of 8 |U| / (B g), g = 256/330 (analytic-models section 2: 0.7758). */
Test(atp_time, goodput_on_the_wire)
{
	static const unsigned numbers[] = { 2, 3, 8, 31 };

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		unsigned n = numbers[i];
		uint64_t chunks = 39063; /* 10 MB */
		struct bench bench;

		atp_star(&bench, n, "", APART ", \"initial_window\": \"100KB\"", "", 10000000);
		atp_finish(&bench, n * chunks);
		expect_near(tat(&bench, 0), 39066 * T + 4 * DELAY + 2 * PIPELINE, 1e-9,
			    "exact TAT, s", n);
		expect_near(tat(&bench, 0), 8 * 10e6 / (100e9 * 256 / 330), 0.01, "TAT, s", n);
		bench_close(&bench);
	}
}

/* As ESA counts: 306 bytes, nothing besides; g = 256/306 (0.8366). */
Test(atp_time, goodput_of_306_bytes)
{
	struct bench bench;

	atp_star(&bench, 8, ", \"wire_overhead\": false",
		 APART ", \"header\": 50, \"initial_window\": \"100KB\"", "", 10000000);
	atp_finish(&bench, 8 * 39063);
	expect_near(tat(&bench, 0), 8 * 10e6 / (100e9 * 256 / 306), 0.01, "TAT, s", 8);
	bench_close(&bench);
}

/* Without growth a window of w packets moves w chunks a round trip of 4 t + 5 us; the
 * last of them leaves (w - 1) t behind the first. */
Test(atp_time, window_limits)
{
	static const unsigned windows[] = { 1, 2, 10, 50, 100 };

	for (size_t i = 0; i < sizeof(windows) / sizeof(windows[0]); i++) {
		unsigned w = windows[i];
		struct bench bench;
		char scheme[128];

		snprintf(scheme, sizeof(scheme),
			 APART ", \"initial_window\": \"%uB\", \"max_window\": \"%uB\"", w * 310,
			 w * 310);
		atp_star(&bench, 4, "", scheme, "", 2000 * 256);
		atp_finish(&bench, 4 * 2000);
		expect_near(tat(&bench, 0), ceil(2000.0 / w) * (4 * T + 5e-6) + (w - 1) * T, 1e-3,
			    "TAT, s", w);
		bench_close(&bench);
	}
}

/* + 1500 bytes a window and no mark: after r round trips 196 KB / 310 + 1500 r / 310
 * packets. Here: windows of 10 packets and 310 bytes, so 10 + r, and
 * 10 + 11 + ... + (10 + r - 1) chunks in r round trips: 21 for 399 chunks. */
Test(atp_time, additive_increase)
{
	struct bench bench;

	atp_star(&bench, 2, "", "\"initial_window\": \"3100B\", \"window_increase\": \"310B\"", "",
		 420 * 256);
	atp_finish(&bench, 2 * 420);
	expect_near(tat(&bench, 0), 21 * (4 * T + 5e-6), 0.02, "TAT, s", 21);
	bench_close(&bench);
}

/* Invariants 10: each worker link carries one packet up and one down per chunk, the
 * server gets exactly one packet per chunk, all added in the switch; an aggregator is
 * held from the first packet until the parameter packet passes: 2 t + 2 delay +
 * pipeline; by Little's law the mean occupancy is G / TAT of them. */
Test(atp_count, one_packet_per_chunk_at_the_server)
{
	struct collective_stats stats;
	const struct collective_memory *memory;
	double hold = 2 * T + 2 * DELAY + PIPELINE;
	struct bench bench;

	atp_star(&bench, 8, "", APART ", \"initial_window\": \"100KB\"", "", 1000000);
	bench.watch = false;
	atp_finish(&bench, 8 * 3907);
	cr_expect_eq(bench.up, 8 * 3907);
	cr_expect_eq(bench.down, 8 * 3907);
	cr_expect_eq(bench.server, 3907);
	cr_expect_eq(bench.server_bypass, 0);
	stats = switch_stats(&bench);
	cr_expect_eq(stats.packets_aggregated, 8 * 3907);
	cr_expect_eq(stats.results, 3907);
	cr_expect_eq(stats.duplicates + stats.repairs + stats.fallbacks + stats.collisions, 0);
	stats = job_stats(&bench);
	cr_expect_eq(stats.server_packets, 3907);
	cr_expect_eq(stats.server_bytes, 3907 * 310);
	cr_expect_eq(stats.retransmissions + stats.timeouts + stats.stale, 0);
	memory = &bench.scheme->base.memory[0];
	cr_expect_eq(memory->held->count, 3907);
	expect_near(holding_times_mean(memory->held), hold, 1e-6, "held, s", 8);
	expect_near(holding_times_percentile(memory->held, 0.99), hold, 1.0 / 32, "p99, s", 8);
	expect_near((double)collective_reserved(memory, bench.s->sim.now) / (double)PS_PER_S,
		    3907 * hold * 256, 1e-6, "byte seconds", 8);
	bench_close(&bench);
}

/* Each chunk hashed anew: chunk p meets chunk q of its own job if both have one index
 * and p comes before the parameter packet of q: p - q < hold / t. Then each worker's
 * packet goes to the server, W - 1 more than otherwise: why ATP by hash(job, chunk) does
 * not reach its goodput with many workers. (Parameter packets behind such bursts come
 * later, and hold longer: 10 %.) */
Test(atp_count, own_collisions_of_a_hash)
{
	enum { PIECES = 100000 };
	const double hold = 2 * T + 2 * DELAY + PIPELINE;
	static uint32_t since[19531]; /* chunk that took the aggregator, + 1 */
	struct collective_stats stats;
	uint64_t meetings = 0;
	struct bench bench;

	atp_star(&bench, 2, "",
		 "\"index\": \"hash\", \"initial_window\": \"62KB\", \"max_window\": \"62KB\"", "",
		 PIECES * UINT64_C(256));
	for (uint32_t p = 0; p < PIECES; p++) {
		uint32_t slot = aggregators_hash(&bench.scheme->crc, 1, p + 1, 0) % 19531;

		if (since[slot] && p + 1 - since[slot] < hold / T)
			meetings++;
		else
			since[slot] = p + 1;
	}
	cr_assert_gt(meetings, 100);
	atp_finish(&bench, 2 * PIECES);
	stats = switch_stats(&bench);
	cr_expect_eq(stats.collisions, stats.collisions_own);
	expect_near((double)stats.fallbacks / 2, (double)meetings, 0.1, "meetings", hold / T);
	cr_expect_eq(bench.server, PIECES + stats.fallbacks / 2);
	bench_close(&bench);
}

/* Several servers take turns by chunk, each at a link of its own. */
Test(atp_count, servers_share_the_chunks)
{
	struct bench bench;

	bench_open(&bench, SCHEME_atp,
		   "{\"name\": \"t\", \"topology\": {\"kind\": \"star\", \"hosts\": 8}, "
		   "\"jobs\": [{\"workers\": 4, \"servers\": 3, \"all_reduce\": \"atp\", "
		   "\"model\": {\"layers\": [{\"gradient\": \"256001B\"}]}}]}");
	bench.watch = true;
	atp_finish(&bench, 4 * 1001);
	cr_expect_eq(bench_job(&bench, 0), NULL);
	cr_expect_eq(bench.server, 1001);
	cr_expect_eq(job_stats(&bench).server_packets, 1001);
	bench_close(&bench);
}

/* A server that adds 20 Gbps of gradients, 256 bytes in 102.4 ns: that is the clock. */
Test(atp_count, servers_add_at_a_rate)
{
	struct bench bench;

	atp_star(&bench, 4, ", \"host\": {\"reduction_rate\": \"20Gbps\"}",
		 APART ", \"initial_window\": \"100KB\"", "", 10000 * 256);
	atp_finish(&bench, 4 * 10000);
	expect_near(tat(&bench, 0), 10000 * 102.4e-9, 0.01, "TAT, s", 20);
	bench_close(&bench);
}

/* --- two levels --- */

/* One packet per rack and chunk crosses to level 1, one per chunk reaches the server,
 * one parameter packet per rack comes back; workers by rack and the server's place:
 * elsewhere, beside two workers, in the only rack. */
Test(atp_racks, packets_per_level)
{
	static const struct {
		const char *workers;
		unsigned n, server, inner; /* inner: packets up between switches, per chunk */
	} cases[] = {
		{ "[0, 1, 2, 4, 5, 8]", 6, 12, 3 * 2 }, /* leaf to spine, spine to leaf */
		{ "[0, 1, 2, 4, 5, 8]", 6, 6, 2 * 2 },  /* two workers at level 1 */
		{ "[0, 1, 2]", 3, 3, 0 },               /* one rack, one level */
		{ "[0, 1, 2]", 3, 15, 2 },              /* one rack, server elsewhere */
		{ "[0, 4, 8]", 3, 12, 6 },              /* fan-in 1 at level 0 */
		{ "[0, 4, 8]", 3, 9, 4 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct bench bench;
		struct collective_stats stats;

		bench_open(&bench, SCHEME_atp,
			   "{\"name\": \"t\", \"topology\": {\"kind\": \"leaf-spine\", \"leaves\": "
			   "4, \"spines\": 3, \"hosts_per_leaf\": 4}, \"jobs\": [{\"workers\": %s, "
			   "\"servers\": [%u], \"all_reduce\": \"atp\", \"model\": {\"layers\": "
			   "[{\"gradient\": \"6400B\"}]}}]}",
			   cases[i].workers, cases[i].server);
		bench.watch = true;
		atp_finish(&bench, cases[i].n * UINT64_C(25));
		cr_expect_eq(bench.up, cases[i].n * UINT64_C(25));
		cr_expect_eq(bench.down, cases[i].n * UINT64_C(25));
		cr_expect_eq(bench.inner_up, cases[i].inner * UINT64_C(25), "case %zu: %" PRIu64, i,
			     bench.inner_up);
		cr_expect_eq(bench.server, 25);
		stats = switch_stats(&bench);
		cr_expect_eq(stats.results, 25);
		cr_expect_eq(stats.fallbacks, 0);
		bench_close(&bench);
	}
}

/* Packets of a port so far. */
static uint64_t packets_of(const struct bench *bench, uint32_t sw, uint16_t port)
{
	const struct network *net = bench->net;
	uint64_t packets, carried;

	port_carried(&net->ports[network_port(net, net->hosts + sw, port)], &packets, &carried);
	return packets;
}

/* What a rack sends goes one way, so that it keeps its order; which one, ECMP draws for each rack:
 * eight racks do not all meet on one link to the server's. Leaf 8 is the server's; leaves have
 * ports 0 and 1 to hosts, 2 to 5 to spines, which are switches 9 to 12. */
Test(atp_racks, racks_take_paths_of_their_own)
{
	struct bench bench;
	unsigned used = 0;

	bench_open(
		&bench, SCHEME_atp,
		"{\"name\": \"t\", \"topology\": {\"kind\": \"leaf-spine\", \"leaves\": 9, "
		"\"spines\": 4, \"hosts_per_leaf\": 2}, \"jobs\": [{\"workers\": [0, 2, 4, 6, 8, "
		"10, 12, 14], \"servers\": [16], \"all_reduce\": \"atp\", \"model\": {\"layers\": "
		"[{\"gradient\": \"25600B\"}]}}]}");
	atp_finish(&bench, 800);
	for (uint32_t leaf = 0; leaf < 8; leaf++) {
		unsigned ways = 0;

		for (uint16_t spine = 0; spine < 4; spine++)
			ways += packets_of(&bench, leaf, (uint16_t)(2 + spine)) > 0;
		cr_expect_eq(ways, 1, "rack %" PRIu32 " goes %u ways", leaf, ways);
	}
	for (uint16_t spine = 0; spine < 4; spine++)
		used += packets_of(&bench, 9 + spine, 8) > 0;
	cr_expect_gt(used, 1, "all racks go over one spine");
	bench_close(&bench);
}

/* A server beside a worker of its job, whose gradients go by the switch all the same. */
Test(atp_racks, server_beside_a_worker)
{
	struct bench bench;

	bench_open(&bench, SCHEME_atp,
		   "{\"name\": \"t\", \"topology\": {\"kind\": \"leaf-spine\", \"leaves\": 2, "
		   "\"spines\": 1, \"hosts_per_leaf\": 2}, \"jobs\": [{\"workers\": [0, 1, 2, 3], "
		   "\"servers\": {\"placement\": \"workers\"}, \"all_reduce\": \"atp\", \"model\": "
		   "{\"layers\": [{\"gradient\": \"25600B\"}]}}]}");
	bench.watch = true;
	atp_finish(&bench, 400);
	cr_expect_eq(bench.server, 100);
	bench_close(&bench);
}

/* Three tiers: level 0 and level 1 at edges, nothing is added at aggregation switches
 * and cores; results come down one tree. */
Test(atp_racks, fat_tree)
{
	struct bench bench;

	bench_open(&bench, SCHEME_atp,
		   "{\"name\": \"t\", \"topology\": {\"kind\": \"fat-tree\", \"k\": 4}, "
		   "\"schemes\": {\"atp\": {" APART
		   ", \"memory\": \"102400B\"}}, \"jobs\": [{\"workers\": [0, 1, 2, 5, 6, 9, 13, "
		   "14], \"servers\": [8, 3], "
		   "\"all_reduce\": \"atp\", \"model\": {\"layers\": [{\"gradient\": "
		   "\"51200B\"}]}}]}");
	bench.watch = true;
	atp_finish(&bench, 8 * 200);
	cr_expect_eq(bench.server, 200);
	for (uint32_t s = 8; s < bench.net->switches; s++)
		cr_expect_eq(bench.scheme->base.memory[s].used_max_bytes, 0);
	bench_close(&bench);
}

/* Either spine fails for good. The job goes on over the other, to both of its servers, and no sum
 * is worked out again. */
Test(atp_racks, a_spine_fails)
{
	for (unsigned spine = 0; spine < 2; spine++) {
		struct bench bench;

		bench_open(
			&bench, SCHEME_atp,
			"{\"name\": \"t\", \"topology\": {\"kind\": \"leaf-spine\", \"leaves\": 2, "
			"\"spines\": 2, \"hosts_per_leaf\": 3}, \"failures\": {\"events\": "
			"[{\"fails\": \"spine%u\", \"at\": \"20us\"}], \"reroute_delay\": \"5us\", "
			"\"controller_delay\": \"5us\"}, \"jobs\": [{\"workers\": [0, 1, 3, 4], "
			"\"servers\": [2, 5], \"all_reduce\": \"atp\", \"model\": {\"layers\": "
			"[{\"gradient\": \"512000B\"}]}}]}",
			spine);
		atp_finish(&bench, 4 * 2000);
		cr_expect_gt(bench.resends, 0);
		bench_close(&bench);
	}
}

/* 31 inputs fit at either level. */
Test(atp_racks, thirty_one_inputs)
{
	struct bench bench;

	bench_open(&bench, SCHEME_atp,
		   "{\"name\": \"t\", \"topology\": {\"kind\": \"leaf-spine\", \"leaves\": 2, "
		   "\"spines\": 2, \"hosts_per_leaf\": 31}, \"jobs\": [{\"workers\": 61, "
		   "\"all_reduce\": \"atp\", \"model\": {\"layers\": [{\"gradient\": \"2560B\"}]}}"
		   "]}");
	bench.watch = true;
	atp_finish(&bench, 61 * 10);
	cr_expect_eq(bench.server, 10);
	bench_close(&bench);
}

/* Must fail: a rack of 32 workers, found when the job is placed. */
Test(atp_racks, thirty_two_inputs_are_refused)
{
	struct collective_job spec = { .workers = 32, .servers = 1 };
	const struct collective_ops *ops = scheme_ops(SCHEME_atp);
	uint32_t hosts[33];
	const char *never;
	struct bench bench;

	bench_open(&bench, SCHEME_atp,
		   "{\"name\": \"t\", \"topology\": {\"kind\": \"leaf-spine\", \"leaves\": 2, "
		   "\"spines\": 2, \"hosts_per_leaf\": 40}, \"jobs\": [{\"name\": \"wide\", "
		   "\"workers\": 32, \"all_reduce\": \"atp\", \"model\": {\"layers\": "
		   "[{\"gradient\": \"2560B\"}]}}]}");
	bench_run(&bench);
	cr_expect_eq(jobs_report(bench.s->jobs)->refused, 1);
	for (uint32_t h = 0; h < 33; h++)
		hosts[h] = h;
	spec.hosts = hosts;
	spec.server_hosts = &hosts[32];
	cr_expect_eq(ops->start(bench.scheme, &spec, &never), NULL);
	cr_expect(strstr(never, "more than 31 workers in a rack"), "%s", never);
	hosts[32] = 79; /* elsewhere: the rack of 32 is at level 0 */
	cr_expect_eq(ops->start(bench.scheme, &spec, &never), NULL);
	bench_close(&bench);
}

/* --- collisions --- */

/* One aggregator: a job's own chunks collide. Each worker's packets come in order and
 * at the same time, so chunk 0 is added, and what comes while it is held goes to the
 * server one by one: every packet is either added or handed on, once. */
Test(atp_collision, own_chunks)
{
	struct collective_stats stats;
	struct bench bench;

	atp_star(&bench, 4, "", "\"memory\": \"256B\"", "", 1000 * 256);
	bench.watch = true;
	atp_finish(&bench, 4 * 1000);
	stats = switch_stats(&bench);
	cr_expect_gt(stats.results, 0);
	cr_expect_eq(stats.collisions, stats.collisions_own);
	cr_expect_eq(stats.fallbacks, stats.collisions);
	cr_expect_eq(bench.server_bypass, stats.fallbacks);
	cr_expect_eq(stats.packets_aggregated + stats.fallbacks, 4 * 1000);
	cr_expect_eq(bench.server, stats.fallbacks + stats.results);
	cr_expect_eq(bench.resends, 0);
	bench_close(&bench);
}

/* #packets at the server = sum over chunks of (1 + partial ones), and with all chunks
 * of four workers in the fall-back its link carries four times as much: TAT = 4 G t. */
Test(atp_collision, fall_back_is_a_parameter_server)
{
	struct bench bench;

	atp_star(&bench, 4, "", "\"memory\": \"256B\", \"initial_window\": \"100KB\"", "",
		 10000 * 256);
	atp_finish(&bench, 4 * 10000);
	expect_near(tat(&bench, 0), 4 * 10000 * T, 0.05, "TAT, s", 4);
	cr_expect_gt(bench.server, 39000);
	bench_close(&bench);
}

/* Two jobs and one aggregator. Job 0 (two workers) has one chunk; job 1 sends its only
 * chunk at a time that tells why it collides:
 * - 1 us later, while one of job 0's workers is late: the owner waits for workers;
 * - with both in, before the parameter packet is back (3.6 .. 6.1 us): it is complete;
 * - later: no collision. */
Test(atp_collision, by_reason)
{
	static const struct {
		const char *late; /* computing time of job 0's straggler factor */
		const char *second;
		unsigned waiting, complete;
	} cases[] = {
		{ "\"start_jitter\": \"0s\"", "1us", 0, 2 },
		{ "\"start_jitter\": \"0s\"", "2.4us", 0, 2 },
		{ "\"start_jitter\": \"0s\"", "2.6us", 0, 0 },
		{ "\"stragglers\": {\"workers\": 1, \"slowdown\": 100}", "1us", 2, 0 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct collective_stats stats;
		struct bench bench;

		bench_open(&bench, SCHEME_atp,
			   "{\"name\": \"t\", \"cluster\": {\"controller_latency\": \"1ns\"}, "
			   "\"topology\": {\"kind\": \"star\", \"hosts\": 6, \"link\": {\"rate\": "
			   "\"100Gbps\"}}, \"schemes\": {\"atp\": {\"memory\": \"256B\"}}, "
			   "\"jobs\": [{\"workers\": 2, %s, \"all_reduce\": \"atp\", "
			   "\"model\": {\"layers\": [{\"gradient\": \"256B\", \"forward\": "
			   "\"100ns\"}]}}, {\"workers\": 2, \"all_reduce\": \"atp\", "
			   "\"arrival\": {\"at\": \"%s\"}, \"model\": {\"layers\": "
			   "[{\"gradient\": \"256B\", \"forward\": \"100ns\"}]}}]}",
			   cases[i].late, cases[i].second);
		bench.watch = true;
		atp_finish(&bench, 4);
		stats = switch_stats(&bench);
		cr_expect_eq(stats.collisions_waiting, cases[i].waiting, "case %zu", i);
		cr_expect_eq(stats.collisions_complete, cases[i].complete, "case %zu", i);
		cr_expect_eq(stats.collisions_own, 0);
		cr_expect_eq(bench.server, 2 + cases[i].waiting / 2 + cases[i].complete / 2);
		bench_close(&bench);
	}
}

/* Collision at level 0 only, and at level 1 only: the packet goes to the server as it
 * is. Leaf 0 has workers of both jobs, so job 1 collides there; the server's leaf has
 * an aggregator, too, in which only what was not handed on may be added. */
Test(atp_collision, at_either_level)
{
	for (unsigned level = 0; level < 2; level++) {
		struct collective_stats stats;
		struct bench bench;

		/* job 0 holds its aggregators for long: worker 3 comes 50 us later */
		bench_open(&bench, SCHEME_atp,
			   "{\"name\": \"t\", \"topology\": {\"kind\": \"leaf-spine\", \"leaves\": "
			   "4, \"spines\": 1, \"hosts_per_leaf\": 4}, \"schemes\": {\"atp\": "
			   "{\"memory\": \"256B\"}}, \"jobs\": [{\"workers\": [0, 1, 4, %u], "
			   "\"servers\": [12], \"all_reduce\": \"atp\", \"stragglers\": "
			   "{\"workers\": 1, \"slowdown\": 50}, \"model\": {\"layers\": "
			   "[{\"gradient\": \"256B\", \"forward\": \"1us\"}]}}, {\"workers\": %s, "
			   "\"servers\": [%u], \"all_reduce\": \"atp\", \"arrival\": {\"at\": "
			   "\"20us\"}, \"model\": {\"layers\": [{\"gradient\": \"256B\"}]}}]}",
			   level == 0 ? 2 : 5, level == 0 ? "[3, 6]" : "[7, 8]",
			   level == 0 ? 8 : 13);
		bench.watch = true;
		atp_finish(&bench, 6);
		stats = switch_stats(&bench);
		cr_expect_eq(stats.collisions_waiting + stats.collisions_complete, 2,
			     "level %u: %" PRIu64, level, stats.collisions);
		cr_expect_eq(bench.server_bypass, 2, "level %u: %" PRIu64, level,
			     bench.server_bypass);
		bench_close(&bench);
	}
}

/* Job 0 holds all aggregators of leaf 0 for 50 us, and the whole window of job 1 collides there,
 * while its other worker's packets take aggregators at level 1, on leaf 2. One timeout gets all
 * going again: its result lets a new chunk out, which overtakes the others. With a timeout for each
 * chunk in flight this took 0.8 s (atp.c). */
Test(atp_collision, cliff)
{
	struct bench bench;

	bench_open(&bench, SCHEME_atp,
		   "{\"name\": \"t\", \"topology\": {\"kind\": \"leaf-spine\", \"leaves\": 4, "
		   "\"spines\": 1, \"hosts_per_leaf\": 4}, \"schemes\": {\"atp\": {\"memory\": "
		   "\"8192B\", \"initial_window\": \"9920B\"}}, \"jobs\": [{\"workers\": [0, 1, 4, "
		   "2], \"servers\": [12], \"all_reduce\": \"atp\", \"stragglers\": {\"workers\": "
		   "1, \"slowdown\": 50}, \"model\": {\"layers\": [{\"gradient\": \"8192B\", "
		   "\"forward\": \"1us\"}]}}, {\"workers\": [3, 9], \"servers\": [8], "
		   "\"all_reduce\": \"atp\", \"arrival\": {\"at\": \"20us\"}, \"model\": "
		   "{\"layers\": [{\"gradient\": \"24576B\"}]}}]}");
	bench.watch = true;
	atp_finish(&bench, 4 * 32 + 2 * 96);
	cr_expect_eq(job_stats(&bench).timeouts, 2);
	cr_expect_float_eq(tat(&bench, 1), 50.1e-3, 0.1e-3);
	bench_close(&bench);
}

/* --- indices --- */

/* Byte by byte, as the standard has it. */
static uint32_t crc32_bytes(const struct crc32 *crc, const uint8_t *data, size_t length)
{
	uint32_t state = UINT32_MAX;

	for (size_t i = 0; i < length; i++)
		state = state >> 8 ^ crc->table[0][(state ^ data[i]) & 0xff];
	return ~state;
}

/* ATP's public code hashes {job; index; salt}, two bytes each, the lowest first: CRC-32
 * of (1, 0), (1, 1), (2, 0), (2, 1) with salt 0; modulo 19531 aggregators. */
Test(atp_index, crc_of_the_public_code)
{
	static const struct {
		uint8_t job, index;
		uint32_t crc, slot;
	} cases[] = { { 1, 0, 0x7A9E7206, 4000 },
		      { 1, 1, 0xC2221563, 4512 },
		      { 2, 0, 0xFC0A00A8, 13398 },
		      { 2, 1, 0x44B667CD, 7069 } };
	struct crc32 crc;

	crc32_init(&crc);
	cr_expect_eq(crc32_bytes(&crc, (const uint8_t *)"123456789", 9), 0xCBF43926);
	for (size_t i = 0; i < 4; i++) {
		uint8_t short_form[6] = { cases[i].job, 0, cases[i].index, 0, 0, 0 };
		uint8_t wide[8] = { cases[i].job, 0, cases[i].index, 1, 2, 3, 4, 5 };

		cr_expect_eq(crc32_bytes(&crc, short_form, 6), cases[i].crc);
		cr_expect_eq(cases[i].crc % 19531, cases[i].slot);
		cr_expect_eq(crc32_bytes(&crc, wide, 8),
			     aggregators_hash(&crc, cases[i].job, cases[i].index | 0x00030201u << 8,
					      0x0504));
	}
}

/* An index that is remembered is the one that chunk has, from chunk 0 on. */
Test(atp_index, known_indices)
{
	struct bench bench;
	struct pool_job *job;

	for (int m = 0; m < 2; m++) {
		atp_star(&bench, 3, "", m ? "\"index\": \"hash\"" : "", "", 1000 * 256);
		sim_run(&bench.s->sim, 1);
		job = bench_job(&bench, 0);
		for (int again = 0; again < 2; again++)
			for (uint64_t chunk = 0; chunk < 5000; chunk++)
				cr_assert_eq(pool_known_index(job, chunk),
					     pool_index(job, chunk, 0), "chunk %" PRIu64, chunk);
		bench_close(&bench);
	}
}

/* Positions: a job touches as many aggregators as it has positions, all different, so
 * its own chunks never collide, whatever the memory holds beyond. */
Test(atp_index, positions_do_not_collide_with_themselves)
{
	static const char *const modes[] = { "position", "rehash" };

	for (int m = 0; m < 2; m++) {
		struct collective_stats stats;
		struct bench bench;
		char scheme[128];

		snprintf(scheme, sizeof(scheme),
			 "\"index\": \"%s\", \"positions\": 40, \"memory\": \"%uB\"", modes[m],
			 256 * (m ? 64 : 40));
		atp_star(&bench, 4, "", scheme, "", 1000 * 256);
		bench.watch = true;
		atp_finish(&bench, 4 * 1000);
		stats = switch_stats(&bench);
		cr_expect_eq(stats.collisions, 0);
		cr_expect_eq(bench.scheme->base.memory[0].used_max_bytes, 40 * 256);
		bench_close(&bench);
	}
}

/* A position's index is the first of its hashes that no position before it has: 60 among 64, so
 * many are not the first hash. */
Test(atp_index, positions_take_the_first_hash_that_is_left)
{
	bool used[64] = { false };
	const struct pool_job *job;
	const uint16_t *table;
	struct bench bench;
	unsigned later = 0;

	atp_star(&bench, 4, "",
		 "\"index\": \"position\", \"positions\": 60, \"memory\": \"16384B\"", "",
		 1000 * 256);
	sim_run(&bench.s->sim, 1000);
	job = bench_job(&bench, 0);
	table = pool_worker(job, 0)->state;
	for (uint32_t position = 0; position < 60; position++) {
		uint16_t salt = 0;

		while (used[pool_index(job, position, salt)])
			salt++;
		later += salt > 0;
		used[table[position]] = true;
		cr_expect_eq(table[position], pool_index(job, position, salt), "%" PRIu32,
			     position);
	}
	cr_expect_gt(later, 10);
	bench_close(&bench);
}

#define INDICES 130

/* All workers hold one table of different indices. What it has of the indices that nobody used
 * before, the server gave, in order; and it gave some. */
static void expect_given_indices(const struct pool_job *job)
{
	const struct atp_server *server = job->servers[0].state;
	const uint16_t *table = pool_worker(job, 0)->state;
	bool taken[INDICES] = { false };
	unsigned given = 0, others = 0;

	for (uint32_t i = 0; i < server->count; i++)
		for (uint32_t position = 0; position < 60; position++)
			*(i < server->next ? &given : &others) +=
				table[position] == server->unused[i];
	for (uint32_t position = 0; position < 60; position++) {
		cr_assert_lt(table[position], INDICES);
		cr_expect_not(taken[table[position]], "index %u twice", table[position]);
		taken[table[position]] = true;
	}
	cr_expect_gt(given, 0);
	cr_expect_eq(others, 0);
	for (uint32_t w = 1; w < job->base.spec.workers; w++)
		cr_expect_arr_eq(pool_worker(job, w)->state, table, 60 * sizeof(*table));
}

/* Two jobs whose positions share aggregators collide for ever, unless the servers give
 * new indices: then all collisions are over after a few windows. 60 + 60 positions
 * among 130. */
Test(atp_index, rehash_ends_collisions)
{
	uint64_t collisions[2];

	for (int m = 0; m < 2; m++) {
		struct bench bench;

		bench_open(&bench, SCHEME_atp,
			   "{\"name\": \"t\", \"topology\": {\"kind\": \"star\", \"hosts\": 10, "
			   "\"link\": {\"rate\": \"100Gbps\"}}, \"schemes\": {\"atp\": {\"index\": "
			   "\"%s\", \"positions\": 60, \"memory\": \"%uB\"}}, \"jobs\": "
			   "[{\"count\": 2, \"workers\": 4, \"all_reduce\": \"atp\", \"model\": "
			   "{\"layers\": [{\"gradient\": \"5120000B\"}]}}]}",
			   m ? "rehash" : "position", INDICES * 256);
		sim_run(&bench.s->sim, 200000);
		if (m)
			expect_given_indices(bench_job(&bench, 0));
		atp_finish(&bench, 2 * 4 * 20000);
		collisions[m] = switch_stats(&bench).collisions;
		bench_close(&bench);
	}
	cr_expect_gt(collisions[0], 10000);
	cr_expect_lt(collisions[1], 2000, "%" PRIu64 " after %" PRIu64, collisions[1],
		     collisions[0]);
}

/* Sums that the server's switch only passes on have not collided: they keep their indices, and have
 * no flag that says they found no aggregator. */
Test(atp_index, nothing_is_rehashed_where_level_1_passes)
{
	const struct atp_server *server;
	struct bench bench;

	bench_open(&bench, SCHEME_atp,
		   "{\"name\": \"t\", \"topology\": {\"kind\": \"graph\", \"graph\": {\"hosts\": "
		   "[\"h[0-4]\"], \"switches\": [\"a\", \"b\", {\"name\": \"c\", \"aggregation\": "
		   "false}], \"links\": [{\"from\": \"h[0-1]\", \"to\": \"a\"}, {\"from\": "
		   "\"h[2-3]\", \"to\": \"b\"}, {\"from\": \"h4\", \"to\": \"c\"}, {\"from\": "
		   "\"a\", \"to\": \"c\"}, {\"from\": \"b\", \"to\": \"c\"}]}}, \"schemes\": "
		   "{\"atp\": {\"index\": \"rehash\", \"positions\": 60}}, \"jobs\": "
		   "[{\"workers\": [0, 1, 2, 3], \"servers\": [4], \"all_reduce\": \"atp\", "
		   "\"model\": {\"layers\": [{\"gradient\": \"512000B\"}]}}]}");
	sim_run(&bench.s->sim, 10000);
	server = bench_job(&bench, 0)->servers[0].state;
	cr_expect_gt(bench.server, 100);
	cr_expect_eq(server->next, 0, "%u", server->next);
	atp_finish(&bench, 4 * 2000);
	cr_expect_eq(bench.server_bypass, 0);
	cr_expect_eq(switch_stats(&bench).collisions, 0);
	cr_expect_eq(switch_stats(&bench).fallbacks, 2 * 2000);
	bench_close(&bench);
}

/* New indices come in an order of the job's own: two jobs that gave up their first ones together
 * would go on colliding if their servers gave the same. Of 500 indices of a server in
 * either order, one at the same place is chance, and 20 are not. */
Test(atp_index, jobs_rehash_in_orders_of_their_own)
{
	const struct atp_server *first, *second;
	struct bench bench;
	unsigned same = 0;

	bench_open(
		&bench, SCHEME_atp,
		"{\"name\": \"t\", \"topology\": {\"kind\": \"star\", \"hosts\": 12}, "
		"\"schemes\": {\"atp\": {\"index\": \"rehash\", \"positions\": 1, "
		"\"memory\": \"%uB\"}}, \"jobs\": [{\"count\": 2, \"workers\": 4, \"servers\": 2, "
		"\"all_reduce\": \"atp\", \"model\": {\"layers\": [{\"gradient\": "
		"\"5120000B\"}]}}]}",
		1001 * 256);
	sim_run(&bench.s->sim, 1000);
	first = bench_job(&bench, 0)->servers[0].state;
	second = bench_job(&bench, 1)->servers[0].state;
	cr_assert_geq(first->count, 500);
	cr_assert_geq(second->count, 500);
	for (uint32_t i = 0; i < 500; i++)
		same += first->unused[i] == second->unused[i];
	cr_expect_lt(same, 20, "%u", same);
	bench_close(&bench);
}

/* --- congestion --- */

/* The mark of any contributor is the mark of the sum, whichever comes last, and of the
 * parameters at every worker. */
Test(atp_congestion, a_mark_of_one_is_a_mark_of_all)
{
	for (uint32_t marked = 0; marked < 4; marked++) {
		struct bench bench;
		struct pool_job *job;

		atp_star(&bench, 3, "", "", ", \"start_jitter\": \"1s\"", 256);
		sim_run(&bench.s->sim, 1); /* the job is admitted */
		job = bench_job(&bench, 0);
		for (uint32_t w = 0; w < 3; w++) {
			const struct pool_server *server = &job->servers[0];
			struct switch_actions actions = { 0 };
			struct packet packet;

			pool_packet(&packet, server, 0, server->racks.of_worker[w], 0);
			if (w == marked)
				packet.flags |= PACKET_CE;
			bench.real->at_switch(bench.real_self, 0, 0, &packet, &actions);
			cr_expect_eq(actions.forward, w == 2);
			if (w == 2)
				cr_expect_eq((packet.flags & PACKET_CE) != 0, marked < 3);
		}
		bench_close(&bench);
	}
}

/* Marks ride through aggregation: two jobs of four workers share the switch's port to
 * one server host, which marks above 20 KB; all workers of a job see the same marks,
 * so their windows stay equal, and the queue stays far below that of two full windows. */
struct windows {
	uint64_t reductions;
	bool equal;
};

static void compare_windows(struct bench *bench, uint32_t node, const struct packet *packet)
{
	struct windows *seen = bench->owner;
	struct pool_job *job = bench_job(bench, packet->flow);

	(void)node;
	if (!job || !(packet->flags & PACKET_RESULT))
		return;
	for (uint32_t w = 0; w < 4; w++) {
		if (pool_worker(job, w)->window.reductions > seen->reductions)
			seen->reductions = pool_worker(job, w)->window.reductions;
		if (pool_worker(job, w)->window.first == pool_worker(job, 0)->window.first)
			seen->equal &= pool_worker(job, w)->window.cwnd ==
				       pool_worker(job, 0)->window.cwnd;
	}
}

Test(atp_congestion, marks_ride_through_aggregation)
{
	struct windows seen = { .equal = true };
	struct bench bench;

	bench_open(&bench, SCHEME_atp,
		   "{\"name\": \"t\", \"topology\": {\"kind\": \"star\", \"hosts\": 9, \"link\": "
		   "{\"rate\": \"100Gbps\"}, \"switch\": {\"ecn\": {\"threshold\": \"20KB\"}}}, "
		   "\"cluster\": {\"servers\": [8]}, \"jobs\": [{\"count\": 2, \"workers\": 4, "
		   "\"servers\": {\"placement\": \"shared\"}, \"all_reduce\": \"atp\", \"model\": "
		   "{\"layers\": [{\"gradient\": \"2560000B\"}]}}]}");
	bench.after = compare_windows;
	bench.owner = &seen;
	atp_finish(&bench, 2 * 4 * 10000);
	cr_expect_gt(seen.reductions, 3);
	cr_expect(seen.equal);
	expect_near(tat(&bench, 1), 2 * 10000 * T, 0.15, "TAT, s", 2);
	bench_close(&bench);
}
