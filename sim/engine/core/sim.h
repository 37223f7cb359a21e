/* One simulation: clock, pending events, digest, seed. Start reading here.
 *
 * Everything that can act at a time of its own (an egress port, a NIC, a timer)
 * is an entity. An entity has at most one pending event; when it comes, the
 * entity's handler runs with sim->now set. All state hangs from a struct sim.
 *
 * Departures from NICs are the exception: a NIC may leave them undone for a while, without events
 * (net/nic.h). Before any handler could notice, they are replayed, each with sim->now set to the
 * time at which the packet left. Handlers may be written as if every departure were an event.
 *
 * Order of events: see equeue.h. Digest: the sum over all events, timers included, of a
 * hash of (time, entity, what happened). A sum does not depend on the order in which
 * parallel partitions would add their parts, and any change of a time, of a
 * choice among ties or of a packet changes it. */
#ifndef INASIM_CORE_SIM_H
#define INASIM_CORE_SIM_H

#include "base/fail.h"
#include "base/hash.h"
#include "base/types.h"
#include "core/equeue.h"

/* Classes, in the order in which they act at equal times: a packet that arrives
 * at the very instant of a timeout has arrived in time. */
enum sim_class {
	SIM_ARRIVAL,   /* a packet reaches the far end of a link */
	SIM_DEPARTURE, /* a transmitter becomes free */
	SIM_TIMER,     /* protocols, computation */
	SIM_CONTROL,   /* arrivals of jobs and flows, end of the run */
	SIM_SAMPLE,    /* time series: looks, changes nothing */
};

struct sim;
typedef void sim_handler(struct sim *sim, uint32_t entity, void *owner);

/* Gets the next events, soonest first, and prefetches what they will touch: speed only.
 * Called before every SIM_LOOK_EVERYth event; equeue_look_ahead() sets how many are known. */
#define SIM_LOOK_EVERY 4
typedef void sim_lookahead(const struct sim *sim, const struct eq_item *next, size_t count);

/* Carries out the deferred departures that are due before the time `until`, each with sim->now set
 * back to its own time. They may set, replace and cancel timers whose turn has not come yet. */
typedef void sim_catch_up(void *owner, sim_time until);

struct sim_entity {
	sim_handler *handler;
	void *owner; /* not owned */
	bool apart;  /* see timer_apart() */
	bool silent; /* no part of the run: its events are not observed */
};

struct sim {
	sim_time now;
	uint64_t events;
	uint64_t digest;
	uint64_t seed;
	bool stopped;
	struct sim_entity block; /* shared by entities 0..block_count-1 */
	uint32_t block_count;
	struct sim_entity more; /* of a partition: a second block, from more_first on */
	uint32_t more_first, more_count;
	struct sim_entity *entities; /* all others, by id - block_count */
	size_t entity_count, entity_capacity;
	uint32_t *idle_timers; /* ids for reuse */
	size_t idle_count, idle_capacity;
	sim_lookahead *lookahead; /* optional */
	sim_catch_up *catch_up;   /* optional: for whoever defers events (net/nic.h) */
	void *catch_up_owner;
	struct equeue queue;
	struct sim_parts *parts; /* NULL = not cut; see parts.h */
	uint64_t uncounted;      /* events that are no part of the run, counted by their handlers */
	struct sim_names *names;
};

void sim_init(struct sim *sim, uint64_t seed);
void sim_release(struct sim *sim);

/* The first entities may be a block of equals: numbers 0..count-1, one handler
 * and owner for all, nothing looked up per event. Keys: sim_key(class, number). */
void sim_add_block(struct sim *sim, enum sim_class class, uint32_t count, sim_handler *handler,
		   void *owner);

/* The entity of an event. A copy, since a handler may open timers, which may move the array. */
static inline struct sim_entity sim_entity_of(const struct sim *sim, uint32_t id)
{
	return id < sim->block_count ? sim->block : sim->entities[id - sim->block_count];
}

/* Adds an entity for the whole run. `key` is a stable name for ties: the number
 * of the thing within its kind, combined by sim_key(). */
uint32_t sim_add_entity(struct sim *sim, enum sim_class class, uint64_t key, sim_handler *handler,
			void *owner);

/* Makes an entity silent, as samples are: its events are no part of the run, and its handler has to
 * count them in `uncounted`. */
void sim_silent(struct sim *sim, uint32_t id);

static inline uint64_t sim_key(enum sim_class class, uint64_t number)
{
	return (uint64_t) class << 56 | number;
}

/* The handler of entity `id` runs at time `at` >= now; it must not be pending. */
static inline void sim_schedule(struct sim *sim, uint32_t id, sim_time at)
{
	SIM_BUG_ON(at < sim->now);
	equeue_push(&sim->queue, id, at);
}

static inline bool sim_pending(const struct sim *sim, uint32_t id)
{
	return equeue_pending(&sim->queue, id);
}

static inline void sim_cancel(struct sim *sim, uint32_t id)
{
	equeue_cancel(&sim->queue, id);
}

