/* ESA's recovery (section 5.3): reliable messages between workers and servers about chunks that
 * seem lost. Workers never send a gradient into switches twice, as a switch that has freed its
 * aggregator could not tell. */
#include "ina/esa/esa.h"

#include "base/mem.h"
#include "transport/keys.h"

#include <stdlib.h>

#define SHORT_BYTES 6 /* payload of a 64-byte frame */

/* --- channels --- */

static void esa_send(struct esa_channel *channel, enum esa_message type, uint64_t chunk,
		     uint64_t value)
{
	bool carries = type == ESA_HAVE || type == ESA_GRADIENT || type == ESA_RESULT;
	uint32_t elements = channel->esa->server->job->base.scheme->elements;

	messages_send(&channel->messages,
		      (struct message){ .type = type, .number = chunk, .value = value },
		      carries ? SHORT_BYTES + ELEMENT_BYTES * elements : SHORT_BYTES);
}

/* Sends, unless the same message is under way: repetitions would fill up a channel that loses much.
 * Returns whether it has sent. */
static bool send_once(struct esa_channel *channel, enum esa_message type, uint64_t chunk,
		      uint64_t value)
{
	if (messages_under_way(&channel->messages, type, chunk))
		return false;
	esa_send(channel, type, chunk, value);
	return true;
}

static struct esa_channel *esa_to_server(struct pool_worker *worker, uint64_t chunk)
{
	struct esa_server *esa = pool_server_of_chunk(pool_job(worker), chunk)->state;

	return &esa->from_worker[worker->base.number];
}

/* --- at a server --- */

/* The word with a worker's bit among those that lack the result. */
static uint64_t *lack_word(const struct esa_server *esa, const struct esa_entry *entry,
			   uint32_t worker)
{
	return &esa->lacking[(entry->index & esa->mask) * esa->words + worker / 64];
}

static bool lacks(const struct esa_server *esa, const struct esa_entry *entry, uint32_t worker)
{
	return *lack_word(esa, entry, worker) >> worker % 64 & 1;
}

static void note_lack(struct esa_server *esa, const struct esa_entry *entry, uint32_t worker)
{
	*lack_word(esa, entry, worker) |= UINT64_C(1) << worker % 64;
}

/* No worker has the result. The parts that the reminder fetched have come, as workers are farther
 * away than switches. */
static void none_has(struct esa_server *esa, struct esa_entry *entry)
{
	if (esa_conf(esa->server->job)->resend == ESA_RESEND_AT_ONCE ||
	    entry->reminded + esa_server_rto(esa) <= esa->server->job->base.scheme->env.sim->now)
		esa_want_gradients(esa, entry);
}

void esa_start_query(struct esa_server *esa, struct esa_entry *entry)
{
	uint64_t chunk = pool_server_chunk(esa->server, entry->index);

	if (entry->querying)
		return;
	entry->querying = true;
	esa->queries++;
	for (uint32_t w = 0; w < esa->server->job->base.spec.workers; w++) {
		if (lacks(esa, entry, w))
			continue;
		entry->answers++;
		esa_send(&esa->to_worker[w], ESA_QUERY, chunk, 0);
	}
	if (!entry->answers) /* all have reported that they lack it */
		none_has(esa, entry);
}

void esa_want_gradients(struct esa_server *esa, struct esa_entry *entry)
{
	const struct pool_server *server = esa->server;
	const struct partial_sum *sum = partial_sums_find(&server->sums, entry->index);

	entry->wanting = true;
	for (uint32_t w = 0; w < server->job->base.spec.workers; w++)
		if (partial_sums_compare(&server->sums, sum, server->racks.of_worker[w]) !=
		    PRESENT_ALL)
			esa_send(&esa->to_worker[w], ESA_WANTED,
				 pool_server_chunk(server, entry->index), 0);
}

static void repeat_result(struct esa_server *esa, uint32_t worker, uint64_t chunk)
{
	const struct partial_sum *sum = pool_server_entry(esa->server, chunk);

	if (sum && sum->complete) /* else all workers hold it by now */
		esa->server->job->base.stats.repairs +=
			send_once(&esa->to_worker[worker], ESA_RESULT, chunk, sum->value);
}

