/* A folder in which a test draws figures, files made in it, and what they hold. */
#ifndef INASIM_TESTS_FIGURE_SAMPLE_H
#define INASIM_TESTS_FIGURE_SAMPLE_H

#include "base/input.h"
#include "data/folder.h"
#include "lab/figures/plot.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A blank and a quote: paths go through the shell and gnuplot. */
static char folder[] = INASIM_WORK_DIR "/inasim plot's-XXXXXX";

static void setup(void)
{
	cr_assert_not_null(mkdtemp(folder));
}

static void teardown(void)
{
	cr_expect(folder_remove(folder));
}

static inline FILE *create(const char *name)
{
	char *path = folder_join(folder, name);
	cr_assert(folder_make_parents(path));
	FILE *file = fopen(path, "w");
	cr_assert_not_null(file, "%s", path);
	free(path);
	return file;
}

static inline void create_text(const char *name, const char *text)
{
	FILE *file = create(name);
	fputs(text, file);
	cr_assert_eq(fclose(file), 0);
}

/* The size classes that scenarios have by default. */
#define SIZE_CLASSES                                                                               \
	"{\"flows\":{\"by_size\":[{\"min_bytes\":0},{\"min_bytes\":10000},{\"min_bytes\":100000}," \
	"{\"min_bytes\":1000000},{\"min_bytes\":10000000}]}}\n"

/* The whole of DIR/NAME; the caller frees. `length` may be NULL. */
static inline char *read_in(const char *dir, const char *name, size_t *length)
{
	char *path = folder_join(dir, name), *text = input_read(path, 1 << 24, length);
	cr_assert_not_null(text, "no %s", path);
	free(path);
	return text;
}

static inline char *read_file(const char *name)
{
	return read_in(folder, name, NULL);
}

#endif
