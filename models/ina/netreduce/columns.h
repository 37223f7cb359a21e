/* NetReduce's aggregators at one switch, for one ring (sections 3.1 and 4, figure 9).
 *
 * A column is an aggregator, for packet `index` of message m. It has a row for each input of the
 * switch. There are columns for 2N messages:
 *
 *     column = (m mod 2N) * length + index
 *
 *              message 0 mod 2N   1 mod 2N   ...   2N-1 mod 2N
 *     row 0    [0 .. length)      [ ... )
 *     row 1        packets are kept as they came, and added up when all rows are there;
 *     ...          so a repeated packet changes nothing ("idempotent", section 3.2)
 *
 * Each column says which message it serves. The paper has no such mark. Without it a late
 * repetition of message m would be taken for message m + 2N, which uses the same column.
 *
 * Section 3.1 lets "a gradient packet" free the column one window ahead. If any packet did so, a
 * worker that lacks the result of message m - N could not get it any more once a faster peer has
 * sent message m. Here the column is freed when all have sent packet `index` of message m
 * (columns_free_ahead()). Each worker then has the whole result of message m - N.
 *
 * Columns keep the 64 bits that stand for a packet's payload, and the flags of its header. The rest
 * of the header follows from the row and the column. */
#ifndef INASIM_INA_NETREDUCE_COLUMNS_H
#define INASIM_INA_NETREDUCE_COLUMNS_H

#include "base/types.h"

#include <stddef.h>
#include <stdint.h>

struct column {
	uint64_t message;        /* the message that the column serves */
	uint64_t sum;            /* valid once all rows are there */
	sim_time answered_until; /* at the root: see netreduce_is_answered() */
	uint32_t arrived;        /* rows that are there */
	uint8_t flags;           /* of all their packets, OR */
};

struct columns {
	uint32_t rows, window, length, words;
	struct column *columns;
	uint64_t *bits;   /* `words` a column: the rows that are there */
	uint64_t *values; /* `rows` a column */
	uint8_t *flags;   /* `rows` a column */
};

enum columns_news {
	COLUMNS_WAITS,   /* the packet is stored; others are missing */
	COLUMNS_FULL,    /* the packet is stored, and the sum is complete now */
	COLUMNS_AGAIN,   /* a repeated packet; others are missing */
	COLUMNS_REPEAT,  /* a repeated packet; the sum was complete before */
	COLUMNS_STALE,   /* all have its result: the column serves a later message */
	COLUMNS_AHEAD,   /* a violation: the column serves an earlier message */
	COLUMNS_CHANGED, /* a violation: a repeated packet with another payload */
};

void columns_init(struct columns *columns, uint32_t rows, uint32_t window, uint32_t length);
void columns_release(struct columns *columns);

/* Stores a packet of message `message` in column `at`. */
enum columns_news columns_store(struct columns *columns, uint32_t at, uint64_t message,
				uint32_t row, uint64_t value, uint8_t flags);

/* Frees the column of packet `index` of message + N. May be called twice. */
void columns_free_ahead(struct columns *columns, uint64_t message, uint32_t index);

static inline uint32_t columns_at(const struct columns *columns, uint64_t message, uint32_t index)
{
	return (uint32_t)(message % (2 * columns->window)) * columns->length + index;
}

/* The flags of a row's packet. */
static inline uint8_t columns_flags(const struct columns *columns, uint32_t at, uint32_t row)
{
	return columns->flags[(size_t)at * columns->rows + row];
}

#endif