/* A worker has the result, which takes the place of the server's partial sum. */
static void have(struct esa_server *esa, struct esa_entry *entry, uint64_t chunk, uint64_t value)
{
	partial_sums_find(&esa->server->sums, entry->index)->value = value;
	for (uint32_t w = 0; w < esa->server->job->base.spec.workers; w++)
		if (lacks(esa, entry, w))
			esa_send(&esa->to_worker[w], ESA_RESULT, chunk, value);
	esa_complete(esa, entry, false);
}

static void have_not(struct esa_server *esa, struct esa_entry *entry, uint32_t worker)
{
	note_lack(esa, entry, worker);
	if (!--entry->answers)
		none_has(esa, entry);
}

/* A worker lacks the result. After each such report the server reminds the switches (section 5.3,
 * cases 1 and 2), while its own timer runs from the first report. If the server has no part of the
 * chunk, workers may have the result, and are asked at once. Otherwise a part is probably stuck in
 * a switch, and workers are asked only if a reminder does not help within an RTO, or if `query` is
 * "always". They are asked once: workers that lack the result report it themselves. */
static void reported(struct esa_server *esa, struct esa_entry *entry, uint32_t worker)
{
	const struct partial_sum *sum = partial_sums_find(&esa->server->sums, entry->index);
	bool first = !entry->reported;

	if (!entry->querying) /* else the worker has been asked, or had reported before */
		note_lack(esa, entry, worker);
	entry->reported = true;
	if (!first || entry->querying) {
		esa_remind_chunk(esa, pool_server_chunk(esa->server, entry->index));
		return;
	}
	esa_remind(esa, entry);
	if (esa_conf(esa->server->job)->query == ESA_QUERY_ALWAYS || (!sum->whole && !sum->begun))
		esa_start_query(esa, entry);
}

static void at_server(void *owner, const struct message *message)
{
	struct esa_channel *channel = owner;
	struct esa_server *esa = channel->esa;
	uint32_t worker = channel->worker;
	struct esa_entry *entry = esa_entry_open(esa, message->number);

	switch ((enum esa_message)message->type) {
	case ESA_REMINDER:
		esa_no_samples(esa);
		if (entry)
			reported(esa, entry, worker);
		else
			repeat_result(esa, worker, message->number);
		return;
	case ESA_HAVE:
		if (entry)
			have(esa, entry, message->number, message->value);
		return;
	case ESA_HAVE_NOT:
		if (entry)
			have_not(esa, entry, worker);
		else
			repeat_result(esa, worker, message->number);
		return;
	case ESA_GRADIENT:
		esa->gradients++;
		if (entry)
			esa_contribution(esa, entry, esa->server->racks.of_worker[worker],
					 message->value, true);
		return;
	case ESA_QUERY:
	case ESA_WANTED:
	case ESA_RESULT:
		break; /* go the other way */
	}
	SIM_BUG_ON(true);
}

/* --- at a worker --- */

/* Workers keep results for their peers (section 5.3, case 2). */
void esa_accepted(struct pool_worker *worker, uint64_t chunk, uint64_t value,
		  const struct packet *packet)
{
	struct esa_worker *esa = worker->state;

	(void)packet;
	result_cache_put(&esa->cache, &worker->window, chunk, value);
}

static const uint64_t *find_result(const struct pool_worker *worker, uint64_t chunk)
{
	const struct esa_worker *esa = worker->state;

	return result_cache_find(&esa->cache, &worker->window, chunk);
}

static void send_gradient(struct pool_worker *worker, uint64_t chunk)
{
	esa_send(esa_to_server(worker, chunk), ESA_GRADIENT, chunk,
		 exact_contribution(&pool_job(worker)->base.exact, worker->base.number, chunk));
}

void esa_lost(struct pool_worker *worker)
{
	uint64_t chunk;

	while (window_take_lost(&worker->window, &chunk, worker->base.job->scheme->env.sim->now))
		worker->base.job->stats.reminders +=
			send_once(esa_to_server(worker, chunk), ESA_REMINDER, chunk, 0);
}

