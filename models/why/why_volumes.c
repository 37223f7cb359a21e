/* The bytes that ports have carried, by owner. A packet counts when it has reached the far end of
 * the link. Volumes are never removed, so a copy of the list is a snapshot. */
#include "why/why_parts.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

/* At the front it is found at once: the next packet often has the same owner. */
void why_volume_first(struct why *why, struct why_line *line, uint32_t owner)
{
	struct why_snapshot *all = &why->volumes;
	uint32_t number = line->volume, last = 0;

	while (number && all->volumes[number].owner != owner) {
		last = number;
		number = all->volumes[number].next;
	}
	if (number) {
		all->volumes[last].next = all->volumes[number].next;
	} else {
		number = (uint32_t)all->count++;
		all->volumes =
			array_reserve(all->volumes, number, &all->capacity, sizeof(*all->volumes));
		all->volumes[number] = (struct why_volume){ .owner = owner };
	}
	all->volumes[number].next = line->volume;
	line->volume = number;
}

void why_snapshot(const struct why *why, struct why_snapshot *to)
{
	for (to->count = 0; to->count < why->volumes.count; to->count++) {
		to->volumes =
			array_reserve(to->volumes, to->count, &to->capacity, sizeof(*to->volumes));
		to->volumes[to->count] = why->volumes.volumes[to->count];
	}
}

static int by_owner(const void *a, const void *b)
{
	uint32_t x = ((const struct why_volume *)a)->owner;
	uint32_t y = ((const struct why_volume *)b)->owner;

	return x < y ? -1 : x > y;
}

/* Appends the growth of volume `number` since `before`. */
static void add_since(const struct why *why, uint32_t number, const struct why_snapshot *before,
		      struct why_snapshot *list)
{
	struct why_volume volume = why->volumes.volumes[number];

	for (unsigned c = 0; c < WHY_CLASSES && number < before->count; c++)
		volume.bytes[c] -= before->volumes[number].bytes[c];
	if (!why_bytes(&volume))
		return;
	list->volumes =
		array_reserve(list->volumes, list->count, &list->capacity, sizeof(*list->volumes));
	list->volumes[list->count++] = volume;
}

const struct why_snapshot *why_carried(struct why *why, const uint32_t *ports, uint32_t count,
				       const struct why_snapshot *before)
{
	struct why_snapshot *list = &why->carried;
	size_t kept = 0;

	list->count = 0;
	for (uint32_t i = 0; i < count; i++)
		for (uint32_t v = why->lines[ports[i]].volume; v; v = why->volumes.volumes[v].next)
			add_since(why, v, before, list);
	if (list->count > 1)
		qsort(list->volumes, list->count, sizeof(*list->volumes), by_owner);
	for (size_t i = 1; i < list->count; i++) {
		struct why_volume *at = &list->volumes[i], *last = &list->volumes[kept];

		if (at->owner != last->owner)
			list->volumes[++kept] = *at;
		else
			for (unsigned c = 0; c < WHY_CLASSES; c++)
				last->bytes[c] += at->bytes[c];
	}
	list->count = list->count ? kept + 1 : 0;
	return list;
}
