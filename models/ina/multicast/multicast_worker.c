/* All-gather by multicast at a rank. multicast.c says what is modelled. */
#include "ina/multicast/multicast.h"

#include "base/mem.h"
#include "transport/keys.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum message_type { ASK, ANSWER, HAS_ALL };

#define MESSAGE_SIZE 16 /* bytes besides elements: type, chunk, how many */

static struct multicast *job_of(const struct multicast_worker *worker)
{
	return (struct multicast *)worker->base.job;
}

static struct multicast_worker *rank(const struct multicast *job, uint32_t w)
{
	return (struct multicast_worker *)ina_worker(&job->base, w % multicast_ranks(job));
}

static sim_time now(const struct multicast_worker *worker)
{
	return worker->base.job->scheme->env.sim->now;
}

/* --- bitmaps --- */

static bool has(const uint64_t *bits, uint64_t i)
{
	return bits[i / 64] >> i % 64 & 1;
}

static void set(uint64_t *bits, uint64_t i)
{
	bits[i / 64] |= UINT64_C(1) << i % 64;
}

static void clear(uint64_t *bits, uint64_t i)
{
	bits[i / 64] &= ~(UINT64_C(1) << i % 64);
}

/* --- all-gathers --- */

static void make_room(struct multicast_gather *gather, size_t words)
{
	if (words > gather->words) {
		gather->words = words;
		gather->got = xrealloc(gather->got, 3 * words, sizeof(*gather->got));
		gather->wanted = gather->got + words;
		gather->answered = gather->wanted + words;
	}
	memset(gather->got, 0, 3 * gather->words * sizeof(*gather->got));
}

static void find_oldest(struct multicast_gather *gather, uint32_t ranks)
{
	while (gather->oldest < ranks && !gather->shards[gather->oldest].missing)
		gather->oldest++;
}

static void begin_gather(struct multicast_worker *worker, struct multicast_gather *gather,
			 uint64_t tensor)
{
	const struct multicast *job = job_of(worker);
	uint32_t ranks = multicast_ranks(job), own = worker->base.number;
	uint64_t chunks = job->first[tensor + 1] - job->first[tensor];

	gather->tensor = tensor + 1;
	gather->rows = (uint32_t)(chunks / ranks);
	gather->incomplete = ranks - 1;
	gather->oldest = gather->begun = 0;
	make_room(gather, (chunks + 63) / 64);
	for (uint32_t r = 0; r < ranks; r++)
		gather->shards[r] =
			(struct multicast_shard){ .missing = r == own ? 0 : gather->rows };
	find_oldest(gather, ranks);
}

static struct multicast_gather *gather_of(struct multicast_worker *worker, uint64_t tensor)
{
	struct multicast_gather *gather = &worker->gathers[tensor % 2];

	if (gather->tensor != tensor + 1)
		begin_gather(worker, gather, tensor);
	return gather;
}

/* The all-gather of a chunk, which is the present or the next one, and the chunk's index in it.
 * NULL: the all-gather is over. */
static struct multicast_gather *gather_of_chunk(struct multicast_worker *worker, uint64_t chunk,
						uint64_t *index)
{
	struct multicast *job = job_of(worker);
	uint64_t t = worker->base.results;

	if (chunk < job->first[t])
		return NULL;
	t += chunk >= job->first[t + 1];
	if (t >= job->tensors || chunk >= job->first[t + 1]) {
		ina_violated(&job->base, ina_host(&worker->base), chunk, "two all-gathers ahead");
		return NULL;
	}
	*index = chunk - job->first[t];
	return gather_of(worker, t);
}

static bool is_under_way(const struct multicast_worker *worker)
{
	return worker->base.results < ina_available(&worker->base);
}

/* --- sending, in turn --- */

/* A rank may send if it is the first of its chain, or has the last row of the rank before it. */
static bool multicast_may_send(struct multicast_worker *worker)
{
	int64_t before = worker->base.number - multicast_conf(job_of(worker))->chains;
	const struct multicast_gather *gather;

	if (!is_under_way(worker))
		return false;
	gather = gather_of(worker, worker->base.results);
	return worker->sent < gather->rows &&
	       (before < 0 || has(gather->got, (uint64_t)(before + 1) * gather->rows - 1));
}

