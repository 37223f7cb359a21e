#include "ina/common/partial_sums.h"

#include "base/mem.h"

#include <stdlib.h>

#define RING_FIRST 256 /* a power of two */

static void clear(struct partial_sums *sums, uint64_t index)
{
	uint64_t place = index & sums->mask;

	sums->ring[place] = (struct partial_sum){ .index = index };
	for (uint32_t r = 0; r < sums->racks->count; r++)
		sums->parts[place * sums->racks->count + r] = 0;
}

static void allocate(struct partial_sums *sums, uint64_t capacity)
{
	sums->mask = capacity - 1;
	sums->ring = xcalloc(capacity, sizeof(*sums->ring));
	/* + 1: there may be no racks */
	sums->parts = xcalloc(capacity * (sums->racks->count + 1), sizeof(*sums->parts));
	for (uint64_t i = 0; i < capacity; i++)
		sums->ring[i].index = UINT64_MAX;
}

void partial_sums_init(struct partial_sums *sums, const struct racks *racks)
{
	*sums = (struct partial_sums){ .racks = racks };
	allocate(sums, RING_FIRST);
}

void partial_sums_release(struct partial_sums *sums)
{
	free(sums->ring);
	free(sums->parts);
}

void partial_sums_arrange(struct partial_sums *sums, uint64_t capacity)
{
	struct partial_sums old = *sums;
	uint32_t racks = sums->racks->count;

	allocate(sums, capacity);
	for (uint64_t i = 0; i <= old.mask; i++) {
		uint64_t index = old.ring[i].index;

		if (index == UINT64_MAX)
			continue;
		sums->ring[index & sums->mask] = old.ring[i];
		for (uint32_t r = 0; r < racks; r++)
			sums->parts[(index & sums->mask) * racks + r] = old.parts[i * racks + r];
	}
	partial_sums_release(&old);
}

void partial_sums_reserve(struct partial_sums *sums, uint64_t index, uint64_t needed)
{
	uint64_t capacity = sums->mask + 1;

	while (index >= needed + capacity)
		capacity *= 2;
	if (capacity > sums->mask + 1)
		partial_sums_arrange(sums, capacity);
	while (sums->end <= index)
		clear(sums, sums->end++);
}

static uint32_t *parts_of(const struct partial_sums *sums, const struct partial_sum *sum)
{
	return &sums->parts[(sum->index & sums->mask) * sums->racks->count];
}

/* Workers of `rack` that are in the sum. */
static uint32_t bits_in(const struct partial_sums *sums, const struct partial_sum *sum,
			uint8_t rack)
{
	uint32_t bit = UINT32_C(1) << rack;

	if (sum->whole & bit)
		return sums->racks->racks[rack].all;
	return sum->begun & bit ? parts_of(sums, sum)[rack] : 0;
}

enum presence partial_sums_compare(const struct partial_sums *sums, const struct partial_sum *sum,
				   struct bitmap contributors)
{
	uint32_t in, touched;

	if (contributors.rack == RACK_NONE) {
		in = sum->whole;
		touched = sum->whole | sum->begun;
	} else {
		in = touched = bits_in(sums, sum, contributors.rack);
	}
	if (!(contributors.bits & touched))
		return PRESENT_NONE;
	return contributors.bits & ~in ? PRESENT_SOME : PRESENT_ALL;
}

static void add_part(struct partial_sums *sums, struct partial_sum *sum, struct bitmap contributors)
{
	uint32_t bit = UINT32_C(1) << contributors.rack;
	uint32_t *part = &parts_of(sums, sum)[contributors.rack];

	*part |= contributors.bits;
	if (*part == sums->racks->racks[contributors.rack].all) {
		sum->whole |= bit;
		sum->begun &= ~bit;
	} else {
		sum->begun |= bit;
	}
}

bool partial_sums_add(struct partial_sums *sums, struct partial_sum *sum,
		      struct bitmap contributors, uint64_t value)
{
	if (partial_sums_compare(sums, sum, contributors) != PRESENT_NONE)
		return false;
	sum->value += value;
	if (contributors.rack == RACK_NONE)
		sum->whole |= contributors.bits;
	else
		add_part(sums, sum, contributors);
	return true;
}
