/* One run: builds everything from a scenario, simulates, checks invariants, and writes the result
 * tables. */
#ifndef INASIM_RUN_SIMULATION_H
#define INASIM_RUN_SIMULATION_H

#include "core/sim.h"
#include "data/table.h"
#include "scenario/scenario.h"

#include <signal.h>

enum end_reason {
	END_ALL_DONE,
	END_JOBS_DONE,
	END_FLOWS_DONE,
	END_TIME,       /* the planned end */
	END_TIME_LIMIT, /* work was left */
	END_DEADLOCK,   /* work was left, but nothing could happen after sim.now */
	END_INTERRUPTED,
	END_VIOLATION,
	END_MEASURED_DONE,
	END_ESTIMATED, /* the end of the job is an estimate (stop.estimate) */
	END_FAILED,    /* all goals of the run are reached, except work that failures have ended */
	END_REFUSED,   /* all goals of the run are reached, except jobs that schemes have refused */
};
extern const char *const end_reason_names[];

struct simulation;

/* The progress of a run. */
struct simulation_progress {
	double done; /* 0 to 1: fraction of the work done or of the time limit, whichever is more */
	bool limit;  /* `done` is a fraction of the time limit, which is not the planned end */
	double iterations, of_iterations; /* of all jobs: finished, and in total */
	uint64_t flows, of_flows;         /* finished, and started */
	sim_time now;
	sim_time stalled; /* SIMULATION_STALLED: since when */
	double wall_s;
};
enum simulation_news {
	SIMULATION_GOES_ON, /* told a few times a second */
	SIMULATION_ASKED,   /* *asked was set */
	SIMULATION_STALLED, /* no job has made progress for long (jobs_stalled()); once per stall */
};

/* A part of a run, both ends included. */
struct time_span {
	bool given; /* false: the user asked for no part */
	sim_time from, to;
};
static inline bool time_span_has(const struct time_span *span, sim_time at)
{
	return at >= span->from && at <= span->to;
}

struct simulation_options {
	struct out_dir *dir;  /* NULL: no tables are written; not owned */
	bool no_fast_forward; /* skip nothing (run/fast_forward.h); has no effect on results */
	/* Called with news of the run; may be NULL. */
	void (*tell)(void *owner, enum simulation_news news, const struct simulation *simulation,
		     const struct simulation_progress *progress);
	void *owner;
	const volatile sig_atomic_t *interrupted; /* may be NULL */
	volatile sig_atomic_t *asked; /* when set: calls tell() soon and clears it; may be NULL */
	struct time_span events;      /* write events.csv for this time; needs a directory */
	/* Record a timeline of this time (timeline.h), which the caller writes; needs packets. */
	struct time_span timeline;
	bool why; /* write why.csv; needs a directory and packets */
};

/* Runs a checked scenario to its end; run/simulation_state.h has the parts of the result. NULL and
 * *error (caller frees) if the fluid model cannot start or a table cannot be opened. The scenario
 * must outlive the result, which the caller frees. */
struct simulation *simulation_run(const struct scenario *scenario,
				  const struct simulation_options *options, char **error);
void simulation_free(struct simulation *simulation);

/* Whether the run has ended by itself before all work that it waits for was done. */
bool simulation_unfinished(const struct simulation *simulation);
uint64_t simulation_digest(const struct simulation *simulation);
uint64_t simulation_events(const struct simulation *simulation); /* samples not counted */

/* Prints which jobs, flows and connections wait now, and for what. */
void simulation_waiting(const struct simulation *simulation, FILE *to);

/* Prints the first violation and, if work was left, simulation_waiting(). */
void simulation_report(const struct simulation *simulation, FILE *to);

#endif
