#include "collective/schedule.h"

#include "base/mem.h"
#include "base/ring.h"
#include "transport/keys.h"
#include "why/why.h"

#include <inttypes.h>
#include <stdlib.h>

/* The number of a piece of the rank's tensor as a chunk in exact.h. */
static uint64_t piece_name(const struct schedule_rank *rank, uint32_t piece)
{
	return rank->tensor << 32 | piece;
}

static uint64_t message_bytes(const struct schedule_rank *rank, const struct schedule_step *step)
{
	const struct schedule *schedule = rank->schedule;

	if (schedule->job.blocks && schedule->ops->bytes)
		return schedule->ops->bytes(schedule, rank->tensor, step);
	return tensor_parts(schedule->sizes.of[rank->tensor], step->first, step->end, rank->pieces);
}

/* False if the thread has no step left for the rank's tensor, or that tensor has not begun. */
static bool next_step(const struct schedule_thread *thread, struct schedule_step *step)
{
	const struct schedule_rank *rank = thread->rank;
	const struct schedule *schedule = rank->schedule;

	return rank->begun && schedule->ops->step(schedule, rank->number, thread->number,
						  thread->at, rank->pieces, step);
}

/* The job's worker of a rank, for --why. */
static uint32_t worker_at(const struct schedule *schedule, uint32_t rank)
{
	return (uint32_t)collective_worker_number(&schedule->job, schedule->ranks[rank].worker);
}

/* --- sending --- */

static void advance(struct schedule_thread *thread);

static struct schedule_thread *reader_of(const struct schedule_edge *edge)
{
	return &edge->schedule->ranks[edge->ends.to].threads[edge->ends.thread];
}

/* Whether the edge has messages posted but not sent, and the oldest of them may leave. */
static bool may_send(const struct schedule_edge *edge)
{
	const struct schedule *schedule = edge->schedule;
	uint64_t credit = (uint64_t)schedule->scheme->conf->credit;
	struct schedule_step step;

	if (edge->sent == edge->posted || edge->passing)
		return false;
	if (schedule->ops->rendezvous) /* the reader's step takes this very message */
		return next_step(reader_of(edge), &step) && step.act != SCHEDULE_SEND &&
		       &schedule->edges[step.edge] == edge && edge->sent == edge->received;
	return !credit || edge->sent - edge->received < credit;
}

/* When the link between GPUs that the rank sends on is free. */
static sim_time *link_of(const struct schedule_rank *rank)
{
	const struct schedule *schedule = rank->schedule;
	bool shared = schedule->scheme->env.machine->gpus.shared;

	if (!shared)
		return &schedule->lead->link_free[rank->gpu];
	return &schedule->lead->link_free[schedule->job.machines ? rank->machine : rank->worker];
}

/* Sends over a link to another GPU of the machine. A shared link is taken for the latency, too. Of
 * several links of a GPU the message takes one, and leaves the others to other messages. */
static void pass_on(struct schedule_edge *edge, uint64_t size)
{
	struct schedule *schedule = edge->schedule;
	const struct gpus_conf *gpus = &schedule->scheme->env.machine->gpus;
	sim_time from = schedule->scheme->env.sim->now;
	sim_time *free_at = link_of(&schedule->ranks[edge->ends.from]);
	unsigned __int128 bits = (unsigned __int128)size * 8 * PS_PER_S, links = gpus_links(gpus);

	if (*free_at > from)
		from = *free_at;
	*free_at = from + (sim_time)((bits + gpus->rate - 1) / gpus->rate) +
		   (gpus->shared ? gpus->latency : 0);
	edge->passing = size;
	edge->way = why_passes(&schedule->scheme->env.topo->net, schedule->job.number,
			       worker_at(schedule, edge->ends.from));
	timer_set(schedule->scheme->env.sim, &edge->timer,
		  from + (sim_time)((bits * links + gpus->rate - 1) / gpus->rate) + gpus->latency);
}

static void send_posted(struct schedule_edge *edge)
{
	while (may_send(edge)) {
		uint64_t size = edge->sizes[edge->sent++ & edge->size_mask];

		if (edge->local || edge->relayed)
			pass_on(edge, size);
		else
			connection_write(&edge->conn, size);
	}
}

