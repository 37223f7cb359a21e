/* A run from the inside: for its results, the manifest, `regress` and model tests. */
#ifndef INASIM_RUN_SIMULATION_PARTS_H
#define INASIM_RUN_SIMULATION_PARTS_H

#include "core/observe.h"
#include "fluid/collective.h"
#include "run/series.h"
#include "run/simulation.h"
#include "why/why.h"

/* With --why: what iterations of the jobs of a name were spent on. */
struct why_spent {
	double workers; /* that ended an iteration, each time */
	double cause_s[WHY_CAUSES];
};

struct simulation {
	const struct scenario *scenario;
	const char *path;
	struct sim sim;
	struct topology topo;
	struct checks checks;
	struct tcp *tcp;
	struct roce *roce;
	struct reducers reducers;
	void *schemes[SCHEMES_MAX];
	struct fluid *fluid; /* NULL = packets */
	struct fluid_scheme fluid_schemes[SCHEMES_MAX];
	struct scheme_run runs[SCHEMES_MAX]; /* for the jobs */
	struct jobs *jobs;
	struct flows *flows;
	enum end_reason end;
	bool limit_reached;
	double cpu_s, wall_s;

	struct timer limit, window_end;
	struct series *series; /* NULL = none wanted */
	struct out_table *links, *aggregators;

	const struct sim_observer *observer; /* NULL = nobody looks on; not owned */
	struct timeline *timeline;           /* NULL = none wanted; owned */
	struct why_spent *spent; /* by group of jobs, the first of its name; NULL = no --why */
};

/* Whether anything can still happen, looks and the time limit apart; always where that time is
 * what was asked for. Looks that come again and again ask this, and end when nothing can. */
bool simulation_moves(const struct simulation *simulation);

/* Builds without running; for tests that look inside. As simulation_run(). */
struct simulation *simulation_build(const struct scenario *scenario, const char *path,
				    struct out_dir *dir, char **error);
/* Runs in `count` partitions (core/parts.h), or as many as there are pods; the results are the
 * same. Returns how many: 1 where something acts across them. Before simulation_go(), which cuts
 * large networks itself. */
unsigned simulation_cut(struct simulation *simulation, unsigned count);
/* Runs what was built until its end. */
void simulation_go(struct simulation *simulation, const struct simulation_options *options);

/* Bytes on the wire, preamble and gap included where they are counted, that a link has been sent so
 * far; in a fluid run, of transfers that have ended, at its end of all. */
double simulation_carried(const struct simulation *simulation, uint32_t link);

/* The memories of switches that a scheme uses: their number, and the first in *list (not owned).
 * 0 where the scheme is not in the run or has none; *list is then as it was. */
size_t simulation_memory(const struct simulation *simulation, unsigned scheme,
			 const struct collective_memory **list);

#endif
