#include "core/equeue.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

#define SORT_BITS   8 /* a pass of sort_items() has at most 2^8 buckets */
#define SORT_FEW    6 /* up to this number, events are sorted by insertion */
#define SORT_FULL   8 /* if a bucket has more events, each bucket is sorted on its own */
#define SLOTS_AHEAD 8 /* prefetches the first node of the slot this far after the cursor */

#define LANES       4 /* 32-bit numbers in a vector; emulated on machines without vectors */
#define BLOCK       (4 * LANES) /* numbers that are compared with a key at a time: four vectors */
#define SHORT_BLOCK (8 * LANES) /* 16-bit numbers in four vectors */
#define COUNTED_MAX 64 /* up to this number, events are sorted by counting; a power of two */
#define SHORT_BITS  15 /* bits of a short key; the 16th bit is the sign */

typedef int32_t lanes __attribute__((vector_size(LANES * sizeof(int32_t))));
typedef int16_t short_lanes __attribute__((vector_size(2 * LANES * sizeof(int16_t))));

#define NO_SLOT UINT64_MAX

static inline uint64_t tie_of(const struct equeue *q, sim_time at, uint32_t id)
{
	return hash_mix(at * UINT64_C(0x9e3779b97f4a7c15) + q->seed + q->keys[id]);
}

/* The class and the leading 60 bits of the tie, which nearly always decide the order. */
static inline uint64_t order_of(const struct equeue *q, sim_time at, uint32_t id)
{
	return (uint64_t)q->nodes[id].class << 60 | tie_of(q, at, id) >> 4;
}

/* The order of two events of equal time. Kept out of line: most times differ. */
static __attribute__((noinline)) bool before_among_equals(const struct equeue *q, sim_time at,
							  uint32_t a, uint32_t b)
{
	uint64_t order_a = order_of(q, at, a), order_b = order_of(q, at, b);

	return order_a != order_b ? order_a < order_b : q->keys[a] < q->keys[b];
}

/* In sort_items() `at` holds a rank instead of a time, see equeue_rank_of(). Items of equal rank
 * have equal times, so the comparison is right for ranks, too. */
static inline bool item_before(const struct equeue *q, const struct eq_item *a,
			       const struct eq_item *b)
{
	if (__builtin_expect(a->at == b->at, 0))
		return before_among_equals(q, q->nodes[a->id].at, a->id, b->id);
	return a->at < b->at;
}

static void insertion_sort(const struct equeue *q, struct eq_item *to, const struct eq_item *from,
			   size_t count)
{
	to[0] = from[0];
	for (size_t i = 1; i < count; i++) {
		struct eq_item item = from[i];
		size_t j = i;

		for (; j > 0 && item_before(q, &item, &to[j - 1]); j--)
			to[j] = to[j - 1];
		to[j] = item;
	}
}

/* smaller[i] = the number of keys that are smaller than keys[i]. All pairs are compared in vectors,
 * so there is no branch to mispredict. A true comparison of vectors gives -1, so subtraction
 * counts. `count` is a multiple of BLOCK. */
static inline void count_smaller(const int32_t *keys, size_t count, int32_t *smaller)
{
	for (size_t i = 0; i < count; i += BLOCK) {
		lanes mine[BLOCK / LANES], below[BLOCK / LANES] = { 0 };

		memcpy(mine, keys + i, sizeof(mine));
		for (size_t j = 0; j < count; j++) {
			lanes key = { keys[j], keys[j], keys[j], keys[j] };

			for (size_t v = 0; v < BLOCK / LANES; v++)
				below[v] -= mine[v] > key;
		}
		memcpy(smaller + i, below, sizeof(below));
	}
}

/* count_smaller() for 16-bit keys and any `count`. Both arrays must have room for whole blocks of
 * SHORT_BLOCK keys. */
