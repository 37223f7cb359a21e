/* SwitchML on one switch with loss: the trace of appendix A, the loss of any named
 * packet, spurious timeouts, and that the checks fire. */
#include "test_switchml.h"

/* --- the trace of appendix A --- */

struct event {
	sim_time at;
	char text[40];
};

struct trace {
	struct event events[64];
	size_t count;
	sim_time first[3]; /* arrivals of the first packets at the switch */
	unsigned dropped_up, dropped_down;
	uint64_t multicasts, unicasts;
};

static void note(struct bench *bench, const char *fmt, ...)
{
	struct trace *trace = bench->owner;
	struct event *event = &trace->events[trace->count++];
	va_list args;

	cr_assert_leq(trace->count, 64);
	event->at = bench->s->sim.now;
	va_start(args, fmt);
	vsnprintf(event->text, sizeof(event->text), fmt, args);
	va_end(args);
}

static bool trace_lose(struct bench *bench, uint32_t node, const struct packet *packet)
{
	struct trace *trace = bench->owner;

	if (node >= bench->net->hosts && !trace->first[packet->source])
		trace->first[packet->source] = bench->s->sim.now;
	if (node >= bench->net->hosts && packet->seq == 0 && packet->source == 2 &&
	    !trace->dropped_up++) {
		note(bench, "w3 sends 0, lost");
		return true;
	}
	if (node == 0 && packet->seq == 0 && !trace->dropped_down++) {
		note(bench, "result 0 to w1, lost");
		return true;
	}
	return false;
}

static void trace_after(struct bench *bench, uint32_t node, const struct packet *packet)
{
	struct trace *trace = bench->owner;
	unsigned chunk = (unsigned)packet->seq;

	if (node < bench->net->hosts) {
		note(bench, "w%u has %u", node + 1, chunk);
		return;
	}
	note(bench, "w%u %s %u v%u%s", packet->source + 1u,
	     packet->flags & PACKET_RETRANSMIT ? "again" : "sends", chunk,
	     packet->flags & SWITCHML_VERSION ? 1 : 0,
	     bench->multicasts > trace->multicasts ? ", multicast"
	     : bench->unicasts > trace->unicasts   ? ", unicast"
						   : "");
	trace->multicasts = bench->multicasts;
	trace->unicasts = bench->unicasts;
}

/* By time; what happens at one instant, by its text. */
static int by_time(const void *a, const void *b)
{
	const struct event *x = a, *y = b;

	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	return strcmp(x->text, y->text);
}

/* R-S19-A: w3's first packet and the first result to w1 are lost, one slot, two
 * chunks. The workers start apart by more than 10 us (several seeds start them in
 * the order w1, w2, w3), so the order of all events is that of the paper: one
 * multicast and one unicast for chunk 0, two duplicates ignored, exact sums. */
Test(switchml_loss, trace_of_appendix_A)
{
	static const char *const expected[] = {
		"w1 sends 0 v0",
		"w2 sends 0 v0",
		"w3 sends 0, lost",
		"w1 again 0 v0",
		"w2 again 0 v0",
		"w3 again 0 v0, multicast",
		"result 0 to w1, lost",
		"w2 has 0",
		"w3 has 0",
		"w2 sends 1 v1",
		"w3 sends 1 v1",
		"w1 again 0 v0, unicast",
		"w1 has 0",
		"w1 sends 1 v1, multicast",
		"w1 has 1",
		"w2 has 1",
		"w3 has 1",
	};
	const size_t count = sizeof(expected) / sizeof(expected[0]);
	unsigned found = 0;

	for (unsigned seed = 1; seed <= 100; seed++) {
		struct trace trace = { 0 };
		struct bench bench;

		bench_open(
			&bench,
			"{\"name\": \"t\", \"seed\": %u, \"topology\": {\"kind\": \"star\", "
			"\"hosts\": 3}, "
			"\"schemes\": {\"switchml\": {\"slots\": 1}}, \"jobs\": [{\"workers\": 3, "
			"\"start_jitter\": \"100us\", \"all_reduce\": \"switchml\", "
			"\"model\": {\"layers\": [{\"gradient\": \"256B\"}]}}]}",
			seed);
		bench.owner = &trace;
		bench.lose = trace_lose;
		bench.after = trace_after;
		bench.watch = true;
		bench_finish(&bench, 3 * 2);
		if (trace.first[0] + 10 * PS_PER_US < trace.first[1] &&
		    trace.first[1] + 10 * PS_PER_US < trace.first[2]) {
			found++;
			qsort(trace.events, trace.count, sizeof(trace.events[0]), by_time);
			cr_assert_eq(trace.count, count);
			for (size_t i = 0; i < count; i++)
				cr_expect_str_eq(trace.events[i].text, expected[i],
						 "seed %u, event %zu: %s", seed, i,
						 trace.events[i].text);
			cr_expect_eq(switch_stats(&bench).results, 2);
			cr_expect_eq(switch_stats(&bench).duplicates, 3);
			cr_expect_eq(switch_stats(&bench).repairs, 1);
			cr_expect_eq(worker_stats(&bench).retransmissions, 4);
			cr_expect_eq(worker_stats(&bench).stale, 0);
		}
		bench_close(&bench);
	}
	cr_assert_geq(found, 3);
}

