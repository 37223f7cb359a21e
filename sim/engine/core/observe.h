/* Runs events with observers, for event logs and for fingerprints of a run.
 * sim_run() has no observers and pays nothing for them. */
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

/* An observer changes nothing, except that it may call sim_stop(). */
struct sim_observer {
	/* Called just before the handler. May be NULL. */
	void (*before)(void *owner, const struct sim_event *event);
	/* Called just after the handler. sim->digest includes the event. */
	void (*after)(void *owner, const struct sim_event *event);
	void *owner;
	struct sim_observer *next; /* called after this one; may be NULL; not owned */
};

/* As sim_run(): the same events in the same order, with the same result. Silent events, such as
 * samples and departures from NICs, run unobserved. */
bool sim_observe(struct sim *sim, uint64_t budget, const struct sim_observer *observer);

#endif
