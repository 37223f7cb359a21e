/* Reads the single values behind a metric of a run: "flows.fct_s.p99" is a quantile of column fct_s
 * of flows.csv, "jobs.by_name.vgg.jct_s.mean" a mean over jobs.csv. */
#ifndef INASIM_LAB_COMPARE_SAMPLES_H
#define INASIM_LAB_COMPARE_SAMPLES_H

#include "data/metrics.h"

/* Where a metric comes from. */
struct sample_source {
	const struct metric *metric;
	char name[256];  /* only jobs of this name; "" = all */
	double quantile; /* 0 < p < 1, or NaN: the mean */
};

/* False if the metric is not a mean or quantile of values on disk. */
bool sample_source(const char *metric, struct sample_source *source);

struct samples {
	struct sample *items; /* by number of the flow, job, iteration */
	size_t count;
	double *values;    /* of the items; NaN where unfinished */
	bool each_is_work; /* they are jobs or flows: n of count have finished */
	bool mixed;        /* they belong to several groups of the scenario */
};

/* Reads the samples from their table in DIR; none if there is no such table. False and *error
 * (caller frees) if it cannot be read; `samples` is then empty. It may be released twice. */
bool samples_read(const char *dir, const struct sample_source *source, struct samples *samples,
		  char **error);
void samples_release(struct samples *samples);

/* Puts the values of two runs side by side, NaN where a run has none; the caller frees both arrays.
 * Returns the number of pairs; 0 if the flows (jobs) are not the same: under one number, the runs
 * have another size, arrival or end points. */
size_t samples_pair(const struct samples *a, const struct samples *b, double **values_a,
		    double **values_b);

#endif
