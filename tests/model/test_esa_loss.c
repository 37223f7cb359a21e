/* ESA with losses: the five cases of section 5.3 by name, each packet of a small job in
 * turn, and random losses with little memory, many jobs and stragglers. */
#include "test_esa.h"

#include "workload/jobs/jobs_parts.h"

/* --- the cases of section 5.3 --- */

#define WAY 2.5e-6            /* from host to host: two links of 1 us, a switch of 500 ns */
#define T   (330 * 8 / 100e9) /* a frame of 310 bytes with preamble and gap */

/* What a test loses: the first `times` packets of a chunk of a job that arrive at a node
 * with these flags and, unless 0, these contributors. */
struct named {
	struct bench *bench;
	uint32_t node, job, chunk, bits;
	uint8_t flags, mask;
	unsigned times, lost;
};

static bool lose_named(void *owner, uint32_t port, const struct packet *packet)
{
	struct named *named = owner;

	if (named->bench->net->ports[port].to != named->node || named->lost == named->times ||
	    packet->kind != PACKET_AGGREGATION || packet->flow != named->job ||
	    pool_chunk(packet) != named->chunk || (packet->flags & named->mask) != named->flags ||
	    (named->bits && pool_bitmap(packet).bits != named->bits))
		return false;
	named->lost++;
	return true;
}

#define TIMERS "\"min_timeout\": \"100us\", \"initial_timeout\": \"200us\""

/* Three workers and a server (host 3) on one switch (node 4), 20 chunks: one
 * window, so nobody runs ahead. */
static void three_with(struct bench *bench, struct named *named, const char *resend)
{
	char scheme[200];

	snprintf(scheme, sizeof(scheme), "\"resend\": \"%s\", \"memory\": \"512000B\", " TIMERS,
		 resend);
	esa_star(bench, 3, "", scheme, "", 20 * 256);
	named->bench = bench;
	bench_lose(bench, lose_named, named);
}

static void three(struct bench *bench, struct named *named)
{
	three_with(bench, named, "at_once");
}

/* How long the loss of chunk 2 of 20 keeps the job, in messages one way: the results of three later
 * chunks tell, then so many messages follow each other. A message waits for some others. */
static void expect_ways(struct bench *bench, int ways)
{
	double told = 6 * T + WAY;

	cr_expect_gt(tat(bench, 0), told + ways * WAY);
	cr_expect_lt(tat(bench, 0), told + ways * (WAY + 20 * T));
}

/* Recovery counters at the end, while the job lives. */
struct seen {
	uint64_t queries, gradients;
	uint64_t no_samples; /* results at hosts that say so */
};

static void look(struct bench *bench, uint32_t node, const struct packet *packet)
{
	struct seen *seen = bench->owner;

	seen->no_samples += node < bench->net->hosts && packet->flags & PACKET_RESULT &&
			    packet->flags & PACKET_RETRANSMIT;
	for (uint32_t j = 0; j < bench->scheme->base.jobs.count; j++) {
		const struct esa_server *esa;

		if (!bench_job(bench, j) || bench_job(bench, j)->over)
			continue;
		esa = esa_server_of(bench, j);
		if (esa->queries > seen->queries)
			seen->queries = esa->queries;
		if (esa->gradients > seen->gradients)
			seen->gradients = esa->gradients;
	}
}

/* Case 1: a gradient is lost before the switch, no collision. The server knows nothing;
 * results of later chunks make the workers remind it; it fetches the partial sum of the
 * two others, learns that nobody has the result, and asks for the third gradient alone. */
static void lose_gradient(const char *resend, bool waits)
{
	struct named named = { .node = 4, .chunk = 2, .bits = 2, .times = 1 };
	struct seen seen = { 0 };
	struct collective_stats stats;
	struct bench bench;

	three_with(&bench, &named, resend);
	bench.after = look;
	bench.owner = &seen;
	esa_finish(&bench, 3 * 20);
	cr_expect_eq(named.lost, 1);
	cr_expect_eq(seen.queries, 1);
	cr_expect_eq(seen.no_samples, 3);
	stats = job_stats(&bench);
	cr_expect_eq(stats.retransmissions, 1);
	cr_expect_geq(stats.reminders, 3 + 1);
	cr_expect_eq(bench.server, 1);
	cr_expect_eq(bench.resends, 0);
	cr_expect_eq(bench.up, 3 * 20 - 1); /* that arrived */
	if (waits)
		cr_expect(tat(&bench, 0) > 100e-6 && tat(&bench, 0) < 200e-6);
	else /* reminder, query, answer, request, gradient, result */
		expect_ways(&bench, 6);
	bench_close(&bench);
}

Test(esa_cases, case_1_gradient_lost)
{
	lose_gradient("at_once", false);
	lose_gradient("timeout", true); /* an RTO longer */
}

/* Case 1 again, but the first gradient that goes over the transport is lost, too: its TCP waits for
 * ESA's least timeout, or for the 10 ms of /tcp. */
static bool lose_twice(void *owner, uint32_t port, const struct packet *packet)
{
	struct named *named = owner;

	if (lose_named(named, port, packet))
		return true;
	if (packet->kind != PACKET_DATA || packet->size < 256 || named->lost != 1)
		return false;
	named->lost++;
	return true;
}

static double lose_message(const char *transport_timeout)
{
	struct named named = { .node = 4, .chunk = 2, .bits = 2, .times = 1 };
	struct bench bench;
	char scheme[200];
	double duration;

	snprintf(scheme, sizeof(scheme), "\"transport_timeout\": \"%s\", " TIMERS,
		 transport_timeout);
	esa_star(&bench, 3, "", scheme, "", 20 * 256);
	named.bench = &bench;
	bench_lose(&bench, lose_twice, &named);
	esa_finish(&bench, 3 * 20);
	cr_expect_eq(named.lost, 2);
	cr_expect_eq(job_stats(&bench).retransmissions, 1);
	duration = tat(&bench, 0);
	bench_close(&bench);
	return duration;
}

