/* The state of PANAMA and SwitchML*, for runs that repeat themselves (core/repeat.h). Trees move on
 * by themselves: each sequence is a stream of VIDs.
 *
 * Windows keep growing long after they have stopped holding workers back: for 2,666 rounds with 64
 * MB of memory at 16 ports. So windows need not be equal, as long as they decide nothing. Every
 * result carries the least wnd_cap of the tree's switches, once no packet is in flight that was
 * sent before a job came or went. Without marked results, a window that is not above that cap only
 * grows, up to the cap. It decides nothing if it is at the cap already, or has held nothing back.
 * When rounds are skipped, such a window grows as it would have grown in them.
 *
 * Jobs with recovery or a fraction never count as equal. */
#include "ina/panama/panama.h"

#include "base/mem.h"
#include "net/repeat.h"

#include <stdlib.h>
#include <string.h>

/* Chunks go to the trees in turn. */
uint64_t panama_period(const void *self)
{
	return ((const struct panama_job *)self)->tree_count;
}

/* --- packets and sums --- */

/* Sums of two VIDs count as equal if they add up the same weights. */
static void repeat_sum(const struct panama_sequence *sequence, struct repeat *repeat, uint64_t vid,
		       uint64_t *value)
{
	const struct panama_job *job = sequence->job;
	const struct exact *exact = &job->base.exact;
	uint64_t weight = exact_weight(exact, panama_chunk(job, sequence->tree, vid), *value);

	repeat_same(repeat, weight);
	repeat_number(repeat, &vid, &sequence->stream);
	if (repeat->moving)
		*value = weight * exact_chunk(exact, panama_chunk(job, sequence->tree, vid));
}

const struct repeat_stream *panama_stream(const void *self, const struct packet *packet)
{
	const struct panama_scheme *scheme = self;
	const struct panama_sequence *sequence = ina_find(&scheme->sequences, packet->flow);

	return sequence ? &sequence->stream : NULL;
}

void panama_repeat_packet(void *self, struct repeat *repeat, struct packet *packet)
{
	const struct panama_scheme *scheme = self;
	const struct panama_sequence *sequence = ina_find(&scheme->sequences, packet->flow);

	if (!sequence) { /* the job is over: nobody waits for the packet */
		repeat_same(repeat, packet->seq);
		repeat_same(repeat, packet->value);
		return;
	}
	repeat_sum(sequence, repeat, packet->seq, &packet->value);
	repeat_number(repeat, &packet->seq, &sequence->stream);
}

/* --- windows --- */

/* The wnd_cap of all results from now on; 0 if packets in flight may bring another. */
static uint32_t cap_of_results(struct panama_sequence *sequence)
{
	const struct panama_job *job = sequence->job;
	uint64_t sent = 0, una = UINT64_MAX;
	uint32_t cap = PANAMA_CAP_MAX;

	for (uint32_t w = 0; w < job->base.spec.workers; w++) {
		const struct panama_flow *flow = &panama_worker(job, w)->flows[sequence->tree];

		sent = flow->next > sent ? flow->next : sent;
		una = flow->una < una ? flow->una : una;
	}
	if (sequence->changes != panama_scheme(job)->changes) {
		sequence->changes = panama_scheme(job)->changes;
		sequence->sent_before = sent;
	}
	for (uint32_t i = 0; i < sequence->node_count; i++) {
		uint32_t here =
			sequence->nodes[i].fin ? 0 : panama_cap(sequence, &sequence->nodes[i]);

		cap = here < cap ? here : cap;
	}
	return una < sequence->sent_before ? 0 : cap;
}

static void repeat_window(struct panama_job *job, struct panama_window *window, uint32_t cap,
			  uint64_t results, struct repeat *repeat)
{
	const struct panama_window_conf *conf = &panama_scheme(job)->window;
	bool grows = !conf->fixed && !window->marked && window->cwnd <= cap;

	repeat_same(repeat, grows);
	if (!grows) {
		repeat_same_bytes(repeat, window, sizeof(*window));
		return;
	}
	repeat_same(repeat, job->marked); /* no mark has come since */
	repeat_same(repeat, window->cwnd < cap ? job->held_back : UINT64_MAX);
	if (repeat->moving)
		panama_window_unmarked(window, conf, cap, results);
}

/* --- workers --- */

/* The number of VIDs of the tree before this chunk. */
static uint64_t vids_before(const struct panama_job *job, uint64_t chunk, uint32_t tree)
{
	return (chunk + job->tree_count - 1 - tree) / job->tree_count;
}

/* Limits a skip: something must remain to be sent, and skipped results must be of one tensor. */
static void repeat_ends(const struct panama_worker *worker, uint32_t tree, struct repeat *repeat)
{
	const struct panama_flow *flow = &worker->flows[tree];
	const struct tensors *tensors = &worker->base.job->tensors;
	const struct tensor_reader *reader = &tensors->readers[worker->base.number];
	uint64_t to_send = flow->available - flow->next, end = flow->una, to_come;

	if (reader->first_open < reader->tensors)
		end = vids_before(panama_job(worker),
				  tensors->end[reader->first_open & tensors->mask], tree);
	to_come = end > flow->una ? end - flow->una : 0;
	repeat_left(repeat, &to_send, 1);
	repeat_left(repeat, &to_come, 0);
}

