/* The exchanges of a job besides an all-reduce over all workers, and how workers wait for them. */
#include "workload/jobs/jobs_parts.h"

#include "base/mem.h"
#include "collective/tensors.h"

#include <stdlib.h>

static bool sharded_fully(const struct job *job)
{
	return job->conf->sharding == SHARDING_FULL;
}

/* Hands the worker's next message over to an exchange. */
static void contribute(struct job_exchange *exchange, const struct job_worker *worker, bytes size)
{
	int64_t rank = ((int64_t)worker->number - exchange->first) / exchange->stride;

	if (exchange->restart)
		job_restart_reduce(exchange->restart, (uint32_t)rank, size);
	else
		exchange->ops->contribute(exchange->instance, (uint32_t)rank, size);
}

/* --- gradients --- */

/* The worker has the sum of a tensor and has updated its part of the parameters. All-gathers the
 * parts that are ready, in the order of tensors. */
static void gather_updated(struct job_worker *worker, size_t tensor)
{
	const struct dnn *dnn = worker->job->dnn;

	worker->reduced[tensor] = true;
	while (worker->reduced[worker->updated]) {
		bytes size = dnn->tensors[worker->updated].size;

		worker->reduced[worker->updated++] = false;
		if (worker->updated == worker->tensor_end)
			worker->updated = worker->tensor_first; /* of the next iteration */
		contribute(worker->gather, worker, size);
	}
}

/* The number of a tensor within the iteration. `tensor`: its number in the worker's stream. */
static size_t place_of(const struct job_worker *worker, uint64_t tensor)
{
	return worker->tensor_first +
	       (size_t)(tensor % (worker->tensor_end - worker->tensor_first));
}

void job_reduced(struct job_worker *worker, uint64_t tensor)
{
	size_t place = place_of(worker, tensor);

	if (worker->reduced)
		gather_updated(worker, place);
	else
		worker_holds(worker, worker->job->dnn->tensors[place].layer);
}

bool job_reduce(struct job_worker *worker, bytes size)
{
	struct job *job = worker->job;

	if (job->restart) {
		job_restart_reduce(job->restart, worker->number, size);
		return true;
	}
	if (job->fusion)
		fusion_contribute(job->fusion, worker->number, size);
	else if (job->instance)
		job_scheme(job)->contribute(job->instance, worker->number, size);
	else if (worker->gradients)
		contribute(worker->gradients, worker, size);
	return job->instance || worker->gradients;
}

/* --- what computing a layer needs, and what it sends --- */

/* Takes part in an exchange whose result the next task needs. */
static void ask(struct job_worker *worker, struct job_exchange *exchange, bytes size)
{
	worker->need[exchange->what]++;
	contribute(exchange, worker, size);
}

/* Asks for the parameters of layers. An iteration has 2 all-gathers of parameters for each layer:
 * first all layers forward, then all backward. The layer to compute needs the all-gather number
 * `at` of the iteration, from 0. The worker asks in this order, up to `prefetch` layers ahead but
 * not beyond the iteration, and stops at a layer that gradients have not updated yet. */
static void ask_parameters(struct job_worker *worker, size_t at)
{
	const struct dnn *dnn = worker->job->dnn;
	uint64_t each = 2 * dnn->layer_count, base = (uint64_t)worker->iteration * each;
	uint64_t last = at + (uint64_t)worker->job->conf->prefetch;

	worker->need[EXCHANGE_GATHER] = base + at + 1; /* this one and all before */
	while (worker->gathers <= base + (last < each ? last : each - 1)) {
		uint64_t place = worker->gathers - base;
		size_t layer = place < dnn->layer_count ? place : each - 1 - place;

		if (place < dnn->layer_count && !worker_updated(worker, layer))
			return;
		worker->gathers++;
		contribute(worker->gather, worker, dnn->layers[layer].gradient);
	}
}

/* Sends the tokens of the micro-batch. */
static void ask_tokens(struct job_worker *worker)
{
	bytes size = worker->job->dnn->layers[worker->layer].all_to_all;
	uint32_t number = (uint32_t)worker->microbatch;

	if (worker->tokens && size)
		ask(worker, worker->tokens,
		    tensor_parts(size, number, number + 1,
				 (uint32_t)worker->job->conf->pipeline.microbatches));
}

