#include "workload/program/program_pipeline.h"

#include "base/mem.h"

const char *const pipeline_kinds[] = { [PIPELINE_GPIPE] = "gpipe", [PIPELINE_1F1B] = "1f1b", NULL };

/* The k-th pass of a direction: runs of as many micro-batches as there are stages, chunk by
 * chunk. */
static struct pipeline_pass pass_at(const struct pipeline_shape *shape, bool back, uint64_t k)
{
	uint32_t run = shape->chunks > 1 ? shape->stages : shape->microbatches;
	uint64_t turn = (uint64_t)run * shape->chunks;
	uint32_t chunk = (uint32_t)(k % turn / run);
	struct pipeline_pass pass = {
		.back = back,
		.microbatch = (uint32_t)(k / turn * run + k % run),
		.chunk = back ? shape->chunks - 1 - chunk : chunk,
	};

	pass.last = pass.microbatch + 1 == shape->microbatches;
	return pass;
}

/* How many passes go forward before the first goes backward. */
static uint64_t warm_up(const struct pipeline_shape *shape, uint32_t stage)
{
	uint64_t all = (uint64_t)shape->microbatches * shape->chunks;
	uint64_t after = shape->stages - 1 - stage, warm = after;

	if (shape->kind == PIPELINE_GPIPE)
		return all;
	if (shape->chunks > 1)
		warm = 2 * after + (uint64_t)(shape->chunks - 1) * shape->stages;
	return warm < all ? warm : all;
}

struct pipeline_pass *pipeline_passes(const struct pipeline_shape *shape, uint32_t stage)
{
	uint64_t all = (uint64_t)shape->microbatches * shape->chunks, count = 0;
	uint64_t forward = warm_up(shape, stage), back = 0;
	struct pipeline_pass *passes = xcalloc(2 * all, sizeof(*passes));

	for (uint64_t k = 0; k < forward; k++)
		passes[count++] = pass_at(shape, false, k);
	while (back < all) {
		if (forward < all)
			passes[count++] = pass_at(shape, false, forward++);
		passes[count++] = pass_at(shape, true, back++);
	}
	return passes;
}

const char *pipeline_mistake(const struct pipeline_shape *shape)
{
	if (shape->chunks == 1)
		return NULL;
	if (shape->kind == PIPELINE_GPIPE)
		return "chunks take turns in \"1f1b\" only, not in \"gpipe\"";
	if (shape->stages == 1)
		return "chunks are for several stages";
	if (shape->microbatches % shape->stages)
		return "with chunks the number of micro-batches must be a multiple of that of "
		       "stages";
	return NULL;
}