Test(esa_cases, case_1_gradient_lost_twice)
{
	double own = lose_message("min_timeout"), tcp = lose_message("tcp");

	cr_expect(own > 100e-6 && own < 150e-6, "%g", own);
	cr_expect(tcp > 10e-3 && tcp < 10.1e-3, "%g", tcp);
}

/* As case 1, and one worker loses the result, too: it reminds the server again, which sends the sum
 * again. */
static bool lose_result_too(void *owner, uint32_t port, const struct packet *packet)
{
	struct named *named = owner;

	if (lose_named(owner, port, packet))
		return true;
	if (named->bench->net->ports[port].to || !(packet->flags & PACKET_RESULT) ||
	    packet->kind != PACKET_AGGREGATION || pool_chunk(packet) != 2)
		return false;
	named->lost++;
	return true;
}

Test(esa_cases, case_1_and_the_result_lost)
{
	struct named named = { .node = 4, .chunk = 2, .bits = 2, .times = 1 };
	struct bench bench;

	three(&bench, &named);
	bench_lose(&bench, lose_result_too, &named);
	esa_finish(&bench, 3 * 20);
	cr_expect_eq(named.lost, 2);
	cr_expect_eq(job_stats(&bench).retransmissions, 1);
	cr_expect_eq(job_stats(&bench).repairs, 1);
	bench_close(&bench);
}

/* Two chunks are open at the server. After five timeouts in vain something comes for the one, and
 * the other waits for the least timeout again. */
Test(esa_cases, timeouts_are_short_again)
{
	struct esa_entry *first;
	struct esa_server *esa;
	struct bench bench;
	sim_time now;

	esa_star(&bench, 3, "", TIMERS, ", \"start_jitter\": \"1s\"", 20 * 256);
	sim_run(&bench.s->sim, 1); /* the job is admitted */
	now = bench.s->sim.now;
	esa = esa_server_of(&bench, 0);
	esa->backoff = 5;
	first = esa_entry_open(esa, 0);
	cr_assert(esa_entry_open(esa, 1));
	cr_expect_eq(esa->armed, now + 32 * 100 * PS_PER_US);
	esa_contribution(esa, first, esa->server->racks.of_worker[0], 0, true);
	cr_expect_eq(esa->armed, now + 100 * PS_PER_US);
	bench_close(&bench);
}

/* Case 2, first scenario: the result is lost on the way to one worker, which reminds the
 * server; a peer has it in its cache; nobody sends a gradient again, nobody waits. */
static void lose_result_at(uint32_t worker)
{
	struct named named = { .node = worker,
			       .chunk = 2,
			       .flags = PACKET_RESULT,
			       .mask = PACKET_RESULT,
			       .times = 1 };
	struct seen seen = { 0 };
	struct collective_stats stats;
	struct bench bench;

	three(&bench, &named);
	bench.after = look;
	bench.owner = &seen;
	esa_finish(&bench, 3 * 20);
	cr_expect_eq(named.lost, 1);
	stats = job_stats(&bench);
	cr_expect_eq(seen.queries, 1);
	cr_expect_eq(seen.no_samples, 0);
	cr_expect_eq(stats.retransmissions, 0);
	cr_expect_eq(stats.stale, 0);
	cr_expect_eq(bench.server, 0);
	expect_ways(&bench, 4); /* reminder, query, answer, result */
	bench_close(&bench);
}

Test(esa_cases, case_2_result_lost_at_one)
{
	for (uint32_t worker = 0; worker < 3; worker++)
		lose_result_at(worker);
}

/* Case 2, second scenario: no worker has received the result, the aggregator is free:
 * the server adds all three gradients itself. */
static bool lose_result(void *owner, uint32_t port, const struct packet *packet)
{
	struct named *named = owner;

	if (!named->bench->net->ports[port].to_host || !(packet->flags & PACKET_RESULT) ||
	    pool_chunk(packet) != named->chunk || named->lost == named->times)
		return false;
	named->lost++;
	return true;
}

Test(esa_cases, case_2_result_lost_at_all)
{
	struct named named = { .chunk = 2, .times = 3 };
	struct collective_stats stats;
	struct bench bench;

	three(&bench, &named);
	bench_lose(&bench, lose_result, &named);
	esa_finish(&bench, 3 * 20);
	cr_expect_eq(named.lost, 3);
	stats = job_stats(&bench);
	cr_expect_eq(stats.retransmissions, 3);
	cr_expect_eq(bench.server, 0); /* the reminder found nothing */
	expect_ways(&bench, 6);
	bench_close(&bench);
}

/* One aggregator; the rival has two workers, the second of them late by `late`; job 0
 * has three with one chunk, which come `at`, the third late by 49 us. */
static void collide(struct bench *bench, struct named *named, const char *scheme,
		    const char *rival_scale, const char *rival_at, const char *rival_late)
{
	bench_open(bench, SCHEME_esa,
		   "{\"name\": \"t\", \"cluster\": {\"controller_latency\": \"1ns\"}, \"tcp\": "
		   "{\"min_rto\": \"1ms\"}, \"topology\": {\"kind\": \"star\", \"hosts\": 8, "
		   "\"link\": {\"rate\": \"100Gbps\"}}, \"schemes\": {\"esa\": {\"memory\": "
		   "\"256B\", \"priority_scale\": 0.1, %s}}, \"jobs\": [{\"workers\": 3, "
		   "\"all_reduce\": \"esa\", \"arrival\": {\"at\": \"1us\"}, \"stragglers\": "
		   "{\"workers\": 1, \"slowdown\": 50}, \"model\": {\"layers\": [{\"gradient\": "
		   "\"256B\", \"forward\": \"1us\"}]}}, {\"workers\": 2, \"all_reduce\": \"esa\", "
		   "\"arrival\": {\"at\": \"%s\"}, \"stragglers\": {\"workers\": 1, \"slowdown\": "
		   "%s}, \"model\": {\"layers\": [{\"gradient\": \"256B\", \"forward\": "
		   "\"%s\"}]}}]}",
		   scheme, rival_at, rival_late, rival_scale);
	named->bench = bench;
	bench->watch = true;
	bench_lose(bench, lose_named, named);
}

