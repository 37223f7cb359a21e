#include "workload/data_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <criterion/criterion.h>
#include <sys/stat.h>
#include <unistd.h>

/* A small project in a temporary folder:
 *   scenarios/s.json (does not exist), scenarios/mine.csv
 *   traces/top.csv, traces/cdf/{web,mine}.csv, traces/cdf/notes.txt, traces/jobs/philly.csv */
static char base[] = INASIM_WORK_DIR "/inasim-data-XXXXXX";
static char scenario[sizeof(base) + 32];

static void in_base(char *buffer, size_t size, const char *name)
{
	snprintf(buffer, size, "%s/%s", base, name);
}

static void make_folder(const char *name)
{
	char path[128];

	in_base(path, sizeof(path), name);
	cr_assert_eq(mkdir(path, 0700), 0);
}

static const char *const files[] = { "scenarios/mine.csv",   "traces/top.csv",
				     "traces/cdf/web.csv",   "traces/cdf/mine.csv",
				     "traces/cdf/notes.txt", "traces/jobs/philly.csv" };
static const char *const folders[] = { "scenarios", "traces", "traces/cdf", "traces/jobs",
				       "traces/cdf/deep.csv" };

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void setup(void)
{
	char path[128];

	cr_assert_not_null(mkdtemp(base));
	for (size_t i = 0; i < COUNT(folders); i++)
		make_folder(folders[i]);
	for (size_t i = 0; i < COUNT(files); i++) {
		FILE *file;

		in_base(path, sizeof(path), files[i]);
		file = fopen(path, "w");
		cr_assert_not_null(file);
		fclose(file);
	}
	in_base(path, sizeof(path), "traces");
	setenv("INASIM_TRACES", path, 1);
	in_base(scenario, sizeof(scenario), "scenarios/s.json");
}

static void teardown(void)
{
	char path[128];

	for (size_t i = 0; i < COUNT(files); i++) {
		in_base(path, sizeof(path), files[i]);
		unlink(path);
	}
	for (size_t i = COUNT(folders); i-- > 0;) {
		in_base(path, sizeof(path), folders[i]);
		rmdir(path);
	}
	rmdir(base);
}

TestSuite(data_file, .init = setup, .fini = teardown);

static void expect_found(enum data_kind kind, const char *name, const char *want)
{
	char *error = NULL, path[128];
	char *found = data_file_find(kind, name, scenario, &error);

	in_base(path, sizeof(path), want);
	cr_assert_not_null(found, "%s", error);
	cr_expect_str_eq(found, path);
	free(found);
}

/* Beside the scenario first, then traces/, then the folder of the kind; with and
 * without ".csv"; with a folder in the name. */
Test(data_file, order_of_places)
{
	expect_found(DATA_CDF, "mine", "scenarios/mine.csv");
	expect_found(DATA_CDF, "mine.csv", "scenarios/mine.csv");
	expect_found(DATA_CDF, "cdf/mine", "traces/cdf/mine.csv");
	expect_found(DATA_CDF, "top", "traces/top.csv");
	expect_found(DATA_CDF, "web", "traces/cdf/web.csv");
	expect_found(DATA_CDF, "web.csv", "traces/cdf/web.csv");
	expect_found(DATA_CDF, "notes.txt", "traces/cdf/notes.txt");
	expect_found(DATA_ANY, "philly", "traces/jobs/philly.csv");
	expect_found(DATA_CDF, "../traces/jobs/philly", "scenarios/../traces/jobs/philly.csv");
}

/* An absolute name is taken as it is; without a scenario, the working folder counts. */
Test(data_file, absolute_and_working_folder)
{
	char *error = NULL, path[128], *found;

	in_base(path, sizeof(path), "traces/cdf/web");
	found = data_file_find(DATA_JOBS, path, scenario, &error);
	cr_assert_not_null(found, "%s", error);
	cr_expect_eq(strncmp(found, path, strlen(path)), 0);
	cr_expect_str_eq(found + strlen(path), ".csv");
	free(found);
	in_base(path, sizeof(path), "scenarios");
	cr_assert_eq(chdir(path), 0);
	for (int i = 0; i < 2; i++) {
		found = data_file_find(DATA_CDF, "mine", i ? "s.json" : NULL, &error);
		cr_assert_not_null(found, "%s", error);
		cr_expect_str_eq(found, "./mine.csv");
		free(found);
	}
}

