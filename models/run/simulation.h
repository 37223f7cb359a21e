/* One run: builds everything from a scenario, simulates, checks what must hold, and writes the
 * result tables. */
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
	END_DEADLOCK,   /* work was left, but after sim.now nothing could happen any more */
	END_INTERRUPTED,
	END_VIOLATION,
	END_MEASURED_DONE,
	END_ESTIMATED, /* the end of the job is an estimate (stop.estimate) */
	END_FAILED,    /* all that the run waits for is done, except what failures have ended */
};
extern const char *const end_reason_names[];

struct simulation;

/* The state of a run while it goes on. */
struct simulation_progress {
	double done; /* 0 to 1: the fraction of what the run waits for that is done */
	bool limit;  /* `done` is simulated time over the time limit, because that is more */
	double iterations, of_iterations; /* of all jobs: finished, and in total */
	uint64_t flows, of_flows;         /* finished, of those that have started */
	sim_time now;
	sim_time stalled; /* SIMULATION_STALLED: since when */
	double wall_s;
};
enum simulation_news {
	SIMULATION_GOES_ON, /* told a few times a second */
	SIMULATION_ASKED,   /* *asked was set */
	SIMULATION_STALLED, /* no job has made progress for long (jobs_stalled()); told once */
	SIMULATION_THREADS, /* fewer threads run than were asked for; told at the beginning */
};

/* A part of a run, both ends included. */
struct time_span {
	bool given; /* false: nobody asked for a part */
	sim_time from, to;
};
static inline bool time_span_has(const struct time_span *span, sim_time at)
{
	return at >= span->from && at <= span->to;
}

struct simulation_options {
	struct out_dir *dir;  /* NULL = no tables; not owned */
	unsigned threads;     /* 0 counts as 1; results do not depend on it */
	bool no_fast_forward; /* simulate what repeats, too (run/fast_forward.h); same results */
	/* May be NULL. */
	void (*tell)(void *owner, enum simulation_news news, const struct simulation *simulation,
		     const struct simulation_progress *progress);
	void *owner;
	const volatile sig_atomic_t *interrupted; /* may be NULL */
	volatile sig_atomic_t *asked; /* when set: tell at once and clear it; may be NULL */
	struct time_span events;      /* write events.csv of this time; needs a directory */
	/* Make a timeline of this time (run/timeline.h), which the caller writes; needs packets. */
	struct time_span timeline;
	bool why; /* write why.csv; needs a directory and packets */
};

/* Returns the key of a packet scenario that rules out `why` and timelines; NULL = both are
 * possible. Such a key adds time that shows in no packet: inside a machine, or until the end of a
 * cycle. */
const char *simulation_no_why(const struct scenario *scenario);

/* Runs a checked scenario to its end; run/simulation_state.h has the parts of the result. NULL and
 * *error (caller frees) if streams cannot be simulated or a table cannot be opened. The scenario
 * must outlive the result, which the caller frees. */
struct simulation *simulation_run(const struct scenario *scenario,
				  const struct simulation_options *options, char **error);
void simulation_free(struct simulation *simulation);

/* Whether work was left that should have ended. */
bool simulation_unfinished(const struct simulation *simulation);
uint64_t simulation_digest(const struct simulation *simulation);
uint64_t simulation_events(const struct simulation *simulation); /* samples not counted */

/* Prints who waits for what now. */
void simulation_waiting(const struct simulation *simulation, FILE *to);

/* Prints the first violation and, if work was left, who waits for what. */
void simulation_report(const struct simulation *simulation, FILE *to);

#endif
