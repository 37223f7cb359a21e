#include "lab/figures/sweep_grid.h"

#include "base/mem.h"
#include "stats/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

static const struct group *find(const struct groups *groups, const size_t *levels, size_t axes)
{
	for (size_t i = 0; i < groups->count; i++)
		if (memcmp(groups->items[i].levels, levels, axes * sizeof *levels) == 0)
			return &groups->items[i];
	return NULL;
}

void sweep_grid_init(struct sweep_grid *grid, const struct sweep_table *table,
		     const struct groups *groups, const struct sweep_choice *choice, size_t figure)
{
	size_t axes = table->axis_count, *levels = xcalloc(axes + 1, sizeof *levels);
	*grid = (struct sweep_grid){ .rows = 1,
				     .ratios = choice->base_axis != SIZE_MAX,
				     .fixed = xcalloc(axes + 1, sizeof *grid->fixed) };
	sweep_choice_fixed(choice, table, figure, grid->fixed);
	grid->x_level = levels_of(choice, choice->x, &grid->columns);
	if (choice->by != SIZE_MAX)
		grid->y_level = levels_of(choice, choice->by, &grid->rows);
	grid->cells = xcalloc(grid->columns * grid->rows + 1, sizeof *grid->cells);
	grid->bases = xcalloc(grid->columns * grid->rows + 1, sizeof *grid->bases);
	for (size_t i = 0; i < grid->columns * grid->rows; i++) {
		memcpy(levels, grid->fixed, axes * sizeof *levels);
		levels[choice->x] = grid->x_level[i % grid->columns];
		if (choice->by != SIZE_MAX)
			levels[choice->by] = grid->y_level[i / grid->columns];
		grid->cells[i] = find(groups, levels, axes);
		if (!grid->ratios)
			continue;
		levels[choice->base_axis] = choice->base_level;
		grid->bases[i] = find(groups, levels, axes);
	}
	free(levels);
}

void sweep_grid_release(struct sweep_grid *grid)
{
	free(grid->cells);
	free(grid->bases);
	free(grid->fixed);
	free(grid->x_level);
	free(grid->y_level);
}

/* ---- Numbers ---- */

static double value_of_replication(const struct group *group, uint64_t replication, size_t metric)
{
	for (size_t i = 0; group != NULL && i < group->count; i++)
		if (group->points[i]->replication == replication && group->points[i]->usable)
			return group->points[i]->metrics[metric];
	return NAN;
}

struct estimate sweep_grid_estimate(const struct sweep_grid *grid, size_t cell, size_t metric)
{
	const struct group *own = grid->cells[cell];
	if (own == NULL)
		return (struct estimate){ .value = NAN, .low = NAN, .high = NAN };
	double *values = group_values(own, metric);
	double *bases = xcalloc(own->count, sizeof *bases);
	for (size_t i = 0; i < own->count; i++)
		bases[i] = value_of_replication(grid->bases[cell], own->points[i]->replication,
						metric);
	struct estimate estimate =
		grid->ratios ? infer_ratio_paired(bases, values, own->count, INFERENCE_LEVEL)
			     : infer_mean(values, own->count, INFERENCE_LEVEL);
	free(values);
	free(bases);
	return estimate;
}

double *sweep_grid_values(const struct sweep_grid *grid, size_t cell, size_t metric, size_t *count)
{
	const struct group *own = grid->cells[cell];
	double *values = own != NULL ? group_values(own, metric) : NULL;
	*count = 0;
	for (size_t i = 0; own != NULL && i < own->count; i++)
		if (!isnan(values[i]))
			values[(*count)++] = values[i];
	stats_sort(values, *count);
	return values;
}
