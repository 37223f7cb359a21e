/* A timeline in Perfetto's trace format (perfetto.proto), made in memory. Times are simulated time.
 * The format counts in nanoseconds, so slices carry their length in picoseconds as an annotation.
 * Once the timeline has max_bytes, further events are left out and counted. */
#ifndef INASIM_DATA_TRACE_H
#define INASIM_DATA_TRACE_H

#include "base/types.h"

#include <stdbool.h>
#include <stddef.h>

struct trace;

struct trace *trace_new(size_t max_bytes);
void trace_free(struct trace *trace);

/* Makes a track below `parent` (0: at the top) and returns its number. With a `unit` the track
 * shows a counter; if `unit` is NULL, slices and instants. */
uint64_t trace_track(struct trace *trace, uint64_t parent, const char *name, const char *unit);

/* Adds a span of time. Slices of a track are disjoint or nested. */
void trace_slice(struct trace *trace, uint64_t track, const char *name, sim_time begin,
		 sim_time end);

/* An instant, which may be one end of an arrow to another instant. */
struct trace_mark {
	const char *name;
	const char *key; /* shown with `value` beside the name; NULL: neither is */
	uint64_t value;
	uint64_t arrow; /* number of the arrow, from 1; 0 without arrow */
	bool arrives;   /* the arrow ends here; else it begins here */
};
void trace_instant(struct trace *trace, uint64_t track, sim_time at, const struct trace_mark *mark);

/* Sets the value of a counter from `at` on. */
void trace_count(struct trace *trace, uint64_t track, sim_time at, uint64_t value);

/* The bytes so far, owned by the trace, and the number of events left out. */
const void *trace_bytes(const struct trace *trace, size_t *length);
uint64_t trace_left_out(const struct trace *trace);

/* A page of HTML that shows the trace by itself: `template` with base64 of the bytes in place of
 * "@TRACE@", which it must have. The caller frees. */
char *trace_page(const struct trace *trace, const char *template);

#endif
