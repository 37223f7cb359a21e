/* The numbers of one run, each by its path. "jobs.jct_s.mean" is member "mean" of "jct_s" of "jobs"
 * in summary.json; "flows.by_size.0.count" goes through an array. Numbers that depend on the
 * machine are left out. */
#ifndef INASIM_LAB_SUMMARY_H
#define INASIM_LAB_SUMMARY_H

#include "lab/names.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct summary_number {
	char *name;
	double value; /* NaN for null: the run has no such number */
};

struct summary {
	cJSON *root;                    /* the whole file; owned, like the members below */
	struct summary_number *numbers; /* in the order of the file */
	size_t count, capacity;
};

/* Reads DIR/summary.json. Texts and flags of the file are in `root` only, not in `numbers`. False
 * and *error (caller frees) on failure. Release the summary in any case. */
bool summary_read(struct summary *summary, const char *dir, char **error);
void summary_release(struct summary *summary);

/* What who reads the numbers should know: the warnings of a run, and "not as configured: TEXT" for
 * jobs that ran as something else (`ran_as`). NULL ends the list, which the caller frees. */
char **summary_warnings(const struct summary *summary);
void summary_warnings_free(char **warnings);

/* Prints a line "LEAD: TEXT" for each of them, without control characters. */
void summary_print_warnings(const struct summary *summary, const char *lead, FILE *to);

/* Whether the run came to the end that its scenario plans, so that nothing was left or refused. */
bool summary_is_complete(const struct summary *summary);

/* Adds the metrics that are shown when the user names none. Metrics of jobs and iterations, which
 * are means over all jobs, are added only if the jobs are alike. */
void summary_usual(struct names *names, bool jobs_alike);

/* Whether this member of summary.json depends on the machine rather than the run. */
bool summary_is_of_machine(const char *name);

/* The index of the number with this name; SIZE_MAX if there is none. */
size_t summary_find(const struct summary *summary, const char *name);

/* The value of the number with this name; NaN if there is none or the file has null. */
double summary_value(const struct summary *summary, const char *name);

/* Adds the names of all numbers of the form BEGIN GROUP END ("jobs.by_name.", any group,
 * ".jct_s.mean") that are not in `names` yet. The summary owns the added names. */
void summary_groups(const struct summary *summary, const char *begin, const char *end,
		    struct names *names);

#endif