static inline void count_smaller_short(const int16_t *keys, size_t count, int16_t *smaller)
{
	for (size_t i = 0; i < count; i += SHORT_BLOCK) {
		short_lanes mine[BLOCK / LANES], below[BLOCK / LANES] = { 0 };

		memcpy(mine, keys + i, sizeof(mine));
		for (size_t j = 0; j < count; j++) {
			int16_t k = keys[j];
			short_lanes key = { k, k, k, k, k, k, k, k };

			for (size_t v = 0; v < BLOCK / LANES; v++)
				below[v] -= mine[v] > key;
		}
		memcpy(smaller + i, below, sizeof(below));
	}
}

/* Time within the slot, class, and as many bits of the tie as fit. */
static inline uint64_t equeue_rank_of(const struct equeue *q, const struct eq_item *item)
{
	return item->at << (64 - q->shift) | order_of(q, item->at, item->id) >> q->shift;
}

/* Sorts by short keys: the leading bits of the ties if all events have one time and class
 * (`equal`), else the leading bits of the times within the slot. Returns false, with `to`
 * undefined, if two keys are equal. */
static bool sort_short(const struct equeue *q, struct eq_item *to, const struct eq_item *from,
		       size_t count, bool equal)
{
	int16_t keys[COUNTED_MAX], smaller[COUNTED_MAX];
	unsigned shift = q->shift > SHORT_BITS ? q->shift - SHORT_BITS : 0;
	size_t sum = 0;

	if (equal)
		for (size_t i = 0; i < count; i++)
			keys[i] = (int16_t)(tie_of(q, from[0].at, from[i].id) >> (64 - SHORT_BITS));
	else
		for (size_t i = 0; i < count; i++)
			keys[i] = (int16_t)(from[i].at >> shift & INT16_MAX);
	for (size_t i = count; i < COUNTED_MAX; i++)
		keys[i] = INT16_MAX; /* fills the block */
	count_smaller_short(keys, count, smaller);
	for (size_t i = 0; i < count; i++) {
		to[smaller[i]] = from[i];
		sum += (size_t)smaller[i];
	}
	return sum == count * (count - 1) / 2; /* equal keys make the sum smaller */
}

/* Sorts from `from` into `to` without branches. Workers in lock-step act in the same picosecond, so
 * a slot often holds some dozens of events, and branches on their random ties would be mispredicted
 * each time. The low bits of a key are the item's index. The bits above are as many bits of its
 * rank as fit, from the first bit that differs between items on. */
static void sort_by_counting(const struct equeue *q, struct eq_item *to, const struct eq_item *from,
			     size_t count)
{
	size_t whole = (count + BLOCK - 1) & ~(size_t)(BLOCK - 1);
	uint64_t ranks[COUNTED_MAX], differ = 1; /* not 0, which has no leading bit */
	int32_t keys[COUNTED_MAX], sorted[COUNTED_MAX], smaller[COUNTED_MAX];
	unsigned same;
	int32_t alike = 0; /* not a bool, so that the loop is vectorized */

	for (size_t i = 0; i < count; i++) {
		ranks[i] = equeue_rank_of(q, &from[i]);
		differ |= ranks[i] ^ ranks[0];
	}
	for (size_t i = count; i < whole; i++)
		ranks[i] = UINT64_MAX; /* any value: the keys are set below */
	same = (unsigned)__builtin_clzll(differ);
	/* whole blocks, for vectors; the shift by 33 keeps the sign bit of a key 0 */
	for (size_t i = 0; i < whole; i += BLOCK)
		for (size_t k = i; k < i + BLOCK; k++)
			keys[k] =
				(int32_t)((ranks[k] << same >> 33 & ~(uint64_t)(COUNTED_MAX - 1)) |
					  k);
	for (size_t i = count; i < whole; i++)
		keys[i] = INT32_MAX;
	count_smaller(keys, whole, smaller);
	for (size_t i = 0; i < count; i++) {
		to[smaller[i]] = from[i];
		sorted[smaller[i]] = keys[i];
	}
	for (size_t i = 1; i < count; i++)
		alike |= (sorted[i] ^ sorted[i - 1]) < COUNTED_MAX;
	if (__builtin_expect(alike, 0)) /* the keys of two items differ only in the index */
		insertion_sort(q, to, from, count);
}