/* Entities that come and go (one per flow, one per worker): a timer is an
 * entity taken from a pool. timer_open() before use, timer_close() gives it
 * back. timer_set() replaces an earlier setting. */
struct timer {
	uint32_t id;
};

void timer_open(struct sim *sim, struct timer *timer, enum sim_class class, uint64_t key,
		sim_handler *handler, void *owner);
void timer_close(struct sim *sim, struct timer *timer);
void timer_set(struct sim *sim, struct timer *timer, sim_time at);
void timer_cancel(struct sim *sim, struct timer *timer);
bool timer_pending(const struct sim *sim, const struct timer *timer);

/* Promises that the timer's handler touches no host's state, or calls network_catch_up() for hosts
 * that it touches: then what hosts have deferred need not be done first. Speed only. */
void timer_apart(struct sim *sim, const struct timer *timer);

/* Carries out the deferred departures that are due before the time `until`. */
static inline void sim_do_deferred(struct sim *sim, sim_time until)
{
	if (sim->catch_up)
		sim->catch_up(sim->catch_up_owner, until);
}

/* For whoever pops events, before each: calls sim->lookahead every SIM_LOOK_EVERY of them. */
static inline void sim_look(const struct sim *sim)
{
	const struct equeue *q = &sim->queue;

	if (sim->events % SIM_LOOK_EVERY == 0 && sim->lookahead)
		sim->lookahead(sim, &q->batch[q->batch_head], q->batch_count - q->batch_head);
}

/* Call it when the event of entity `id` was just popped. Carries out the deferred departures that
 * come before that event, and returns the entity whose event comes first now. This is `id`, unless
 * a departure has cancelled or replaced the event: then another entity, or EQ_NONE. */
uint32_t sim_first(struct sim *sim, uint32_t id);

/* Runs the event that was just popped, of an entity outside the block, or the one that sim_first()
 * puts in its place. False where sim_first() finds none. */
bool sim_run_entity(struct sim *sim, uint32_t id);

/* Runs events until none is left or sim_stop() was called by a handler.
 * `budget` bounds the number of events of this call (UINT64_MAX = none), so that
 * the caller can look at the wall clock now and then; true = there is more. */
bool sim_run(struct sim *sim, uint64_t budget);

/* When the next event comes; false when none is pending. For whoever runs another clock beside
 * this one. */
static inline bool sim_next(struct sim *sim, sim_time *at)
{
	return equeue_peek(&sim->queue, at);
}

/* Whether anything is still to happen: an event is pending, of a class other than SIM_SAMPLE and of
 * an entity other than `end`, which only ends the run. Goes through the entities: not for every
 * event. */
bool sim_moves(const struct sim *sim, uint32_t end);

/* When something happened last, for a run in which nothing will any more: the time of the last
 * event of any entity but `end`. Leaves out silent entities and the block (for the block of a
 * network: network_last_arrival()). */
sim_time sim_last_move(const struct sim *sim, uint32_t end);

/* Events that are part of the run: all but those that only look, and the departures from NICs,
 * which may also happen without an event (nic.h). */
static inline uint64_t sim_event_count(const struct sim *sim)
{
	return sim->events - sim->uncounted;
}

/* What happened so far, in one number: the digest of a run at its end. */
static inline uint64_t sim_run_digest(const struct sim *sim)
{
	return hash_mix(sim->digest + sim_event_count(sim));
}

/* For event logs: names the entities of a handler. `text` is not copied. In it these
 * stand for the number in the entity's key, or for parts of that number:
 *     %n  the number     %h  number / 2     %j, %w  job and worker of a number job << 24 | worker
 * A second call for the same handler changes nothing. */
void sim_name(struct sim *sim, sim_handler *handler, const char *text);

/* Writes the name of an entity with this handler and key; returns `buffer`. */
char *sim_entity_name(const struct sim *sim, sim_handler *handler, uint64_t key, char *buffer,
		      size_t size);

/* No further event runs. */
static inline void sim_stop(struct sim *sim)
{
	sim->stopped = true;
}

/* What a fact of this instant adds to the digest. */
static inline uint64_t sim_fact(const struct sim *sim, uint64_t entity, uint64_t fact)
{
	return hash_mix(sim->now * UINT64_C(0x9e3779b97f4a7c15) ^
			(entity * UINT64_C(0xd1342543de82ef95) + fact));
}

/* Adds a fact of this instant to the digest. */
static inline void sim_digest(struct sim *sim, uint64_t entity, uint64_t fact)
{
	sim->digest += sim_fact(sim, entity, fact);
}

/* What sim_run() adds to the digest for an event. Nothing for the block, whose handler adds facts
 * of its own, and for silent entities, which are no part of the run. */
static inline uint64_t sim_event_fact(const struct sim *sim, uint32_t id)
{
	return id < sim->block_count || sim->entities[id - sim->block_count].silent
		       ? 0
		       : sim_fact(sim, sim->queue.keys[id], 0);
}

#endif
