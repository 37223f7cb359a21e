/* Running events under the eyes of an observer: for event logs and for the
 * fingerprints of a run. sim_run() knows nothing of this and pays nothing. */
#ifndef INASIM_CORE_OBSERVE_H
#define INASIM_CORE_OBSERVE_H

#include "core/sim.h"

/* One event, as it is known before its handler runs. */
struct sim_event {
	sim_time at;
	uint64_t number; /* from 1; silent events are not counted */
	uint64_t key;    /* stable name of the entity */
	sim_handler *handler;
	uint32_t entity;
	uint8_t class; /* enum sim_class */
};

/* Looks on and changes nothing, except that it may call sim_stop(). */
struct sim_observer {
	/* The handler is about to run; the state is the one that it will find. May be NULL. */
	void (*before)(void *owner, const struct sim_event *event);
	/* The handler has run, and what it added is in sim->digest. */
	void (*after)(void *owner, const struct sim_event *event);
	void *owner;
	struct sim_observer *next; /* looks on after this one; NULL = none; not owned */
};

/* As sim_run(): the same events in the same order, with the same result. Silent events (samples,
 * departures from NICs) run unobserved. */
bool sim_observe(struct sim *sim, uint64_t budget, const struct sim_observer *observer);

#endif
