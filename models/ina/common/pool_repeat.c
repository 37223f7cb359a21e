/* The state of ATP and ESA, for runs that repeat themselves (core/repeat.h).
 *
 * Only a job that is alone at its switches repeats itself. While its own chunks do not collide, the
 * index of a chunk's aggregator decides nothing. So the state lists aggregators by the chunks in
 * flight, and moves them on to the places of later chunks.
 *
 * Windows grow all the time. They need not be equal while they decide nothing: while no window
 * holds its worker back, or while the window is at its limit. window_results() lets a window grow
 * over the periods that are skipped.
 *
 * States are never equal with `hash`, `rehash` or `idle_limit`, or if hosts take time to add. */
#include "ina/common/pool.h"

#include "base/mem.h"
#include "net/repeat.h"

#include <stdlib.h>

/* The first chunk that no worker has sent. */
static uint64_t newest(const struct pool_job *job)
{
	uint64_t next = 0;

	for (uint32_t w = 0; w < job->base.spec.workers; w++)
		if (pool_worker(job, w)->window.next > next)
			next = pool_worker(job, w)->window.next;
	return next;
}

/* For each server a power of two of chunks, which stays the same while a few more or fewer are in
 * flight. It is at least 4: four chunks at equal distances take a multiple of WINDOW_ACTED_PS. */
uint64_t pool_period(const void *self)
{
	const struct pool_job *job = self;
	uint64_t in_flight = newest(job) - pool_oldest(job), period = 4;

	while (period < in_flight)
		period *= 2;
	return period * job->base.spec.servers;
}

/* How many chunks are skipped. */
static uint64_t chunks_of(const struct pool_job *job, const struct repeat *repeat)
{
	return repeat->periods * job->base.stream.step;
}

static uint16_t slot_of(const struct pool_job *job, uint64_t chunk)
{
	return pool_ops(job)->index(pool_worker(job, 0), chunk);
}

void pool_repeat_packet(void *self, struct repeat *repeat, struct packet *packet)
{
	struct pool_job *job = ina_job_of(self, packet);
	uint64_t chunk = pool_chunk(packet);

	repeat_same(repeat, pool_bitmap(packet).bits);
	if (!job) { /* the job is over: nobody waits for the packet */
		repeat_same(repeat, chunk << 16 | packet->slot);
		repeat_same(repeat, packet->value);
		return;
	}
	repeat_same(repeat, packet->slot == slot_of(job, chunk));
	ina_repeat_sum(&job->base, repeat, &chunk, &packet->value);
	if (!repeat->moving)
		return;
	packet->seq = pool_seq((uint32_t)chunk, pool_bitmap(packet));
	packet->slot = slot_of(job, chunk);
}

/* --- aggregators --- */

static void repeat_aggregator(struct pool_job *job, struct repeat *repeat, uint64_t chunk,
			      struct aggregator *a)
{
	ina_repeat_sum(&job->base, repeat, &chunk, &a->value);
	a->chunk = (uint32_t)chunk;
	repeat_time(repeat, &a->since);
	repeat_same(repeat, (uint64_t)a->bits << 32 | (uint64_t)a->rack << 24 |
				    (uint64_t)a->priority << 16 | (uint64_t)a->server << 8 |
				    a->marked << 1 | a->complete);
}

/* Goes through the aggregators that the job owns at one switch for chunks `from` to `to` - 1, and
 * returns how many there are. All are taken out before any is put back, because the new place of
 * one may be the old place of another. */
static uint64_t repeat_held(struct pool_job *job, struct aggregators *pool, uint64_t from,
			    uint64_t to, struct repeat *repeat)
{
	struct aggregator *moved = repeat->moving ? xcalloc(to - from, sizeof(*moved)) : NULL;
	uint64_t count = 0;

	for (uint64_t c = from; c < to; c++) {
		struct aggregator *a = &pool->slots[slot_of(job, c)];

		if (!aggregator_is(a, job->base.number, (uint32_t)c))
			continue;
		repeat_aggregator(job, repeat, c, a);
		count++;
		if (!repeat->moving)
			continue;
		moved[c - from] = *a;
		a->owner = 0;
	}
	for (uint64_t c = from; repeat->moving && c < to; c++)
		if (moved[c - from].owner)
			pool->slots[slot_of(job, c + chunks_of(job, repeat))] = moved[c - from];
	free(moved);
	return count;
}

