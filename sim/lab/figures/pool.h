/* The values of a quantity, such as the completion times of flows, in all replications of a cell of
 * a sweep: for distributions. Private to the figures.
 *
 * A quantity is a metric without its statistic: "flows.fct_s", "jobs.by_name.vgg.jct_s". In a sweep
 * its mean, the metric "flows.fct_s.mean", stands for it. */
#ifndef INASIM_LAB_FIGURES_POOL_H
#define INASIM_LAB_FIGURES_POOL_H

#include "lab/figures/sweep_sheet.h"
#include "lab/figures/values.h"

/* The metric that stands for a quantity, or SIZE_MAX: the sweep has no such quantity, or none whose
 * rows all have a value. Quantities of size classes have no distribution here. */
size_t pool_metric(const struct sweep_table *table, const char *quantity);

/* The quantity that a metric stands for; the table's document owns it. */
const char *pool_quantity(const struct sweep_table *table, size_t metric);

struct pool {
	/* By replication with results: its table, and in it the group (or NULL) that counts. Owned.
	 */
	struct values *of;
	const struct value_group **parts;
	size_t replications;
	double *values; /* of all of them, ascending; owned */
	size_t count;
	uint64_t unfinished; /* are above all values */
};

/* Reads the tables of a cell's points. False with f->error if one cannot be read. A cell without
 * points is empty. Release the pool in any case. */
bool pool_read(struct pool *pool, struct figure *f, const struct sheet *sheet, size_t column,
	       size_t row);
void pool_release(struct pool *pool);

/* The nearest-rank percentile of all values, the unfinished included, and its rank. The value is
 * NaN, the rank 0, if it is among the unfinished, or of fewer than 10 / (1 - p) values. The
 * interval is infer_sections()'; there is none if a replication alone has fewer than 1 / (1 - p)
 * values, or its percentile is among the unfinished. */
struct estimate pool_percentile(const struct pool *pool, double p, size_t *rank);

#endif
