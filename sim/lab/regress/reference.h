/* What a run of a scenario was, to hold later runs against: DIR/NAME.json with digest, summary and
 * the reasons of all changes, DIR/NAME.events with the fingerprints of its events. Formats:
 * traces/reference/README.md. */
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
	uint16_t *prints; /* fingerprint_count(events) of them */
};

/* A run, as it is to be written. */
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
	REFERENCE_BAD,     /* one of the files cannot be read or is not right; members found right
			    * are filled in, the others are NULL */
};

/* Reads both files. *error (caller frees) says what is wrong or missing. Release the reference in
 * any case. */
enum reference_state reference_read(const char *dir, const char *name, struct reference *reference,
				    char **error);
void reference_release(struct reference *reference);

/* The text of NAME.json (caller frees): `run` with the history of `before` (may be NULL) and one
 * more reason. */
char *reference_text(const struct reference_run *run, const struct reference *before,
		     const struct reference_reason *reason);

/* The content of NAME.events (caller frees). */
char *reference_prints(const struct reference_run *run, size_t *length);

/* Writes DIR/NAME with that suffix, all of it or nothing. False and *error (caller frees). */
bool reference_write(const char *dir, const char *name, const char *suffix, const char *content,
		     size_t length, char **error);

#endif
