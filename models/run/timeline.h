/* Part of a run as a timeline in Perfetto's format (timeline.pftrace): workers, switches, the links
 * of output.series.links, flows and failures. */
#ifndef INASIM_RUN_TIMELINE_H
#define INASIM_RUN_TIMELINE_H

#include "run/simulation.h"

#define TIMELINE_FILE  "timeline.pftrace"
#define TIMELINE_PAGE  "timeline.html" /* shows it, in any browser */
#define TIMELINE_MAX   (64 << 20)      /* bytes; later events are counted, not written */
#define TIMELINE_RANKS 512 /* of all jobs that have tracks; those of later ones are counted */

struct timeline_left_out {
	uint64_t events; /* beyond TIMELINE_MAX */
	uint32_t ranks;  /* beyond TIMELINE_RANKS */
};

struct timeline;

/* Makes a simulation record `span`; call it between simulation_build() and simulation_go(). The
 * timeline listens to models/why, so why_table_open() must come first. */
struct timeline *timeline_open(struct simulation *simulation, const struct time_span *span);

/* Ends open slices after the run. */
void timeline_close(struct timeline *timeline);

/* Writes the file and the page, and says what is not in them. False and *error (caller frees) on
 * failure. */
bool timeline_write(const struct timeline *timeline, struct out_dir *dir,
		    struct timeline_left_out *left_out, char **error);
void timeline_free(struct timeline *timeline);

#endif
