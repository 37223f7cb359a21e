/* Reduce-scatter and all-gather at a rank. shards.c says what is modelled. */
#include "ina/shards/shards.h"

#include "base/mem.h"
#include "transport/keys.h"

#include <inttypes.h>
#include <stdlib.h>

static struct shards *shards_of(const struct shards_worker *worker)
{
	return (struct shards *)worker->base.job;
}

/* How many packets of a row a rank gets. */
static uint32_t shards_row_in(const struct shards *job)
{
	return job->gather ? shards_ranks(job) - 1 : 1;
}

/* Whether the rank receives this piece: its own in a reduce-scatter, others in an all-gather. */
static bool receives(const struct shards_worker *worker, uint32_t piece)
{
	bool own = piece == worker->base.number;

	return shards_of(worker)->gather ? !own : own;
}

static uint64_t *got_of(const struct shards_worker *worker, uint64_t row)
{
	const struct shards *job = shards_of(worker);

	return &worker->got[row % job->kept * job->words];
}

/* --- timer --- */

/* A rank waits only for rows that it has sent itself. */
static sim_time shards_due(const void *self)
{
	const struct shards_worker *worker = self;
	const struct shards_conf *conf = worker->base.job->scheme->conf;

	return worker->base.results < worker->row
		       ? worker->progress + (conf->timeout << worker->backoff)
		       : SIM_TIME_MAX;
}

static void shards_arm(struct shards_worker *worker)
{
	alarm_set(worker->base.job->scheme->env.sim, &worker->alarm, shards_due(worker));
}

/* --- sending --- */

static void add_extra(struct shards_worker *worker, uint64_t chunk, uint32_t slot, bool is_ask)
{
	worker->extra = array_reserve(worker->extra, worker->extra_count, &worker->extra_capacity,
				      sizeof(*worker->extra));
	worker->extra[worker->extra_count++] =
		(struct shards_extra){ chunk, (uint16_t)slot, is_ask };
}

static bool has_extra(const struct shards_worker *worker)
{
	return worker->extra_first < worker->extra_count;
}

static bool shards_may_send(const struct shards_worker *worker)
{
	return worker->row < ina_available(&worker->base) &&
	       worker->row < worker->base.results + shards_of(worker)->window;
}

static void send_extra(struct shards_worker *worker, struct packet *packet)
{
	const struct shards_extra *extra = &worker->extra[worker->extra_first++];

	ina_packet(packet, &worker->base, extra->chunk);
	packet->slot = extra->slot;
	packet->flags = extra->ask ? SHARDS_ASK : PACKET_RETRANSMIT;
	if (extra->ask) {
		packet->size = SHARDS_ASK_SIZE;
		packet->value = 0;
		worker->base.job->stats.reminders++;
	} else {
		worker->base.job->stats.retransmissions++;
	}
	if (!has_extra(worker))
		worker->extra_first = worker->extra_count = 0;
}

/* Sends the row's next packet: the own piece in an all-gather, else the next piece of another. */
static void shards_send_next(struct shards_worker *worker, struct packet *packet)
{
	const struct shards *job = shards_of(worker);
	uint32_t ranks = shards_ranks(job), own = worker->base.number;
	uint32_t other = worker->sent + (worker->sent >= own); /* skips the own piece */
	uint32_t piece = job->gather ? own : other;

	ina_packet(packet, &worker->base, worker->row * ranks + piece);
	if (++worker->sent < (job->gather ? 1 : ranks - 1))
		return;
	worker->sent = 0;
	if (worker->base.results >= worker->row) /* the wait begins */
		worker->progress = job->base.scheme->env.sim->now;
	worker->row++;
	shards_arm(worker);
}

enum nic_pull shards_pull(void *owner, struct packet *packet)
{
	struct shards_worker *worker = owner;

	if (has_extra(worker))
		send_extra(worker, packet);
	else if (shards_may_send(worker))
		shards_send_next(worker, packet);
	else
		return NIC_NOTHING;
	return has_extra(worker) || shards_may_send(worker) ? NIC_MORE : NIC_LAST;
}

/* --- questions and answers --- */

static void ask_for(struct shards_worker *worker, uint64_t row)
{
	const struct shards *job = shards_of(worker);
	uint32_t ranks = shards_ranks(job);
	const uint64_t *got = got_of(worker, row);

	for (uint32_t piece = 0; piece < ranks; piece++)
		if (receives(worker, piece) && !(got[piece / 64] >> piece % 64 & 1))
			add_extra(worker, row * ranks + piece, worker->base.number + 1, true);
}

/* Asks for rows of the piece between the last that came and this one. They are lost, because paths
 * keep the order. */
static void ask_for_gap(struct shards_worker *worker, uint32_t piece, uint64_t row)
{
	uint32_t ranks = shards_ranks(shards_of(worker));
	bool gap = worker->next[piece] < row;

	for (uint64_t r = worker->next[piece]; r < row; r++)
		add_extra(worker, r * ranks + piece, worker->base.number + 1, true);
	if (row >= worker->next[piece])
		worker->next[piece] = row + 1;
	if (gap)
		ina_wake(&worker->base);
}

/* How many rows to ask for: half as many as last time if nothing new has come since, else twice as
 * many, up to a window. If all ranks time out together, their questions fill the queues that the
 * answers need, each time in the same order. */
static uint64_t rows_to_ask(struct shards_worker *worker)
{
	uint64_t window = shards_of(worker)->window;

	if (worker->backoff)
		worker->asks = worker->asks > 1 ? worker->asks / 2 : 1;
	else
		worker->asks = worker->asks < window / 2 ? 2 * worker->asks : window;
	return worker->asks;
}

/* Asks for packets of the oldest row, and of later rows up to the last of which a packet has come,
 * at most rows_to_ask() rows. */
