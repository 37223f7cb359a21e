/* PANAMA at a worker: sections 4.1 and 4.2. What is modelled and what is not: panama.c.
 *
 * Per tree, VIDs in the order of the stream:
 *
 *     results ... | una  (with recovery: some results) ... next ) ... available )
 *
 *     sent and without a result: next - una - ahead <= floor(cwnd)
 *
 * All trees share one turn at the NIC, and take it in the order of their numbers. */
#include "ina/panama/panama.h"

#include "base/mem.h"

#include <stdlib.h>

/* --- sending --- */

static uint64_t outstanding(const struct panama_flow *flow)
{
	return flow->next - flow->una - flow->ahead;
}

static bool may_send(struct panama_worker *worker, uint32_t tree)
{
	struct panama_flow *flow = &worker->flows[tree];

	while (worker->asker && flow->next < flow->available &&
	       panama_recovery_has(worker, tree, flow->next)) {
		flow->next++; /* a repair was faster */
		flow->ahead++;
	}
	return flow->next < flow->available &&
	       outstanding(flow) < panama_window_packets(&flow->window);
}

/* The tree whose chunk is next, if its window lets it go. */
static uint64_t strict_ready(struct panama_worker *worker)
{
	uint32_t trees = worker->job->tree_count, tree;

	do {
		tree = (uint32_t)(worker->chunk % trees);
	} while (worker->chunk / trees < worker->flows[tree].next && ++worker->chunk);
	return may_send(worker, tree) ? UINT64_C(1) << tree : 0;
}

void panama_worker_look(struct panama_worker *worker, uint32_t tree)
{
	uint64_t bit = UINT64_C(1) << tree;

	if (worker->job->scheme->conf->order == PANAMA_STRICT)
		worker->ready = strict_ready(worker);
	else if (may_send(worker, tree))
		worker->ready |= bit;
	else
		worker->ready &= ~bit;
}

static bool has_packets(const struct panama_worker *worker)
{
	return worker->ready || (worker->asker && panama_recovery_ready(worker));
}

void panama_worker_wake(struct panama_worker *worker)
{
	if (has_packets(worker))
		nic_wake(&worker->job->scheme->env.topo->net.nics[worker->host], &worker->source);
}

struct packet panama_contribution(const struct panama_worker *worker,
				  const struct panama_lane *lane, uint64_t vid, uint64_t chunk)
{
	const struct panama_job *job = worker->job;
	const struct tree *tree = job->trees[lane->tree].tree;

	return (struct packet){
		.seq = vid,
		.value = exact_contribution(&job->exact, worker->number, chunk),
		.flow = lane->number,
		.source = (uint16_t)tree->number_of_worker[worker->number],
		.size = (uint16_t)job->scheme->frame,
		.slot = PANAMA_CAP_MAX,
		.route = { 1 },
		.kind = PACKET_AGGREGATION,
		.flags = PACKET_ECT,
		.protocol = job->scheme->protocol,
	};
}

/* No more chunks come behind this one on its tree. With recovery, what is sent again may; then
 * the controller alone ends the job. */
static bool is_last_of_tree(const struct panama_worker *worker, uint64_t chunk)
{
	const struct panama_job *job = worker->job;

	return !job->recovery && chunk + job->tree_count >= worker->available &&
	       job->tensors.readers[worker->number].tensors == job->job.tensors;
}

/* No worker may fall a tensor behind the others, who would start the next iteration. */
static bool is_last_of_tensor(const struct panama_worker *worker, uint64_t chunk)
{
	const struct tensors *tensors = &worker->job->tensors;
	uint64_t tensor = tensors_of_chunk(tensors, worker->number, chunk);

	return chunk + 1 == tensors->end[tensor & tensors->mask];
}

/* The first tree that is ready, from the one whose turn it is. */
static uint32_t next_tree(const struct panama_worker *worker)
{
	uint64_t from_turn = worker->ready >> worker->turn << worker->turn;

	return (uint32_t)__builtin_ctzll(from_turn ? from_turn : worker->ready);
}

static enum nic_pull pull(void *owner, struct packet *packet)
{
	struct panama_worker *worker = owner;
	struct panama_job *job = worker->job;
	const struct panama_lane *lane;
	struct panama_flow *flow;
	uint64_t chunk;
	uint32_t tree;