/* The scheme numbers jobs by arrival. Case 3: the rival (first, with the higher
 * priority, waiting for its second worker) keeps the aggregator; job 1's gradients fail
 * to preempt, and that of worker 0 is lost on its way to the server (node 5 is not known
 * beforehand, so by its bits and the collision bit anywhere): its worker's reminder
 * leads to its gradient. */
static bool lose_at_server(void *owner, uint32_t port, const struct packet *packet)
{
	struct named *named = owner;

	if (!named->bench->net->ports[port].to_host || packet->flags & PACKET_RESULT ||
	    !(packet->flags & POOL_BYPASS) || packet->flow != named->job ||
	    (named->bits && pool_bitmap(packet).bits != named->bits) || named->lost == named->times)
		return false;
	named->lost++;
	return true;
}

Test(esa_cases, case_3_failed_preemption_lost)
{
	struct named named = { .job = 1, .bits = 1, .times = 1 };
	struct bench bench;

	collide(&bench, &named, TIMERS, "500ns", "0s", "60");
	bench_lose(&bench, lose_at_server, &named);
	esa_finish(&bench, 3 + 2);
	cr_expect_eq(named.lost, 1);
	cr_expect_geq(switch_stats(&bench).fallbacks, 2);
	cr_expect_eq(job_stats(&bench).retransmissions, 1);
	bench_close(&bench);
}

/* Case 4: job 0 holds the aggregator with two of three; the rival preempts, and the
 * partial sum is lost on its way: both gradients are asked for. */
Test(esa_cases, case_4_preempted_partial_lost)
{
	struct named named = { .job = 0, .bits = 3, .times = 1 };
	struct bench bench;

	collide(&bench, &named, TIMERS, "200ns", "10us", "20");
	bench_lose(&bench, lose_at_server, &named);
	esa_finish(&bench, 3 + 2);
	cr_expect_eq(named.lost, 1);
	cr_expect_eq(switch_stats(&bench).preemptions, 1);
	cr_expect_eq(job_stats(&bench).retransmissions, 2);
	bench_close(&bench);
}

/* Case 5: preempted, the partial sum is at the server, which so has an entry; the third
 * worker's gradient is lost before the switch: the server's timer reminds, finds nothing,
 * and after three rounds (or a worker's reminder) asks for that gradient. */
Test(esa_cases, case_5_later_gradient_lost)
{
	struct named named = { .node = 8, .job = 0, .bits = 4, .times = 1 };
	struct bench bench;

	collide(&bench, &named, TIMERS, "200ns", "10us", "20");
	esa_finish(&bench, 3 + 2);
	cr_expect_eq(named.lost, 1);
	cr_expect_eq(switch_stats(&bench).preemptions, 1);
	cr_expect_eq(job_stats(&bench).retransmissions, 1);
	bench_close(&bench);
}

/* Case 5, and all three workers have reminded the server (at 70 and 120 us) when its timer runs out
 * (at 170 us). Nobody is left to be asked for the result, so the gradient is asked for at once. */
Test(esa_cases, case_5_all_have_reported)
{
	struct named named = { .node = 8, .job = 0, .bits = 4, .times = 1 };
	struct bench bench;

	collide(&bench, &named, "\"min_timeout\": \"100us\", \"initial_timeout\": \"70us\"",
		"200ns", "10us", "20");
	esa_finish(&bench, 3 + 2);
	cr_expect_eq(named.lost, 1);
	cr_expect_eq(job_stats(&bench).retransmissions, 1);
	cr_expect_gt(tat(&bench, 1), 170e-6);
	cr_expect_lt(tat(&bench, 1), 190e-6, "%g", tat(&bench, 1));
	bench_close(&bench);
}

/* Nothing is lost, but the sum is in two parts: that of workers 0 and 1 was preempted and is at
 * the server, that of worker 2 (50 us) has the aggregator again. Their workers' timers (70 us)
 * run out before the server's (100 us). Its reminder fetches the rest; workers need not be asked,
 * though section 5.3, case 2, does it whenever one of them reminds. */
static uint64_t queries_of_parts(const char *query)
{
	struct named named = { .job = 0 };
	struct seen seen = { 0 };
	struct bench bench;
	char scheme[128];

	snprintf(scheme, sizeof(scheme),
		 "\"min_timeout\": \"100us\", \"initial_timeout\": \"70us\" %s", query);
	collide(&bench, &named, scheme, "200ns", "10us", "20");
	bench.after = look;
	bench.owner = &seen;
	esa_finish(&bench, 3 + 2);
	cr_expect_eq(switch_stats(&bench).preemptions, 1);
	cr_expect_eq(switch_stats(&bench).partials, 2);
	cr_expect_eq(job_stats(&bench).retransmissions, 0);
	cr_expect_gt(tat(&bench, 1), 70e-6);
	cr_expect_lt(tat(&bench, 1), 90e-6);
	bench_close(&bench);
	return seen.queries;
}

Test(esa_cases, query_when_the_server_has_a_part)
{
	cr_expect_eq(queries_of_parts(""), 0);
	cr_expect_eq(queries_of_parts(", \"query\": \"if_nothing\""), 0);
	cr_expect_eq(queries_of_parts(", \"query\": \"always\""), 1);
}

/* A gradient that is asked for before it was sent takes the transport in its turn and
 * never enters a switch: worker 2 is late by 20 ms, timers take 100 us. */
