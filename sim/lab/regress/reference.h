/* The reference of a scenario: what a run gave, for later runs to be compared with. DIR/NAME.json
 * has digest, summary and the reasons of all changes; DIR/NAME.events has the fingerprints of the
 * events. Formats: traces/reference/README.md. */
#ifndef INASIM_LAB_REGRESS_REFERENCE_H
#define INASIM_LAB_REGRESS_REFERENCE_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct reference {
	cJSON *root; /* owns summary, resolved and history */
	const cJSON *summary, *resolved, *history;
	uint64_t digest, events;
	uint16_t *prints; /* fingerprints: fingerprint_count(events) of them; owned */
};

/* A run that becomes a reference. */
struct reference_run {
	const char *name;
	uint64_t digest, events;
	const cJSON *summary, *resolved;
	const uint16_t *prints;
};

/* Why a reference was made or changed. */
struct reference_reason {
	const char *date, *reason, *version, *commit;
};

enum reference_state {
	REFERENCE_READ,
	REFERENCE_MISSING, /* there is no NAME.json */
	REFERENCE_BAD,     /* one of the files cannot be read or is wrong; the members that
			    * were read before the mistake are filled in, the others mean nothing */
};

/* Reads both files. *error (caller frees) says what is wrong or missing. Release the reference in
 * any case. */
enum reference_state reference_read(const char *dir, const char *name, struct reference *reference,
				    char **error);
void reference_release(struct reference *reference);

/* Returns the text of NAME.json (caller frees): `run`, and a history, which is that of `before`
 * (may be NULL) with one more reason. */
char *reference_text(const struct reference_run *run, const struct reference *before,
		     const struct reference_reason *reason);

/* The content of NAME.events (caller frees). */
char *reference_prints(const struct reference_run *run, size_t *length);

/* Writes the file DIR/NAME SUFFIX, whole or not at all. False and *error (caller frees) on
 * failure. */
bool reference_write(const char *dir, const char *name, const char *suffix, const char *content,
		     size_t length, char **error);

#endif
