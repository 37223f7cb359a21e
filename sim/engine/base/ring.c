#include "base/ring.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

void *ring_widen(void *ring, uint64_t *mask, uint64_t from, uint64_t end, size_t item_size)
{
	uint64_t wider = *mask;
	const char *old = ring;
	char *places;

	while (end - from > wider)
		wider = 2 * wider + 1;
	places = xcalloc(wider + 1, item_size);
	for (uint64_t n = from; old && n <= from + *mask; n++)
		memcpy(places + (n & wider) * item_size, old + (n & *mask) * item_size, item_size);
	free(ring);
	*mask = wider;
	return places;
}
