#include "transport/ranges.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

void ranges_release(struct ranges *ranges)
{
	free(ranges->items);
	*ranges = (struct ranges){ 0 };
}

static void remove_items(struct ranges *ranges, size_t from, size_t to)
{
	memmove(ranges->items + from, ranges->items + to,
		(ranges->count - to) * sizeof(*ranges->items));
	ranges->count -= to - from;
}

void ranges_add(struct ranges *ranges, uint64_t begin, uint64_t end)
{
	size_t first, last;

	/* search from the back: a packet beyond a hole usually extends the newest interval */
	for (last = ranges->count; last > 0 && ranges->items[last - 1].begin > end; last--)
		;
	for (first = last; first > 0 && ranges->items[first - 1].end >= begin; first--)
		;
	if (first < last) {
		if (ranges->items[first].begin < begin)
			begin = ranges->items[first].begin;
		if (ranges->items[last - 1].end > end)
			end = ranges->items[last - 1].end;
		remove_items(ranges, first + 1, last);
	} else {
		ranges->items = array_reserve(ranges->items, ranges->count, &ranges->capacity,
					      sizeof(*ranges->items));
		memmove(ranges->items + first + 1, ranges->items + first,
			(ranges->count - first) * sizeof(*ranges->items));
		ranges->count++;
	}
	ranges->items[first] = (struct range){ begin, end };
}

uint64_t ranges_advance(struct ranges *ranges, uint64_t next)
{
	size_t covered = 0;

	while (covered < ranges->count && ranges->items[covered].begin <= next) {
		if (ranges->items[covered].end > next)
			next = ranges->items[covered].end;
		covered++;
	}
	if (covered)
		remove_items(ranges, 0, covered);
	return next;
}

bool ranges_hold(const struct ranges *ranges, uint64_t at)
{
	size_t i = ranges->count;

	while (i > 0 && ranges->items[i - 1].begin > at)
		i--;
	return i > 0 && at < ranges->items[i - 1].end;
}
