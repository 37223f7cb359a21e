/* PANAMA with recovery from corruption and any other loss. The paper (section 4.2.2) says only: "a
 * simple timeout mechanism can be used". Ours:
 *
 * Expected_VID cannot go back, so lost chunks are retransmitted under new VIDs, on a repair
 * sequence of the same tree, which has its own Expected_VID. Worker 0 orders all workers to
 * retransmit chunks. Links keep the order of packets, so a result tells that all earlier VIDs
 * without a result are lost. Worker 0 then orders their chunks at once. A loss at the end, with no
 * later result, needs a timer: worker 0 orders its oldest chunk; any other worker asks worker 0,
 * which has the result or is recovering it itself. So does a worker other than 0 that alone lacks a
 * result: it does not act on gaps (scenarios/panama/README.md, "Losses"). Orders, questions and
 * answers (the sums) are messages over TCP connections. Timers double until there is progress.
 *
 * A worker may skip a VID of the repair sequence: accelerators pass over that VID when the worker's
 * next packet there comes (panama_switch.c). If a repair is lost, too, worker 0 finds it missing in
 * the same two ways, and orders its chunk again.
 *
 * On a repair sequence a worker sends at most wnd_cap packets beyond the newest result there. Half
 * of the memory is kept free for these packets. Only an order by a timer exceeds this limit. It
 * skips all orders that wait for their turn, which are then found missing. So a sequence goes on
 * even if all its packets were lost. The price: each timeout sends one packet beyond wnd_cap, for
 * which an accelerator may have no memory. It then drops the packet, but accelerators then pass
 * over all VIDs before it. Packets that wait for lost ones leave the memory, and the job goes on
 * once all packets of one order get through. If memory has room for only a packet or two per FIFO,
 * that takes many timeouts. */
#include "ina/panama/panama.h"

#include "base/mem.h"
#include "base/ring.h"
#include "transport/messages.h"
#include "transport/keys.h"

#include <stdlib.h>

#define MESSAGE_BYTES 16 /* kind, tree, VID */
#define BACKOFF_MAX   64 /* times the first timeout */

/* `type` of a message. `number` is a VID, or the chunk of an order; `value` is the tree. */
enum message_type { MESSAGE_ORDER, MESSAGE_URGENT_ORDER, MESSAGE_QUESTION, MESSAGE_ANSWER };

/* What a worker knows of a tree. */
struct asker_tree {
	uint8_t *has; /* whether the result of VID v is here, at [v & mask], from una on */
	uint64_t mask;
	uint64_t seen;        /* 1 + VID of the newest result of the first sequence */
	uint64_t seen_repair; /* 1 + VID of the newest result of the repair sequence */
	uint64_t known;       /* orders that have reached this worker */
	uint64_t sent;        /* orders carried out or skipped */
	uint64_t urgent;      /* 1 + the newest known order by a timer; 0 = none */
	uint32_t cap;         /* newest wnd_cap */
	sim_time since;       /* begin of the wait for the oldest VID, or last timeout */
};

struct panama_asker {
	struct panama_worker *worker;
	struct asker_tree *trees;
	struct timer timer;
	sim_time timeout;
	struct messages up, down; /* to and from worker 0; not used by worker 0 itself */
};

struct panama_orders {
	uint64_t *chunks;
	size_t count, capacity;
};

static struct panama_worker *first_worker(const struct panama_job *job)
{
	return panama_worker(job, 0);
}

static bool decides(const struct panama_worker *worker)
{
	return worker->base.number == 0;
}

/* --- when the timer is due --- */

/* Sets the timer for the tree whose wait is over first, or none. */
static void panama_arm(struct panama_asker *asker)
{
	const struct panama_worker *worker = asker->worker;
	struct sim *sim = worker->base.job->scheme->env.sim;
	sim_time since = SIM_TIME_MAX, due;

	for (uint32_t t = 0; t < panama_job(worker)->tree_count; t++) {
		const struct panama_flow *flow = &worker->flows[t];

		if (flow->una < flow->next && asker->trees[t].since < since)
			since = asker->trees[t].since;
	}
	timer_cancel(sim, &asker->timer);
	if (since == SIM_TIME_MAX)
		return;
	due = since + asker->timeout;
	timer_set(sim, &asker->timer, due > sim->now ? due : sim->now);
}

