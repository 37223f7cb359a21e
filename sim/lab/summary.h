/* The numbers of one run, each by its path: "jobs.jct_s.mean" is the member
 * "mean" of "jct_s" of "jobs" in summary.json, "flows.by_size.0.count" goes
 * through an array. Numbers that depend on the machine are left out. */
#ifndef INASIM_LAB_SUMMARY_H
#define INASIM_LAB_SUMMARY_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct summary_number {
	char *name;
	double value; /* NaN for null: the run has no such number */
};

struct summary {
	struct summary_number *numbers; /* in the order of the file */
	size_t count, capacity;
};

/* Takes the numbers of a parsed summary.json, without texts and flags. */
void summary_init(struct summary *summary, const cJSON *root);
void summary_release(struct summary *summary);

/* Prints a line "LEAD: TEXT" for each of its "warnings", without control characters. */
void summary_print_warnings(const cJSON *root, const char *lead, FILE *to);

/* Whether this member of summary.json depends on the machine rather than the run. */
bool summary_is_of_machine(const char *name);

/* SIZE_MAX if there is none of this name. */
size_t summary_find(const struct summary *summary, const char *name);
double summary_value(const struct summary *summary, const char *name); /* NaN */

#endif