/* --- loss of named packets --- */

/* Loses the packets number from..to-1 of those that match: at the switch (up) or
 * at hosts; of one worker and chunk, or of any. */
struct named {
	bool up;
	int64_t chunk, worker; /* -1 = any */
	uint64_t from, to, met;
};

static bool lose_named(struct bench *bench, uint32_t node, const struct packet *packet)
{
	struct named *named = bench->owner;
	bool up = node >= bench->net->hosts;
	uint32_t worker = up ? packet->source : node;

	if (up != named->up || (named->chunk >= 0 && packet->seq != (uint64_t)named->chunk) ||
	    (named->worker >= 0 && worker != (uint32_t)named->worker))
		return false;
	named->met++;
	return named->met > named->from && named->met <= named->to;
}

/* So many results came a second time, but for those that the end of the run met on
 * their way. */
static void expect_stale(struct bench *bench, uint64_t wanted)
{
	uint64_t stale = worker_stats(bench).stale;

	cr_expect_leq(stale, wanted);
	cr_expect_geq(stale + network_in_flight(bench->net), wanted);
}

enum { N = 3, S = 4, G = 11, RTO_US = 100 }; /* small: 3 workers, 4 slots, 11 chunks */

static void lossy_star(struct bench *bench, struct named *named)
{
	star(bench, N, 10, "", "\"slots\": 4, \"retransmission_timeout\": \"100us\"", G * 128);
	bench->watch = true;
	bench->lose = lose_named;
	bench->owner = named;
}

/* Any single contribution is lost. Nobody gets a result, so all n workers expire:
 * n retransmissions, of which n - 1 are duplicates, and the run takes one RTO
 * longer than ceil(11/4) RTT0 = 3 * 2.82 us, + one RTT0 at most. */
Test(switchml_loss, any_single_contribution)
{
	for (uint64_t i = 0; i < N * G; i++) {
		struct named named = {
			.up = true, .chunk = -1, .worker = -1, .from = i, .to = i + 1
		};
		struct bench bench;

		lossy_star(&bench, &named);
		bench_finish(&bench, N * G);
		cr_expect_eq(worker_stats(&bench).retransmissions, N, "packet %" PRIu64, i);
		cr_expect_eq(switch_stats(&bench).duplicates, N - 1);
		cr_expect_eq(bench.up, N * G + N - 1);
		expect_stale(&bench, bench.unicasts);
		cr_expect_lt(tat(&bench, 0), (RTO_US + 6 * 2.82) * 1e-6);
		cr_expect_gt(tat(&bench, 0), RTO_US * 1e-6);
		bench_close(&bench);
	}
}

/* Any single copy of a result is lost: the worker asks again and gets it by
 * unicast. For the last chunk of a slot nobody else waits: exactly one
 * retransmission and one unicast (corner case 10: the tail is one RTO). Else the
 * others wait for the next chunk of the slot and may expire, too. */
