#include "workload/flows/size_cdf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <criterion/criterion.h>
#include <math.h>
#include <unistd.h>

static char folder[] = INASIM_WORK_DIR "/inasim-cdf-XXXXXX";
static char path[sizeof(folder) + 16];

static void setup(void)
{
	cr_assert_not_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/t.csv", folder);
}

static void teardown(void)
{
	unlink(path);
	rmdir(folder);
}

TestSuite(size_cdf, .init = setup, .fini = teardown);

static struct size_cdf *try_rows(const char *rows, char **error)
{
	FILE *file = fopen(path, "w");

	cr_assert_not_null(file);
	fprintf(file, "size_bytes,cdf\n%s", rows);
	cr_assert_eq(fclose(file), 0);
	return size_cdf_load(path, error);
}

static struct size_cdf *load_rows(const char *rows)
{
	char *error = NULL;
	struct size_cdf *cdf = try_rows(rows, &error);

	cr_assert_not_null(cdf, "%s", error);
	return cdf;
}

static struct size_cdf *load_named(const char *name)
{
	char *error = NULL, file[256];
	struct size_cdf *cdf;

	snprintf(file, sizeof(file), "%s/traces/cdf/%s.csv", INASIM_SOURCE_DIR, name);
	cdf = size_cdf_load(file, &error);
	cr_assert_not_null(cdf, "%s", error);
	return cdf;
}

/* Means computed independently when the tables were collected. */
static const struct {
	const char *name;
	double mean;
	bytes median, p99; /* 0 = ambiguous at a step of the table */
} known[] = {
	{ "websearch_dctcp_bytes", 1711250.0, 73077, 23333333 },
	{ "websearch", 1665830.8, 70642, 22711273 },
	{ "websearch_opera", 1490032.7, 67037, 19893234 },
	{ "datamining_vl2_bytes", 12658198.6, 1100, 550000000 },
	{ "datamining", 7470236.0, 1460, 97333820 },
	{ "datamining_opera", 5036535.2, 975, 100000000 },
	{ "imc10_yaps_pkts", 195357.1, 1460, 2807580 },
	{ "hadoop_fb_opera_interrack", 3423728.4, 72853, 146000023 },
};

/* The mean and two quantiles of every table of traces/cdf are the known ones. */
Test(size_cdf, tables_of_the_project)
{
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		struct size_cdf *cdf = load_named(known[i].name);

		cr_expect_float_eq(size_cdf_mean(cdf), known[i].mean, 0.05 + 1e-9, "%s: %.2f",
				   known[i].name, size_cdf_mean(cdf));
		cr_expect_leq(llabs((long long)(size_cdf_quantile(cdf, 0.5) - known[i].median)), 1,
			      "%s", known[i].name);
		cr_expect_leq(llabs((long long)(size_cdf_quantile(cdf, 0.99) - known[i].p99)), 1,
			      "%s: p99 %llu", known[i].name,
			      (unsigned long long)size_cdf_quantile(cdf, 0.99));
		size_cdf_free(cdf);
	}
}

/* The mean of many draws is the exact mean within 4 standard errors; no draw
 * leaves the table; the same stream draws the same. */
Test(size_cdf, draws_have_the_mean)
{
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		struct size_cdf *cdf = load_named(known[i].name);
		struct rng rng, again;
		double sum = 0, squares = 0;
		const int n = 200000;

		rng_init(&rng, 1, known[i].name, 0);
		rng_init(&again, 1, known[i].name, 0);
		for (int j = 0; j < n; j++) {
			bytes size = size_cdf_draw(cdf, &rng);

			cr_assert_geq(size, 1);
			cr_assert_leq(size, cdf->points[cdf->count - 1].size);
			sum += (double)size;
			squares += (double)size * (double)size;
			if (j < 100)
				cr_assert_eq(size, size_cdf_draw(cdf, &again));
		}
		cr_expect_lt(fabs(sum / n - size_cdf_mean(cdf)),
			     4 * sqrt((squares / n - sum / n * (sum / n)) / n),
			     "%s: %.0f, not %.0f", known[i].name, sum / n, size_cdf_mean(cdf));
		size_cdf_free(cdf);
	}
}

/* Two points of one size are a mass there: that share of the draws, within 4
 * standard deviations, is exactly this size; between points sizes are uniform. */
Test(size_cdf, mass_and_segment)
{
	struct size_cdf *cdf = load_rows("100,0\n100,0.25\n300,1\n");
	struct rng rng;
	int mass = 0, lower = 0;
	const int n = 100000;

	rng_init(&rng, 7, "mass", 0);
	for (int i = 0; i < n; i++) {
		bytes size = size_cdf_draw(cdf, &rng);

		mass += size == 100;
		lower += size > 100 && size <= 200;
	}
	/* 1/400 of the segment rounds to 100 */
	cr_expect_lt(fabs(mass - n * (0.25 + 0.75 / 400)), 4 * sqrt(n * 0.25 * 0.75));
	cr_expect_lt(fabs(lower - n * 0.375), 4 * sqrt(n * 0.375 * 0.625));
	cr_expect_eq(size_cdf_mean(cdf), 0.25 * 100 + 0.75 * 200);
	size_cdf_free(cdf);
}

/* Closed form of the quantile: linear in a segment, nearest byte, at least 1; a gap of probability
 * 0 causes no division by 0. */
