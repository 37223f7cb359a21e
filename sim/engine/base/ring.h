/* Ring buffers that keep a contiguous range of numbered items. A ring has mask + 1 places, a power
 * of two, and item i is at [i & mask]. An item keeps its number when the ring is widened. Nothing
 * is allocated while the range fits.
 *
 * The owner keeps the array (released with free()) and the mask, and does the indexing. Array NULL
 * and mask 0 are a ring without places. */
#ifndef INASIM_BASE_RING_H
#define INASIM_BASE_RING_H

#include <stddef.h>
#include <stdint.h>

/* For ring_reserve(): doubles the places until the items from `from` to `end` - 1 fit and one
 * place stays free. New places are zero. `ring` may be NULL. */
void *ring_widen(void *ring, uint64_t *mask, uint64_t from, uint64_t end, size_t item_size);

/* Makes room for item `i` and keeps the items from `from` on. Returns the ring, which may have
 * moved. One place always stays free, so that one comparison also catches a ring without places. */
static inline void *ring_reserve(void *ring, uint64_t *mask, uint64_t from, uint64_t i,
				 size_t item_size)
{
	if (__builtin_expect(i - from >= *mask, 0))
		return ring_widen(ring, mask, from, i + 1, item_size);
	return ring;
}

#endif