Test(switchml_loss, any_single_result)
{
	for (uint32_t w = 0; w < N; w++) {
		for (int64_t g = 0; g < G; g++) {
			struct named named = { .chunk = g, .worker = w, .to = 1 };
			struct bench bench;

			lossy_star(&bench, &named);
			bench_finish(&bench, N * G);
			cr_expect_geq(bench.unicasts, 1);
			if (g >= G - S) {
				cr_expect_eq(bench.unicasts, 1);
				cr_expect_eq(worker_stats(&bench).retransmissions, 1);
			}
			expect_stale(&bench, bench.unicasts - 1);
			cr_expect_gt(tat(&bench, 0), RTO_US * 1e-6);
			cr_expect_lt(tat(&bench, 0), (2 * RTO_US + 20) * 1e-6);
			bench_close(&bench);
		}
	}
}

/* All n copies of a multicast are lost: n unicasts. Retransmissions are lost, too:
 * after r lost transmissions in a row the run takes r RTO. Timers do not back off. */
Test(switchml_loss, all_copies_and_retransmissions)
{
	for (int64_t g = 0; g < G; g++) {
		struct named all = { .chunk = g, .worker = -1, .to = N };
		struct bench bench;

		lossy_star(&bench, &all);
		bench_finish(&bench, N * G);
		cr_expect_eq(bench.unicasts, N, "chunk %d", (int)g);
		cr_expect_eq(worker_stats(&bench).retransmissions, N);
		bench_close(&bench);
		for (uint64_t r = 1; r <= 5; r++) {
			struct named again = { .up = true, .chunk = g, .worker = 1, .to = r };

			lossy_star(&bench, &again);
			bench_finish(&bench, N * G);
			cr_expect_eq(worker_stats(&bench).retransmissions, N * r);
			expect_near(tat(&bench, 0), (double)r * RTO_US * 1e-6, 0.2, "TAT, s",
				    (double)r);
			bench_close(&bench);
			/* first the contribution, then r - 1 times the unicast */
			again = (struct named){ .chunk = g, .worker = 1, .to = r };
			lossy_star(&bench, &again);
			bench_finish(&bench, N * G);
			cr_expect_geq(bench.unicasts, r);
			bench_close(&bench);
		}
	}
}

/* Timers that are shorter than the RTT (2.82 us): contributions come again while
 * the slot is incomplete (ignored) and after it is complete (unicast behind the
 * multicast). Without loss every repair is one stale result at a worker or reaches
 * nobody, for the job is over; sums stay exact. */
Test(switchml_loss, spurious_timeouts)
{
	static const char *const timeouts[] = {
		"1us", "1.5us", "2us", "2.8us", "2.82us", "2.83us"
	};

	for (size_t i = 0; i < sizeof(timeouts) / sizeof(timeouts[0]); i++) {
		for (int jitter = 0; jitter < 2; jitter++) {
			struct bench bench;
			char scheme[80];

			snprintf(scheme, sizeof(scheme),
				 "\"slots\": 8, \"retransmission_timeout\": \"%s\"", timeouts[i]);
			star(&bench, 5, 10, jitter ? ", \"host\": {\"jitter\": \"2us\"}" : "",
			     scheme, 100 * 128);
			bench.watch = true;
			bench_finish(&bench, 5 * 100);
			if (i < 4)
				cr_expect_gt(worker_stats(&bench).retransmissions, 50);
			else if (!jitter) /* a result that comes at the very instant of the timeout
					     is in time */
				cr_expect_eq(worker_stats(&bench).retransmissions, 0, "%s",
					     timeouts[i]);
			if (i == 0)
				cr_expect_gt(bench.unicasts, 0);
			cr_expect_eq(bench.resends + 500, bench.up);
			expect_stale(&bench, bench.unicasts);
			bench_close(&bench);
		}
	}
}

/* Uniform loss on all links, both directions (I7: always completes; I6 and sums in
 * bench_finish()). */
