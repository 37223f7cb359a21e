/* PANAMA's accelerator: section 5. panama.c says what is modelled.
 *
 * There is a FIFO per input port and sequence, and Expected_VID. A VID is over when every FIFO has
 * a packet of this VID or a later one at its head. If all have the VID, its packets are added up
 * and sent on; else they are discarded. Links keep the order, so a later packet says that the VID
 * is lost. With a fraction a VID is also over once enough workers are in its packets. */
#include "ina/panama/panama.h"

#include "base/mem.h"
#include "base/ring.h"

#include <math.h>
#include <stdlib.h>

#define ROWS_FIRST 4 /* a power of two; in lock-step one or two are in use */

static uint32_t workers_below(const struct ina_tree *tree, uint32_t workers, uint32_t number)
{
	uint32_t below = 0;

	for (uint32_t w = 0; w < workers; w++) {
		uint32_t node = tree->tree->node_of_worker[w];

		while (node != number && node != TREE_NONE)
			node = tree->tree->nodes[node].parent;
		below += node == number;
	}
	return below;
}

/* Workers that a sum waits for. 1e-9: 0.88 of 25 is 22, not 23, however doubles round it. */
static uint32_t needed_of(const struct panama_conf *conf, uint32_t below)
{
	double exact = conf->fraction * below;
	double whole = conf->rounding == PANAMA_UP        ? ceil(exact - 1e-9)
		       : conf->rounding == PANAMA_NEAREST ? round(exact)
							  : floor(exact + 1e-9);

	return whole > 1 ? (uint32_t)whole : 1;
}

void panama_node_init(struct panama_node *node, const struct panama_sequence *sequence,
		      uint32_t number)
{
	const struct panama_job *job = sequence->job;
	const struct ina_tree *tree = &job->trees[sequence->tree];
	const struct tree_node *place = &tree->tree->nodes[number];
	uint32_t below = workers_below(tree, job->base.spec.workers, number);

	*node = (struct panama_node){ .children = place->children,
				      .parent = place->parent,
				      .number = place->number,
				      .up_port = place->up_port,
				      .down_ports = place->down_ports,
				      .mask = ROWS_FIRST - 1 };
	node->accelerator = &panama_scheme(job)->accelerators[place->sw];
	node->rows = xcalloc(ROWS_FIRST, sizeof(*node->rows));
	node->next = node->children <= PANAMA_FEW ? node->few
						  : xcalloc(node->children, sizeof(*node->next));
	node->needed = needed_of(panama_conf(job), below);
}

void panama_node_release(struct panama_node *node)
{
	free(node->rows);
	if (node->next != node->few)
		free(node->next);
}

uint32_t panama_cap_at(const struct panama_accelerator *accelerator, uint32_t sequences)
{
	uint64_t cap = accelerator->memory->memory_bytes / accelerator->ports / accelerator->jobs /
		       sequences / accelerator->scheme->base.frame;

	return cap < PANAMA_CAP_MAX ? (uint32_t)cap : PANAMA_CAP_MAX;
}

uint32_t panama_cap(const struct panama_sequence *sequence, struct panama_node *node)
{
	const struct panama_accelerator *accelerator = node->accelerator;

	if (node->cap_jobs == accelerator->jobs)
		return node->cap;
	node->cap_jobs = accelerator->jobs;
	node->cap = panama_cap_at(accelerator, sequence->job->sequences_at[accelerator->sw]);
	SIM_BUG_ON(!node->cap); /* see has_room() of panama.c */
	return node->cap;
}

/* --- memory --- */

static void panama_reserve(struct panama_sequence *sequence, struct panama_node *node,
			   int64_t packets)
{
	const struct panama_scheme *scheme = panama_scheme(sequence->job);

	node->buffered += (uint32_t)packets;
	if (sequence->half)
		node->accelerator->first_sent += (uint64_t)packets;
	collective_reserve(node->accelerator->memory, scheme->base.env.sim->now,
			   packets * (int64_t)scheme->base.frame);
}

/* Whether memory has no room for one more packet. With recovery, first transmissions take at most
 * half of the memory, so retransmissions find room whatever others wait for. */
static bool is_full(const struct panama_sequence *sequence, const struct panama_node *node)
{
	const struct panama_accelerator *accelerator = node->accelerator;
	const struct collective_memory *memory = accelerator->memory;
	uint64_t frame = sequence->job->base.scheme->frame;

	return memory->used_bytes + frame > memory->memory_bytes ||
	       (sequence->half && (accelerator->first_sent + 1) * frame > memory->memory_bytes / 2);
}

