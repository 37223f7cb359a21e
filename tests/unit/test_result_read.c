/* Tables of a result directory against its manifest.json. Tables that were cut off (at any byte),
 * changed or lost after the run are reported. Without a manifest, tables are taken as they are. */
#include "data/result_read.h"

#include "base/mem.h"
#include "sweep_sample.h"

#include <stdint.h>
#include <unistd.h>

#define TABLE    "id,size\n0,17\n1,1577\n"
#define MANIFEST "{ \"files\": [ { \"name\": \"t.csv\", \"rows\": 2 } ] }"

static char folder[] = INASIM_WORK_DIR "/inasim-result-XXXXXX";

static void setup(void)
{
	cr_assert_not_null(mkdtemp(folder));
}

static void teardown(void)
{
	cr_expect(folder_remove(folder));
}

TestSuite(result_read, .init = setup, .fini = teardown);

/* Rows of t.csv; SIZE_MAX with *error when something is wrong with it. */
static size_t rows(char **error)
{
	size_t count = 0;
	struct csv *csv = result_table(folder, "t.csv", error);
	if (!csv)
		return !*error ? 0 : SIZE_MAX;
	while (csv_next(csv))
		count++;
	return csv_close(csv, error) ? count : SIZE_MAX;
}

static void expect_rows(size_t want)
{
	char *error = NULL;
	cr_expect_eq(rows(&error), want, "%s", error);
}

static void expect_error(const char *want)
{
	char *error = NULL;
	cr_assert_eq(rows(&error), SIZE_MAX, "no error, wanted: %s", want);
	cr_expect_not_null(strstr(error, want), "%s", error);
	free(error);
}

Test(result_read, whole)
{
	expect_rows(0); /* no manifest, no table */
	sample_write(folder, "manifest.json", "{ \"files\": [] }");
	expect_rows(0); /* a run writes no empty tables */
	sample_write(folder, "manifest.json", MANIFEST);
	sample_write(folder, "t.csv", TABLE);
	expect_rows(2);
}

Test(result_read, every_cut_is_told)
{
	char text[] = TABLE;
	sample_write(folder, "manifest.json", MANIFEST);
	for (size_t length = sizeof(text) - 1; length-- > 0;) {
		text[length] = '\0';
		sample_write(folder, "t.csv", text);
		char *error = NULL;
		cr_expect_eq(rows(&error), SIZE_MAX, "cut after %zu bytes: \"%s\"", length, text);
		free(error);
	}
}

Test(result_read, says_what_is_wrong)
{
	sample_write(folder, "manifest.json", MANIFEST);
	expect_error("cannot read");
	sample_write(folder, "t.csv", "id,size\n0,17\n");
	expect_error("t.csv:3: ends after 1 rows, manifest.json says 2");
	sample_write(folder, "t.csv", TABLE "2,3\n");
	expect_error("ends after 3 rows, manifest.json says 2");
	sample_write(folder, "t.csv", "id,size\n0,17\n1,15");
	expect_error("the last line has no end");
	sample_write(folder, "manifest.json", "{ \"files\": [");
	expect_error("manifest.json:1: is not a JSON object");
}

Test(result_read, without_a_manifest)
{
	sample_write(folder, "t.csv", "id,size\n0,17\n1,15");
	expect_rows(2);
}

/* Figures name a job by its group. They add what it ran as, unless that is its scheme, the job did
 * not run, or the table is from before this column. */
Test(result_read, names_of_jobs)
{
	static const struct {
		const char *table, *want;
	} cases[] = {
		{ "name,scheme,ran_as\na,panama,ring\n", "a (ring)" },
		{ "name,scheme,ran_as\na,panama,panama\n", "a" },
		{ "name,scheme,ran_as\na,panama,none\n", "a" },
		{ "name,scheme,ran_as\na,panama,\n", "a" },
		{ "name,scheme\na,panama\n", "a" },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char *error = NULL;
		sample_write(folder, "jobs.csv", cases[i].table);
		struct csv *csv = result_table(folder, "jobs.csv", &error);
		cr_assert_not_null(csv, "%s", error);
		cr_assert(csv_next(csv));
		char *name = result_job_name(csv);
		cr_expect_str_eq(name, cases[i].want);
		free(name);
		cr_expect(csv_close(csv, &error));
	}
}

/* A table without names is an error when it is closed, not a crash. */
Test(result_read, names_of_jobs_that_have_none)
{
	char *error = NULL, *name;
	struct csv *csv;

	sample_write(folder, "jobs.csv", "scheme,ran_as\npanama,none\n");
	csv = result_table(folder, "jobs.csv", &error);
	cr_assert(csv && csv_next(csv));
	name = result_job_name(csv);
	cr_expect_str_eq(name, "");
	free(name);
	cr_expect_not(csv_close(csv, &error));
	cr_expect_not_null(strstr(error, "no column name"), "%s", error);
	free(error);
}

/* Numbers of rows that no run writes and no counter holds. */
Test(result_read, rows_that_are_no_count)
{
	static const char *const numbers[] = { "-2", "2.5", "1e300", "1e999" };

	sample_write(folder, "t.csv", TABLE);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		char *manifest = xasprintf(
			"{ \"files\": [ { \"name\": \"t.csv\", \"rows\": %s } ] }", numbers[i]);
		sample_write(folder, "manifest.json", manifest);
		expect_error("is not a number of rows (t.csv)");
		free(manifest);
	}
}
