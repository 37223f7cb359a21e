#include "workload/program/program_grid.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

static const char *const names[] = { [GRID_TENSOR] = "tp",
				     [GRID_CONTEXT] = "cp",
				     [GRID_EXPERT] = "ep",
				     [GRID_DATA] = "dp",
				     [GRID_PIPELINE] = "pp" };

bool grid_read_order(struct grid *grid, const char *order)
{
	unsigned seen = 0;

	if (strlen(order) != 3 * GRID_DIMS - 1)
		return false;
	for (unsigned i = 0; i < GRID_DIMS; i++) {
		const char *at = order + (size_t)3 * i;

		if (i + 1 < GRID_DIMS && at[2] != '-')
			return false;
		for (unsigned dim = 0; dim < GRID_DIMS; dim++)
			if (!strncmp(at, names[dim], 2)) {
				grid->order[i] = (enum grid_dim)dim;
				seen |= GRID_ONLY(dim);
			}
	}
	return seen == (1u << GRID_DIMS) - 1;
}

uint32_t grid_rank(const struct grid *grid, const uint32_t at[GRID_DIMS])
{
	uint32_t rank = 0, stride = 1;

	for (unsigned i = 0; i < GRID_DIMS; i++) {
		rank += at[grid->order[i]] * stride;
		stride *= grid->size[grid->order[i]];
	}
	return rank;
}

void grid_at(const struct grid *grid, uint32_t rank, uint32_t at[GRID_DIMS])
{
	for (unsigned i = 0; i < GRID_DIMS; i++) {
		at[grid->order[i]] = rank % grid->size[grid->order[i]];
		rank /= grid->size[grid->order[i]];
	}
}

/* Moves to the next coordinates in the dimensions of `mask`. False: these were the last. */
static bool next(const struct grid *grid, unsigned mask, uint32_t at[GRID_DIMS])
{
	for (unsigned i = 0; i < GRID_DIMS; i++) {
		enum grid_dim dim = grid->order[i];

		if (!(mask & GRID_ONLY(dim)))
			continue;
		if (++at[dim] < grid->size[dim])
			return true;
		at[dim] = 0;
	}
	return false;
}

void grid_add_groups(const struct grid *grid, struct program *program, enum program_op op,
		     const char *name, unsigned mask, uint32_t stage, uint32_t seat)
{
	unsigned fixed = ((1u << GRID_DIMS) - 1) & ~mask & ~GRID_ONLY(GRID_PIPELINE);
	uint32_t at[GRID_DIMS] = { 0 }, count = 1, *ranks;

	for (unsigned dim = 0; dim < GRID_DIMS; dim++)
		count *= mask & GRID_ONLY(dim) ? grid->size[dim] : 1;
	ranks = xcalloc(count, sizeof(*ranks));
	at[GRID_PIPELINE] = stage;
	do {
		uint32_t group;

		for (uint32_t m = 0; m < count; m++) {
			ranks[m] = grid_rank(grid, at);
			next(grid, mask, at);
		}
		group = program_add_group(program, op, name, count, ranks);
		for (uint32_t m = 0; m < count; m++)
			program_sit(program, group, m, seat);
	} while (next(grid, fixed, at));
	free(ranks);
}
