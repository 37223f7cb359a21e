/* The CSV writer: what it writes, what reads back, and that the file is always the old table or the
 * whole new one. Numbers are tested in test_table.c. */
#include "data/csv_write.h"

#include "data/csv_read.h"
#include "data/folder.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[] = INASIM_WORK_DIR "/inasim-csv-write-XXXXXX";
static char target[sizeof(folder) + 16];

static void setup(void)
{
	cr_assert_not_null(mkdtemp(folder));
	snprintf(target, sizeof(target), "%s/t.csv", folder);
}

static void teardown(void)
{
	cr_expect(folder_remove(folder));
}

TestSuite(csv_write, .init = setup, .fini = teardown);

static struct csv_writer *open_well(void)
{
	return csv_writer_open(target);
}

static void commit_well(struct csv_writer *csv)
{
	char *error = NULL;
	cr_assert(csv_writer_commit(csv, &error), "%s", error);
}

static void write_old(void)
{
	struct csv_writer *csv = open_well();
	csv_writer_text(csv, "old");
	csv_writer_end_row(csv);
	commit_well(csv);
}

static void expect_file(const char *want)
{
	char text[4096] = "";
	FILE *file = fopen(target, "r");
	cr_assert_not_null(file);
	size_t length = fread(text, 1, sizeof(text) - 1, file);
	fclose(file);
	cr_expect_eq(length, strlen(want));
	cr_expect_str_eq(text, want);
}

/* The folder holds nothing but the table. */
static void expect_tidy(void)
{
	cr_expect_eq(unlink(target), 0);
	cr_expect(rmdir(folder) == 0 && mkdir(folder, 0777) == 0, "it is not empty");
}

Test(csv_write, cells_of_every_kind)
{
	struct csv_writer *csv = open_well();
	for (const char *const *name = (const char *const[]){ "a", "b", "c", "d", "e", "f", NULL };
	     *name; name++)
		csv_writer_text(csv, *name);
	csv_writer_end_row(csv);
	csv_writer_count(csv, UINT64_MAX);
	csv_writer_real(csv, 0.1);
	csv_writer_real(csv, NAN);
	csv_writer_none(csv);
	csv_writer_seconds(csv, 1);
	csv_writer_flag(csv, true);
	csv_writer_end_row(csv);
	commit_well(csv);
	expect_file("a,b,c,d,e,f\n18446744073709551615,0.1,,,0.000000000001,1\n");
	expect_tidy();
}

/* RFC 4180, section 2, rules 5 to 7; "" tells an empty text from a missing value. */
Test(csv_write, quotes_only_where_they_must_be)
{
	struct csv_writer *csv = open_well();
	for (int i = 0; i < 5; i++)
		csv_writer_text(csv, "x y;z");
	csv_writer_end_row(csv);
	csv_writer_text(csv, "a,b");
	csv_writer_text(csv, "say \"a\"");
	csv_writer_text(csv, "two\nlines");
	csv_writer_text(csv, "");
	csv_writer_text(csv, "cr\r");
	csv_writer_end_row(csv);
	commit_well(csv);
	expect_file("x y;z,x y;z,x y;z,x y;z,x y;z\n"
		    "\"a,b\",\"say \"\"a\"\"\",\"two\nlines\",\"\",\"cr\r\"\n");
}

/* What a spreadsheet would run as a formula becomes a text there, and is read back as it was;
 * numbers stay numbers. */
Test(csv_write, no_formulas)
{
	static const char *const texts[] = { "=1+1", "+a",   "-b,c", "@sum",  "'=1",
					     "'a",   "''-1", "-1.5", "-1e-3", "+5",
					     "-",    "-inf", "-0x1", "-1-1",  "a=b" };
	size_t n = sizeof(texts) / sizeof(*texts);
	struct csv_writer *csv = open_well();
	char *error = NULL;
	csv_writer_text(csv, "=name");
	csv_writer_end_row(csv);
	for (size_t i = 0; i < n; i++) {
		csv_writer_text(csv, texts[i]);
		csv_writer_end_row(csv);
	}
	commit_well(csv);
	expect_file("'=name\n'=1+1\n'+a\n\"'-b,c\"\n'@sum\n''=1\n'a\n'''-1\n-1.5\n-1e-3\n+5\n"
		    "'-\n'-inf\n'-0x1\n'-1-1\na=b\n");
	struct csv *in = csv_open(target, &error);
	cr_assert_not_null(in, "%s", error);
	int column = csv_need(in, "=name");
	for (size_t i = 0; i < n && csv_next(in); i++)
		cr_expect_str_eq(csv_text(in, column), texts[i]);
	cr_expect(csv_close(in, &error), "%s", error);
}

