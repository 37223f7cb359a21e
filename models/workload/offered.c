#include "workload/offered.h"

#include "workload/jobs/jobs_parts.h"

/* How many edges of a ring leave machines, in the order of members: as many as the group has
 * machines, unless it is on one. */
static uint32_t edges_out(const struct program_group *group, uint32_t gpus)
{
	uint32_t leave = 0;

	for (uint32_t m = 0; m < group->count; m++)
		leave += group->ranks[m] / gpus != group->ranks[(m + 1) % group->count] / gpus;
	return leave;
}

double job_group_sent(const struct job_group_conf *conf, const struct program_group *group,
		      uint32_t gpus)
{
	const struct collective_ops *ops =
		job_group_ops(job_group_scheme_of(conf, group), group->op);
	double times = group->count; /* each sends all that it has to switches */
	uint32_t out = edges_out(group, gpus);

	if (group->count == 1 || !out)
		return 0;
	if (ops->traits.ranks_max && gpus > 1 && group->count % out == 0)
		return ops->injected(out, group->count / out, true) * (double)group->bytes;
	if (group->op == OP_ALL_TO_ALL) /* parts for members on other machines */
		return (group->count - (double)group->count / out) * (double)group->bytes;
	if (group->op == OP_MESSAGE)
		times = 1;
	else if (ops->injected)
		times = ops->injected(group->count, 1, true);
	return times * out / group->count * (double)group->bytes;
}

/* Payload bytes that all ranks of a program send in an iteration. */
static double program_bytes(const struct job_group_conf *conf, uint32_t gpus)
{
	double sum = 0;

	for (size_t g = 0; g < conf->program->group_count; g++)
		sum += job_group_sent(conf, &conf->program->groups[g], gpus);
	return sum;
}

double job_group_reduced(const struct job_group_conf *conf, const struct collective_ops *ops,
			 uint32_t workers, uint32_t gpus)
{
	bool beside = conf->servers.given && conf->servers.placement == SERVERS_WORKERS;

	if (conf->program) /* job_group_passed_on() counts them */
		return 0;
	if (conf->pipeline.stages > 1) /* each stage has a ring over its replicas */
		return 2 * ((double)workers / (double)conf->pipeline.stages - 1);
	if (gpus > 1 && conf->inside == INSIDE_RING && ops->traits.ranks_max)
		return ops->injected(workers, gpus, beside);
	if (conf->sharding != SHARDING_NONE && scheme_ops(job_group_reduces(conf))->reduce_scatter)
		ops = scheme_ops(job_group_reduces(conf))->reduce_scatter;
	return ops->injected ? ops->injected(workers, 1, beside) : workers;
}

double job_group_gathers_each(const struct job_group_conf *conf)
{
	if (conf->pipeline.stages > 1 || conf->sharding == SHARDING_NONE)
		return 0; /* of a pipeline, job_group_reduced() counts them */
	return conf->sharding == SHARDING_FULL ? 2 : 1;
}

double job_group_passed_on(const struct job_group_conf *conf, double workers, uint32_t gpus)
{
	const struct pipeline_conf *pipeline = &conf->pipeline;

	if (conf->program)
		return program_bytes(conf, gpus);
	/* each GPU sends; tokens for others of its machine stay inside */
	return (workers - 1) * gpus * 4 * job_models_means(conf->models).tokens +
	       workers * gpus * ((double)pipeline->chunks - 1 / (double)pipeline->stages) * 2 *
		       (double)pipeline->microbatches * (double)pipeline->activations *
		       conf->gradient_scale;
}

/* Payload bytes of a job that all-reduces by a ring. */
static double ring_bytes(const struct job_group_conf *conf)
{
	double gradients = job_models_means(conf->models).gradient * (double)conf->iterations,
	       sum = 0;
	struct workers_span span = workers_span(&conf->workers);

	for (int64_t n = span.min; n <= span.max; n++)
		sum += 2 * ((double)n - 1);
	return sum * (gradients / (double)(span.max - span.min + 1));
}

/* Payload bytes of an iteration of `workers` (>= 2), by the schemes of the group. */
static double own_bytes(const struct job_group_conf *conf, uint32_t workers, uint32_t gpus,
			const void *reduces, const struct topology_conf *topology)
{
	const struct job_models *models = conf->models;
	double others = workers - 1.0, sum = job_group_passed_on(conf, workers, gpus);

	if (scheme_ops(job_group_gathers(conf))->payload) /* switches copy shards */
		others = 1;
	for (size_t m = 0; m < models->count; m++) {
		bytes gradient = models->dnns[m]->gradient_total;
		const struct collective_ops *ops =
			scheme_running(job_group_reduces(conf), reduces, topology, gradient);

		sum += weights_fraction(&models->weights, m) * (double)gradient *
		       (job_group_reduced(conf, ops, workers, gpus) +
			job_group_gathers_each(conf) * others);
	}
	return sum;
}

struct job_bytes job_group_bytes(const struct job_group_conf *conf, uint32_t gpus,
				 const void *reduces, const struct topology_conf *topology)
{
	struct workers_span span = workers_span(&conf->workers);
	double iterations = (double)conf->iterations, own = 0;

	for (int64_t n = span.min; n <= span.max; n++)
		if (n > 1) /* one has nothing to exchange */
			own += own_bytes(conf, (uint32_t)n, gpus, reduces, topology);
	return (struct job_bytes){
		.ring = ring_bytes(conf),
		.own = own * (iterations / (double)(span.max - span.min + 1)),
	};
}

double job_group_compute_s(const struct job_group_conf *conf)
{
	double stages = (double)conf->pipeline.stages, parts = (double)conf->pipeline.microbatches;

	/* GPipe section 2.3; chunks divide the bubble (program_pipeline.h) */
	return job_models_means(conf->models).compute_s * conf->compute_scale / stages *
	       (1 + (stages - 1) / (parts * (double)conf->pipeline.chunks));
}

double job_group_gap_s(const struct job_group_conf *conf, uint32_t hosts, bps link)
{
	if (conf->arrival.form == JOBS_LOAD)
		return 8 * ring_bytes(conf) / (conf->arrival.load * hosts * (double)link);
	return conf->arrival.form == JOBS_POISSON ? seconds_of(conf->arrival.mean_gap) : 0;
}