Test(esa_cases, gradient_wanted_before_it_is_sent)
{
	struct seen seen = { 0 };
	struct bench bench;

	bench_open(&bench, SCHEME_esa,
		   "{\"name\": \"t\", \"topology\": {\"kind\": \"star\", \"hosts\": 4}, "
		   "\"schemes\": {\"esa\": {\"memory\": \"25600B\", " TIMERS "}}, \"jobs\": "
		   "[{\"workers\": 3, \"all_reduce\": \"esa\", \"stragglers\": {\"workers\": 1, "
		   "\"slowdown\": 20000}, \"model\": {\"layers\": [{\"gradient\": \"25600B\", "
		   "\"forward\": \"1us\"}]}}]}");
	bench.after = look;
	bench.owner = &seen;
	bench.watch = true;
	esa_finish(&bench, 3 * 100);
	cr_expect_eq(bench.resends, 0);
	cr_expect_eq(bench.up, 3 * 100 - seen.gradients);
	cr_expect_gt(seen.gradients, 0);
	cr_expect_eq(job_stats(&bench).retransmissions, 0); /* each is sent once */
	expect_near(tat(&bench, 0), 20e-3, 0.05, "TAT, s", 20000);
	bench_close(&bench);
}

/* As case 1, and all reminders are lost as long as the chunk is not complete: the server
 * asks for all three gradients, of which two sit in the aggregator. One more reminder
 * frees it while the job goes on. What it held takes the server no time to add: the chunk is
 * complete by then. */
static bool lose_until_complete(void *owner, uint32_t port, const struct packet *packet)
{
	struct named *named = owner;
	const struct partial_sums *sums;
	const struct partial_sum *sum;

	if (lose_named(owner, port, packet))
		return true;
	if (packet->kind != PACKET_AGGREGATION || packet->flags & PACKET_RESULT ||
	    pool_chunk(packet) != named->chunk || pool_bitmap(packet).bits)
		return false;
	sums = &bench_job(named->bench, 0)->servers[0].sums;
	sum = partial_sums_find(sums, named->chunk);
	return sum && !sum->complete;
}

Test(esa_cases, aggregator_left_behind)
{
	struct named named = { .node = 4, .chunk = 2, .bits = 2, .times = 1 };
	struct bench bench;

	esa_star(&bench, 3, ", \"host\": {\"reduction_rate\": \"20Gbps\"}",
		 "\"memory\": \"512000B\", \"max_window\": \"60KB\", " TIMERS, "", 2000 * 256);
	named.bench = &bench;
	bench_lose(&bench, lose_until_complete, &named);
	bench_finish(&bench, 3 * 2000);
	cr_expect_gt(bench.server, 0);
	cr_expect_eq(bench.s->reducers.host[3].busy, 0);
	cr_expect_eq(named.lost, 1);
	cr_expect_geq(job_stats(&bench).retransmissions, 3);
	cr_expect_eq(held_bytes(&bench), 0);
	bench_close(&bench);
}

/* All reminders are lost until the job is over: the gradient that was lost is in by the transport,
 * and so are the others, which an aggregator still holds, either of two. It is fetched when the job
 * has gone, and is free for the next. */
static bool lose_until_over(void *owner, uint32_t port, const struct packet *packet)
{
	struct named *named = owner;
	const struct pool_job *job = bench_job(named->bench, 0);

	if (lose_named(owner, port, packet))
		return true;
	return packet->kind == PACKET_AGGREGATION && !(packet->flags & PACKET_RESULT) &&
	       !pool_bitmap(packet).bits && job && !job->over;
}

Test(esa_cases, each_aggregator_is_fetched_at_the_end)
{
	for (uint32_t chunk = 0; chunk < 2; chunk++) {
		struct named named = { .node = 4, .chunk = chunk, .bits = 2, .times = 1 };
		struct bench bench;

		esa_star(&bench, 3, "", "\"memory\": \"512B\", " TIMERS, "", 512);
		named.bench = &bench;
		bench_lose(&bench, lose_until_over, &named);
		bench_finish(&bench, 6);
		cr_expect_eq(named.lost, 1);
		cr_expect_eq(job_stats(&bench).retransmissions, 3);
		cr_expect_eq(held_bytes(&bench), 256);
		bench.s->sim.stopped = false;
		cr_assert_not(sim_run(&bench.s->sim, 1000000), "something goes on for ever");
		cr_expect_eq(held_bytes(&bench), 0);
		bench_close(&bench);
	}
}

/* The job is over when a spine fails for good, and its only aggregator is still held in a rack. The
 * next reminder takes the other spine. */
static bool lose_before_the_failure(void *owner, uint32_t port, const struct packet *packet)
{
	const struct named *named = owner;

	return lose_named(owner, port, packet) ||
	       (packet->kind == PACKET_AGGREGATION && !(packet->flags & PACKET_RESULT) &&
		!pool_bitmap(packet).bits && named->bench->s->sim.now < 2 * PS_PER_MS);
}

Test(esa_cases, an_aggregator_behind_a_failed_spine)
{
	for (unsigned spine = 0; spine < 2; spine++) {
		struct named named = { .node = 6, .chunk = 0, .bits = 2, .times = 1 };
		struct bench bench;

		bench_open(&bench, SCHEME_esa,
			   "{\"name\": \"t\", \"topology\": {\"kind\": \"leaf-spine\", \"leaves\": "
			   "2, \"spines\": 2, \"hosts_per_leaf\": 3}, \"failures\": {\"events\": "
			   "[{\"fails\": \"spine%u\", \"at\": \"2ms\"}]}, \"schemes\": {\"esa\": "
			   "{\"memory\": \"256B\", " TIMERS
			   "}}, \"jobs\": [{\"workers\": [0, 1, 2], "
			   "\"servers\": [3], \"all_reduce\": \"esa\", \"model\": {\"layers\": "
			   "[{\"gradient\": \"256B\"}]}}, {\"workers\": [4, 5], \"all_reduce\": "
			   "\"ring\", \"arrival\": {\"at\": \"5ms\"}, \"model\": {\"layers\": "
			   "[{\"gradient\": \"256B\"}]}}]}",
			   spine);
		named.bench = &bench;
		bench_lose(&bench, lose_before_the_failure, &named);
		bench_run(&bench);
		cr_expect_eq(bench.s->end, END_ALL_DONE);
		cr_expect_lt(bench.s->jobs->jobs[0].finish, 2 * PS_PER_MS);
		cr_expect_eq(held_bytes(&bench), 0);
		bench_close(&bench);
	}
}

/* Reminders of a job are those of its workers and of all its servers. Chunk 3 of a job with two
 * servers lacks a gradient: it is the second server that reminds. */
