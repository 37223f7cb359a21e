/* The inside of a run, for its results, the manifest, `regress` and model tests. */
#ifndef INASIM_RUN_SIMULATION_STATE_H
#define INASIM_RUN_SIMULATION_STATE_H

#include "core/observe.h"
#include "core/repeat.h"
#include "fluid/collective.h"
#include "run/series.h"
#include "run/simulation.h"
#include "why/why.h"

/* What iterations of jobs of one name were spent on (--why). */
struct why_spent {
	double workers; /* times that a worker ended an iteration */
	double cause_s[WHY_CAUSES];
};

/* Numbers of the run's own events of SIM_CONTROL (sim_key()). They are above those of flows and
 * jobs, the largest of which is 1 << 40. */
#define CONTROL_LIMIT      (UINT64_C(1) << 41)
#define CONTROL_WINDOW_END (UINT64_C(1) << 42)
#define CONTROL_FAILURES   (UINT64_C(1) << 43) /* + 2 for each element that may fail (failures.c) */
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
	struct fluid *fluid; /* NULL = packets */
	struct fluid_scheme fluid_schemes[SCHEMES_MAX];
	struct scheme_run runs[SCHEMES_MAX]; /* what jobs call: a scheme or its fluid_scheme */
	struct jobs *jobs;
	struct flows *flows;
	struct failures *failures; /* NULL = nothing fails */
	enum end_reason end;
	bool limit_reached;
	double cpu_s, wall_s;
	unsigned threads;        /* in which it runs or ran */
	const char *why_threads; /* why these are fewer than asked for; NULL = they are not */

	struct timer limit, window_end;
	struct series *series; /* NULL = none wanted */
	struct out_table *links, *aggregators;

	struct repeat repeat;          /* skips periods that repeat (run/fast_forward.h) */
	struct sim_observer *observer; /* the first; NULL = none; not owned */
	struct timeline *timeline;     /* NULL = none wanted; owned */
	/* By group of jobs; groups of one name count in the first. NULL = no --why; owned. */
	struct why_spent *spent;
};

/* Whether anything can still happen besides samples and the time limit; always true if the time
 * limit is the planned end. Periodic samples stop when it is false. */
bool simulation_moves(const struct simulation *simulation);

/* Builds as simulation_run() does, but does not run: for `regress`, and tests that look inside. */
struct simulation *simulation_build(const struct scenario *scenario, struct out_dir *dir,
				    char **error);
/* Divides the run into `count` partitions (core/parts.h), but no more than there are pods. They run
 * in `threads` threads; results stay the same. Returns the number of partitions, which is 1 if
 * something acts across partitions. Call it before simulation_go(), which cuts large networks
 * itself. */
unsigned simulation_cut(struct simulation *simulation, unsigned count, unsigned threads);
/* Adds an observer behind the former ones. Call it before simulation_go(); the observer must live
 * until that returns. */
void simulation_observe(struct simulation *simulation, struct sim_observer *observer);
/* Runs to the end. */
void simulation_go(struct simulation *simulation, const struct simulation_options *options);

/* Bytes on the wire that a link has carried so far, with preamble and gap if these count. In a
 * fluid run a transfer counts when it ends; at the end of the run all that was carried counts. */
double simulation_carried(const struct simulation *simulation, uint32_t link);

/* The memories of switches that a scheme uses: returns their number and sets *list to the first
 * (not owned). 0 if the scheme is not in the run or has none; *list is then unchanged. */
size_t simulation_memory(const struct simulation *simulation, unsigned scheme,
			 const struct collective_memory **list);

#endif
