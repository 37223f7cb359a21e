/* A worker: computes, hands gradients over, waits for sums. */
#include "workload/jobs/jobs_parts.h"

#include "base/mem.h"
#include "transport/keys.h"

#include <stdlib.h>

static void begin_iteration(struct job_worker *worker)
{
	const struct job_group_conf *conf = worker->job->conf;
	bool straggler =
		(int64_t)worker->number >= (int64_t)worker->job->workers - conf->stragglers.workers;

	worker->phase = PHASE_PAUSE;
	worker->layer = worker->tensor = 0;
	worker->factor = conf->compute_scale * (straggler ? conf->stragglers.slowdown : 1);
	if (conf->compute_jitter > 0)
		worker->factor *= 1 + conf->compute_jitter * rng_unit(&worker->rng);
}

/* The sum of a layer of the iteration before is here. */
static bool holds(const struct job_worker *worker, size_t layer)
{
	return worker->held[layer] >=
	       worker->iteration * (int64_t)worker->job->dnn->layers[layer].tensors;
}

static sim_time draw(struct job_worker *worker, sim_time most)
{
	return most ? rng_below(&worker->rng, most + 1) : 0;
}

/* The duration of what the worker does next; false when it has to wait. */
static bool next_task(struct job_worker *worker, sim_time *duration, bool *computes)
{
	const struct job *job = worker->job;
	const struct dnn_layer *layer = &job->dnn->layers[worker->layer];

	*computes = worker->phase == PHASE_FORWARD || worker->phase == PHASE_BACKWARD;
	switch (worker->phase) {
	case PHASE_PAUSE: /* begins when the iteration could */
		if (!holds(worker, 0))
			return false;
		*duration = draw(worker, job->conf->start_jitter);
		return true;
	case PHASE_FORWARD:
		*duration = (sim_time)((double)layer->forward * worker->factor);
		return holds(worker, worker->layer);
	case PHASE_BACKWARD:
		*duration = (sim_time)((double)layer->backward * worker->factor);
		return true;
	case PHASE_SEND:
		*duration = worker->tensor == 0 || job->conf->send_jitter_per == JITTER_PER_TENSOR
				    ? draw(worker, job->conf->send_jitter)
				    : 0;
		return true;
	case PHASE_OVER:
		return false;
	}
	return false;
}

/* The backward pass has come down to worker->layer: more tensors to send, or the next layer. */
static void after_backward(struct job_worker *worker)
{
	const struct dnn *dnn = worker->job->dnn;

	if (worker->tensor < dnn->tensor_count &&
	    dnn->tensors[worker->tensor].layer >= worker->layer) {
		worker->phase = PHASE_SEND;
	} else if (worker->layer > 0) {
		worker->phase = PHASE_BACKWARD;
		worker->layer--;
	} else if (++worker->iteration < worker->job->iterations) {
		begin_iteration(worker);
	} else {
		worker->phase = PHASE_OVER;
	}
}

/* What the scheme may know about the next tensor, before it gets it. */
static void give_hint(const struct job_worker *worker)
{
	const struct job *job = worker->job;
	const struct dnn *dnn = job->dnn;
	double scale = job->conf->compute_scale, left = 0;
	struct collective_hint hint = {
		.layer = (uint32_t)dnn->tensors[worker->tensor].layer + 1,
		.layers = (uint32_t)dnn->layer_count,
		.iteration_bytes = dnn->gradient_total,
		.compute = (sim_time)((double)dnn->compute_total * scale),
		.iterations_left = (uint64_t)(job->iterations - worker->iteration - 1),
		.attained = job->jobs->env.sim->now - job->start,
		.last_compute = worker->last_busy,
		.last_exchange = worker->last_exchange,
	};

	for (size_t t = worker->tensor; t < dnn->tensor_count; t++)
		hint.left += dnn->tensors[t].size;
	for (size_t l = 0; l < worker->layer; l++)
		left += (double)dnn->layers[l].backward;
	for (size_t l = 0; l < dnn->layer_count; l++)
		left += (double)dnn->layers[l].forward;
	hint.compute_left = (sim_time)(left * scale);
	if (job->fusion)
		fusion_hint(job->fusion, worker->number, &hint);
	else
		job_scheme(job)->hint(job->instance, worker->number, &hint);
}

/* Hands the next tensor over. The worker's state is that of after it, for a sum
 * may be back before this returns. */
