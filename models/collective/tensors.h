/* Tensors as chunks of one stream: where each tensor ends, and how many of its
 * chunks every worker still lacks.
 *
 * Workers hand the same tensors over in the same order, each at its own time; the
 * chunks are numbered from 0 for the life of the job, and results come in any
 * order. Two kinds of rings by tensor number hold those that are open at some
 * worker; they grow, and nothing is allocated per chunk. */
#ifndef INASIM_COLLECTIVE_TENSORS_H
#define INASIM_COLLECTIVE_TENSORS_H

#include "base/types.h"
#include "why/why.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ELEMENT_BYTES 4 /* of gradients, in all schemes */

/* For schemes whose tensors are no chunks: the sizes of those that some worker has handed over. All
 * zero is empty; release it with free(sizes->of). */
struct tensor_sizes {
	bytes *of; /* by tensor */
	size_t count, capacity;
};

/* A worker hands over tensor number `tensor`: the first one after it did at some worker, or with
 * the size that it has there. */
void tensor_sizes_add(struct tensor_sizes *sizes, uint64_t tensor, bytes size);

/* Bytes of part q of m of a tensor: of its E elements those from floor(qE/m) to floor((q+1)E/m), 4
 * bytes each. A part without elements has one byte: a message without payload costs a packet too.
 */
uint64_t tensor_part(bytes size, uint32_t q, uint32_t m);

/* Parts `first` to `end` - 1 together; one byte at least. */
uint64_t tensor_parts(bytes size, uint32_t first, uint32_t end, uint32_t m);

/* One worker's view. */
struct tensor_reader {
	uint64_t chunks;     /* handed over */
	uint64_t tensors;    /* handed over */
	uint64_t first_open; /* oldest tensor that is not complete here */
	uint64_t *left;      /* chunks missing of tensor t, at [t & mask] */
};

struct tensors {
	struct why_job *why; /* told of results (why/why.h); NULL = nobody is */
	uint64_t count;      /* that some worker has handed over */
	uint64_t oldest;     /* complete at all workers before this one */
	uint64_t mask;       /* of the rings: capacity - 1 */
	uint64_t *end;       /* the chunk behind tensor t, at [t & mask] */
	struct tensor_reader *readers;
	uint32_t workers;
};

void tensors_init(struct tensors *tensors, uint32_t workers);
void tensors_release(struct tensors *tensors);

/* A worker hands over its next tensor, of `chunks` >= 1; it must have as many
 * chunks as at the other workers. */
void tensors_add(struct tensors *tensors, uint32_t worker, uint64_t chunks);

/* A worker has the result of a chunk, for the first time. True when that
 * completes a tensor there, whose number is then in *tensor. */
bool tensors_result(struct tensors *tensors, uint32_t worker, uint64_t chunk, uint64_t *tensor);

/* The tensor that a chunk belongs to, which some worker has handed over and
 * `worker` has not yet completed. */
uint64_t tensors_of_chunk(const struct tensors *tensors, uint32_t worker, uint64_t chunk);

static inline uint64_t tensors_available(const struct tensors *tensors, uint32_t worker)
{
	return tensors->readers[worker].chunks;
}

#endif