enum nic_pull multicast_pull(void *owner, struct packet *packet)
{
	struct multicast_worker *worker = owner;
	const struct multicast *job = job_of(worker);
	const struct multicast_gather *gather;

	if (!multicast_may_send(worker))
		return NIC_NOTHING;
	gather = gather_of(worker, worker->base.results);
	ina_packet(packet, &worker->base,
		   job->first[worker->base.results] + (uint64_t)worker->base.number * gather->rows +
			   worker->sent);
	return ++worker->sent < gather->rows ? NIC_MORE : NIC_LAST;
}

/* --- cut-off times --- */

/* The cut-off time runs from the last new row of the oldest shard or, if no row of it has come, of
 * any shard. It starts with the wait or the rank's last question at the earliest. */
static sim_time multicast_due(const void *self)
{
	const struct multicast_worker *worker = self;
	const struct multicast_gather *gather = &worker->gathers[worker->base.results % 2];
	sim_time from;

	if (!is_under_way(worker) || !gather->incomplete)
		return SIM_TIME_MAX;
	from = gather->shards[gather->oldest].seen;
	from = from ? from : worker->progress;
	from = from > worker->since ? from : worker->since;
	return from + (multicast_conf(job_of(worker))->cutoff << worker->backoff);
}

static void multicast_arm(struct multicast_worker *worker)
{
	alarm_set(worker->base.job->scheme->env.sim, &worker->alarm, multicast_due(worker));
}

static void multicast_ask(struct multicast_worker *worker, uint64_t first, uint64_t count)
{
	messages_send(&worker->to_left,
		      (struct message){ .type = ASK, .number = first, .value = count },
		      MESSAGE_SIZE);
	worker->base.job->stats.reminders++;
}

/* Asks for the rows that the shard of rank r lacks, by one message for each run of rows. */
static void ask_for_shard(struct multicast_worker *worker, const struct multicast_gather *gather,
			  uint32_t r)
{
	uint64_t first = job_of(worker)->first[gather->tensor - 1];
	uint64_t i = (uint64_t)r * gather->rows, end = i + gather->rows;

	while (i < end) {
		uint64_t stretch = i;

		while (i < end && !has(gather->got, i))
			i++;
		if (i > stretch)
			multicast_ask(worker, first + stretch, i - stretch);
		i++; /* a row that is here, or the end */
	}
}

/* Whether the shard's time has run out. Its last new row came too long ago; or no row has come,
 * although all shards before it are complete or a rank `chains` or more further on has begun. */
static bool is_cut_off(const struct multicast_worker *worker, const struct multicast_gather *gather,
		       uint32_t r)
{
	const struct multicast_conf *conf = multicast_conf(job_of(worker));
	const struct multicast_shard *shard = &gather->shards[r];

	if (!shard->missing)
		return false;
	if (shard->seen)
		return shard->seen + conf->cutoff <= now(worker);
	return r == gather->oldest || r + conf->chains < gather->begun;
}

static void multicast_on_timeout(struct sim *sim, uint32_t entity, void *owner)
{
	struct multicast_worker *worker = owner;
	const struct multicast *job = job_of(worker);
	const struct multicast_gather *gather = gather_of(worker, worker->base.results);

	(void)entity;
	worker->base.job->stats.timeouts++;
	why_timed_out(job->base.why);
	worker->since = sim->now;
	worker->backoff += worker->backoff < MULTICAST_MAX_BACKOFF;
	for (uint32_t r = gather->oldest; r < multicast_ranks(job); r++)
		if (is_cut_off(worker, gather, r))
			ask_for_shard(worker, gather, r);
	multicast_arm(worker);
}

/* --- answers to the right neighbour --- */