/* --- who has what --- */

bool panama_recovery_has(const struct panama_worker *worker, uint32_t tree, uint64_t vid)
{
	const struct asker_tree *self = &worker->asker->trees[tree];
	uint64_t una = worker->flows[tree].una;

	return vid < una || (vid - una < self->mask && self->has[vid & self->mask]);
}

/* Takes the result of a VID. Returns false if the worker has it already. */
static bool accept_result(struct panama_worker *worker, uint32_t tree, uint64_t vid)
{
	struct panama_asker *asker = worker->asker;
	struct asker_tree *self = &asker->trees[tree];
	struct panama_flow *flow = &worker->flows[tree];
	sim_time first = panama_conf(panama_job(worker))->timeout;

	if (panama_recovery_has(worker, tree, vid))
		return false;
	self->has = ring_reserve(self->has, &self->mask, flow->una, vid, sizeof(*self->has));
	self->has[vid & self->mask] = true;
	flow->done += vid < flow->next;
	if (vid != flow->una)
		return true;
	for (; self->has[flow->una & self->mask]; flow->una++) {
		self->has[flow->una & self->mask] = false;
		if (flow->una < flow->next)
			flow->done--;
		else /* the result came before the worker sent this VID */
			flow->next = flow->una + 1;
	}
	self->since = worker->base.job->scheme->env.sim->now;
	if (asker->timeout > first) {
		asker->timeout = first;
		panama_arm(asker);
	}
	return true;
}

/* --- messages --- */

static void write_message(struct messages *messages, enum message_type type, uint32_t tree,
			  uint64_t number, uint32_t payload)
{
	messages_send(messages, (struct message){ .number = number, .value = tree, .type = type },
		      MESSAGE_BYTES + payload);
}

/* A question of worker `owner` has reached worker 0. If worker 0 lacks the result, too, the result
 * is still to come, or worker 0's timer orders its chunk. */
static void arrived_up(void *owner, const struct message *message)
{
	struct panama_worker *by = owner;
	const struct panama_job *job = panama_job(by);
	uint32_t tree = (uint32_t)message->value;

	if (!panama_recovery_has(first_worker(job), tree, message->number))
		return;
	by->base.job->stats.repairs++;
	write_message(&by->asker->down, MESSAGE_ANSWER, tree, message->number,
		      ina_payload(panama_conf(job)));
}

/* The sum needs no check: worker 0 checked it when it came. */
static void answered(struct panama_worker *worker, uint32_t tree, uint64_t vid)
{
	if (!accept_result(worker, tree, vid)) {
		worker->base.job->stats.stale++;
		return;
	}
	panama_worker_look(worker, tree);
	panama_worker_wake(worker);
	ina_complete(&worker->base, panama_chunk(panama_job(worker), tree, vid));
}

static void note_order(struct panama_worker *worker, uint32_t tree, bool urgent)
{
	struct asker_tree *self = &worker->asker->trees[tree];

	self->known++;
	if (urgent)
		self->urgent = self->known;
}

/* A message of worker 0 has reached the worker `owner`. */
static void arrived_down(void *owner, const struct message *message)
{
	struct panama_worker *worker = owner;
	uint32_t tree = (uint32_t)message->value;

	if (message->type == MESSAGE_ANSWER) {
		answered(worker, tree, message->number);
		return;
	}
	note_order(worker, tree, message->type == MESSAGE_URGENT_ORDER);
	panama_worker_wake(worker);
}

/* --- orders --- */

/* Worker 0 orders all workers to retransmit a chunk; `urgent` because of a timer. */
static void order(struct panama_job *job, uint32_t tree, uint64_t chunk, bool urgent)
{
	enum message_type type = urgent ? MESSAGE_URGENT_ORDER : MESSAGE_ORDER;
	struct panama_orders *orders = &job->orders[tree];

	orders->chunks = array_reserve(orders->chunks, orders->count, &orders->capacity,
				       sizeof(*orders->chunks));
	orders->chunks[orders->count++] = chunk;
	note_order(first_worker(job), tree, urgent);
	for (uint32_t w = 1; w < job->base.spec.workers; w++)
		write_message(&panama_worker(job, w)->asker->down, type, tree, chunk, 0);
}

