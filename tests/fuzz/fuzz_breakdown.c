/* Any bytes as the tables that `why`, `report` and `plot` read of a run: why.csv, why-groups.csv,
 * why-links.csv, why-hottest.csv, links.csv, jobs.csv, flows.csv. No crash, no leak, an error or
 * values. Covers: sim/lab/breakdown.c sim/lab/hottest.c sim/lab/figures/values.c */
#include "base/mem.h"
#include "files.h"
#include "lab/breakdown.h"
#include "lab/figures/values.h"
#include "lab/hottest.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_breakdown(const char *dir)
{
	struct breakdown b = { 0 };
	char *error = NULL;

	if (breakdown_read(&b, dir, &error) && error)
		abort();
	for (size_t i = 0; !error && i < b.count; i = breakdown_job_end(&b, i))
		if (breakdown_job_end(&b, i) <= i)
			abort();
	breakdown_release(&b);
	free(error);
}

static void read_hottest(const char *dir)
{
	struct hottest hottest;
	char *error = NULL;

	if (hottest_read(&hottest, dir, &error) == (error != NULL))
		abort();
	for (size_t i = 0; i < hottest.count; i++) {
		if (i && hottest.links[i].utilization > hottest.links[i - 1].utilization)
			abort();
		free(hottest_users(&hottest.links[i]));
	}
	hottest_release(&hottest);
	free(error);
}

static void read_values(const char *dir, const struct values_query *query)
{
	struct figure f = { .dir = dir };
	struct values values = { 0 };
	bool read = values_read(&values, &f, query);

	if (!read && !f.error && !f.why)
		abort();
	for (size_t g = 0; read && g < values.group_count; g++)
		for (size_t i = 1; !query->at && i < values.groups[g].count; i++)
			if (values.groups[g].values[i] < values.groups[g].values[i - 1])
				abort();
	values_merge(&values, 3);
	values_release(&values);
	free(f.error);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct values_query queries[] = {
		{ .file = "jobs.csv", .columns = { "jct_s" }, .group = "name", .work = true },
		{ .file = "flows.csv",
		  .columns = { "fct_s" },
		  .group = "size_bytes",
		  .work = true,
		  .by_size = true },
		{ .file = "iterations.csv",
		  .columns = { "duration_s", "compute_s" },
		  .at = "start_s" },
	};
	const char *dir = files_write(data, size);

	read_breakdown(dir);
	read_hottest(dir);
	for (size_t i = 0; i < sizeof(queries) / sizeof(*queries); i++)
		read_values(dir, &queries[i]);
	return 0;
}
