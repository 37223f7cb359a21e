/* Result directories and tables, and the numbers in them (data/number.h). */
#include "data/table.h"

#include "base/input.h"
#include "data/folder.h"
#include "data/number.h"
#include "sweep_sample.h"

#include <criterion/criterion.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct out_column columns[] = {
	{ "id", OUT_COUNT, "Number." },          { "share", OUT_REAL, "Some share." },
	{ "time_s", OUT_SECONDS, "Some time." }, { "name", OUT_TEXT, "Some name." },
	{ "done", OUT_FLAG, "Whether it is." },  { NULL },
};
static const struct out_schema things = { "things.csv", "One row per thing.", columns };
static const struct out_schema inner = { "series/inner.csv", "In a sub-folder.", columns };

static char folder[] = INASIM_WORK_DIR "/inasim-table-XXXXXX";
static char target[sizeof(folder) + 16], partial[sizeof(folder) + 32];

static void setup(void)
{
	cr_assert_not_null(mkdtemp(folder));
	snprintf(target, sizeof(target), "%s/out", folder);
	snprintf(partial, sizeof(partial), "%s.partial", target);
}

static void teardown(void)
{
	cr_expect(folder_remove(folder));
}

TestSuite(table, .init = setup, .fini = teardown);

static struct out_dir *open_well(const char *path)
{
	char *error = NULL;
	struct out_dir *dir = out_dir_open(path, &error);
	cr_assert_not_null(dir, "%s", error);
	return dir;
}

/* Opening `path` must fail with a message that holds `want`. */
static void open_fails(const char *path, const char *want)
{
	char *error = NULL;
	cr_assert_null(out_dir_open(path, &error), "%s", path);
	cr_expect_not_null(strstr(error, want), "%s: %s", path, error);
	free(error);
}

static struct out_table *table_well(struct out_dir *dir, const struct out_schema *schema)
{
	char *error = NULL;
	struct out_table *table = out_table_open(dir, schema, &error);
	cr_assert_not_null(table, "%s", error);
	return table;
}

static void write_well(struct out_dir *dir, const char *file, const char *text)
{
	char *error = NULL;
	cr_assert(out_dir_write(dir, file, text, &error), "%s", error);
}

static void commit_well(struct out_dir *dir)
{
	char *error = NULL;
	cr_assert(out_dir_commit(dir, &error), "%s", error);
}

static void commit_fails(struct out_dir *dir, const char *want)
{
	char *error = NULL;
	cr_assert_not(out_dir_commit(dir, &error));
	cr_expect_not_null(strstr(error, want), "%s", error);
	free(error);
}

static char *read_file(const char *dir, const char *name)
{
	char *path = folder_join(dir, name), *text = NULL;
	size_t size = 0;
	FILE *file = fopen(path, "r");
	cr_assert_not_null(file, "%s", path);
	cr_assert_neq(getdelim(&text, &size, EOF, file), -1);
	fclose(file);
	free(path);
	return text;
}

static void expect_file(const char *dir, const char *name, const char *want)
{
	char *text = read_file(dir, name);
	cr_expect_str_eq(text, want);
	free(text);
}

/* A finished result directory whose manifest is `text`. */
static void make_results(const char *path, const char *text)
{
	struct out_dir *dir = open_well(path);
	write_well(dir, "manifest.json", text);
	commit_well(dir);
}

/* ---- Numbers ---- */

static void expect_real(double value)
{
	char want[NUMBER_TEXT], got[NUMBER_TEXT];
	int digits = 15;
	do
		snprintf(want, sizeof(want), "%.*g", digits, value);
	while (strtod(want, NULL) != value && ++digits <= 17);
	size_t length = number_real(got, value);
	cr_assert_str_eq(got, want, "%.17g", value);
	cr_assert_eq(length, strlen(want));
}

