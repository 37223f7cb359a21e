#include "ina/netreduce/lookup.h"

bool lookup_enter(struct lookup *table, uint64_t message, uint32_t psn)
{
	uint32_t i = (uint32_t)(message % table->messages);

	if (message + 1 + table->messages <= table->newest)
		return false;
	table->entries[i] = (struct lookup_entry){ message + 1, psn };
	table->recent = i;
	if (message + 1 > table->newest)
		table->newest = message + 1;
	return true;
}

static bool is_in(const struct lookup *table, uint32_t i, uint32_t psn)
{
	const struct lookup_entry *entry = &table->entries[i];

	return entry->next && entry->next + table->messages > table->newest &&
	       ((psn - entry->psn) & NETREDUCE_PSN_MASK) < table->length;
}

bool lookup_find(struct lookup *table, uint32_t psn, struct lookup_place *place)
{
	const struct lookup_entry *entry;
	uint32_t i = table->recent;

	for (uint32_t tries = 1; !is_in(table, i, psn); tries++) {
		if (tries == table->messages)
			return false;
		i = i + 1 < table->messages ? i + 1 : 0;
	}
	table->recent = i;
	entry = &table->entries[i];
	place->message = entry->next - 1;
	place->index = (psn - entry->psn) & NETREDUCE_PSN_MASK;
	place->column = i * table->length + place->index;
	return true;
}
