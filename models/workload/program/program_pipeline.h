/* In which order a stage of a pipeline takes micro-batches forward and backward.
 *
 *   GPipe         all forward, then all backward
 *   1F1B          forward until the stages behind are busy, then one forward and one backward in
 *                 turn (Megatron-LM, schedules.py)
 *   interleaved   the same where a stage has several chunks of layers: chunk j of stage p is
 * virtual stage j P + p, and chunks take turns of P micro-batches
 *
 * With F and B for all chunks of a stage, equal stages and messages that take no time, m
 * micro-batches take m (F + B) + (P - 1) (F + B) / v, where v is the number of chunks. */
#ifndef INASIM_WORKLOAD_PROGRAM_PROGRAM_PIPELINE_H
#define INASIM_WORKLOAD_PROGRAM_PROGRAM_PIPELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum pipeline_kind { PIPELINE_GPIPE, PIPELINE_1F1B };
extern const char *const pipeline_kinds[]; /* for ENUM rows */

struct pipeline_shape {
	enum pipeline_kind kind;
	uint32_t stages, chunks, microbatches;
};

/* A pass of a micro-batch through a chunk. */
struct pipeline_pass {
	bool back;
	uint32_t microbatch, chunk;
	bool last; /* of this chunk and direction */
};

/* The passes of a stage in their order: 2 x micro-batches x chunks. Caller frees. */
struct pipeline_pass *pipeline_passes(const struct pipeline_shape *shape, uint32_t stage);

/* What is wrong with a shape (a static string); NULL = nothing. */
const char *pipeline_mistake(const struct pipeline_shape *shape);

#endif