Test(table, reals_are_the_shortest_that_read_back)
{
	static const double values[] = { 0.0,
					 -0.0,
					 1,
					 -1,
					 0.1,
					 0.96,
					 1.5,
					 100,
					 1e15,
					 1e16,
					 1e17,
					 123456,
					 1e-4,
					 1e-5,
					 9e-5,
					 0.5,
					 1e-10,
					 1e-11,
					 1e-300,
					 5e-324,
					 1e308,
					 1e100,
					 1.0 / 3,
					 2.0 / 3,
					 9.9999999999999999,
					 999999999999999.9,
					 99999999999999984.0,
					 0.30000000000000004,
					 9007199254740993.0,
					 4.35,
					 0.000123456 };
	for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++)
		expect_real(values[i]);
	for (int e = -1074; e < 1024; e++) { /* the gap below a power of two is half as wide */
		expect_real(ldexp(1, e));
		expect_real(nextafter(ldexp(1, e), 0));
		expect_real(nextafter(ldexp(1, e), 1e308));
	}
	for (int e = -320; e <= 308; e++)
		expect_real(pow(10, e));
}

Test(table, random_reals_read_back)
{
	uint64_t state = 1;
	for (int i = 0; i < 200000; i++) {
		state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
		double share = (double)(state >> 11) * 0x1p-53;
		/* Values with any digits and with few digits, of many magnitudes. */
		expect_real(ldexp(share, (int)(state % 100) - 40));
		expect_real((double)(state >> 40) / 1e6);
	}
}

Test(table, not_a_number_and_infinite)
{
	char text[NUMBER_TEXT];
	number_real(text, (double)NAN);
	cr_assert_str_eq(text, "nan");
	number_real(text, -(double)INFINITY);
	cr_assert_str_eq(text, "-inf");
}

Test(table, seconds_are_exact)
{
	static const struct {
		sim_time time;
		const char *text;
	} cases[] = {
		{ 0, "0" },
		{ 1, "0.000000000001" },
		{ 1234567, "0.000001234567" },
		{ PS_PER_S, "1" },
		{ 3 * PS_PER_S / 2, "1.5" },
		{ 10 * PS_PER_S + 10, "10.00000000001" },
		{ UINT64_MAX - 1, "18446744.073709551614" },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char text[NUMBER_TEXT];
		cr_assert_eq(number_seconds(text, cases[i].time), strlen(cases[i].text));
		cr_assert_str_eq(text, cases[i].text);
	}
}

/* ---- Tables ---- */

Test(table, rows_and_file_list)
{
	struct out_dir *dir = open_well(target);
	struct out_table *table = table_well(dir, &things);
	struct out_table *other = table_well(dir, &inner);
	const struct out_cell full[] = {
		{ .count = UINT64_MAX },  { .real = 0.1 },  { .time = 1500 * PS_PER_MS },
		{ .text = "plain text" }, { .flag = true },
	};
	const struct out_cell empty[] = { { .none = true },
					  { .none = true },
					  { .none = true },
					  { .none = true },
					  { .none = true } };
	const struct out_cell odd[] = { { .count = 0 },
					{ .real = (double)NAN },
					{ .time = 0 },
					{ .text = "a,\"b\"\nc" },
					{ .flag = false } };
	const struct out_cell blank[] = {
		{ .count = 1 }, { .real = -2 }, { .time = 1 }, { .text = "" }, { .flag = false }
	};
	out_table_row(table, full);
	out_table_row(table, empty);
	out_table_row(table, odd);
	out_table_row(table, blank);
	out_table_row(other, full);
	write_well(dir, "summary.json", "{}\n");
	write_well(dir, "summary.json", "{ }\n");

	uint64_t rows;
	cr_assert_eq(out_dir_files(dir), 3);
	cr_assert_str_eq(out_dir_file(dir, 0, &rows), "things.csv");
	cr_assert_eq(rows, 4);
	cr_assert_str_eq(out_dir_file(dir, 1, &rows), "series/inner.csv");
	cr_assert_eq(rows, 1);
	cr_assert_str_eq(out_dir_file(dir, 2, &rows), "summary.json");
	cr_assert_eq(rows, 0);
	cr_assert_str_eq(out_dir_working_path(dir), partial);
	cr_assert_not(folder_exists(target));
	commit_well(dir);

	expect_file(target, "things.csv",
		    "id,share,time_s,name,done\n"
		    "18446744073709551615,0.1,1.5,plain text,1\n"
		    ",,,,\n"
		    "0,,0,\"a,\"\"b\"\"\nc\",0\n"
		    "1,-2,0.000000000001,\"\",0\n");
	expect_file(target, "summary.json", "{ }\n");
	cr_assert_not(folder_exists(partial));
	cr_assert_not(folder_has(target, ".writing"));
}

