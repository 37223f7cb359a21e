/* Describes events: which entity acts, and what happens to which packet. Used for events.csv, and
 * to name the first event that differs from a reference run. */
#ifndef INASIM_RUN_EVENT_LOG_H
#define INASIM_RUN_EVENT_LOG_H

#include "core/observe.h"
#include "run/simulation.h"

extern const struct out_schema events_schema;

/* A copy of all that describes an event. */
struct event_record {
	struct sim_event event;
	struct packet packet; /* SIM_ARRIVAL: the packet that arrives */
	/* The members below are from the packet's scheme, and set only if `about_job`. */
	bool about_job;
	uint32_t job, worker, aggregator; /* UINT32_MAX: none */
	uint64_t chunk;
};

#define EVENT_TEXT 160 /* bytes, enough for event_entity() and for event_what() */

/* Fills in *record. Call it before the event's handler runs, which consumes the packet. */
void event_record(const struct simulation *simulation, const struct sim_event *event,
		  struct event_record *record);

extern const char *const event_class_names[]; /* by enum sim_class */

/* Writes who acts: "leaf0 -> h3", "TCP retransmission timeout of connection 7". Returns `text`. */
char *event_entity(const struct simulation *simulation, const struct event_record *record,
		   char text[EVENT_TEXT]);

/* Writes what happens: "tcp data flow 7 seq 1460 size 1518 ECT", "expires". Returns `text`. */
char *event_what(const struct simulation *simulation, const struct event_record *record,
		 char text[EVENT_TEXT]);

struct event_log;

/* Makes a simulation write its events of `span` to events.csv; call it between simulation_build()
 * and simulation_go(). NULL and *error (caller frees) if the table cannot be opened. The caller
 * frees the log after the run, before the simulation. */
struct event_log *event_log_open(struct simulation *simulation, struct out_dir *dir,
				 const struct time_span *span, char **error);
void event_log_free(struct event_log *log);

#endif