struct reminders {
	uint64_t workers, server[2];
};

static void look_at_reminders(struct bench *bench, uint32_t node, const struct packet *packet)
{
	const struct pool_job *job = bench_job(bench, 0);
	struct reminders *seen = bench->owner;

	(void)node, (void)packet;
	if (!job || job->over)
		return;
	seen->workers = job->base.stats.reminders;
	for (uint32_t q = 0; q < 2; q++)
		seen->server[q] = ((const struct esa_server *)job->servers[q].state)->reminders;
}

Test(esa_cases, reminders_of_two_servers)
{
	struct named named = { .node = 5, .chunk = 3, .bits = 2, .times = 1 };
	struct reminders seen = { 0 };
	struct bench bench;

	bench_open(&bench, SCHEME_esa,
		   "{\"name\": \"t\", \"topology\": {\"kind\": \"star\", \"hosts\": 5, "
		   "\"link\": {\"rate\": \"100Gbps\"}}, \"schemes\": {\"esa\": {" TIMERS
		   "}}, \"jobs\": [{\"workers\": 3, \"servers\": 2, \"all_reduce\": \"esa\", "
		   "\"model\": {\"layers\": [{\"gradient\": \"5120B\"}]}}]}");
	named.bench = &bench;
	bench_lose(&bench, lose_named, &named);
	bench.after = look_at_reminders;
	bench.owner = &seen;
	esa_finish(&bench, 3 * 20);
	cr_expect_eq(named.lost, 1);
	cr_expect_gt(seen.workers, 0);
	cr_expect_eq(seen.server[0], 0);
	cr_expect_gt(seen.server[1], 0);
	cr_expect_eq(job_stats(&bench).reminders, seen.workers + seen.server[1]);
	bench_close(&bench);
}

/* A reminder, query or answer without a value fills a frame of 64 bytes: 6 behind the headers of
 * TCP. A gradient or result has them before its 64 elements, and fewer in a smaller packet. */
struct payloads {
	struct named named;
	unsigned brief, full, others;
	uint32_t full_bytes;
};

static bool count_payloads(void *owner, uint32_t port, const struct packet *packet)
{
	struct payloads *payloads = owner;

	if (packet->kind == PACKET_DATA && payloads->named.bench->net->ports[port].to_host) {
		if (packet->payload == 6)
			payloads->brief++;
		else if (packet->payload == payloads->full_bytes)
			payloads->full++;
		else
			payloads->others++;
	}
	return lose_named(&payloads->named, port, packet);
}

static void expect_payloads(struct named named, unsigned elements, unsigned full)
{
	struct payloads payloads = { .named = named, .full_bytes = 6 + 4 * elements };
	char scheme[128];
	struct bench bench;

	snprintf(scheme, sizeof(scheme), "\"elements_per_packet\": %u, " TIMERS, elements);
	esa_star(&bench, 3, "", scheme, "", 20 * 4 * elements);
	payloads.named.bench = &bench;
	bench_lose(&bench, count_payloads, &payloads);
	esa_finish(&bench, 3 * 20);
	cr_expect_eq(payloads.named.lost, 1);
	cr_expect_eq(payloads.full, full, "%u elements: %u", elements, payloads.full);
	cr_expect_eq(payloads.others, 0);
	cr_expect_geq(payloads.brief, 3); /* the query */
	bench_close(&bench);
}

Test(esa_cases, bytes_of_messages)
{
	struct named gradient = { .node = 4, .chunk = 2, .bits = 2, .times = 1 };
	struct named result = {
		.node = 1, .chunk = 2, .flags = PACKET_RESULT, .mask = PACKET_RESULT, .times = 1
	};

	expect_payloads(gradient, 64, 1); /* case 1: that gradient */
	expect_payloads(gradient, 32, 1);
	expect_payloads(result, 64, 3); /* case 2: both that have it answer, one is told */
}

/* --- any single packet --- */

struct nth {
	uint64_t index, met;
};

static bool lose_nth(void *owner, uint32_t port, const struct packet *packet)
{
	struct nth *nth = owner;

	(void)port, (void)packet;
	return nth->met++ == nth->index;
}

/* Whatever packet is lost on whatever link, reminders, messages and their ACKs included,
 * of two jobs in three racks, with room for all and with two aggregators. */
Test(esa_loss, any_single_packet)
{
	static const char *const memories[] = { "51200B", "512B" };

	for (int m = 0; m < 2; m++) {
		for (uint64_t i = 0;; i++) {
			struct nth nth = { .index = i };
			struct bench bench;

			bench_open(&bench, SCHEME_esa,
				   "{\"name\": \"t\", \"tcp\": {\"min_rto\": \"200us\"}, "
				   "\"topology\": {\"kind\": \"leaf-spine\", \"leaves\": 3, "
				   "\"spines\": 1, \"hosts_per_leaf\": 4}, \"schemes\": {\"esa\": "
				   "{\"memory\": \"%s\", " TIMERS "}}, \"jobs\": [{\"workers\": "
				   "[0, 1, 4, 5, 8], \"servers\": [6], \"all_reduce\": \"esa\", "
				   "\"model\": {\"layers\": [{\"gradient\": \"1280B\"}]}}, "
				   "{\"workers\": [2, 7, 9], \"servers\": [10], \"all_reduce\": "
				   "\"esa\", \"model\": {\"layers\": [{\"gradient\": \"1280B\", "
				   "\"forward\": \"1us\"}]}}]}",
				   memories[m]);
			bench.watch = true;
			bench_lose(&bench, lose_nth, &nth);
			esa_finish(&bench, 5 * 5 + 3 * 5);
			cr_assert_leq(tat(&bench, 1), 20e-3, "memory %s, packet %" PRIu64 ": %g",
				      memories[m], i, tat(&bench, 1));
			bench_close(&bench);
			if (nth.met <= i)
				break;
			cr_assert_lt(i, 3000);
		}
	}
}

/* --- at random --- */

