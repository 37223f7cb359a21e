/* The sending window of ATP and ESA: bounds, increase and decrease, what is declared
 * lost and when. */
#include "ina/common/window.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <math.h>

#define US PS_PER_US

static struct window_conf conf_of(uint64_t packets)
{
	return (struct window_conf){
		.initial = packets * 300,
		.increase = 300,
		.gap = 3,
		.rto = { .rule = RTO_ADAPTIVE, .first = 1000 * US, .min = 100 * US },
		.max_rto = 10000 * US,
		.halve_on = HALVE_ON_LOSS
	};
}

static void send_all(struct window *window, sim_time now)
{
	while (window_may_send(window, UINT64_MAX))
		window_send(window, now);
}

/* next <= first + cwnd; the window is anchored at the oldest chunk without a result. */
Test(window, is_anchored_at_the_oldest)
{
	struct window_conf conf = conf_of(10);
	struct window window;
	uint64_t chunk;

	window_init(&window, &conf, 300, 1);
	cr_expect_not(window_may_send(&window, 0));
	send_all(&window, 0);
	cr_expect_eq(window.next, 10);
	cr_expect(window_result(&window, 1, false, 5 * US));
	cr_expect(window_result(&window, 2, false, 5 * US));
	cr_expect_not(window_may_send(&window, UINT64_MAX));
	cr_expect_not(window_result(&window, 2, false, 5 * US), "a result counts once");
	cr_expect(window_result(&window, 0, false, 5 * US));
	cr_expect_eq(window.first, 3);
	send_all(&window, 5 * US);
	cr_expect_eq(window.next, 13);
	cr_expect_not(window_result(&window, 0, false, 5 * US));
	cr_expect_not(window_take_lost(&window, &chunk, 5 * US));
	window_release(&window);
}

/* Nothing changes a fixed window: no mark, hole or timeout. A hole is still declared lost. */
Test(window, fixed)
{
	struct window_conf conf = conf_of(10);
	struct window window;
	uint64_t chunk;

	conf.max = conf.initial;
	conf.halve_on = HALVE_ON_NOTHING;
	window_init(&window, &conf, 300, 1);
	for (unsigned round = 0; round < 3; round++) {
		send_all(&window, round);
		cr_expect_eq(window.next - window.first, 10);
		while (window.first < window.next)
			window_result(&window, window.first, round == 1, round);
	}
	send_all(&window, 10);
	for (uint64_t p = window.first + 1; p < window.next; p++)
		window_result(&window, p, true, 20);
	cr_expect(window_take_lost(&window, &chunk, 20));
	cr_expect_eq(chunk, window.first);
	window_expire(&window, 20000 * US);
	cr_expect_eq(window.timeouts, 1);
	cr_expect_eq(window.limit, 10);
	cr_expect_eq(window.reductions, 0);
	window_release(&window);
}

/* Ten chunks, sent 10 us apart, time out one after the other: the first doubles the timeout of 1
 * ms, the others had been sent before that and do not double it again. All are declared lost by
 * 2.09 ms. The first, declared lost at 1 ms, doubles the timeout next, at 3 ms. */
Test(window, timeouts_double_once_a_round)
{
	struct window_conf conf = conf_of(10);
	struct window window;
	uint64_t chunk, count = 0;
	sim_time now;

	conf.timeout_resends = TIMEOUT_ALL;
	window_init(&window, &conf, 300, 1);
	for (unsigned p = 0; p < 10; p++)
		window_send(&window, p * 10 * US);
	for (now = 1000 * US; now <= 2090 * US; now = window_due(&window))
		window_expire(&window, now);
	cr_expect_eq(now, 3000 * US);
	cr_expect_eq(window_rto(&window), 2000 * US);
	window_expire(&window, now);
	cr_expect_eq(window_rto(&window), 4000 * US);
	while (count < 10 && window_take_lost(&window, &chunk, now))
		cr_expect_eq(chunk, count++);
	cr_expect_eq(count, 10);
	window_release(&window);
}

