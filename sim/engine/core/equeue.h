/* The pending events: at most one per entity, in total order.
 *
 * Order: (time, class, tie). tie is a seeded hash of (time, entity key): workers
 * in lock-step make ties the norm, and any fixed order among them would favour
 * one worker for ever. The entity key is a stable name (port number, flow number
 * ...), so the order depends neither on the order of insertion nor on addresses.
 *
 * Layout: a timing wheel of slots, 2^shift ps each. A slot is a chain of entities
 * linked through their own nodes, so scheduling allocates nothing. Events beyond
 * the wheel wait in a binary heap. Slots are opened somewhat ahead of time: their
 * events move, sorted, into the batch, from which they are popped. So the next
 * events are known, and the memory that they touch can be prefetched.
 *
 *   now          cursor         cursor + slots
 *    |--- batch ---|---- wheel -----|---- heap ----->
 *
 * A slot is narrow, so most hold one or two events and there is little to sort.
 * In a slot of few events the tie is worked out only where two times are equal.
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

/* EQ_IDLE and EQ_CANCELLED are not pending. An idle node keeps the time of its last event. */
enum eq_place { EQ_IDLE, EQ_CANCELLED, EQ_WHEEL, EQ_HEAP, EQ_BATCH };

/* Four fit into a cache line, since every hop touches a node. */
struct eq_node {
	sim_time at;
	uint32_t link; /* EQ_WHEEL: next in the slot's chain; EQ_HEAP: position */
	uint8_t place; /* enum eq_place */
	uint8_t class; /* at equal times, lower classes come first */
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
	size_t depth;            /* events wanted in the batch */
	uint64_t ahead; /* slots that may be opened for `depth`, beyond that of the next event */
	sim_time last;  /* time of the last event popped */

	uint32_t *heap;
	size_t heap_count, heap_capacity;
	uint64_t heap_slot; /* slot number of the heap's first event; UINT64_MAX = heap is empty */

	uint64_t seed;
};

void equeue_init(struct equeue *q, uint64_t seed);
void equeue_release(struct equeue *q);

/* Sets the width of slots, 2^shift ps, and their number, 2^slot_bits. The queue
 * must be empty. Speed only. */
void equeue_tune(struct equeue *q, unsigned shift, unsigned slot_bits);

/* Keeps the next `depth` events in the batch, for prefetching, as far as they are
 * due within about `span` ps after the first of them. A longer span opens more slots,
 * and an event that is pushed into an open slot costs more. Call it after
 * equeue_tune(), which sets the width of slots. Speed only. */
void equeue_look_ahead(struct equeue *q, size_t depth, sim_time span);

/* Adds an entity and returns its id. Ids count from 0. */
uint32_t equeue_add(struct equeue *q, uint8_t class, uint64_t key);

/* Gives an entity that is not pending a new class and key (for pooled timers). */
void equeue_rename(struct equeue *q, uint32_t id, uint8_t class, uint64_t key);

/* Removes the pending event of an entity, if any. */
void equeue_cancel(struct equeue *q, uint32_t id);

static inline bool equeue_pending(const struct equeue *q, uint32_t id)
{
	return q->nodes[id].place > EQ_CANCELLED;
}

/* The time of the last popped event of an entity that is not pending. 0 if it had no event, or if
 * a later one was cancelled. */
static inline sim_time equeue_last(const struct equeue *q, uint32_t id)
{
	return q->nodes[id].place == EQ_IDLE ? q->nodes[id].at : 0;
}

/* The slow paths of the inline functions below. */
void equeue_push_far(struct equeue *q, uint32_t id);
void equeue_push_batch(struct equeue *q, uint32_t id);
bool equeue_refill(struct equeue *q);

static inline void equeue_push(struct equeue *q, uint32_t id, sim_time at)
{
	struct eq_node *node = &q->nodes[id];
	uint64_t number = at >> q->shift, mask = q->slot_count - 1;

	SIM_BUG_ON(node->place > EQ_CANCELLED);
	node->at = at;
	if (__builtin_expect(number - q->cursor - 1 < mask, 1)) { /* in the wheel */
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

/* Stores the time of the first event in *at and leaves the event pending. False if none is. */
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

/* The entity whose event is next; EQ_NONE if it is not in the batch yet or was cancelled. */
static inline uint32_t equeue_coming(const struct equeue *q)
{
	return q->batch_head < q->batch_count ? q->batch[q->batch_head].id : EQ_NONE;
}

/* Undoes the last equeue_pop(); the queue must not have changed in between. `last` stays, so no
 * event may be pushed that is earlier than the one put back. */
static inline void equeue_unpop(struct equeue *q)
{
	q->batch_head--;
	q->nodes[q->batch[q->batch_head].id].place = EQ_BATCH;
}

/* Removes the first event: returns its entity, with the time in *at. EQ_NONE if there is none. */
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

#endif
