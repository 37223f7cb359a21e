/* Runs one point of a sweep: in a process of its own, under limits, with a record
 * of how it ended (record.h).
 *
 * The kernel does what there is to supervise: it ends a child that takes too long
 * or too much, ends it with the process that waits for it, and gives up the lock of
 * a point whose processes are gone. A point that was killed leaves no record and is
 * missing; the next attempt removes what it had written. */
#ifndef INASIM_LAB_SWEEP_POINT_H
#define INASIM_LAB_SWEEP_POINT_H

#include "lab/sweep/record.h"

struct point_order {
	const char *folder; /* DIR/points; exists */
	uint64_t hash;
	sim_time time_limit; /* wall time; 0 = none */
	bytes memory_limit;  /* of private writable memory; 0 = none */
	bool force;          /* run whatever the record says */
	const char *version, *commit;
	/* In a child process: runs the point, its results into the directory `out`.
	 * Returns the exit code. */
	int (*simulate)(void *owner, const char *out);
	void *owner;
};

enum point_end {
	POINT_RAN,
	POINT_KEPT,   /* the record says that it is not to be run */
	POINT_BUSY,   /* somebody else is at it: *words says who */
	POINT_FAILED, /* the sweep directory cannot be written: *words says why */
};

/* Fills in the record (initialised by the caller, who also frees *words). */
enum point_end point_run(const struct point_order *order, struct point_record *record,
			 char **words);

/* Reads the record of a point into an initialised record. Where it promises results
 * that are not there, the point is missing. */
void point_read_record(const char *folder, uint64_t hash, struct point_record *record);

/* Who runs a point now (caller frees), and since how many seconds; NULL: nobody, or the file system
 * has no locks to tell it by. */
char *point_runs(const char *folder, uint64_t hash, double *seconds);

/* FOLDER/HASH and what is behind it, such as ".json"; the caller frees. */
char *point_path(const char *folder, uint64_t hash, const char *suffix);

#endif
