/* Reduce-scatter and all-gather at a switch. shards.c says what is modelled. */
#include "ina/shards/shards.h"

#include "base/mem.h"

#include <stdlib.h>

/* --- life --- */

/* Notes which neighbour of each switch leads to rank w. At switches between the rank and the root
 * it is a child. At all others it is the parent, which is noted already. */
static void enter_rank(struct shards *job, uint32_t w)
{
	const struct tree *tree = job->base.tree.tree;
	uint32_t child = tree->number_of_worker[w];

	for (uint32_t n = tree->node_of_worker[w]; n != TREE_NONE; n = tree->nodes[n].parent) {
		struct shards_node *node = ina_node(&job->base, n);

		node->toward[w] = (uint16_t)child;
		child = tree->nodes[n].number;
	}
}

void shards_nodes_begin(struct shards *job)
{
	const struct tree *tree = job->base.tree.tree;
	uint32_t ranks = shards_ranks(job);

	for (uint32_t i = 0; i < tree->node_count; i++) {
		struct shards_node *node = ina_node(&job->base, i);

		ina_group_open(&node->group, &job->base, i);
		node->words = (node->group.neighbors + 63) / 64;
		node->toward = xcalloc(ranks, sizeof(*node->toward));
		for (uint32_t w = 0; w < ranks; w++)
			node->toward[w] = (uint16_t)node->base.place->children; /* the parent */
		if (job->gather)
			continue;
		node->sums = xcalloc(job->kept * ranks, sizeof(*node->sums));
		node->seen = xcalloc(job->kept * ranks * node->words, sizeof(*node->seen));
	}
	for (uint32_t w = 0; w < ranks; w++)
		enter_rank(job, w);
}

void shards_nodes_end(struct shards *job)
{
	for (uint32_t i = 0; i < job->base.tree.tree->node_count; i++) {
		struct shards_node *node = ina_node(&job->base, i);

		ina_group_close(&node->group);
		free(node->toward);
		free(node->sums);
		free(node->seen);
	}
}

/* --- all-gather: switches keep nothing --- */

/* Forwards a question to the owner of the shard, an answer to the rank that asked, and a new shard
 * to all neighbours but the one from which it came. */
static void shards_pass_on(const struct shards *job, const struct shards_node *node, uint32_t from,
			   const struct packet *packet, struct switch_actions *actions)
{
	if (packet->flags & SHARDS_ASK)
		ina_group_send(actions, &node->group, packet,
			       node->toward[packet->chunk % shards_ranks(job)]);
	else if (packet->slot)
		ina_group_send(actions, &node->group, packet, node->toward[packet->slot - 1]);
	else
		ina_group_send_others(actions, &node->group, packet, from);
}

/* --- reduce-scatter --- */

static uint64_t *seen_of(const struct shards_node *node, const struct shards_sum *sum)
{
	return &node->seen[(size_t)(sum - node->sums) * node->words];
}

static bool has_seen(const uint64_t *seen, uint32_t neighbor)
{
	return seen[neighbor / 64] >> neighbor % 64 & 1;
}

/* Whether all neighbours are in the sum but the one that leads to the owner. */
static bool is_complete(const struct shards_node *node, const struct shards_sum *sum)
{
	return sum->count == node->group.neighbors - 1;
}

/* Sends the sum towards its owner. `cause` is a packet of the same chunk. */
static void shards_send_sum(const struct shards *job, const struct shards_node *node,
			    const struct shards_sum *sum, const struct packet *cause, uint8_t flags,
			    struct switch_actions *actions)
{
	uint32_t out = node->toward[cause->chunk % shards_ranks(job)];
	struct packet packet = *cause;

	packet.value = sum->value;
	packet.flags = flags;
	packet.size = (uint16_t)job->base.scheme->frame;
	if (out < node->base.place->children) /* down the tree */
		packet.flags |= PACKET_RESULT;
	ina_group_send(actions, &node->group, &packet, out);
}

static void shards_add(struct shards *job, struct shards_node *node, struct shards_sum *sum,
		       uint32_t from, const struct packet *packet, struct switch_actions *actions)
{
	uint64_t row = packet->chunk / shards_ranks(job) + 1; /* + 1 as in the sum */
	struct collective_stats *stats = &node->base.memory->stats;
	uint64_t *seen = seen_of(node, sum);

	if (row < sum->row) { /* a retransmission that was not needed */
		stats->late++;
		return;
	}
	if (row > sum->row) {
		if (sum->row && !is_complete(node, sum)) {
			ina_violated_at_switch(&job->base, node->base.place->sw, packet->chunk,
					       "a row met one that lacks a piece");
			return;
		}
		*sum = (struct shards_sum){ .row = row };
		for (uint32_t i = 0; i < node->words; i++)
			seen[i] = 0;
	}
	if (has_seen(seen, from)) {
		stats->duplicates++;
		return;
	}
	seen[from / 64] |= UINT64_C(1) << from % 64;
	sum->value += packet->value;
	sum->count++;
	stats->packets_aggregated++;
	if (!is_complete(node, sum))
		return;
	stats->results++;
	shards_send_sum(job, node, sum, packet, packet->flags & PACKET_RETRANSMIT, actions);
}

/* The owner lacks the sum: sends it again if it is here. Else asks neighbours whose parts are
 * missing, at most two, as `actions` has room for two. If that is not enough, the owner asks
 * again. */
static void shards_ask(struct shards *job, struct shards_node *node, struct shards_sum *sum,
		       const struct packet *packet, struct switch_actions *actions)
{
	uint64_t ranks = shards_ranks(job), row = packet->chunk / ranks + 1;
	uint32_t out = node->toward[packet->chunk % ranks], asked = 0;
	const uint64_t *seen = seen_of(node, sum);

	if (row < sum->row)
		return; /* the later row shows that the owner has this one */
	if (row == sum->row && is_complete(node, sum)) {
		node->base.memory->stats.repairs++;
		shards_send_sum(job, node, sum, packet, PACKET_RETRANSMIT, actions);
		return;
	}
	for (uint32_t i = 0; i < node->group.neighbors && asked < 2; i++) {
		if (i == out || (row == sum->row && has_seen(seen, i)))
			continue;
		ina_group_send(actions, &node->group, packet, i);
		asked++;
	}
}

void shards_at_node(struct shards *job, struct shards_node *node, uint32_t back,
		    struct packet *packet, struct switch_actions *actions)
{
	uint64_t ranks = shards_ranks(job), piece = packet->chunk % ranks;
	uint32_t from = ina_group_from(&node->group, back);
	struct shards_sum *sum;

	if (job->gather) {
		shards_pass_on(job, node, from, packet, actions);
		return;
	}
	sum = &node->sums[packet->chunk / ranks % job->kept * ranks + piece];
	if (packet->flags & SHARDS_ASK)
		shards_ask(job, node, sum, packet, actions);
	else if (from == node->toward[piece])
		ina_violated_at_switch(&job->base, node->base.place->sw, packet->chunk,
				       "a piece comes from its owner's side");
	else
		shards_add(job, node, sum, from, packet, actions);
}
