/* SHARP at a host. sharp.c says what is modelled. */
#include "ina/sharp/sharp.h"

#include "transport/keys.h"

#include <inttypes.h>

static struct sharp *sharp_of(const struct sharp_worker *worker)
{
	return (struct sharp *)worker->base.job;
}

/* --- timer --- */

static sim_time sharp_worker_due(const void *self)
{
	const struct sharp_worker *worker = self;

	return worker->got < worker->highest || worker->blocked
		       ? worker->progress + sharp_conf(sharp_of(worker))->timeout
		       : SIM_TIME_MAX;
}

static void sharp_worker_arm(struct sharp_worker *worker)
{
	alarm_set(worker->base.job->scheme->env.sim, &worker->alarm, sharp_worker_due(worker));
}

/* Retransmits the oldest chunk without an acknowledgement, and asks which others have come. If all
 * have, the message about new room may be lost: sends a chunk again that the switch counts among
 * those it has. */
static void sharp_worker_on_timeout(struct sim *sim, uint32_t entity, void *owner)
{
	struct sharp_worker *worker = owner;

	(void)entity;
	if (worker->got < worker->highest) {
		worker->base.job->stats.timeouts++;
		why_timed_out(worker->base.job->why);
	}
	worker->progress = sim->now;
	worker->probe = worker->highest;
	worker->next = worker->got - (worker->got == worker->highest);
	sharp_worker_arm(worker);
	ina_wake(&worker->base);
}

/* --- sending --- */

/* Finds the tensor of chunk `next`, and how to send it. */
static void enter_tensor(struct sharp_worker *worker)
{
	const struct tensors *tensors = &worker->base.job->tensors;

	while (worker->next >= worker->tensor_end) {
		worker->tensor += worker->tensor_end != 0; /* the first tensor is number 0 */
		worker->tensor_first = worker->tensor_end;
		worker->tensor_end =
			tensors->end[worker->tensor & tensors->mask] * sharp_row(sharp_of(worker));
		worker->mode = SHARP_LOCK_FIRST;
	}
	if (worker->mode == SHARP_LOCK_FIRST)
		worker->mode = (uint8_t)sharp_mode(sharp_of(worker), worker);
	worker->waited |= worker->mode == SHARP_LOCK_FIRST;
}

static void block(struct sharp_worker *worker)
{
	if (worker->blocked)
		return;
	worker->blocked = true;
	if (worker->got == worker->highest)
		worker->progress = worker->base.job->scheme->env.sim->now;
	sharp_worker_arm(worker);
}

/* Whether a chunk may be sent. If the switch has no room for it, begins the wait for room. If it is
 * the first of a tensor, decides how to send the tensor, and may ask for the lock. */
static bool sharp_may_send(struct sharp_worker *worker)
{
	if (worker->next < worker->highest) /* again */
		return true;
	if (worker->next >= ina_available(&worker->base) * sharp_row(sharp_of(worker)))
		return false;
	if (worker->next >= worker->limit) {
		block(worker);
		return false;
	}
	worker->blocked = false;
	enter_tensor(worker);
	return worker->mode == SHARP_SAT ||
	       (worker->mode == SHARP_LLT &&
		worker->next < worker->result + sharp_of(worker)->osts);
}

static void sharp_worker_fill(struct sharp_worker *worker, struct packet *packet)
{
	const struct tree *tree = worker->base.job->tree.tree;

	packet->source = (uint16_t)tree->number_of_worker[worker->base.number];
	sharp_tell(packet, worker->result, worker->result);
	worker->told = worker->result;
}

static void sharp_send_ack(struct sharp_worker *worker, struct packet *packet)
{
	ina_packet(packet, &worker->base, SHARP_ACK_CHUNK);
	packet->flags = worker->ack;
	packet->size = SHARP_ACK_SIZE;
	packet->value = 0;
	sharp_worker_fill(worker, packet);
	worker->ack = 0;
}

