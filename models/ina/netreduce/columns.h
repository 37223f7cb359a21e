/* NetReduce's aggregators at one switch, of one ring (sections 3.1 and 4, figure 9).
 *
 * A column is an aggregator: packet `index` of message m, from all who send to this switch (rows).
 * There are 2N messages of them:
 *
 *     column = (m mod 2N) * length + index
 *
 *              message 0 mod 2N   1 mod 2N   ...   2N-1 mod 2N
 *     row 0    [0 .. length)      [ ... )
 *     row 1        packets are kept as they came, and added up when all rows are there; so one
 *     ...          that comes again changes nothing ("idempotent", section 3.2)
 *
 * Each column says which message it serves. The paper has no such mark; without it a late
 * repetition of message m would end up in the column when that serves m + 2N.
 *
 * Section 3.1 lets "a gradient packet" free the column one window ahead. That cannot be just any
 * packet: as soon as a faster peer sent message m, a worker that lacks the result of message m - N
 * could not get it any more. Here the column is freed when all have sent packet `index` of message
 * m (columns_free_ahead()): before that, each of them had the whole result of message m - N.
 *
 * Of a packet the 64 bits that stand for its payload and the flags of its header are kept; the rest
 * of the header follows from the row and the column. */
#ifndef INASIM_INA_NETREDUCE_COLUMNS_H
#define INASIM_INA_NETREDUCE_COLUMNS_H

#include "base/types.h"

#include <stddef.h>
#include <stdint.h>

struct column {
	uint64_t message;        /* that the column serves */
	uint64_t sum;            /* once all rows are there */
	sim_time answered_until; /* for the root: netreduce_switch.c */
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
	COLUMNS_FULL,    /* the packet is stored, and the sum is there now */
	COLUMNS_AGAIN,   /* it had been stored; others are missing */
	COLUMNS_REPEAT,  /* it had been stored, and the sum is there */
	COLUMNS_STALE,   /* all have its result: the column serves a later message */
	COLUMNS_AHEAD,   /* cannot be: the column serves an earlier message */
	COLUMNS_CHANGED, /* cannot be: it had been stored with another payload */
};

void columns_init(struct columns *columns, uint32_t rows, uint32_t window, uint32_t length);
void columns_release(struct columns *columns);

/* Stores a packet of a row. `at` is the column, of message `message`. */
enum columns_news columns_store(struct columns *columns, uint32_t at, uint64_t message,
				uint32_t row, uint64_t value, uint8_t flags);

/* Frees the column one window ahead, for packet `index` of message + N. May be called twice. */
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
