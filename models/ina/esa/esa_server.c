/* ESA's parameter server (sections 5.1 to 5.3): adds the parts that switches send, and reminds
 * switches of chunks that stay incomplete. */
#include "ina/esa/esa.h"

#include "base/fail.h"
#include "base/mem.h"
#include "base/ring.h"
#include "transport/keys.h"

#include <stdlib.h>
#include <string.h>

static sim_time esa_now_of(const struct esa_server *esa)
{
	return esa->server->job->base.scheme->env.sim->now;
}

static uint32_t dupack_threshold(const struct esa_server *esa)
{
	return (uint32_t)pool_scheme(esa->server->job)->window.gap;
}

sim_time esa_server_rto(const struct esa_server *esa)
{
	sim_time max = pool_scheme(esa->server->job)->window.max_rto;
	sim_time rto = esa->rto.timeout << esa->backoff;

	return rto < max ? rto : max;
}

void esa_no_samples(struct esa_server *esa)
{
	esa->unsampled = esa_now_of(esa);
}

/* --- the list of open entries, longest untouched first --- */

static struct esa_entry *entry_at(const struct esa_server *esa, uint64_t index)
{
	return &esa->entries[index & esa->mask];
}

static void unlink_entry(struct esa_server *esa, const struct esa_entry *entry)
{
	if (entry->previous == ESA_NONE)
		esa->first = entry->following;
	else
		entry_at(esa, entry->previous)->following = entry->following;
	if (entry->following == ESA_NONE)
		esa->last = entry->previous;
	else
		entry_at(esa, entry->following)->previous = entry->previous;
}

static void link_last(struct esa_server *esa, struct esa_entry *entry)
{
	entry->previous = esa->last;
	entry->following = ESA_NONE;
	if (esa->last == ESA_NONE)
		esa->first = entry->index;
	else
		entry_at(esa, esa->last)->following = entry->index;
	esa->last = entry->index;
}

static void touch(struct esa_server *esa, struct esa_entry *entry)
{
	entry->touched = esa_now_of(esa);
	unlink_entry(esa, entry);
	link_last(esa, entry);
}

static void entry_close(struct esa_server *esa, struct esa_entry *entry)
{
	unlink_entry(esa, entry);
	entry->open = false;
}

/* Makes the rings as wide as the ring of sums, and keeps the entries from index `from` on. */
static void widen(struct esa_server *esa, uint64_t from)
{
	/* a copy, because both rings are widened from the same mask */
	uint64_t mask = esa->mask, to = from + esa->server->sums.mask;

	esa->entries = ring_widen(esa->entries, &mask, from, to, sizeof(*esa->entries));
	esa->lacking =
		ring_widen(esa->lacking, &esa->mask, from, to, esa->words * sizeof(*esa->lacking));
}

static void esa_arm(struct esa_server *esa)
{
	sim_time at = esa_now_of(esa) + esa_server_rto(esa);

	if (esa->first == ESA_NONE || at >= esa->armed)
		return;
	esa->armed = at;
	timer_set(esa->server->job->base.scheme->env.sim, &esa->timer, at);
}

/* The sum of a chunk. It may overwrite the sum of a chunk whose result all workers have. That chunk
 * may be open if its timer ran out shortly before the result came, and workers' answers are still
 * under way. It is closed, as nothing is left to do. */
static struct partial_sum *esa_sum_of(struct esa_server *esa, uint64_t chunk)
{
	const struct partial_sums *sums = &esa->server->sums;
	uint64_t seen = sums->end;
	struct partial_sum *sum = pool_server_entry(esa->server, chunk);

	if (esa->mask != sums->mask)
		widen(esa, seen > esa->mask ? seen - esa->mask - 1 : 0);
	if (sums->end > seen + esa->mask) /* more than a turn of the ring */
		seen = sums->end - esa->mask - 1;
	for (; seen < sums->end; seen++)
		if (entry_at(esa, seen)->open)
			entry_close(esa, entry_at(esa, seen));
	return sum;
}

struct esa_entry *esa_entry_open(struct esa_server *esa, uint64_t chunk)
{
	struct partial_sum *sum = esa_sum_of(esa, chunk);
	struct esa_entry *entry;

	if (!sum || sum->complete)
		return NULL;
	entry = entry_at(esa, sum->index);
	if (entry->open) {
		SIM_BUG_ON(entry->index != sum->index);
		return entry;
	}
	*entry = (struct esa_entry){
		.open = true,
		.index = sum->index,
		.created = esa_now_of(esa),
		.touched = esa_now_of(esa),
		.larger_limit = dupack_threshold(esa), /* section 5.1 */
	};
	memset(&esa->lacking[(sum->index & esa->mask) * esa->words], 0,
	       esa->words * sizeof(*esa->lacking));
	link_last(esa, entry);
	esa_arm(esa);
	return entry;
}

