#include "ina/flights.h"

#include "base/fail.h"
#include "base/hash.h"
#include "base/mem.h"

#include <stdlib.h>

static bool is_before(const struct flight *a, const struct flight *b)
{
	if (a->first != b->first)
		return a->first < b->first;
	return hash_pair((uint64_t)a->first, a->from) < hash_pair((uint64_t)b->first, b->from);
}

void flights_push(struct flights *flights, const struct flight *flight)
{
	size_t place = flights->count++;

	flights->heap =
		array_reserve(flights->heap, place, &flights->capacity, sizeof(*flights->heap));
	while (place && is_before(flight, &flights->heap[(place - 1) / 2])) {
		flights->heap[place] = flights->heap[(place - 1) / 2];
		place = (place - 1) / 2;
	}
	flights->heap[place] = *flight;
}

struct flight flights_pop(struct flights *flights)
{
	struct flight first, end;
	size_t place = 0, child;

	SIM_BUG_ON(!flights->count);
	first = flights->heap[0];
	end = flights->heap[--flights->count];
	while ((child = 2 * place + 1) < flights->count) {
		if (child + 1 < flights->count &&
		    is_before(&flights->heap[child + 1], &flights->heap[child]))
			child++;
		if (!is_before(&flights->heap[child], &end))
			break;
		flights->heap[place] = flights->heap[child];
		place = child;
	}
	flights->heap[place] = end;
	return first;
}

void flights_release(struct flights *flights)
{
	free(flights->heap);
}