/* Sends the right neighbour a chunk that it has asked for, but only once. */
static void multicast_answer(struct multicast_worker *worker, struct multicast_gather *gather,
			     uint64_t index)
{
	const struct multicast *job = job_of(worker);
	uint64_t chunk = job->first[gather->tensor - 1] + index;
	uint32_t r = (uint32_t)(index / gather->rows);
	struct message message = { .type = ANSWER,
				   .number = chunk,
				   .value = exact_contribution(&job->base.exact, r, chunk) };

	if (has(gather->answered, index))
		return;
	set(gather->answered, index);
	worker->base.job->stats.retransmissions++;
	messages_send(&worker->to_right, message,
		      MESSAGE_SIZE + job->base.scheme->elements * ELEMENT_BYTES);
}

static void on_ask(struct multicast_worker *worker, uint64_t chunk)
{
	uint64_t index;
	struct multicast_gather *gather = gather_of_chunk(worker, chunk, &index);

	if (!gather)
		return;
	if (index / gather->rows == worker->base.number) {
		/* a row that has not been sent yet will be multicast */
		if (gather->tensor == worker->base.results + 1 &&
		    index % gather->rows < worker->sent)
			multicast_answer(worker, gather, index);
	} else if (has(gather->got, index)) {
		multicast_answer(worker, gather, index);
	} else {
		set(gather->wanted, index);
	}
}

/* --- the end of an all-gather --- */

static void begin_wait(struct multicast_worker *worker)
{
	worker->since = now(worker);
	worker->backoff = 0;
	if (is_under_way(worker)) /* multicast_due() needs the all-gather to have begun */
		gather_of(worker, worker->base.results);
	multicast_arm(worker);
}

static void tell_left(struct multicast_worker *worker, uint64_t tensor)
{
	if (worker->told > tensor)
		return;
	worker->told = tensor + 1;
	messages_send(&worker->to_left, (struct message){ .type = HAS_ALL, .number = tensor },
		      MESSAGE_SIZE);
}

/* Ends all-gathers whose shards this rank and its right neighbour all have, and begins the next. */
static void proceed(struct multicast_worker *worker)
{
	const struct multicast *job = job_of(worker);

	if (worker->completing) /* ina_complete() has called the job, which has handed over more */
		return;
	worker->completing = true;
	while (is_under_way(worker) && !gather_of(worker, worker->base.results)->incomplete) {
		uint64_t tensor = worker->base.results;

		tell_left(worker, tensor);
		if (worker->right_has <= tensor)
			break;
		/* for --why: the wait for the handshake ends here, not with a chunk */
		why_result(job->base.why, worker->base.number, job->first[tensor + 1] - 1);
		worker->sent = 0;
		ina_complete(&worker->base, tensor);
		begin_wait(worker);
	}
	worker->completing = false;
	if (multicast_may_send(worker))
		ina_wake(&worker->base);
}

/* --- packets and messages that come --- */

/* Takes a chunk of a shard. False: this rank has the chunk already, or the all-gather is over. */
static bool multicast_receive(struct multicast_worker *worker, uint64_t chunk, uint64_t value,
			      struct multicast_gather **gather, uint64_t *index)
{
	struct multicast *job = job_of(worker);
	struct multicast_shard *shard;
	uint32_t r;

	*gather = gather_of_chunk(worker, chunk, index);
	if (!*gather || has((*gather)->got, *index)) {
		job->base.stats.stale++;
		return false;
	}
	r = (uint32_t)(*index / (*gather)->rows);
	if (r == worker->base.number) {
		ina_violated(&job->base, ina_host(&worker->base), chunk,
			     "a rank's own shard came back");
		return false;
	}
	if (!ina_holds_shard(&worker->base, r, chunk, value))
		return false;
	why_result(job->base.why, worker->base.number, chunk);
	set((*gather)->got, *index);
	shard = &(*gather)->shards[r];
	shard->seen = worker->progress = now(worker);
	(*gather)->begun = r >= (*gather)->begun ? r + 1 : (*gather)->begun;
	if (!--shard->missing)
		(*gather)->incomplete--;
	if (r != (*gather)->oldest)
		return true;
	find_oldest(*gather, multicast_ranks(job));
	if (worker->backoff || !shard->missing) { /* the next cut-off may be sooner */
		worker->backoff = 0;
		multicast_arm(worker);
	}
	return true;
}

/* If the right neighbour has asked for the chunk, no answer is needed: the switch sends it a copy
 * of this packet, too. If that copy is lost, the neighbour asks again. */