static void on_passed(struct sim *sim, uint32_t entity, void *owner)
{
	struct schedule_edge *edge = owner;
	struct schedule *schedule = edge->schedule;
	const struct network *net = &schedule->scheme->env.topo->net;

	(void)sim, (void)entity;
	why_passed(net, schedule->job.number,
		   worker_at(schedule, edge->local ? edge->ends.to : edge->ends.from), edge->way,
		   true);
	why_way_over(net, edge->way);
	if (edge->local)
		edge->delivered += edge->passing;
	else
		connection_write(&edge->conn, edge->passing);
	edge->passing = 0;
	send_posted(edge);
	advance(reader_of(edge)); /* if relayed, it must now call connection_expect() */
}

/* Whether the first `bytes_in` bytes of the edge's stream have arrived. If not, on_delivered() or
 * on_passed() will be called when they have. */
static bool has_come(const struct schedule_edge *edge, uint64_t bytes_in)
{
	if (edge->local)
		return edge->delivered >= bytes_in;
	if (connection_delivered(&edge->conn) >= bytes_in)
		return true;
	connection_expect(&edge->conn, bytes_in);
	return false;
}

/* Posts a message, which leaves when may_send() allows. The thread goes on to its next step. */
static void post_message(struct schedule_thread *thread, const struct schedule_step *step)
{
	struct schedule_rank *rank = thread->rank;
	struct schedule_edge *edge = &rank->schedule->edges[step->edge];

	for (uint32_t q = step->first; q < step->end; q++) {
		edge->values = ring_reserve(edge->values, &edge->value_mask, edge->value_out,
					    edge->value_in, sizeof(*edge->values));
		edge->values[edge->value_in++ & edge->value_mask] = rank->sums[q];
	}
	edge->sizes = ring_reserve(edge->sizes, &edge->size_mask, edge->sent, edge->posted,
				   sizeof(*edge->sizes));
	edge->sizes[edge->posted++ & edge->size_mask] = message_bytes(rank, step);
	thread->at++;
	send_posted(edge);
	advance(reader_of(edge)); /* a waiting reader must now call connection_expect() */
}

/* Posts messages until the thread's next step is to receive. */
static void send_ready(struct schedule_thread *thread)
{
	const struct schedule_scheme *scheme = thread->rank->schedule->scheme;
	struct schedule_step step;

	while (!thread->preparing && next_step(thread, &step) && step.act == SCHEDULE_SEND) {
		if (!scheme->conf->step_latency) {
			post_message(thread, &step);
			continue;
		}
		thread->preparing = true;
		thread->way =
			why_work_begins(&scheme->env.topo->net, thread->rank->schedule->job.number,
					thread->rank->host);
		timer_set(scheme->env.sim, &thread->timer,
			  scheme->env.sim->now + scheme->conf->step_latency);
	}
}

static void on_prepared(struct sim *sim, uint32_t entity, void *owner)
{
	struct schedule_thread *thread = owner;
	const struct schedule *schedule = thread->rank->schedule;
	struct schedule_step step;

	(void)sim, (void)entity;
	thread->preparing = false;
	why_work_ends(&schedule->scheme->env.topo->net, schedule->job.number, thread->rank->host,
		      thread->way);
	SIM_BUG_ON(!next_step(thread, &step) || step.act != SCHEDULE_SEND);
	post_message(thread, &step);
	advance(thread);
}

/* --- a tensor begins and ends --- */

/* Begins the rank's next tensor if it has been handed over. All threads send as much as they can
 * before any of them receives. */
static void begin(struct schedule_rank *rank)
{
	struct schedule *schedule = rank->schedule;

	if (rank->tensor >= rank->contributed)
		return;
	rank->begun = true;
	rank->pieces = schedule->ops->pieces(schedule, schedule->sizes.of[rank->tensor]);
	while (rank->capacity < rank->pieces)
		rank->sums = array_reserve(rank->sums, rank->capacity, &rank->capacity,
					   sizeof(*rank->sums));
	for (uint32_t q = 0; q < rank->pieces; q++)
		rank->sums[q] =
			exact_contribution(&schedule->exact, rank->gpu, piece_name(rank, q));
	for (unsigned i = 0; i < schedule->ops->threads; i++)
		send_ready(&rank->threads[i]);
}

