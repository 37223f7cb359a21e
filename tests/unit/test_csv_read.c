#include "data/csv_read.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[] = INASIM_WORK_DIR "/inasim-csv-XXXXXX";
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

TestSuite(csv_read, .init = setup, .fini = teardown);

static void write_file(const char *text, size_t length)
{
	FILE *file = fopen(path, "w");
	cr_assert_not_null(file);
	cr_assert_eq(fwrite(text, 1, length, file), length);
	cr_assert_eq(fclose(file), 0);
}

static struct csv *open_text(const char *text)
{
	char *error = NULL;
	write_file(text, strlen(text));
	struct csv *csv = csv_open(path, &error);
	cr_assert_not_null(csv, "%s", error);
	return csv;
}

static void close_well(struct csv *csv)
{
	char *error = NULL;
	cr_assert(csv_close(csv, &error), "%s", error);
}

/* Reads all rows of `text`, which must fail with `want` after "PATH:". */
static void expect_error(const char *text, size_t length, const char *want)
{
	char *error = NULL;
	write_file(text, length);
	struct csv *csv = csv_open(path, &error);
	if (csv) {
		while (csv_next(csv))
			;
		cr_assert_not(csv_close(csv, &error), "no error in: %s", text);
	}
	cr_assert_eq(strncmp(error, path, strlen(path)), 0, "%s", error);
	cr_expect_str_eq(error + strlen(path) + 1, want);
	free(error);
}

Test(csv_read, columns_go_by_name)
{
	struct csv *csv = open_text("b,a\n1,2.5\n3,4\n");
	int a = csv_need(csv, "a"), b = csv_need(csv, "b");
	cr_assert_eq(csv_find(csv, "c"), -1);
	cr_assert(csv_next(csv));
	cr_assert_eq(csv_line(csv), 2);
	cr_assert_eq(csv_real(csv, a), 2.5);
	cr_assert_eq(csv_u64(csv, b), 1);
	cr_assert(csv_next(csv));
	cr_assert_eq(csv_line(csv), 3);
	cr_assert_str_eq(csv_text(csv, a), "4");
	cr_assert_not(csv_next(csv));
	close_well(csv);
}

Test(csv_read, last_line_needs_no_end)
{
	static const char *const texts[] = { "a,b\n1,2\n3,4", "a,b\r\n1,2\r\n3,4\r\n",
					     "a,b\r\n1,2\r\n3,4\r",
					     ("\xef\xbb\xbf"
					      "a,b\n1,2\n3,4\n\n"),
					     "a,b\n\n1,2\n\r\n3,\"4\"" };
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		struct csv *csv = open_text(texts[i]);
		int a = csv_need(csv, "a"), b = csv_need(csv, "b");
		uint64_t sum = 0;
		while (csv_next(csv))
			sum += 10 * csv_u64(csv, a) + csv_u64(csv, b);
		cr_expect_eq(sum, 10 * (1 + 3) + 2 + 4, "text %zu", i);
		close_well(csv);
	}
}

Test(csv_read, quotes)
{
	struct csv *csv = open_text("\"a\",b\n\"x,\"\"y\"\"\nz\",\n,\"\"\nlast,q\n");
	cr_assert(csv_next(csv));
	cr_assert_str_eq(csv_text(csv, 0), "x,\"y\"\nz");
	cr_assert(csv_empty(csv, 1));
	cr_assert(csv_next(csv));
	cr_assert_eq(csv_line(csv), 4); /* the row before took two lines */
	cr_assert(csv_empty(csv, 0) && csv_empty(csv, 1));
	cr_assert(csv_next(csv));
	cr_assert_str_eq(csv_text(csv, 0), "last");
	close_well(csv);
}

