#include "collective/reducer.h"

#include <criterion/criterion.h>

/* Without a rate, adding takes no time, however many bytes. */
Test(reducer, unlimited)
{
	struct reducers reducers;

	reducers_init(&reducers, 2, 0);
	cr_expect_eq(reducers_add(&reducers, 1, 7, UINT64_C(1) << 40), 7);
	cr_expect_eq(reducers_add(&reducers, 1, 7, 1), 7);
	cr_expect_eq(reducers.host[1].busy, 0);
	reducers_release(&reducers);
}

/* 8 Gbps = 1 byte per nanosecond. A host adds one request after the other, even if several come at
 * once. Idle time is not saved up. Each host has its own reducer. */
Test(reducer, serial)
{
	struct reducers reducers;

	reducers_init(&reducers, 2, UINT64_C(8000000000));
	cr_expect_eq(reducers_add(&reducers, 0, 0, 100), 100 * PS_PER_NS);
	cr_expect_eq(reducers_add(&reducers, 0, 0, 50), 150 * PS_PER_NS);
	cr_expect_eq(reducers_add(&reducers, 0, 20 * PS_PER_NS, 50), 200 * PS_PER_NS);
	cr_expect_eq(reducers_add(&reducers, 1, 20 * PS_PER_NS, 50), 70 * PS_PER_NS);
	cr_expect_eq(reducers_add(&reducers, 0, PS_PER_US, 1), PS_PER_US + PS_PER_NS);
	cr_expect_eq(reducers.host[0].busy, 201 * PS_PER_NS);
	reducers_release(&reducers);
}

/* If the rate does not divide evenly, each time is rounded up, by less than a picosecond. The
 * product of size and time does not overflow: 2^44 bytes at 3 Tbps take 47 s. */
Test(reducer, rounding)
{
	struct reducers reducers;

	reducers_init(&reducers, 1, UINT64_C(3000000000000));
	cr_expect_eq(reducers_add(&reducers, 0, 0, 1), 3); /* 2.67 ps */
	cr_expect_eq(reducers_add(&reducers, 0, 0, 3), 11);
	cr_expect_eq(reducers_add(&reducers, 0, 100, UINT64_C(1) << 44),
		     100 + (UINT64_C(1) << 47) / 3 + 1);
	reducers_release(&reducers);
}
