/* PANAMA's window, figure 5, as a function of results: rounds, cuts, caps. */
#include "ina/panama/panama_window.h"

#include <criterion/criterion.h>
#include <math.h>

static const struct panama_window_conf figure5 = { .initial = 2, .ssthresh = 64, .g = 1.0 / 16 };

/* One round: as many results as the window has packets, the first `marked` of them marked. */
static void one_round(struct panama_window *window, uint32_t marked)
{
	uint64_t results = panama_window_packets(window);

	for (uint64_t i = 0; i < results; i++)
		panama_window_result(window, &figure5, i < marked, UINT16_MAX);
	cr_assert_eq(window->received, 0);
	cr_assert_eq(window->marked, 0);
}

/* Without marks: doubled up to ssthresh, then one more a round; alpha = (15/16)^k. */
Test(panama_window, unmarked_rounds)
{
	static const double wanted[] = { 4, 8, 16, 32, 64, 65, 66, 67 };
	struct panama_window window;

	panama_window_init(&window, &figure5, UINT16_MAX);
	cr_assert_eq(window.cwnd, 2);
	cr_assert_eq(window.alpha, 1);
	for (unsigned k = 0; k < sizeof(wanted) / sizeof(wanted[0]); k++) {
		one_round(&window, 0);
		cr_expect_eq(window.cwnd, wanted[k]);
		cr_expect_float_eq(window.alpha, pow(15.0 / 16, k + 1), 1e-12);
	}
}

/* All marked: alpha stays 1, the window is halved, ssthresh follows; never below 1. */
Test(panama_window, marked_rounds)
{
	struct panama_window window;

	panama_window_init(&window, &figure5, UINT16_MAX);
	for (unsigned k = 0; k < 5; k++)
		one_round(&window, 0);
	window.alpha = 1;
	one_round(&window, 64);
	cr_expect_eq(window.alpha, 1);
	cr_expect_eq(window.cwnd, 32);
	cr_expect_eq(window.ssthresh, 32);
	for (unsigned k = 0; k < 10; k++)
		one_round(&window, UINT32_MAX);
	cr_expect_eq(window.cwnd, 1);
}

/* As RFC 8257 has it, a marked round grows by a packet, too, after the cut; ssthresh is the cut. */
Test(panama_window, marked_rounds_grow_if_told)
{
	const struct panama_window_conf rfc = {
		.initial = 64, .ssthresh = 64, .g = 1.0 / 16, .growth = PANAMA_ALWAYS
	};
	struct panama_window window;

	panama_window_init(&window, &rfc, UINT16_MAX);
	for (unsigned i = 0; i < 64; i++)
		panama_window_result(&window, &rfc, true, UINT16_MAX);
	cr_expect_eq(window.ssthresh, 32);
	cr_expect_eq(window.cwnd, 33);
}

/* 16 of 64 marked with alpha 0: alpha = g / 4, cwnd = 64 (1 - g / 8), fractional; the next round
 * has 63 results, and its fraction of marks is of 63. */
Test(panama_window, fractional_windows_go_on)
{
	struct panama_window window;
	double alpha = 1.0 / 16 / 4, cwnd = 64 * (1 - alpha / 2);

	panama_window_init(&window, &figure5, UINT16_MAX);
	window.cwnd = 64;
	window.alpha = 0;
	one_round(&window, 16);
	cr_expect_float_eq(window.alpha, alpha, 1e-15);
	cr_expect_float_eq(window.cwnd, cwnd, 1e-12);
	cr_assert_eq(panama_window_packets(&window), 63);
	for (unsigned i = 0; i < 62; i++)
		panama_window_result(&window, &figure5, false, UINT16_MAX);
	cr_expect_float_eq(window.cwnd, cwnd, 1e-12);
	panama_window_result(&window, &figure5, true, UINT16_MAX);
	alpha = alpha * 15 / 16 + 1.0 / 16 / 63;
	cr_expect_float_eq(window.alpha, alpha, 1e-15);
	cr_expect_float_eq(window.cwnd, cwnd * (1 - alpha / 2), 1e-12);
}

/* wnd_cap holds at every result, and the window grows again when it rises. */
Test(panama_window, capped_by_every_result)
{
	struct panama_window window;

	panama_window_init(&window, &figure5, 1);
	cr_expect_eq(window.cwnd, 1);
	panama_window_init(&window, &figure5, UINT16_MAX);
	for (unsigned k = 0; k < 5; k++)
		one_round(&window, 0);
	panama_window_result(&window, &figure5, false, 10);
	cr_expect_eq(window.cwnd, 10);
	for (unsigned i = 0; i < 9; i++)
		panama_window_result(&window, &figure5, false, 20);
	cr_expect_eq(window.cwnd, 20, "doubled, but no more than 20: %g", window.cwnd);
	panama_window_result(&window, &figure5, false, 1);
	cr_expect_eq(window.cwnd, 1);
}

/* No congestion control: the cap, or a fixed window if that is less; marks do nothing. */
Test(panama_window, fixed)
{
	static const struct panama_window_conf cap = { .fixed = true },
					       packets = { .fixed = true, .packets = 30 };
	struct panama_window window;

	panama_window_init(&window, &cap, 100);
	cr_expect_eq(window.cwnd, 100);
	for (unsigned i = 0; i < 1000; i++)
		panama_window_result(&window, &cap, true, 100);
	cr_expect_eq(window.cwnd, 100);
	panama_window_result(&window, &cap, true, 50);
	cr_expect_eq(window.cwnd, 50);
	panama_window_init(&window, &packets, 100);
	cr_expect_eq(window.cwnd, 30);
	panama_window_result(&window, &packets, true, 20);
	cr_expect_eq(window.cwnd, 20);
	panama_window_result(&window, &packets, true, 100);
	cr_expect_eq(window.cwnd, 30);
}

/* Many unmarked results at once do what they do one by one: from any place in a round, with or
 * without marks in it, up to the cap and beyond. */
Test(panama_window, unmarked_results_at_once)
{
	for (uint64_t results = 0; results < 5000; results += 37) {
		struct panama_window at_once, window;
		uint64_t before = 11 + results % 40;

		panama_window_init(&window, &figure5, 80);
		for (uint64_t i = 0; i < before; i++)
			panama_window_result(&window, &figure5,
					     results % 2 ? i + 1 == before : i < 2, 80);
		at_once = window;
		for (uint64_t i = 0; i < results; i++)
			panama_window_result(&window, &figure5, false, 80);
		panama_window_unmarked(&at_once, &figure5, 80, results);
		cr_expect_eq(at_once.cwnd, window.cwnd);
		cr_expect_eq(at_once.alpha, window.alpha);
		cr_expect_eq(at_once.received, window.received);
	}
}
