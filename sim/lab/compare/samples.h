/* The single values behind a metric of a run: "flows.fct_s.p99" is a quantile of
 * the column fct_s of flows.csv, "jobs.by_name.vgg.jct_s.mean" a mean over jobs.csv. */
#ifndef INASIM_LAB_COMPARE_SAMPLES_H
#define INASIM_LAB_COMPARE_SAMPLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where a metric comes from. */
struct sample_source {
	const struct sample_table *table;
	const char *column;
	bool may_lack;   /* rows without a value are passed over */
	char name[256];  /* only jobs of this name; "" = all */
	double quantile; /* 0 < p < 1, or NaN: the mean */
};

/* False for a metric that is no mean or quantile of values that are on disk. */
bool sample_source(const char *metric, struct sample_source *source);

struct samples {
	struct sample *items; /* by number of the flow, job, iteration */
	size_t count;
	double *values; /* in this order; NaN where unfinished */
	double *times; /* in this order, seconds: a flow starts, a job arrives, an iteration ends */
	bool each_is_work; /* they are jobs or flows: n of count have finished */
	size_t members;    /* flows or jobs that they are of */
	size_t groups;     /* groups of the scenario, by name, that these belong to */
};

/* From the tables in DIR; without the table there are none. False and *error
 * (caller frees) when it cannot be read; `samples` are then empty. Releasing twice
 * is allowed. */
bool samples_read(const char *dir, const struct sample_source *source, struct samples *samples,
		  char **error);
void samples_release(struct samples *samples);

/* From now on in the order of their times; of equal times, by number. No pairs of
 * them can be made then. */
void samples_by_time(struct samples *samples);

/* The values of two runs side by side, NaN where a run has none; the caller frees
 * both. Returns their number; 0 when they are not the same flows (jobs): a number
 * that both runs know stands for another size, arrival or end points in either. */
size_t samples_pair(const struct samples *a, const struct samples *b, double **values_a,
		    double **values_b);

#endif
