/* Runs one point of a sweep in its own process, under limits, and records how it ended (record.h).
 *
 * The kernel supervises: it limits the child's time and memory, ends a child whose parent has died,
 * and unlocks a point whose processes are gone. If this process dies with its child, the point has
 * no record and counts as missing; the next attempt removes what was written. */
#ifndef INASIM_LAB_SWEEP_POINT_H
#define INASIM_LAB_SWEEP_POINT_H

#include "lab/sweep/record.h"

struct point_order {
	const char *folder; /* DIR/points; exists */
	uint64_t hash;
	struct point_limits limits;
	bool force; /* run the point whatever its record says */
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
	POINT_FAILED, /* no process can be started, or no file written: *words says why */
};

/* Runs the point if record_wants_run() or `force`. Fills in the record, which the caller has
 * initialised. The caller frees *words. */
enum point_end point_run(const struct point_order *order, struct point_record *record,
			 char **words);

/* Reads the record of a point into an initialised record. If the results that it promises are not
 * there, its status becomes POINT_MISSING. */
void point_read_record(const char *folder, uint64_t hash, struct point_record *record);

/* Returns which host and process run a point now (caller frees), and sets *seconds to how long they
 * have. NULL if nobody does, or if the file system has no locks. */
char *point_runs(const char *folder, uint64_t hash, double *seconds);

/* FOLDER/HASH with a suffix such as ".json". The caller frees. */
char *point_path(const char *folder, uint64_t hash, const char *suffix);

#endif
