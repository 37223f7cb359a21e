/* Part of a run as a timeline in Perfetto's format (timeline.pftrace): what each worker spent its
 * time on, switches, the links that output.series.links names, and flows. */
#ifndef INASIM_RUN_TIMELINE_H
#define INASIM_RUN_TIMELINE_H

#include "run/simulation.h"

#define TIMELINE_FILE "timeline.pftrace"
#define TIMELINE_MAX  (64 << 20) /* bytes; later events are left out and counted */

struct timeline;

/* Makes a simulation that was built and not started record `span`. The simulation must have a why
 * (models/why): the timeline listens to it. */
struct timeline *timeline_open(struct simulation *simulation, const struct time_span *span);

/* Ends open slices after the run. */
void timeline_close(struct timeline *timeline);

/* Writes the file, and sets *left_out to the number of events beyond its limit. False and *error
 * (caller frees) on failure. */
bool timeline_write(const struct timeline *timeline, struct out_dir *dir, uint64_t *left_out,
		    char **error);
void timeline_free(struct timeline *timeline);

#endif
