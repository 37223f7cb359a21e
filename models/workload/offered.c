#include "workload/offered.h"

#include "workload/jobs/jobs_parts.h"

double job_group_reduced(const struct job_group_conf *conf, const struct collective_ops *ops,
			 uint32_t workers, uint32_t gpus)
{
	bool beside = conf->servers.given && conf->servers.placement == SERVERS_WORKERS;

	if (conf->pipeline.stages > 1) /* each stage has a ring over its replicas */
		return 2 * ((double)workers / (double)conf->pipeline.stages - 1);
	if (gpus > 1 && conf->inside == INSIDE_RING && ops->leaving)
		return ops->leaving(workers, gpus);
	if (conf->sharding != SHARDING_NONE && ops->reduce_scatter)
		ops = ops->reduce_scatter;
	return ops->injected ? ops->injected(workers, beside) : workers;
}

double job_group_gathers_each(const struct job_group_conf *conf)
{
	if (conf->pipeline.stages > 1 || conf->sharding == SHARDING_NONE)
		return 0; /* of a pipeline, job_group_reduced() counts them */
	return conf->sharding == SHARDING_FULL ? 2 : 1;
}

double job_group_passed_on(const struct job_group_conf *conf, double workers)
{
	const struct pipeline_conf *pipeline = &conf->pipeline;

	return (workers - 1) * 4 * job_models_means(conf->models).tokens +
	       workers * (1 - 1 / (double)pipeline->stages) * 2 * (double)pipeline->microbatches *
		       (double)pipeline->activations * conf->gradient_scale;
}

/* Payload bytes of an iteration: by a ring for each byte of gradient, and by the schemes of the
 * group. */
static struct job_bytes of_workers(const struct job_group_conf *conf, uint32_t workers,
				   uint32_t gpus)
{
	const struct collective_ops *ops = scheme_ops(job_group_reduces(conf));
	double gradient = job_models_means(conf->models).gradient, others = workers - 1.0;

	if (workers < 2) /* nothing to exchange */
		return (struct job_bytes){ 0 };
	if (scheme_ops(job_group_gathers(conf))->payload) /* switches copy shards */
		others = 1;
	return (struct job_bytes){
		.ring = 2 * ((double)workers - 1),
		.own = (job_group_reduced(conf, ops, workers, gpus) +
			job_group_gathers_each(conf) * others) *
			       gradient +
		       job_group_passed_on(conf, workers),
	};
}

struct job_bytes job_group_bytes(const struct job_group_conf *conf, uint32_t gpus)
{
	double iterations = (double)conf->iterations;
	double gradients = job_models_means(conf->models).gradient * iterations;
	struct workers_span span = workers_span(&conf->workers);
	struct job_bytes sum = { 0 };

	for (int64_t n = span.min; n <= span.max; n++) {
		struct job_bytes one = of_workers(conf, (uint32_t)n, gpus);

		sum.ring += one.ring;
		sum.own += one.own;
	}
	sum.ring *= gradients / (double)(span.max - span.min + 1);
	sum.own *= iterations / (double)(span.max - span.min + 1);
	return sum;
}

double job_group_compute_s(const struct job_group_conf *conf)
{
	double stages = (double)conf->pipeline.stages, parts = (double)conf->pipeline.microbatches;

	return job_models_means(conf->models).compute_s * conf->compute_scale / stages *
	       (parts + stages - 1) / parts; /* GPipe section 2.3 */
}

double job_group_gap_s(const struct job_group_conf *conf, uint32_t hosts, bps link)
{
	if (conf->arrival.form == JOBS_LOAD)
		return 8 * job_group_bytes(conf, 1).ring /
		       (conf->arrival.load * hosts * (double)link);
	return conf->arrival.form == JOBS_POISSON ? seconds_of(conf->arrival.mean_gap) : 0;
}
