/* NetReduce's aggregators: the same packets in any order, number and repetition give one sum, and
 * nothing is overwritten that somebody may need. */
#include "ina/netreduce/columns.h"

#include "base/hash.h"
#include "net/packet.h"

#include <criterion/criterion.h>

#define N      2
#define LENGTH 3

static uint64_t value_of(uint64_t message, uint32_t index, uint32_t row)
{
	return hash_pair(message * LENGTH + index, row);
}

static uint64_t sum_of(uint64_t message, uint32_t index, uint32_t rows)
{
	uint64_t sum = 0;

	for (uint32_t r = 0; r < rows; r++)
		sum += value_of(message, index, r);
	return sum;
}

static enum columns_news store(struct columns *columns, uint64_t message, uint32_t index,
			       uint32_t row, uint8_t flags)
{
	return columns_store(columns, columns_at(columns, message, index), message, row,
			     value_of(message, index, row), flags);
}

/* All rows, in order. */
static void fill(struct columns *columns, uint64_t message, uint32_t index)
{
	uint32_t at = columns_at(columns, message, index);

	for (uint32_t r = 0; r + 1 < columns->rows; r++)
		cr_assert_eq(store(columns, message, index, r, 0), COLUMNS_WAITS);
	cr_assert_eq(store(columns, message, index, columns->rows - 1, 0), COLUMNS_FULL);
	cr_assert_eq(columns->columns[at].sum, sum_of(message, index, columns->rows));
}

/* Each packet may come any number of times, before and after its sum: the sum is the same. */
Test(netreduce_columns, idempotent)
{
	struct columns c;
	uint32_t at;

	columns_init(&c, 3, N, LENGTH);
	at = columns_at(&c, 1, 2);
	cr_expect_eq(at, LENGTH + 2);
	cr_expect_eq(store(&c, 1, 2, 1, 0), COLUMNS_WAITS);
	cr_expect_eq(store(&c, 1, 2, 1, 0), COLUMNS_AGAIN);
	cr_expect_eq(store(&c, 1, 2, 0, 0), COLUMNS_WAITS);
	cr_expect_eq(store(&c, 1, 2, 1, 0), COLUMNS_AGAIN);
	cr_expect_eq(store(&c, 1, 2, 2, 0), COLUMNS_FULL);
	cr_expect_eq(c.columns[at].sum, sum_of(1, 2, 3));
	for (uint32_t r = 0; r < 3; r++)
		cr_expect_eq(store(&c, 1, 2, r, 0), COLUMNS_REPEAT);
	cr_expect_eq(c.columns[at].sum, sum_of(1, 2, 3));
	columns_release(&c);
}

/* Another payload under the same number is a bug somewhere, not a new sum. */
Test(netreduce_columns, payload_must_not_change)
{
	struct columns c;

	columns_init(&c, 2, N, LENGTH);
	cr_expect_eq(columns_store(&c, 0, 0, 1, 7, 0), COLUMNS_WAITS);
	cr_expect_eq(columns_store(&c, 0, 0, 1, 8, 0), COLUMNS_CHANGED);
	columns_release(&c);
}

/* A single worker: the result is its own packet. */
Test(netreduce_columns, one_row)
{
	struct columns c;

	columns_init(&c, 1, N, LENGTH);
	for (uint64_t m = 0; m < 10; m++)
		for (uint32_t i = 0; i < LENGTH; i++) {
			fill(&c, m, i);
			columns_free_ahead(&c, m, i);
		}
	columns_release(&c);
}

/* More than 64 rows: each has a bit of its own. */
Test(netreduce_columns, many_rows)
{
	struct columns c;

	columns_init(&c, 200, N, LENGTH);
	for (uint64_t m = 0; m < 6; m++) {
		fill(&c, m, 1);
		columns_free_ahead(&c, m, 1);
	}
	columns_release(&c);
}

/* Once message m is complete, the column of m + N is free. Until then a packet of m + N is ahead,
 * which must not happen, and a packet of m - N is answered; after that, m - N is stale. */
