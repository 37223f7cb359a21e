/* Tensors as chunks of one stream: where each tensor ends, and how many of its chunks every worker
 * still lacks.
 *
 * All workers hand over the same tensors in the same order, each at its own time. Chunks are
 * numbered from 0 for the life of the job; their results come in any order. Rings by tensor number
 * hold the tensors that some worker lacks. Nothing is allocated per chunk. */
#ifndef INASIM_COLLECTIVE_TENSORS_H
#define INASIM_COLLECTIVE_TENSORS_H

#include "base/types.h"
#include "why/why.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ELEMENT_BYTES 4 /* of gradients, in all schemes */

/* The sizes of the tensors that some worker has handed over, for schemes without chunks. Begins as
 * all zero; release it with free(sizes->of). */
struct tensor_sizes {
	bytes *of; /* by tensor */
	size_t count, capacity;
};

/* A worker hands over tensor number `tensor`. Its size must be the same at all workers. */
void tensor_sizes_add(struct tensor_sizes *sizes, uint64_t tensor, bytes size);

/* A tensor of E elements, 4 bytes each, is cut into m equal parts: part i has elements
 * floor(i E / m) to floor((i + 1) E / m) - 1. Returns the bytes of parts `first` to `end` - 1; at
 * least 1, because a message without payload costs a packet, too. */
uint64_t tensor_parts(bytes size, uint32_t first, uint32_t end, uint32_t m);

/* The state of one worker. */
struct tensor_reader {
	uint64_t chunks;     /* handed over */
	uint64_t tensors;    /* handed over */
	uint64_t first_open; /* oldest tensor that is not complete here */
	uint64_t *left;      /* missing chunks of tensor t, at [t & mask] */
};

struct tensors {
	struct why_chunks *why; /* is told of results (why/why.h); may be NULL */
	uint64_t count;         /* tensors that some worker has handed over */
	uint64_t oldest;        /* tensors before this one are complete at all workers */
	uint64_t mask;          /* of the rings: capacity - 1 */
	uint64_t *end;          /* the first chunk after tensor t, at [t & mask] */
	struct tensor_reader *readers;
	uint32_t workers;
};

void tensors_init(struct tensors *tensors, uint32_t workers);
void tensors_release(struct tensors *tensors);

/* A worker hands over its next tensor. `chunks` (>= 1) must be the same at all workers. */
void tensors_add(struct tensors *tensors, uint32_t worker, uint64_t chunks);

/* A worker gets the result of a chunk for the first time. Sets *tensor to the chunk's tensor.
 * Returns whether this tensor is now complete at this worker. */
bool tensors_result(struct tensors *tensors, uint32_t worker, uint64_t chunk, uint64_t *tensor);

/* The tensor of a chunk. Some worker must have handed the tensor over, and `worker` must lack a
 * part of it. */
uint64_t tensors_of_chunk(const struct tensors *tensors, uint32_t worker, uint64_t chunk);

/* The number of chunks that a worker has handed over. */
static inline uint64_t tensors_available(const struct tensors *tensors, uint32_t worker)
{
	return tensors->readers[worker].chunks;
}

#endif
