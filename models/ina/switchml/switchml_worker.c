/* SwitchML at a worker: algorithm 4 (section 3.5), over one stream of tensors
 * (appendix B). What is modelled and what is not: switchml.c. */
#include "ina/switchml/switchml.h"

#include "base/mem.h"
#include "transport/keys.h"

#include <stdlib.h>

/* --- lists of slots --- */

static void list_remove(struct worker *worker, struct worker_list *list, uint32_t i)
{
	struct worker_slot *slots = worker->slots, *slot = &slots[i];

	if (slot->previous == SWITCHML_NONE)
		list->first = slot->following;
	else
		slots[slot->previous].following = slot->following;
	if (slot->following == SWITCHML_NONE)
		list->last = slot->previous;
	else
		slots[slot->following].previous = slot->previous;
}

static void list_append(struct worker *worker, struct worker_list *list, uint32_t i)
{
	struct worker_slot *slots = worker->slots, *slot = &slots[i];

	slot->previous = list->last;
	slot->following = SWITCHML_NONE;
	if (list->last == SWITCHML_NONE)
		list->first = i;
	else
		slots[list->last].following = i;
	list->last = i;
}

/* --- sending --- */

static void wake(struct worker *worker)
{
	if (worker->ready.first != SWITCHML_NONE)
		nic_wake(&worker->job->scheme->env.topo->net.nics[worker->host], &worker->source);
}

/* All packets of a worker have one timeout, so the oldest is the next to expire: one pending event
 * per worker. The timeout may have become shorter since the timer was set. */
static void arm_timer(struct worker *worker)
{
	sim_time expires;

	if (worker->sent.first == SWITCHML_NONE)
		return;
	expires = worker->slots[worker->sent.first].sent + worker->rto.timeout;
	if (expires < worker->job->scheme->env.sim->now)
		expires = worker->job->scheme->env.sim->now;
	if (worker->alarm <= expires)
		return;
	worker->alarm = expires;
	timer_set(worker->job->scheme->env.sim, &worker->timer, expires);
}

/* The slot's packet leaves now. */
static void leave(struct worker *worker, uint32_t i, struct packet *packet)
{
	struct switchml *job = worker->job;
	struct worker_slot *slot = &worker->slots[i];
	bool again = slot->state == WORKER_SLOT_EXPIRED;
	bool late = worker->rto.conf->rule == RTO_ADAPTIVE && (again || slot->late);

	*packet = (struct packet){
		.seq = slot->chunk,
		.value = exact_contribution(&job->exact, worker->number, slot->chunk),
		.flow = job->number,
		.source = worker->child,
		.size = (uint16_t)job->scheme->frame,
		.slot = (uint16_t)i,
		.kind = PACKET_AGGREGATION,
		.flags = (uint8_t)((slot->version ? PACKET_VERSION : 0) |
				   (again ? PACKET_RETRANSMIT : 0) | (late ? SWITCHML_LATE : 0)),
		.protocol = job->scheme->protocol,
	};
	worker->retransmissions += again;
	list_append(worker, &worker->sent, i);
	slot->state = WORKER_SLOT_SENT;
	slot->sent = job->scheme->env.sim->now;
	slot->again = again;
	arm_timer(worker);
}

/* The slot's chunk waits for the NIC, for the first time or again; a server on the same host gets
 * it at once. */
static void make_ready(struct worker *worker, uint32_t i, enum worker_slot_state state)
{
	struct packet packet;

	worker->slots[i].state = (uint8_t)state;
	if (!worker->job->servers || !ps_stream_local(worker, i)) {
		list_append(worker, &worker->ready, i);
		return;
	}
	leave(worker, i, &packet);
	ps_stream_hand_over(worker, &packet);
}

static enum nic_pull worker_pull(void *owner, struct packet *packet)
{
	struct worker *worker = owner;
	uint32_t i = worker->ready.first;

	if (i == SWITCHML_NONE)
		return NIC_NOTHING;
	list_remove(worker, &worker->ready, i);
	leave(worker, i, packet);
	if (worker->job->servers)
		ps_stream_address(worker, packet);
	return worker->ready.first == SWITCHML_NONE ? NIC_LAST : NIC_MORE;
}

static void on_timeout(struct sim *sim, uint32_t entity, void *owner)
{
	struct worker *worker = owner;
	uint64_t before = worker->timeouts;
	sim_time newest = 0;
	uint32_t i;

	(void)entity;
	worker->alarm = SIM_TIME_MAX;
	while ((i = worker->sent.first) != SWITCHML_NONE &&
	       worker->slots[i].sent + worker->rto.timeout <= sim->now) {
		worker->timeouts++;
		newest = worker->slots[i].sent; /* oldest first */
		list_remove(worker, &worker->sent, i);
		make_ready(worker, i, WORKER_SLOT_EXPIRED);
	}
	if (worker->timeouts > before)
		rto_expired(&worker->rto, worker->timeouts - before, newest, sim->now);
	arm_timer(worker);
	wake(worker);
}

