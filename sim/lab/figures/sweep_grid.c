#include "lab/figures/sweep_grid.h"

#include "base/mem.h"
#include "core/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STATUSES 16 /* sim/study/README.md has nine */

/* ---- Filling ---- */

/* The wanted levels of an axis, ascending by their numbers. */
static size_t *levels_of(const struct sweep_choice *choice, size_t axis, size_t *count)
{
	const struct axis_scale *scale = &choice->scales[axis];
	size_t *levels = xcalloc(scale->axis->count + 1, sizeof *levels);
	*count = 0;
	for (size_t i = 0; i < scale->axis->count; i++) {
		if (!choice->wanted[axis][i])
			continue;
		size_t at = (*count)++;
		for (; at > 0 && scale->at[levels[at - 1]] > scale->at[i]; at--)
			levels[at] = levels[at - 1];
		levels[at] = i;
	}
	return levels;
}

static size_t find(const size_t *levels, size_t count, size_t level)
{
	size_t i = 0;
	while (i < count && levels[i] != level)
		i++;
	return i;
}

static void cell_add(struct sweep_cell *cell, const struct sweep_point *point)
{
	cell->points =
		array_reserve(cell->points, cell->count, &cell->capacity, sizeof *cell->points);
	cell->points[cell->count++] = point;
}

/* Does the point belong to this figure? With `compared`, to its baseline: then
 * the level on the baseline's axis is that one's. */
static bool belongs(const struct sweep_point *point, const struct sweep_table *table,
		    const struct sweep_choice *choice, const size_t *fixed, bool compared)
{
	for (size_t i = 0; i < table->axis_count; i++) {
		if (compared && i == choice->base_axis) {
			if (point->levels[i] != choice->base_level)
				return false;
		} else if (sweep_choice_is_fixed(choice, i) && point->levels[i] != fixed[i]) {
			return false;
		}
	}
	return true;
}

/* The baseline of a by axis is that of all rows. */
static void place_base(struct sweep_grid *grid, const struct sweep_choice *choice,
		       const struct sweep_point *point, size_t column, size_t row)
{
	for (size_t r = 0; r < grid->rows; r++)
		if (choice->base_axis == choice->by || r == row)
			cell_add(&grid->bases[r * grid->columns + column], point);
}

void sweep_grid_init(struct sweep_grid *grid, const struct sweep_table *table,
		     const struct sweep_choice *choice, const size_t *fixed)
{
	*grid = (struct sweep_grid){ .rows = 1 };
	grid->x_level = levels_of(choice, choice->x, &grid->columns);
	if (choice->by != SIZE_MAX)
		grid->y_level = levels_of(choice, choice->by, &grid->rows);
	grid->cells = xcalloc(grid->columns * grid->rows + 1, sizeof *grid->cells);
	if (choice->base_axis != SIZE_MAX)
		grid->bases = xcalloc(grid->columns * grid->rows + 1, sizeof *grid->bases);
	for (size_t i = 0; i < table->point_count; i++) {
		const struct sweep_point *point = &table->points[i];
		size_t column = find(grid->x_level, grid->columns, point->levels[choice->x]);
		size_t row = choice->by == SIZE_MAX
				     ? 0
				     : find(grid->y_level, grid->rows, point->levels[choice->by]);
		if (column == grid->columns)
			continue;
		if (row < grid->rows && belongs(point, table, choice, fixed, false))
			cell_add(&grid->cells[row * grid->columns + column], point);
		if (grid->bases != NULL && belongs(point, table, choice, fixed, true))
			place_base(grid, choice, point, column, row);
	}
}

static void cells_free(struct sweep_cell *cells, size_t count)
{
	for (size_t i = 0; cells != NULL && i < count; i++)
		free(cells[i].points);
	free(cells);
}

void sweep_grid_release(struct sweep_grid *grid)
{
	cells_free(grid->cells, grid->columns * grid->rows);
	cells_free(grid->bases, grid->columns * grid->rows);
	free(grid->x_level);
	free(grid->y_level);
}

/* ---- Numbers ---- */

static double value_of(const struct sweep_point *point, size_t metric)
{
	return point->usable ? point->metrics[metric] : NAN;
}

