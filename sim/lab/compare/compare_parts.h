/* Shared by compare*.c only. compare_runs.c and compare_sweeps.c make a report, a list of rows, and
 * compare_report.c prints it. */
#ifndef INASIM_LAB_COMPARE_COMPARE_PARTS_H
#define INASIM_LAB_COMPARE_COMPARE_PARTS_H

#include "data/inference.h"
#include "data/json.h"
#include "lab/compare/compare.h"
#include "lab/summary.h"

#include <stdint.h>

/* What a ratio rests on. */
enum compare_basis {
	BASIS_NONE,        /* no ratio: the row is the baseline, or has none */
	BASIS_QUOTIENT,    /* of two numbers */
	BASIS_PAIRS,       /* common random numbers */
	BASIS_INDEPENDENT, /* two samples */
};

struct compare_row {
	const char *metric;
	const char **labels;      /* owned; the strings are not */
	uint64_t finished, count; /* work of a run, points of a group */
	bool has_work;            /* the two above are known */
	bool same;                /* all replications agree in all metrics: no interval */
	struct estimate value;
	double baseline; /* NaN: there is none */
	struct estimate ratio, difference;
	enum compare_basis basis;
	double paired[2]; /* baseline and value of complete pairs, where some pairs are not */
};

struct report {
	const char **label_names; /* owned; the strings are not */
	size_t label_count;
	const char *work_name; /* heading of finished/count */
	bool latex;
	struct compare_row *rows;
	size_t count, capacity;
};

/* A row with labels all NULL and no numbers; valid until the next one. */
struct compare_row *report_add(struct report *report, const char *metric);
void report_release(struct report *report);

/* Prints a block of rows for each metric. */
void report_print(const struct report *report, FILE *to);

/* Whether any row has work that did not finish. */
bool report_has_unfinished(const struct report *report);

/* Prints which rows leave the tolerance, none if it is NaN; returns how many. */
size_t report_outside(const struct report *report, double tolerance, FILE *to);

/* The whole as JSON: what is compared stands between the two. Returns how many rows leave the
 * tolerance. */
void report_json_begin(struct json *json, const char *kind);
size_t report_json_end(struct json *json, const struct report *report, double tolerance, FILE *to);

/* Fills in the metrics to compare: those asked for, else the usual ones that have a value. False
 * and *error when an unknown one is asked for, or none is left. The caller frees metrics->items. */
enum compare_has { METRIC_UNKNOWN, METRIC_EMPTY, METRIC_PRESENT };
typedef enum compare_has compare_has(const void *owner, const char *metric);
bool compare_metrics(struct names *metrics, const struct names *asked, compare_has *has,
		     const void *owner, const struct names *usual, const struct names *known,
		     char **error);
/* The usual ones of runs and of sweeps; without times over all jobs where these are not alike. */
void compare_add_usual(struct names *usual, bool jobs_alike);

/* As compare(), for directories that are all runs, or all sweeps. */
enum compare_end compare_runs(const char *const *dirs, size_t count,
			      const struct compare_options *options, FILE *to, char **error);
enum compare_end compare_sweeps(const char *const *dirs, size_t count,
				const struct compare_options *options, FILE *to, char **error);

/* Names the index-th directory: "A", "B", ..., "Z", "R27", ... The caller frees. */
char *compare_label(size_t index);

#endif
