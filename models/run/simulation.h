/* One packet-level run: builds everything from a scenario, runs it, checks what
 * must hold, and writes the result tables. */
#ifndef INASIM_RUN_SIMULATION_H
#define INASIM_RUN_SIMULATION_H

#include "core/sim.h"
#include "io/table.h"
#include "run/scenario.h"

#include <signal.h>

enum end_reason {
	END_ALL_DONE,
	END_JOBS_DONE,
	END_FLOWS_DONE,
	END_TIME,       /* the planned end */
	END_TIME_LIMIT, /* work was left */
	END_DEADLOCK,   /* work was left, and nothing could happen any more: since sim.now */
	END_INTERRUPTED,
	END_VIOLATION,
	END_MEASURED_DONE,
};
extern const char *const end_reason_names[];

struct simulation_progress {
	double done; /* 0..1, by the better known of jobs and time */
	sim_time now;
	uint64_t events;
	double wall_s;
};

struct simulation_options {
	struct out_dir *dir; /* NULL = no tables; not owned */
	void (*progress)(
		void *owner,
		const struct simulation_progress *progress); /* a few times a second; may be NULL */
	void *owner;
	const volatile sig_atomic_t *interrupted; /* may be NULL */
	bool log_events;                          /* into events.csv; needs a directory ... */
	sim_time log_from, log_to;                /* ... those of these times, both included */
	bool why; /* into why.csv; needs a directory and packets; not with log_events */
};

struct simulation; /* what ran; its parts are in run/simulation_state.h */

/* Runs a checked scenario to its end. NULL and *error (caller frees) when an
 * input file is not right or a table cannot be opened. The scenario must
 * outlive the result, which the caller frees. */
struct simulation *simulation_run(const struct scenario *scenario, const char *path,
				  const struct simulation_options *options, char **error);
void simulation_free(struct simulation *simulation);

enum end_reason simulation_end(const struct simulation *simulation);
bool simulation_unfinished(
	const struct simulation *simulation); /* work was left that should have ended */
uint64_t simulation_digest(const struct simulation *simulation);
uint64_t simulation_events(const struct simulation *simulation); /* samples not counted */

/* The report of who waits for what, and of the first violation. */
void simulation_report(const struct simulation *simulation, FILE *to);

#endif
