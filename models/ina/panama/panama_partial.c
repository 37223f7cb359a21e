/* PANAMA with a fraction below 1 (PANAMA-0.88, -0.94): which workers are in which sum. Only the
 * exactly-once check needs this: accelerators just count workers. */
#include "ina/panama/panama.h"

#include "base/mem.h"
#include "base/ring.h"

#include <stdlib.h>
#include <string.h>

struct settled {
	uint64_t weight;
	uint32_t workers;
};

/* Until a VID is over at the root, it has a bit per node and child, set when the child's packet is
 * in the node's sum. After that, until all workers have the result, it has the weight that the sum
 * must have. */
struct panama_partial {
	uint32_t *first_word; /* by node, of its bits; [node_count] = words of a VID */
	uint64_t *bits;       /* [(vid & mask) * words] */
	uint64_t mask;
	struct settled *settled; /* [vid & settled_mask] */
	uint64_t settled_mask, settled_from;
	bool *included; /* by node: its sum is in the root's; scratch for settling */
};

static uint32_t words_of(const struct panama_sequence *sequence)
{
	return sequence->partial->first_word[sequence->node_count];
}

struct panama_partial *panama_partial_new(const struct panama_sequence *sequence)
{
	const struct tree *tree = sequence->job->trees[sequence->tree].tree;
	struct panama_partial *partial = xcalloc(1, sizeof(*partial));

	partial->first_word = xcalloc(tree->node_count + 1, sizeof(*partial->first_word));
	for (uint32_t i = 0; i < tree->node_count; i++)
		partial->first_word[i + 1] =
			partial->first_word[i] + (tree->nodes[i].children + 63) / 64;
	partial->included = xcalloc(tree->node_count, sizeof(*partial->included));
	return partial;
}

void panama_partial_free(struct panama_partial *partial)
{
	if (!partial)
		return;
	free(partial->first_word);
	free(partial->bits);
	free(partial->settled);
	free(partial->included);
	free(partial);
}

/* --- VIDs that are not over at the root --- */

static uint64_t *bits_of(const struct panama_sequence *sequence, uint64_t vid)
{
	return sequence->partial->bits + (vid & sequence->partial->mask) * words_of(sequence);
}

/* Makes room for the bits of `vid`, and keeps those of VIDs from `from` on. */
static void panama_partial_reach(struct panama_sequence *sequence, uint64_t from, uint64_t vid)
{
	struct panama_partial *partial = sequence->partial;

	partial->bits = ring_reserve(partial->bits, &partial->mask, from, vid,
				     words_of(sequence) * sizeof(*partial->bits));
}

void panama_partial_in(struct panama_sequence *sequence, const struct panama_node *node,
		       uint64_t vid, uint32_t child)
{
	uint64_t from = sequence->nodes[0].expected;
	uint32_t number = (uint32_t)(node - sequence->nodes);

	if (vid < from)
		return; /* over at the root without this node */
	panama_partial_reach(sequence, from, vid);
	bits_of(sequence, vid)[sequence->partial->first_word[number] + child / 64] |= UINT64_C(1)
										      << child % 64;
}

static bool is_in(const struct panama_sequence *sequence, const uint64_t *bits, uint32_t node,
		  uint32_t child)
{
	const struct panama_partial *partial = sequence->partial;

	return partial->included[node] &&
	       bits[partial->first_word[node] + child / 64] >> child % 64 & 1;
}

/* --- VIDs that are over at the root --- */

/* Makes room for `vid`, in place of VIDs whose results all workers have. */
static void reserve_settled(struct panama_sequence *sequence, uint64_t vid)
{
	struct panama_partial *partial = sequence->partial;
	const struct panama_job *job = sequence->job;

	if (vid - partial->settled_from < partial->settled_mask)
		return;
	partial->settled_from = vid;
	for (uint32_t w = 0; w < job->base.spec.workers; w++)
		if (panama_worker(job, w)->flows[sequence->tree].una < partial->settled_from)
			partial->settled_from = panama_worker(job, w)->flows[sequence->tree].una;
	partial->settled = ring_reserve(partial->settled, &partial->settled_mask,
					partial->settled_from, vid, sizeof(*partial->settled));
}

void panama_partial_settle(struct panama_sequence *sequence, uint64_t vid)
{
	struct panama_partial *partial = sequence->partial;
	const struct panama_job *job = sequence->job;
	const struct tree *tree = job->trees[sequence->tree].tree;
	struct settled *settled;
	uint64_t *bits;

	panama_partial_reach(sequence, vid, vid);
	bits = bits_of(sequence, vid);
	reserve_settled(sequence, vid);
	settled = &partial->settled[vid & partial->settled_mask];
	*settled = (struct settled){ 0 };
	partial->included[0] = true;
	for (uint32_t i = 1; i < tree->node_count; i++) /* parents come before children */
		partial->included[i] =
			is_in(sequence, bits, tree->nodes[i].parent, tree->nodes[i].number);
	for (uint32_t w = 0; w < job->base.spec.workers; w++) {
		if (!is_in(sequence, bits, tree->node_of_worker[w], tree->number_of_worker[w]))
			continue;
		settled->weight += job->base.exact.weights[w];
		settled->workers++;
	}
	memset(bits, 0, words_of(sequence) * sizeof(*bits));
}

uint64_t panama_partial_weight(const struct panama_sequence *sequence, uint64_t vid,
			       uint32_t *workers)
{
	const struct settled *settled =
		&sequence->partial->settled[vid & sequence->partial->settled_mask];

	*workers = settled->workers;
	return settled->weight;
}
