/* Runs one point of a sweep in its own process, under limits, and records how it ended (record.h).
 *
 * The kernel supervises: it ends a child that takes too much time or memory, or whose parent died,
 * and gives up the lock of a point whose processes are gone. A point that was killed leaves no
 * record and counts as missing; the next attempt removes what it had written. */
#ifndef INASIM_LAB_SWEEP_POINT_H
#define INASIM_LAB_SWEEP_POINT_H

#include "lab/sweep/record.h"

struct point_order {
	const char *folder; /* DIR/points; exists */
	uint64_t hash;
	struct point_limits limits;
	bool force; /* run whatever the record says */
	const char *version, *commit;
	/* Called in the child process: runs the point, writes its results into the directory
	 * `out`, and returns the exit code. */
	int (*simulate)(void *owner, const char *out);
	void *owner;
};

enum point_end {
	POINT_RAN,
	POINT_KEPT,   /* its record says that it need not run */
	POINT_BUSY,   /* another process runs it: *words says which */
	POINT_FAILED, /* the sweep directory cannot be written: *words says why */
};

/* Fills in the record (initialised by the caller, who also frees *words). */
enum point_end point_run(const struct point_order *order, struct point_record *record,
			 char **words);

/* Reads the record of a point into an initialised record. If the results that it promises are not
 * there, the point is missing. */
void point_read_record(const char *folder, uint64_t hash, struct point_record *record);

/* Who runs a point now (caller frees), and for how many seconds. NULL: nobody, or the file system
 * has no locks. */
char *point_runs(const char *folder, uint64_t hash, double *seconds);

/* FOLDER/HASH with a suffix such as ".json". The caller frees. */
char *point_path(const char *folder, uint64_t hash, const char *suffix);

#endif