/* Where many chunks wait for the server at once, their timeouts run out one after the other.
 * They must not double for each other: with rounds of 1, 2, 4 ms and TCP's 10 ms no tensor takes
 * longer than some tens of ms (1 s with each of these seeds when every chunk doubled it for all).
 */
Test(esa_random, chunks_do_not_double_timeouts_for_each_other)
{
	static const unsigned seeds[] = { 3, 6, 11 };

	for (int s = 0; s < 3; s++) {
		struct bench bench;

		bench_open(&bench, SCHEME_esa,
			   "{\"name\": \"t\", \"seed\": %u, \"topology\": {\"kind\": \"star\", "
			   "\"hosts\": "
			   "10, \"wire_overhead\": false, \"link\": {\"rate\": \"100Gbps\", "
			   "\"delay\": "
			   "\"2.5us\", \"loss\": 0.001}, \"switch\": {\"latency\": \"0s\"}}, "
			   "\"schemes\": "
			   "{\"esa\": {\"memory\": \"4kB\", \"header\": 50, \"initial_timeout\": "
			   "\"1ms\"}}, "
			   "\"jobs\": [{\"count\": 2, \"workers\": 4, \"all_reduce\": \"esa\", "
			   "\"overlap\": "
			   "\"layers\", \"iterations\": 20, \"send_jitter\": \"20us\", \"model\": "
			   "{\"send_order\": [1, 0, 0, 1], \"layers\": [{\"gradient\": \"60kB\", "
			   "\"forward\": "
			   "\"10us\"}, {\"gradient\": \"60kB\"}]}}]}",
			   seeds[s]);
		esa_finish(&bench, 2 * 4 * 20 * 4 * 118);
		for (size_t i = 0; i < 40; i++)
			cr_expect_lt(tat(&bench, i), 60e-3, "seed %u: %g s", seeds[s],
				     tat(&bench, i));
		bench_close(&bench);
	}
}

/* Nor does a server take a timeout for a round trip: a chunk that waits there for the part of a
 * worker waits for whatever timeout, of the server or of a worker, holds that worker back. Else
 * timeouts are each other's samples: 1.2 to 2.1 s for the slowest job with these seeds. */
Test(esa_random, timeouts_do_not_raise_each_other)
{
	for (unsigned seed = 1; seed <= 3; seed++) {
		struct bench bench;

		bench_open(&bench, SCHEME_esa,
			   "{\"name\": \"t\", \"seed\": %u, \"tcp\": {\"min_rto\": \"1ms\", "
			   "\"initial_rto\": \"1ms\"}, \"topology\": {\"kind\": \"leaf-spine\", "
			   "\"leaves\": 5, \"spines\": 2, \"hosts_per_leaf\": 4, \"link\": "
			   "{\"rate\": \"100Gbps\", \"delay\": \"1us\", \"loss\": 0.02}}, "
			   "\"schemes\": {\"esa\": {\"memory\": \"8KB\", \"halve_on\": "
			   "\"timeout\"}}, \"jobs\": [{\"count\": "
			   "4, \"workers\": 4, \"all_reduce\": \"esa\", \"placement\": \"random\", "
			   "\"model\": {\"layers\": [{\"gradient\": \"300kB\"}]}}]}",
			   seed);
		esa_finish(&bench, 4 * 4 * 1172);
		for (size_t i = 0; i < 4; i++)
			cr_expect_lt(tat(&bench, i), 500e-3, "seed %u: %g s", seed, tat(&bench, i));
		bench_close(&bench);
	}
}

/* Three of five packets do not get through a fat tree that loses 15 % on every link. What is under
 * way on a transport is not said again: reminders and results that are repeated faster than it
 * carries them would fill it, and this would not end within 100 s. */
Test(esa_random, heavy_losses_do_not_fill_the_transport)
{
	for (unsigned seed = 1; seed <= 2; seed++) {
		struct bench bench;

		bench_open(&bench, SCHEME_esa,
			   "{\"name\": \"t\", \"seed\": %u, \"tcp\": {\"min_rto\": \"1ms\", "
			   "\"initial_rto\": \"1ms\"}, \"topology\": {\"kind\": \"fat-tree\", "
			   "\"k\": 4, \"link\": {\"rate\": \"100Gbps\", \"loss\": 0.15}}, "
			   "\"schemes\": {\"esa\": {\"max_timeout\": \"50ms\"}}, \"jobs\": "
			   "[{\"workers\": 4, \"all_reduce\": \"esa\", \"model\": {\"layers\": "
			   "[{\"gradient\": \"32kB\"}]}}]}",
			   seed);
		esa_finish(&bench, 4 * 125); /* within the 20 s of a bench */
		bench_close(&bench);
	}
}

static void random_run(unsigned seed, double loss, uint64_t memory, unsigned jobs, double slowdown,
		       uint64_t chunks, bool watch)
{
	static const char *const kinds[] = { "priority", "always", "coin", "never" };
	struct bench bench;

	bench_open(&bench, SCHEME_esa,
		   "{\"name\": \"t\", \"seed\": %u, \"tcp\": {\"min_rto\": \"200us\", "
		   "\"initial_rto\": \"200us\"}, \"topology\": {\"kind\": \"leaf-spine\", "
		   "\"leaves\": 4, \"spines\": 2, \"hosts_per_leaf\": %u, \"link\": {\"loss\": "
		   "%g}}, \"schemes\": {\"esa\": {\"memory\": \"%" PRIu64 "B\", \"preemption\": "
		   "\"%s\", \"query\": \"%s\", \"timeout_resends\": \"%s\", \"min_timeout\": "
		   "\"50us\", "
		   "\"initial_timeout\": \"100us\", \"max_timeout\": \"5ms\"}}, \"jobs\": "
		   "[{\"count\": %u, \"workers\": %u, \"servers\": %u, \"all_reduce\": \"esa\", "
		   "\"placement\": \"random\", \"iterations\": 2, \"overlap\": \"layers\", "
		   "\"stragglers\": {\"workers\": %d, \"slowdown\": %g}, \"model\": {\"layers\": "
		   "[{\"gradient\": \"%" PRIu64 "B\", \"forward\": \"1us\"}, {\"gradient\": "
		   "\"1000B\", \"backward\": \"1us\"}]}}]}",
		   seed, jobs * 2 + 4, loss, memory, kinds[seed % 4],
		   seed % 3 ? "if_nothing" : "always", seed % 2 ? "first" : "all", jobs,
		   3 + seed % 5, 1 + seed % 2, slowdown > 1, slowdown, chunks * 256);
	bench.watch = watch;
	esa_finish(&bench, jobs * (3 + seed % 5) * 2 * (chunks + 4));
	cr_assert_eq(bench.resends, 0); /* workers never send twice into switches */
	bench_close(&bench);
}