static inline void sort_some(const struct equeue *q, struct eq_item *to, const struct eq_item *from,
			     size_t count, bool equal)
{
	if (!sort_short(q, to, from, count, equal))
		sort_by_counting(q, to, from, count);
}

/* Sorts from `from` into `to`, and overwrites `from`. Ranks are spread evenly, so one
 * pass into about as many buckets as items leaves little to do for insertion. Workers
 * in lock-step, which act in the same picosecond, may fill some buckets; then each
 * bucket is sorted on its own. */
static void sort_items(const struct equeue *q, struct eq_item *to, struct eq_item *from,
		       size_t count)
{
	unsigned bits = count >> SORT_BITS ? SORT_BITS : 63 - (unsigned)__builtin_clzll(count);
	uint32_t ends[1u << SORT_BITS], begin = 0, fullest = 0, mask = (1u << bits) - 1;
	uint64_t differ = mask; /* bits in which ranks differ; the mask keeps shift >= 0 */
	unsigned shift;

	for (size_t i = 1; i < count; i++)
		differ |= from[i].at ^ from[0].at;
	shift = 64 - (unsigned)__builtin_clzll(differ) - bits;
	memset(ends, 0, (mask + 1) * sizeof(*ends));
	for (size_t i = 0; i < count; i++)
		ends[from[i].at >> shift & mask]++;
	for (uint32_t b = 0; b <= mask; b++) {
		uint32_t size = ends[b];

		ends[b] = begin;
		begin += size;
		fullest = size > fullest ? size : fullest;
	}
	for (size_t i = 0; i < count; i++)
		to[ends[from[i].at >> shift & mask]++] = from[i];
	if (fullest <= SORT_FULL || !shift) { /* shift 0: buckets cannot be split further */
		memcpy(from, to, count * sizeof(*from));
		insertion_sort(q, to, from, count);
		return;
	}
	begin = 0;
	for (uint32_t b = 0; b <= mask; b++) {
		uint32_t size = ends[b] - begin;

		if (size > SORT_FEW) {
			memcpy(from, to + begin, size * sizeof(*from));
			sort_items(q, to + begin, from, size);
		} else if (size > 1) {
			memcpy(from, to + begin, size * sizeof(*from));
			insertion_sort(q, to + begin, from, size);
		}
		begin = ends[b];
	}
}

void equeue_init(struct equeue *q, uint64_t seed)
{
	*q = (struct equeue){ .seed = hash_pair(seed, hash_string("ties")) };
	equeue_tune(q, 10, 14);
}

void equeue_tune(struct equeue *q, unsigned shift, unsigned slot_bits)
{
	q->shift = shift;
	q->slot_count = UINT64_C(1) << slot_bits;
	q->slots = xrealloc(q->slots, q->slot_count, sizeof(*q->slots));
	memset(q->slots, 0xff, q->slot_count * sizeof(*q->slots));
	free(q->used);
	q->used = xcalloc(q->slot_count / 64, sizeof(*q->used));
	q->cursor = q->last >> shift;
	q->heap_slot = NO_SLOT;
}

void equeue_look_ahead(struct equeue *q, size_t depth, sim_time span)
{
	q->depth = depth;
	q->ahead = span >> q->shift;
}

void equeue_release(struct equeue *q)
{
	free(q->nodes);
	free(q->keys);
	free(q->slots);
	free(q->used);
	free(q->batch);
	free(q->scratch);
	free(q->heap);
}

uint32_t equeue_add(struct equeue *q, uint8_t class, uint64_t key)
{
	uint32_t id = (uint32_t)q->node_count;

	SIM_BUG_ON(q->node_count == EQ_NONE);
	if (q->node_count == q->node_capacity) {
		q->nodes = array_reserve(q->nodes, id, &q->node_capacity, sizeof(*q->nodes));
		q->keys = xrealloc(q->keys, q->node_capacity, sizeof(*q->keys));
	}
	q->node_count++;
	q->nodes[id].at = 0;
	q->nodes[id].place = EQ_IDLE;
	equeue_rename(q, id, class, key);
	return id;
}

