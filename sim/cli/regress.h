/* The inside of the verb regress: one scenario held against its reference, in a
 * process of its own. */
#ifndef INASIM_CLI_REGRESS_H
#define INASIM_CLI_REGRESS_H

#include "cli/cli.h"
#include "run/event_log.h"
#include "run/simulation_state.h"
#include "lab/regress/reference.h"
#include "lab/regress/regress_index.h"
#include "lab/regress/field_diff.h"

/* --- a run (regress_run.c) --- */

struct regress_run {
	const struct regress_entry *entry;
	struct scenario scenario;
	struct conf_doc *doc;
	struct simulation *s;
	cJSON *summary, *resolved; /* after regress_run_go() */
};

/* Loads and builds. EXIT_DONE, or another code and *error (caller frees). */
int regress_run_build(struct regress_run *run, const struct regress_entry *entry, char **error);
/* To its end, which is kept in `summary`. */
void regress_run_go(struct regress_run *run);
void regress_run_release(struct regress_run *run);

/* --set and --seed of an entry; the caller frees the array, each pointer and value. */
struct conf_override *regress_overrides(const struct regress_entry *entry, size_t *count);
void regress_overrides_free(struct conf_override *overrides, size_t count);

/* --- the first event that differs (regress_locate.c) --- */

struct event_words {
	uint64_t number;
	char time_s[32], class[16], entity[EVENT_TEXT], what[EVENT_TEXT];
};

struct first_event {
	bool found;               /* else the run is over before it differs */
	uint64_t first, last;     /* it is one of these events; equal: it is known */
	sim_time before, at;      /* times of the event before `first`, and of `last` */
	struct event_words words; /* of event `first`; of the last event if not found */
};

/* Runs the scenario once more, event by event, until the fingerprints differ. */
int regress_locate(const struct regress_entry *entry, const struct reference *reference,
		   struct first_event *first, char **error);

/* --- one scenario (regress_case.c) --- */

struct regress_case {
	const struct regress_index *index;
	const struct regress_entry *entry;
	const char *dir;
	bool json;
	const struct reference_reason *reason; /* NULL: compare only */
	FILE *report;                          /* where the verdict goes */
	FILE *text, *prints;                   /* --update: where the new reference goes */
};

/* Runs, compares, says what differs. EXIT_DONE: the same; EXIT_DIFFERS: not, or
 * there is no reference; other codes: it could not be compared. */
int regress_case(const struct regress_case *job);

#endif