static void repeat_times(struct aggregators *pool, struct repeat *repeat)
{
	struct holding_times *times = pool->times;

	repeat_count(repeat, &times->count);
	repeat_integral(repeat, &times->sum, pool->count);
	for (uint32_t i = 0; i < HOLDING_CLASSES; i++)
		if (times->classes[i])
			repeat_count(repeat, &times->classes[i]);
}

static void repeat_aggregators(struct pool_job *job, struct repeat *repeat)
{
	struct pool_scheme *scheme = pool_scheme(job);
	uint64_t from = pool_oldest(job), to = newest(job), held = 0;

	for (uint32_t s = 0; s < scheme->base.env.topo->net.switches; s++) {
		struct aggregators *pool = &scheme->pools[s];

		if (pool->user != job->base.number + 1)
			continue;
		if (pool->touched || !pool->slots)
			repeat_never(repeat);
		if (!pool->slots)
			continue; /* the switch adds nothing up */
		repeat_same(repeat, pool->memory->stats.collisions);
		repeat_times(pool, repeat);
		held += repeat_held(job, pool, from, to, repeat);
	}
	if (held != job->held)
		repeat_never(repeat);
}

/* --- servers --- */

static void repeat_sum(const struct pool_server *server, struct partial_sum *sum,
		       struct repeat *repeat)
{
	uint64_t chunk = pool_server_chunk(server, sum->index);

	ina_repeat_sum(&server->job->base, repeat, &chunk, &sum->value);
	sum->index = pool_server_index(server, chunk);
	repeat_same(repeat, (uint64_t)sum->whole << 32 | sum->begun);
	repeat_same(repeat, (uint64_t)sum->fresh << 8 | sum->complete << 3 | sum->marked << 2 |
				    sum->collided << 1 | sum->resent);
}

static void repeat_sums(struct pool_server *server, struct repeat *repeat)
{
	struct partial_sums *sums = &server->sums;
	uint32_t racks = sums->racks->count;

	if (sums->end <= sums->mask) { /* some places have not been used */
		repeat_same(repeat, sums->end);
		return;
	}
	for (uint64_t i = sums->end - sums->mask - 1; i < sums->end; i++) {
		struct partial_sum *sum = &sums->ring[i & sums->mask];

		if (sum->index != i) /* forgotten when the ring was widened */
			continue;
		for (uint32_t r = 0; r < racks; r++)
			repeat_same(repeat, sums->parts[(i & sums->mask) * racks + r]);
		repeat_sum(server, sum, repeat);
	}
	if (repeat->moving) {
		partial_sums_arrange(sums, sums->mask + 1);
		sums->end += chunks_of(server->job, repeat) / server->job->base.spec.servers;
	} else {
		repeat_same(repeat,
			    pool_server_chunk(server, sums->end) - server->job->base.stream.base);
	}
}

static void repeat_server(struct pool_server *server, struct repeat *repeat)
{
	struct outbox *outbox = &server->outbox;

	if (pool_ops(server->job)->through_server)
		repeat_sums(server, repeat);
	repeat_same(repeat,
		    (uint64_t)outbox->source.waiting << 32 | (uint32_t)outbox->source.credit);
	for (uint64_t i = 0; i < outbox->count; i++)
		network_repeat_packet(&pool_scheme(server->job)->base.env.topo->net, repeat,
				      &outbox->ring[(outbox->head + i) & outbox->mask]);
}

/* --- workers --- */

/* Moves the window on by `chunks`, and its times by `by`. The i-th chunk in flight after the move
 * has the state of the i-th before. */
static void move_window(struct window *window, uint64_t chunks, sim_time by)
{
	uint64_t count = window->next - window->first;
	struct window_chunk *ring = xcalloc(count + 1, sizeof(*ring)); /* + 1: `count` may be 0 */

	for (uint64_t i = 0; i < count; i++) {
		ring[i] = window->ring[(window->first + i) & window->mask];
		ring[i].acted = (ring[i].acted + by / WINDOW_ACTED_PS) & WINDOW_ACTED_MASK;
	}
	window_results(window, chunks);
	window->next += chunks;
	for (uint64_t i = 0; i < count; i++)
		window->ring[(window->first + i) & window->mask] = ring[i];
	free(ring);
}

static void repeat_flight(const struct window *window, struct repeat *repeat)
{
	for (uint64_t p = window->first; p < window->next; p++) {
		struct window_chunk chunk = window->ring[p & window->mask];
		sim_time since = repeat->sim->now - (sim_time)chunk.acted * WINDOW_ACTED_PS;

		repeat_same(repeat, since << 2 | chunk.done << 1 | chunk.again);
	}
}