Test(table, more_than_a_buffer)
{
	enum { ROWS = 20000, NAME = 1000 };
	char name[NAME + 1];
	memset(name, 'x', NAME);
	name[NAME] = '\0';
	struct out_dir *dir = open_well(target);
	struct out_table *table = table_well(dir, &things);
	for (uint64_t i = 0; i < ROWS; i++)
		out_table_row(table, (struct out_cell[]){ { .count = i },
							  { .real = 1 },
							  { .time = 0 },
							  { .text = name },
							  { .flag = 1 } });
	commit_well(dir);
	char *text = read_file(target, "things.csv"), *line = strchr(text, '\n') + 1;
	for (uint64_t i = 0; i < ROWS; i++) {
		char want[NAME + 64];
		int length = snprintf(want, sizeof(want), "%d,1,0,%s,1\n", (int)i, name);
		cr_assert_eq(memcmp(line, want, (size_t)length), 0, "row %d", (int)i);
		line += length;
	}
	cr_assert_eq(*line, '\0');
	free(text);
}

/* In a child process, so that the folder is cleared away afterwards. */
Test(table, never_is_no_time)
{
	struct out_dir *dir = open_well(target);
	struct out_table *table = table_well(dir, &things);
	pid_t child = fork();
	if (child == 0) {
		fclose(stderr);
		out_table_row(table, (struct out_cell[]){ { .count = 1 },
							  { .real = 1 },
							  { .time = SIM_TIME_MAX },
							  { .text = "" },
							  { .flag = 1 } });
		_exit(0);
	}
	int status;
	cr_assert_eq(waitpid(child, &status, 0), child);
	cr_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
	out_dir_abandon(dir);
}

/* A limit on the size of files stands in for a full disk. */
Test(table, write_errors_are_found)
{
	struct out_dir *dir = open_well(target);
	struct out_table *table = table_well(dir, &things);
	signal(SIGXFSZ, SIG_IGN);
	struct rlimit old, low;
	getrlimit(RLIMIT_FSIZE, &old);
	low = old;
	low.rlim_cur = 1000;
	setrlimit(RLIMIT_FSIZE, &low);
	for (int i = 0; i < 100; i++)
		out_table_row(table, (struct out_cell[]){ { .count = 1 },
							  { .real = 1 },
							  { .time = 0 },
							  { .text = "name" },
							  { .flag = 1 } });
	char *error = NULL;
	char *text = malloc(2001);
	memset(text, 'x', 2000);
	text[2000] = '\0';
	cr_expect_not(out_dir_write(dir, "manifest.json", text, &error));
	cr_expect_not_null(strstr(error, "manifest.json: File too large"), "%s", error);
	free(text);
	free(error);
	commit_fails(dir, "things.csv: File too large");
	setrlimit(RLIMIT_FSIZE, &old);
	cr_assert_not(folder_exists(target));
	/* whole rows of the table stay */
	char *rows = folder_join(partial, "things.csv");
	size_t length = 0;
	text = input_read(rows, 2000, &length);
	cr_assert(text && length > 900 && length <= 1000, "%zu", length);
	cr_expect_eq(text[length - 1], '\n');
	free(text);
	free(rows);
}

/* ---- Directories ---- */

Test(table, parents_are_made_and_slashes_trimmed)
{
	char path[sizeof(target) + 16], clean[sizeof(target) + 16];
	snprintf(path, sizeof(path), "%s/a//b///", target);
	snprintf(clean, sizeof(clean), "%s/a/b", target);
	make_results(path, "1");
	expect_file(clean, "manifest.json", "1");
}

Test(table, former_results_are_replaced_whole)
{
	struct out_dir *dir = open_well(target);
	table_well(dir, &things);
	table_well(dir, &inner);
	write_well(dir, "manifest.json", "old");
	commit_well(dir);
	dir = open_well(target);
	expect_file(target, "manifest.json", "old"); /* until the commit */
	write_well(dir, "manifest.json", "new");
	commit_well(dir);
	expect_file(target, "manifest.json", "new");
	cr_assert_not(folder_has(target, "things.csv"));
	cr_assert_not(folder_has(target, "series"));
	cr_assert_not(folder_has(target, ".writing"));
	cr_assert_not(folder_exists(partial));
}

