/* Aligned text tables. */
#include "data/grid.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <stdlib.h>

static void expect(const struct grid *grid, const char *want)
{
	char *text = NULL;
	size_t length;
	FILE *to = open_memstream(&text, &length);
	grid_print(grid, GRID_TEXT, to);
	fclose(to);
	cr_expect_str_eq(text, want);
	free(text);
}

Test(grid, aligns_columns_and_ends_lines_at_their_last_character)
{
	struct grid *grid = grid_new("lrl");
	for (const char *const *cell =
		     (const char *const[]){ "a", "b", "c", "long", "1", "", "", "12", "x", NULL };
	     *cell; cell++)
		grid_add(grid, "%s", *cell);
	expect(grid, "a      b  c\n"
		     "long   1\n"
		     "      12  x\n");
	grid_free(grid);
}

Test(grid, leaves_empty_columns_out_and_lines_alone)
{
	struct grid *grid = grid_new("lll");
	grid_line(grid, "a line that is longer than %d cells", 3);
	grid_add(grid, "a");
	grid_add(grid, "%s", "");
	grid_add(grid, "b");
	expect(grid, "a line that is longer than 3 cells\na  b\n");
	grid_free(grid);
}

/* A character of two bytes takes one place. */
Test(grid, counts_characters)
{
	struct grid *grid = grid_new("ll");
	for (const char *const *cell = (const char *const[]){ "\u00e9", "b", "ab", "b", NULL };
	     *cell; cell++)
		grid_add(grid, "%s", *cell);
	expect(grid, "\u00e9   b\nab  b\n");
	grid_free(grid);
}

Test(grid, nothing)
{
	struct grid *grid = grid_new("l");
	expect(grid, "");
	grid_free(grid);
}

Test(grid, half_a_row_is_a_bug, .signal = SIGABRT)
{
	struct grid *grid = grid_new("ll");
	grid_add(grid, "a");
	grid_print(grid, GRID_TEXT, stdout);
}
