#include "core/ties.h"

#include "base/hash.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

#define PAIRS_FIRST 64 /* entries of the first table; a power of two */

/* The entry of a pair, or the free entry for it. */
static struct tie_pair *find(const struct ties *ties, uint64_t key)
{
	size_t i = key & ties->mask;

	while (ties->pairs[i].key && ties->pairs[i].key != key)
		i = (i + 1) & ties->mask;
	return &ties->pairs[i];
}

static void make_room(struct ties *ties)
{
	struct ties old = *ties;

	if (ties->pairs && 2 * ties->count <= ties->mask)
		return;
	ties->mask = ties->pairs ? 2 * ties->mask + 1 : PAIRS_FIRST - 1;
	ties->pairs = xcalloc(ties->mask + 1, sizeof(*ties->pairs));
	for (size_t i = 0; old.pairs && i <= old.mask; i++)
		if (old.pairs[i].key)
			*find(ties, old.pairs[i].key) = old.pairs[i];
	free(old.pairs);
}

static void meet(struct ties *ties, uint64_t first, uint64_t second)
{
	uint64_t low = first < second ? first : second, high = first < second ? second : first;
	uint64_t key = hash_pair(low, high) | 1; /* never 0 */
	struct tie_pair *pair;

	make_room(ties);
	pair = find(ties, key);
	ties->one_way -= pair->orders == SMALLER_FIRST || pair->orders == LARGER_FIRST;
	ties->count += !pair->key;
	pair->key = key;
	pair->orders |= first == low ? SMALLER_FIRST : LARGER_FIRST;
	ties->one_way += pair->orders != BOTH_ORDERS;
}

void ties_note(struct ties *ties, size_t place, sim_time at, uint64_t what, uint64_t by)
{
	struct tie_last *last;

	if (place >= ties->places) {
		ties->last = xrealloc(ties->last, place + 1, sizeof(*ties->last));
		memset(&ties->last[ties->places], 0,
		       (place + 1 - ties->places) * sizeof(*ties->last));
		ties->places = place + 1;
	}
	last = &ties->last[place];
	if (last->at == at && last->by != by)
		meet(ties, last->what, what);
	*last = (struct tie_last){ at, what, by };
}

void ties_clear(struct ties *ties)
{
	if (ties->count)
		memset(ties->pairs, 0, (ties->mask + 1) * sizeof(*ties->pairs));
	ties->count = ties->one_way = 0;
}

void ties_release(struct ties *ties)
{
	free(ties->last);
	free(ties->pairs);
}