/* Asks for the parameters of the layer and, at the first layer of a pass through a stage, for the
 * activations of the micro-batch. */
static void ask_inputs(struct job_worker *worker)
{
	bool back = worker->phase == PHASE_BACKWARD;
	size_t count = worker->job->dnn->layer_count;
	size_t edge = back ? worker->layer_end - 1 : worker->layer_first;

	if (worker->gather && sharded_fully(worker->job))
		ask_parameters(worker, back ? 2 * count - 1 - worker->layer : worker->layer);
	if (worker->layer == edge && worker->from[back])
		ask(worker, worker->from[back], worker->job->activations);
}

static bool has_all(const struct job_worker *worker)
{
	for (unsigned i = 0; i < EXCHANGES; i++)
		if (worker->have[i] < worker->need[i])
			return false;
	return true;
}

bool worker_waits(struct job_worker *worker)
{
	bool computes = worker->phase == PHASE_FORWARD || worker->phase == PHASE_BACKWARD;

	if (!worker->job->exchanges)
		return false;
	while (has_all(worker)) { /* it has all that it asked for, so it asks for more */
		if (!computes || worker->asked == 2)
			return false;
		if (worker->asked++ == 0)
			ask_inputs(worker);
		else
			ask_tokens(worker);
	}
	return true;
}

void worker_computed(struct job_worker *worker)
{
	bool back = worker->phase == PHASE_BACKWARD;
	size_t edge = back ? worker->layer_first : worker->layer_end - 1; /* where the pass ends */

	worker->asked = 0;
	if (!worker->job->exchanges)
		return;
	ask_tokens(worker);
	if (worker->layer == edge && worker->to[back])
		contribute(worker->to[back], worker, worker->job->activations);
}

static void on_done(void *owner, uint32_t rank, uint64_t tensor)
{
	struct job_exchange *exchange = owner;
	struct job_worker *worker =
		&exchange->job->worker[exchange->first + rank * exchange->stride];

	if (exchange->restart && !job_restart_holds(exchange->restart, rank, &tensor))
		return;
	switch (exchange->what) {
	case EXCHANGE_GRADIENTS:
		job_reduced(worker, tensor);
		return;
	case EXCHANGE_GATHER:
		if (worker->reduced) {
			worker_holds(worker,
				     worker->job->dnn->tensors[place_of(worker, tensor)].layer);
			return;
		}
		break;
	case EXCHANGE_FORWARD:
	case EXCHANGE_BACKWARD:
		if (rank == 0) /* rank 0 is the sender */
			return;
		break;
	case EXCHANGE_TOKENS:
	case EXCHANGES:
		break;
	}
	worker->have[exchange->what]++;
	worker_goes_on(worker);
}

/* --- the exchanges of a job --- */

bool job_exchange_start(struct job_exchange *exchange, const char **never)
{
	*never = NULL;
	exchange->instance = exchange->ops->start(exchange->scheme, &exchange->spec, never);
	return exchange->instance;
}

void job_exchange_stop(struct job_exchange *exchange)
{
	exchange->ops->stats(exchange->instance, &exchange->job->stats);
	(exchange->ops->abandon ? exchange->ops->abandon
				: exchange->ops->finish)(exchange->instance);
	exchange->instance = NULL;
}

/* Starts an exchange among `ranks` workers: first, first + stride, ... */
static struct job_exchange *add(struct job *job, enum exchange what,
				const struct collective_ops *ops, void *scheme, uint32_t ranks,
				int64_t first, int64_t stride)
{
	struct job_exchange *exchange = &job->exchanges[job->exchange_count++];
	struct collective_job spec = job_spec(job);
	const char *never;

	*exchange = (struct job_exchange){
		.job = job, .what = what, .ops = ops, .first = first, .stride = stride
	};
	exchange->hosts = xcalloc(ranks, sizeof(*exchange->hosts));
	for (uint32_t r = 0; r < ranks; r++)
		exchange->hosts[r] = job->hosts[first + r * stride];
	/* all-to-all has a connection per ordered pair; other exchanges need at most a ring's */
	job->edges += what == EXCHANGE_TOKENS ? ranks * (ranks - 1) : ranks;
	spec.first_edge = EXCHANGE_EDGES_END - job->edges;
	spec.workers = ranks;
	spec.hosts = exchange->hosts;
	spec.first = first;
	spec.stride = stride;
	spec.done = on_done;
	spec.owner = exchange;
	exchange->spec = spec;
	exchange->scheme = scheme;
	job_exchange_start(exchange, &never);
	if (job->jobs->env.topo->detours && (ops->intact || job->conf->restart_delay_given))
		exchange->restart = job_restart_new(job, exchange, ranks);
	/* exchanges take no switch memory, so without failures they start at once */
	SIM_BUG_ON(!exchange->instance && !exchange->restart);
	return exchange;
}