static void repeat_flow(struct panama_worker *worker, struct panama_sequence *sequence,
			uint32_t cap, struct repeat *repeat)
{
	struct panama_flow *flow = &worker->flows[sequence->tree];

	repeat_ends(worker, sequence->tree, repeat);
	repeat_same(repeat, flow->available);
	repeat_same(repeat, flow->done);
	repeat_number(repeat, &flow->next, &sequence->stream);
	repeat_number(repeat, &flow->una, &sequence->stream);
	repeat_window(panama_job(worker), &flow->window, cap,
		      repeat->periods * sequence->stream.step, repeat);
}

static void repeat_worker(struct panama_worker *worker, struct repeat *repeat)
{
	repeat_same(repeat, worker->available);
	repeat_same(repeat, worker->ready);
	repeat_same(repeat, worker->turn);
	repeat_same(repeat, worker->lost);
	if (panama_conf(panama_job(worker))->order == PANAMA_STRICT)
		repeat_number(repeat, &worker->chunk, &worker->base.job->stream);
}

/* --- accelerators --- */

static void repeat_row(const struct panama_sequence *sequence, struct repeat *repeat, uint64_t vid,
		       struct panama_row *row)
{
	repeat_same(repeat, (uint64_t)row->past << 32 | row->packets);
	repeat_same(repeat, (uint64_t)row->workers << 32 | (uint64_t)row->cap << 16 |
				    (uint64_t)row->flags << 8 | row->placeless);
	repeat_sum(sequence, repeat, vid, &row->value);
}

static void turn_rows(struct panama_node *node, uint64_t by)
{
	size_t count = (size_t)node->mask + 1;
	struct panama_row *rows = xcalloc(count, sizeof(*rows));

	for (uint64_t i = 0; i < count; i++)
		rows[(i + by) & node->mask] = node->rows[i];
	memcpy(node->rows, rows, count * sizeof(*rows));
	free(rows);
}

static void repeat_node(const struct panama_sequence *sequence, struct panama_node *node,
			struct repeat *repeat)
{
	repeat_same(repeat, (uint64_t)node->mask << 32 | node->buffered);
	repeat_same(repeat, (uint64_t)node->fin << 1 | node->behind);
	for (uint64_t v = node->expected; v <= node->expected + node->mask; v++)
		repeat_row(sequence, repeat, v, &node->rows[v & node->mask]);
	if (repeat->moving)
		turn_rows(node, repeat->periods * sequence->stream.step);
	repeat_number(repeat, &node->expected, &sequence->stream);
	for (uint32_t c = 0; c < node->children; c++)
		repeat_number(repeat, &node->next[c], &sequence->stream);
}

static void repeat_accelerator(struct panama_accelerator *accelerator, struct repeat *repeat)
{
	repeat_same(repeat, accelerator->jobs);
	for (uint32_t p = 0; accelerator->free_at && p < accelerator->ports; p++)
		repeat_due(repeat, &accelerator->free_at[p]);
	repeat_event(repeat, accelerator->timer.id);
	repeat_same(repeat, accelerator->held_end - accelerator->held_head);
	for (uint64_t i = accelerator->held_head; i < accelerator->held_end; i++) {
		struct panama_held *held = &accelerator->held[i & accelerator->held_mask];

		repeat_time(repeat, &held->due);
		repeat_same(repeat, held->node); /* `back` is for PAUSE */
		network_repeat_packet(&accelerator->scheme->base.env.topo->net, repeat,
				      &held->packet);
	}
}

/* --- the whole --- */

void panama_repeat_job(void *self, struct repeat *repeat)
{
	struct panama_job *job = self;

	if (job->orders || job->sequences[0].partial)
		repeat_never(repeat);
	for (uint32_t s = 0; s < job->sequence_count; s++) {
		struct panama_sequence *sequence = &job->sequences[s];

		sequence->stream.base = panama_worker(job, 0)->flows[sequence->tree].una;
		repeat_base(repeat, &sequence->stream);
	}
	for (uint32_t s = 0; s < job->sequence_count; s++) {
		struct panama_sequence *sequence = &job->sequences[s];
		uint32_t cap = cap_of_results(sequence);

		for (uint32_t w = 0; w < job->base.spec.workers; w++)
			repeat_flow(panama_worker(job, w), sequence, cap, repeat);
		for (uint32_t i = 0; i < sequence->node_count; i++)
			repeat_node(sequence, &sequence->nodes[i], repeat);
	}
	for (uint32_t w = 0; w < job->base.spec.workers; w++)
		repeat_worker(panama_worker(job, w), repeat);
	repeat_count(repeat, &job->overflows);
}

void panama_repeat(void *self, struct repeat *repeat)
{
	struct panama_scheme *scheme = self;

	ina_repeat(scheme, repeat);
	for (uint32_t s = 0; s < scheme->base.env.topo->net.switches; s++)
		repeat_accelerator(&scheme->accelerators[s], repeat);
}