void panama_node_over(struct panama_sequence *sequence, struct panama_node *node)
{
	if (node->fin)
		return;
	node->fin = true;
	panama_reserve(sequence, node, -(int64_t)node->buffered);
	if (--sequence->job->open_at[node->accelerator->sw] == 0)
		panama_count_job(node->accelerator,
				 sequence->job->sequences_at[node->accelerator->sw], false);
}

/* --- rows --- */

static struct panama_row *row_of(const struct panama_node *node, uint64_t vid)
{
	return &node->rows[vid & node->mask];
}

static void panama_switch_reach(struct panama_node *node, uint64_t vid)
{
	uint64_t mask = node->mask;

	if (vid - node->expected <= mask)
		return;
	node->rows = ring_widen(node->rows, &mask, node->expected, vid, sizeof(*node->rows));
	node->mask = (uint32_t)mask;
}

static void panama_add(struct panama_row *row, const struct packet *packet)
{
	if (!row->packets) {
		row->cap = packet->own[PANAMA_CAP];
		row->flags = PANAMA_FIN;
	}
	row->value += packet->value;
	row->packets++;
	row->workers += packet->own[PANAMA_WORKERS];
	if (packet->own[PANAMA_CAP] < row->cap)
		row->cap = packet->own[PANAMA_CAP];
	row->flags |= packet->flags & (PACKET_CE | PANAMA_ALL);
	if (!(packet->flags & PANAMA_FIN))
		row->flags &= (uint8_t)~PANAMA_FIN;
}

/* --- a VID is over --- */

void panama_send_on(const struct panama_node *node, const struct packet *packet,
		    struct switch_send *send)
{
	bool result = packet->flags & PACKET_RESULT;

	send->packet = *packet;
	send->ports = result ? node->down_ports : &node->up_port;
	send->count = result ? node->children : 1;
}

static struct packet panama_sum_of(struct panama_sequence *sequence, struct panama_node *node,
				   const struct panama_row *row)
{
	const struct panama_scheme *scheme = panama_scheme(sequence->job);
	bool root = node->parent == TREE_NONE;
	uint32_t cap = panama_cap(sequence, node);

	return (struct packet){
		.seq = node->expected,
		.value = row->value,
		.flow = sequence->number,
		.source = (uint16_t)node->number,
		.size = (uint16_t)scheme->base.frame,
		.own = { [PANAMA_WORKERS] = (uint16_t)row->workers,
			 [PANAMA_CAP] = (uint16_t)(row->cap < cap ? row->cap : cap) },
		.kind = PACKET_AGGREGATION,
		.flags = (uint8_t)(PACKET_ECT | row->flags | (root ? PACKET_RESULT : 0)),
		.protocol = scheme->base.protocol,
	};
}

/* Whether there is a sum to send. With a fraction, a VID need not wait for all children. If all
 * have sent, nothing more will come: rounded down at each child, the fraction may be fewer workers
 * than rounded down here. Without a fraction, this is called only when all children are past the
 * VID. */
static bool enough(const struct panama_sequence *sequence, const struct panama_node *node,
		   const struct panama_row *row)
{
	if (!sequence->partial || row->flags & PANAMA_ALL || row->packets == node->children)
		return row->packets == node->children;
	return row->packets && row->workers >= node->needed;
}

bool panama_is_over(const struct panama_sequence *sequence, const struct panama_node *node)
{
	const struct panama_row *row = row_of(node, node->expected);

	return !node->fin &&
	       (row->past == node->children || (sequence->partial && enough(sequence, node, row)));
}

bool panama_pass(struct panama_sequence *sequence, struct panama_node *node, struct packet *sum)
{
	struct panama_row *row = row_of(node, node->expected);
	struct collective_stats *stats = &node->accelerator->memory->stats;
	bool fin = row->flags & PANAMA_FIN && row->packets == node->children;
	bool sent = enough(sequence, node, row);

	/* gives the memory of the packets back; the newest may have none */
	panama_reserve(sequence, node, row->placeless - (int64_t)row->packets);
	if (sequence->partial && node->parent == TREE_NONE)
		panama_partial_settle(sequence, node->expected);
	if (sent) {
		*sum = panama_sum_of(sequence, node, row);
		stats->packets_aggregated += row->packets;
		stats->results += node->parent == TREE_NONE;
	} else {
		stats->discarded += row->packets;
	}
	*row = (struct panama_row){ 0 };
	node->expected++;
	if (fin)
		panama_node_over(sequence, node);
	return sent;
}

/* --- packets --- */

/* Whether this packet will end a VID, asked only when memory is full. Then the packet takes no
 * memory itself, or gets memory that becomes free. */
