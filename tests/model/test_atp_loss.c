/* ATP with losses: each packet of a small job in turn, the corner cases of the
 * protocol by name, and random losses with little memory, many jobs and stragglers. */
#include "test_atp.h"

/* --- any single packet --- */

struct nth {
	uint64_t index, met;
};

static bool lose_nth(void *owner, uint32_t port, const struct packet *packet)
{
	struct nth *nth = owner;

	(void)port;
	return packet->kind == PACKET_AGGREGATION && nth->met++ == nth->index;
}

/* Whatever packet is lost on whatever link, of a job in three racks with two workers
 * beside the server, without and with collisions: the job ends after a few timeouts,
 * every sum is exact, no aggregator is left, and the server has no more than its
 * contributors' packets and resent ones. */
Test(atp_loss, any_single_packet)
{
	static const char *const memories[] = { "51200B", "512B" };

	for (int m = 0; m < 2; m++) {
		for (uint64_t i = 0;; i++) {
			struct nth nth = { .index = i };
			struct bench bench;

			bench_open(&bench, SCHEME_atp,
				   "{\"name\": \"t\", \"topology\": {\"kind\": \"leaf-spine\", "
				   "\"leaves\": 3, \"spines\": 1, \"hosts_per_leaf\": 4}, "
				   "\"schemes\": {\"atp\": {\"memory\": \"%s\", \"min_timeout\": "
				   "\"100us\", \"initial_timeout\": \"100us\"}}, \"jobs\": "
				   "[{\"workers\": [0, 1, 4, 5, 8], \"servers\": [6], "
				   "\"all_reduce\": \"atp\", \"model\": {\"layers\": "
				   "[{\"gradient\": \"1280B\"}]}}]}",
				   memories[m]);
			bench.watch = true;
			bench_lose(&bench, lose_nth, &nth);
			atp_finish(&bench, 5 * 5);
			cr_assert_leq(tat(&bench, 0), 900e-6, "memory %s, packet %" PRIu64,
				      memories[m], i);
			bench_close(&bench);
			if (nth.met > i)
				continue;
			/* per chunk 5 up to leaves, 2 * 2 between switches, 1 + 1 at the
			 * server's link, 3 + 2 + 3 down; in the fall-back more */
			if (m == 0)
				cr_expect_eq(i, 5 * 19);
			else
				cr_expect_gt(i, 5 * 19);
			break;
		}
	}
}

/* --- the cases of the protocol --- */

/* What a test loses: the first `times` packets that are of this kind, arriving at this
 * node, behind `skip` that arrive. */
struct named {
	struct bench *bench;
	uint32_t node;
	uint8_t flags, mask;
	uint32_t chunk;
	unsigned times, skip, lost;
};

static bool lose_named(void *owner, uint32_t port, const struct packet *packet)
{
	struct named *named = owner;

	if (named->bench->net->ports[port].to != named->node || named->lost == named->times ||
	    pool_chunk(packet) != named->chunk || (packet->flags & named->mask) != named->flags)
		return false;
	if (named->skip) {
		named->skip--;
		return false;
	}
	named->lost++;
	return true;
}

#define SMALL                                                                                      \
	"\"memory\": \"25600B\", \"index\": \"position\", \"positions\": 50, "                     \
	"\"min_timeout\": \"100us\", \"initial_timeout\": \"100us\""

/* Three workers and a server (host 3) on one switch (node 4). */
static void three(struct bench *bench, struct named *named, uint64_t chunks, const char *job)
{
	atp_star(bench, 3, "", SMALL, job, chunks * 256);
	bench->watch = true;
	named->bench = bench;
	bench_lose(bench, lose_named, named);
}

/* 9.1: the result is lost on its way to the server. All three results behind it make
 * the workers resend; the first resent packet flushes the aggregator with all three
 * contributors in one packet; the next two find the chunk complete, and the server
 * repeats the parameters for each. Within a round trip and three chunks. */
