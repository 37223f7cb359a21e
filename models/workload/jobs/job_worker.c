/* A worker: a rank of its job's program, which computes, takes part in groups, and waits. */
#include "workload/jobs/jobs_parts.h"

#include "base/mem.h"
#include "transport/keys.h"

#include <stdlib.h>

static sim_time now_of(const struct job_worker *worker)
{
	return worker->job->jobs->env.sim->now;
}

static const struct program_node *node_of(const struct job_worker *worker, uint32_t node)
{
	return &worker->cursor.role->nodes[node];
}

/* --- what takes time --- */

/* How much longer than written down the worker computes in an iteration. Drawn when the first task
 * of the iteration begins. */
static double factor_of(struct job_worker *worker, uint32_t iteration)
{
	const struct job_group_conf *conf = worker->job->conf;
	/* the last ranks are slow */
	bool straggler =
		(int64_t)worker->number >= (int64_t)worker->job->ranks - conf->stragglers.workers;
	double *factor = &worker->factor[iteration & 1];

	if (iteration < worker->drawn)
		return *factor;
	worker->drawn = iteration + 1;
	*factor = conf->compute_scale * (straggler ? conf->stragglers.slowdown : 1);
	if (conf->compute_jitter > 0)
		*factor *= 1 + conf->compute_jitter * rng_unit(&worker->rng);
	*factor /= (double)conf->pipeline.microbatches; /* one micro-batch at a time */
	return *factor;
}

/* Computing takes `amount` times the factor, a pause a uniform time from 0 to `amount`. */
static sim_time duration_of(struct job_worker *worker, const struct program_node *node,
			    uint32_t iteration)
{
	double factor = factor_of(worker, iteration);

	if (node->act == ACT_COMPUTE)
		return (sim_time)((double)node->amount * factor);
	return node->amount ? rng_below(&worker->rng, node->amount + 1) : 0;
}

static void begin_task(struct job_worker *worker, size_t stream, uint32_t node, sim_time duration)
{
	struct sim *sim = worker->job->jobs->env.sim;
	bool computes = node_of(worker, node)->act == ACT_COMPUTE;

	worker->tasks[stream].node = node;
	if (computes && !worker->computing++) {
		worker->busy_since = sim->now;
		worker_spends_computing(worker, false);
	}
	timer_set(sim, &worker->tasks[stream].timer, sim->now + duration);
	why_stream(worker->job->why, worker->number, (uint32_t)stream, false);
	if (!worker->timed++)
		why_task(worker->job->why, worker->number, computes, false);
}

/* --- results --- */

/* The last sum of an iteration is here. */
static void end_exchange(struct job_worker *worker)
{
	worker->sums = 0;
	worker->last_exchange = now_of(worker) - worker->exchange_since;
	worker->last_busy = worker->busy - worker->busy_mark;
	worker->busy_mark = worker->busy;
	worker->exchange += worker->last_exchange;
	worker->exchange_since = SIM_TIME_MAX;
}

static void count_sum(struct job_worker *worker)
{
	if (++worker->sums == worker->cursor.role->sums)
		end_exchange(worker);
}

/* A worker has ended its iteration; the last one ends the job's. */
static void end_iteration(struct job *job, uint32_t over)
{
	if ((int64_t)over != job->iterations_done + 1 || --job->behind)
		return;
	while (!job->behind && job->iterations_done < job->iterations) {
		job_iteration_over(job);
		job->jobs->report.iterations_finished++;
		job->iterations_done++;
		for (uint32_t w = 0; w < job->ranks; w++)
			job->behind += job->worker[w].cursor.over == job->iterations_done;
	}
	if (job->iterations_done == job->iterations)
		timer_set(job->jobs->env.sim, &job->timer, now_of(&job->worker[0]));
	job_estimate(job);
}

/* A node is done. */
static void finish(struct job_worker *worker, uint32_t number)
{
	const struct program_node *node = node_of(worker, number);
	struct job *job = worker->job;
	uint32_t over;

	worker->again = true;
	if (node->flags & NODE_FORWARD_END)
		job->forward_end[KEPT(worker->cursor.done[number])] = now_of(worker);
	if (node->flags & NODE_SUM)
		count_sum(worker);
	over = cursor_done(&worker->cursor, number);
	if (node->flags & NODE_SUM)
		why_holds(job->why, worker->number);
	if (over)
		why_iterates(job->why, worker->number);
	for (uint32_t i = over; i > 0; i--)
		end_iteration(job, worker->cursor.over + 1 - i);
}

/* --- handing over --- */

void worker_hint(struct job_worker *worker, struct job_exchange *exchange, uint32_t member,
		 uint64_t gradient)
{
	const struct job *job = worker->job;
	const struct dnn *dnn = job->dnn;
	const struct program_role *role = worker->cursor.role;
	double scale = job->conf->compute_scale;
	const struct program_group *group = exchange->group;
	struct program_hint known = { 0, (double)group->bytes, (double)dnn->compute_total };
	struct collective_hint hint;

	if (!exchange->instance || !exchange->ops->hint)
		return;
	if (exchange->whole && role->hints)
		known = role->hints[gradient % group->operations];
	hint = (struct collective_hint){
		.layer = known.layer + 1, /* hints count layers from 1 */
		.layers = dnn->layer_count ? (uint32_t)dnn->layer_count : 1,
		.left = (bytes)known.left,
		.compute_left = (sim_time)(known.compute_left * scale),
		.iteration_bytes = group->bytes,
		.compute = (sim_time)((double)dnn->compute_total * scale),
		.iterations_left = (uint64_t)job->iterations - 1 - gradient / group->operations,
		.attained = job->jobs->env.sim->now - job->start,
		.last_compute = worker->last_busy,
		.last_exchange = worker->last_exchange,
	};
	if (exchange->fusion)
		fusion_hint(exchange->fusion, member, &hint);
	else
		exchange->ops->hint(exchange->instance, member, &hint);
}

