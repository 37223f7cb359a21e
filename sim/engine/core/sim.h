/* One simulation: clock, pending events, digest, seed. Start reading here.
 *
 * Everything that has events (an egress port, a NIC, a timer) is an entity. An
 * entity has at most one pending event. At the time of the event the entity's
 * handler runs, with sim->now set. All state hangs from a struct sim.
 *
 * Departures from NICs are the exception: a NIC may defer them without events (net/nic.h). Before
 * any handler could notice, the deferred departures are carried out, each with sim->now set to its
 * own time. Handlers may be written as if every departure were an event.
 *
 * equeue.h describes the order of events. The digest is the sum, over all events
 * that are not silent, of a hash of (time, entity, what happened). Any change of a
 * time or of a packet changes the digest. Another order of simultaneous events
 * changes it only by its consequences, since a sum has no order. */
#ifndef INASIM_CORE_SIM_H
#define INASIM_CORE_SIM_H

#include "base/fail.h"
#include "base/hash.h"
#include "base/types.h"
#include "core/equeue.h"

/* Classes of events, in the order in which they run at equal times: a packet that
 * arrives at the very time of a timeout is not late. */
enum sim_class {
	SIM_ARRIVAL,   /* a packet reaches the far end of a link */
	SIM_DEPARTURE, /* a transmitter becomes free */
	SIM_TIMER,     /* protocols, computation */
	SIM_CONTROL,   /* arrivals of jobs and flows, failures, end of the run */
	SIM_SAMPLE,    /* what looks at the state when all else has happened: time series, checks */
};

struct sim;
typedef void sim_handler(struct sim *sim, uint32_t entity, void *owner);

/* Prefetches what the events after the current one will touch: `next`, soonest first, where the id
 * EQ_NONE stands for a cancelled event. Speed only. Called before every SIM_LOOK_EVERYth event;
 * equeue_look_ahead() sets how many events are known. */
#define SIM_LOOK_EVERY 4
typedef void sim_lookahead(const struct sim *sim, const struct eq_item *next, size_t count);

/* Carries out the deferred departures that are due before the time `until`, each with sim->now set
 * back to its own time. A departure may set, replace or cancel timers that have not run yet. */
typedef void sim_catch_up(void *owner, sim_time until);

struct sim_entity {
	sim_handler *handler;
	void *owner; /* not owned */
	bool apart;  /* see timer_apart() */
	bool silent; /* see sim_silent() */
};

struct sim {
	sim_time now;
	uint64_t events;
	uint64_t digest;
	uint64_t seed;
	bool stopped;
	struct sim_entity block; /* shared by entities 0..block_count-1 */
	uint32_t block_count;
	struct sim_entity *entities; /* all others, by id - block_count */
	size_t entity_count, entity_capacity;
	uint32_t *idle_timers; /* ids for reuse */
	size_t idle_count, idle_capacity;
	sim_lookahead *lookahead; /* optional */
	sim_catch_up *catch_up;   /* optional: set by the network if NICs may defer (net/nic.h) */
	void *catch_up_owner;
	struct equeue queue;
	uint64_t uncounted; /* events that are not part of the run; their handlers count them */
	struct sim_names *names;
};

void sim_init(struct sim *sim, uint64_t seed);
void sim_release(struct sim *sim);

/* Adds the block: entities 0..count-1, which share handler and owner, so that nothing is looked up
 * per event. Their keys are sim_key(class, number). Call it before any other entity is added. */
void sim_add_block(struct sim *sim, enum sim_class class, uint32_t count, sim_handler *handler,
		   void *owner);

/* The entity of an event. A copy, since a handler may open timers, which may move the array. */
static inline struct sim_entity sim_entity_of(const struct sim *sim, uint32_t id)
{
	return id < sim->block_count ? sim->block : sim->entities[id - sim->block_count];
}

/* Adds an entity for the whole run and returns its id. `key` is a stable name, which decides the
 * order of simultaneous events: sim_key() of the class and the entity's number in it. */
uint32_t sim_add_entity(struct sim *sim, enum sim_class class, uint64_t key, sim_handler *handler,
			void *owner);

/* Makes an entity silent, as all of class SIM_SAMPLE are: its events are not part of the run, hence
 * neither observed nor in the digest. Its handler counts them in `uncounted`. */
void sim_silent(struct sim *sim, uint32_t id);

static inline uint64_t sim_key(enum sim_class class, uint64_t number)
{
	return (uint64_t) class << 56 | number;
}

/* Entity `id`, which must not be pending, gets an event at the time `at` >= sim->now. */
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

