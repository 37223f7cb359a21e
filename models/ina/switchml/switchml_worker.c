/* SwitchML at a worker: algorithm 4 (section 3.5), over one stream of tensors (appendix B). */
#include "ina/switchml/switchml.h"

#include "base/mem.h"
#include "transport/keys.h"

#include <inttypes.h>
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

static void switchml_wake(struct worker *worker)
{
	if (worker->ready.first != SWITCHML_NONE)
		ina_wake(&worker->base);
}

/* All packets of a worker have one timeout, so the oldest expires first. */
static sim_time switchml_expires(const void *self)
{
	const struct worker *worker = self;

	if (worker->sent.first == SWITCHML_NONE)
		return SIM_TIME_MAX;
	return worker->slots[worker->sent.first].sent + worker->rto.timeout;
}

static void switchml_arm_timer(struct worker *worker)
{
	alarm_set(worker->base.job->scheme->env.sim, &worker->alarm, switchml_expires(worker));
}

/* Makes the slot's packet, which leaves now. */
static inline void switchml_leave(struct worker *worker, uint32_t i, struct packet *packet)
{
	struct switchml *job = switchml_of(worker);
	struct worker_slot *slot = &worker->slots[i];
	bool again = slot->state == WORKER_SLOT_EXPIRED;
	bool late = worker->rto.conf->rule == RTO_ADAPTIVE && (again || slot->late);

	ina_packet(packet, &worker->base, slot->chunk);
	if (job->format.rdma)
		packet->size = (uint16_t)switchml_frame(&job->format, i % job->format.message);
	packet->source = worker->child;
	packet->slot = (uint16_t)i;
	packet->flags = (uint8_t)((slot->version ? SWITCHML_VERSION : 0) |
				  (again ? PACKET_RETRANSMIT : 0) | (late ? SWITCHML_LATE : 0));
	job->base.stats.retransmissions += again;
	list_append(worker, &worker->sent, i);
	slot->state = WORKER_SLOT_SENT;
	slot->sent = job->base.scheme->env.sim->now;
	slot->again = again;
	switchml_arm_timer(worker);
}

/* Queues the slot's chunk for the NIC, for the first time or again. A server on the same host gets
 * the chunk at once. */
static inline void make_ready(struct worker *worker, uint32_t i, enum worker_slot_state state)
{
	struct packet packet;

	worker->slots[i].state = (uint8_t)state;
	if (!switchml_of(worker)->servers || !ps_stream_local(worker, i)) {
		list_append(worker, &worker->ready, i);
		return;
	}
	switchml_leave(worker, i, &packet);
	ps_stream_hand_over(worker, &packet);
}

enum nic_pull switchml_pull(void *owner, struct packet *packet)
{
	struct worker *worker = owner;
	uint32_t i = worker->ready.first;

	if (i == SWITCHML_NONE)
		return NIC_NOTHING;
	list_remove(worker, &worker->ready, i);
	switchml_leave(worker, i, packet);
	if (switchml_of(worker)->servers)
		ps_stream_address(worker, packet);
	if (worker->ready.first == SWITCHML_NONE)
		return NIC_LAST;
	__builtin_prefetch(&worker->slots[worker->ready.first]); /* for the next call, speed only */
	return NIC_MORE;
}

/* Queues all packets of a message again, in order. Returns how many of them have expired. Others
 * wait for the NIC, for the first time or again. */
static uint32_t expire_message(struct worker *worker, uint32_t i)
{
	uint32_t message = switchml_of(worker)->format.message, first = i - i % message, count = 0;

	for (i = first; i < first + message; i++) {
		enum worker_slot_state state = worker->slots[i].state;

		list_remove(worker, state == WORKER_SLOT_SENT ? &worker->sent : &worker->ready, i);
		make_ready(worker, i,
			   state == WORKER_SLOT_READY ? WORKER_SLOT_READY : WORKER_SLOT_EXPIRED);
		count += state == WORKER_SLOT_SENT;
	}
	return count;
}

static void switchml_on_timeout(struct sim *sim, uint32_t entity, void *owner)
{
	struct worker *worker = owner;
	uint64_t expired = 0, messages = 0; /* a message has one timer */
	sim_time newest = 0;
	uint32_t i;

	(void)entity;
	while ((i = worker->sent.first) != SWITCHML_NONE &&
	       worker->slots[i].sent + worker->rto.timeout <= sim->now) {
		newest = worker->slots[i].sent; /* the list has the oldest first */
		expired += expire_message(worker, i);
		messages++;
	}
	worker->base.job->stats.timeouts += expired;
	if (expired) {
		why_timed_out(worker->base.job->tensors.why);
		rto_expired(&worker->rto, messages, newest, sim->now);
	}
	switchml_arm_timer(worker);
	switchml_wake(worker);
}

/* --- tensors --- */

void switchml_contribute(void *self, uint64_t first, uint64_t chunks)
{
	struct worker *worker = self;
	uint32_t slots = switchml_of(worker)->slots;

	/* the next chunk of an idle slot was not handed over before, so it is g */
	for (uint64_t g = first; g < first + chunks && g < first + slots; g++)
		if (worker->slots[g % slots].state == WORKER_SLOT_IDLE)
			make_ready(worker, (uint32_t)(g % slots), WORKER_SLOT_READY);
	switchml_wake(worker);
}

/* --- results --- */

