/* Tensors as one stream of chunks: three workers hand tensors over and complete them in
 * random order, against plain counting. */
#include "collective/tensors.h"

#include "core/rng.h"

#include <criterion/criterion.h>

#define TENSORS 300
#define WORKERS 3

Test(tensors, random_order)
{
	static uint64_t end[TENSORS], sizes[TENSORS];
	static bool got[WORKERS][TENSORS * 5];
	uint64_t added[WORKERS] = { 0 }, left[WORKERS][TENSORS], done[WORKERS] = { 0 }, total = 0;
	struct tensors tensors;
	struct rng rng;

	rng_init(&rng, 1, "test", 0);
	for (int t = 0; t < TENSORS; t++) {
		sizes[t] = 1 + rng_below(&rng, 5);
		end[t] = total += sizes[t];
	}
	tensors_init(&tensors, WORKERS);
	while (done[0] + done[1] + done[2] < WORKERS * TENSORS) {
		uint32_t w = (uint32_t)rng_below(&rng, WORKERS);
		uint64_t chunk, tensor;

		if (added[w] < TENSORS && rng_below(&rng, 4) == 0) {
			left[w][added[w]] = sizes[added[w]];
			tensors_add(&tensors, w, sizes[added[w]++]);
			cr_assert_eq(tensors_available(&tensors, w), end[added[w] - 1]);
		}
		if (!added[w])
			continue;
		/* a result among the open ones, not far behind the oldest */
		for (chunk = 0; chunk < end[added[w] - 1] && (got[w][chunk] || rng_below(&rng, 3));)
			chunk++;
		if (chunk == end[added[w] - 1])
			continue;
		got[w][chunk] = true;
		for (tensor = 0; chunk >= end[tensor];)
			tensor++;
		cr_assert_eq(tensors_of_chunk(&tensors, w, chunk), tensor);
		left[w][tensor]--;
		uint64_t which;
		bool complete = tensors_result(&tensors, w, chunk, &which);

		cr_assert_eq(which, tensor);
		cr_assert_eq(complete, left[w][tensor] == 0);
		done[w] += complete;
	}
	tensors_release(&tensors);
}

/* Parts of a tensor are its elements, each once, and as equal as can be; none is empty. */
Test(tensors, parts)
{
	static const bytes sizes[] = { 1, 4, 5, 28, 29, 4000000, UINT64_C(1) << 62 };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		for (uint32_t m = 1; m < 40; m++) {
			uint64_t elements = (sizes[i] + 3) / 4, sum = 0;

			for (uint32_t q = 0; q < m; q++) {
				uint64_t part = tensor_parts(sizes[i], q, q + 1, m);

				cr_assert(part == 1 ? elements < m
						    : part / 4 == elements / m ||
							      part / 4 == elements / m + 1);
				sum += part == 1 ? 0 : part;
			}
			cr_assert_eq(sum, 4 * elements, "%llu bytes in %u parts",
				     (unsigned long long)sizes[i], m);
		}
	}
}
