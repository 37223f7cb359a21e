/* The inside of the verb regress: one scenario held against its reference, in a process of its
 * own. What a reference is, and what differs, lab/regress says; here is what runs scenarios:
 * regress.c starts the processes and writes CHANGES.md, regress_case.c is one of them. */
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
	FILE *text, *prints;                   /* --update: where the new reference goes */
};

/* Runs, compares, says what differs. EXIT_DONE: the same; EXIT_DIFFERS: not, or there is no
 * reference; other codes: it could not be compared. */
int regress_case(const struct regress_case *job);

#endif
