/* SwitchML at a switch: algorithm 3 (section 3.5), with the hierarchy of section 6. */
#include "ina/switchml/switchml.h"

#include "base/mem.h"

#include <stdlib.h>

void switchml_node_init(struct node *node, uint32_t slots, uint32_t message)
{
	node->words = (node->base.place->inputs + 63) / 64;
	node->slots = xcalloc((size_t)SWITCHML_VERSIONS * slots, sizeof(*node->slots));
	node->seen = xcalloc((size_t)SWITCHML_VERSIONS * slots * node->words, sizeof(*node->seen));
	if (message > 1)
		node->next = xcalloc((size_t)slots / message * node->base.place->inputs,
				     sizeof(*node->next));
	for (uint32_t i = 0; i < slots; i++)
		for (uint32_t v = 0; v < SWITCHML_VERSIONS; v++)
			node->slots[SWITCHML_VERSIONS * i + v].chunk = i + (uint64_t)v * slots;
}

void switchml_child_sends_alone(struct node *node, uint32_t child, uint32_t slots, uint32_t message)
{
	for (uint32_t i = 0; i < slots / message; i++)
		node->next[(size_t)i * node->base.place->inputs + child] = SWITCHML_ALONE;
}

void switchml_node_release(struct node *node)
{
	free(node->slots);
	free(node->seen);
	free(node->next);
}

static uint32_t slot_index(const struct packet *packet)
{
	uint32_t version = packet->flags & SWITCHML_VERSION ? 1 : 0;

	return SWITCHML_VERSIONS * (uint32_t)packet->slot + version;
}

bool switchml_seen(const uint64_t *seen, uint32_t words, const struct packet *packet)
{
	return seen[(size_t)slot_index(packet) * words + packet->source / 64] >>
		       packet->source % 64 &
	       1;
}

void switchml_mark(uint64_t *seen, uint32_t words, const struct packet *packet)
{
	uint64_t bit = UINT64_C(1) << packet->source % 64;
	uint32_t index = slot_index(packet), word = packet->source / 64;

	seen[(size_t)index * words + word] |= bit;
	seen[(size_t)(index ^ 1) * words + word] &= ~bit;
}

/* Sends a result to all children (`to` is 0), or to input `to` - 1. `like` is the packet that
 * causes it. */
static void switchml_send_result(struct switch_actions *actions, const struct node *node,
				 const struct slot *slot, const struct packet *like, uint8_t flags,
				 uint16_t to)
{
	const struct tree_node *place = node->base.place;
	struct packet result = *like;

	result.value = slot->value;
	result.source = 0; /* not the child that came last */
	result.own[SWITCHML_INPUT] = to;
	result.flags =
		(uint8_t)((like->flags & SWITCHML_VERSION) | PACKET_RESULT | slot->late | flags);
	if (to)
		ina_send(actions, &result, &place->input_ports[to - 1], 1);
	else
		ina_send(actions, &result, place->down_ports, place->children);
}

static void send_partial(struct switch_actions *actions, const struct node *node,
			 const struct slot *slot, const struct packet *like, uint8_t flags)
{
	struct packet partial = *like;

	partial.value = slot->value;
	partial.flags = (uint8_t)((like->flags & SWITCHML_VERSION) | slot->late | flags);
	partial.source = (uint16_t)node->base.place->number;
	ina_send_up(actions, &node->base, &partial);
}

/* This switch has the contribution already. Its sender lacks the result. */
static void switchml_switch_repeat(struct node *node, struct slot *slot,
				   const struct packet *packet, struct switch_actions *actions)
{
	struct collective_stats *stats = &node->base.memory->stats;

	stats->duplicates++;
	switch ((enum slot_state)slot->state) {
	case SLOT_PARTIAL:
		return; /* other contributions are missing */
	case SLOT_SENT_UP:
		stats->repairs++;
		slot->late |= packet->flags & SWITCHML_LATE;
		send_partial(actions, node, slot, packet, PACKET_RETRANSMIT);
		return;
	case SLOT_DONE:
		stats->repairs++;
		switchml_send_result(actions, node, slot, packet, PACKET_RETRANSMIT,
				     (uint16_t)(packet->source + 1));
		return;
	}
}