static void check_sums(const struct schedule_rank *rank)
{
	struct schedule *schedule = rank->schedule;

	for (uint32_t q = 0; q < rank->pieces; q++) {
		uint64_t weight = schedule->ops->weight
					  ? schedule->ops->weight(schedule, rank->number, q)
					  : schedule->exact.sum;

		if (!weight ||
		    exact_holds_part(&schedule->exact, weight, piece_name(rank, q), rank->sums[q]))
			continue;
		checks_violated(schedule->exact.checks, &schedule->exact.checks->exact_violations,
				"%s of job %" PRIu32 ": wrong sum of piece %" PRIu32
				" of tensor %" PRIu64 " at worker %" PRId64 " at %.9f s",
				schedule->ops->name, collective_job_number(&schedule->job), q,
				rank->tensor,
				collective_worker_number(&schedule->job, rank->worker),
				seconds_of(schedule->scheme->env.sim->now));
		sim_stop(schedule->scheme->env.sim);
		return;
	}
}

static struct schedule_rank *rank_of(struct schedule *schedule, uint32_t worker, uint32_t k)
{
	return &schedule->ranks[schedule->rank_of_gpu[worker * schedule_ranks_each(schedule) + k]];
}

static bool all_hold(struct schedule *schedule, uint32_t worker, uint64_t tensor)
{
	for (; schedule; schedule = schedule->next)
		for (uint32_t k = 0; k < schedule_ranks_each(schedule); k++)
			if (rank_of(schedule, worker, k)->tensor <= tensor)
				return false;
	return true;
}

/* Ends the rank's tensor if no thread of the rank has a step left, and begins the next one if
 * possible. Returns whether a tensor has ended. */
static bool end_tensor(struct schedule_thread *thread)
{
	struct schedule_rank *rank = thread->rank;
	struct schedule *schedule = rank->schedule;
	struct schedule_step step;
	uint64_t tensor = rank->tensor;

	if (!rank->begun || next_step(thread, &step))
		return false;
	for (unsigned i = 0; i < schedule->ops->threads; i++)
		if (next_step(&rank->threads[i], &step))
			return false;
	check_sums(rank);
	rank->tensor++;
	rank->begun = false;
	for (unsigned i = 0; i < schedule->ops->threads; i++)
		rank->threads[i].at = 0;
	begin(rank);
	if (all_hold(schedule->lead, rank->worker, tensor))
		schedule->job.done(schedule->job.owner, rank->worker, tensor);
	return true;
}

/* --- receiving --- */

static void receive_message(struct schedule_rank *rank, struct schedule_edge *edge,
			    const struct schedule_step *step)
{
	edge->stream_in += message_bytes(rank, step);
	edge->received++;
	for (uint32_t q = step->first; q < step->end; q++) {
		uint64_t value = edge->values[edge->value_out++ & edge->value_mask];

		rank->sums[q] = step->act == SCHEDULE_ADD ? rank->sums[q] + value : value;
	}
}

/* Takes the message that the thread waits for, if it has arrived. A message waits while the rank
 * has not begun its tensor: there are no sums yet to add it to. */
static bool receive(struct schedule_thread *thread)
{
	struct schedule_rank *rank = thread->rank;
	struct schedule_edge *edge;
	struct schedule_step step;

	if (!next_step(thread, &step) || step.act == SCHEDULE_SEND)
		return false;
	edge = &rank->schedule->edges[step.edge];
	send_posted(edge); /* `rendezvous`: the sender has waited for this step of the reader */
	if (edge->received == edge->sent ||
	    !has_come(edge, edge->stream_in + message_bytes(rank, &step)))
		return false;
	receive_message(rank, edge, &step);
	thread->at++;
	send_posted(edge); /* receiving has given back credit */
	return true;
}