/* The slot goes on to its next chunk. `flags` are those of the result. A result is a sum, so its
 * round trip may include any worker's timeout. Such round trips are no samples, or the timeout
 * would grow without end. */
static inline void switchml_advance(struct worker *worker, uint32_t i, uint8_t flags)
{
	struct worker_slot *slot = &worker->slots[i];

	if (slot->state == WORKER_SLOT_SENT) {
		list_remove(worker, &worker->sent, i);
		if (worker->rto.conf->rule == RTO_ADAPTIVE && !slot->again &&
		    !(flags & (SWITCHML_LATE | PACKET_RETRANSMIT))) {
			rto_sample(&worker->rto,
				   worker->base.job->scheme->env.sim->now - slot->sent);
			switchml_arm_timer(worker);
		}
	} else {
		list_remove(worker, &worker->ready, i);
		worker->overtaken++;
	}
	slot->chunk += switchml_of(worker)->slots;
	slot->version ^= 1;
	slot->late = (flags & PACKET_RETRANSMIT) != 0;
	slot->state = WORKER_SLOT_IDLE;
	if (slot->chunk < ina_available(&worker->base))
		make_ready(worker, i, WORKER_SLOT_READY);
}

/* Packets of a message have to come in order. When one is missing, the rest of the message is
 * dropped. The slots of a message move on together. */
static __attribute__((noinline)) void result_of_message(struct worker *worker,
							const struct packet *packet)
{
	uint32_t message = switchml_of(worker)->format.message, p = packet->slot % message;
	uint32_t first = packet->slot - p;
	struct worker_slot *slots = &worker->slots[first];

	if (p && slots->got != p) {
		worker->base.job->stats.stale++;
		return;
	}
	slots->got = (uint8_t)(p + 1);
	if (!slots[p].held && !ina_holds(&worker->base, packet->chunk, packet->value))
		return;
	slots[p].held = true;
	if (p + 1 < message)
		return;
	slots->got = 0;
	for (uint32_t i = 0; i < message; i++) {
		slots[i].held = false;
		switchml_advance(worker, first + i, packet->flags);
	}
	switchml_wake(worker);
	for (uint64_t chunk = packet->chunk - p; chunk <= packet->chunk; chunk++)
		ina_complete(&worker->base, chunk);
}

void switchml_worker_result(struct worker *worker, const struct packet *packet)
{
	const struct worker_slot *slot = &worker->slots[packet->slot];

	if (slot->chunk != packet->chunk) {
		/* came by multicast and by repair, and the first has advanced the slot */
		worker->base.job->stats.stale++;
		return;
	}
	if (slot->state != WORKER_SLOT_SENT && slot->state != WORKER_SLOT_EXPIRED) {
		ina_violated(worker->base.job, ina_host(&worker->base), packet->chunk,
			     "a result came before the contribution");
		return;
	}
	if (switchml_of(worker)->format.message > 1) {
		result_of_message(worker, packet);
		return;
	}
	if (!ina_holds(&worker->base, packet->chunk, packet->value))
		return;
	switchml_advance(worker, packet->slot, packet->flags);
	switchml_wake(worker);
	ina_complete(&worker->base, packet->chunk);
}

bool switchml_waits(const void *self, char *text, size_t size)
{
	const struct worker *worker = self;
	bool sent = worker->sent.first != SWITCHML_NONE;
	const struct worker_slot *oldest;
	char since[48] = "";

	if (!sent && worker->ready.first == SWITCHML_NONE)
		return false;
	oldest = &worker->slots[sent ? worker->sent.first : worker->ready.first];
	if (oldest->state != WORKER_SLOT_READY)
		snprintf(since, sizeof(since), ", sent at %.9f s", seconds_of(oldest->sent));
	snprintf(text, size, "waits for %schunk %" PRIu64 " of %" PRIu64 "%s",
		 oldest->state == WORKER_SLOT_READY ? "its NIC to send " : "", oldest->chunk,
		 ina_available(&worker->base), since);
	return true;
}

/* --- life --- */

/* Whether the NIC may call pull() late (net/nic.h). With adaptive timeouts it may not: a timeout
 * that has become shorter may have run out before its timer is set. */
static bool switchml_is_deferrable(const struct ina_job *job)
{
	const struct rto_conf *timeout = &switchml_conf(job)->timeout;

	return timeout->rule != RTO_ADAPTIVE &&
	       nic_deferrable(&job->scheme->env.topo->net, timeout->first);
}

void switchml_worker_init(struct worker *worker)
{
	const struct switchml *job = switchml_of(worker);
	struct sim *sim = job->base.scheme->env.sim;
	uint64_t key = timer_key_of_job(TIMER_SWITCHML, job->base.spec.number, worker->base.number);

	rto_init(&worker->rto, &switchml_conf(&job->base)->timeout);
	worker->base.source.deferrable = switchml_is_deferrable(&job->base);
	worker->ready = worker->sent = (struct worker_list){ SWITCHML_NONE, SWITCHML_NONE };
	worker->slots = xaligned(64, job->slots * sizeof(*worker->slots));
	for (uint32_t i = 0; i < job->slots; i++)
		worker->slots[i].chunk = i;
	alarm_open(sim, &worker->alarm, key, switchml_on_timeout, switchml_expires, worker);
	sim_name(sim, switchml_on_timeout, "SwitchML timeout of job %j worker %w");
}

void switchml_worker_release(struct worker *worker)
{
	alarm_close(worker->base.job->scheme->env.sim, &worker->alarm);
	free(worker->slots);
}
