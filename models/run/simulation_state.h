/* The internal state of a run, for results, the manifest, `regress` and model tests. */
#ifndef INASIM_RUN_SIMULATION_STATE_H
#define INASIM_RUN_SIMULATION_STATE_H

#include "core/observe.h"
#include "core/repeat.h"
#include "fluid/collective.h"
#include "run/series.h"
#include "run/simulation.h"
#include "why/why.h"

/* The time that iterations of jobs of one name have spent, by cause (--why). */
struct why_spent {
	double workers; /* number of iterations, counted once per worker */
	double cause_s[WHY_CAUSES];
};

/* Numbers of the run's own events of class SIM_CONTROL (sim_key()). Flows and jobs have numbers up
 * to 1 << 40. */
#define CONTROL_LIMIT      (UINT64_C(1) << 41)
#define CONTROL_WINDOW_END (UINT64_C(1) << 42)
#define CONTROL_FAILURES   (UINT64_C(1) << 43) /* + 2 i and 2 i + 1 for element i (failures.c) */
#define CONTROL_CONTROLLER (UINT64_C(1) << 44)

struct simulation {
	const struct scenario *scenario;
	struct sim sim;
	struct topology topo;
	struct checks checks;
	struct tcp *tcp;
	struct roce *roce;
	struct reducers reducers;
	void *schemes[SCHEMES_MAX];
	struct fluid *fluid; /* NULL: packets are simulated */
	struct fluid_scheme fluid_schemes[SCHEMES_MAX];
	struct scheme_run runs[SCHEMES_MAX]; /* for jobs: a scheme or its fluid_scheme */
	struct jobs *jobs;
	struct flows *flows;
	struct failures *failures; /* NULL: the scenario has none */
	enum end_reason end;
	bool limit_reached;
	bool cut_short; /* by the time limit: something was still to happen */
	bool interrupted;
	double cpu_s, wall_s;
	double began_wall_s, began_cpu_s, told_wall_s; /* by the system's clocks */
	sim_time stalled; /* the begin of the stall that was told last */

	struct timer limit, window_end;
	struct series *series; /* NULL: none */
	struct out_table *links, *aggregators;

	struct repeat repeat;          /* skips repeated periods (run/fast_forward.h) */
	struct sim_observer *observer; /* first of a list, or NULL; not owned */
	struct timeline *timeline;     /* NULL: none; owned */
	/* By group of jobs; groups of one name count in the first. NULL without --why; owned. */
	struct why_spent *spent;
};

/* Whether anything can still happen besides samples and the time limit. Always true if the time
 * limit is the planned end. Periodic samples stop when this is false. */
bool simulation_moves(const struct simulation *simulation);

/* Builds a simulation as simulation_run() does, but does not run it: for `regress` and tests.
 * Errors as simulation_run(). The caller frees. */
struct simulation *simulation_build(const struct scenario *scenario, struct out_dir *dir,
				    char **error);
/* Opens a scheme that no job of the scenario uses, with the scenario's parameters. */
void simulation_open_scheme(struct simulation *simulation, unsigned scheme);
/* Adds an observer at the end of the list. Call it before simulation_go(). The observer must live
 * until simulation_go() returns. */
void simulation_observe(struct simulation *simulation, struct sim_observer *observer);
/* Runs to the end. */
void simulation_go(struct simulation *simulation, const struct simulation_options *options);
/* The parts of simulation_go(), for a run that pauses: begin, advance as long as it has paused,
 * end. A pause is a sim_stop() that is taken back by setting sim.stopped to false.
 * simulation_advance() returns false if the run has stopped or nothing is left to happen. */
void simulation_begin(struct simulation *simulation, const struct simulation_options *options);
bool simulation_advance(struct simulation *simulation, const struct simulation_options *options);
void simulation_end(struct simulation *simulation);

/* Bytes on the wire that a link has carried so far, with preamble and gap if the topology has them.
 * In a fluid run a transfer counts when it ends, or at the end of the run as far as it has come. */
double simulation_carried(const struct simulation *simulation, uint32_t link);

/* The switch memories of a scheme: sets *list (not owned) and returns their number. Returns 0 and
 * leaves *list unchanged if the scheme is not in the run or has no memory. */
size_t simulation_memory(const struct simulation *simulation, unsigned scheme,
			 const struct collective_memory **list);

#endif