static void repeat_window(struct pool_worker *worker, struct repeat *repeat)
{
	struct pool_job *job = pool_job(worker);
	struct window *window = &worker->window;
	bool at_limit = window->conf->max && window->cwnd >= window->conf->max;

	if (window->lost_count || window->suspected || window->unsampled > window->first ||
	    window->reduced > window->first || window->probe)
		repeat_never(repeat);
	repeat_same(repeat, at_limit ? UINT64_MAX : job->held_back);
	repeat_same(repeat, window->lost_head);
	repeat_same(repeat, window->reductions);
	repeat_same(repeat, window->timeouts);
	repeat_same(repeat, window->overtakes);
	repeat_same(repeat, window->backoff);
	repeat_same(repeat, window->rto.timeout);
	repeat_same(repeat, window->rto.srtt);
	repeat_same(repeat, window->rto.rttvar);
	for (uint32_t c = 0; c < window->classes; c++) {
		repeat_number(repeat, &window->class[c].newest, &job->base.stream);
		repeat_number(repeat, &window->class[c].looked, &job->base.stream);
	}
	if (window->first < window->next)
		repeat_time(repeat, &window->progress);
	if (repeat->moving) {
		move_window(window, chunks_of(job, repeat), repeat->by);
		return;
	}
	repeat_flight(window, repeat);
	repeat_same(repeat, window->first - job->base.stream.base);
	repeat_same(repeat, window->next - job->base.stream.base);
}

/* --- the whole --- */

/* Packets carry the low 32 bits of a chunk's number, which must not wrap to 0 during a skip. */
static void repeat_low_bits(const struct pool_job *job, struct repeat *repeat)
{
	uint64_t next = newest(job), left = UINT32_MAX - (uint32_t)next;

	if (next > UINT32_MAX) /* pool_repeat_packet() takes the low bits for the number */
		repeat_never(repeat);
	repeat_left(repeat, &left, pool_period(job));
}

void pool_repeat_job(void *self, struct repeat *repeat)
{
	struct pool_job *job = self;
	const struct pool_conf *conf = job->base.scheme->conf;

	if (job->over || conf->index == INDEX_HASH || conf->index == INDEX_REHASH ||
	    job->base.scheme->env.reducers->rate) {
		repeat_never(repeat);
		return;
	}
	repeat_low_bits(job, repeat);
	repeat_aggregators(job, repeat);
	for (uint32_t q = 0; q < job->base.spec.servers; q++)
		repeat_server(&job->servers[q], repeat);
	for (uint32_t w = 0; w < job->base.spec.workers; w++) {
		repeat_window(pool_worker(job, w), repeat);
		repeat_alarm(repeat, &pool_worker(job, w)->alarm);
	}
	if (pool_ops(job)->repeat)
		pool_ops(job)->repeat(job, repeat);
}

/* Whether the job has something to send, in flight or in aggregators. */
static bool sends(const struct pool_job *job)
{
	for (uint32_t w = 0; w < job->base.spec.workers; w++)
		if (pool_worker(job, w)->window.first < ina_available(&pool_worker(job, w)->base))
			return true;
	return job->held;
}

/* Notes that the job sends to a switch. Returns whether another job does, too. */
static bool shares(struct aggregators *pool, const struct pool_job *job)
{
	uint32_t user = pool->user;

	pool->user = job->base.number + 1;
	return user && user != pool->user;
}

static bool shares_any(struct pool_scheme *scheme, const struct pool_job *job)
{
	bool shared = false;

	for (uint32_t q = 0; q < job->base.spec.servers; q++) {
		const struct racks *racks = &job->servers[q].racks;

		shared |= shares(&scheme->pools[racks->sw], job);
		for (uint32_t r = 0; r < racks->count; r++)
			shared |= shares(&scheme->pools[racks->racks[r].sw], job);
	}
	return shared;
}

void pool_repeat(void *self, struct repeat *repeat)
{
	struct pool_scheme *scheme = self;

	for (uint32_t s = 0; s < scheme->base.env.topo->net.switches; s++)
		scheme->pools[s].user = 0;
	for (uint32_t j = 0; j < scheme->base.jobs.count; j++) {
		const struct pool_job *job = ina_find(&scheme->base.jobs, j);

		if (job && sends(job) && shares_any(scheme, job))
			repeat_never(repeat);
	}
	if (!repeat->never)
		ina_repeat(scheme, repeat);
}
