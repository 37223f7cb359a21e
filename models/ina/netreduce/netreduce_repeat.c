/* The state of NetReduce, for runs that repeat themselves (core/repeat.h). Each ring has messages
 * of its own; roce_repeat.c moves its connections on.
 *
 * A packet's `seq` has its message above its PSN. It grows evenly only while no PSN wraps, so a
 * skip ends before a PSN wraps. */
#include "ina/netreduce/netreduce.h"

#include "net/repeat.h"

static uint32_t length_of(const struct ring *ring)
{
	return ring->nodes[0].columns.length;
}

static uint32_t window_of(const struct ring *ring)
{
	return ring->nodes[0].columns.window;
}

/* Columns and entries of the lookup table are used again after 2N messages of each ring. */
uint64_t netreduce_period(const void *self)
{
	const struct ina_job *job = self;
	const struct netreduce_conf *conf = netreduce_conf(job->scheme);

	return (uint64_t)(2 * conf->window * conf->length * conf->rings);
}

static uint32_t first_psn(const struct ring *ring, uint64_t message)
{
	return roce_psn(ring->first + message * length_of(ring));
}

/* --- packets and sums --- */

const struct repeat_stream *netreduce_stream(const void *self, const struct packet *packet)
{
	const struct end *end = netreduce_end(self, packet);

	return end ? &end->ring->stream : NULL;
}

/* Goes through a complete or partial sum for a packet of a message. `message` is the number before
 * the move. */
static void repeat_sum(struct ring *ring, struct repeat *repeat, uint64_t message, uint32_t index,
		       uint64_t *value)
{
	struct ina_job *job = &ring->job->base;
	uint64_t chunk = netreduce_chunk(ring, message, index);
	uint64_t weight = exact_weight(&job->exact, chunk, *value);

	repeat_same(repeat, weight);
	if (!repeat->moving)
		return;
	repeat_number(repeat, &message, &ring->messages);
	*value = weight * exact_chunk(&job->exact, netreduce_chunk(ring, message, index));
}

void netreduce_repeat_packet(void *self, struct repeat *repeat, struct packet *packet)
{
	struct end *end = netreduce_end(self, packet);
	uint64_t message = packet->seq >> ROCE_PSN_BITS;

	if (!end) { /* the connection is closed: nobody waits for the packet */
		repeat_same(repeat, packet->seq);
		repeat_same(repeat, packet->value);
		return;
	}
	repeat_sum(end->ring, repeat, message,
		   (roce_psn_of(packet) - first_psn(end->ring, message)) & ROCE_PSN_MASK,
		   &packet->value);
	repeat_number(repeat, &packet->seq, &end->ring->stream);
}

/* --- at switches --- */

static void repeat_column(struct ring *ring, struct columns *columns, uint32_t at,
			  struct repeat *repeat)
{
	struct column *column = &columns->columns[at];
	const uint64_t *bits = &columns->bits[(size_t)at * columns->words];
	uint32_t index = at % columns->length;

	repeat_same(repeat, (uint64_t)column->arrived << 8 | column->flags);
	repeat_due(repeat, &column->answered_until);
	repeat_same_bytes(repeat, bits, columns->words * sizeof(*bits));
	for (uint32_t row = 0; column->arrived && row < columns->rows; row++) {
		size_t cell = (size_t)at * columns->rows + row;

		if (!(bits[row / 64] >> row % 64 & 1))
			continue;
		repeat_same(repeat, columns->flags[cell]);
		repeat_sum(ring, repeat, column->message, index, &columns->values[cell]);
	}
	if (column->arrived == columns->rows)
		repeat_sum(ring, repeat, column->message, index, &column->sum);
	repeat_number(repeat, &column->message, &ring->messages);
}

static void repeat_table(struct end *end, struct repeat *repeat)
{
	struct lookup *table = &end->table;

	repeat_same(repeat, table->newest != 0);
	if (table->newest)
		repeat_number(repeat, &table->newest, &end->ring->messages);
	for (uint32_t i = 0; i < table->messages; i++) {
		struct lookup_entry *entry = &table->entries[i];

		repeat_same(repeat, entry->next != 0);
		if (!entry->next)
			continue;
		repeat_number(repeat, &entry->next, &end->ring->messages);
		entry->psn = first_psn(end->ring, entry->next - 1); /* changes only when moving */
	}
}

static void repeat_accelerator(struct accelerator *a, struct repeat *repeat)
{
	const struct network *net = &a->scheme->base.env.topo->net;

	repeat_event(repeat, a->timer.id);
	repeat_same(repeat, a->held_end - a->held_head);
	for (uint64_t i = a->held_head; i < a->held_end; i++) {
		struct held *held = &a->held[i & a->held_mask];

		repeat_time(repeat, &held->due);
		network_repeat_packet(net, repeat, &held->packet);
		repeat_same(repeat, held->way);
		if (net->lossless) /* else `back` decides nothing */
			repeat_same(repeat, held->back);
		if (held->way == NETREDUCE_RESULTS)
			repeat_same(repeat, held->column);
	}
}

/* --- rings --- */

/* All messages in flight are at most 2N behind worker 0's results and at most 4N ahead. */
static void repeat_ring(struct ring *ring, struct repeat *repeat)
{
	uint64_t around = 2 * (uint64_t)window_of(ring), base, from, to, left;

	base = ring->ends[0].results - ring->ends[0].results % around;
	from = ring->first + (base < around ? 0 : base - around) * length_of(ring);
	to = ring->first + (base + 2 * around) * length_of(ring);
	left = (((to >> ROCE_PSN_BITS) + 1) << ROCE_PSN_BITS) - to; /* packets until PSNs wrap */
	if (from >> ROCE_PSN_BITS != to >> ROCE_PSN_BITS)
		repeat_never(repeat);
	ring->messages.base = base;
	ring->stream.base = base << ROCE_PSN_BITS | first_psn(ring, base);
	repeat_base(repeat, &ring->messages);
	repeat_base(repeat, &ring->stream);
	repeat_left(repeat, &left, 1);
}

static void repeat_end(struct end *end, struct repeat *repeat)
{
	uint64_t left = netreduce_messages(end) - end->posted; /* messages to post */

	repeat_left(repeat, &left, 1);
	repeat_number(repeat, &end->posted, &end->ring->messages);
	repeat_number(repeat, &end->results, &end->ring->messages);
	repeat_table(end, repeat);
}

void netreduce_repeat_job(void *self, struct repeat *repeat)
{
	struct netreduce *job = self;

	for (int64_t r = 0; r < netreduce_conf(job->base.scheme)->rings; r++) {
		struct ring *ring = &job->rings[r];

		repeat_ring(ring, repeat);
		for (uint32_t w = 0; w < job->base.spec.workers; w++)
			repeat_end(&ring->ends[w], repeat);
		for (uint32_t n = 0; n < job->base.tree.tree->node_count; n++) {
			struct columns *columns = &ring->nodes[n].columns;

			for (uint32_t i = 0; i < 2 * columns->window * columns->length; i++)
				repeat_column(ring, columns, i, repeat);
		}
	}
}

void netreduce_repeat(void *self, struct repeat *repeat)
{
	struct netreduce_scheme *scheme = self;

	ina_repeat(scheme, repeat);
	roce_repeat(scheme->roce, repeat);
	for (uint32_t s = 0; s < scheme->base.env.topo->net.switches; s++)
		repeat_accelerator(&scheme->accelerators[s], repeat);
}