void equeue_rename(struct equeue *q, uint32_t id, uint8_t class, uint64_t key)
{
	SIM_BUG_ON(equeue_pending(q, id) || class > 15);
	q->nodes[id].class = class;
	q->keys[id] = key;
}

/* Makes room for an event of each entity, so that callers need not check for each event. */
static void batch_reserve(struct equeue *q)
{
	if (q->batch_capacity - q->batch_count > q->node_count)
		return;
	q->batch_capacity = 2 * (q->batch_count + q->node_count) + 16;
	q->batch = xrealloc(q->batch, q->batch_capacity, sizeof(*q->batch));
	q->scratch = xrealloc(q->scratch, q->batch_capacity, sizeof(*q->scratch));
}

/* Pushes an event into a slot that is already open. */
void equeue_push_batch(struct equeue *q, uint32_t id)
{
	struct eq_item item = { .at = q->nodes[id].at, .id = id };
	size_t i;

	SIM_BUG_ON(item.at < q->last); /* in the past */
	batch_reserve(q);
	q->nodes[id].place = EQ_BATCH;
	for (i = q->batch_count++; i > q->batch_head; i--) {
		struct eq_item *previous = &q->batch[i - 1];

		/* a cancelled item has only a time; its order among equal times does not matter */
		if (previous->id == EQ_NONE ? previous->at < item.at
					    : !item_before(q, &item, previous))
			break;
		q->batch[i] = *previous;
	}
	q->batch[i] = item;
	q->batch_low++;
}

static bool heap_before(const struct equeue *q, uint32_t a, uint32_t b)
{
	return q->nodes[a].at < q->nodes[b].at; /* ties are settled when the slot is sorted */
}

static void heap_put(struct equeue *q, size_t position, uint32_t id)
{
	q->heap[position] = id;
	q->nodes[id].link = (uint32_t)position;
	if (!position)
		q->heap_slot = q->nodes[id].at >> q->shift;
}

static void heap_up(struct equeue *q, size_t i, uint32_t id)
{
	for (; i > 0 && heap_before(q, id, q->heap[(i - 1) / 2]); i = (i - 1) / 2)
		heap_put(q, i, q->heap[(i - 1) / 2]);
	heap_put(q, i, id);
}

static void heap_down(struct equeue *q, size_t i, uint32_t id)
{
	for (;;) {
		size_t child = 2 * i + 1;

		if (child >= q->heap_count)
			break;
		if (child + 1 < q->heap_count && heap_before(q, q->heap[child + 1], q->heap[child]))
			child++;
		if (!heap_before(q, q->heap[child], id))
			break;
		heap_put(q, i, q->heap[child]);
		i = child;
	}
	heap_put(q, i, id);
}

void equeue_push_far(struct equeue *q, uint32_t id)
{
	q->heap = array_reserve(q->heap, q->heap_count, &q->heap_capacity, sizeof(*q->heap));
	q->nodes[id].place = EQ_HEAP;
	heap_up(q, q->heap_count++, id);
}

static void heap_remove(struct equeue *q, size_t position)
{
	uint32_t last = q->heap[--q->heap_count];

	if (!q->heap_count)
		q->heap_slot = NO_SLOT;
	if (position == q->heap_count)
		return;
	if (position > 0 && heap_before(q, last, q->heap[(position - 1) / 2]))
		heap_up(q, position, last);
	else
		heap_down(q, position, last);
}