/* --- reminders --- */

void esa_remind_chunk(struct esa_server *esa, uint64_t chunk)
{
	const struct pool_server *server = esa->server;
	const struct racks *racks = &server->racks;
	uint16_t slot = pool_known_index(server->job, chunk);
	bool level1 =
		pool_scheme(server->job)->pools[racks->sw].slots; /* else level 1 adds nothing up */
	struct packet packet;

	pool_packet(&packet, server, chunk, (struct bitmap){ 0, RACK_NONE }, slot);
	if (level1)
		outbox_send(&esa->server->outbox, &packet);
	for (uint32_t r = 0; r < racks->count; r++) {
		pool_set_bitmap(&packet, (struct bitmap){ 0, (uint8_t)r });
		packet_set_route(&packet, &racks->racks[r].down);
		outbox_send(&esa->server->outbox, &packet);
	}
	esa->reminders += level1 + racks->count;
}

void esa_remind(struct esa_server *esa, struct esa_entry *entry)
{
	entry->larger = 0;
	entry->reminded = esa_now_of(esa);
	touch(esa, entry);
	esa_remind_chunk(esa, pool_server_chunk(esa->server, entry->index));
}

/* How many contributions to later chunks lead to the next reminder. With `every`, where most chunks
 * lose their aggregator, each contribution leads to reminders of a third of all open chunks. */
static uint32_t next_limit(const struct esa_server *esa, uint32_t limit)
{
	switch ((enum esa_dupack)esa_conf(esa->server->job)->dupack) {
	case ESA_DUPACK_DOUBLING:
		return 2 * limit;
	case ESA_DUPACK_EACH:
		return UINT32_MAX;
	case ESA_DUPACK_EVERY:
		break;
	}
	return limit;
}

/* A contribution to chunk `index` has come. An earlier chunk that is still open after
 * `duplicate_threshold` of these may be stuck in a switch. */
static void note_larger(struct esa_server *esa, uint64_t index)
{
	uint64_t last = esa->last;

	for (uint64_t i = esa->first, next; i != ESA_NONE; i = next) {
		struct esa_entry *entry = entry_at(esa, i);

		/* esa_remind() moves an entry behind `last` */
		next = i == last ? ESA_NONE : entry->following;
		if (entry->index >= index || ++entry->larger < entry->larger_limit)
			continue;
		entry->larger_limit = next_limit(esa, entry->larger_limit);
		esa_remind(esa, entry);
	}
}

/* Nothing has come for the entry for an RTO. */
static void entry_expired(struct esa_server *esa, struct esa_entry *entry)
{
	esa_no_samples(esa);
	if (entry->querying && !entry->answers && !entry->wanting) {
		esa_want_gradients(esa, entry);
		touch(esa, entry);
		return;
	}
	esa_remind(esa, entry);
	if (++entry->rounds >= esa_conf(esa->server->job)->reminder_rounds || entry->reported)
		esa_start_query(esa, entry);
}

static void esa_server_drain(struct esa_server *esa);

static void esa_on_timer(struct sim *sim, uint32_t entity, void *owner)
{
	struct esa_server *esa = owner;
	bool anew = false;
	sim_time rto;

	(void)entity;
	esa->armed = SIM_TIME_MAX;
	if (esa->server->job->over) {
		esa_server_drain(esa);
		return;
	}
	rto = esa_server_rto(esa);
	while (esa->first != ESA_NONE && entry_at(esa, esa->first)->touched + rto <= sim->now) {
		anew |= entry_at(esa, esa->first)->touched >= esa->doubled;
		entry_expired(esa, entry_at(esa, esa->first));
	}
	/* The timeout doubles, as TCP's does, until a contribution comes. Entries that are open
	 * together expire one after the other, but double the timeout only once. */
	if (anew && rto < pool_scheme(esa->server->job)->window.max_rto) {
		esa->backoff++;
		esa->doubled = sim->now;
	}
	if (esa->first == ESA_NONE)
		return;
	esa->armed = entry_at(esa, esa->first)->touched + esa_server_rto(esa);
	timer_set(sim, &esa->timer, esa->armed);
}

/* --- contributions --- */