Test(esa_random, losses)
{
	static const double rates[] = { 1e-6, 1e-4, 1e-3, 1e-2, 0.05 };

	for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++)
		for (unsigned seed = 1; seed <= (getenv("NIGHTLY") ? 12 : 6); seed++)
			random_run(seed, rates[i], seed % 4 ? 256 * (1 + seed * seed) : 256, 3,
				   seed % 3 ? 1 : 100, rates[i] > 0.01 ? 10 + seed : 60 + seed,
				   true);
}

Test(esa_random, memory_and_jobs)
{
	static const uint64_t memories[] = { 1000, 20000, 5000000 };
	static const unsigned jobs[] = { 1, 4, 16, 64 };

	for (size_t m = 0; m < 3; m++)
		for (size_t j = 0; j < 4; j++) {
			uint64_t chunks = jobs[j] < 64 || getenv("NIGHTLY") ? 200 : 50;

			/* of 64 jobs on three aggregators every chunk takes many reminders */
			if (m == 0 && j == 3)
				chunks = 20;
			random_run((unsigned)(1 + m + j), 1e-3, memories[m], jobs[j],
				   j % 2 ? 100 : 1, chunks, false);
		}
}

/* The widest window and the largest ring of sums of a run. */
struct widest {
	uint64_t window, sums;
};

static void look_widest(struct bench *bench, uint32_t node, const struct packet *packet)
{
	struct widest *widest = bench->owner;
	struct pool_job *job = bench_job(bench, packet->flow);

	(void)node;
	if (!job || job->over)
		return;
	for (uint32_t w = 0; w < job->base.spec.workers; w++)
		if (pool_worker(job, w)->window.mask + 1 > widest->window)
			widest->window = pool_worker(job, w)->window.mask + 1;
	if (job->servers[0].sums.end > widest->sums)
		widest->sums = job->servers[0].sums.end;
}

/* The workers that miss a result are bits of words: of the second one, too. (That it has room is
 * seen by a sanitizer or valgrind.) */
Test(esa_random, more_workers_than_bits_of_a_word)
{
	struct bench bench;

	bench_open(
		&bench, SCHEME_esa,
		"{\"name\": \"t\", \"topology\": {\"kind\": \"leaf-spine\", \"leaves\": 3, "
		"\"spines\": 1, "
		"\"hosts_per_leaf\": 24, \"link\": {\"loss\": 0.02}}, \"jobs\": [{\"workers\": 66, "
		"\"all_reduce\": \"esa\", \"model\": {\"layers\": [{\"gradient\": \"4096B\"}]}}]}");
	esa_finish(&bench, 66 * 16);
	bench_close(&bench);
}

static void long_run(unsigned seed, double loss, struct widest *widest)
{
	struct bench bench;

	bench_open(&bench, SCHEME_esa,
		   "{\"name\": \"t\", \"seed\": %u, \"topology\": {\"kind\": \"star\", \"hosts\": "
		   "4, \"link\": {\"rate\": \"100Gbps\", \"delay\": \"2.5us\", \"loss\": %g}}, "
		   "\"schemes\": {\"esa\": {\"window_increase\": \"15kB\", \"halve_on\": "
		   "\"nothing\", \"initial_timeout\": \"1ms\"}}, \"jobs\": [{\"workers\": 3, "
		   "\"all_reduce\": \"esa\", \"model\": {\"layers\": [{\"gradient\": "
		   "\"4096kB\"}]}}]}",
		   seed, loss);
	bench.after = look_widest;
	bench.owner = widest;
	esa_finish(&bench, 3 * 16000);
	cr_expect_eq(bench.resends, 0);
	bench_close(&bench);
}

/* Long tensors: a lost chunk holds up a window that grows from 200 packets to more than 1,024,
 * so that rings of windows, results and sums are widened again and again, and run over. Sums stay
 * exact: what a worker no longer holds it does not claim to. */
Test(esa_random, long_tensors)
{
	uint64_t window = 0;

	for (unsigned seed = 1; seed <= 16; seed++) {
		struct widest widest = { 0 };

		long_run(seed, seed % 2 ? 1e-4 : 1e-3, &widest);
		cr_expect_geq(widest.window, 1024, "seed %u: %" PRIu64, seed, widest.window);
		cr_expect_gt(widest.sums, 4096, "seed %u: %" PRIu64, seed, widest.sums);
		if (widest.window > window)
			window = widest.window;
	}
	cr_expect_geq(window, 2048);
}

/* A lone job loses single gradients and results, now and then a message. ATP sends again at once;
 * ESA asks first, and where a message is lost, waits for 1 ms. Else nothing may wait for timeouts:
 * then each loss would take 1 ms, and the job 100 ms. */
Test(esa_random, a_lone_job_with_losses)
{
	static const char *const spreads[] = { "0s", "121ns", "1us" }, *const schemes[] = { "esa",
											    "atp" };
	double sums[2] = { 0 };

	for (unsigned run = 0; run < 9; run++)
		for (int s = 0; s < 2; s++) {
			struct bench bench;

			bench_open(
				&bench, s ? SCHEME_atp : SCHEME_esa,
				"{\"name\": \"t\", \"seed\": %u, \"topology\": {\"kind\": "
				"\"star\", \"hosts\": 9, \"host\": {\"nic_jitter\": \"%s\"}, "
				"\"link\": {\"rate\": \"100Gbps\", \"loss\": 5e-4}}, \"jobs\": "
				"[{\"workers\": 8, \"all_reduce\": \"%s\", \"model\": {\"layers\": "
				"[{\"gradient\": \"5MB\"}]}}]}",
				run % 3 + 1, spreads[run / 3], schemes[s]);
			bench_finish(&bench, 8 * UINT64_C(19532));
			sums[s] += tat(&bench, 0);
			if (!s)
				cr_expect_lt(tat(&bench, 0), 15e-3, "run %u", run);
			bench_close(&bench);
		}
	cr_expect_lt(sums[0], 3 * sums[1], "%g, %g", sums[0], sums[1]);
}

