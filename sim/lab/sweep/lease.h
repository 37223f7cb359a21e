/* Who works on something, told to others on the same file system.
 *
 * A lease is a file that names its holder and is touched now and then. It is over
 * when the holder is known to be gone (same host, no such process) or has not
 * touched it for LEASE_SECONDS by the clock of the file system: so a machine that
 * dies blocks nobody for ever, and no lock of the operating system is needed, which
 * NFS and Lustre do not always give.
 *
 * Two that find the same lease over at the same instant may both take it. So a
 * lease saves work and must not be what correctness rests on: write to names of
 * your own (lease_tag()) and rename. */
#ifndef INASIM_LAB_SWEEP_LEASE_H
#define INASIM_LAB_SWEEP_LEASE_H

#include <stdbool.h>
#include <stdint.h>

#define LEASE_SECONDS 120
#define LEASE_RENEWAL 20 /* touch it at least as often, in seconds */

struct lease {
	char *path; /* of the file */
	char *text; /* what it says while it is ours */
};

/* "HOST-PID", for names of files; the caller frees. */
char *lease_tag(void);

enum lease_end { LEASE_TAKEN, LEASE_BUSY, LEASE_FAILED };

/* What was found in somebody else's lease. */
struct lease_found {
	char *tag;     /* NULL: there was none. The caller frees. */
	uint64_t note; /* a number that its holder left */
};

/* Takes the lease, leaving `note` for the next. TAKEN: `found` tells of a lease
 * that was over. BUSY: of the one that holds. FAILED: see errno. */
enum lease_end lease_take(struct lease *lease, const char *path, uint64_t note,
			  struct lease_found *found);

/* Changes the note. */
void lease_note(struct lease *lease, uint64_t note);

/* Tells others that the holder lives; false when the lease is no longer ours. */
bool lease_renew(const struct lease *lease);

/* Gives it back, if it is still ours, and frees. */
void lease_drop(struct lease *lease);

#endif
