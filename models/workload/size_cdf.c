#include "workload/size_cdf.h"

#include "base/mem.h"
#include "out/csv_read.h"

#include <stdlib.h>

#define MAX_FLOW (UINT64_C(1) << 50) /* so that every size and sum is exact in a double */

/* What is wrong with the present row, or NULL. */
static const char *row_mistake(const struct size_cdf *cdf, const struct size_cdf_point *point,
			       bool *in_size)
{
	const struct size_cdf_point *before = cdf->count ? &cdf->points[cdf->count - 1] : NULL;

	*in_size = true;
	if (point->size > MAX_FLOW)
		return "is more than 2^50 bytes";
	*in_size = false;
	if (point->cdf < 0 || point->cdf > 1)
		return "is not between 0 and 1";
	if (!before)
		return point->cdf == 0
			       ? NULL
			       : "must be 0 in the first row (for a probability mass at the "
				 "first size, give it twice)";
	if (point->cdf < before->cdf)
		return "is smaller than in the row before";
	*in_size = true;
	if (point->size < before->size)
		return "is smaller than in the row before";
	if (point->size == before->size && point->cdf == before->cdf)
		return "repeats the row before";
	return NULL;
}

static void read_points(struct size_cdf *cdf, struct csv *csv)
{
	int size = csv_need(csv, "size_bytes"), fraction = csv_need(csv, "cdf");
	size_t capacity = 0;

	while (csv_next(csv)) {
		struct size_cdf_point point = { csv_u64(csv, size), csv_real(csv, fraction) };
		bool in_size;
		const char *mistake = row_mistake(cdf, &point, &in_size);

		if (mistake)
			csv_complain(csv, in_size ? size : fraction, mistake);
		cdf->points =
			array_reserve(cdf->points, cdf->count, &capacity, sizeof(*cdf->points));
		cdf->points[cdf->count++] = point;
	}
}

struct size_cdf *size_cdf_load(const char *path, char **error)
{
	struct csv *csv = csv_open(path, error);
	struct size_cdf *cdf;

	if (!csv)
		return NULL;
	cdf = xcalloc(1, sizeof(*cdf));
	read_points(cdf, csv);
	if (!csv_close(csv, error))
		goto fail;
	if (cdf->count < 2 || cdf->points[cdf->count - 1].cdf != 1) {
		*error = xasprintf("%s: the last row must have cdf 1", path);
		goto fail;
	}
	return cdf;
fail:
	size_cdf_free(cdf);
	return NULL;
}

void size_cdf_free(struct size_cdf *cdf)
{
	if (!cdf)
		return;
	free(cdf->points);
	free(cdf);
}

bytes size_cdf_quantile(const struct size_cdf *cdf, double p)
{
	size_t low = 1, high = cdf->count - 1;
	const struct size_cdf_point *a, *b;
	double size;

	/* the first point above p, or the first that ends the distribution; so the
	 * point before it has a smaller cdf and nothing is divided by zero */
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (cdf->points[middle].cdf > p || cdf->points[middle].cdf == 1)
			high = middle;
		else
			low = middle + 1;
	}
	b = &cdf->points[low];
	a = b - 1;
	size = (double)a->size + (double)(b->size - a->size) * ((p - a->cdf) / (b->cdf - a->cdf));
	return size < 1 ? 1 : (bytes)(size + 0.5);
}

bytes size_cdf_draw(const struct size_cdf *cdf, struct rng *rng)
{
	return size_cdf_quantile(cdf, rng_unit(rng));
}

double size_cdf_mean(const struct size_cdf *cdf)
{
	double mean = 0;

	for (size_t i = 1; i < cdf->count; i++) {
		const struct size_cdf_point *b = &cdf->points[i], *a = b - 1;

		mean += (b->cdf - a->cdf) * 0.5 * (double)(a->size + b->size);
	}
	return mean;
}

double size_cdf_lift(const struct size_cdf *cdf, double least)
{
	double lift = 0;

	for (size_t i = 1; i < cdf->count && (double)cdf->points[i - 1].size < least; i++) {
		double from = (double)cdf->points[i - 1].size, to = (double)cdf->points[i].size;
		double mass = cdf->points[i].cdf - cdf->points[i - 1].cdf, below = least - from;

		if (to <= least)
			lift += mass * (least - 0.5 * (from + to));
		else
			lift += mass * 0.5 * below * below / (to - from);
	}
	return lift;
}