static void shards_on_timeout(struct sim *sim, uint32_t entity, void *owner)
{
	struct shards_worker *worker = owner;
	uint64_t row = worker->base.results, end = row + rows_to_ask(worker);

	(void)entity;
	worker->base.job->stats.timeouts++;
	why_timed_out(worker->base.job->why);
	worker->progress = sim->now;
	worker->backoff += worker->backoff < SHARDS_MAX_BACKOFF;
	/* asks nothing while questions of last time wait for the NIC */
	if (!has_extra(worker))
		do
			ask_for(worker, row++);
		while (row < worker->row && row < worker->highest && row < end);
	shards_arm(worker);
	ina_wake(&worker->base);
}

/* Retransmits a packet that a rank or switch lacks, if it has been sent before. */
static void shards_answer(struct shards_worker *worker, const struct packet *packet)
{
	const struct shards *job = shards_of(worker);

	if (packet->chunk / shards_ranks(job) >= worker->row)
		return;
	add_extra(worker, packet->chunk, job->gather ? packet->slot : 0, false);
	ina_wake(&worker->base);
}

/* --- packets that come --- */

/* Ends complete rows, in order, and only rows that the rank has handed over. */
static void shards_complete(struct shards_worker *worker)
{
	const struct shards *job = shards_of(worker);

	if (worker->completing) /* ina_complete() has called the job, which has handed over more */
		return;
	worker->completing = true;
	while (worker->base.results < ina_available(&worker->base) &&
	       !worker->missing[worker->base.results % job->kept]) {
		uint64_t row = worker->base.results, *got = got_of(worker, row);

		worker->missing[row % job->kept] = shards_row_in(job);
		for (uint32_t i = 0; i < job->words; i++)
			got[i] = 0;
		ina_complete(&worker->base, row);
	}
	worker->completing = false;
}

/* Whether this rank should get the piece, and its value is right. If not, the run ends. */
static bool shards_holds(const struct shards_worker *worker, const struct packet *packet,
			 uint32_t piece)
{
	const struct shards *job = shards_of(worker);

	if (!receives(worker, piece)) {
		ina_violated(&job->base, ina_host(&worker->base), packet->chunk,
			     job->gather ? "a rank's own shard came back"
					 : "the piece of another rank");
		return false;
	}
	if (job->gather)
		return ina_holds_shard(&worker->base, piece, packet->chunk, packet->value);
	return ina_holds(&worker->base, packet->chunk,
			 packet->value + exact_contribution(&job->base.exact, worker->base.number,
							    packet->chunk));
}

void shards_deliver(struct shards_worker *worker, const struct packet *packet)
{
	struct shards *job = shards_of(worker);
	uint32_t ranks = shards_ranks(job), piece = (uint32_t)(packet->chunk % ranks);
	uint64_t row = packet->chunk / ranks, bit = UINT64_C(1) << piece % 64, *got;

	if (packet->flags & SHARDS_ASK) {
		shards_answer(worker, packet);
		return;
	}
	got = got_of(worker, row) + piece / 64;
	if (row < worker->base.results || *got & bit) {
		job->base.stats.stale++;
		return;
	}
	if (row >= worker->base.results + job->kept) {
		ina_violated(&job->base, ina_host(&worker->base), packet->chunk,
			     "a row beyond windows");
		return;
	}
	if (!shards_holds(worker, packet, piece))
		return;
	why_result(job->base.why, worker->base.number, packet->chunk);
	*got |= bit;
	worker->missing[row % job->kept]--;
	ask_for_gap(worker, piece, row);
	worker->highest = row >= worker->highest ? row + 1 : worker->highest;
	worker->progress = job->base.scheme->env.sim->now;
	worker->backoff = 0;
	shards_complete(worker);
	shards_arm(worker);
	if (shards_may_send(worker))
		ina_wake(&worker->base);
}

/* --- tensors --- */

void shards_contribute(void *self, uint64_t first, uint64_t chunks)
{
	struct shards_worker *worker = self;

	(void)first, (void)chunks;
	shards_complete(worker);
	if (shards_may_send(worker))
		ina_wake(&worker->base);
}

bool shards_waits(const void *self, char *text, size_t size)
{
	const struct shards_worker *worker = self;
	uint64_t rows = ina_available(&worker->base);

	snprintf(text, size, "has %" PRIu64 " of %" PRIu64 " rows of its %s and has sent %" PRIu64,
		 worker->base.results, rows, shards_of(worker)->gather ? "shards" : "piece",
		 worker->row);
	return worker->base.results < rows;
}

/* --- life --- */

void shards_worker_begin(struct shards_worker *worker)
{
	const struct shards *job = shards_of(worker);
	struct sim *sim = job->base.scheme->env.sim;
	enum timer_tag tag = job->gather ? TIMER_SHARDS_GATHER : TIMER_SHARDS;

	worker->missing = xcalloc(job->kept, sizeof(*worker->missing));
	worker->next = xcalloc(shards_ranks(job), sizeof(*worker->next));
	worker->got = xcalloc(job->kept * job->words, sizeof(*worker->got));
	for (uint64_t i = 0; i < job->kept; i++)
		worker->missing[i] = shards_row_in(job);
	worker->asks = job->window;
	alarm_open(sim, &worker->alarm,
		   timer_key_of_job(tag, job->base.spec.number, worker->base.number),
		   shards_on_timeout, shards_due, worker);
	sim_name(sim, shards_on_timeout, "shards timeout of job %j worker %w");
}

void shards_worker_end(struct shards_worker *worker)
{
	alarm_close(worker->base.job->scheme->env.sim, &worker->alarm);
	free(worker->missing);
	free(worker->next);
	free(worker->got);
	free(worker->extra);
}