/* Tells --why what a wait of this packet, if it had one, is charged to. */
static void tell_why(struct sharp_worker *worker)
{
	enum why_cut cut = worker->mode == SHARP_LLT ? WHY_CUT_BY_QUOTA
			   : worker->waited          ? WHY_CUT_BY_LOCK
						     : WHY_UNCUT;

	why_window(worker->base.job->why, worker->base.number, cut);
	worker->waited = false;
}

static void sharp_send_next(struct sharp_worker *worker, struct packet *packet)
{
	const struct sharp *job = sharp_of(worker);
	uint64_t chunk = worker->next, ends; /* `ends` chunks of the tensor have SHARP_END */
	bool again = chunk < worker->highest;

	worker->next += job->kind == SHARP_ALL_GATHER ? sharp_ranks(job) : 1;
	/* in a reduce-scatter the last row, as each of its chunks is the last of its owner */
	ends = job->kind == SHARP_REDUCE_SCATTER ? sharp_ranks(job) : 1;
	ina_packet(packet, &worker->base, chunk);
	sharp_worker_fill(worker, packet);
	if (worker->got == worker->highest)
		worker->progress = worker->base.job->scheme->env.sim->now;
	if (chunk + ends >= worker->tensor_end || (again && worker->next == worker->highest))
		packet->tag = SHARP_END;
	if (worker->next >= worker->tensor_end || (again && worker->next == worker->highest) ||
	    worker->next >= worker->limit || worker->probe)
		packet->flags |= SHARP_ASK;
	if (chunk < worker->got) {
		worker->base.job->stats.reminders++;
	} else if (again) {
		packet->flags |= PACKET_RETRANSMIT;
		worker->base.job->stats.retransmissions++;
	} else {
		worker->highest = worker->next;
	}
	if (worker->probe) /* is one chunk: the answer tells whether to go back */
		worker->next = worker->highest;
	if (job->base.why)
		tell_why(worker);
	sharp_worker_arm(worker);
}

enum nic_pull sharp_pull(void *owner, struct packet *packet)
{
	struct sharp_worker *worker = owner;

	if (worker->ack)
		sharp_send_ack(worker, packet);
	else if (sharp_may_send(worker))
		sharp_send_next(worker, packet);
	else
		return NIC_NOTHING;
	return sharp_may_send(worker) ? NIC_MORE : NIC_LAST;
}

/* --- packets that come --- */

/* The first chunk from this one on that the rank sends. */
static uint64_t own_from(const struct sharp_worker *worker, uint64_t chunk)
{
	const struct sharp *job = sharp_of(worker);
	uint64_t ranks = sharp_ranks(job);

	if (job->kind != SHARP_ALL_GATHER)
		return chunk;
	return chunk + (worker->base.number + ranks - chunk % ranks) % ranks;
}

/* Notes what a packet tells: which contributions the switch has, and up to where it has room. */
static void listen(struct sharp_worker *worker, const struct packet *packet)
{
	uint64_t got = own_from(worker, sharp_told(packet, 0, worker->got));

	worker->limit = sharp_told(packet, 1, worker->limit);
	if (got > worker->got) {
		worker->got = got;
		worker->progress = worker->base.job->scheme->env.sim->now;
		worker->next = worker->next > got ? worker->next : got;
	}
	/* a result, or nothing is missing */
	if (!(packet->flags & SHARP_ACK) || got == worker->highest) {
		worker->probe = got < worker->probe ? worker->probe : 0;
		return;
	}
	if (packet->flags & SHARP_ASK || got < worker->probe)
		worker->next = got; /* a NAK, or the answer to a probe: goes back */
	worker->probe = 0;
}

static bool sharp_holds(const struct sharp_worker *worker, const struct packet *packet)
{
	const struct sharp *job = sharp_of(worker);
	uint64_t chunk = packet->chunk;

	return job->kind == SHARP_ALL_GATHER
		       ? ina_holds_shard(&worker->base, chunk % sharp_ranks(job), chunk,
					 packet->value)
		       : ina_holds(&worker->base, chunk, packet->value);
}

