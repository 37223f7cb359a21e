/* The reference of a scenario: the stored results of a run, with which later runs are compared.
 * DIR/NAME.json has the digest, the summary, the resolved scenario and the reasons of all changes;
 * DIR/NAME.events has the fingerprints of the events. Formats: traces/reference/README.md. */
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
	uint16_t *prints; /* fingerprint_count(events) fingerprints; owned */
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
	REFERENCE_BAD,     /* a file cannot be read or is wrong; only the members that were read
			    * before the mistake are filled in */
};

/* Reads both files. *error (caller frees) says what is wrong or missing. Release the reference in
 * any case. */
enum reference_state reference_read(const char *dir, const char *name, struct reference *reference,
				    char **error);
void reference_release(struct reference *reference);

/* Returns the text of NAME.json for `run` (caller frees). Its history is that of `before`, or empty
 * if `before` is NULL, followed by `reason`. */
char *reference_text(const struct reference_run *run, const struct reference *before,
		     const struct reference_reason *reason);

/* Returns the content of NAME.events, *length bytes (caller frees). */
char *reference_prints(const struct reference_run *run, size_t *length);

/* Writes DIR/NAME plus suffix (".json"), whole or not at all. False and *error (caller frees) on
 * failure. */
bool reference_write(const char *dir, const char *name, const char *suffix, const char *content,
		     size_t length, char **error);

#endif
