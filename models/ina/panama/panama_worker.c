/* PANAMA at a worker: sections 4.1 and 4.2. panama.c says what is modelled.
 *
 * VIDs of a tree, in the order of the stream:
 *
 *     results ... | una  (with recovery: some results) ... next ) ... available )
 *
 *     sent and without a result: next - una - done <= floor(cwnd)
 *
 * The trees of a worker share its turn at the NIC, and take it in the order of their numbers. */
#include "ina/panama/panama.h"

#include "base/mem.h"

#include <stdlib.h>

/* --- sending --- */

/* Skips VIDs whose result a repair has already brought. */
static void pass_over(struct panama_worker *worker, uint32_t tree)
{
	struct panama_flow *flow = &worker->flows[tree];

	while (worker->asker && flow->next < flow->available &&
	       panama_recovery_has(worker, tree, flow->next)) {
		flow->next++;
		flow->done++;
	}
}

static bool panama_may_send(struct panama_worker *worker, uint32_t tree)
{
	struct panama_flow *flow = &worker->flows[tree];

	pass_over(worker, tree);
	if (flow->next >= flow->available)
		return false;
	if (flow->next - flow->una - flow->done < panama_window_packets(&flow->window))
		return true;
	panama_job(worker)->held_back++;
	return false;
}

/* In strict order: the bit of the next chunk's tree if its window allows the chunk, else 0. */
static uint64_t strict_ready(struct panama_worker *worker)
{
	uint32_t trees = panama_job(worker)->tree_count, tree;

	for (;; worker->chunk++) {
		tree = (uint32_t)(worker->chunk % trees);
		pass_over(worker, tree);
		if (worker->chunk / trees >= worker->flows[tree].next)
			break;
	}
	return panama_may_send(worker, tree) ? UINT64_C(1) << tree : 0;
}

void panama_worker_look(struct panama_worker *worker, uint32_t tree)
{
	uint64_t bit = UINT64_C(1) << tree;

	if (panama_conf(panama_job(worker))->order == PANAMA_STRICT)
		worker->ready = strict_ready(worker);
	else if (panama_may_send(worker, tree))
		worker->ready |= bit;
	else
		worker->ready &= ~bit;
}

static bool panama_has_packets(const struct panama_worker *worker)
{
	return worker->ready || (worker->asker && panama_recovery_ready(worker));
}

void panama_worker_wake(struct panama_worker *worker)
{
	if (panama_has_packets(worker))
		ina_wake(&worker->base);
}

void panama_contribution(struct packet *packet, const struct panama_worker *worker,
			 const struct panama_sequence *sequence, uint64_t vid, uint64_t chunk)
{
	const struct tree *tree = panama_job(worker)->trees[sequence->tree].tree;

	ina_packet(packet, &worker->base, chunk);
	packet->seq = vid;
	packet->flow = sequence->number;
	packet->source = (uint16_t)tree->number_of_worker[worker->base.number];
	packet->own[PANAMA_CAP] = PANAMA_CAP_MAX;
	packet->own[PANAMA_WORKERS] = 1;
	packet->flags = PACKET_ECT;
}

/* Whether this is the last chunk on its tree. With recovery no chunk is, because retransmissions
 * may follow: the controller ends the job. */
static bool is_last_of_tree(const struct panama_worker *worker, uint64_t chunk)
{
	const struct panama_job *job = panama_job(worker);

	return !job->orders && chunk + job->tree_count >= worker->available &&
	       job->base.tensors.readers[worker->base.number].tensors == job->base.spec.tensors;
}

/* With a fraction, a tensor's last packet waits for all workers (fraction_last). Otherwise a worker
 * could fall a tensor behind the others, which would start the next iteration without it. */
static bool is_last_of_tensor(const struct panama_worker *worker, uint64_t chunk)
{
	const struct tensors *tensors = &worker->base.job->tensors;
	uint64_t tensor = tensors_of_chunk(tensors, worker->base.number, chunk);

	return chunk + 1 == tensors->end[tensor & tensors->mask];
}

/* The first tree that is ready, from the one whose turn it is. */
static uint32_t next_tree(const struct panama_worker *worker)
{
	uint64_t from_turn = worker->ready >> worker->turn << worker->turn; /* none before it */

	return (uint32_t)__builtin_ctzll(from_turn ? from_turn : worker->ready);
}

enum nic_pull panama_pull(void *owner, struct packet *packet)
{
	struct panama_worker *worker = owner;
	struct panama_job *job = panama_job(worker);
	const struct panama_sequence *sequence;
	struct panama_flow *flow;
	uint64_t chunk;
	uint32_t tree;

