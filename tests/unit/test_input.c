/* Files that others wrote: only regular ones, up to a size. Nothing hangs or grows without end. */
#include "base/input.h"
#include "base/mem.h"
#include "data/csv_read.h"
#include "data/folder.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[] = INASIM_WORK_DIR "/inasim-input-XXXXXX";
static char path[sizeof(folder) + 16];

static void setup(void)
{
	cr_assert_not_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/file", folder);
}

static void teardown(void)
{
	cr_expect(folder_remove(folder));
}

TestSuite(input, .init = setup, .fini = teardown);

static void write_file(const char *text)
{
	FILE *file = fopen(path, "w");
	fputs(text, file);
	fclose(file);
}

static void refuses(const char *name, size_t max, const char *why)
{
	cr_expect_null(input_read(name, max, NULL), "%s", name);
	cr_expect_str_eq(input_why(errno), why, "%s", name);
}

Test(input, whole_file)
{
	size_t length;
	char *text;

	write_file("four");
	text = input_read(path, 4, &length);
	cr_assert_str_eq(text, "four");
	cr_expect_eq(length, 4);
	free(text);
	refuses(path, 3, "too large");
	refuses(folder, 100, "Is a directory");
}

Test(input, file_without_a_size)
{
	char *text = input_read("/proc/self/status", 1 << 20, NULL);

	cr_expect(text && strstr(text, "Pid:"));
	free(text);
}

Test(input, pipes_and_devices)
{
	char *error = NULL;

	cr_assert_eq(mkfifo(path, 0600), 0);
	refuses(path, 100, "not a regular file");
	refuses("/dev/zero", SIZE_MAX, "not a regular file");
	cr_expect_null(csv_open(path, &error));
	cr_expect_not_null(strstr(error, "not a regular file"), "%s", error);
	free(error);
}

/* A pipe is read to its end if the caller allows it, up to the same size; a device never is. */
Test(input, pipe_to_its_end)
{
	size_t length;
	char *text;

	cr_assert_eq(mkfifo(path, 0600), 0);
	for (size_t max = 9; max <= 10; max++) {
		if (fork() == 0) {
			write_file("ten bytes.");
			_exit(0);
		}
		text = input_read_pipe(path, max, &length);
		cr_expect(max < 10 ? !text && errno == EFBIG : text && length == 10);
		free(text);
		wait(NULL);
	}
	cr_expect_null(input_read_pipe("/dev/zero", SIZE_MAX, NULL));
	cr_expect_str_eq(input_why(errno), "not a regular file");
	cr_expect_null(input_read_pipe(folder, 100, NULL));
	cr_expect_str_eq(input_why(errno), "Is a directory");
}

/* A process killed while it replaces a file leaves the former file, and nothing beside it. */
Test(input, killed_while_replacing)
{
	static const struct rlimit limit = { 5, 5 }; /* a write beyond it is SIGXFSZ */
	char *partial, *text;
	int status;
	pid_t child;

	write_file("former");
	child = fork();
	if (child == 0) {
		setrlimit(RLIMIT_FSIZE, &limit);
		folder_replace(path, "the new one", 11);
		_exit(0);
	}
	wait(&status);
	cr_expect(WIFSIGNALED(status) && WTERMSIG(status) == SIGXFSZ);
	partial = xasprintf("%s.partial.%ld", path, (long)child);
	cr_expect_not(folder_exists(partial));
	free(partial);
	text = input_read(path, 100, NULL);
	cr_expect_str_eq(text, "former");
	free(text);
	cr_expect(folder_replace(path, "the new one", 11));
	text = input_read(path, 100, NULL);
	cr_expect_str_eq(text, "the new one");
	free(text);
}

/* Zeros in quotes end the table at the first zero byte. A sparse file of a terabyte is refused. */
Test(input, zeros)
{
	struct csv *csv;
	char *error = NULL;

	write_file("a,b\n1,\"");
	cr_assert_eq(truncate(path, (off_t)3 << 30), 0);
	cr_assert_not_null(csv = csv_open(path, &error));
	cr_expect_not(csv_next(csv));
	cr_expect_not(csv_close(csv, &error));
	cr_expect_not_null(strstr(error, "file:2: a zero byte"), "%s", error);
	free(error);
	cr_assert_eq(truncate(path, (off_t)1 << 40), 0);
	cr_expect_null(csv_open(path, &error));
	cr_expect_not_null(strstr(error, "too large"), "%s", error);
	free(error);
}

Test(input, endless_row)
{
	FILE *file = fopen(path, "w");
	char *error = NULL;

	fputc('"', file);
	for (unsigned i = 0; i < 65 << 17; i++)
		fputs("eight ab", file);
	fclose(file);
	cr_expect_null(csv_open(path, &error));
	cr_expect_not_null(strstr(error, "file:1: a row of more than 64 MiB"), "%s", error);
	free(error);
}
