/* A worker: computes, hands gradients over, waits for sums. */
#include "workload/jobs/jobs_parts.h"

#include "base/mem.h"
#include "transport/keys.h"

#include <stdlib.h>

static void begin_iteration(struct job_worker *worker)
{
	const struct job_group_conf *conf = worker->job->conf;
	/* the last ranks are slow */
	bool straggler =
		(int64_t)worker->number >= (int64_t)worker->job->workers - conf->stragglers.workers;

	worker->phase = PHASE_PAUSE;
	worker->layer = worker->layer_first;
	worker->tensor = worker->tensor_first;
	worker->microbatch = 0;
	worker->factor = conf->compute_scale * (straggler ? conf->stragglers.slowdown : 1);
	if (conf->compute_jitter > 0)
		worker->factor *= 1 + conf->compute_jitter * rng_unit(&worker->rng);
	worker->factor /= (double)conf->pipeline.microbatches; /* one micro-batch at a time */
}

bool worker_updated(const struct job_worker *worker, size_t layer)
{
	return worker->held[layer] >=
	       worker->iteration * (int64_t)worker->job->dnn->layers[layer].tensors;
}

/* Uniform from 0 to `max`. */
static sim_time draw(struct job_worker *worker, sim_time max)
{
	return max ? rng_below(&worker->rng, max + 1) : 0;
}

/* Finds the next task's time and whether it computes. Returns false if the worker has to wait. */
static bool next_task(struct job_worker *worker, sim_time *duration, bool *computes)
{
	const struct job *job = worker->job;
	const struct dnn_layer *layer = &job->dnn->layers[worker->layer];

	*computes = worker->phase == PHASE_FORWARD || worker->phase == PHASE_BACKWARD;
	/* a pause, like a forward pass, begins once the layer's sums are here */
	if (worker->phase <= PHASE_FORWARD && !worker_updated(worker, worker->layer))
		return false;
	if (worker_waits(worker))
		return false;
	switch (worker->phase) {
	case PHASE_PAUSE: /* start_jitter, counted from when the iteration could begin */
		*duration = draw(worker, job->conf->start_jitter);
		return true;
	case PHASE_FORWARD:
		*duration = (sim_time)((double)layer->forward * worker->factor);
		return true;
	case PHASE_BACKWARD:
		*duration = (sim_time)((double)layer->backward * worker->factor);
		return true;
	case PHASE_SEND:
		*duration = worker->tensor == worker->tensor_first ||
					    job->conf->send_jitter_per == JITTER_PER_TENSOR
				    ? draw(worker, job->conf->send_jitter)
				    : 0;
		return true;
	case PHASE_OVER:
		return false;
	}
	return false;
}

/* Moves to `layer` of the next micro-batch. Returns false if this was the last of the pass. */
static bool next_microbatch(struct job_worker *worker, size_t layer)
{
	bool more = ++worker->microbatch < worker->job->conf->pipeline.microbatches;

	worker->layer = layer;
	if (!more)
		worker->microbatch = 0;
	return more;
}

/* The backward pass of worker->layer is over: sends the next tensor that is ready, or goes on. */
static void after_backward(struct job_worker *worker)
{
	const struct dnn *dnn = worker->job->dnn;
	bool last = worker->microbatch + 1 == worker->job->conf->pipeline.microbatches;

	if (last && worker->tensor < worker->tensor_end &&
	    dnn->tensors[worker->tensor].layer >= worker->layer) {
		worker->phase = PHASE_SEND;
	} else if (worker->layer > worker->layer_first) {
		worker->phase = PHASE_BACKWARD;
		worker->layer--;
	} else if (next_microbatch(worker, worker->layer_end - 1)) {
		worker->phase = PHASE_BACKWARD;
	} else if (++worker->iteration < worker->job->iterations) {
		begin_iteration(worker);
	} else {
		worker->phase = PHASE_OVER;
	}
}

