/* Compares results: values side by side, ratios to the first result, and 95 % intervals.
 *
 * Runs: the values are those of summary.json, the intervals come from the single flows, jobs and
 * iterations on disk. Flows (jobs) that both runs have are compared in pairs; otherwise the two
 * sets are independent samples. One run alone has no ratios.
 *
 * Sweeps: one sweep along an axis, or several with the same axes. Means are over replications, and
 * replications with the same seed are pairs.
 *
 * data/inference.h has the methods. */
#ifndef INASIM_LAB_COMPARE_COMPARE_H
#define INASIM_LAB_COMPARE_COMPARE_H

#include "data/inference.h"
#include "lab/summary.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct compare_options {
	struct names metrics; /* none: the usual ones that have a value */
	const char *by;       /* the axis along which one sweep is compared, or NULL */
	const char *baseline; /* value of that axis to compare with; NULL: the first */
	double tolerance;     /* how far ratios may be from 1; NaN: any */
	bool json, latex;     /* latex: rows as a tabular, the rest as comments */
	bool by_folder; /* runs are called by their folders (always with latex); else A, B, ... */
};

enum compare_end {
	COMPARE_ALIKE,   /* there is no tolerance, or no ratio leaves it */
	COMPARE_DIFFERS, /* some ratio leaves [1 - tolerance, 1 + tolerance] */
	COMPARE_USAGE,   /* the options make no sense: *error */
	COMPARE_IO,      /* a directory is not a result, or cannot be read: *error */
};

/* What a ratio rests on. */
enum compare_basis {
	BASIS_NONE,        /* no ratio: the row is the baseline itself, or has none */
	BASIS_QUOTIENT,    /* the quotient of two numbers */
	BASIS_PAIRS,       /* pairs of samples with common random numbers */
	BASIS_INDEPENDENT, /* two independent samples */
};

struct compare_row {
	const char *metric;
	const char **labels;      /* owned; the strings are not */
	uint64_t finished, count; /* flows or jobs of a run; points of a group */
	bool has_work;            /* `finished` and `count` are known */
	bool same;                /* all replications agree in all metrics: no interval */
	struct estimate value;
	double baseline; /* the value that this one is compared with; NaN: there is none */
	struct estimate ratio, difference;
	enum compare_basis basis;
	double paired[2]; /* baseline and value over complete pairs only; NaN without pairs */
};

/* A run that is compared, as it was read. */
struct run {
	const char *dir;
	char *label;
	cJSON *manifest;
	struct summary summary;
};
struct runs {
	struct run *items; /* owned with all that they point to, except `dir` */
	size_t count;
};

struct comparison {
	struct runs runs;         /* empty where sweeps are compared */
	const char **label_names; /* headings of a row's labels; owned, the strings are not */
	size_t label_count;
	const char *work_name; /* heading of the column "finished/count" */
	bool latex;
	struct compare_row *rows;
	size_t count, capacity;
};

/* Compares runs, for callers that show the rows in their own way. Fills in `comparison`, which the
 * caller releases, or else *error (caller frees). */
enum compare_end compare_runs_read(const char *const *dirs, size_t count,
				   const struct compare_options *options,
				   struct comparison *comparison, char **error);
void comparison_release(struct comparison *comparison);

/* Writes the comparison to `to`. On failure writes nothing, but sets *error (caller frees). */
enum compare_end compare(const char *const *dirs, size_t count,
			 const struct compare_options *options, FILE *to, char **error);

#endif