Test(atp_cases, result_lost_before_the_server)
{
	struct named named = { .node = 3, .chunk = 2, .times = 1 };
	struct collective_stats stats;
	struct bench bench;

	three(&bench, &named, 200, "");
	atp_finish(&bench, 3 * 200);
	cr_expect_eq(named.lost, 1);
	stats = switch_stats(&bench);
	cr_expect_eq(stats.repairs, 1);
	cr_expect_eq(stats.duplicates, 1); /* the flushing packet was in */
	cr_expect_eq(stats.fallbacks, 2);
	cr_expect_eq(stats.partials, 0);
	cr_expect_eq(stats.results, 200);
	cr_expect_eq(bench.resends, 3);
	cr_expect_eq(bench.server, 199 + 3);
	cr_expect_eq(bench.server_results, 200 + 2);
	cr_expect_eq(job_stats(&bench).timeouts, 0);
	cr_expect_eq(job_stats(&bench).repairs, 2);
	cr_expect_eq(job_stats(&bench).stale, 2 * 3);
	cr_expect_lt(tat(&bench, 0), 60e-6);
	bench_close(&bench);
}

/* 9.1, the last chunk: no result behind it, so a timer decides. */
Test(atp_cases, last_result_lost)
{
	struct named named = { .node = 3, .chunk = 19, .times = 1 };
	struct bench bench;

	three(&bench, &named, 20, "");
	atp_finish(&bench, 3 * 20);
	cr_expect_eq(bench.resends, 3);
	cr_expect_eq(job_stats(&bench).timeouts, 3);
	cr_expect_gt(tat(&bench, 0), 100e-6);
	cr_expect_lt(tat(&bench, 0), 120e-6);
	bench_close(&bench);
}

/* 9.2: a parameter packet is lost on the branch to worker 1, which resends; the
 * aggregator is free already, so the packet goes through, the server repeats the
 * parameters, and the others drop them. */
Test(atp_cases, parameters_lost_on_a_branch)
{
	struct named named = { .node = 1, .chunk = 2, .times = 1 };
	struct bench bench;

	three(&bench, &named, 200, "");
	atp_finish(&bench, 3 * 200);
	cr_expect_eq(named.lost, 1);
	cr_expect_eq(switch_stats(&bench).repairs, 0);
	cr_expect_eq(switch_stats(&bench).fallbacks, 1);
	cr_expect_eq(bench.resends, 1);
	cr_expect_eq(bench.server, 200 + 1);
	cr_expect_eq(job_stats(&bench).stale, 2);
	bench_close(&bench);
}

/* Servers add 256 bytes at a rate that takes 102.4 ns for that. Copies of what a server has added,
 * as in the case before, are known by their bitmap and take no time. */
Test(atp_cases, duplicates_of_sums_are_not_added)
{
	struct named named = { .node = 1, .chunk = 2, .times = 1 };
	struct bench bench;

	atp_star(&bench, 3, ", \"host\": {\"reduction_rate\": \"20Gbps\"}", SMALL, "", 200 * 256);
	named.bench = &bench;
	bench_lose(&bench, lose_named, &named);
	atp_finish(&bench, 3 * 200);
	cr_expect_eq(named.lost, 1);
	cr_expect_eq(bench.server, 200 + 1);
	cr_expect_eq(bench.s->reducers.host[3].busy, 200 * UINT64_C(102400));
	bench_close(&bench);
}

/* Nor do copies of what waits to be added: a server that takes 102.4 us for each sum, where
 * workers send again after 100 us. It has added all after 20 times that, whatever came besides. */
Test(atp_cases, duplicates_of_what_waits_are_not_added)
{
	struct bench bench;

	atp_star(&bench, 3, ", \"host\": {\"reduction_rate\": \"20Mbps\"}", SMALL, "", 20 * 256);
	bench.watch = true;
	atp_finish(&bench, 3 * 20);
	cr_expect_gt(bench.server, 2 * 20);
	cr_expect_eq(bench.s->reducers.host[3].busy, 20 * UINT64_C(102400000));
	expect_near(tat(&bench, 0), 20 * 102.4e-6, 0.01, "TAT, s", 20);
	bench_close(&bench);
}

/* 9.3: a parameter packet is lost before the switch: the aggregator stays taken until a
 * resent packet flushes it. */
Test(atp_cases, parameters_lost_before_the_switch)
{
	struct named named = {
		.node = 4, .chunk = 2, .flags = PACKET_RESULT, .mask = PACKET_RESULT, .times = 1
	};
	struct collective_stats stats;
	struct bench bench;

	three(&bench, &named, 200, "");
	atp_finish(&bench, 3 * 200);
	cr_expect_eq(named.lost, 1);
	stats = switch_stats(&bench);
	cr_expect_eq(stats.repairs, 1);
	cr_expect_eq(stats.fallbacks, 2);
	cr_expect_eq(bench.server, 199 + 1 + 3);
	bench_close(&bench);
}

