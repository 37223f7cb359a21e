/* Sequence numbers of RoCE: 24 bits that wrap. */
#include "transport/roce.h"

#include <criterion/criterion.h>

/* The number nearest to another one, on both sides, where the PSN wraps and where it does not. */
Test(roce_psn, nearest_number)
{
	static const uint64_t near[] = { 1 << 24, (1 << 25) - 1, (1 << 25) + 5, UINT64_C(1) << 40 };

	for (size_t i = 0; i < sizeof(near) / sizeof(near[0]); i++)
		for (int64_t off = -(1 << 23); off < 1 << 23;
		     off += off < -5 || off > 4 ? 4099 : 1) {
			uint64_t number = near[i] + (uint64_t)off;

			cr_assert_eq(roce_number(roce_psn(number), near[i]), number);
		}
	cr_expect_eq(roce_psn((1 << 24) - 1), 0xffffff);
	cr_expect_eq(roce_psn(1 << 24), 0);
	cr_expect_eq(roce_number(0, (1 << 25) - 1), 1 << 25);
	cr_expect_eq(roce_number(0xffffff, 1 << 25), (1 << 25) - 1);
}

/* A packet that is half of all PSNs away is behind, not ahead, because fewer are in flight. */
Test(roce_psn, half_is_behind)
{
	uint64_t near = UINT64_C(3) << 24;

	cr_expect_eq(roce_number(roce_psn(near + (1 << 23)), near), near - (1 << 23));
	cr_expect_eq(roce_number(roce_psn(near + (1 << 23) - 1), near), near + (1 << 23) - 1);
}

/* The owner of packets has the upper bits of `seq`. */
Test(roce_psn, of_packet)
{
	struct packet packet = { .seq = UINT64_C(77) << 24 | 0xabcdef };

	cr_expect_eq(roce_psn_of(&packet), 0xabcdef);
}