/* Runs a thread as far as possible. When a tensor ends, all threads of the rank get new steps. */
static void advance(struct schedule_thread *thread)
{
	struct schedule_rank *rank = thread->rank;

	do {
		send_ready(thread);
		if (end_tensor(thread))
			for (unsigned i = 0; i < rank->schedule->ops->threads; i++)
				if (i != thread->number)
					advance(&rank->threads[i]);
	} while (receive(thread));
}

static void on_delivered(void *owner, uint64_t total)
{
	struct schedule_edge *edge = owner;

	(void)total;
	advance(reader_of(edge));
}

static const struct tcp_app schedule_app = { .delivered = on_delivered };

/* --- the interface --- */

const struct transport *schedule_transport(const void *conf)
{
	return transport_kind((unsigned)((const struct schedule_conf *)conf)->transport);
}

void *schedule_open(const struct model_env *env, const void *conf)
{
	struct schedule_scheme *scheme = xcalloc(1, sizeof(*scheme));

	scheme->env = *env;
	scheme->conf = conf;
	return scheme;
}

/* A bit in the keys of the edges' timers. The threads' timers have keys with a thread's number in
 * the place of an edge's, so without this bit two keys could be equal. Bit 51 is free:
 * timer_key() tells tag T + 16 from tag T by it, and there is no tag TIMER_RING + 16 (keys.h). */
#define KEY_OF_MESSAGE (UINT64_C(1) << 51)

static void connect(struct schedule *schedule, uint32_t e)
{
	const struct model_env *env = &schedule->scheme->env;
	struct schedule_edge *edge = &schedule->edges[e];

	*edge = (struct schedule_edge){ .schedule = schedule, .ends.from = SCHEDULE_NOBODY };
	if (!schedule->ops->ends(schedule, e, &edge->ends))
		return;
	edge->local = schedule_local(schedule, &edge->ends);
	edge->relayed = !edge->local && schedule_nic(schedule, edge->ends.from) !=
						schedule->ranks[edge->ends.from].host;
	if (edge->local || edge->relayed) {
		timer_open(env->sim, &edge->timer, SIM_TIMER,
			   timer_key(TIMER_RING, KEY_OF_MESSAGE | schedule_edge_key(schedule, e)),
			   on_passed, edge);
		sim_name(env->sim, on_passed, "message between GPUs, edge %n");
	}
	if (edge->local)
		return;
	why_leads(&env->topo->net, worker_at(schedule, edge->ends.from),
		  worker_at(schedule, edge->ends.to));
	edge->conn = connection_open(
		env->tcp, env->roce,
		&(struct connection_spec){ .transport = (unsigned)schedule->scheme->conf->transport,
					   .src = schedule_nic(schedule, edge->ends.from),
					   .dst = schedule_nic(schedule, edge->ends.to),
					   .ack_every = (uint32_t)schedule->scheme->conf->ack_every,
					   .key = schedule_edge_key(schedule, e),
					   .app = &schedule_app,
					   .owner = edge });
}

static void open_threads(struct schedule_rank *rank)
{
	const struct schedule *schedule = rank->schedule;
	struct sim *sim = schedule->scheme->env.sim;
	unsigned threads = schedule->ops->threads;

	for (unsigned i = 0; i < threads; i++)
		timer_open(sim, &rank->threads[i].timer, SIM_TIMER,
			   timer_key(TIMER_RING,
				     schedule_edge_key(schedule, rank->number * threads + i)),
			   on_prepared, &rank->threads[i]);
	sim_name(sim, on_prepared, "message ready at thread %n");
}

void *schedule_start(struct schedule_scheme *scheme, const struct schedule_ops *ops,
		     const struct collective_job *job)
{
	struct schedule *lead = schedule_new(scheme, ops, job);

	for (struct schedule *schedule = lead; schedule; schedule = schedule->next) {
		schedule->edges = xcalloc(schedule->edge_count, sizeof(*schedule->edges));
		for (uint32_t e = 0; e < schedule->edge_count; e++)
			connect(schedule, e);
		for (uint32_t r = 0; r < schedule->count; r++)
			open_threads(&schedule->ranks[r]);
	}
	return lead;
}

