/* Flow sizes from a cumulative distribution, as papers and traces publish them.
 *
 * A table (columns size_bytes, cdf) starts at cdf 0 and ends at 1. Between two points sizes are
 * uniform, as in ns-2's interpolated empirical variable and in the generators of HPCC and
 * TrafficGenerator. Two points of one size are a probability mass at this size. The tables of HPCC
 * and ns-3 are read as they are: without a header line, each line a size and a percentage (HPCC) or
 * a fraction (ns-3). traces/README.md lists the tables. */
#ifndef INASIM_WORKLOAD_FLOWS_SIZE_CDF_H
#define INASIM_WORKLOAD_FLOWS_SIZE_CDF_H

#include "base/types.h"
#include "core/rng.h"

#include <stddef.h>

#define FLOW_MAX (UINT64_C(1) << 50) /* bytes; every size and sum is exact in a double */
/* The size of a flow that ends with the run: 17 days at 400 Gbps. If a run of streams takes longer,
 * the flow stops sending, and still does not end. */
#define FLOW_ENDLESS (UINT64_C(1) << 56)

struct size_cdf_point {
	bytes size;
	double cdf; /* fraction of flows that are not larger */
};

struct size_cdf {
	struct size_cdf_point *points; /* at least 2; neither size nor cdf falls */
	size_t count;
};

/* Reads a table. Returns NULL and *error (caller frees) if the file is not a valid table. */
struct size_cdf *size_cdf_load(const char *path, char **error);
void size_cdf_free(struct size_cdf *cdf);

/* Draws a size of at least 1 byte. Takes one number from the stream, and uses the four basic
 * operations only, so the draw is the same on every platform. */
bytes size_cdf_draw(const struct size_cdf *cdf, struct rng *rng);

/* The size below which a fraction p of the flows is, 0 <= p <= 1, rounded to
 * the nearest byte, at least 1. size_cdf_draw() returns this for a uniform p. */
bytes size_cdf_quantile(const struct size_cdf *cdf, double p);

/* Exact mean of the interpolated distribution, in bytes (before rounding). */
double size_cdf_mean(const struct size_cdf *cdf);

/* By how many bytes the mean grows if every size below `min` > 0 becomes `min`. */
double size_cdf_lift(const struct size_cdf *cdf, double min);

#endif