static bool makes_room(const struct panama_sequence *sequence, struct panama_node *node,
		       const struct packet *packet)
{
	uint64_t first = node->expected, v = first;
	const struct panama_row *row = row_of(node, first);

	if (node->behind)
		return false;
	if (sequence->partial && packet->seq == first &&
	    !((row->flags | packet->flags) & PANAMA_ALL) &&
	    row->workers + packet->own[PANAMA_WORKERS] >= node->needed)
		return true;
	if (node->next[packet->source] > first) /* the first VID waits for another child */
		return false;
	panama_switch_reach(node, packet->seq);
	for (; v < packet->seq && row_of(node, v)->past + 1 == node->children; v++)
		if (row_of(node, v)->packets)
			return true; /* these are discarded */
	return v == packet->seq && row_of(node, v)->past + 1 == node->children;
}

/* Counts a packet that is dropped after its header has been read. */
static void overflow(struct panama_sequence *sequence, struct panama_node *node)
{
	node->accelerator->memory->stats.overflows++;
	sequence->job->overflows++;
}

/* Adds the packet to its row. A packet that completes a sum meets the others in the adder, and
 * takes no memory. */
static void store(struct panama_sequence *sequence, struct panama_node *node,
		  const struct packet *packet, bool full)
{
	struct panama_row *row = row_of(node, packet->seq);

	panama_add(row, packet);
	row->placeless = full;
	if (!full)
		panama_reserve(sequence, node, 1);
	if (sequence->partial)
		panama_partial_in(sequence, node, packet->seq, packet->source);
}

/* A packet was stored without memory. If its own VID is not over, an earlier VID has left, and the
 * packet takes memory that became free. */
static void find_place(struct panama_sequence *sequence, struct panama_node *node, uint64_t vid)
{
	if (vid < node->expected || !row_of(node, vid)->placeless)
		return;
	row_of(node, vid)->placeless = false;
	panama_reserve(sequence, node, 1);
}

/* The child's FIFO has come to `vid`. */
static void pass_to(struct panama_node *node, uint32_t child, uint64_t vid)
{
	uint64_t *next = &node->next[child];
	uint64_t v = *next > node->expected ? *next : node->expected;

	panama_switch_reach(node, vid);
	for (; v <= vid; v++)
		row_of(node, v)->past++;
	*next = vid + 1;
}

/* Sends complete sums. Without a fraction a packet completes at most the sum of its own VID, and
 * leaves its FIFO empty. With a fraction, several sums may have waited for the packet. */
static void send_sums(struct panama_sequence *sequence, struct panama_node *node, uint32_t back,
		      struct switch_actions *actions)
{
	struct panama_accelerator *accelerator = node->accelerator;
	struct packet sum;
	unsigned sums = 0;

	while (sums < PANAMA_SUMS_AT_ONCE && panama_is_over(sequence, node)) {
		if (!panama_pass(sequence, node, &sum))
			continue;
		sums++;
		if (accelerator->latency)
			panama_delay(node, &sum, (uint32_t)(node - sequence->nodes), back);
		else
			panama_send_on(node, &sum, &actions->send[actions->count++]);
	}
	if (sums == PANAMA_SUMS_AT_ONCE && panama_is_over(sequence, node))
		panama_backlog_begin(sequence, node, back);
}

static void panama_switch_contribution(struct panama_sequence *sequence, struct panama_node *node,
				       uint32_t back, const struct packet *packet,
				       struct switch_actions *actions)
{
	uint64_t vid = packet->seq, *next = &node->next[packet->source];
	bool full, dropped;

	if (vid < *next || node->fin) {
		ina_violated_at_switch(&sequence->job->base, node->accelerator->sw,
				       panama_chunk_of(sequence, vid),
				       "a contribution came twice, or after FIN");
		return;
	}
	if (vid < node->expected) {
		*next = vid + 1;
		node->accelerator->memory->stats.late++; /* only with a fraction */
		return;
	}
	full = is_full(sequence, node);
	dropped = full && !makes_room(sequence, node, packet);
	/* even for a dropped packet: otherwise two packets without room would be dropped again and
	 * again, while packets that wait for these two keep the memory full */
	pass_to(node, packet->source, vid);
	if (dropped)
		overflow(sequence, node);
	else
		store(sequence, node, packet, full);
	if (!node->behind)
		send_sums(sequence, node, back, actions);
	if (full && !dropped)
		find_place(sequence, node, vid);
}

void panama_at_node(struct panama_sequence *sequence, struct panama_node *node, uint32_t back,
		    const struct packet *packet, struct switch_actions *actions)
{
	if (packet->flags & PACKET_RESULT)
		panama_send_on(node, packet, &actions->send[actions->count++]);
	else
		panama_switch_contribution(sequence, node, back, packet, actions);
}