/* Whether the rank must send an acknowledgement to tell which results it has. In a reduce-scatter:
 * if it has nothing else to send. In the others: if it has not told of sharp_news() results. */
static bool tells_news(struct sharp_worker *worker)
{
	const struct sharp *job = sharp_of(worker);

	return job->kind == SHARP_REDUCE_SCATTER ? !sharp_may_send(worker)
						 : worker->result >= worker->told + sharp_news(job);
}

/* Takes a result. It ends its row if it is the row's last shard (all-gather), the rank's own piece
 * (reduce-scatter), or the row's only sum (all-reduce). */
static void sharp_worker_complete(struct sharp_worker *worker, uint64_t chunk)
{
	struct sharp *job = sharp_of(worker);
	uint64_t row = chunk / sharp_row(job);

	worker->result += job->kind == SHARP_REDUCE_SCATTER ? sharp_ranks(job) : 1;
	if (job->kind != SHARP_ALL_REDUCE)
		why_result(job->base.why, worker->base.number, chunk);
	if (worker->result < (row + 1) * sharp_row(job))
		return;
	ina_complete(&worker->base, row);
	sharp_worker_has(job, (row + 1) * sharp_row(job));
}

static void take_result(struct sharp_worker *worker, const struct packet *packet)
{
	struct ina_job *job = worker->base.job;
	uint64_t chunk = packet->chunk;

	if (sharp_of(worker)->kind == SHARP_REDUCE_SCATTER &&
	    chunk % sharp_ranks(sharp_of(worker)) != worker->base.number) {
		ina_violated(job, ina_host(&worker->base), chunk, "the piece of another rank");
		return;
	}
	if (packet->flags & SHARP_ASK || chunk < worker->result)
		worker->ack |= SHARP_ACK;
	if (chunk < worker->result) {
		job->stats.stale++;
		return;
	}
	if (chunk > worker->result) {
		if (!worker->nacked)
			worker->ack = SHARP_NAK;
		worker->nacked = true;
		return;
	}
	worker->nacked = false;
	if (!sharp_holds(worker, packet))
		return;
	sharp_worker_complete(worker, chunk);
	if (tells_news(worker))
		worker->ack |= SHARP_ACK;
}

void sharp_deliver(struct sharp_worker *worker, const struct packet *packet)
{
	listen(worker, packet);
	if (!(packet->flags & SHARP_ACK))
		take_result(worker, packet);
	if (worker->ack || sharp_may_send(worker))
		ina_wake(&worker->base);
}

/* --- life --- */

bool sharp_waits(const void *self, char *text, size_t size)
{
	const struct sharp_worker *worker = self;
	static const char *const locks[] = { "", ", waits for the lock of its tree", "", "" };
	uint64_t chunks = ina_available(&worker->base);

	snprintf(text, size, "has results of %" PRIu64 " of %" PRIu64 " %s, has sent %" PRIu64 "%s",
		 worker->base.results, chunks, sharp_row(sharp_of(worker)) == 1 ? "chunks" : "rows",
		 worker->highest / sharp_row(sharp_of(worker)), locks[sharp_of(worker)->lock]);
	return worker->base.results < chunks;
}

void sharp_worker_begin(struct sharp_worker *worker)
{
	const struct sharp *job = sharp_of(worker);
	struct sim *sim = job->base.scheme->env.sim;

	worker->limit = job->size;
	if (job->kind == SHARP_REDUCE_SCATTER)
		worker->result = worker->base.number;
	if (job->kind == SHARP_ALL_GATHER)
		worker->next = worker->highest = worker->got = worker->base.number;
	alarm_open(sim, &worker->alarm,
		   timer_key_of_job(sharp_timer(job), job->base.spec.number, worker->base.number),
		   sharp_worker_on_timeout, sharp_worker_due, worker);
	sim_name(sim, sharp_worker_on_timeout, "SHARP timeout of job %j worker %w");
}

void sharp_worker_end(struct sharp_worker *worker)
{
	alarm_close(worker->base.job->scheme->env.sim, &worker->alarm);
}
