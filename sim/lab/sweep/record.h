/* How a point of a sweep ended: DIR/points/HASH.json.
 *
 * A record is written when a point has ended, whatever happened, and replaced as
 * a whole: a reader sees the former one or the new one. It is not forced to disk;
 * what a crash of the machine leaves unreadable counts as missing. */
#ifndef INASIM_LAB_SWEEP_RECORD_H
#define INASIM_LAB_SWEEP_RECORD_H

#include "base/types.h"

#include <stdbool.h>
#include <stddef.h>

enum point_status {
	POINT_MISSING, /* not run yet: there is no record */
	POINT_DONE,
	POINT_UNFINISHED,
	POINT_INVALID,
	POINT_VIOLATED,
	POINT_IO,
	POINT_TIMEOUT,
	POINT_MEMORY,
	POINT_KILLED,
	POINT_STATUSES,
};
extern const char *const point_status_names[POINT_STATUSES];

struct point_record {
	enum point_status status;
	int exit_code;        /* -1: ended by a signal */
	int signal;           /* 0: none */
	uint64_t attempts;    /* whose end was seen, this one included */
	double wall_s, cpu_s; /* of the last attempt */
	uint64_t peak_rss_bytes;
	sim_time time_limit; /* in force; 0 = none */
	bytes memory_limit;
	char *host, *version, *commit; /* owned; "" when unknown */
	char *message;                 /* one line: why it is not done */
};

/* A record without a point: status missing. */
void record_init(struct point_record *record);
void record_release(struct point_record *record);

/* Reads DIR/points/HASH.json into an initialised record; without a readable file
 * the status is missing. */
void record_read(struct point_record *record, const char *path);

/* False: see errno. */
bool record_write(const struct point_record *record, const char *path);

/* Whether a point that ended so is to be run (again): sim/lab/README.md. */
bool record_wants_run(const struct point_record *record, sim_time time_limit, bytes memory_limit);

/* It has a result directory with numbers that count. */
bool record_is_usable(const struct point_record *record);

/* The exit code of a run that ended so: 4 when it was cut short by a limit; as a
 * shell gives it, 128 + signal, when it was killed. */
int record_exit_code(const struct point_record *record);

#endif