void worker_hint(struct job_worker *worker, uint64_t tensor)
{
	const struct job *job = worker->job;
	const struct dnn *dnn = job->dnn;
	size_t place = (size_t)(tensor % dnn->tensor_count);
	double scale = job->conf->compute_scale, left = 0;
	struct collective_hint hint = {
		.layer = (uint32_t)dnn->tensors[place].layer + 1, /* hints count layers from 1 */
		.layers = (uint32_t)dnn->layer_count,
		.iteration_bytes = dnn->gradient_total,
		.compute = (sim_time)((double)dnn->compute_total * scale),
		.iterations_left = (uint64_t)job->iterations - 1 - tensor / dnn->tensor_count,
		.attained = job->jobs->env.sim->now - job->start,
		.last_compute = worker->last_busy,
		.last_exchange = worker->last_exchange,
	};

	if (!job->instance || !job_scheme(job)->hint)
		return;
	for (size_t t = place; t < dnn->tensor_count; t++)
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

/* Hands the next tensor over. First moves the worker's state on (after_backward()), because the sum
 * may be back before job_reduce() returns. */
static void send_tensor(struct job_worker *worker)
{
	struct job *job = worker->job;
	const struct dnn_tensor *tensor = &job->dnn->tensors[worker->tensor];

	worker_hint(worker, (uint64_t)worker->iteration * job->dnn->tensor_count + worker->tensor);
	why_contributes(job->why, worker->number);
	if (worker->tensor++ == worker->tensor_first) {
		worker->exchange_since = job->jobs->env.sim->now;
		job_sends(job, worker->iteration);
	}
	after_backward(worker);
	if (!job_reduce(worker, tensor->size))
		worker_holds(worker, tensor->layer);
}

/* The worker's task is done: moves its state on to the next one. */
static void task_done(struct job_worker *worker)
{
	switch (worker->phase) {
	case PHASE_PAUSE:
		worker->phase = PHASE_FORWARD;
		return;
	case PHASE_FORWARD:
		worker_computed(worker);
		if (worker->layer + 1 < worker->layer_end) {
			worker->layer++;
			return;
		}
		if (next_microbatch(worker, worker->layer_first))
			return;
		worker->layer = worker->layer_end - 1;
		worker->phase = PHASE_BACKWARD;
		worker->job->forward_end[KEPT(worker->iteration)] = worker->job->jobs->env.sim->now;
		return;
	case PHASE_BACKWARD:
		worker_computed(worker);
		after_backward(worker);
		return;
	case PHASE_SEND:
		send_tensor(worker);
		return;
	case PHASE_OVER:
		return;
	}
}

/* Goes from task to task until one takes time or the worker has to wait. */
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
			why_task(worker->job->why, worker->number, computes, false);
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
	why_task(worker->job->why, worker->number, false, true);
	if (worker->busy_since != SIM_TIME_MAX)
		worker->busy += sim->now - worker->busy_since;
	worker->busy_since = SIM_TIME_MAX;
	worker->timed = false;
	worker->job->moved = sim->now;
	worker->stepping = true; /* a sum that comes back at once waits for the step() below */
	task_done(worker);
	worker->stepping = false;
	step(worker);
}

/* The worker holds the sum of a tensor of this layer, perhaps the last one of the iteration.
 * Workers are less than an iteration apart: every sum needs all of them or, in a pipeline, all of
 * the stage, and stages wait for each other's activations. */
void worker_holds(struct job_worker *worker, size_t layer)
{
	struct job *job = worker->job;
	size_t tensors = worker->tensor_end - worker->tensor_first;

	why_holds(job->why, worker->number, worker->tensors_held + 1 == tensors);
	job->moved = job->jobs->env.sim->now;
	worker->held[layer]++;
	if (++worker->tensors_held == tensors) {
		worker->tensors_held = 0;
		worker->last_exchange = job->jobs->env.sim->now - worker->exchange_since;
		worker->last_busy = worker->busy - worker->busy_mark;
		worker->busy_mark = worker->busy;
		worker->exchange += worker->last_exchange;
		worker->exchange_since = SIM_TIME_MAX;
		if (++job->done_workers == job->workers) {
			job->done_workers = 0;
			job_iteration_over(job);
			job->jobs->report.iterations_finished++;
			if (++job->iterations_done == job->iterations)
				timer_set(job->jobs->env.sim, &job->timer, job->jobs->env.sim->now);
			job_estimate(job);
		}
	}
	step(worker);
}

void worker_goes_on(struct job_worker *worker)
{
	worker->job->moved = worker->job->jobs->env.sim->now;
	step(worker);
}

void worker_begin(struct job_worker *worker)
{
	begin_iteration(worker);
	step(worker);
}

/* Finds the layers and tensors of the worker's stage of a pipeline. */
static void find_stage(struct job_worker *worker)
{
	const struct job *job = worker->job;
	size_t count = job->dnn->layer_count, stages = (size_t)job->conf->pipeline.stages;
	size_t stage = worker->number / (job->workers / stages);

	worker->layer_first = stage * count / stages;
	worker->layer_end = (stage + 1) * count / stages;
	worker->tensor_end = job->dnn->tensor_count;
	if (stages > 1) { /* each layer is one tensor, last layer first */
		worker->tensor_first = count - worker->layer_end;
		worker->tensor_end = count - worker->layer_first;
	}
	worker->updated = worker->tensor_first;
}

void worker_init(struct job_worker *worker, struct job *job, uint32_t number)
{
	struct sim *sim = job->jobs->env.sim;
	uint64_t key = (uint64_t)job->number << 24 | number; /* a job has fewer than 2^24 workers */

	*worker = (struct job_worker){ .job = job, .number = number };
	worker->busy_since = worker->exchange_since = SIM_TIME_MAX;
	find_stage(worker);
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
	free(worker->reduced);
}
