/* NetReduce's connection lookup table: packets are found by their PSNs, also across the wrap of the
 * PSN and the end of a message, and only while they can still be asked for. */
#include "ina/netreduce/lookup.h"

#include <criterion/criterion.h>

#define N      2
#define LENGTH 10

static struct lookup_entry entries[2 * N];

static struct lookup table_of(void)
{
	return (struct lookup){ .entries = entries, .messages = 2 * N, .length = LENGTH };
}

static void expect_place(struct lookup *table, uint32_t psn, uint64_t message, uint32_t index)
{
	struct lookup_place place;

	cr_assert(lookup_find(table, psn & NETREDUCE_PSN_MASK, &place), "PSN %u", psn);
	cr_expect_eq(place.message, message);
	cr_expect_eq(place.index, index);
	cr_expect_eq(place.column, message % (2 * N) * LENGTH + index);
}

/* Section 9: the first packet of a message is lost. Its other packets are not found, and are not
 * taken for the message before. Other messages are found as usual. */
Test(netreduce_lookup, first_packet_lost)
{
	struct lookup table = table_of();
	struct lookup_place place;

	cr_expect_not(lookup_find(&table, 0, &place), "nothing has come");
	cr_assert(lookup_enter(&table, 0, 0));
	expect_place(&table, 9, 0, 9);
	for (uint32_t psn = 11; psn < 20; psn++)
		cr_expect_not(lookup_find(&table, psn, &place), "of message 1");
	cr_assert(lookup_enter(&table, 1, 10));
	expect_place(&table, 11, 1, 1);
}

/* PSN - PSN0 runs from 0 to MsgLen - 1: MsgLen itself is the next message's. */
Test(netreduce_lookup, ends_with_the_message)
{
	struct lookup table = table_of();
	struct lookup_place place;

	lookup_enter(&table, 0, 100);
	cr_expect_not(lookup_find(&table, 99, &place));
	expect_place(&table, 100, 0, 0);
	expect_place(&table, 109, 0, 9);
	cr_expect_not(lookup_find(&table, 110, &place));
}

/* Section 9: the PSN wraps within a message, and between two. */
Test(netreduce_lookup, psn_wraps)
{
	struct lookup table = table_of();
	struct lookup_place place;

	lookup_enter(&table, 6, NETREDUCE_PSN_MASK - 13);
	lookup_enter(&table, 7, NETREDUCE_PSN_MASK - 3);
	lookup_enter(&table, 8, 6);
	for (uint32_t i = 0; i < LENGTH; i++) {
		expect_place(&table, NETREDUCE_PSN_MASK - 13 + i, 6, i);
		expect_place(&table, NETREDUCE_PSN_MASK - 3 + i, 7, i);
		expect_place(&table, 6 + i, 8, i);
	}
	cr_expect_not(lookup_find(&table, 16, &place));
}

/* A sender goes back across the end of a message, but not to the first packet of the earlier
 * message. With only one entry, packets of the earlier message would never be found again. */
Test(netreduce_lookup, goes_back_across_messages)
{
	struct lookup table = table_of();

	for (uint64_t m = 0; m < 2 * N; m++)
		lookup_enter(&table, m, (uint32_t)m * LENGTH);
	for (uint64_t m = 0; m < 2 * N; m++)
		expect_place(&table, (uint32_t)m * LENGTH + 5, m, 5);
}

/* The newest 2N messages are kept, and an older one does not come back. */
Test(netreduce_lookup, forgets_what_is_old)
{
	struct lookup table = table_of();
	struct lookup_place place;

	for (uint64_t m = 0; m < 2 * N; m++)
		lookup_enter(&table, m, (uint32_t)m * LENGTH);
	cr_assert(lookup_enter(&table, 2 * N, 2 * N * LENGTH));
	cr_expect_not(lookup_find(&table, 3, &place), "message 0 is forgotten");
	cr_expect_not(lookup_enter(&table, 0, 0));
	expect_place(&table, 2 * N * LENGTH + 3, 2 * N, 3);
	expect_place(&table, LENGTH + 3, 1, 3);
	/* a later message; nothing has overwritten the entry of message 1 yet */
	cr_assert(lookup_enter(&table, 2 * N + 2, (2 * N + 2) * LENGTH));
	cr_expect_not(lookup_find(&table, LENGTH + 3, &place), "message 1, too");
	cr_assert(lookup_enter(&table, 3, 3 * LENGTH), "the same again is harmless");
	expect_place(&table, 3 * LENGTH, 3, 0);
}