/* One increase per window of results, one halving at most; never below a packet or above max. */
Test(window, additive_increase_multiplicative_decrease)
{
	struct window_conf conf = conf_of(10);
	struct window window;

	conf.max = 12 * 300;
	window_init(&window, &conf, 300, 1);
	for (unsigned round = 0; round < 4; round++) {
		uint64_t limit = window.limit;

		cr_expect_eq(limit, round < 2 ? 10 + round : 12);
		send_all(&window, round);
		for (uint64_t i = 0; i < limit; i++)
			window_result(&window, window.first, false, round);
	}
	send_all(&window, 10);
	window_result(&window, window.first, true, 11);
	cr_expect_eq(window.limit, 6);
	window_result(&window, window.first, true, 11);
	cr_expect_eq(window.limit, 6, "sent before the cut");
	for (unsigned i = 0; i < 40; i++) {
		send_all(&window, 12);
		while (window.first < window.next)
			window_result(&window, window.first, true, 13);
	}
	cr_expect_eq(window.limit, 1);
	window_release(&window);
}

/* A cut begins a new window, as an increase does. The next increase takes as many results as the
 * new window has packets; earlier results do not count. */
Test(window, grows_by_whole_windows)
{
	struct window_conf conf = conf_of(20);
	struct window window;

	window_init(&window, &conf, 300, 1);
	send_all(&window, 0);
	for (unsigned i = 0; i < 5; i++)
		window_result(&window, window.first, false, 1);
	window_result(&window, window.first, true, 2);
	for (uint64_t limit = 10; limit < 14; limit++) {
		for (uint64_t i = 0; i < limit; i++) {
			cr_expect_eq(window.limit, limit);
			send_all(&window, 2);
			window_result(&window, window.first, false, 3);
		}
	}
	cr_expect_eq(window.limit, 14);
	window_release(&window);
}

/* Losses among the packets that one window allowed halve it once. Two workers receive the same
 * results, but one began late: half of its window is still at its NIC when the first hole shows. */
Test(window, halves_once_for_all_that_it_allowed)
{
	struct window_conf conf = conf_of(20);
	struct window window[2];

	for (unsigned w = 0; w < 2; w++) {
		window_init(&window[w], &conf, 300, 1);
		for (unsigned p = 0; p < (w ? 10u : 20u); p++)
			window_send(&window[w], 0);
		for (uint64_t p = 1; p < 10; p++)
			window_result(&window[w], p, false, 1); /* 0 is a hole */
		cr_expect_eq(window[w].limit, 10);
		window_result(&window[w], 0, false, 2);
		send_all(&window[w], 2);
		cr_expect_eq(window[w].next, 20);
		for (uint64_t p = 13; p < 20; p++)
			window_result(&window[w], p, p == 15, 3); /* 10, 11, 12 are holes */
		cr_expect_eq(window[w].limit, 11, "one more for the ten results since");
		for (uint64_t p = 10; p < 13; p++)
			window_result(&window[w], p, false, 4);
		send_all(&window[w], 4);
		window_result(&window[w], 20, true, 5);
		cr_expect_eq(window[w].limit, 5, "a window later");
		cr_expect_eq(window[w].reductions, 2);
		window_release(&window[w]);
	}
}

/* Every hole three or more behind the newest result is declared lost, once. */
Test(window, holes)
{
	struct window_conf conf = conf_of(20);
	struct window window;
	uint64_t chunk;

	window_init(&window, &conf, 300, 1);
	send_all(&window, 0);
	window_result(&window, 3, false, 1);
	cr_expect(window_take_lost(&window, &chunk, 1));
	cr_expect_eq(chunk, 0);
	cr_expect_not(window_take_lost(&window, &chunk, 1));
	window_result(&window, 7, false, 2); /* 1, 2 and 4 */
	for (uint64_t wanted = 1; wanted <= 4; wanted += wanted == 2 ? 2 : 1) {
		cr_expect(window_take_lost(&window, &chunk, 2));
		cr_expect_eq(chunk, wanted);
	}
	cr_expect_not(window_take_lost(&window, &chunk, 2));
	cr_expect_eq(window.reductions, 1);
	window_release(&window);
}

