#include "collective/tensors.h"

#include "base/fail.h"
#include "base/mem.h"
#include "base/ring.h"

#include <stdlib.h>

void tensors_init(struct tensors *tensors, uint32_t workers)
{
	*tensors = (struct tensors){ .workers = workers };
	tensors->readers = xcalloc(workers, sizeof(*tensors->readers));
}

void tensors_release(struct tensors *tensors)
{
	for (uint32_t w = 0; w < tensors->workers; w++)
		free(tensors->readers[w].left);
	free(tensors->readers);
	free(tensors->end);
}

/* Makes room for one more tensor in all rings. */
static void reserve(struct tensors *tensors)
{
	/* ring_reserve() keeps one place of a ring free */
	if (tensors->count - tensors->oldest < tensors->mask)
		return;
	tensors->oldest = tensors->count;
	for (uint32_t w = 0; w < tensors->workers; w++)
		if (tensors->readers[w].first_open < tensors->oldest)
			tensors->oldest = tensors->readers[w].first_open;
	for (uint32_t w = 0; w < tensors->workers; w++) {
		struct tensor_reader *reader = &tensors->readers[w];
		uint64_t mask = tensors->mask; /* a copy, as ring_reserve() changes it */

		reader->left = ring_reserve(reader->left, &mask, tensors->oldest, tensors->count,
					    sizeof(*reader->left));
	}
	tensors->end = ring_reserve(tensors->end, &tensors->mask, tensors->oldest, tensors->count,
				    sizeof(*tensors->end));
}

void tensors_add(struct tensors *tensors, uint32_t worker, uint64_t chunks)
{
	struct tensor_reader *reader = &tensors->readers[worker];
	uint64_t t = reader->tensors, end = reader->chunks + chunks;

	if (t == tensors->count) {
		reserve(tensors);
		tensors->end[tensors->count++ & tensors->mask] = end;
	}
	SIM_BUG_ON(tensors->end[t & tensors->mask] != end); /* all workers have the same tensors */
	reader->left[t & tensors->mask] = chunks;
	reader->tensors++;
	reader->chunks = end;
}

uint64_t tensors_of_chunk(const struct tensors *tensors, uint32_t worker, uint64_t chunk)
{
	uint64_t t = tensors->readers[worker].first_open;

	while (chunk >= tensors->end[t & tensors->mask])
		t++; /* few tensors are open */
	return t;
}

bool tensors_result(struct tensors *tensors, uint32_t worker, uint64_t chunk, uint64_t *tensor)
{
	struct tensor_reader *reader = &tensors->readers[worker];

	why_result(tensors->why, worker, chunk);
	*tensor = tensors_of_chunk(tensors, worker, chunk);
	if (--reader->left[*tensor & tensors->mask])
		return false;
	while (reader->first_open < reader->tensors &&
	       !reader->left[reader->first_open & tensors->mask])
		reader->first_open++;
	return true;
}

void tensor_sizes_add(struct tensor_sizes *sizes, uint64_t tensor, bytes size)
{
	if (tensor == sizes->count) {
		sizes->of = array_reserve(sizes->of, sizes->count, &sizes->capacity,
					  sizeof(*sizes->of));
		sizes->of[sizes->count++] = size;
	}
	SIM_BUG_ON(sizes->of[tensor] != size); /* all workers have the same tensors */
}

uint64_t tensor_parts(bytes size, uint32_t first, uint32_t end, uint32_t m)
{
	uint64_t elements = (size + ELEMENT_BYTES - 1) / ELEMENT_BYTES;
	uint64_t from = (uint64_t)((unsigned __int128)elements * first / m);
	uint64_t to = (uint64_t)((unsigned __int128)elements * end / m);

	return to > from ? ELEMENT_BYTES * (to - from) : 1;
}