static void take_part(struct job_worker *worker, uint32_t number, uint32_t iteration)
{
	const struct program_node *node = node_of(worker, number);
	struct job_exchange *exchange = job_exchange_at(worker, node->seat);

	worker->handed++;
	why_takes_part(worker->job->why, worker->number, exchange->why);
	if (node->flags & NODE_GRADIENT) {
		worker_hint(worker, exchange, job_exchange_member(worker, node->seat),
			    iteration * exchange->group->operations + node->order);
		why_contributes(worker->job->why, worker->number);
		if (worker->exchange_since == SIM_TIME_MAX) {
			worker->exchange_since = now_of(worker);
			job_sends(worker->job, iteration);
		}
	}
	if (job_exchange_part(worker, node->seat, node->amount))
		return;
	worker->held++;
	why_got(worker->job->why, worker->number, exchange->why);
	finish(worker, number);
}

/* --- going on --- */

/* Begins the stream's next node, which is ready. Returns whether some node is done. */
static bool begin(struct job_worker *worker, size_t stream)
{
	uint32_t iteration = worker->cursor.streams[stream].iteration;
	uint32_t number = cursor_begin(&worker->cursor, stream);
	sim_time duration;

	worker->again = false;
	if (node_of(worker, number)->act == ACT_PART) {
		take_part(worker, number, iteration);
		return worker->again;
	}
	duration = duration_of(worker, node_of(worker, number), iteration);
	if (duration) {
		begin_task(worker, stream, number, duration);
		return false;
	}
	finish(worker, number);
	return true;
}

/* Begins all nodes that are ready. Streams are asked in their order, anew whenever a node is
 * done. */
static void step(struct job_worker *worker)
{
	if (worker->stepping)
		return;
	worker->stepping = true;
	for (size_t s = 0; s < worker->cursor.role->stream_count; s++)
		while (cursor_ready(&worker->cursor, s))
			if (begin(worker, s) && s) {
				s = SIZE_MAX; /* 0 after the loop's increment */
				break;
			}
	worker->stepping = false;
}

static void on_task_timer(struct sim *sim, uint32_t entity, void *owner)
{
	struct job_task *task = owner;
	struct job_worker *worker = task->worker;

	(void)entity;
	why_stream(worker->job->why, worker->number, node_of(worker, task->node)->stream, true);
	if (!--worker->timed)
		why_task(worker->job->why, worker->number, false, true);
	if (node_of(worker, task->node)->act == ACT_COMPUTE && !--worker->computing) {
		worker->busy += sim->now - worker->busy_since;
		worker->busy_since = SIM_TIME_MAX;
		worker_spends_computing(worker, true);
	}
	worker->job->moved = sim->now;
	finish(worker, task->node);
	step(worker);
}

void worker_holds(struct job_worker *worker, uint32_t node)
{
	const struct job_exchange *exchange = job_exchange_at(worker, node_of(worker, node)->seat);

	worker->job->moved = now_of(worker);
	worker_spends(worker, exchange);
	why_got(worker->job->why, worker->number, exchange->why);
	worker->held++;
	finish(worker, node);
	step(worker);
}

void worker_begin(struct job_worker *worker)
{
	step(worker);
}

void worker_init(struct job_worker *worker, struct job *job, uint32_t number)
{
	struct sim *sim = job->jobs->env.sim;
	const struct program_role *role = &job->program->roles[job->program->role_of[number]];
	uint64_t key = (uint64_t)job->number << 24 | number; /* a job has fewer than 2^24 workers */
	uint64_t timed = 0;

	*worker = (struct job_worker){ .job = job, .number = number };
	worker->busy_since = worker->exchange_since = SIM_TIME_MAX;
	cursor_init(&worker->cursor, role, (uint32_t)job->iterations);
	rng_init(&worker->rng, sim->seed, "worker", key);
	worker->tasks = xcalloc(role->stream_count, sizeof(*worker->tasks));
	for (size_t s = 0; s < role->stream_count; s++) {
		if (!role->streams[s].timed)
			continue;
		worker->tasks[s].worker = worker;
		timer_open(sim, &worker->tasks[s].timer, SIM_TIMER,
			   timer_key(TIMER_TASK, timed++ << 44 | key), on_task_timer,
			   &worker->tasks[s]);
	}
	sim_name(sim, on_task_timer, "computation of job %j worker %w");
}

void worker_release(struct job_worker *worker)
{
	for (size_t s = 0; worker->tasks && s < worker->cursor.role->stream_count; s++)
		if (worker->cursor.role->streams[s].timed)
			timer_close(worker->job->jobs->env.sim, &worker->tasks[s].timer);
	free(worker->tasks);
	cursor_release(&worker->cursor);
}
