/* The pending events: at most one per entity, in total order.
 *
 * Order: (time, class, tie). tie is a seeded hash of (time, entity key): workers
 * in lock-step make ties the norm, and any fixed order among them would favour
 * one worker for ever. The entity key is a stable name (port number, flow number
 * ...), so the order depends neither on the order of insertion nor on memory.
 *
 * Layout: a wheel of slots (2^shift ps each) that holds chains of entities
 * linked through their own nodes, so scheduling allocates nothing; events
 * beyond the wheel wait in a binary heap. Slots are opened somewhat ahead of
 * time: their events move, sorted, into the batch, from which they are popped.
 * So the next events are known and what they touch can be prefetched.
 *
 *   now          cursor         cursor + slots
 *    |--- batch ---|---- wheel -----|---- heap ----->
 *
 * A slot is narrow, so most hold one or two events and there is little to sort;
 * the tie is worked out only where two times are equal.
 *
 * A simulation that is cut into partitions (parts.h) has a queue for each; they share the nodes,
 * and what is scheduled goes into the queue of its entity.
 *
 * Only sim.h includes this file; everybody else schedules through sim.h. */
#ifndef INASIM_CORE_EQUEUE_H
#define INASIM_CORE_EQUEUE_H

#include "base/fail.h"
#include "base/hash.h"
#include "base/types.h"

#include <stdbool.h>
#include <stddef.h>

#define EQ_NONE UINT32_MAX
#define EQ_AWAY UINT16_MAX /* an entity of no queue: see `away` */

/* The first two are not pending. EQ_IDLE nodes keep the time of their last event, if any. */
enum eq_place { EQ_IDLE, EQ_CANCELLED, EQ_WHEEL, EQ_HEAP, EQ_BATCH };

/* Four to a line of cache: every hop touches one. */
struct eq_node {
	sim_time at;
	uint32_t link;  /* EQ_WHEEL: next in the slot's chain; EQ_HEAP: position */
	uint8_t place;  /* enum eq_place */
	uint8_t class;  /* small = first among equal times */
	uint16_t queue; /* number of the queue that it is put into, or EQ_AWAY */
};

struct eq_item {
	sim_time at;
	uint32_t id; /* EQ_NONE: cancelled */
};

struct equeue {
	struct eq_node *nodes;
	uint64_t *keys; /* stable names, for ties; by id like the nodes */
	size_t node_count, node_capacity;

	uint64_t cursor; /* number of the last slot opened: its events are in the batch */
	uint64_t slot_count;
	unsigned shift;
	uint32_t *slots;
	uint64_t *used; /* one bit per slot */

	struct eq_item *batch;
	size_t batch_head, batch_count, batch_capacity;
	size_t batch_low;        /* when batch_head gets here, popping opens more slots */
	struct eq_item *scratch; /* as large as the batch: for sorting */
	size_t depth;            /* events wanted in the batch ... */
	uint64_t ahead; /* ... but from no slot further than this behind the next event's */
	sim_time last;  /* time of the last event popped */

	uint32_t *heap;
	size_t heap_count, heap_capacity;
	uint64_t heap_slot; /* number of the slot of its first event; UINT64_MAX = empty */

	uint64_t seed;

	sim_time end;       /* equeue_pop_before() stops here */
	uint64_t last_slot; /* no later slot is opened; see equeue_bound() */
	uint16_t number;
	struct equeue **all; /* the queues of the partitions, by number; not owned */
	/* EQ_AWAY entities that were scheduled here. They never become pending: whoever made them
	 * EQ_AWAY looks after them. */
	uint32_t *away;
	size_t away_count, away_capacity;
};

void equeue_init(struct equeue *q, uint64_t seed);
void equeue_release(struct equeue *q);

/* Sets the width and the number of slots; the queue must be empty. Only speed
 * depends on this and on equeue_look_ahead(). */
void equeue_tune(struct equeue *q, unsigned shift, unsigned slot_bits);

/* Keeps the next `depth` events ready in the batch, for prefetching, as far as
 * they are due within `span`. A longer span opens more slots, and an event that
 * is pushed into an open slot costs more. */
void equeue_look_ahead(struct equeue *q, size_t depth, sim_time span);

/* A new entity; ids count from 0. */
uint32_t equeue_add(struct equeue *q, uint8_t class, uint64_t key);

/* Gives an idle entity a new key (a pooled timer changes its owner). */
void equeue_rename(struct equeue *q, uint32_t id, uint8_t class, uint64_t key);