static double value_of_replication(const struct sweep_cell *cell, uint64_t replication,
				   size_t metric)
{
	for (size_t i = 0; i < cell->count; i++)
		if (cell->points[i]->replication == replication)
			return value_of(cell->points[i], metric);
	return NAN;
}

struct estimate sweep_grid_estimate(const struct sweep_grid *grid, size_t cell, size_t metric)
{
	const struct sweep_cell *own = &grid->cells[cell];
	double *values = xcalloc(own->count + 1, sizeof *values);
	double *bases = xcalloc(own->count + 1, sizeof *bases);
	for (size_t i = 0; i < own->count; i++) {
		values[i] = value_of(own->points[i], metric);
		if (grid->bases != NULL)
			bases[i] = value_of_replication(&grid->bases[cell],
							own->points[i]->replication, metric);
	}
	struct estimate estimate =
		grid->bases == NULL
			? infer_mean(values, own->count, INFERENCE_LEVEL)
			: infer_ratio_paired(bases, values, own->count, INFERENCE_LEVEL);
	free(values);
	free(bases);
	return estimate;
}

double *sweep_grid_values(const struct sweep_grid *grid, size_t cell, size_t metric, size_t *count)
{
	const struct sweep_cell *own = &grid->cells[cell];
	double *values = xcalloc(own->count + 1, sizeof *values);
	*count = 0;
	for (size_t i = 0; i < own->count; i++) {
		double value = value_of(own->points[i], metric);
		if (!isnan(value))
			values[(*count)++] = value;
	}
	stats_sort(values, *count);
	return values;
}

/* ---- Tally ---- */

struct tally {
	size_t points, usable, unfinished, without;
	const char *status[STATUSES]; /* of those that are not usable */
	size_t of_status[STATUSES];
};

static void tally_cell(struct tally *tally, const struct sweep_cell *cell, size_t metric)
{
	for (size_t i = 0; i < cell->count; i++) {
		const struct sweep_point *point = cell->points[i];
		tally->points++;
		if (point->usable) {
			tally->usable++;
			tally->unfinished += strcmp(point->status, "done") != 0;
			tally->without += isnan(point->metrics[metric]) ? 1 : 0;
			continue;
		}
		size_t s = 0;
		while (s < STATUSES - 1 && tally->status[s] != NULL &&
		       strcmp(tally->status[s], point->status) != 0)
			s++;
		tally->status[s] = point->status;
		tally->of_status[s]++;
	}
}

/* Adds to a text; returns the longer one. */
static char *add(char *text, const char *glue, size_t count, const char *words)
{
	char *longer = xasprintf("%s%s%zu %s", text, glue, count, words);
	free(text);
	return longer;
}

/* Points of the baseline count once, and those that are drawn are not counted again. */
static void tally_bases(struct tally *tally, const struct sweep_grid *grid, size_t metric)
{
	size_t all = grid->columns * grid->rows;
	for (size_t i = 0; i < all; i++) {
		bool counted = grid->bases[i].count == 0;
		const struct sweep_point *first = counted ? NULL : grid->bases[i].points[0];
		for (size_t k = 0; k < all && !counted; k++)
			counted = (grid->cells[k].count > 0 && grid->cells[k].points[0] == first) ||
				  (k < i && grid->bases[k].count > 0 &&
				   grid->bases[k].points[0] == first);
		if (!counted)
			tally_cell(tally, &grid->bases[i], metric);
	}
}

char *sweep_grid_tally(const struct sweep_grid *grid, size_t metric)
{
	struct tally tally = { 0 };
	for (size_t i = 0; i < grid->columns * grid->rows; i++)
		tally_cell(&tally, &grid->cells[i], metric);
	if (grid->bases != NULL)
		tally_bases(&tally, grid, metric);
	char *text = xasprintf("%zu of %zu points are in", tally.usable, tally.points);
	for (size_t s = 0; s < STATUSES && tally.status[s] != NULL; s++)
		text = add(text, s == 0 ? " (" : ", ", tally.of_status[s], tally.status[s]);
	if (tally.usable < tally.points) {
		char *closed = xasprintf("%s)", text);
		free(text);
		text = closed;
	}
	if (tally.unfinished > 0)
		text = add(text, ", ", tally.unfinished, "with UNFINISHED work");
	if (tally.without > 0)
		text = add(text, ", ", tally.without, "without this value");
	return text;
}