/* Timers about as short as the round trip, no loss: they run out for chunks whose results are on
 * their way, and what servers then ask for is no longer needed when the answers come. Meanwhile
 * chunks that lost their aggregators turn the ring of sums (256 places at first) over the entries
 * that are open for them. Once all answers are in, none is. */
static void spurious_run(unsigned seed, const char *memory, const char *timeout)
{
	struct bench bench;

	bench_open(&bench, SCHEME_esa,
		   "{\"name\": \"t\", \"seed\": %u, \"topology\": {\"kind\": \"star\", \"hosts\": "
		   "16, \"link\": {\"rate\": \"100Gbps\", \"delay\": \"2.5us\"}}, \"schemes\": "
		   "{\"esa\": {\"memory\": \"%s\", \"min_timeout\": \"%s\", \"initial_timeout\": "
		   "\"%s\", \"max_timeout\": \"5ms\"}}, \"jobs\": [{\"count\": 3, \"workers\": 3, "
		   "\"all_reduce\": \"esa\", \"iterations\": 6, \"send_jitter\": \"30us\", "
		   "\"model\": {\"layers\": [{\"gradient\": \"256kB\"}]}}]}",
		   seed, memory, timeout, timeout);
	esa_finish(&bench, 3 * 3 * 6 * 1000);
	cr_expect_eq(bench.resends, 0);
	cr_expect_gt(job_stats(&bench).timeouts, 0);
	bench_close(&bench);
}

Test(esa_random, spurious_timers)
{
	static const char *const timeouts[] = { "8us", "12us", "20us" };

	for (unsigned seed = 1; seed <= 6; seed++) {
		spurious_run(seed, "1MB", timeouts[seed % 3]);
		spurious_run(seed, "64kB", timeouts[seed % 3]);
	}
}

/* --- entries of chunks that the ring of sums has turned over --- */

/* What a test does at a server whose job goes well, so that it hears of nothing: it opens entries,
 * as reports of workers would. */
struct turned {
	uint64_t early, late; /* chunks with an entry, in this order; 0 = not yet */
};

static void expect_open(const struct esa_server *esa, const uint64_t *chunks, unsigned count)
{
	uint64_t index = esa->first;

	for (unsigned i = 0; i < count; i++) {
		cr_assert_eq(index, chunks[i], "%" PRIu64 " is open, not %" PRIu64, index,
			     chunks[i]);
		cr_assert(esa->entries[index & esa->mask].open);
		index = esa->entries[index & esa->mask].following;
	}
	cr_assert_eq(index, ESA_NONE);
}

/* The late entry is behind the early one by several turns of the ring, and the last that comes
 * before its place: only a look at the whole ring finds that. */
static void open_early_and_late(struct bench *bench, uint32_t node, const struct packet *packet)
{
	struct turned *turned = bench->owner;
	struct esa_server *esa = esa_server_of(bench, 0);
	uint64_t chunk = packet->seq + 20; /* of which no worker has the result */

	if (node != 0 || !(packet->flags & PACKET_RESULT))
		return;
	if (!turned->early && packet->seq > 300) {
		turned->early = chunk;
		cr_assert_not_null(esa_entry_open(esa, chunk));
		cr_assert_not_null(esa_entry_open(esa, chunk + 1));
		expect_open(esa, (uint64_t[]){ chunk, chunk + 1 }, 2);
	}
	if (!turned->late && packet->seq > turned->early + 5 * esa->mask &&
	    !((chunk + 1 - turned->early) & esa->mask)) {
		turned->late = chunk;
		cr_assert_not_null(esa_entry_open(esa, chunk));
		expect_open(esa, &chunk, 1);
	}
}

Test(esa_cases, the_ring_of_sums_turns_over_entries)
{
	struct turned turned = { 0 };
	struct bench bench;

	esa_star(&bench, 3, "", "\"initial_timeout\": \"1s\", \"max_timeout\": \"1s\"", "",
		 4000 * 256);
	bench.after = open_early_and_late;
	bench.owner = &turned;
	esa_finish(&bench, 3 * 4000);
	cr_expect_gt(turned.late, turned.early);
	bench_close(&bench);
}

/* Makes the ring of sums wider by just one chunk: what is open in the last place stays open. */
static void open_over_the_end(struct bench *bench, uint32_t node, const struct packet *packet)
{
	struct turned *turned = bench->owner;
	struct esa_server *esa = esa_server_of(bench, 0);
	uint64_t last = esa->mask;

	(void)node, (void)packet;
	if (turned->late)
		return;
	*turned = (struct turned){ last - 1, last + 1 };
	cr_assert_eq(last, esa->server->sums.mask);
	cr_assert_not_null(esa_entry_open(esa, turned->early));
	cr_assert_not_null(esa_entry_open(esa, turned->late));
	cr_assert_gt(esa->mask, last);
	expect_open(esa, (uint64_t[]){ turned->early, turned->late }, 2);
}

Test(esa_cases, the_ring_of_sums_grows_at_its_end)
{
	struct turned turned = { 0 };
	struct bench bench;

	esa_star(&bench, 3, "", "\"initial_timeout\": \"1s\", \"max_timeout\": \"1s\"", "",
		 1000 * 256);
	bench.after = open_over_the_end;
	bench.owner = &turned;
	esa_finish(&bench, 3 * 1000);
	cr_expect_gt(turned.late, 0);
	bench_close(&bench);
}