/* A gradient packet is lost: others wait in the aggregator. The workers resend; what
 * comes first flushes what is there, which is complete only if it is the lost one itself, and the
 * server adds the rest one by one. */
Test(atp_cases, gradient_lost)
{
	bool completed = false;

	for (unsigned skip = 0; skip < 3; skip++) {
		struct named named = { .node = 4, .chunk = 2, .times = 1, .skip = skip };
		struct collective_stats stats;
		struct bench bench;

		three(&bench, &named, 200, "");
		atp_finish(&bench, 3 * 200);
		cr_expect_eq(named.lost, 1);
		stats = switch_stats(&bench);
		cr_expect_eq(stats.repairs, 0);
		cr_expect_eq(stats.partials + stats.results, 200);
		cr_expect_leq(stats.partials, 1);
		cr_expect_eq(stats.fallbacks, 2);
		cr_expect_eq(bench.resends, 3);
		completed |= stats.results == 200;
		bench_close(&bench);
	}
	cr_expect(completed);
}

/* 9.4: worker 2 computes for 450 us while timers of 100 us run: the others' resent
 * packets flush the aggregator of the window's head; worker 2's own packet takes one
 * anew, which cannot fill; when results of the chunks behind it come, worker 2 resends
 * it, which flushes it. Nothing is left. */
Test(atp_cases, straggler_after_a_flush)
{
	struct collective_stats stats;
	struct bench bench;

	bench_open(&bench, SCHEME_atp,
		   "{\"name\": \"t\", \"topology\": {\"kind\": \"star\", \"hosts\": 4}, "
		   "\"schemes\": {\"atp\": {\"min_timeout\": \"100us\", \"initial_timeout\": "
		   "\"100us\", \"memory\": \"25600B\", \"index\": \"position\"}}, \"jobs\": "
		   "[{\"workers\": 3, \"all_reduce\": \"atp\", \"stragglers\": {\"workers\": 1, "
		   "\"slowdown\": 450}, \"model\": {\"layers\": [{\"gradient\": \"2560B\", "
		   "\"forward\": \"1us\"}]}}]}");
	bench.watch = true;
	atp_finish(&bench, 3 * 10);
	stats = switch_stats(&bench);
	/* chunk 0: flushed by worker 0 or 1, then by worker 2; the other resent ones pass */
	cr_expect_eq(stats.partials, 2);
	cr_expect_eq(stats.fallbacks, 3);
	cr_expect_eq(stats.results, 9);
	cr_expect_eq(stats.repairs, 0);
	cr_expect_eq(bench.resends, 2 * 2 + 1); /* timeouts after 100 and 300 us */
	cr_expect_gt(tat(&bench, 0), 460e-6);
	cr_expect_lt(tat(&bench, 0), 480e-6);
	bench_close(&bench);
}

/* Two racks of two workers; of chunk 1 a packet to level 0 of rack 0 is lost while level 1 holds
 * the sum of rack 1. All time out. If it was the packet of the worker that resends first, that one
 * completes the rack, and level 1 the sum; rack 1 sends its own again. If it was the other's, a
 * part of a rack is flushed: bitmap1 cannot say who is in, so two packets go on, and the rack's bit
 * is not set for half a rack. */
static struct collective_stats lose_of_rack(unsigned skip)
{
	struct named named = { .node = 12 /* leaf 0 */, .chunk = 1, .times = 1, .skip = skip };
	struct collective_stats stats;
	struct bench bench;

	bench_open(&bench, SCHEME_atp,
		   "{\"name\": \"t\", \"topology\": {\"kind\": \"leaf-spine\", \"leaves\": 3, "
		   "\"spines\": 1, \"hosts_per_leaf\": 4}, \"schemes\": {\"atp\": "
		   "{\"min_timeout\": \"100us\", \"initial_timeout\": \"100us\", \"memory\": "
		   "\"25600B\", \"index\": \"position\"}}, \"jobs\": [{\"workers\": [0, 1, 4, 5], "
		   "\"servers\": [8], \"all_reduce\": \"atp\", \"model\": {\"layers\": "
		   "[{\"gradient\": \"512B\"}]}}]}");
	named.bench = &bench;
	bench.watch = true;
	bench_lose(&bench, lose_named, &named);
	atp_finish(&bench, 4 * 2);
	cr_expect_eq(named.lost, 1);
	stats = switch_stats(&bench);
	/* at level 1 nothing is repaired, so this is what reaches the server */
	cr_expect_eq(bench.server, stats.results + stats.partials + stats.fallbacks);
	bench_close(&bench);
	return stats;
}