Test(switchml_loss, uniform_loss)
{
	static const double rates[] = { 1e-4, 1e-3, 1e-2, 0.1, 0.3 };

	for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
		for (unsigned seed = 1; seed <= 40; seed++) {
			struct bench bench;

			bench_open(&bench,
				   "{\"name\": \"t\", \"seed\": %u, \"topology\": {\"kind\": "
				   "\"star\", \"hosts\": 5, "
				   "\"link\": {\"loss\": %g}}, \"schemes\": {\"switchml\": "
				   "{\"slots\": 8, "
				   "\"retransmission_timeout\": \"20us\"}}, \"jobs\": "
				   "[{\"workers\": 5, "
				   "\"iterations\": 2, \"all_reduce\": \"switchml\", "
				   "\"model\": {\"layers\": [{\"gradient\": \"%uB\"}]}}]}",
				   seed, rates[i], 60 * 128 + 4 * seed);
			bench.watch = true;
			bench_finish(&bench, UINT64_C(5) * 2 * (60 + (4 * seed + 127) / 128));
			bench_close(&bench);
		}
	}
}

/* --- the checks themselves --- */

/* Corner case 6: a late copy of a contribution, behind the next of the same worker
 * and slot, would be added to a later chunk. FIFO paths exclude it; the check
 * fires when a test injects one, whether the old version is complete (s = 4: as soon as worker
 * 0 has sent chunk 4) or is being added up again (chunk 8). */
struct injection {
	uint64_t behind; /* inject right after worker 0's contribution to this chunk */
	bool result;     /* a result instead of a contribution */
	uint32_t to;     /* node */
	struct packet old;
	bool done;
};

static void inject(struct bench *bench, uint32_t node, const struct packet *packet)
{
	struct injection *injection = bench->owner;
	struct switch_actions actions = { 0 };

	if (node < bench->net->hosts || packet->source != 0 || injection->done)
		return;
	if (packet->seq == 0)
		injection->old = *packet;
	if (packet->seq != injection->behind)
		return;
	injection->done = true;
	bench->real->at_switch(bench->real_self, 0, 0, &injection->old, &actions);
}

Test(switchml_check, late_duplicate)
{
	static const uint64_t behind[] = { 4, 12 };

	for (size_t i = 0; i < 2; i++) {
		struct injection injection = { .behind = behind[i] };
		struct bench bench;

		star(&bench, N, 10, "", "\"slots\": 4", 16 * 128);
		bench.after = inject;
		bench.owner = &injection;
		bench_run(&bench);
		cr_expect(injection.done);
		cr_expect_eq(bench.s->end, END_VIOLATION);
		cr_expect(strstr(bench.s->checks.first, "a contribution met another chunk: job 0, "
							"chunk 0, at switch, at 0.0000"),
			  "%s", bench.s->checks.first);
		bench_close(&bench);
	}
}

/* A sum that is wrong by one bit, and a result for what a worker has not sent, are
 * caught at the host, which is named. */
static void spoil(struct bench *bench, uint32_t node, const struct packet *packet)
{
	struct injection *injection = bench->owner;
	struct packet bad = *packet;

	if (node != 1 || injection->done || packet->seq != 3)
		return;
	injection->done = true;
	bad.seq = injection->behind;
	bad.slot = (uint16_t)(bad.seq % 4);
	bad.value ^= 1;
	bench->real->deliver(bench->real_self, 1, &bad);
}

static bool spoil_in_place(struct bench *bench, uint32_t node, const struct packet *packet)
{
	struct injection *injection = bench->owner;
	struct packet bad = *packet;

	if (node != 1 || injection->done || packet->seq != 3)
		return false;
	injection->done = true;
	bad.value ^= 1;
	bench->real->deliver(bench->real_self, 1, &bad);
	return true;
}

Test(switchml_check, wrong_results_at_a_worker)
{
	for (int early = 0; early < 2; early++) {
		struct injection injection = { .behind = 7 };
		struct bench bench;

		star(&bench, N, 10, "", "\"slots\": 4", early ? 4 * 128 : 16 * 128);
		if (early)
			bench.after = spoil;
		else
			bench.lose = spoil_in_place;
		bench.owner = &injection;
		bench_run(&bench);
		cr_expect_eq(bench.s->end, END_VIOLATION);
		cr_expect(strstr(bench.s->checks.first,
				 early ? "a result came before the contribution: job 0, chunk 7, "
					 "at h1, at 0.0000"
				       : "a wrong sum: job 0, chunk 3, at h1, at 0.0000"),
			  "%s", bench.s->checks.first);
		bench_close(&bench);
	}
}