Test(csv_write, reads_back_beyond_one_buffer)
{
	struct csv_writer *csv = open_well();
	csv_writer_text(csv, "n");
	csv_writer_text(csv, "x, \"y\"");
	csv_writer_end_row(csv);
	for (uint64_t i = 0; i < 50000; i++) {
		csv_writer_count(csv, i);
		csv_writer_real(csv, (double)i / 7);
		csv_writer_end_row(csv);
	}
	commit_well(csv);
	char *error = NULL;
	struct csv *in = csv_open(target, &error);
	cr_assert_not_null(in, "%s", error);
	uint64_t i = 0;
	int n = csv_need(in, "n"), x = csv_need(in, "x, \"y\"");
	for (; csv_next(in); i++) {
		cr_assert_eq(csv_u64(in, n), i);
		cr_assert_eq(csv_real(in, x), (double)i / 7);
	}
	cr_expect(csv_close(in, &error), "%s", error);
	cr_expect_eq(i, 50000);
}

Test(csv_write, former_table_stays_until_the_commit)
{
	write_old();
	struct csv_writer *csv = open_well();
	csv_writer_text(csv, "new");
	csv_writer_end_row(csv);
	expect_file("old\n");
	commit_well(csv);
	expect_file("new\n");
	expect_tidy();
}

Test(csv_write, abandoned_leaves_nothing)
{
	write_old();
	struct csv_writer *csv = open_well();
	csv_writer_text(csv, "new");
	csv_writer_abandon(csv);
	expect_file("old\n");
	expect_tidy();
}

/* A process that is killed while it writes a table leaves no file. */
Test(csv_write, killed_writer_leaves_nothing)
{
	pid_t child = fork();
	if (child == 0) {
		struct csv_writer *csv = open_well();
		for (unsigned i = 0; i < 100000; i++) {
			csv_writer_text(csv, "some text");
			csv_writer_end_row(csv);
		}
		raise(SIGKILL);
	}
	waitpid(child, NULL, 0);
	cr_expect(rmdir(folder) == 0 && mkdir(folder, 0777) == 0, "it is not empty");
}

/* The limit on the size of files stands in for a full disk. */
Test(csv_write, full_disk_is_told_and_changes_nothing)
{
	write_old();
	signal(SIGXFSZ, SIG_IGN);
	struct csv_writer *csv = open_well();
	for (int i = 0; i < 1000; i++) {
		csv_writer_text(csv, "more than there is room for");
		csv_writer_end_row(csv);
	}
	struct rlimit old, small;
	getrlimit(RLIMIT_FSIZE, &old);
	small = old;
	small.rlim_cur = 100;
	setrlimit(RLIMIT_FSIZE, &small);
	char *error = NULL;
	cr_expect_not(csv_writer_commit(csv, &error));
	setrlimit(RLIMIT_FSIZE, &old);
	cr_expect_not_null(strstr(error, "t.csv: File too large"), "%s", error);
	free(error);
	expect_file("old\n");
	expect_tidy();
}

Test(csv_write, no_such_folder)
{
	char *error = NULL;
	snprintf(target, sizeof(target), "%s/no/t.csv", folder);
	cr_expect_not(csv_writer_commit(csv_writer_open(target), &error));
	cr_expect_not_null(strstr(error, "cannot write"), "%s", error);
	free(error);
}

Test(csv_write, rows_of_unequal_length_are_a_bug, .signal = SIGABRT)
{
	struct csv_writer *csv = open_well();
	csv_writer_text(csv, "a");
	csv_writer_text(csv, "b");
	csv_writer_end_row(csv);
	csv_writer_text(csv, "only one");
	csv_writer_end_row(csv);
}