Test(atp_cases, part_of_a_rack_at_level_1)
{
	struct collective_stats whole = lose_of_rack(0), part = lose_of_rack(1);

	cr_expect_eq(whole.results, 2);
	cr_expect_eq(whole.repairs, 1);
	cr_expect_eq(whole.partials, 0);
	cr_expect_eq(whole.fallbacks, 3);
	cr_expect_eq(part.results, 1);
	cr_expect_eq(part.repairs, 1);
	cr_expect_eq(part.partials, 1);
	cr_expect_eq(part.fallbacks, 4);
}

/* Garbage collection: job 0's worker sends one packet and dies (its partner never
 * comes). Without a limit its aggregator stays taken, with one a colliding packet gets
 * it. */
Test(atp_cases, garbage_collection)
{
	for (unsigned limit = 0; limit < 2; limit++) {
		struct collective_stats stats;
		struct bench bench;

		bench_open(
			&bench, SCHEME_atp,
			"{\"name\": \"t\", \"stop\": {\"after\": \"1ms\"}, \"topology\": "
			"{\"kind\": \"star\", \"hosts\": 6}, \"schemes\": {\"atp\": {\"memory\": "
			"\"256B\" %s}}, \"jobs\": [{\"workers\": 2, \"all_reduce\": \"atp\", "
			"\"stragglers\": {\"workers\": 1, \"slowdown\": 10000}, \"model\": "
			"{\"layers\": [{\"gradient\": \"256B\", \"forward\": \"1us\"}]}}, "
			"{\"workers\": 2, \"all_reduce\": \"atp\", \"arrival\": {\"at\": "
			"\"200us\"}, \"model\": {\"layers\": [{\"gradient\": \"2560B\"}]}}]}",
			limit ? ", \"idle_limit\": \"100us\"" : "");
		bench_run(&bench);
		cr_expect_eq(bench.s->end, END_TIME_LIMIT); /* job 0 */
		cr_expect_eq(jobs_report(bench.s->jobs)->finished, 1);
		stats = switch_stats(&bench);
		cr_expect_eq(stats.collected, limit);
		cr_expect_eq(stats.collisions_waiting, limit ? 1 : 20);
		cr_expect_eq(bench.s->checks.exact_checked, 2 * 10);
		bench_close(&bench);
	}
}

/* --- at random --- */

/* Loss, memory, jobs, stragglers and ways to hash at random: always completes, every
 * sum exact, no aggregator left; every contribution is added in a switch, handed on, or
 * a duplicate. */
static void random_run(unsigned seed, double loss, uint64_t memory, unsigned jobs, double slowdown,
		       uint64_t chunks, bool watch)
{
	static const char *const modes[] = { "hash", "position", "rehash" };
	struct bench bench;

	bench_open(&bench, SCHEME_atp,
		   "{\"name\": \"t\", \"seed\": %u, \"topology\": {\"kind\": \"leaf-spine\", "
		   "\"leaves\": 4, \"spines\": 2, \"hosts_per_leaf\": %u, \"link\": {\"loss\": "
		   "%g}}, \"schemes\": {\"atp\": {\"memory\": \"%" PRIu64 "B\", \"index\": "
		   "\"%s\", \"timeout_resends\": \"%s\", \"min_timeout\": \"50us\", "
		   "\"initial_timeout\": \"100us\", \"max_timeout\": \"5ms\"}}, \"jobs\": "
		   "[{\"count\": %u, \"workers\": %u, \"servers\": %u, \"all_reduce\": \"atp\", "
		   "\"placement\": \"random\", \"iterations\": 2, \"overlap\": \"layers\", "
		   "\"stragglers\": {\"workers\": %d, \"slowdown\": %g}, \"model\": {\"layers\": "
		   "[{\"gradient\": \"%" PRIu64 "B\", \"forward\": \"1us\"}, {\"gradient\": "
		   "\"1000B\", \"backward\": \"1us\"}]}}]}",
		   seed, jobs * 2 + 4, loss, memory, modes[seed % 3], seed % 2 ? "first" : "all",
		   jobs, 3 + seed % 5, 1 + seed % 2, slowdown > 1, slowdown, chunks * 256);
	bench.watch = watch;
	atp_finish(&bench, jobs * (3 + seed % 5) * 2 * (chunks + 4));
	bench_close(&bench);
}

