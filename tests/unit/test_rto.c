#include "ina/common/rto.h"

#include <criterion/criterion.h>

/* Nothing moves a fixed timeout. */
Test(rto, fixed)
{
	const struct rto_conf conf = { .rule = RTO_FIXED, .first = PS_PER_MS };
	struct rto rto;

	rto_init(&rto, &conf);
	rto_sample(&rto, 1000);
	rto_expired(&rto, 1000000, 0, 2000);
	cr_expect_eq(rto.timeout, PS_PER_MS);
}

/* The public client's rule with threshold 100: the timeout doubles at the 101st expired packet, at
 * the 201st after that, then at the 301st, even if they expire together. */
Test(rto, doubling)
{
	const struct rto_conf conf = { .rule = RTO_DOUBLING,
				       .first = 10 * PS_PER_MS,
				       .threshold = 100 };
	static const uint64_t at[] = { 101, 201, 301 };
	struct rto rto, together;
	sim_time want = 10 * PS_PER_MS;

	rto_init(&rto, &conf);
	rto_init(&together, &conf);
	for (int i = 0; i < 3; i++) {
		for (uint64_t n = 1; n < at[i]; n++)
			rto_expired(&rto, 1, 0, 2000);
		cr_expect_eq(rto.timeout, want);
		rto_sample(&rto, 1000); /* does not count */
		rto_expired(&rto, 1, 0, 2000);
		want *= 2;
		cr_expect_eq(rto.timeout, want);
	}
	rto_expired(&together, 603, 0, 2000);
	cr_expect_eq(together.timeout, want);
}

/* RFC 6298 section 2: the first sample R gives R + 4 R/2, later samples go through the two filters.
 * Section 5.5: the timeout doubles when timers expire, until the next sample. It is never below the
 * minimum. A packet that was sent before the last doubling does not double it again. */
Test(rto, adaptive)
{
	const struct rto_conf conf = { .rule = RTO_ADAPTIVE, .first = 5000, .min = 900 };
	struct rto rto;

	rto_init(&rto, &conf);
	cr_expect_eq(rto.timeout, 5000);
	rto_sample(&rto, 800);
	cr_expect_eq(rto.timeout, 800 + 4 * 400);
	rto_sample(&rto, 1600); /* rttvar 3/4 400 + 1/4 800, srtt 7/8 800 + 1/8 1600 */
	cr_expect_eq(rto.timeout, 900 + 4 * 500);
	rto_expired(&rto, 64, 10, 3000);
	rto_expired(&rto, 1, 2999, 3001);
	cr_expect_eq(rto.timeout, 2 * (900 + 4 * 500));
	rto_expired(&rto, 1, 3000, 9000);
	cr_expect_eq(rto.timeout, 4 * (900 + 4 * 500));
	for (int i = 0; i < 200; i++)
		rto_sample(&rto, 100);
	cr_expect_eq(rto.timeout, 900);
	cr_expect_leq(rto.srtt, 107); /* integers stop within 7 of the value */
	for (int i = 0; i < 100; i++)
		rto_expired(&rto, 1, rto.doubled, rto.doubled + 1);
	cr_expect_eq(rto.timeout, 100 * PS_PER_S);
}