static void switchml_complete(struct node *node, struct slot *slot, const struct packet *last,
			      struct switch_actions *actions)
{
	if (node->base.place->parent != TREE_NONE) {
		slot->state = SLOT_SENT_UP;
		send_partial(actions, node, slot, last, 0);
		return;
	}
	slot->state = SLOT_DONE;
	node->base.memory->stats.results++;
	switchml_send_result(actions, node, slot, last, 0, 0);
}

/* When a packet of a message is missing, the rest of the message is discarded: only the first
 * packet tells the switch the slot (p4app-switchML rdma_receiver.p4). */
static bool in_order(const struct switchml *job, const struct node *node,
		     const struct packet *packet)
{
	uint32_t message = job->format.message, p = packet->slot % message;
	uint8_t *next = &node->next[(size_t)packet->slot / message * node->base.place->inputs +
				    packet->source];

	if (*next == SWITCHML_ALONE)
		return true;
	*next = p == 0 || p == *next ? (uint8_t)(p + 1) : SWITCHML_GAP;
	return *next != SWITCHML_GAP;
}

static void switchml_contribution(struct switchml *job, struct node *node,
				  const struct packet *packet, struct switch_actions *actions)
{
	struct slot *slot = &node->slots[slot_index(packet)];

	if (node->next && !in_order(job, node, packet)) {
		node->base.memory->stats.discarded++;
		return;
	}
	if (switchml_seen(node->seen, node->words, packet)) {
		switchml_switch_repeat(node, slot, packet, actions);
		return;
	}
	switchml_mark(node->seen, node->words, packet);
	/* all had contributed, so this begins the slot's next chunk */
	if (slot->count == node->base.place->inputs) {
		slot->chunk += SWITCHML_VERSIONS * (uint64_t)job->slots;
		slot->count = 0;
	}
	/* only a very late duplicate could differ, and paths that keep the order exclude it */
	if (slot->chunk != packet->chunk) {
		ina_violated_at_switch(&job->base, node->base.place->sw, packet->chunk,
				       "a contribution met another chunk");
		return;
	}
	node->base.memory->stats.packets_aggregated++;
	if (slot->count++ == 0) {
		slot->value = packet->value; /* overwrites, so n = 1 works, too */
		slot->state = SLOT_PARTIAL;
		slot->late = packet->flags & SWITCHML_LATE;
	} else {
		slot->value += packet->value;
		slot->late |= packet->flags & SWITCHML_LATE;
	}
	if (slot->count == node->base.place->inputs)
		switchml_complete(node, slot, packet, actions);
}

/* The result takes the place of the partial sum, which the parent does not need again. A repeated
 * result also goes to all children, because one of them lacks it. */
static void switchml_result(struct switchml *job, struct node *node, const struct packet *packet,
			    struct switch_actions *actions)
{
	struct slot *slot = &node->slots[slot_index(packet)];

	if (slot->chunk != packet->chunk || slot->state == SLOT_PARTIAL) {
		ina_violated_at_switch(&job->base, node->base.place->sw, packet->chunk,
				       "a result met another chunk");
		return;
	}
	slot->value = packet->value;
	slot->state = SLOT_DONE;
	ina_send_down(actions, &node->base, packet);
	actions->send[0].packet.own[SWITCHML_INPUT] =
		0; /* was set if the result was a repair for this switch */
}

/* At a switch that only forwards. A repair goes to the input that asked for it (`input` - 1). */
static void switchml_pass(const struct node *node, const struct packet *packet,
			  struct switch_actions *actions)
{
	const uint32_t *ports = node->base.place->input_ports;

	if (packet->flags & PACKET_RESULT && packet->own[SWITCHML_INPUT])
		ina_send(actions, packet, &ports[packet->own[SWITCHML_INPUT] - 1], 1);
	else
		ina_pass(actions, &node->base, packet);
}

void switchml_at_node(struct switchml *job, struct node *node, const struct packet *packet,
		      struct switch_actions *actions)
{
	if (node->base.place->passes)
		switchml_pass(node, packet, actions);
	else if (packet->flags & PACKET_RESULT)
		switchml_result(job, node, packet, actions);
	else
		switchml_contribution(job, node, packet, actions);
}