Test(atp_random, losses)
{
	static const double rates[] = { 1e-6, 1e-4, 1e-3, 1e-2, 0.1, 0.25 };

	for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++)
		for (unsigned seed = 1; seed <= (getenv("NIGHTLY") ? 12 : 6); seed++)
			random_run(seed, rates[i], seed % 4 ? 256 * (1 + seed * seed) : 256, 3,
				   seed % 3 ? 1 : 100, rates[i] > 0.05 ? 10 + seed : 60 + seed,
				   true);
}

Test(atp_random, memory_and_jobs)
{
	static const uint64_t memories[] = { 1000, 20000, 5000000 };
	static const unsigned jobs[] = { 1, 4, 16, 64 };

	for (size_t m = 0; m < 3; m++)
		for (size_t j = 0; j < 4; j++)
			random_run((unsigned)(1 + m + j), 1e-3, memories[m], jobs[j],
				   j % 2 ? 100 : 1, jobs[j] < 64 || getenv("NIGHTLY") ? 200 : 50,
				   false);
}

/* Queues of five packets: those in the fall-back are dropped in bursts. */
Test(atp_random, drops)
{
	for (unsigned seed = 1; seed <= 6; seed++) {
		struct bench bench;

		bench_open(&bench, SCHEME_atp,
			   "{\"name\": \"t\", \"seed\": %u, \"topology\": {\"kind\": \"star\", "
			   "\"hosts\": 20, \"switch\": {\"buffer\": \"1600B\"}}, \"schemes\": "
			   "{\"atp\": {\"memory\": \"2560B\", \"min_timeout\": \"50us\", "
			   "\"initial_timeout\": \"100us\", \"max_timeout\": \"5ms\"}}, \"jobs\": "
			   "[{\"count\": 3, \"workers\": 5, \"all_reduce\": \"atp\", \"model\": "
			   "{\"layers\": [{\"gradient\": \"51200B\"}]}}]}",
			   seed);
		atp_finish(&bench, 3 * 5 * 200);
		cr_expect_gt(bench.net->dropped, 0);
		bench_close(&bench);
	}
}

/* Two servers, so that a result of one may come long before that of the other, and nine workers
 * of three racks that wait for each other at 1 % losses. Timeouts are to stay near the round
 * trip: a tensor of 391 chunks takes some rounds of 0.5 ms (30 to 40 s when workers took each
 * other's timeouts for round trips). */
Test(atp_random, timeouts_do_not_raise_each_other)
{
	for (unsigned seed = 1; seed <= 4; seed++) {
		struct bench bench;

		bench_open(&bench, SCHEME_atp,
			   "{\"name\": \"t\", \"seed\": %u, \"topology\": {\"kind\": "
			   "\"leaf-spine\", \"leaves\": 4, \"spines\": 2, \"hosts_per_leaf\": 6, "
			   "\"link\": {\"rate\": \"100Gbps\", \"delay\": \"2.5us\", \"loss\": "
			   "0.01}}, \"schemes\": {\"atp\": {\"memory\": \"1kB\", \"max_window\": "
			   "\"60kB\", \"min_timeout\": \"100us\", \"initial_timeout\": "
			   "\"500us\"}}, \"jobs\": [{\"count\": 2, \"workers\": 9, \"servers\": 2, "
			   "\"all_reduce\": \"atp\", \"iterations\": 2, \"model\": {\"layers\": "
			   "[{\"gradient\": \"100kB\"}]}}]}",
			   seed);
		atp_finish(&bench, 2 * 9 * 2 * 391);
		for (size_t i = 0; i < 4; i++)
			cr_expect_lt(tat(&bench, i), 40e-3, "seed %u: %g s", seed, tat(&bench, i));
		bench_close(&bench);
	}
}