/* Chunks of different servers do not overtake each other. */
Test(window, classes)
{
	struct window_conf conf = conf_of(20);
	struct window window;
	uint64_t chunk;

	window_init(&window, &conf, 300, 2);
	send_all(&window, 0);
	for (uint64_t p = 1; p < 20; p += 2)
		window_result(&window, p, false, 1); /* all odd, no even one */
	cr_expect_not(window_take_lost(&window, &chunk, 1));
	window_result(&window, 6, false, 2);
	cr_expect(window_take_lost(&window, &chunk, 2));
	cr_expect_eq(chunk, 0);
	cr_expect_not(window_take_lost(&window, &chunk, 2));
	window_release(&window);
}

/* A timeout after the last progress declares the first chunk lost, or all chunks. A chunk is
 * declared lost again only after another timeout, twice as long, and not if its result has come. */
Test(window, timeouts)
{
	for (int all = 0; all < 2; all++) {
		struct window_conf conf = conf_of(4);
		struct window window;
		uint64_t chunk;

		conf.timeout_resends = all ? TIMEOUT_ALL : TIMEOUT_FIRST;
		window_init(&window, &conf, 300, 1);
		send_all(&window, 0);
		cr_expect_eq(window_timeout(&window, 0), 1000 * US);
		cr_expect_eq(window_due(&window), 1000 * US);
		window_expire(&window, 999 * US);
		cr_expect_not(window_has_lost(&window));
		window_expire(&window, 1000 * US);
		cr_expect_eq(window_due(&window), 3000 * US); /* it has doubled */
		cr_expect_eq(window.lost_count, all ? 4 : 1);
		window_result(&window, 1, false, 1001 * US); /* backoff is over */
		cr_expect(window_take_lost(&window, &chunk, 1002 * US));
		cr_expect_eq(chunk, 0);
		if (all) {
			cr_expect(window_take_lost(&window, &chunk, 1002 * US));
			cr_expect_eq(chunk, 2);
		}
		window_release(&window);
	}
}

/* What halves a window is a choice. A window's share is known only once the window is complete. */
Test(window, halve_on)
{
	for (int on = HALVE_ON_MARK; on <= HALVE_ON_LOSS; on++) {
		struct window_conf conf = conf_of(16);
		struct window window;

		conf.halve_on = on;
		window_init(&window, &conf, 300, 1);
		send_all(&window, 0);
		window_result(&window, 9, false, 1);
		cr_expect_eq(window.limit, on == HALVE_ON_LOSS ? 8 : 16);
		window_expire(&window, 100000 * US);
		cr_expect_eq(window.limit, on == HALVE_ON_MARK ? 16 : 8);
		window_release(&window);
	}
}

/* A window of results of which others overtake the first `overtaken`. */
static void round_with(struct window *window, uint64_t overtaken)
{
	uint64_t base = window->first, end = base + window->limit, chunk;

	send_all(window, 0);
	for (uint64_t p = base + overtaken; p < end; p++)
		window_result(window, p, false, 1);
	for (uint64_t p = base; p < base + overtaken; p++)
		window_result(window, p, false, 1);
	cr_expect_eq(window->first, end);
	while (window_take_lost(window, &chunk, 1))
		;
}

/* A quarter of each window is overtaken: after r windows the running mean of gain 1/16 is 1/4 (1 -
 * (15/16)^r). It decays by 15/16 per window without overtaken results, whether it cuts or not. */
Test(window, share_is_a_running_mean)
{
	struct window_conf conf = conf_of(16);
	struct window window;
	double kept = 1;

	conf.max = conf.initial;
	conf.halve_on = HALVE_ON_TIMEOUT;
	window_init(&window, &conf, 300, 1);
	for (unsigned r = 1; r <= 100; r++) {
		round_with(&window, 4);
		kept *= 15. / 16;
		cr_assert_float_eq(window.share, 0.25 * (1 - kept), 1e-12, "window %u", r);
	}
	cr_expect_eq(window.limit, 16, "this rule does not cut for it");
	for (unsigned r = 0; r < 10; r++)
		round_with(&window, 0);
	cr_expect_float_eq(window.share, 0.25 * (1 - kept) * pow(15. / 16, 10), 1e-12);
	window_release(&window);
}