/* How many channels the instance has. */
static uint32_t channel_count(const struct schedule *lead)
{
	uint32_t count = 0;

	for (const struct schedule *schedule = lead; schedule; schedule = schedule->next)
		count++;
	return count;
}

static void contribute(struct schedule_rank *rank, bytes size)
{
	struct schedule *schedule = rank->schedule;

	tensor_sizes_add(&schedule->sizes, rank->contributed++, size);
	if (rank->begun)
		return;
	begin(rank);
	for (unsigned i = 0; i < schedule->ops->threads; i++)
		advance(&rank->threads[i]);
}

void schedule_contribute(void *instance, uint32_t worker, bytes size)
{
	struct schedule *schedule = instance;
	uint32_t channels = channel_count(schedule);

	for (; schedule; schedule = schedule->next)
		for (uint32_t k = 0; k < schedule_ranks_each(schedule); k++)
			contribute(rank_of(schedule, worker, k),
				   tensor_parts(size, schedule->channel, schedule->channel + 1,
						channels));
}

static void finish(struct schedule *schedule)
{
	struct sim *sim = schedule->scheme->env.sim;

	for (uint32_t e = 0; e < schedule->edge_count; e++) {
		struct schedule_edge *edge = &schedule->edges[e];

		if (edge->local || edge->relayed)
			timer_close(sim, &edge->timer);
		if (!edge->local && edge->ends.from != SCHEDULE_NOBODY)
			connection_close(&edge->conn);
		free(edge->values);
		free(edge->sizes);
	}
	for (uint32_t r = 0; r < schedule->count; r++)
		for (unsigned i = 0; i < schedule->ops->threads; i++)
			timer_close(sim, &schedule->ranks[r].threads[i].timer);
}

void schedule_finish(void *instance, bool abandoned)
{
	(void)abandoned;
	for (struct schedule *schedule = instance; schedule; schedule = schedule->next)
		finish(schedule);
	schedule_free(instance);
}

static void add_stats(const struct schedule *schedule, struct collective_stats *stats)
{
	for (uint32_t e = 0; e < schedule->edge_count; e++) {
		const struct schedule_edge *edge = &schedule->edges[e];

		if (edge->ends.from == SCHEDULE_NOBODY || edge->local)
			continue;
		stats->retransmissions += connection_stats(&edge->conn)->retransmissions;
		stats->timeouts += connection_stats(&edge->conn)->timeouts;
	}
}

void schedule_stats(const void *instance, struct collective_stats *stats)
{
	for (const struct schedule *schedule = instance; schedule; schedule = schedule->next)
		add_stats(schedule, stats);
}

/* Prints the step of the rank's first thread that waits to receive. */
static void report_rank(const struct schedule_rank *rank, FILE *to)
{
	const struct schedule *schedule = rank->schedule;
	struct schedule_step step;

	fprintf(to,
		"  %s of job %" PRIu32 ": worker %" PRId64 " (host %" PRIu32
		") waits for tensor %" PRIu64,
		schedule->ops->name, collective_job_number(&schedule->job),
		collective_worker_number(&schedule->job, rank->worker), rank->host, rank->tensor);
	for (unsigned i = 0; i < schedule->ops->threads; i++) {
		if (!next_step(&rank->threads[i], &step) || step.act == SCHEDULE_SEND)
			continue;
		fprintf(to, ", step %" PRIu64 ", from host %" PRIu32, rank->threads[i].at,
			schedule->ranks[schedule->edges[step.edge].ends.from].host);
		break;
	}
	fputs("\n", to);
}

size_t schedule_report_waiting(const void *instance, FILE *to, size_t limit)
{
	size_t lines = 0;

	for (const struct schedule *schedule = instance; schedule; schedule = schedule->next)
		for (uint32_t r = 0; r < schedule->count && lines < limit; r++) {
			if (schedule->ranks[r].tensor == schedule->ranks[r].contributed)
				continue;
			report_rank(&schedule->ranks[r], to);
			lines++;
		}
	return lines;
}