/* The result of VID `to` has come, where `from` was next. Worker 0 orders the chunks between them
 * that it lacks, because they are lost. */
static void order_gap(struct panama_worker *worker, const struct panama_sequence *sequence,
		      uint64_t from, uint64_t to)
{
	struct panama_job *job = panama_job(worker);

	for (uint64_t v = from; v < to; v++) {
		uint64_t chunk = panama_chunk_of(sequence, v);

		if (!panama_recovery_has(worker, sequence->tree, chunk / job->tree_count))
			order(job, sequence->tree, chunk, false);
	}
}

bool panama_recovery_result(struct panama_worker *worker, const struct panama_sequence *sequence,
			    const struct packet *packet, uint64_t chunk)
{
	struct asker_tree *self = &worker->asker->trees[sequence->tree];
	uint64_t *seen = sequence->repair ? &self->seen_repair : &self->seen, from = *seen;
	uint64_t vid = packet->seq;
	bool fresh = accept_result(worker, sequence->tree, chunk / panama_job(worker)->tree_count);

	if (vid < from) {
		ina_violated(worker->base.job, ina_host(&worker->base), chunk,
			     "a result overtook another");
		return fresh;
	}
	*seen = vid + 1;
	self->cap = packet->own[PANAMA_CAP];
	if (decides(worker))
		order_gap(worker, sequence, from, vid);
	return fresh;
}

uint64_t panama_recovery_chunk(const struct panama_job *job, uint32_t tree, uint64_t vid)
{
	SIM_BUG_ON(vid >= job->orders[tree].count);
	return job->orders[tree].chunks[vid];
}

/* Whether the worker may retransmit on this tree; *vid is then the VID to send. An order may come
 * before the worker has handed over its chunk. */
static bool may_repair(const struct panama_worker *worker, uint32_t tree, uint64_t *vid)
{
	const struct asker_tree *self = &worker->asker->trees[tree];
	bool full = self->sent - self->seen_repair >= self->cap;

	if (full && self->urgent <= self->sent)
		return false;
	*vid = full ? self->urgent - 1 : self->sent;
	return *vid < self->known &&
	       panama_recovery_chunk(panama_job(worker), tree, *vid) < worker->available;
}

/* The first tree on which the worker may retransmit VID *vid, or PANAMA_TREES_MAX. */
static uint32_t tree_to_repair(const struct panama_worker *worker, uint64_t *vid)
{
	for (uint32_t t = 0; t < panama_job(worker)->tree_count; t++)
		if (may_repair(worker, t, vid))
			return t;
	return PANAMA_TREES_MAX;
}

bool panama_recovery_ready(const struct panama_worker *worker)
{
	uint64_t vid;

	return tree_to_repair(worker, &vid) != PANAMA_TREES_MAX;
}

bool panama_recovery_pull(struct panama_worker *worker, struct packet *packet)
{
	const struct panama_job *job = panama_job(worker);
	uint64_t vid;
	uint32_t tree = tree_to_repair(worker, &vid);

	if (tree == PANAMA_TREES_MAX)
		return false;
	worker->asker->trees[tree].sent = vid + 1;
	panama_contribution(packet, worker, &job->sequences[job->tree_count + tree], vid,
			    panama_recovery_chunk(job, tree, vid));
	packet->flags |= PACKET_RETRANSMIT;
	worker->base.job->stats.retransmissions++;
	return true;
}

/* --- timers --- */

void panama_recovery_sent(struct panama_worker *worker, uint32_t tree)
{
	struct panama_asker *asker = worker->asker;
	const struct panama_flow *flow = &worker->flows[tree];
	struct sim *sim = worker->base.job->scheme->env.sim;

	if (flow->una + 1 == flow->next)
		asker->trees[tree].since = sim->now;
	if (!timer_pending(sim, &asker->timer))
		panama_arm(asker);
}

