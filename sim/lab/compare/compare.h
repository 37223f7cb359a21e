/* Compares results: values side by side, ratios to the first, and 95 % intervals over replications.
 *
 * Runs: values come from summary.json. Runs that differ in nothing but their seed are replications
 * of one side; intervals are over them. The jobs, flows and iterations of one run share its queues
 * and its draws: their scatter is a spread, not an error of their mean, and one seed has no
 * interval. If two sides of one run each have the same seed and the same flows (jobs), the ratio is
 * over those that finished in both. One side alone has no ratios.
 *
 * Sweeps: one sweep along an axis, or several with the same axes. Means are over replications, and
 * replications with the same seed are pairs.
 *
 * data/inference.h has the methods, data/verdict.h what is concluded. */
#ifndef INASIM_LAB_COMPARE_COMPARE_H
#define INASIM_LAB_COMPARE_COMPARE_H

#include "data/grid.h"
#include "data/verdict.h"
#include "lab/summary.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct compare_options {
	struct names metrics; /* if empty: the usual metrics that have a value */
	const char *by;       /* the axis along which one sweep is compared; else NULL */
	const char *baseline; /* value of that axis to compare with; NULL: the first */
	double margin;        /* what counts as the same (data/verdict.h); NaN: the usual */
	double tolerance;     /* ratios may differ from 1 by this much; NaN: there is no limit */
	bool survivors;       /* ratios also of values over survivors */
	bool json;
	enum grid_form form; /* of the rows; LaTeX has the rest as comments, Markdown as code */
	const char *pivot;   /* NULL, or the axis whose values become columns ("run", "sweep") */
	struct names labels; /* of runs or sweeps, in their order; of one sweep VALUE=TEXT */
	bool by_folder;      /* label runs and sweeps by folder (for print always), not A, B, ... */
};

enum compare_end {
	COMPARE_ALIKE,   /* no row leaves the tolerance, or none was given */
	COMPARE_DIFFERS, /* some row leaves it, by outside() in compare_report.c */
	COMPARE_USAGE,   /* the options are invalid: see *error */
	COMPARE_IO,      /* a directory is not a result, or cannot be read: see *error */
};

/* What a ratio rests on. */
enum compare_basis {
	BASIS_NONE,        /* no ratio: the row is the baseline or has no baseline */
	BASIS_QUOTIENT,    /* the quotient of two numbers */
	BASIS_COMMON,      /* jobs, flows or iterations that two runs have in common */
	BASIS_PAIRS,       /* pairs of replications with common random numbers */
	BASIS_INDEPENDENT, /* independent replications */
};

struct compare_row {
	const char *metric;
	const char **labels;      /* the array is owned, the strings are not */
	uint64_t finished, count; /* flows or jobs, of runs or of points with results */
	bool has_work;            /* `finished` and `count` are known */
	uint64_t done, points;    /* of a group of points; 0 of runs */
	bool partial;             /* a value over survivors: work was refused or left undone */
	bool substituted;         /* jobs ran as another scheme */
	bool same;                /* all replications agree in all metrics: no interval */
	struct estimate value;
	double spread;   /* standard deviation within a single run; NaN if there is none */
	double baseline; /* the baseline's value; NaN if there is none */
	struct estimate ratio, difference;
	enum compare_basis basis;
	struct verdict verdict; /* on baseline and row */
	double paired[2];       /* baseline and value over what both have; NaN without that */
};

/* One of the compared runs, as it was read. */
struct run {
	const char *dir;
	char *label;
	size_t side; /* runs of one side are replications */
	cJSON *manifest;
	struct summary summary;
};
struct runs {
	struct run *items; /* owned with all that they point to, except `dir` */
	size_t count;
};

struct comparison {
	struct runs runs;         /* empty for sweeps */
	size_t side_count;        /* each metric has a row per side, in their order */
	const char **label_names; /* headings of the labels; array owned, strings not */
	size_t label_count;
	const char *baseline_label;
	enum grid_form form;
	const char *pivot;               /* one of label_names, or NULL */
	const struct sweep_table *table; /* names size classes; NULL for runs */
	struct compare_row *rows;
	size_t count, capacity;
};

/* Compares runs, for callers that show the rows in their own way. Fills in `comparison` (caller
 * releases) or, on failure, *error (caller frees). */
enum compare_end compare_runs_read(const char *const *dirs, size_t count,
				   const struct compare_options *options,
				   struct comparison *comparison, char **error);
void comparison_release(struct comparison *comparison);

/* The first run of a side, which has the side's label. */
const struct run *comparison_side(const struct comparison *comparison, size_t side);

/* The mean of a number of summary.json over the runs of a side; NaN if one lacks it. */
double comparison_mean(const struct comparison *comparison, size_t side, const char *metric);

/* The words of a row's verdict. The caller frees. */
char *comparison_verdict(const struct comparison *comparison, const struct compare_row *row);

/* Writes the comparison to `to`. On failure writes nothing, but sets *error (NULL before;
 * caller frees). */
enum compare_end compare(const char *const *dirs, size_t count,
			 const struct compare_options *options, FILE *to, char **error);

#endif
