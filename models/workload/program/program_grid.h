/* Groups of ranks by Megatron-LM's rule (parallel_state.py): ranks are numbered through a grid of
 * dimensions, of which the first of the order is the fastest. A group has the ranks that differ
 * only in some of them. */
#ifndef INASIM_WORKLOAD_PROGRAM_PROGRAM_GRID_H
#define INASIM_WORKLOAD_PROGRAM_PROGRAM_GRID_H

#include "workload/program/program.h"

enum grid_dim { GRID_TENSOR, GRID_CONTEXT, GRID_EXPERT, GRID_DATA, GRID_PIPELINE, GRID_DIMS };
#define GRID_ONLY(dim) (1u << (dim))

struct grid {
	uint32_t size[GRID_DIMS];
	enum grid_dim order[GRID_DIMS]; /* the fastest first */
};

/* Reads an order as "tp-cp-ep-dp-pp". Returns whether it names each dimension once. */
bool grid_read_order(struct grid *grid, const char *order);

/* The rank at coordinates, and the other way round. */
uint32_t grid_rank(const struct grid *grid, const uint32_t at[GRID_DIMS]);
void grid_at(const struct grid *grid, uint32_t rank, uint32_t at[GRID_DIMS]);

/* Adds the groups of one stage whose ranks differ in the dimensions of `mask` (GRID_ONLY), with
 * ascending ranks, seated at this seat of theirs. */
void grid_add_groups(const struct grid *grid, struct program *program, enum program_op op,
		     const char *name, unsigned mask, uint32_t stage, uint32_t seat);

#endif