/* Asks for the oldest missing result, and for all that are missing before the newest. */
static void panama_ask(struct panama_worker *worker, uint32_t tree)
{
	const struct asker_tree *self = &worker->asker->trees[tree];
	uint64_t una = worker->flows[tree].una, end = self->seen > una ? self->seen : una + 1;

	for (uint64_t v = una; v < end; v++)
		if (!panama_recovery_has(worker, tree, v))
			write_message(&worker->asker->up, MESSAGE_QUESTION, tree, v, 0);
}

static void panama_on_timeout(struct sim *sim, uint32_t entity, void *owner)
{
	struct panama_asker *asker = owner;
	struct panama_worker *worker = asker->worker;
	sim_time first = panama_conf(panama_job(worker))->timeout, timeout = asker->timeout;
	bool expired = false;

	(void)entity;
	for (uint32_t t = 0; t < panama_job(worker)->tree_count; t++) {
		const struct panama_flow *flow = &worker->flows[t];

		if (flow->una == flow->next || asker->trees[t].since + timeout > sim->now)
			continue;
		asker->trees[t].since = sim->now;
		worker->base.job->stats.timeouts++;
		expired = true;
		if (decides(worker))
			order(panama_job(worker), t, panama_chunk(panama_job(worker), t, flow->una),
			      true);
		else
			panama_ask(worker, t);
	}
	if (expired)
		why_timed_out(worker->base.job->tensors.why);
	if (expired && timeout < BACKOFF_MAX * first)
		asker->timeout = 2 * timeout;
	panama_arm(asker);
	panama_worker_wake(worker);
}

/* --- life --- */

static void start_asker(struct panama_worker *worker, uint32_t cap)
{
	struct panama_job *job = panama_job(worker);
	const struct model_env *env = &job->base.scheme->env;
	struct panama_asker *asker = worker->asker = xcalloc(1, sizeof(*asker));
	uint64_t key =
		timer_key_of_job(TIMER_PANAMA_ASKER, job->base.spec.number, worker->base.number);

	asker->worker = worker;
	/* pull() calls panama_arm(), which may set the timer to now */
	worker->base.source.deferrable = false;
	asker->timeout = panama_conf(job)->timeout;
	asker->trees = xcalloc(job->tree_count, sizeof(*asker->trees));
	for (uint32_t t = 0; t < job->tree_count; t++)
		asker->trees[t].cap = cap;
	timer_open(env->sim, &asker->timer, SIM_TIMER, key, panama_on_timeout, asker);
	sim_name(env->sim, panama_on_timeout, "PANAMA timeout of job %j worker %w");
	if (decides(worker))
		return;
	/* the connection down has key + 1 */
	key = connection_key(CONNECTION_PANAMA, (uint64_t)job->base.spec.number << 25 |
							2 * (uint64_t)worker->base.number);
	messages_init(&asker->up, env->tcp, &env->topo->net, ina_host(&worker->base),
		      ina_host(&first_worker(job)->base), key, arrived_up, worker);
	messages_init(&asker->down, env->tcp, &env->topo->net, ina_host(&first_worker(job)->base),
		      ina_host(&worker->base), key + 1, arrived_down, worker);
}

static void stop_asker(struct panama_worker *worker)
{
	struct panama_asker *asker = worker->asker;
	const struct panama_scheme *scheme = panama_scheme(panama_job(worker));

	if (!decides(worker)) {
		messages_release(&asker->up);
		messages_release(&asker->down);
	}
	timer_close(scheme->base.env.sim, &asker->timer);
	for (uint32_t t = 0; t < panama_job(worker)->tree_count; t++)
		free(asker->trees[t].has);
	free(asker->trees);
	free(asker);
}

void panama_recovery_start(struct panama_job *job, uint32_t cap)
{
	job->orders = xcalloc(job->tree_count, sizeof(*job->orders));
	for (uint32_t w = 0; w < job->base.spec.workers; w++)
		start_asker(panama_worker(job, w), cap);
}

void panama_recovery_stop(struct panama_job *job)
{
	for (uint32_t w = 0; w < job->base.spec.workers; w++)
		stop_asker(panama_worker(job, w));
	for (uint32_t t = 0; t < job->tree_count; t++)
		free(job->orders[t].chunks);
	free(job->orders);
}
