/* Private to the verb regress. lab/regress has the format of references and finds differences.
 * regress.c starts a process for each scenario; regress_case.c is what such a process does. */
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
	FILE *report;                          /* the verdict is written here */
	FILE *text, *prints;                   /* --update: the new NAME.json and NAME.events */
};

/* Runs a scenario, compares it with its reference, and reports what differs. EXIT_DONE: nothing
 * does. EXIT_DIFFERS: something does, or there is no reference; with a reason, the new reference is
 * then in `text` and `prints`. Other codes: they could not be compared. */
int regress_case(const struct regress_case *job);

#endif
