#include "workload/flows/size_cdf.h"

#include "base/mem.h"
#include "data/csv_read.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is wrong with `point` as the next point of `cdf`, or NULL. *in_size tells whether the
 * mistake is in the size or in the cdf. */
static const char *row_mistake(const struct size_cdf *cdf, const struct size_cdf_point *point,
			       bool *in_size)
{
	const struct size_cdf_point *before = cdf->count ? &cdf->points[cdf->count - 1] : NULL;

	*in_size = true;
	if (point->size > FLOW_MAX)
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
		return "is smaller than in the previous row";
	*in_size = true;
	if (point->size < before->size)
		return "is smaller than in the previous row";
	if (point->size == before->size && point->cdf == before->cdf)
		return "repeats the previous row";
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

/* --- tables of HPCC and ns-3 --- */

/* Whether a file begins with a number; a table of ours begins with its header line. */
static bool is_bare(const char *path)
{
	FILE *file = fopen(path, "r");
	int c = file ? getc(file) : EOF;

	while (c == ' ' || c == '\t' || c == '\n' || c == '\r')
		c = getc(file);
	if (file)
		fclose(file);
	return c >= '0' && c <= '9';
}

/* Reads two numbers with blanks between them, and nothing else: "10000 15". */
static bool read_pair(const char *line, double pair[2])
{
	for (int i = 0; i < 2; i++) {
		char *end;

		pair[i] = strtod(line, &end);
		if (end == line || !isfinite(pair[i]) || !strchr(" \t\r\n", *end))
			return false;
		line = end;
	}
	return !line[strspn(line, " \t\r\n")];
}

/* Divides each cdf by the last one, which is 1, or 100 for percent, and checks all points. */
static void check_bare(struct size_cdf *cdf, const char *path, char **error)
{
	size_t count = cdf->count;
	double whole = count ? cdf->points[count - 1].cdf : 0;

	if (whole != 1 && whole != 100) {
		*error = xasprintf(
			"%s: ends at %g: the last line must have 100 (percent, as HPCC) or "
			"1 (as ns-3)",
			path, whole);
		return;
	}
	/* counts in cdf->count, as row_mistake() compares a point with the last of so many */
	for (cdf->count = 0; cdf->count < count && !*error; cdf->count++) {
		struct size_cdf_point *point = &cdf->points[cdf->count];
		bool in_size;
		const char *mistake;

		point->cdf /= whole;
		mistake = row_mistake(cdf, point, &in_size);
		if (mistake)
			*error = xasprintf("%s: point %zu: its %s %s", path, cdf->count + 1,
					   in_size ? "size" : "fraction", mistake);
	}
}

static void read_bare(struct size_cdf *cdf, const char *path, char **error)
{
	FILE *file = fopen(path, "r");
	size_t capacity = 0, line_size = 0, number = 0;
	char *line = NULL;
	double pair[2];

	*error = NULL;
	while (file && !*error && getline(&line, &line_size, file) > 0) {
		number++;
		if (!line[strspn(line, " \t\r\n")])
			continue;
		if (!read_pair(line, pair) || pair[0] < 0 || pair[0] != floor(pair[0]) ||
		    pair[0] > (double)FLOW_MAX) {
			*error = xasprintf("%s:%zu: without a header line size_bytes,cdf each line "
					   "is a size in bytes, a blank, and the percentage (as "
					   "HPCC) or fraction (as ns-3) of flows up to it",
					   path, number);
			break;
		}
		cdf->points =
			array_reserve(cdf->points, cdf->count, &capacity, sizeof(*cdf->points));
		cdf->points[cdf->count++] = (struct size_cdf_point){ (bytes)pair[0], pair[1] };
	}
	free(line);
	if (file)
		fclose(file);
	if (!*error)
		check_bare(cdf, path, error);
}

/* --- both --- */

static bool read_table(struct size_cdf *cdf, const char *path, char **error)
{
	struct csv *csv;

	if (is_bare(path)) {
		read_bare(cdf, path, error);
		return !*error;
	}
	csv = csv_open(path, error);
	if (!csv)
		return false;
	read_points(cdf, csv);
	return csv_close(csv, error);
}

struct size_cdf *size_cdf_load(const char *path, char **error)
{
	struct size_cdf *cdf = xcalloc(1, sizeof(*cdf));

	if (!read_table(cdf, path, error))
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

	/* Find the first point above p, or else the first with cdf 1. The point before it has a
	 * smaller cdf, so nothing is divided by zero. */
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

double size_cdf_lift(const struct size_cdf *cdf, double min)
{
	double lift = 0;

	for (size_t i = 1; i < cdf->count && (double)cdf->points[i - 1].size < min; i++) {
		double from = (double)cdf->points[i - 1].size, to = (double)cdf->points[i].size;
		double mass = cdf->points[i].cdf - cdf->points[i - 1].cdf, below = min - from;

		if (to <= min)
			lift += mass * (min - 0.5 * (from + to));
		else
			lift += mass * 0.5 * below * below / (to - from); /* up to `min` only */
	}
	return lift;
}