/* If the server has asked for this gradient before the worker sent it, it goes straight to the
 * server. It never enters a switch, so it cannot count twice. */
bool esa_divert(struct pool_worker *worker, uint64_t chunk)
{
	struct esa_worker *esa = worker->state;

	for (size_t i = 0; i < esa->direct_count; i++) {
		if (esa->direct[i] != chunk)
			continue;
		esa->direct[i] = esa->direct[--esa->direct_count];
		send_gradient(worker, chunk);
		return true;
	}
	return false;
}

static void wanted(struct pool_worker *worker, uint64_t chunk)
{
	struct esa_worker *esa = worker->state;
	const uint64_t *result = find_result(worker, chunk);

	if (result) {
		esa_send(esa_to_server(worker, chunk), ESA_HAVE, chunk, *result);
	} else if (chunk < worker->window.next) {
		worker->base.job->stats.retransmissions++;
		send_gradient(worker, chunk);
	} else {
		esa->direct = array_reserve(esa->direct, esa->direct_count, &esa->direct_capacity,
					    sizeof(*esa->direct));
		esa->direct[esa->direct_count++] = chunk;
	}
}

static void at_worker(void *owner, const struct message *message)
{
	struct esa_channel *channel = owner;
	struct pool_worker *worker = pool_worker(channel->esa->server->job, channel->worker);
	uint64_t chunk = message->number;
	const uint64_t *result;

	switch ((enum esa_message)message->type) {
	case ESA_QUERY:
		result = find_result(worker, chunk);
		esa_send(esa_to_server(worker, chunk), result ? ESA_HAVE : ESA_HAVE_NOT, chunk,
			 result ? *result : 0);
		return;
	case ESA_WANTED:
		wanted(worker, chunk);
		return;
	case ESA_RESULT:
		window_no_samples(&worker->window);
		pool_worker_accept(worker, chunk, message->value, false, NULL);
		return;
	case ESA_REMINDER:
	case ESA_HAVE:
	case ESA_HAVE_NOT:
	case ESA_GRADIENT:
		break; /* go the other way */
	}
	SIM_BUG_ON(true);
}

/* --- set-up --- */

void esa_channels_init(struct esa_server *esa)
{
	const struct pool_job *job = esa->server->job;
	const struct model_env *env = &job->base.scheme->env;
	bool own = esa_conf(job)->transport_timeout == ESA_MIN_TIMEOUT;
	sim_time timeout = own ? pool_scheme(job)->window.rto.min : 0;

	esa->to_worker = xcalloc(job->base.spec.workers, sizeof(*esa->to_worker));
	esa->from_worker = xcalloc(job->base.spec.workers, sizeof(*esa->from_worker));
	for (uint32_t w = 0; w < job->base.spec.workers; w++) {
		uint32_t host = job->base.spec.hosts[w];
		uint32_t server = job->base.spec.server_hosts[esa->server->number];
		/* the lowest bit is the direction */
		uint64_t key =
			connection_key(CONNECTION_ESA, (uint64_t)job->base.spec.number << 16 |
							       esa->server->number << 11 | w << 1);

		esa->to_worker[w].esa = esa->from_worker[w].esa = esa;
		esa->to_worker[w].worker = esa->from_worker[w].worker = w;
		messages_init(&esa->to_worker[w].messages, env->tcp, &env->topo->net, server, host,
			      key, at_worker, &esa->to_worker[w]);
		messages_init(&esa->from_worker[w].messages, env->tcp, &env->topo->net, host,
			      server, key | 1, at_server, &esa->from_worker[w]);
		esa->to_worker[w].messages.timeout = timeout;
		esa->from_worker[w].messages.timeout = timeout;
	}
}

void esa_channels_release(struct esa_server *esa)
{
	for (uint32_t w = 0; esa->to_worker && w < esa->server->job->base.spec.workers; w++) {
		messages_release(&esa->to_worker[w].messages);
		messages_release(&esa->from_worker[w].messages);
	}
	free(esa->to_worker);
	free(esa->from_worker);
	esa->to_worker = esa->from_worker = NULL;
}