	if (worker->asker && panama_recovery_pull(worker, packet))
		return has_packets(worker) ? NIC_MORE : NIC_LAST;
	if (!worker->ready)
		return NIC_NOTHING;
	tree = next_tree(worker);
	flow = &worker->flows[tree];
	lane = &job->lanes[tree];
	chunk = panama_chunk(job, tree, flow->next);
	*packet = panama_contribution(worker, lane, flow->next, chunk);
	if (is_last_of_tree(worker, chunk))
		packet->flags |= PANAMA_FIN;
	if (lane->partial && is_last_of_tensor(worker, chunk))
		packet->flags |= PANAMA_ALL;
	flow->next++;
	worker->turn = (tree + 1) % job->tree_count;
	panama_worker_look(worker, tree);
	if (worker->asker)
		panama_recovery_sent(worker, tree);
	return has_packets(worker) ? NIC_MORE : NIC_LAST;
}

/* --- results --- */

/* The worker holds the sum of a chunk that it has handed over; perhaps of a whole tensor. */
static void complete(struct panama_worker *worker, uint64_t chunk)
{
	struct panama_job *job = worker->job;
	uint64_t tensor;

	if (tensors_result(&job->tensors, worker->number, chunk, &tensor))
		job->job.done(job->job.owner, worker->number, tensor);
}

void panama_worker_contribute(struct panama_worker *worker, uint64_t chunks)
{
	struct panama_job *job = worker->job;
	uint64_t first = worker->available;

	tensors_add(&job->tensors, worker->number, chunks);
	worker->available += chunks;
	for (uint32_t t = 0; t < job->tree_count; t++) {
		worker->flows[t].available =
			(worker->available + job->tree_count - 1 - t) / job->tree_count;
		panama_worker_look(worker, t);
	}
	panama_worker_wake(worker);
	if (!job->lanes[0].partial)
		return;
	for (uint64_t c = first; c < first + chunks; c++) /* results may have come before */
		if (c / job->tree_count < worker->flows[c % job->tree_count].una)
			complete(worker, c);
}

/* Without recovery: results of a tree come in order, and none comes again. */
static bool take_in_order(struct panama_worker *worker, struct panama_flow *flow, uint64_t vid)
{
	if (vid < flow->una) {
		panama_violated(worker->job, worker->host, vid, "a result came twice");
		return false;
	}
	worker->lost += vid - flow->una;
	flow->una = vid + 1;
	if (flow->next < flow->una) { /* too late to be in it: only with a fraction */
		worker->skipped += flow->una - flow->next;
		flow->next = flow->una;
	}
	return true;
}

static bool sum_holds(const struct panama_worker *worker, const struct panama_lane *lane,
		      const struct packet *packet, uint64_t chunk)
{
	const struct exact *exact = &worker->job->exact;
	uint32_t workers;
	uint64_t weight;

	if (!lane->partial)
		return panama_workers_in(packet) == worker->job->job.workers &&
		       exact_holds(exact, chunk, packet->value);
	weight = panama_partial_weight(lane, packet->seq, &workers);
	return panama_workers_in(packet) == workers &&
	       exact_holds_part(exact, weight, chunk, packet->value);
}

void panama_worker_result(struct panama_worker *worker, struct panama_lane *lane,
			  const struct packet *packet)
{
	struct panama_job *job = worker->job;
	struct panama_flow *flow = &worker->flows[lane->tree];
	uint64_t vid = packet->seq;
	uint64_t chunk = lane->repair ? panama_recovery_chunk(job, lane->tree, vid)
				      : panama_chunk(job, lane->tree, vid);
	bool fresh;

	if (!sum_holds(worker, lane, packet, chunk)) {
		panama_violated(job, worker->host, vid, "a wrong sum");
		return;
	}
	fresh = worker->asker ? panama_recovery_result(worker, lane, packet, chunk)
			      : take_in_order(worker, flow, vid);
	worker->stale += !fresh;
	if (!lane->repair)
		panama_window_result(&flow->window, &job->scheme->window, packet->flags & PACKET_CE,
				     packet->slot);
	panama_worker_look(worker, lane->tree);
	panama_worker_wake(worker);
	if (fresh && chunk < worker->available)
		complete(worker, chunk);
}

void panama_worker_answer(struct panama_worker *worker, uint32_t tree, uint64_t vid)
{
	panama_worker_look(worker, tree);
	panama_worker_wake(worker);
	complete(worker, panama_chunk(worker->job, tree, vid));
}

/* --- life --- */

void panama_worker_init(struct panama_worker *worker, uint32_t cap)
{
	const struct panama_job *job = worker->job;

	worker->source = (struct nic_source){ .pull = pull, .owner = worker, .deferrable = true };
	worker->flows = xaligned(64, job->tree_count * sizeof(*worker->flows));
	for (uint32_t t = 0; t < job->tree_count; t++)
		panama_window_init(&worker->flows[t].window, &job->scheme->window, cap);
}

void panama_worker_release(struct panama_worker *worker)
{
	nic_forget(&worker->job->scheme->env.topo->net.nics[worker->host], &worker->source);
	free(worker->flows);
}