/* The message about a wrong name says where the search went and what exists. */
Test(data_file, wrong_name)
{
	char *error = NULL;

	cr_assert_null(data_file_find(DATA_CDF, "wab", scenario, &error));
	cr_expect_not_null(strstr(error, "no file \"wab\" (looked in "), "%s", error);
	cr_expect_not_null(strstr(error, "/scenarios, "), "%s", error);
	cr_expect_not_null(strstr(error, "/traces, "), "%s", error);
	cr_expect_not_null(strstr(error, "/traces/cdf)"), "%s", error);
	cr_expect_not_null(strstr(error, "did you mean \"web\"? There are: "), "%s", error);
	cr_expect_null(strstr(error, "philly"), "%s", error);
	free(error);
	cr_assert_null(data_file_find(DATA_CDF, "deep", scenario, &error), "a folder is no file");
	free(error);
	cr_assert_null(data_file_find(DATA_CDF, "philly", scenario, &error), "jobs are no sizes");
	free(error);
	cr_assert_null(data_file_find(DATA_MODELS, "", scenario, &error));
	cr_expect_not_null(strstr(error, "there are none"), "%s", error);
	free(error);
}

static void expect_list(enum data_kind kind, const char *const *want, size_t count)
{
	char **names = data_file_list(kind);

	for (size_t i = 0; i < count; i++) {
		cr_assert_not_null(names[i]);
		cr_expect_str_eq(names[i], want[i]);
	}
	cr_expect_null(names[count]);
	data_file_list_free(names);
}

Test(data_file, lists)
{
	static const char *const cdf[] = { "deep", "mine", "web" };
	static const char *const all[] = { "cdf/deep", "cdf/mine", "cdf/web", "jobs/philly" };

	expect_list(DATA_CDF, cdf, 3);
	expect_list(DATA_MODELS, NULL, 0);
	expect_list(DATA_ANY, all, 4);
}

/* The project's own traces are found where the build says, or below ./traces. */
Test(data_file, folder_of_the_build)
{
	char *error = NULL, *found;

	unsetenv("INASIM_TRACES");
	cr_assert_eq(chdir(INASIM_SOURCE_DIR), 0);
	found = data_file_find(DATA_CDF, "websearch", scenario, &error);
	cr_assert_not_null(found, "%s", error);
	free(found);
}

/* Writes one cell and reads it as a time; SIM_TIME_MAX when it is refused. */
static sim_time read_time(const char *text, uint64_t unit)
{
	char path[128], *error = NULL;
	struct csv *csv;
	FILE *file;
	sim_time time;

	in_base(path, sizeof(path), "scenarios/mine.csv");
	file = fopen(path, "w");
	cr_assert_not_null(file);
	fprintf(file, "t,u\n%s,1\n", text);
	fclose(file);
	csv = csv_open(path, &error);
	cr_assert_not_null(csv, "%s", error);
	cr_assert(csv_next(csv));
	time = data_time(csv, 0, unit);
	if (csv_close(csv, &error))
		return time;
	cr_expect_not_null(strstr(error, "mine.csv:2: column t: "), "%s", error);
	free(error);
	return SIM_TIME_MAX;
}

/* Decimal numbers become picoseconds without rounding; numbers that need rounding are refused. */
Test(data_file, times_are_exact)
{
	static const char *const bad[] = { "",
					   "-1",
					   "+1",
					   "1e3",
					   "5m",
					   "1 ",
					   "0x1",
					   ".",
					   "1.",
					   ".5",
					   "1.2.3",
					   "18446744.1",
					   "0.0000000000001",
					   "0.00000000000005",
					   "18446745",
					   "99999999999999999999" };

	cr_expect_eq(read_time("0", PS_PER_S), 0);
	cr_expect_eq(read_time("415.6", PS_PER_MS), 415600 * PS_PER_US);
	cr_expect_eq(read_time("0.1", PS_PER_S), 100 * PS_PER_MS);
	cr_expect_eq(read_time("0.000000000001", PS_PER_S), 1);
	cr_expect_eq(read_time("18446744.073709551614", PS_PER_S), UINT64_MAX - 1);
	cr_expect_eq(read_time("007.50000000000000", PS_PER_MS), 7500 * PS_PER_US);
	for (size_t i = 0; i < COUNT(bad); i++)
		cr_expect_eq(read_time(bad[i], PS_PER_S), SIM_TIME_MAX, "\"%s\" is taken", bad[i]);
}
