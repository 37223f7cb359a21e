/* Any bytes as results of runs, a/ and b/: compared, alone and together. No crash, no leak, an
 * error or a table.
 * Covers: sim/data/result_read.c sim/data/json_read.c sim/lab/summary.c
 * sim/lab/compare/compare_runs.c sim/lab/compare/compare_table.c sim/lab/compare/samples.c
 * sim/lab/json_diff.c */
#include "base/mem.h"
#include "files.h"
#include "data/csv_read.h"
#include "data/result_read.h"
#include "lab/compare/compare.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void compare_so(const char *const *dirs, size_t count, const struct compare_options *options)
{
	FILE *sink = fopen("/dev/null", "w");
	char *error = NULL;
	enum compare_end end = compare(dirs, count, options, sink, &error);
	bool told = error;

	if (told != (end == COMPARE_USAGE || end == COMPARE_IO))
		abort();
	free(error);
	fclose(sink);
}

static void name_jobs(const char *dir)
{
	char *path = xasprintf("%s/jobs.csv", dir), *error = NULL;
	struct csv *csv = csv_open(path, &error);

	while (csv && csv_next(csv))
		free(result_job_name(csv));
	if (csv)
		csv_close(csv, &error);
	free(error);
	free(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *metrics[] = { "flows.fct_s.mean",          "flows.fct_s.p99",
					 "jobs.jct_s.mean",           "jobs.iteration_s.mean",
					 "jobs.by_name.a.jct_s.mean", "digest" };
	const char *folder = files_write(data, size);
	char *a = xasprintf("%s/a", folder), *b = xasprintf("%s/b", folder);
	const char *dirs[] = { a, b };
	struct compare_options options = { .tolerance = NAN };

	name_jobs(a);
	compare_so(dirs, 2, &options);
	options.json = true;
	compare_so(dirs, 2, &options);
	options.tolerance = 0.05;
	compare_so(dirs, 1, &options);
	options = (struct compare_options){ .tolerance = NAN, .form = GRID_MARKDOWN };
	compare_so(dirs, 2, &options);
	options.pivot = "run";
	compare_so(dirs, 2, &options);
	options.metrics.count = 1;
	for (size_t i = 0; i < sizeof(metrics) / sizeof(metrics[0]); i++) {
		options.metrics.items = &metrics[i];
		options.json = i % 2;
		compare_so(dirs, 2, &options);
	}
	free(a);
	free(b);
	return 0;
}