/* Gives `to` the nodes and keys of `from`, which goes on owning them. To be repeated whenever
 * `from` has got new entities. */
void equeue_share(struct equeue *to, const struct equeue *from);

/* Takes an entity out again; nothing happens when it is not pending. */
void equeue_cancel(struct equeue *q, uint32_t id);

static inline bool equeue_pending(const struct equeue *q, uint32_t id)
{
	return q->nodes[id].place > EQ_CANCELLED;
}

/* When the last event of an entity that is not pending was popped; 0 when none was, or when one
 * was cancelled since. */
static inline sim_time equeue_last(const struct equeue *q, uint32_t id)
{
	return q->nodes[id].place == EQ_IDLE ? q->nodes[id].at : 0;
}

/* From now on equeue_last() of `id`, which is not pending, also counts the events of `other`. */
static inline void equeue_inherit(struct equeue *q, uint32_t id, uint32_t other)
{
	if (equeue_last(q, other) > equeue_last(q, id))
		q->nodes[id].at = q->nodes[other].at;
}

/* The parts that are not hot. */
void equeue_push_far(struct equeue *q, uint32_t id);
void equeue_push_batch(struct equeue *q, uint32_t id);
void equeue_push_other(struct equeue *q, uint32_t id, sim_time at);
bool equeue_refill(struct equeue *q);

static inline void equeue_push(struct equeue *q, uint32_t id, sim_time at)
{
	struct eq_node *node = &q->nodes[id];
	uint64_t number = at >> q->shift, mask = q->slot_count - 1;

	SIM_BUG_ON(node->place > EQ_CANCELLED);
	if (__builtin_expect(node->queue != q->number, 0)) {
		equeue_push_other(q, id, at);
		return;
	}
	node->at = at;
	if (__builtin_expect(number - q->cursor - 1 < mask, 1)) { /* 1 <= ahead < slot_count */
		uint64_t slot = number & mask;

		node->link = q->slots[slot];
		node->place = EQ_WHEEL;
		q->slots[slot] = id;
		q->used[slot >> 6] |= UINT64_C(1) << (slot & 63);
	} else if (number <= q->cursor) {
		equeue_push_batch(q, id);
	} else {
		equeue_push_far(q, id);
	}
}

/* The time of the first event, which stays. False when there is none. */
static inline bool equeue_peek(struct equeue *q, sim_time *at)
{
	for (;; q->batch_head++) {
		if (q->batch_head >= q->batch_low && !equeue_refill(q))
			return false;
		if (q->batch[q->batch_head].id != EQ_NONE)
			break;
	}
	*at = q->batch[q->batch_head].at;
	return true;
}

/* The entity whose event is next; EQ_NONE when that is not known yet. */
static inline uint32_t equeue_coming(const struct equeue *q)
{
	return q->batch_head < q->batch_count ? q->batch[q->batch_head].id : EQ_NONE;
}

/* From now on equeue_pop_before() stops before `end`. Slots that begin at `known` (not before
 * `end`) or later stay closed, so that events which are scheduled there later still go into the
 * wheel. */
static inline void equeue_bound(struct equeue *q, sim_time end, sim_time known)
{
	q->end = end;
	q->last_slot = (known - 1) >> q->shift;
}

/* The time of the first event, SIM_TIME_MAX when there is none. Opens no slot. */
sim_time equeue_first(struct equeue *q);

/* Takes back the last equeue_pop(), with nothing in between. */
static inline void equeue_unpop(struct equeue *q)
{
	q->batch_head--;
	q->nodes[q->batch[q->batch_head].id].place = EQ_BATCH;
}

/* The first event leaves the queue: its time in *at. EQ_NONE when there is none. */
static inline uint32_t equeue_pop(struct equeue *q, sim_time *at)
{
	const struct eq_item *item;

	do {
		if (q->batch_head >= q->batch_low && !equeue_refill(q))
			return EQ_NONE;
		item = &q->batch[q->batch_head++];
	} while (__builtin_expect(item->id == EQ_NONE, 0));
	q->nodes[item->id].place = EQ_IDLE;
	*at = q->last = item->at;
	return item->id;
}

/* As equeue_pop(), but also EQ_NONE when the first event is not before the end that equeue_bound()
 * set. */
static inline uint32_t equeue_pop_before(struct equeue *q, sim_time *at)
{
	sim_time first;

	return equeue_peek(q, &first) && first < q->end ? equeue_pop(q, at) : EQ_NONE;
}

#endif
