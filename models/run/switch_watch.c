#include "run/switch_watch.h"

#include "run/simulation_state.h"

#include <stdio.h>
#include <string.h>

uint32_t switch_behind(const struct network *net, uint32_t port)
{
	uint32_t to = net->ports[port].to;

	return to < net->hosts ? UINT32_MAX : to - net->hosts;
}

bool packet_tells(const struct network *net, const struct packet *packet,
		  struct packet_about *about)
{
	const struct protocol_ops *ops = net->protocols[packet->protocol].ops;

	return packet->kind == PACKET_AGGREGATION && ops->about &&
	       ops->about(net->protocols[packet->protocol].self, packet, about);
}

void switch_look(const struct simulation *s, uint32_t sw, struct switch_seen *seen)
{
	*seen = (struct switch_seen){ 0 };
	for (unsigned i = 0; scheme_ops(i); i++) {
		const struct collective_memory *list;
		size_t count = simulation_memory(s, i, &list);

		if (sw >= count) /* a scheme has an entry for each switch (ina_memory()), or none */
			continue;
		seen->used_bytes += list[sw].used_bytes;
		collective_stats_add(&seen->stats, &list[sw].stats);
	}
}

#define COUNTER(field, word)                                                                       \
	{                                                                                          \
		offsetof(struct collective_stats, field), word                                     \
	}

/* In the order in which the events of one packet happen. */
static const struct {
	size_t offset;
	const char *word;
} counters[] = {
	COUNTER(collisions, "collide"),
	COUNTER(preemptions, "preempt"),
	COUNTER(fallbacks, "fall_back"),
	COUNTER(duplicates, "duplicate"),
	COUNTER(packets_aggregated, "add"),
	COUNTER(results, "complete"),
	COUNTER(partials, "flush"),
	COUNTER(repairs, "repair"),
	COUNTER(late, "late"),
	COUNTER(discarded, "discard"),
	COUNTER(overflows, "overflow"),
};

static uint64_t counter_of(const struct collective_stats *stats, size_t offset)
{
	uint64_t value;

	memcpy(&value, (const char *)stats + offset, sizeof(value));
	return value;
}

static void add_word(char text[SWITCH_DID], const char *word)
{
	size_t length = strlen(text);

	snprintf(text + length, SWITCH_DID - length, "%s%s", length ? "+" : "", word);
}

char *switch_did(const struct switch_seen *before, const struct switch_seen *after,
		 char text[SWITCH_DID])
{
	text[0] = '\0';
	if (after->used_bytes > before->used_bytes)
		add_word(text, "allocate");
	for (size_t i = 0; i < sizeof(counters) / sizeof(counters[0]); i++)
		if (counter_of(&after->stats, counters[i].offset) >
		    counter_of(&before->stats, counters[i].offset))
			add_word(text, counters[i].word);
	if (after->used_bytes < before->used_bytes)
		add_word(text, "free");
	return text;
}