	if (worker->asker && panama_recovery_pull(worker, packet))
		return panama_has_packets(worker) ? NIC_MORE : NIC_LAST;
	if (!worker->ready)
		return NIC_NOTHING;
	tree = next_tree(worker);
	flow = &worker->flows[tree];
	sequence = &job->sequences[tree];
	chunk = panama_chunk(job, tree, flow->next);
	panama_contribution(packet, worker, sequence, flow->next, chunk);
	if (is_last_of_tree(worker, chunk))
		packet->flags |= PANAMA_FIN;
	if (sequence->partial && panama_conf(job)->last == PANAMA_LAST_ALL &&
	    is_last_of_tensor(worker, chunk))
		packet->flags |= PANAMA_ALL;
	flow->next++;
	why_window(job->base.tensors.why, worker->base.number,
		   panama_window_is_cut(&flow->window, &panama_scheme(job)->window)
			   ? WHY_CUT_BY_MARKS
			   : WHY_UNCUT);
	worker->turn = (tree + 1) % job->tree_count;
	panama_worker_look(worker, tree);
	if (worker->asker)
		panama_recovery_sent(worker, tree);
	return panama_has_packets(worker) ? NIC_MORE : NIC_LAST;
}

/* --- results --- */

void panama_contribute(void *self, uint64_t first, uint64_t chunks)
{
	struct panama_worker *worker = self;
	struct panama_job *job = panama_job(worker);

	worker->available += chunks;
	/* tree t has chunks t, t + tree_count, t + 2 tree_count, ... */
	for (uint32_t t = 0; t < job->tree_count; t++) {
		worker->flows[t].available =
			(worker->available + job->tree_count - 1 - t) / job->tree_count;
		panama_worker_look(worker, t);
	}
	panama_worker_wake(worker);
	if (!job->sequences[0].partial)
		return;
	for (uint64_t c = first; c < first + chunks; c++) /* results may already be here */
		if (c / job->tree_count < worker->flows[c % job->tree_count].una)
			ina_complete(&worker->base, c);
}

/* Takes a result without recovery. Results of a tree come in order, and only once. */
static bool receive_in_order(struct panama_worker *worker, uint32_t tree, uint64_t vid)
{
	struct panama_flow *flow = &worker->flows[tree];

	if (vid < flow->una) {
		ina_violated(worker->base.job, ina_host(&worker->base),
			     panama_chunk(panama_job(worker), tree, vid), "a result came twice");
		return false;
	}
	worker->lost += vid - flow->una;
	flow->una = vid + 1;
	if (flow->next < flow->una) /* the sum left without this worker (fraction) */
		flow->next = flow->una;
	return true;
}

static bool sum_holds(const struct panama_worker *worker, const struct panama_sequence *sequence,
		      const struct packet *packet, uint64_t chunk)
{
	const struct exact *exact = &worker->base.job->exact;
	uint32_t workers;
	uint64_t weight;

	if (!sequence->partial)
		return packet->own[PANAMA_WORKERS] == worker->base.job->spec.workers &&
		       exact_holds(exact, chunk, packet->value);
	weight = panama_partial_weight(sequence, packet->seq, &workers);
	return packet->own[PANAMA_WORKERS] == workers &&
	       exact_holds_part(exact, weight, chunk, packet->value);
}

void panama_worker_result(struct panama_worker *worker, struct panama_sequence *sequence,
			  const struct packet *packet)
{
	struct panama_job *job = panama_job(worker);
	struct panama_flow *flow = &worker->flows[sequence->tree];
	uint64_t vid = packet->seq;
	uint64_t chunk = panama_chunk_of(sequence, vid);
	bool fresh;

	if (!sum_holds(worker, sequence, packet, chunk)) {
		ina_violated(&job->base, ina_host(&worker->base), chunk, "a wrong sum");
		return;
	}
	fresh = worker->asker ? panama_recovery_result(worker, sequence, packet, chunk)
			      : receive_in_order(worker, sequence->tree, vid);
	job->base.stats.stale += !fresh;
	job->marked += packet->flags & PACKET_CE ? 1 : 0;
	if (!sequence->repair)
		panama_window_result(&flow->window, &panama_scheme(job)->window,
				     packet->flags & PACKET_CE, packet->own[PANAMA_CAP]);
	panama_worker_look(worker, sequence->tree);
	panama_worker_wake(worker);
	if (fresh && chunk < worker->available)
		ina_complete(&worker->base, chunk);
}

/* --- life --- */

void panama_worker_init(struct panama_worker *worker, uint32_t cap)
{
	const struct panama_job *job = panama_job(worker);

	worker->base.source.deferrable = true; /* pull() sets no timer */
	worker->flows = xaligned(64, job->tree_count * sizeof(*worker->flows));
	for (uint32_t t = 0; t < job->tree_count; t++)
		panama_window_init(&worker->flows[t].window, &panama_scheme(job)->window, cap);
}

void panama_worker_release(struct panama_worker *worker)
{
	free(worker->flows);
}
