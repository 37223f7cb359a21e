/* Compares results: values side by side, ratios to the first, and intervals of 95 %.
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
	struct names metrics; /* none: a short list of those that exist */
	const char *by;       /* the axis along which one sweep is compared, or NULL */
	const char *baseline; /* value of that axis to compare with; NULL: the first */
	double tolerance;     /* NaN: none */
	bool json, latex;     /* latex: rows as a tabular, the rest as comments */
	bool by_folder;       /* runs are called by their folders, as with latex; else A, B, ... */
};

enum compare_end {
	COMPARE_ALIKE,   /* no tolerance, or no ratio leaves it */
	COMPARE_DIFFERS, /* some ratio leaves [1 - tolerance, 1 + tolerance] */
	COMPARE_USAGE,   /* the options make no sense: *error */
	COMPARE_IO,      /* a directory is not a result, or cannot be read: *error */
};

/* What a ratio rests on. */
enum compare_basis {
	BASIS_NONE,        /* no ratio: the row is the baseline itself, or lacks one */
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
	double paired[2]; /* baseline and value over the complete pairs, where some are not */
};

/* A run that is compared, as it was read. */
struct run {
	const char *dir;
	char *label;
	cJSON *manifest;
	struct summary summary;
};
struct runs {
	struct run *items; /* owned, as is what they point to, except `dir` */
	size_t count;
};

struct comparison {
	struct runs runs;         /* none where sweeps are compared */
	const char **label_names; /* owned; the strings are not */
	size_t label_count;
	const char *work_name; /* heading of finished/count */
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

/* Writes the comparison to `to`, or nothing but *error (caller frees). */
enum compare_end compare(const char *const *dirs, size_t count,
			 const struct compare_options *options, FILE *to, char **error);

#endif
