/* What sweeps ask about a scenario without running it: which run is it (hash), and
 * how long will it take (cost). */
#include "scenario.h"

#include "base/hash.h"
#include "base/mem.h"
#include "workload/data_file.h"
#include "workload/dnn.h"
#include "workload/flows_parts.h"
#include "workload/jobs_parts.h"

#include <stdlib.h>
#include <string.h>

/* --- hash --- */

/* A file that the check could read a moment ago; gone, it counts as empty. */
static uint64_t hash_file(enum data_kind kind, const char *name, const char *scenario)
{
	uint64_t hash = 0;
	char *error = NULL, *path = data_file_find(kind, name, scenario, &error);
	FILE *file = path ? fopen(path, "rb") : NULL;
	char block[4096];
	size_t got;

	while (file && (got = fread(block, 1, sizeof(block), file)) > 0)
		hash = hash_pair(hash, hash_bytes(block, got));
	if (file)
		fclose(file);
	free(path);
	free(error);
	return hash;
}

/* A network by what a job sees of it: its tables hold others, too. */
static uint64_t hash_model(const struct job_group_conf *group)
{
	char *error = NULL;
	struct dnn *dnn = dnn_load(group->model.name, group->gpu, &error);
	uint64_t hash = 0;

	free(error);
	if (!dnn)
		return 0;
	for (size_t i = 0; i < dnn->layer_count; i++) {
		const struct dnn_layer *layer = &dnn->layers[i];

		hash = hash_pair(hash, hash_string(layer->name));
		hash = hash_pair(hash, layer->gradient);
		hash = hash_pair(hash, layer->forward);
		hash = hash_pair(hash, layer->backward);
	}
	dnn_free(dnn);
	return hash;
}

uint64_t scenario_hash(const struct scenario *scenario, const struct conf_doc *doc,
		       const char *version)
{
	const char *path = conf_path(doc);
	uint64_t hash = hash_pair(conf_resolved_hash(doc), hash_string(version));

	for (size_t i = 0; i < scenario->jobs.count; i++) {
		const struct job_group_conf *group = &scenario_jobs(scenario)[i];

		if (group->model.form == MODEL_NAMED)
			hash = hash_pair(hash, hash_model(group));
		if (group->arrival.form == JOBS_TRACE)
			hash = hash_pair(hash, hash_file(DATA_JOBS, group->arrival.trace, path));
	}
	for (size_t i = 0; i < scenario->flows.count; i++) {
		const struct flow_group_conf *group = &scenario_flows(scenario)[i];

		if (group->size.form == SIZE_CDF)
			hash = hash_pair(hash, hash_file(DATA_CDF, group->size.cdf, path));
		if (group->arrival.form == ARRIVE_TRACE)
			hash = hash_pair(hash, hash_file(DATA_ANY, group->arrival.trace, path));
	}
	return hash;
}

/* --- cost --- */

/* What all estimates use. */
struct network_size {
	double hosts, rate_bps, segment, hops;
};

/* From a host up to the highest tier and down again. */
static double hops_of(const struct topology_conf *conf)
{
	const struct topology_ops *ops = topology_kind((size_t)conf->kind);
	uint32_t hosts, switches;
	uint16_t *ports;
	uint8_t *tiers, highest = 1;

	ops->count(conf, &hosts, &switches);
	ports = xcalloc(switches, sizeof(*ports));
	tiers = xcalloc(switches, sizeof(*tiers));
	ops->shape(conf, ports, tiers);
	for (uint32_t i = 0; i < switches; i++)
		highest = tiers[i] > highest ? tiers[i] : highest;
	free(ports);
	free(tiers);
	return 2 * highest;
}

/* Data and the ACKs of it. */
static double hops_of_bytes(const struct network_size *net, double size)
{
	return 2 * net->hops * (1 + size / net->segment);
}

struct job_size {
	double gradient_bytes, compute_s;
};

static struct job_size size_of_job(const struct job_group_conf *group)
{
	const struct layer_conf *layers = group->model.layers.items;
	struct job_size size = { 0 };
	struct dnn *dnn = NULL;
	char *error = NULL;

	if (group->model.form == MODEL_NAMED)
		dnn = dnn_load(group->model.name, group->gpu, &error);
	for (size_t i = 0; group->model.form == MODEL_IN_PLACE && i < group->model.layers.count;
	     i++) {
		size.gradient_bytes += (double)layers[i].gradient;
		size.compute_s += seconds_of(layers[i].forward) + seconds_of(layers[i].backward);
	}
	if (dnn) {
		size.gradient_bytes = (double)dnn->gradient_total;
		size.compute_s = seconds_of(dnn->compute_total);
	}
	size.gradient_bytes *= group->gradient_scale;
	size.compute_s *= group->compute_scale;
	dnn_free(dnn);
	free(error);
	return size;
}