void esa_complete(struct esa_server *esa, struct esa_entry *entry, bool to_all)
{
	struct partial_sum *sum = partial_sums_find(&esa->server->sums, entry->index);
	bool recovered = entry->querying;
	/* the server's timer ran out, or workers were asked: no worker takes a sample (window.h) */
	bool late = recovered || entry->rounds;

	sum->complete = true;
	sum->whole = esa->server->racks.all;
	if (!entry->reminded && entry->created >= esa->unsampled)
		rto_sample(&esa->rto, esa_now_of(esa) - entry->created); /* section 6; Karn */
	entry_close(esa, entry);
	if (to_all)
		pool_server_send_result(esa->server, sum, 0, late ? PACKET_RETRANSMIT : 0, 0);
	/* contributions that came over the transport may also be in a switch, where they would wait
	 * for ever */
	if (recovered)
		esa_remind_chunk(esa, pool_server_chunk(esa->server, sum->index));
}

void esa_contribution(struct esa_server *esa, struct esa_entry *entry, struct bitmap bitmap,
		      uint64_t value, bool by_message)
{
	struct partial_sum *sum = partial_sums_find(&esa->server->sums, entry->index);
	uint64_t index = entry->index;

	/* A part is of no use if some of its contributors are in already. The others have been
	 * asked for their gradients, which come one by one. */
	if (partial_sums_add(&esa->server->sums, sum, bitmap, value)) {
		touch(esa, entry);
		if (entry->larger_limit == UINT32_MAX) { /* ESA_DUPACK_EACH: one more reminder */
			entry->larger = 0;
			entry->larger_limit = dupack_threshold(esa);
		}
		if (sum->whole == esa->server->racks.all)
			esa_complete(esa, entry, true);
		if (esa->backoff) {
			esa->backoff = 0;
			esa_arm(esa);
		}
	}
	if (!by_message)
		note_larger(esa, index);
}

void esa_at_server(struct pool_server *server, const struct packet *packet)
{
	struct esa_server *esa = server->state;
	uint64_t chunk = pool_server_packet_chunk(server, packet);
	struct esa_entry *entry;

	if (server->job->over)
		return; /* a sum that esa_server_drain() has fetched */
	entry = esa_entry_open(esa, chunk);
	if (!entry)
		return; /* complete */
	partial_sums_find(&server->sums, entry->index)->marked |= (packet->flags & PACKET_CE) != 0;
	esa_contribution(esa, entry, pool_bitmap(packet), packet->value, false);
}

/* --- the end --- */

/* Fetches the job's sums from switches, again and again until none are left. The model looks into
 * the switches. A real server does not know what they hold, and would have to remind of all its
 * last chunks. */
static void esa_server_drain(struct esa_server *esa)
{
	struct pool_job *job = esa->server->job;
	struct pool_scheme *scheme = pool_scheme(job);

	if (!job->held)
		return;
	for (uint32_t s = 0; s < scheme->base.env.topo->net.switches; s++) {
		const struct aggregators *pool = &scheme->pools[s];

		for (uint32_t i = 0; pool->slots && i < pool->count; i++)
			if (pool->slots[i].owner == job->base.number + 1 &&
			    pool->slots[i].server == esa->server->number)
				esa_remind_chunk(esa, pool->slots[i].chunk);
	}
	esa->armed = esa_now_of(esa) + esa_server_rto(esa);
	timer_set(scheme->base.env.sim, &esa->timer, esa->armed);
}

void esa_drain(struct pool_job *job)
{
	for (uint32_t q = 0; q < job->base.spec.servers; q++) {
		esa_channels_release(job->servers[q].state);
		esa_server_drain(job->servers[q].state);
	}
}

void esa_server_init(struct pool_server *server)
{
	struct pool_job *job = server->job;
	struct esa_server *esa = xcalloc(1, sizeof(*esa));
	uint64_t key = timer_key_of_job(TIMER_ESA_SERVER, job->base.spec.number, server->number);

	server->state = esa;
	esa->server = server;
	esa->first = esa->last = ESA_NONE;
	esa->armed = SIM_TIME_MAX;
	esa->words = (job->base.spec.workers + 63) / 64;
	widen(esa, 0);
	esa->rto_conf = pool_scheme(job)->window.rto;
	esa->rto_conf.first = esa->rto_conf.min; /* section 6 */
	rto_init(&esa->rto, &esa->rto_conf);
	timer_open(job->base.scheme->env.sim, &esa->timer, SIM_TIMER, key, esa_on_timer, esa);
	sim_name(job->base.scheme->env.sim, esa_on_timer, "ESA timeout of server %w of job %j");
	esa_channels_init(esa);
}

void esa_server_release(struct pool_server *server)
{
	struct esa_server *esa = server->state;

	esa_channels_release(esa);
	timer_close(server->job->base.scheme->env.sim, &esa->timer);
	free(esa->entries);
	free(esa->lacking);
	free(esa);
}