/* Overtaken results cut the window by half the mean, once the whole window is in. A window without
 * overtaken results cuts nothing, whatever the mean. Growth stays: a packet of 300 bytes for each
 * window of results. */
Test(window, share_cuts_in_proportion)
{
	struct window_conf conf = conf_of(160);
	struct window window;
	uint64_t cwnd = 160 * 300;
	double share = 0;

	conf.halve_on = HALVE_ON_SHARE;
	window_init(&window, &conf, 300, 1);
	for (unsigned r = 0; r < 20; r++) {
		uint64_t overtaken = r % 2 ? 0 : window.limit / 4;

		share += ((double)overtaken / (double)window.limit - share) / 16;
		round_with(&window, overtaken);
		cwnd += 300;
		if (overtaken)
			cwnd = (uint64_t)((double)cwnd * (1 - share / 2));
		cr_assert_eq(window.cwnd, cwnd, "window %u: %" PRIu64 ", not %" PRIu64, r,
			     window.cwnd, cwnd);
	}
	cr_expect_eq(window.reductions, 10);
	window_release(&window);
}

/* A window is cut once under any rule: a mark halves it, and its share adds nothing. */
Test(window, share_does_not_cut_what_a_mark_has_halved)
{
	struct window_conf conf = conf_of(40);
	struct window window;

	conf.halve_on = HALVE_ON_SHARE;
	window_init(&window, &conf, 300, 1);
	send_all(&window, 0);
	for (uint64_t p = 10; p < 40; p++)
		window_result(&window, p, p == 20, 1);
	cr_expect_eq(window.limit, 20);
	for (uint64_t p = 0; p < 10; p++)
		window_result(&window, p, false, 2);
	cr_expect_eq(window.first, 40);
	cr_expect_eq(window.reductions, 1);
	cr_expect_geq(window.cwnd, 20 * 300);
	cr_expect_float_eq(window.share, 10. / 40 / 16, 1e-12);
	window_release(&window);
}

Test(window, numbers_of_32_bits)
{
	cr_expect_eq(chunk_near(0, 5), 5);
	cr_expect_eq(chunk_near(UINT64_C(0x1ffffffff), 3), UINT64_C(0x200000003));
	cr_expect_eq(chunk_near(UINT64_C(0x200000003), 0xfffffff0), UINT64_C(0x1fffffff0));
}

/* Karn's rule for sums: if another worker had to send again for a result, neither this result nor
 * those of chunks in flight when it came are samples of the round trip. Chunks sent later are. */
Test(window, timeouts_of_others_are_no_samples)
{
	struct window_conf conf = conf_of(3);
	struct window window;

	window_init(&window, &conf, 300, 1);
	send_all(&window, 0);
	cr_expect(window_result(&window, 0, false, 200 * US));
	cr_expect_eq(window.rto.srtt, 200 * US);
	send_all(&window, 200 * US); /* chunk 3 */
	window_no_samples(&window);
	cr_expect(window_result(&window, 1, false, 900 * US));
	cr_expect(window_result(&window, 2, false, 900 * US));
	cr_expect(window_result(&window, 3, false, 1000 * US));
	cr_expect_eq(window.rto.srtt, 200 * US);
	send_all(&window, 1000 * US);
	cr_expect(window_result(&window, 4, false, 2000 * US));
	cr_expect_eq(window.rto.srtt, 300 * US); /* 7/8 of 200 and 1/8 of 1,000 */
	window_release(&window);
}