static double workers_of(const struct workers_conf *workers)
{
	switch ((enum workers_form)workers->form) {
	case WORKERS_NUMBER:
		return (double)workers->number;
	case WORKERS_RANGE:
		return (double)(workers->min + workers->max) / 2;
	case WORKERS_HOSTS:
		return (double)workers->hosts.count;
	}
	return 0;
}

/* Adds packet-hops; *longest becomes the time that a job of the group takes at least. */
static double cost_of_jobs(const struct network_size *net, const struct job_group_conf *group,
			   const char *path, double *longest)
{
	struct job_size size = size_of_job(group);
	double iterations = 0, exchanges = 0, one_s;
	struct job_trace trace;
	char *error = NULL;

	one_s = size.compute_s + 2 * 8 * size.gradient_bytes / net->rate_bps;
	if (group->arrival.form != JOBS_TRACE) {
		iterations = (double)group->iterations;
		exchanges = (double)group->count * iterations * workers_of(&group->workers);
	} else if (job_group_trace(group, path, (uint32_t)net->hosts, &trace, &error)) {
		for (size_t i = 0; i < trace.count; i++) {
			iterations = group->iterations_form == ITERATIONS_RULE && size.compute_s > 0
					     ? seconds_of(trace.jobs[i].duration) /
						       group->arrival.speedup / size.compute_s
					     : (double)group->iterations;
			exchanges += iterations * (double)job_trace_workers(group, &trace.jobs[i]);
		}
		job_trace_release(&trace);
	}
	free(error);
	if (one_s * iterations > *longest)
		*longest = one_s * iterations;
	return exchanges * hops_of_bytes(net, 2 * size.gradient_bytes);
}

static double mean_size(const struct flow_group_conf *group, const char *path)
{
	struct size_cdf *cdf = NULL;
	char *error = NULL;
	double mean = (double)group->size.fixed;

	if (group->size.form == SIZE_CDF && flow_group_cdf(group, path, &cdf, &error)) {
		mean = size_cdf_mean(cdf);
		size_cdf_free(cdf);
	}
	free(error);
	return mean;
}

/* `seconds`: how long flows without end go on. */
static double cost_of_flows(const struct network_size *net, const struct flow_group_conf *group,
			    const char *path, double seconds)
{
	double cost = 0, size, count = (double)group->count;
	struct flow_trace trace;
	char *error = NULL;

	if (group->arrival.form == ARRIVE_TRACE) {
		if (flow_group_trace(group, path, (uint32_t)net->hosts, &trace, &error)) {
			for (size_t i = 0; i < trace.count; i++)
				cost += hops_of_bytes(net, (double)trace.flows[i].size);
			flow_trace_release(&trace);
		}
		free(error);
		return cost;
	}
	size = mean_size(group, path);
	if (group->arrival.form == ARRIVE_POISSON && !group->count)
		count = seconds * group->arrival.load * net->rate_bps * net->hosts / (8 * size);
	else if (!group->count)
		count = group->pairs.form == PAIRS_LIST ? (double)group->pairs.list.count
							: net->hosts;
	return count * hops_of_bytes(net, size);
}

double scenario_cost(const struct scenario *scenario, const struct conf_doc *doc)
{
	const struct network_size net = {
		.hosts = topology_hosts(&scenario->topology),
		.rate_bps = (double)scenario->topology.link.rate,
		.segment = (double)scenario->tcp.mss,
		.hops = hops_of(&scenario->topology),
	};
	double cost = 0, longest = 0, end = seconds_of(scenario->stop.after);

	for (size_t i = 0; i < scenario->jobs.count; i++)
		cost += cost_of_jobs(&net, &scenario_jobs(scenario)[i], conf_path(doc), &longest);
	if (longest > end)
		longest = end;
	for (size_t i = 0; i < scenario->flows.count; i++) {
		const struct flow_group_conf *group = &scenario_flows(scenario)[i];
		bool with_jobs = scenario->jobs.count && (scenario->stop.when == STOP_JOBS_DONE ||
							  group->stop == FLOWS_STOP_WITH_JOBS);

		cost += cost_of_flows(&net, group, conf_path(doc), with_jobs ? longest : end);
	}
	return cost;
}