static void send_tensor(struct job_worker *worker)
{
	struct job *job = worker->job;
	const struct dnn_tensor *tensor = &job->dnn->tensors[worker->tensor];

	if (job->instance && job_scheme(job)->hint)
		give_hint(worker);
	if (job_why(job))
		why_contributes(job_why(job), job->number, worker->number);
	if (worker->tensor++ == 0) {
		worker->exchange_since = job->jobs->env.sim->now;
		job_sends(job, worker->iteration);
	}
	after_backward(worker);
	if (job->fusion)
		fusion_contribute(job->fusion, worker->number, tensor->size);
	else if (job->instance)
		job_scheme(job)->contribute(job->instance, worker->number, tensor->size);
	else
		worker_holds(worker, tensor->layer); /* alone: its own gradient is the sum */
}

/* What follows when the task is done. */
static void task_done(struct job_worker *worker)
{
	switch (worker->phase) {
	case PHASE_PAUSE:
		worker->phase = PHASE_FORWARD;
		return;
	case PHASE_FORWARD:
		if (worker->layer + 1 < worker->job->dnn->layer_count) {
			worker->layer++;
			return;
		}
		worker->phase = PHASE_BACKWARD;
		job_forward_over(worker->job, worker->iteration);
		return;
	case PHASE_BACKWARD:
		after_backward(worker);
		return;
	case PHASE_SEND:
		send_tensor(worker);
		return;
	case PHASE_OVER:
		return;
	}
}

/* Goes on until the worker computes or has to wait for a sum. */
static void step(struct job_worker *worker)
{
	struct sim *sim = worker->job->jobs->env.sim;
	sim_time duration;
	bool computes;

	if (worker->stepping || worker->timed)
		return;
	worker->stepping = true;
	while (next_task(worker, &duration, &computes)) {
		if (duration) {
			worker->timed = true;
			worker->busy_since = computes ? sim->now : SIM_TIME_MAX;
			timer_set(sim, &worker->timer, sim->now + duration);
			if (job_why(worker->job))
				why_task(job_why(worker->job), worker->job->number, worker->number,
					 computes, false);
			break;
		}
		task_done(worker);
	}
	worker->stepping = false;
}

static void on_task_timer(struct sim *sim, uint32_t entity, void *owner)
{
	struct job_worker *worker = owner;

	(void)entity;
	if (job_why(worker->job))
		why_task(job_why(worker->job), worker->job->number, worker->number, false, true);
	if (worker->busy_since != SIM_TIME_MAX)
		worker->busy += sim->now - worker->busy_since;
	worker->busy_since = SIM_TIME_MAX;
	worker->timed = false;
	worker->job->moved = sim->now;
	worker->stepping = true; /* results that come with the contribution wait for step() */
	task_done(worker);
	worker->stepping = false;
	step(worker);
}

/* The worker holds the sum of a layer; perhaps of the whole iteration now. A
 * worker is ahead of another by less than an iteration, for every sum needs all. */
void worker_holds(struct job_worker *worker, size_t layer)
{
	struct job *job = worker->job;

	if (job_why(job))
		why_holds(job_why(job), job->number, worker->number,
			  worker->tensors_held + 1 == job->dnn->tensor_count);
	job->moved = job->jobs->env.sim->now;
	worker->held[layer]++;
	if (++worker->tensors_held == job->dnn->tensor_count) {
		worker->tensors_held = 0;
		worker->last_exchange = job->jobs->env.sim->now - worker->exchange_since;
		worker->last_busy = worker->busy - worker->busy_mark;
		worker->busy_mark = worker->busy;
		worker->exchange += worker->last_exchange;
		worker->exchange_since = SIM_TIME_MAX;
		if (++job->done_workers == job->workers) {
			job->done_workers = 0;
			job_iteration_over(job);
			job->jobs->iterations_finished++;
			if (++job->iterations_done == job->iterations)
				timer_set(job->jobs->env.sim, &job->timer, job->jobs->env.sim->now);
		}
	}
	step(worker);
}

void worker_begin(struct job_worker *worker)
{
	begin_iteration(worker);
	step(worker);
}

void worker_init(struct job_worker *worker, struct job *job, uint32_t number)
{
	struct sim *sim = job->jobs->env.sim;
	uint64_t key = (uint64_t)job->number << 24 | number;

	*worker = (struct job_worker){ .job = job, .number = number };
	worker->busy_since = worker->exchange_since = SIM_TIME_MAX;
	worker->held = xcalloc(job->dnn->layer_count, sizeof(*worker->held));
	rng_init(&worker->rng, sim->seed, "worker", key);
	timer_open(sim, &worker->timer, SIM_TIMER, timer_key(TIMER_TASK, key), on_task_timer,
		   worker);
	sim_name(sim, on_task_timer, "computation of job %j worker %w");
}

void worker_release(struct job_worker *worker)
{
	timer_close(worker->job->jobs->env.sim, &worker->timer);
	free(worker->held);
}