/* The same for the worker's own timeout: chunks behind the lost one have waited, too. */
Test(window, chunks_of_a_timeout_are_no_samples)
{
	struct window_conf conf = conf_of(3);
	struct window window;
	uint64_t chunk;

	window_init(&window, &conf, 300, 1);
	send_all(&window, 0);
	window_expire(&window, 1000 * US);
	cr_expect(window_take_lost(&window, &chunk, 1000 * US));
	cr_expect_eq(chunk, 0);
	for (uint64_t p = 0; p < 3; p++)
		cr_expect(window_result(&window, p, false, 1200 * US));
	cr_expect_eq(window.rto.srtt, 0);
	send_all(&window, 1200 * US);
	cr_expect(window_result(&window, 3, false, 1300 * US));
	cr_expect_eq(window.rto.srtt, 100 * US);
	window_release(&window);
}

/* The first result ends the initial timeout, even if it is no sample. */
Test(window, initial_timeout_lasts_until_a_result)
{
	struct window_conf conf = conf_of(3);
	struct window window;

	window_init(&window, &conf, 300, 1);
	send_all(&window, 0);
	cr_expect_eq(window_rto(&window), 1000 * US);
	window_expire(&window, 1000 * US);
	cr_expect(window_result(&window, 0, false, 1010 * US));
	cr_expect_eq(window.rto.srtt, 0);
	cr_expect_eq(window_rto(&window), 100 * US);
	window_release(&window);
}

/* Of 16 chunks in flight none has a result, and a timeout halves the window. A result of the oldest
 * lets chunk 16 out, and no other, though the window now ends at 9 (not without `probes`). Its
 * result overtakes the rest. What is in flight never grows. */
Test(window, probes_after_a_timeout)
{
	for (int probes = 0; probes <= 1; probes++) {
		struct window_conf conf = conf_of(16);
		struct window window;
		uint64_t chunk, lost = 0;

		conf.probes = probes;
		conf.halve_on = HALVE_ON_TIMEOUT;
		window_init(&window, &conf, 300, 1);
		send_all(&window, 0);
		window_expire(&window, 1000 * US);
		cr_expect(window_take_lost(&window, &chunk, 1000 * US));
		cr_expect_eq(chunk, 0);
		cr_expect_eq(window.limit, 8);
		cr_expect_not(window_may_send(&window, UINT64_MAX));
		cr_expect(window_result(&window, 0, false, 1010 * US));
		send_all(&window, 1010 * US);
		cr_expect_eq(window.next, probes ? 17 : 16);
		cr_expect_eq(window.waited, 1000 * US);
		if (probes) {
			cr_expect(window_result(&window, 16, false, 1020 * US));
			while (window_take_lost(&window, &chunk, 1020 * US))
				lost++;
			cr_expect_eq(lost, 13, "1 to 13 are three or more behind");
		}
		for (uint64_t p = 1; p < 16; p++) {
			cr_expect(window_result(&window, p, false, 1030 * US));
			send_all(&window, 1030 * US);
			cr_expect_leq(window.next - window.first, 16);
		}
		cr_expect_eq(window.limit, window.cwnd / 300);
		cr_expect_eq(window.probe, 0);
		window_release(&window);
	}
}

/* Many results at once do what they do one by one, anywhere in an increase or a round. */
Test(window, results_at_once)
{
	for (uint64_t results = 1; results < 300; results += 13) {
		struct window_conf conf = conf_of(10);
		struct window one_by_one, at_once;

		conf.max = 300 * 24;
		conf.increase = 450;
		conf.halve_on = HALVE_ON_SHARE;
		window_init(&one_by_one, &conf, 300, 1);
		window_init(&at_once, &conf, 300, 1);
		one_by_one.share = at_once.share = 0.5;
		for (uint64_t p = 0; p < results; p++) {
			window_send(&one_by_one, 0);
			window_result(&one_by_one, p, false, 5 * US);
		}
		window_results(&at_once, results);
		cr_expect_eq(at_once.first, results);
		cr_expect_eq(at_once.cwnd, one_by_one.cwnd);
		cr_expect_eq(at_once.limit, one_by_one.limit);
		cr_expect_eq(at_once.credit, one_by_one.credit);
		cr_expect_eq(at_once.round_end, one_by_one.round_end);
		cr_expect_eq(at_once.share, one_by_one.share);
		window_release(&one_by_one);
		window_release(&at_once);
	}
}