/* Starts the exchanges among the workers of a stage: `each` workers from `first` on. */
static void add_stage(struct job *job, uint32_t first, uint32_t each)
{
	const struct scheme_run *gathers = &job->jobs->schemes[job_group_gathers(job->conf)];
	struct job_exchange *gradients = NULL, *gather = NULL;

	if (!job->instance)
		gradients = add(job, EXCHANGE_GRADIENTS, job_scheme(job),
				job->jobs->schemes[job->conf->all_reduce].self, each, first, 1);
	if (job->conf->sharding != SHARDING_NONE)
		gather = add(job, EXCHANGE_GATHER, gathers->ops->all_gather, gathers->self, each,
			     first, 1);
	for (uint32_t w = first; w < first + each; w++) {
		struct job_worker *worker = &job->worker[w];

		worker->gradients = gradients;
		worker->gather = gather;
		if (gather && !sharded_fully(job))
			worker->reduced = xcalloc(job->dnn->tensor_count, sizeof(*worker->reduced));
	}
}

/* Connects a worker with the worker of the next stage that trains on the same samples. */
static void join(struct job *job, uint32_t w, uint32_t each, void *ring)
{
	struct job_worker *this = &job->worker[w], *next = &job->worker[w + each];

	this->to[0] = next->from[0] =
		add(job, EXCHANGE_FORWARD, &point_to_point_collective, ring, 2, w, each);
	next->to[1] = this->from[1] = add(job, EXCHANGE_BACKWARD, &point_to_point_collective, ring,
					  2, (int64_t)w + each, -(int64_t)each);
}

void job_start_exchanges(struct job *job)
{
	const struct pipeline_conf *pipeline = &job->conf->pipeline;
	uint32_t stages = (uint32_t)pipeline->stages, each = job->workers / stages;
	void *ring = job->jobs->schemes[SCHEME_ring].self;

	if (job->workers == 1 || !job->conf->exchanges)
		return;
	job->activations = (bytes)((double)pipeline->activations * job->conf->gradient_scale + 0.5);
	job->activations += !job->activations; /* 0 becomes 1: no message is empty */
	/* at most: gradients and all-gather per stage, two directions per worker, tokens */
	job->exchanges =
		xcalloc(2 * (size_t)stages + 2 * (size_t)job->workers + 1, sizeof(*job->exchanges));
	for (uint32_t s = 0; s < stages && each > 1; s++)
		add_stage(job, s * each, each);
	for (uint32_t w = 0; w + each < job->workers; w++)
		join(job, w, each, ring);
	if (!dnn_tokens(job->dnn))
		return;
	job->worker[0].tokens =
		add(job, EXCHANGE_TOKENS, &all_to_all_collective, ring, job->workers, 0, 1);
	for (uint32_t w = 1; w < job->workers; w++)
		job->worker[w].tokens = job->worker[0].tokens;
}

void job_exchange_stats(const struct job *job, struct collective_stats *stats)
{
	for (size_t i = 0; i < job->exchange_count; i++)
		if (job->exchanges[i].instance)
			job->exchanges[i].ops->stats(job->exchanges[i].instance, stats);
}

void job_end_exchanges(struct job *job)
{
	for (size_t i = 0; i < job->exchange_count; i++) {
		if (job->exchanges[i].instance)
			job->exchanges[i].ops->finish(job->exchanges[i].instance);
		job_restart_free(job->exchanges[i].restart);
		free(job->exchanges[i].hosts);
	}
	free(job->exchanges);
	job->exchanges = NULL;
	job->exchange_count = 0;
}

void job_exchange_waiting(const struct job *job, FILE *to, size_t limit)
{
	for (size_t i = 0; i < job->exchange_count && limit; i++)
		if (job->exchanges[i].instance)
			limit -= job->exchanges[i].ops->report_waiting(job->exchanges[i].instance,
								       to, 1);
}
