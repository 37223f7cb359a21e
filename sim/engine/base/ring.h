/* Rings by number: items are numbered for ever, and a ring keeps a stretch of them. A ring has
 * mask + 1 places, a power of two, and item i is at [i & mask]. So an item keeps its number when
 * the ring is widened, and nothing is allocated while the stretch fits.
 *
 * The owner of a ring keeps the array (released with free()) and the mask, and does the indexing.
 * Both begin as zero: no places. */
#ifndef INASIM_BASE_RING_H
#define INASIM_BASE_RING_H

#include <stddef.h>
#include <stdint.h>

/* For ring_reserve(): doubles the places until the items from `from` to `i` - 1 fit. New places are
 * zero. `ring` may be NULL: there is none yet. */
void *ring_widen(void *ring, uint64_t *mask, uint64_t from, uint64_t i, size_t item_size);

/* Makes room for item `i`; what is in the ring from `from` on is kept. Returns the ring, perhaps
 * moved. One place stays free, so that one comparison also finds a ring without places. */
static inline void *ring_reserve(void *ring, uint64_t *mask, uint64_t from, uint64_t i,
				 size_t item_size)
{
	if (__builtin_expect(i - from >= *mask, 0))
		return ring_widen(ring, mask, from, i + 1, item_size);
	return ring;
}

#endif