Test(csv_read, mistakes_are_told_with_their_line)
{
	static const struct {
		const char *text, *want;
	} cases[] = {
		{ "", "1: no header line" },
		{ "\n\n", "1: no header line" },
		{ "a,,b\n", "1: a column without name" },
		{ "a,b,a\n", "1: two columns of the same name" },
		{ "a,b\n1,2\n1\n", "3: 1 cells, the header line has 2" },
		{ "a,b\n1,2,3\n", "2: 3 cells, the header line has 2" },
		{ "a,b\n1,2\n3", "3: 1 cells, the header line has 2" },
		{ "a,b\n1,\"2\n3,4\n", "2: a quote is never closed" },
		{ "a,b\n1,\"2\"x\n", "2: text after a closing quote" },
		{ "a,b\n1,2\"x\n", "2: a quote inside a cell that does not start with one" },
		{ "a,b\n1,2\rx\n", "2: a carriage return inside the line" },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		expect_error(cases[i].text, strlen(cases[i].text), cases[i].want);
	expect_error("a,b\n1,\0\n", 9, "2: a zero byte: not a text file");
}

Test(csv_read, no_such_file_and_no_such_column)
{
	char *error = NULL;
	cr_assert_null(csv_open(path, &error));
	cr_assert_not_null(strstr(error, "No such file"));
	free(error);
	cr_assert_null(csv_open(folder, &error)); /* a folder */
	free(error);
	struct csv *csv = open_text("a\n1\n");
	cr_assert_eq(csv_need(csv, "fct_s"), -1);
	cr_assert_not(csv_next(csv));
	cr_assert_not(csv_close(csv, &error));
	cr_assert_not_null(strstr(error, "no column fct_s"));
	free(error);
}

/* Reads one cell as `kind` ('u', 'r' or 'f'); true if that is no error. */
static bool reads(char kind, const char *cell)
{
	char text[64];
	char *error = NULL;
	snprintf(text, sizeof(text), "x,y\n%s,1\n", cell);
	struct csv *csv = open_text(text);
	cr_assert(csv_next(csv));
	if (kind == 'u')
		csv_u64(csv, 0);
	else if (kind == 'r')
		csv_real(csv, 0);
	else
		csv_flag(csv, 0);
	bool ok = csv_close(csv, &error);
	if (!ok)
		cr_expect_not_null(strstr(error, ":2: column x: \""), "%s", error);
	free(error);
	return ok;
}

Test(csv_read, numbers_are_strict)
{
	static const char *const good_u64[] = { "0", "18446744073709551615", "007" };
	static const char *const bad_u64[] = { "",
					       "-1",
					       "+1",
					       "1.0",
					       "1e3",
					       " 1",
					       "1 ",
					       "0x1",
					       "18446744073709551616",
					       "99999999999999999999" };
	static const char *const good_real[] = { "0", "-1.5", "1e-9", "+3", ".5", "5.", "1E300" };
	static const char *const bad_real[] = { "",   "nan", "inf",   "1e999", "0x1p3",
						" 1", "1 ",  "1.2.3", "e5",    "--1" };
	for (size_t i = 0; i < sizeof(good_u64) / sizeof(*good_u64); i++)
		cr_expect(reads('u', good_u64[i]), "%s", good_u64[i]);
	for (size_t i = 0; i < sizeof(bad_u64) / sizeof(*bad_u64); i++)
		cr_expect_not(reads('u', bad_u64[i]), "%s", bad_u64[i]);
	for (size_t i = 0; i < sizeof(good_real) / sizeof(*good_real); i++)
		cr_expect(reads('r', good_real[i]), "%s", good_real[i]);
	for (size_t i = 0; i < sizeof(bad_real) / sizeof(*bad_real); i++)
		cr_expect_not(reads('r', bad_real[i]), "%s", bad_real[i]);
	cr_expect(reads('f', "0") && reads('f', "1"));
	cr_expect_not(reads('f', "2") || reads('f', "") || reads('f', "10") || reads('f', "yes"));
}

Test(csv_read, the_first_error_sticks)
{
	char *error = NULL;
	struct csv *csv = open_text("x\nbad\nworse\n");
	cr_assert(csv_next(csv));
	cr_assert_eq(csv_u64(csv, 0), 0);
	cr_assert_eq(csv_u64(csv, 0), 0);
	cr_assert_not(csv_next(csv));
	cr_assert_not(csv_close(csv, &error));
	cr_assert_str_eq(error + strlen(path),
			 ":2: column x: \"bad\" is not a whole number of 64 bits");
	free(error);
}

Test(csv_read, the_caller_can_complain)
{
	char *error = NULL;
	struct csv *csv = open_text("x\n5\n");
	cr_assert(csv_next(csv));
	csv_complain(csv, 0, "is too late");
	cr_assert_not(csv_close(csv, &error));
	cr_assert_str_eq(error + strlen(path), ":2: column x: \"5\" is too late");
	free(error);
}