Test(table, an_empty_folder_is_taken)
{
	cr_assert_eq(mkdir(target, 0777), 0);
	make_results(target, "1");
	expect_file(target, "manifest.json", "1");
}

Test(table, what_is_no_result_directory_is_left_alone)
{
	char *precious = folder_join(target, "thesis.tex");
	cr_assert_eq(mkdir(target, 0777), 0);
	fclose(fopen(precious, "w"));
	open_fails(target, "not a result directory");
	cr_assert(folder_exists(precious));
	free(precious);
	cr_assert(folder_remove(target));
	fclose(fopen(target, "w")); /* a file */
	open_fails(target, "not a result directory");
	cr_assert_eq(unlink(target), 0);
	cr_assert_eq(symlink("nowhere", target), 0);
	open_fails(target, "symbolic link");
	open_fails("/", "name of its own");
	open_fails("..", "name of its own");
	open_fails("", "name of its own");
}

/* The user may put something at the target while the run lasts. */
Test(table, target_is_checked_again_at_the_end)
{
	struct out_dir *dir = open_well(target);
	write_well(dir, "manifest.json", "1");
	char *precious = folder_join(target, "thesis.tex");
	cr_assert_eq(mkdir(target, 0777), 0);
	fclose(fopen(precious, "w"));
	commit_fails(dir, "not a result directory");
	cr_assert(folder_exists(precious));
	expect_file(partial, "manifest.json", "1");
	free(precious);
}

/* If somebody removes the folder while the run lasts, what is left is not a result. */
Test(table, removed_folder_is_found)
{
	char *error = NULL;
	struct out_dir *dir = open_well(target);
	table_well(dir, &things);
	cr_assert(folder_remove(partial));
	cr_expect_not(out_dir_write(dir, "manifest.json", "1", &error));
	cr_expect_not_null(strstr(error, "No such file"), "%s", error);
	free(error);
	commit_fails(dir, "removed or renamed");
	cr_expect_not(folder_exists(target));
	cr_expect_not(folder_exists(partial));
}

Test(table, folder_of_another_is_not_taken)
{
	char other[sizeof(partial) + 8];
	struct out_dir *dir = open_well(target);
	write_well(dir, "manifest.json", "1");
	snprintf(other, sizeof(other), "%s.moved", partial);
	cr_assert_eq(rename(partial, other), 0);
	cr_assert_eq(mkdir(partial, 0777), 0);
	commit_fails(dir, "removed or renamed");
	cr_expect_not(folder_exists(target));
	expect_file(other, "manifest.json", "1");
}

Test(table, removed_or_replaced_file_is_found)
{
	const char *names[] = { "manifest.json", "things.csv", "series/inner.csv" };
	for (size_t i = 0; i < 6; i++) {
		struct out_dir *dir = open_well(target);
		char *path = folder_join(partial, names[i % 3]);
		table_well(dir, &things);
		table_well(dir, &inner);
		write_well(dir, "manifest.json", "1");
		cr_assert_eq(unlink(path), 0);
		if (i >= 3)
			fclose(fopen(path, "w"));
		commit_fails(dir, names[i % 3]);
		cr_expect_not(folder_exists(target));
		free(path);
	}
}

Test(table, folders_that_cannot_be_made)
{
	char path[sizeof(target) + 16];
	fclose(fopen(target, "w"));
	snprintf(path, sizeof(path), "%s/below/a/file", target);
	open_fails(path, "Not a directory");
	if (geteuid() == 0)
		return; /* root may write anywhere */
	cr_assert_eq(chmod(folder, 0500), 0);
	snprintf(path, sizeof(path), "%s/new", folder);
	open_fails(path, "Permission denied");
	cr_assert_eq(chmod(folder, 0700), 0);
}

Test(table, abandoned_results_leave_nothing)
{
	struct out_dir *dir = open_well(target);
	table_well(dir, &inner);
	out_dir_abandon(dir);
	cr_assert_not(folder_exists(target));
	cr_assert_not(folder_exists(partial));
}

