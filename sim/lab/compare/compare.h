/* Compares results: values side by side, ratios to the first, and intervals of 95 %.
 *
 * Runs: the values are those of summary.json, the intervals come from the single flows, jobs and
 * iterations on disk. Flows (jobs) that both runs have are compared in pairs; otherwise the two
 * sets are independent samples. One run alone has no ratios.
 *
 * Sweeps: one sweep along an axis, or several with the same axes. Means are over replications, and
 * replications with the same seed are pairs.
 *
 * stats/inference.h has the methods. */
#ifndef INASIM_LAB_COMPARE_COMPARE_H
#define INASIM_LAB_COMPARE_COMPARE_H

#include "lab/names.h"

#include <stdbool.h>
#include <stdio.h>

struct compare_options {
	struct names metrics; /* none: a short list of those that exist */
	const char *by;       /* the axis along which one sweep is compared, or NULL */
	const char *baseline; /* value of that axis to compare with; NULL: the first */
	double tolerance;     /* NaN: none */
	bool json, latex;     /* latex: rows as a tabular, the rest as comments */
};

enum compare_end {
	COMPARE_ALIKE,   /* no tolerance, or no ratio leaves it */
	COMPARE_DIFFERS, /* some ratio leaves [1 - tolerance, 1 + tolerance] */
	COMPARE_USAGE,   /* the options make no sense: *error */
	COMPARE_IO,      /* a directory is not a result, or cannot be read: *error */
};

/* Writes the comparison to `to`, or nothing but *error (caller frees). */
enum compare_end compare(const char *const *dirs, size_t count,
			 const struct compare_options *options, FILE *to, char **error);

#endif
