/* SHARP at a host; what is modelled: sharp.c. */
#include "ina/sharp/sharp.h"

#include "transport/keys.h"

#include <inttypes.h>

static struct sharp *sharp_of(const struct sharp_worker *worker)
{
	return (struct sharp *)worker->base.job;
}

/* --- timer --- */

static sim_time due(const void *self)
{
	const struct sharp_worker *worker = self;

	return worker->got < worker->highest || worker->blocked
		       ? worker->progress + sharp_conf(sharp_of(worker))->timeout
		       : SIM_TIME_MAX;
}

static void arm(struct sharp_worker *worker)
{
	alarm_set(worker->base.job->scheme->env.sim, &worker->alarm, due(worker));
}

/* The oldest goes again, and asks: the answer says whether the others have come. Or the last does,
 * where the news of room has been lost. */
static void on_timeout(struct sim *sim, uint32_t entity, void *owner)
{
	struct sharp_worker *worker = owner;

	(void)entity;
	if (worker->got < worker->highest) {
		worker->base.job->stats.timeouts++;
		why_timed_out(worker->base.job->tensors.why);
	}
	worker->progress = sim->now;
	worker->probe = worker->highest;
	worker->next = worker->got - (worker->got == worker->highest);
	arm(worker);
	ina_wake(&worker->base);
}

/* --- sending --- */

/* `next` is in a tensor of the job's stream: which, and how is it sent? */
static void enter_tensor(struct sharp_worker *worker)
{
	const struct tensors *tensors = &worker->base.job->tensors;

	while (worker->next >= worker->tensor_end) {
		worker->tensor += worker->tensor_end != 0;
		worker->tensor_first = worker->tensor_end;
		worker->tensor_end = tensors->end[worker->tensor & tensors->mask];
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
	arm(worker);
}

static bool may_send(struct sharp_worker *worker)
{
	if (worker->next < worker->highest) /* again: a probe, or all from there on */
		return !worker->probe || worker->next <= worker->got;
	if (worker->next >= ina_available(&worker->base))
		return false;
	if (worker->next >= worker->limit) {
		block(worker);
		return false;
	}
	worker->blocked = false;
	enter_tensor(worker);
	return worker->mode == SHARP_SAT ||
	       (worker->mode == SHARP_LLT &&
		worker->next < worker->base.results + sharp_of(worker)->osts);
}

static void fill(struct sharp_worker *worker, struct packet *packet)
{
	const struct tree *tree = worker->base.job->tree.tree;

	packet->source = (uint16_t)tree->number_of_worker[worker->base.number];
	sharp_tell(packet, worker->base.results, worker->base.results);
}

static void send_ack(struct sharp_worker *worker, struct packet *packet)
{
	ina_packet(packet, &worker->base, SHARP_ACK_CHUNK);
	packet->flags = worker->ack;
	packet->size = SHARP_ACK_SIZE;
	packet->value = 0;
	fill(worker, packet);
	worker->ack = 0;
}

/* What this packet has waited for, if it has. */
static void tell_why(struct sharp_worker *worker)
{
	enum why_cut cut = worker->mode == SHARP_LLT ? WHY_CUT_BY_QUOTA
			   : worker->waited          ? WHY_CUT_BY_LOCK
						     : WHY_UNCUT;

	why_window(worker->base.job->tensors.why, worker->base.number, cut);
	worker->waited = false;
}

static void send_next(struct sharp_worker *worker, struct packet *packet)
{
	uint64_t chunk = worker->next++;
	bool again = chunk < worker->highest;

	ina_packet(packet, &worker->base, chunk);
	fill(worker, packet);
	if (worker->got == worker->highest)
		worker->progress = worker->base.job->scheme->env.sim->now;
	if (worker->next == worker->tensor_end || (again && worker->next == worker->highest))
		packet->slot = SHARP_END;
	if (packet->slot || worker->next == worker->limit || worker->probe)
		packet->flags |= SHARP_ASK;
	if (chunk < worker->got) {
		worker->base.job->stats.reminders++;
	} else if (again) {
		packet->flags |= PACKET_RETRANSMIT;
		worker->base.job->stats.retransmissions++;
	} else {
		worker->highest = worker->next;
	}
	if (worker->probe)
		worker->next = worker->highest;
	if (worker->base.job->tensors.why)
		tell_why(worker);
	arm(worker);
}

enum nic_pull sharp_pull(void *owner, struct packet *packet)
{
	struct sharp_worker *worker = owner;

	if (worker->ack)
		send_ack(worker, packet);
	else if (may_send(worker))
		send_next(worker, packet);
	else
		return NIC_NOTHING;
	return worker->ack || may_send(worker) ? NIC_MORE : NIC_LAST;
}

/* --- what comes --- */

/* What the switch has, and has room for. */
static void listen(struct sharp_worker *worker, const struct packet *packet)
{
	uint64_t got = sharp_told(packet, 0, worker->got);

	worker->limit = sharp_told(packet, 1, worker->limit);
	if (got > worker->got) {
		worker->got = got;
		worker->progress = worker->base.job->scheme->env.sim->now;
		worker->next = worker->next > got ? worker->next : got;
	}
	if (!(packet->flags & SHARP_ACK) || got == worker->highest) {
		worker->probe = got < worker->probe ? worker->probe : 0;
		return;
	}
	if (packet->flags & SHARP_ASK || got < worker->probe)
		worker->next = got; /* go back */
	worker->probe = 0;
}

static void take_result(struct sharp_worker *worker, const struct packet *packet)
{
	struct ina_job *job = worker->base.job;
	uint64_t chunk = packet->chunk;

	if (packet->flags & SHARP_ASK || chunk < worker->base.results)
		worker->ack |= SHARP_ACK;
	if (chunk < worker->base.results) {
		job->stats.stale++;
		return;
	}
	if (chunk > worker->base.results) {
		if (!worker->nacked)
			worker->ack = SHARP_NAK;
		worker->nacked = true;
		return;
	}
	worker->nacked = false;
	if (!ina_holds(&worker->base, chunk, packet->value))
		return;
	ina_complete(&worker->base, chunk);
	sharp_worker_has(sharp_of(worker), chunk + 1);
}

void sharp_deliver(struct sharp_worker *worker, const struct packet *packet)
{
	listen(worker, packet);
	if (!(packet->flags & SHARP_ACK))
		take_result(worker, packet);
	if (worker->ack || may_send(worker))
		ina_wake(&worker->base);
}

/* --- life --- */

bool sharp_waits(const void *self, char *text, size_t size)
{
	const struct sharp_worker *worker = self;
	static const char *const locks[] = { "", ", and for the lock of its tree", "", "" };
	uint64_t chunks = ina_available(&worker->base);

	snprintf(text, size,
		 "has results of %" PRIu64 " of %" PRIu64 " chunks, has sent %" PRIu64 "%s",
		 worker->base.results, chunks, worker->highest, locks[sharp_of(worker)->lock]);
	return worker->base.results < chunks;
}

void sharp_worker_begin(struct sharp_worker *worker)
{
	const struct sharp *job = sharp_of(worker);
	struct sim *sim = job->base.scheme->env.sim;

	worker->limit = job->size;
	alarm_open(sim, &worker->alarm,
		   timer_key_of_job(TIMER_SHARP, job->base.spec.number, worker->base.number),
		   on_timeout, due, worker);
	sim_name(sim, on_timeout, "SHARP timeout of job %j worker %w");
}

void sharp_worker_end(struct sharp_worker *worker)
{
	alarm_close(worker->base.job->scheme->env.sim, &worker->alarm);
}