void multicast_deliver(struct multicast_worker *worker, const struct packet *packet)
{
	struct multicast_gather *gather;
	uint64_t index;

	if (!multicast_receive(worker, packet->chunk, packet->value, &gather, &index))
		return;
	clear(gather->wanted, index);
	proceed(worker);
}

static void from_left(void *owner, const struct message *message)
{
	struct multicast_worker *worker = owner;
	struct multicast_gather *gather;
	uint64_t index;

	why_fetched(worker->base.job->why, message->number);
	if (!multicast_receive(worker, message->number, message->value, &gather, &index))
		return;
	if (has(gather->wanted, index))
		multicast_answer(worker, gather, index);
	proceed(worker);
}

static void from_right(void *owner, const struct message *message)
{
	struct multicast_worker *worker = owner;

	if (message->type == ASK) {
		for (uint64_t i = 0; i < message->value; i++)
			on_ask(worker, message->number + i);
		return;
	}
	worker->right_has = message->number + 1;
	proceed(worker);
}

/* --- tensors --- */

void multicast_contribute(void *instance, uint32_t w, bytes size)
{
	struct multicast *job = instance;
	struct multicast_worker *worker = rank(job, w);
	bool idle = !is_under_way(worker);

	if (ina_available(&worker->base) == job->tensors) {
		job->tensors++;
		job->first = array_reserve(job->first, job->tensors, &job->capacity,
					   sizeof(*job->first));
		job->first[job->tensors] = job->first[job->tensors - 1] +
					   multicast_ranks(job) * ina_chunks(&job->base, size);
	}
	why_hands_over(job->base.why, w);
	tensors_add(&job->base.tensors, w, 1);
	if (idle)
		begin_wait(worker);
	proceed(worker);
}

bool multicast_waits(const void *self, char *text, size_t size)
{
	const struct multicast_worker *worker = self;
	const struct multicast_gather *gather = &worker->gathers[worker->base.results % 2];

	snprintf(text, size,
		 "has ended %" PRIu64 " of %" PRIu64 " all-gathers, lacks %" PRIu32
		 " shards of the next one; its right neighbour has %" PRIu64,
		 worker->base.results, ina_available(&worker->base),
		 gather->tensor ? gather->incomplete : 0, worker->right_has);
	return is_under_way(worker);
}

/* --- life --- */

void multicast_worker_begin(struct multicast_worker *worker)
{
	const struct multicast *job = job_of(worker);
	const struct model_env *env = &job->base.scheme->env;
	uint32_t w = worker->base.number, ranks = multicast_ranks(job);
	struct multicast_worker *left = rank(job, w + ranks - 1), *right = rank(job, w + 1);
	/* a worker has two connections: the second has key + 1 */
	uint64_t key = connection_key(CONNECTION_MULTICAST,
				      (uint64_t)job->base.spec.number << 25 | 2 * (uint64_t)w);

	for (unsigned i = 0; i < 2; i++)
		worker->gathers[i].shards = xcalloc(ranks, sizeof(*worker->gathers[i].shards));
	messages_init(&worker->to_left, env->tcp, &env->topo->net, ina_host(&worker->base),
		      ina_host(&left->base), key, from_right, left);
	messages_init(&worker->to_right, env->tcp, &env->topo->net, ina_host(&worker->base),
		      ina_host(&right->base), key + 1, from_left, right);
	worker->to_right.bulk = true;
	worker->to_left.timeout = worker->to_right.timeout = multicast_conf(job)->cutoff;
	alarm_open(env->sim, &worker->alarm,
		   timer_key_of_job(TIMER_MULTICAST, job->base.spec.number, w),
		   multicast_on_timeout, multicast_due, worker);
	sim_name(env->sim, multicast_on_timeout, "multicast cut-off of job %j worker %w");
}

void multicast_worker_end(struct multicast_worker *worker)
{
	alarm_close(worker->base.job->scheme->env.sim, &worker->alarm);
	messages_release(&worker->to_left);
	messages_release(&worker->to_right);
	for (unsigned i = 0; i < 2; i++) {
		free(worker->gathers[i].got);
		free(worker->gathers[i].shards);
	}
}
