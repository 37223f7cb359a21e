/* Results side by side, with ratios to the first and intervals of 95 %.
 *
 * Runs: values of summary.json; intervals from the single flows, jobs and
 * iterations on disk. Flows (jobs) that are the same in both runs are compared in
 * pairs, else the two sets as independent samples. One run alone has no ratios.
 *
 * Long runs: the same values in the order of time, after their warm-up, by batch
 * means (lab/compare/steady.h); ratios are of two independent samples of batch means.
 *
 * Sweeps: one of them along an axis, or several with the same axes. Means over
 * replications; replications that ran with the same seed are pairs.
 *
 * The methods are those of stats/inference.h. */
#ifndef INASIM_LAB_COMPARE_COMPARE_H
#define INASIM_LAB_COMPARE_COMPARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct compare_options {
	const char *const *metrics; /* none: a short list of those that exist */
	size_t metric_count;
	const char *by; /* the axis along which one sweep is compared, or NULL */
	const char
		*baseline; /* the value of it that the others are compared with; NULL: the first */
	double tolerance;  /* NaN: none */
	bool json, latex;  /* latex: rows as a tabular, the rest as comments */
	bool long_run;
	double warmup_s; /* of long runs only: what is before is cut; NaN: MSER-5 finds it */
};

enum compare_end {
	COMPARE_ALIKE,   /* no tolerance, or no ratio leaves it */
	COMPARE_DIFFERS, /* some ratio leaves [1 - tolerance, 1 + tolerance] */
	COMPARE_USAGE,   /* what was asked for makes no sense: *error */
	COMPARE_IO,      /* a directory is no result, or cannot be read: *error */
};

/* Writes the comparison to `to`, or nothing but *error (caller frees). */
enum compare_end compare(const char *const *dirs, size_t count,
			 const struct compare_options *options, FILE *to, char **error);

#endif
