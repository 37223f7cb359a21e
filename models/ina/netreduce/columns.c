#include "ina/netreduce/columns.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

void columns_init(struct columns *columns, uint32_t rows, uint32_t window, uint32_t length)
{
	size_t count = (size_t)2 * window * length;

	*columns = (struct columns){
		.rows = rows, .window = window, .length = length, .words = (rows + 63) / 64
	};
	columns->columns = xcalloc(count, sizeof(*columns->columns));
	columns->bits = xcalloc(count * columns->words, sizeof(*columns->bits));
	columns->values = xcalloc(count * rows, sizeof(*columns->values));
	columns->flags = xcalloc(count * rows, sizeof(*columns->flags));
	for (size_t i = 0; i < count; i++)
		columns->columns[i].message = i / length;
}

void columns_release(struct columns *columns)
{
	free(columns->columns);
	free(columns->bits);
	free(columns->values);
	free(columns->flags);
}

static uint64_t netreduce_sum_of(const struct columns *columns, uint32_t at)
{
	const uint64_t *values = &columns->values[(size_t)at * columns->rows];
	uint64_t sum = 0;

	for (uint32_t r = 0; r < columns->rows; r++)
		sum += values[r];
	return sum;
}

/* Takes a repeated packet. Its value must be the same. Its flags replace those of its row. */
static enum columns_news again(struct columns *columns, uint32_t at, size_t cell, uint64_t value,
			       uint8_t flags)
{
	struct column *column = &columns->columns[at];

	if (columns->values[cell] != value)
		return COLUMNS_CHANGED;
	columns->flags[cell] = flags;
	column->flags |= flags;
	return column->arrived == columns->rows ? COLUMNS_REPEAT : COLUMNS_AGAIN;
}

enum columns_news columns_store(struct columns *columns, uint32_t at, uint64_t message,
				uint32_t row, uint64_t value, uint8_t flags)
{
	struct column *column = &columns->columns[at];
	uint64_t *word = &columns->bits[(size_t)at * columns->words + row / 64];
	uint64_t bit = UINT64_C(1) << row % 64;
	size_t cell = (size_t)at * columns->rows + row;

	if (message != column->message)
		return message < column->message ? COLUMNS_STALE : COLUMNS_AHEAD;
	if (*word & bit)
		return again(columns, at, cell, value, flags);
	*word |= bit;
	columns->values[cell] = value;
	columns->flags[cell] = flags;
	column->flags |= flags;
	if (++column->arrived < columns->rows)
		return COLUMNS_WAITS;
	column->sum = netreduce_sum_of(columns, at);
	return COLUMNS_FULL;
}

void columns_free_ahead(struct columns *columns, uint64_t message, uint32_t index)
{
	uint64_t ahead = message + columns->window;
	uint32_t at = columns_at(columns, ahead, index);
	struct column *column = &columns->columns[at];

	if (column->message >= ahead)
		return; /* freed before, or never used */
	*column = (struct column){ .message = ahead };
	memset(&columns->bits[(size_t)at * columns->words], 0,
	       columns->words * sizeof(*columns->bits));
}