/* --- tensors --- */

void switchml_worker_contribute(struct worker *worker, uint64_t chunks)
{
	struct switchml *job = worker->job;
	uint64_t old = tensors_available(&job->tensors, worker->number);

	tensors_add(&job->tensors, worker->number, chunks);
	/* an idle slot waits for the lowest of its chunks that was missing, so for g */
	for (uint64_t g = old; g < old + chunks && g < old + job->slots; g++)
		if (worker->slots[g % job->slots].state == WORKER_SLOT_IDLE)
			make_ready(worker, (uint32_t)(g % job->slots), WORKER_SLOT_READY);
	wake(worker);
}

/* --- results --- */

/* The slot goes on to its next chunk; `flags` of the result. A result is a sum: its round trip
 * holds the timeouts of all workers, which as samples of each other would grow without end. */
static void advance(struct worker *worker, uint32_t i, uint8_t flags)
{
	struct worker_slot *slot = &worker->slots[i];

	if (slot->state == WORKER_SLOT_SENT) {
		list_remove(worker, &worker->sent, i);
		if (worker->rto.conf->rule == RTO_ADAPTIVE && !slot->again &&
		    !(flags & (SWITCHML_LATE | PACKET_RETRANSMIT))) {
			rto_sample(&worker->rto, worker->job->scheme->env.sim->now - slot->sent);
			arm_timer(worker);
		}
	} else {
		list_remove(worker, &worker->ready, i);
		worker->overtaken++;
	}
	slot->chunk += worker->job->slots;
	slot->version ^= 1;
	slot->late = (flags & PACKET_RETRANSMIT) != 0;
	slot->state = WORKER_SLOT_IDLE;
	if (slot->chunk < tensors_available(&worker->job->tensors, worker->number))
		make_ready(worker, i, WORKER_SLOT_READY);
}

void switchml_worker_result(struct worker *worker, const struct packet *packet)
{
	const struct worker_slot *slot = &worker->slots[packet->slot];
	struct switchml *job = worker->job;
	uint64_t tensor;

	if (slot->chunk != packet->seq) {
		worker->stale++; /* multicast and repair: only the first may advance the slot */
		return;
	}
	if (slot->state != WORKER_SLOT_SENT && slot->state != WORKER_SLOT_EXPIRED) {
		switchml_violated(job, worker->host, packet->seq,
				  "a result came before the contribution");
		return;
	}
	if (!exact_holds(&job->exact, packet->seq, packet->value)) {
		switchml_violated(job, worker->host, packet->seq, "a wrong sum");
		return;
	}
	advance(worker, packet->slot, packet->flags);
	wake(worker);
	if (tensors_result(&job->tensors, worker->number, packet->seq, &tensor))
		job->job.done(job->job.owner, worker->number, tensor);
}

/* --- life --- */

/* An adaptive timeout that has become shorter may be over when the timer is set. */
static bool is_deferrable(const struct switchml_scheme *scheme)
{
	const struct rto_conf *timeout = &scheme->conf->timeout;

	return timeout->rule != RTO_ADAPTIVE &&
	       nic_deferrable(&scheme->env.topo->net, timeout->first);
}

void switchml_worker_init(struct worker *worker)
{
	struct switchml *job = worker->job;
	uint64_t key = timer_key_of_job(TIMER_SWITCHML, job->job.number, worker->number);

	rto_init(&worker->rto, &job->scheme->conf->timeout);
	worker->alarm = SIM_TIME_MAX;
	worker->source = (struct nic_source){ .pull = worker_pull,
					      .owner = worker,
					      .deferrable = is_deferrable(job->scheme) };
	worker->ready = worker->sent = (struct worker_list){ SWITCHML_NONE, SWITCHML_NONE };
	worker->slots = xcalloc(job->slots, sizeof(*worker->slots));
	for (uint32_t i = 0; i < job->slots; i++)
		worker->slots[i].chunk = i;
	timer_open(job->scheme->env.sim, &worker->timer, SIM_TIMER, key, on_timeout, worker);
	sim_name(job->scheme->env.sim, on_timeout, "SwitchML timeout of job %j worker %w");
}

void switchml_worker_release(struct worker *worker)
{
	const struct model_env *env = &worker->job->scheme->env;

	nic_forget(&env->topo->net.nics[worker->host], &worker->source);
	timer_close(env->sim, &worker->timer);
	free(worker->slots);
}