void equeue_cancel(struct equeue *q, uint32_t id)
{
	struct eq_node *node = &q->nodes[id];
	uint32_t *link;

	switch ((enum eq_place)node->place) {
	case EQ_IDLE:
	case EQ_CANCELLED:
		return;
	case EQ_HEAP:
		heap_remove(q, node->link);
		break;
	case EQ_WHEEL:
		/* the slot's bit may stay set though the chain is empty, which is harmless */
		link = &q->slots[(node->at >> q->shift) & (q->slot_count - 1)];
		while (*link != id)
			link = &q->nodes[*link].link;
		*link = node->link;
		break;
	case EQ_BATCH:
		for (size_t i = q->batch_head; i < q->batch_count; i++)
			if (q->batch[i].id == id)
				q->batch[i].id = EQ_NONE;
		break;
	}
	node->place = EQ_CANCELLED;
}

/* next_used() beyond the word of `used` that holds the slot after the cursor. */
static __attribute__((noinline)) uint64_t next_used_far(const struct equeue *q)
{
	uint64_t start = q->cursor + 1, words = q->slot_count / 64;

	for (uint64_t n = 1; n <= words; n++) {
		uint64_t word = (start >> 6) + n, bits = q->used[word & (words - 1)];

		if (bits)
			return (word << 6) + (uint64_t)__builtin_ctzll(bits);
	}
	return NO_SLOT;
}

/* Number of the next used slot of the wheel; NO_SLOT when it is empty. */
static inline uint64_t next_used(const struct equeue *q)
{
	uint64_t start = q->cursor + 1;
	uint64_t bits = q->used[(start & (q->slot_count - 1)) >> 6] >> (start & 63);

	if (__builtin_expect(bits != 0, 1))
		return start + (uint64_t)__builtin_ctzll(bits);
	return next_used_far(q);
}

static inline void prefetch_slot(const struct equeue *q, uint64_t number)
{
	uint32_t id = q->slots[number & (q->slot_count - 1)];

	/* node 0 if the slot is empty: a branch on that could not be predicted */
	__builtin_prefetch(&q->nodes[id & -(uint32_t)(id != EQ_NONE)]);
}

/* Moves the events of slot `number` from wheel and heap to `items`, unsorted. Sets *equal if all
 * come from the wheel and have one time and class. */
static inline size_t equeue_collect(struct equeue *q, uint64_t number, struct eq_item *items,
				    bool *equal)
{
	uint64_t slot = number & (q->slot_count - 1), differ = 0;
	/* node 0 if the chain is empty: again without a branch */
	const struct eq_node *first =
		&q->nodes[q->slots[slot] & -(uint32_t)(q->slots[slot] != EQ_NONE)];
	struct eq_item *item = items;

	for (uint32_t id = q->slots[slot]; id != EQ_NONE; id = q->nodes[id].link) {
		struct eq_node *node = &q->nodes[id];

		node->place = EQ_BATCH;
		differ |= (node->at ^ first->at) | (uint64_t)(node->class ^ first->class);
		*item++ = (struct eq_item){ .at = node->at, .id = id };
	}
	*equal = !differ && q->heap_slot != number;
	q->slots[slot] = EQ_NONE;
	q->used[slot >> 6] &= ~(UINT64_C(1) << (slot & 63));
	while (__builtin_expect(q->heap_slot == number, 0)) {
		uint32_t id = q->heap[0];

		heap_remove(q, 0);
		q->nodes[id].place = EQ_BATCH;
		*item++ = (struct eq_item){ .at = q->nodes[id].at, .id = id };
	}
	return (size_t)(item - items);
}

/* Sorts the events of slot `number` from scratch into `to`. */
static void sort_slot(struct equeue *q, uint64_t number, struct eq_item *to, size_t count)
{
	const unsigned shift = q->shift;
	struct eq_item *from = q->scratch;

	for (size_t i = 0; i < count; i++)
		from[i].at = equeue_rank_of(q, &from[i]);
	sort_items(q, to, from, count);
	for (size_t i = 0; i < count; i++)
		/* the rank becomes a time again */
		to[i].at = number << shift | to[i].at >> (64 - shift);
}

