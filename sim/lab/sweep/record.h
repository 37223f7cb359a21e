/* How a point of a sweep ended: DIR/points/HASH.json.
 *
 * A record is written when a point has ended, in any way. It is replaced as a whole: a reader sees
 * the old record or the new one. It is not forced to disk: after a crash of the machine it may be
 * unreadable, and the point then counts as missing. */
#ifndef INASIM_LAB_SWEEP_RECORD_H
#define INASIM_LAB_SWEEP_RECORD_H

#include "base/types.h"

#include <stdbool.h>

/* sim/cli/README.md says what each status means. */
enum point_status {
	POINT_MISSING, /* not run yet: there is no record */
	POINT_DONE,
	POINT_SUBSTITUTED,
	POINT_UNFINISHED,
	POINT_REFUSED,
	POINT_INVALID,
	POINT_VIOLATED,
	POINT_IO,
	POINT_TIMEOUT,
	POINT_MEMORY,
	POINT_KILLED,
	POINT_STATUSES,
};
extern const char *const point_status_names[POINT_STATUSES];

/* Whether all work of a point is done, be it by another scheme than the one asked for; and whether
 * it has results to evaluate, which unfinished points have, too. */
bool point_status_is_done(enum point_status status);
bool point_status_is_usable(enum point_status status);

/* What a point may use; 0 means no limit. */
struct point_limits {
	sim_time time; /* CPU time */
	bytes memory;  /* private writable memory */
};

struct point_record {
	enum point_status status;
	int exit_code;        /* -1: ended by a signal, or never run */
	int signal;           /* that ended it; 0 if none did */
	uint64_t attempts;    /* attempts whose end was recorded, including the last */
	double wall_s, cpu_s; /* of the last attempt */
	uint64_t peak_rss_bytes;
	struct point_limits limits;    /* under which the last attempt ran */
	char *host, *version, *commit; /* owned; "" when unknown */
	char *message;                 /* owned; why the point is not done, in one line */
};

/* Initialises the record of a point that has not run. */
void record_init(struct point_record *record);
void record_release(struct point_record *record);

/* Reads DIR/points/HASH.json into an initialised record. If the file cannot be read, the record
 * stays as it is. */
void record_read(struct point_record *record, const char *path);

/* False with errno on failure. */
bool record_write(const struct point_record *record, const char *path);

/* Whether the point should run (again) under these limits; sim/cli/README.md has the rules. */
bool record_wants_run(const struct point_record *record, const struct point_limits *limits);

/* The exit code that `sweep run` gives for the point: that of its run; 4 if it has not run or a
 * limit cut it short; 128 + signal, as in a shell, if a signal ended it; 1 after other crashes. */
int record_exit_code(const struct point_record *record);

#endif
