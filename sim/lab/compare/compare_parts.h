/* Shared by compare*.c only. compare_runs.c and compare_sweeps.c make a comparison, a list of rows,
 * and compare_report.c prints it. */
#ifndef INASIM_LAB_COMPARE_COMPARE_PARTS_H
#define INASIM_LAB_COMPARE_COMPARE_PARTS_H

#include "data/grid.h"
#include "data/json.h"
#include "lab/compare/compare.h"

#include <stdint.h>

/* Adds a row with NULL labels and NaN estimates. The pointer is valid until the next row is
 * added. */
struct compare_row *comparison_add(struct comparison *comparison, const char *metric);

/* Whether some row has two replications or more to compare: else all verdicts are the same. */
bool comparison_replicated(const struct comparison *comparison);

/* Prints a block of rows for each metric: compare_report.c as text, and compare_table.c for print
 * or with the values of an axis as columns. */
void comparison_print(const struct comparison *comparison, FILE *to);
void comparison_print_table(const struct comparison *comparison, FILE *to);

/* Add cells: "2/3", empty unless `known`; what a ratio is over. */
void comparison_add_part(struct grid *grid, uint64_t part, uint64_t whole, bool known);
void comparison_add_basis(struct grid *grid, const struct compare_row *row);

/* NULL, or that no label has the name `pivot` (caller frees). */
char *comparison_no_pivot(const struct comparison *comparison);

/* Takes the ratio and difference of a row if its value or the baseline's is one over survivors.
 * What both sides have in common is the same work, so its ratio stays. */
void comparison_withhold(struct compare_row *row, bool baseline_partial);

/* Prints what the marks of values mean, if there are any. */
void comparison_print_marks(const struct comparison *comparison, FILE *to);

/* Whether any row has work that did not finish. */
bool comparison_has_unfinished(const struct comparison *comparison);

/* Prints which rows leave the tolerance, and returns how many do; with tolerance NaN none does. */
size_t comparison_outside(const struct comparison *comparison, double tolerance, FILE *to);

/* Write the comparison as JSON. Between the two calls the caller adds what is compared. The second
 * prints everything to `to` and returns how many rows leave the tolerance. */
void comparison_json_begin(struct json *json, const char *kind);
size_t comparison_json_end(struct json *json, const struct comparison *comparison, double tolerance,
			   FILE *to);

/* Whether `owner` (runs or sweeps) knows a metric, and has a value of it. */
enum compare_has { METRIC_UNKNOWN, METRIC_EMPTY, METRIC_PRESENT };
typedef enum compare_has compare_has(const void *owner, const char *metric);

/* Fills in the metrics to compare: those asked for, else the usual ones that have a value. False
 * and *error (caller frees) if one is not `known`, or none is left. The caller frees the items. */
bool compare_metrics(struct names *metrics, const struct names *asked, compare_has *has,
		     const void *owner, const struct names *usual, const struct names *known,
		     char **error);

/* Do the same as compare(), for directories that are all runs, or all sweeps. */
enum compare_end compare_runs(const char *const *dirs, size_t count,
			      const struct compare_options *options, FILE *to, char **error);
enum compare_end compare_sweeps(const char *const *dirs, size_t count,
				const struct compare_options *options, FILE *to, char **error);

/* Names a directory: by the user's label or its folder or, of the index-th run or sweep, "A", "B",
 * ..., "Z", "R27". The caller frees. */
char *compare_name(const char *const *dirs, size_t count, const struct compare_options *options,
		   size_t dir, size_t index);
/* NULL, or that labels are not one for each of `count` directories (caller frees). */
char *compare_labels_unfit(size_t count, const struct compare_options *options);

#endif
