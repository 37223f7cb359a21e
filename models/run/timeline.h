/* A stretch of a run as a timeline in Perfetto's format (timeline.pftrace): what each worker spent
 * its time on, switches, the links that output.series.links names, flows. */
#ifndef INASIM_RUN_TIMELINE_H
#define INASIM_RUN_TIMELINE_H

#include "run/simulation.h"

#define TIMELINE_FILE "timeline.pftrace"
#define TIMELINE_MOST (64 << 20) /* bytes; what comes later is left out, and counted */

struct timeline;

/* Looks on from `from` to `to` when the simulation, built and not started, goes: it has a why
 * already (models/why), which hears of everything. */
struct timeline *timeline_open(struct simulation *simulation, sim_time from, sim_time to);

/* After the run: ends what is open. */
void timeline_close(struct timeline *timeline);

/* Writes it; false and *error (caller frees) on failure. *left_out: events beyond the limit. */
bool timeline_write(const struct timeline *timeline, struct out_dir *dir, uint64_t *left_out,
		    char **error);
void timeline_free(struct timeline *timeline);

#endif
