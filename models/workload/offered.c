#include "workload/offered.h"

#include "workload/jobs/jobs_parts.h"

/* Payload bytes for each byte of gradient: by a ring, and by the scheme of the group. */
static struct job_bytes of_workers(const struct job_group_conf *conf, uint32_t workers)
{
	const struct collective_ops *ops = scheme_ops((unsigned)conf->all_reduce);
	bool beside = conf->servers.given && conf->servers.placement == SERVERS_WORKERS;

	if (workers < 2) /* nothing to exchange */
		return (struct job_bytes){ 0 };
	return (struct job_bytes){ .ring = 2 * ((double)workers - 1),
				   .own = ops->injected ? ops->injected(workers, beside)
							: (double)workers };
}

struct job_bytes job_group_bytes(const struct job_group_conf *conf)
{
	double gradients = job_models_means(conf->models).gradient * (double)conf->iterations;
	struct workers_span span = workers_span(&conf->workers);
	struct job_bytes sum = { 0 };

	for (int64_t n = span.min; n <= span.max; n++) {
		struct job_bytes one = of_workers(conf, (uint32_t)n);

		sum.ring += one.ring;
		sum.own += one.own;
	}
	sum.ring *= gradients / (double)(span.max - span.min + 1);
	sum.own *= gradients / (double)(span.max - span.min + 1);
	return sum;
}

double job_group_gap_s(const struct job_group_conf *conf, uint32_t hosts, bps link)
{
	if (conf->arrival.form == JOBS_LOAD)
		return 8 * job_group_bytes(conf).ring / (conf->arrival.load * hosts * (double)link);
	return conf->arrival.form == JOBS_POISSON ? seconds_of(conf->arrival.mean_gap) : 0;
}
