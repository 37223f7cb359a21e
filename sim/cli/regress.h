/* The inside of the verb regress. lab/regress has the format of references and finds what differs;
 * here scenarios are run: regress.c starts a process for each and writes CHANGES.md, regress_case.c
 * is what such a process does. */
#ifndef INASIM_CLI_REGRESS_H
#define INASIM_CLI_REGRESS_H

#include "cli/cli.h"
#include "lab/regress/reference.h"
#include "lab/regress/regress_index.h"

struct regress_case {
	const struct regress_index *index;
	const struct regress_entry *entry;
	const char *dir;
	bool json;
	const struct reference_reason *reason; /* NULL: compare only */
	FILE *report;                          /* where the verdict goes */
	FILE *text, *prints;                   /* --update: the new NAME.json and NAME.events */
};

/* Runs, compares, says what differs. EXIT_DONE: nothing does. EXIT_DIFFERS: something does, or
 * there is no reference; with a reason, the new reference is then in `text` and `prints`. Other
 * codes: it could not be compared. */
int regress_case(const struct regress_case *job);

#endif