Test(size_cdf, quantiles)
{
	struct size_cdf *cdf = load_rows("0,0\n10,0\n10,0.5\n20,0.5\n30,1\n40,1\n");

	cr_expect_eq(size_cdf_quantile(cdf, 0), 10);
	cr_expect_eq(size_cdf_quantile(cdf, 0.49), 10);
	cr_expect_eq(size_cdf_quantile(cdf, 0.5), 20);
	cr_expect_eq(size_cdf_quantile(cdf, 0.625), 23); /* 22.5 goes up */
	cr_expect_eq(size_cdf_quantile(cdf, 0.75), 25);
	cr_expect_eq(size_cdf_quantile(cdf, 1), 30);
	size_cdf_free(cdf);
	cdf = load_rows("0,0\n1,0.5\n1000000,1\n");
	cr_expect_eq(size_cdf_quantile(cdf, 0), 1);
	cr_expect_eq(size_cdf_quantile(cdf, 0.1), 1);
	cr_expect_eq(size_cdf_quantile(cdf, 1), 1000000);
	size_cdf_free(cdf);
}

/* Every rule of the format has a table that breaks it alone. */
Test(size_cdf, mistakes)
{
	static const struct {
		const char *rows, *want;
	} cases[] = {
		{ "", ": the last row must have cdf 1" },
		{ "5,0\n", ": the last row must have cdf 1" },
		{ "5,0\n6,0.99\n", ": the last row must have cdf 1" },
		{ "5,0.1\n6,1\n", ":2: column cdf: \"0.1\" must be 0 in the first row" },
		{ "5,0\n6,1.5\n", ":3: column cdf: \"1.5\" is not between 0 and 1" },
		{ "5,0\n6,-1\n", ":3: column cdf: \"-1\" is not between 0 and 1" },
		{ "5,0\n6,0.5\n7,0.4\n8,1\n", ":4: column cdf: \"0.4\" is smaller" },
		{ "5,0\n6,0.5\n5,1\n", ":4: column size_bytes: \"5\" is smaller" },
		{ "5,0\n5,0\n6,1\n", ":3: column size_bytes: \"5\" repeats the previous row" },
		{ "5,0\n6.5,1\n", ":3: column size_bytes: \"6.5\" is not a whole number" },
		{ "5,0\n-6,1\n", ":3: column size_bytes: \"-6\" is not a whole number" },
		{ "5,0\n6,one\n", ":3: column cdf: \"one\" is not a number" },
		{ "1125899906842625,0\n1125899906842626,1\n", ":2: column size_bytes: " },
		{ "5,0\n6\n", ":3: 1 cells" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *error = NULL;

		cr_assert_null(try_rows(cases[i].rows, &error), "case %zu is taken", i);
		cr_assert_eq(strncmp(error, path, strlen(path)), 0, "%s", error);
		cr_expect_eq(strncmp(error + strlen(path), cases[i].want, strlen(cases[i].want)), 0,
			     "case %zu: %s", i, error);
		free(error);
	}
}

Test(size_cdf, no_such_file)
{
	char *error = NULL;

	cr_assert_null(size_cdf_load(path, &error));
	cr_expect_not_null(strstr(error, "No such file"), "%s", error);
	free(error);
}

/* --- tables of HPCC and ns-3 --- */

static struct size_cdf *try_bare(const char *lines, char **error)
{
	FILE *file = fopen(path, "w");

	cr_assert_not_null(file);
	fputs(lines, file);
	cr_assert_eq(fclose(file), 0);
	return size_cdf_load(path, error);
}

/* Percent, fractions and our own format give the same table. */
Test(size_cdf, bare)
{
	const char *const forms[] = { "0 0\n10000 15\n3e4\t100\n", "0 0\n10000 0.15\r\n\n30000 1",
				      "size_bytes,cdf\n0,0\n10000,0.15\n30000,1\n" };

	for (size_t i = 0; i < 3; i++) {
		char *error = NULL;
		struct size_cdf *cdf = try_bare(forms[i], &error);

		cr_assert_not_null(cdf, "%s", error);
		cr_assert_eq(cdf->count, 3);
		cr_expect_eq(cdf->points[1].size, 10000);
		cr_expect_eq(cdf->points[1].cdf, 0.15);
		cr_expect_eq(cdf->points[2].size, 30000);
		cr_expect_eq(cdf->points[2].cdf, 1);
		size_cdf_free(cdf);
	}
}

Test(size_cdf, bare_mistakes)
{
	static const struct {
		const char *lines, *want;
	} mistakes[] = {
		{ "6 1 0\n7 1 1\n", ":1: without a header line size_bytes,cdf each line is" },
		{ "0 0\n1.5 100\n", ":2: without a header line" },
		{ "0 0\nx 100\n", ":2: without a header line" },
		{ "0 0\n5 nan\n", ":2: without a header line" },
		{ "0 0\n5 50\n",
		  ": ends at 50: the last line must have 100 (percent, as HPCC) or 1" },
		{ "0 0\n5 50\n4 100\n", ": point 3: its size is smaller than in the previous row" },
		{ "5 50\n9 100\n", ": point 1: its fraction must be 0 in the first row" },
	};

	for (size_t i = 0; i < sizeof(mistakes) / sizeof(mistakes[0]); i++) {
		char *error = NULL;

		cr_assert_null(try_bare(mistakes[i].lines, &error), "taken: %s", mistakes[i].lines);
		cr_expect_not_null(strstr(error, mistakes[i].want), "%s", error);
		free(error);
	}
}
