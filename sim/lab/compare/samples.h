/* Reads the single values behind a metric of a run: "flows.fct_s.p99" is a quantile of column fct_s
 * of flows.csv, "jobs.by_name.vgg.jct_s.mean" a mean over jobs.csv. */
#ifndef INASIM_LAB_COMPARE_SAMPLES_H
#define INASIM_LAB_COMPARE_SAMPLES_H

#include "data/metrics.h"

/* Where a metric comes from. */
struct sample_source {
	const struct metric *metric;
	const char *job_name; /* of the jobs, in the metric's path; NULL: all jobs, or all flows */
	size_t name_length;   /* of job_name, which has no '\0' at its end */
	double quantile;      /* 0 < quantile < 1; NaN: the metric is a mean */
};

/* Finds the source of a metric; `source` then points into the text `metric`. False if the metric is
 * no mean or quantile of values on disk. */
bool sample_source(const char *metric, struct sample_source *source);

struct samples {
	struct sample *items; /* sorted by number of the flow, or by job and iteration */
	size_t count;
	double *values; /* of the items, in their order; NaN where unfinished */
	/* True: the items are jobs or flows, which may be unfinished. False: they are iterations,
	 * all of which have ended. */
	bool each_is_work;
	bool mixed; /* the items belong to several groups of the scenario */
};

/* Reads the samples from their table in DIR; if DIR has no such table, there are no samples. False
 * and *error (caller frees) if it cannot be read; `samples` is then empty. Samples may be released
 * twice. */
bool samples_read(const char *dir, const struct sample_source *source, struct samples *samples,
		  char **error);
void samples_release(struct samples *samples);

/* Puts the values of two runs side by side, matched by number; NaN where a run has no value.
 * Always allocates both arrays, which the caller frees. Returns the number of pairs, incomplete
 * ones included; 0 if the runs have no number in common, or if one number means different flows
 * (jobs): of another size, arrival or end points. */
size_t samples_pair(const struct samples *a, const struct samples *b, double **values_a,
		    double **values_b);

#endif