/* Opens the next used slot: moves the cursor to the slot and appends its events, sorted, to the
 * batch. All of them may have been cancelled. False if no slot up to `limit` is used. */
static inline bool open_next(struct equeue *q, uint64_t limit)
{
	uint64_t number = next_used(q);
	size_t count;
	bool equal;

	if (q->heap_slot < number)
		number = q->heap_slot;
	if (number > limit)
		return false;
	q->cursor = number;
	batch_reserve(q);
	prefetch_slot(q, number + SLOTS_AHEAD);
	count = equeue_collect(q, number, q->scratch, &equal);
	if (count > COUNTED_MAX)
		sort_slot(q, number, q->batch + q->batch_count, count);
	else if (count > SORT_FEW)
		sort_some(q, q->batch + q->batch_count, q->scratch, count, equal);
	else if (count)
		insertion_sort(q, q->batch + q->batch_count, q->scratch, count);
	q->batch_count += count;
	return true;
}

static inline bool is_long(const struct eq_node *nodes, uint32_t id)
{
	unsigned count = 0;

	for (; id != EQ_NONE; id = nodes[id].link)
		if (++count > SORT_FEW)
			return true;
	return false;
}

/* Opens the next slot into an empty batch if the slot has few events, by inserting them one by one.
 * A chain begins with the event scheduled last, which often is the latest. So the batch fills up
 * from its end, before a sentinel later than all events. Returns false where the caller needs
 * refill(): the slot has many events, or only cancelled ones; the heap has an event of this slot or
 * an earlier one; no slot is used; or the batch has no memory yet. */
static bool open_few(struct equeue *q)
{
	struct eq_node *nodes = q->nodes;
	uint64_t number = next_used(q), slot = number & (q->slot_count - 1);
	struct eq_item *first;

	if (q->heap_slot <= number || q->batch_capacity <= SORT_FEW ||
	    is_long(nodes, q->slots[slot]))
		return false;
	first = q->batch + SORT_FEW;
	first->at = SIM_TIME_MAX;
	for (uint32_t id = q->slots[slot]; id != EQ_NONE; id = nodes[id].link) {
		struct eq_item *place = --first;
		sim_time at = nodes[id].at;

		nodes[id].place = EQ_BATCH;
		for (; place[1].at <= at; place++) {
			if (place[1].at == at && before_among_equals(q, at, id, place[1].id))
				break;
			*place = place[1];
		}
		place->at = at;
		place->id = id;
	}
	q->cursor = number;
	q->slots[slot] = EQ_NONE;
	q->used[slot >> 6] &= ~(UINT64_C(1) << (slot & 63));
	q->batch_head = (size_t)(first - q->batch);
	q->batch_low = q->batch_count = SORT_FEW;
	return q->batch_head < SORT_FEW;
}

/* Opens slots until the batch holds enough events. False if there is no event to pop. */
static __attribute__((noinline)) bool refill(struct equeue *q)
{
	size_t left = q->batch_count - q->batch_head;
	uint64_t limit = NO_SLOT - 1;

	if (!left) {
		q->batch_head = q->batch_count = 0;
	} else if (left < q->batch_head) {
		memcpy(q->batch, q->batch + q->batch_head, left * sizeof(*q->batch));
		q->batch_head = 0;
		q->batch_count = left;
	}
	do {
		if (left)
			limit = (q->batch[q->batch_head].at >> q->shift) + q->ahead;
		if (!open_next(q, limit))
			break;
		left = q->batch_count - q->batch_head;
		/* Twice the depth, so that refills are rare. Even with depth 0 the loop goes on
		 * while there is no event, since all events of a slot may have been cancelled. */
	} while (left <= 2 * q->depth);
	/* if fewer events than wanted are known, half of them are popped before the next refill */
	q->batch_low = left > q->depth ? q->batch_count - q->depth : q->batch_head + (left + 1) / 2;
	return left > 0;
}

bool equeue_refill(struct equeue *q)
{
	return (!q->depth && open_few(q)) || refill(q);
}