/* A timer is an entity from a pool, for owners that come and go (flows, workers).
 * timer_open() takes it from the pool, timer_close() gives it back. timer_set()
 * replaces an earlier setting. */
struct timer {
	uint32_t id;
};

void timer_open(struct sim *sim, struct timer *timer, enum sim_class class, uint64_t key,
		sim_handler *handler, void *owner);
void timer_close(struct sim *sim, struct timer *timer);
void timer_set(struct sim *sim, struct timer *timer, sim_time at);
void timer_cancel(struct sim *sim, struct timer *timer);
bool timer_pending(const struct sim *sim, const struct timer *timer);

/* Promises that the timer's handler touches no host's state, or calls network_catch_up() for each
 * host that it touches. Then deferred departures need not precede the timer. Speed only. */
void timer_apart(struct sim *sim, const struct timer *timer);

/* Carries out the deferred departures that are due before the time `until`. */
static inline void sim_do_deferred(struct sim *sim, sim_time until)
{
	if (sim->catch_up)
		sim->catch_up(sim->catch_up_owner, until);
}

/* For loops that run events: calls sim->lookahead before every SIM_LOOK_EVERYth event. */
static inline void sim_look(const struct sim *sim)
{
	const struct equeue *q = &sim->queue;

	if (sim->events % SIM_LOOK_EVERY == 0 && sim->lookahead)
		sim->lookahead(sim, &q->batch[q->batch_head], q->batch_count - q->batch_head);
}

/* Call it when the event of entity `id` was just popped; EQ_NONE if none was. Unless the entity is
 * `apart` (timer_apart()), carries out the deferred departures that come before the event. Returns
 * the entity whose event comes first afterwards. This is `id` unless a departure has cancelled or
 * moved the event, or has set another one of the same time that comes first. A departure must not
 * set an event of an earlier time (nic_deferrable()). EQ_NONE if no event is left. */
uint32_t sim_first(struct sim *sim, uint32_t id);

/* Calls sim_first() for the event just popped, of entity `id` outside the block, and runs the event
 * that comes first. False if none is left. */
bool sim_run_entity(struct sim *sim, uint32_t id);

/* Runs events until none is left, a handler calls sim_stop(), or `budget` events
 * have run. UINT64_MAX is no budget. A budget lets the caller look at the wall clock
 * now and then. Returns true if only the budget ended the call. */
bool sim_run(struct sim *sim, uint64_t budget);

/* Stores the time of the next event in *at; false if none is pending. For callers with another
 * clock beside this one. */
static inline bool sim_next(struct sim *sim, sim_time *at)
{
	return equeue_peek(&sim->queue, at);
}

/* Whether anything will still happen: an event is pending, other than samples and that of the
 * entity `end`, which only ends the run. Goes through all entities, so too slow for every event. */
bool sim_moves(const struct sim *sim, uint32_t end);

/* The time of the last event of any entity except `end`, at the end of a run. Leaves out silent
 * entities, those whose next event was cancelled, and the block, for which a network has
 * network_last_arrival(). */
sim_time sim_last_move(const struct sim *sim, uint32_t end);

/* The number of events that are part of the run. It leaves out silent ones: samples, the looks of
 * alarms (alarm.h), and the events of NICs, whose departures may also happen without an event
 * (nic.h). */
static inline uint64_t sim_event_count(const struct sim *sim)
{
	return sim->events - sim->uncounted;
}

/* The digest of the run up to now, including the number of events. */
static inline uint64_t sim_run_digest(const struct sim *sim)
{
	return hash_mix(sim->digest + sim_event_count(sim));
}

/* For event logs: names the entities of a handler. `text` is not copied. It may contain directives
 * that print the number in the entity's key, or a part of that number:
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

/* The hash that a fact at the time sim->now adds to the digest. */
static inline uint64_t sim_fact(const struct sim *sim, uint64_t entity, uint64_t fact)
{
	return hash_mix(sim->now * UINT64_C(0x9e3779b97f4a7c15) ^
			(entity * UINT64_C(0xd1342543de82ef95) + fact));
}

/* Adds a fact at the time sim->now to the digest. */
static inline void sim_digest(struct sim *sim, uint64_t entity, uint64_t fact)
{
	sim->digest += sim_fact(sim, entity, fact);
}

/* The hash that sim_run() adds to the digest for an event. 0 for the block, whose handler adds its
 * own facts, and for silent entities. */
static inline uint64_t sim_event_fact(const struct sim *sim, uint32_t id)
{
	return id < sim->block_count || sim->entities[id - sim->block_count].silent
		       ? 0
		       : sim_fact(sim, sim->queue.keys[id], 0);
}

#endif