/* Opens `target` in another process, which then waits. Returns the id of that process. */
static pid_t start_writer(void)
{
	int ready[2];
	char byte;
	cr_assert_eq(pipe(ready), 0);
	pid_t child = fork();
	if (child == 0) {
		char *error = NULL;
		struct out_dir *dir = out_dir_open(target, &error);
		if (!dir || !out_table_open(dir, &things, &error) || write(ready[1], "x", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	close(ready[1]);
	cr_assert_eq(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	return child;
}

Test(table, killed_run_is_cleared_away_living_one_is_not)
{
	pid_t writer = start_writer();
	open_fails(target, "being written by another run");
	cr_assert(folder_has(partial, "things.csv"));
	kill(writer, SIGKILL);
	waitpid(writer, NULL, 0);
	cr_assert_not(folder_exists(target)); /* never looks finished */
	struct out_dir *dir = open_well(target);
	cr_assert_not(folder_has(partial, "things.csv"));
	out_dir_abandon(dir);
}

/* A run that is killed just before the commit exchanges the two folders leaves both with a marker:
 * the former results (whole, or an empty folder) and its own. The next run takes both. */
Test(table, run_killed_in_the_commit)
{
	for (int empty = 0; empty < 2; empty++) {
		if (empty)
			cr_assert_eq(mkdir(target, 0777), 0);
		else
			make_results(target, "old");
		sample_write(target, ".writing", "");
		cr_assert_eq(mkdir(partial, 0777), 0);
		sample_write(partial, ".writing", "");
		sample_write(partial, "manifest.json", "killed");
		make_results(target, "new");
		expect_file(target, "manifest.json", "new");
		cr_assert_not(folder_has(target, ".writing"));
		cr_assert_not(folder_exists(partial));
		cr_assert(folder_remove(target));
	}
}

/* A link to a folder in the marker's place cannot be opened to write: the marker is not taken. */
Test(table, marker_that_cannot_be_taken_stays)
{
	struct out_dir *dir = open_well(target);
	char *marker = folder_join(target, ".writing");
	struct stat status;
	write_well(dir, "manifest.json", "{}");
	cr_assert_eq(mkdir(target, 0777), 0);
	cr_assert_eq(symlink(".", marker), 0);
	commit_fails(dir, "cannot rename");
	cr_expect_eq(lstat(marker, &status), 0);
	expect_file(partial, "manifest.json", "{}");
	free(marker);
}

Test(table, partial_of_somebody_else_is_left_alone)
{
	char *precious = folder_join(partial, "thesis.tex");
	cr_assert_eq(mkdir(partial, 0777), 0);
	fclose(fopen(precious, "w"));
	open_fails(target, "does not come from a killed run");
	cr_assert(folder_exists(precious));
	free(precious);
}

/* ---- Dictionary ---- */

static char *dictionary(bool json)
{
	const struct out_schema *const all[] = { &things, &inner };
	char *text = NULL;
	size_t size = 0;
	FILE *to = open_memstream(&text, &size);
	out_dictionary(all, 2, to, json);
	fclose(to);
	return text;
}

Test(table, dictionary_as_text)
{
	char *text = dictionary(false);
	static const char want[] = "things.csv\n"
				   "  One row per thing.\n"
				   "\n"
				   "  id      count    Number.\n"
				   "  share   real     Some share.\n"
				   "  time_s  seconds  Some time.\n";
	cr_assert_eq(strncmp(text, want, sizeof(want) - 1), 0, "%s", text);
	cr_assert_not_null(strstr(text, "series/inner.csv\n"));
	free(text);
}

Test(table, dictionary_as_json)
{
	char *text = dictionary(true);
	cr_assert_not_null(strstr(text, "      \"file\": \"things.csv\",\n"
					"      \"help\": \"One row per thing.\",\n"
					"      \"columns\": [\n"
					"        {\n"
					"          \"name\": \"id\",\n"
					"          \"type\": \"count\",\n"
					"          \"help\": \"Number.\",\n"
					"          \"since\": \"0.1\"\n"
					"        },\n"),
			   "%s", text);
	free(text);
}
