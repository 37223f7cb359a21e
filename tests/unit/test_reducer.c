#include "collective/reducer.h"

#include <criterion/criterion.h>

/* Without a rate adding takes no time, whatever is asked. */
Test(reducer, unlimited)
{
	struct reducers reducers;

	reducers_init(&reducers, 2, 0);
	cr_expect_eq(reducers_add(&reducers, 1, 7, UINT64_C(1) << 40), 7);
	cr_expect_eq(reducers_add(&reducers, 1, 7, 1), 7);
	cr_expect_eq(reducers.host[1].busy, 0);
	reducers_release(&reducers);
}

/* 8 Gbps = 1 byte a nanosecond. One after the other, also when several come at once; idle time is
 * not saved up; another host has its own. */
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

/* Rates that do not divide: rounded up, less than a picosecond too long each; the product
 * of size and time does not overflow: 2^44 bytes at 3 Tbps take 47 s. */
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