Test(netreduce_columns, freed_one_window_ahead)
{
	struct columns c;

	columns_init(&c, 2, N, LENGTH);
	for (uint64_t m = 0; m < 2 * N; m++) {
		fill(&c, m, 0);
		if (m >= N) {
			cr_expect_eq(store(&c, m - N, 0, 1, 0), COLUMNS_REPEAT);
			cr_expect_eq(store(&c, m + N, 0, 1, 0), COLUMNS_AHEAD);
		}
		columns_free_ahead(&c, m, 0);
	}
	/* messages N and N + 1 have freed 2N and 2N + 1 = 0 and 1 mod 2N */
	cr_expect_eq(store(&c, 0, 0, 1, 0), COLUMNS_STALE);
	cr_expect_eq(store(&c, 2 * N, 0, 1, 0), COLUMNS_WAITS);
	cr_expect_eq(store(&c, 0, 0, 0, 0), COLUMNS_STALE, "it does not pollute the column");
	cr_expect_eq(store(&c, 2 * N, 0, 0, 0), COLUMNS_FULL);
	cr_expect_eq(c.columns[0].sum, sum_of(2 * N, 0, 2));
	/* other packets of these messages have columns of their own */
	cr_expect_eq(store(&c, 0, 1, 1, 0), COLUMNS_WAITS);
	columns_release(&c);
}

/* At a leaf the result may come down several times: only the first time frees the column. */
Test(netreduce_columns, freed_once)
{
	struct columns c;

	columns_init(&c, 2, N, LENGTH);
	fill(&c, 0, 0);
	columns_free_ahead(&c, 0, 0);
	fill(&c, 2, 0); /* message 0 + N, in the freed column */
	columns_free_ahead(&c, 0, 0);
	cr_expect_eq(store(&c, 2, 0, 0, 0), COLUMNS_REPEAT);
	columns_free_ahead(&c, 2, 0);
	cr_expect_eq(store(&c, 4, 0, 0, 0), COLUMNS_WAITS);
	columns_free_ahead(&c, 2, 0);
	cr_expect_eq(store(&c, 4, 0, 0, 0), COLUMNS_AGAIN, "still there");
	columns_release(&c);
}

/* Each row keeps the flags of its last packet; the sum has those of all. */
Test(netreduce_columns, flags)
{
	struct columns c;

	columns_init(&c, 2, N, LENGTH);
	store(&c, 0, 0, 0, PACKET_ECT | PACKET_CE);
	store(&c, 0, 0, 1, PACKET_ECT);
	cr_expect_eq(columns_flags(&c, 0, 0), PACKET_ECT | PACKET_CE);
	cr_expect_eq(columns_flags(&c, 0, 1), PACKET_ECT);
	cr_expect_eq(c.columns[0].flags, PACKET_ECT | PACKET_CE);
	store(&c, 0, 0, 1, PACKET_ECT | PACKET_RETRANSMIT);
	cr_expect_eq(columns_flags(&c, 0, 1), PACKET_ECT | PACKET_RETRANSMIT);
	for (uint64_t m = 2; m < 5; m += 2)
		columns_free_ahead(&c, m - N, 0);
	cr_expect_eq(c.columns[0].flags, 0, "message 2N begins without");
	columns_release(&c);
}

/* Any order of packets in a window, each up to three times: every column is full once. */
Test(netreduce_columns, any_order)
{
	const uint32_t rows = 5;

	for (uint64_t seed = 0; seed < 200; seed++) {
		struct columns c;
		uint32_t full = 0;

		columns_init(&c, rows, N, LENGTH);
		for (uint64_t i = 0; full < N * LENGTH; i++) {
			uint64_t draw = hash_pair(seed, i);
			uint64_t m = draw % N;
			uint32_t index = (uint32_t)(draw >> 8) % LENGTH,
				 row = (uint32_t)(draw >> 16) % rows;
			enum columns_news news = store(&c, m, index, row, 0);

			cr_assert_lt(i, 100000);
			full += news == COLUMNS_FULL;
			if (news == COLUMNS_FULL || news == COLUMNS_REPEAT)
				cr_assert_eq(c.columns[columns_at(&c, m, index)].sum,
					     sum_of(m, index, rows));
		}
		columns_release(&c);
	}
}
