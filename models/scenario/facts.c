/* Facts about a scenario without a run: its hash, whether anything in it is random, its load.
 * cost.c estimates the size of its run. */
#include "scenario/scenario.h"

#include "base/hash.h"
#include "base/input.h"
#include "workload/data_file.h"
#include "workload/flows/flows.h"
#include "workload/flows/sizes.h"
#include "workload/jobs/job_models.h"
#include "workload/jobs/jobs.h"

#include <stdlib.h>
#include <string.h>

/* --- hash --- */

/* scenario_check() has read the file. If the file has vanished since, it counts as empty. */
static uint64_t hash_file(enum data_kind kind, const char *name, const char *scenario)
{
	uint64_t hash = 0;
	char *error = NULL, *path = data_file_find(kind, name, scenario, &error);
	FILE *file = path ? input_open(path, UINT64_MAX) : NULL;
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

uint64_t scenario_hash(const struct scenario *scenario, const struct conf_doc *doc,
		       const char *version)
{
	const char *path = conf_path(doc);
	const struct graph_source *graph = &scenario->topology.graph_source;
	uint64_t hash = hash_pair(conf_resolved_hash(doc), hash_string(version));

	if (graph->given && graph->form == GRAPH_FILE)
		hash = hash_pair(hash, hash_file(DATA_ANY, graph->file, path));
	for (size_t i = 0; i < scenario->jobs.count; i++) {
		const struct job_group_conf *group = &scenario_jobs(scenario)[i];

		for (size_t m = 0; m < group->models->count; m++)
			if (group->model.form != MODEL_IN_PLACE) /* else in the document's hash */
				hash = hash_pair(hash, group->models->dnns[m]->hash);
		if (group->arrival.form == JOBS_TRACE)
			hash = hash_pair(hash, hash_file(DATA_JOBS, group->arrival.trace, path));
	}
	for (size_t i = 0; i < scenario->flows.count; i++) {
		const struct flow_group_conf *group = &scenario_flows(scenario)[i];

		for (size_t t = 0; t < size_conf_tables(&group->size); t++)
			hash = hash_pair(
				hash, hash_file(DATA_CDF, size_conf_table(&group->size, t), path));
		if (group->arrival.form == ARRIVE_TRACE)
			hash = hash_pair(hash, hash_file(DATA_ANY, group->arrival.trace, path));
	}
	return hash;
}

/* --- randomness --- */

static bool job_group_draws(const struct job_group_conf *group)
{
	return job_group_poisson(group) || group->arrival.spread ||
	       group->workers.form == WORKERS_RANGE || group->model.form == MODEL_MIX ||
	       group->placement == PLACEMENT_RANDOM || group->compute_jitter > 0 ||
	       group->start_jitter || group->send_jitter ||
	       scheme_ops(job_group_reduces(group))->traits.first_come; /* draws aggregators */
}

static bool flow_group_draws(const struct flow_group_conf *group)
{
	return group->arrival.form == ARRIVE_POISSON ||
	       (group->arrival.form == ARRIVE_AT &&
		(group->size.form == SIZE_CDF || group->size.form == SIZE_MIX ||
		 group->pairs.form != PAIRS_LIST));
}

static bool network_draws(const struct topology_conf *topology)
{
	return topology_loses(topology) || topology->host.jitter || topology_nic_jitter(topology) ||
	       topology->switches.ecn.form == ECN_RAMP || topology->host.ecn.form == ECN_RAMP ||
	       topology_longest(topology) > 1; /* several switches: paths and roots are drawn */
}

/* Whether a scheme draws. Asks those, too, that no job asks for: any job may fall back to the ring,
 * which may draw. */
static bool schemes_draw(const struct scenario *scenario)
{
	for (unsigned s = 0; scheme_ops(s); s++)
		if (scheme_ops(s)->draws && scheme_ops(s)->draws(scenario->schemes[s]))
			return true;
	return false;
}

static bool failures_draw(const struct conf_list *events)
{
	for (size_t i = 0; i < events->count; i++)
		if (((const struct failure_conf *)events->items)[i].mtbf)
			return true;
	return false;
}

bool scenario_draws(const struct scenario *scenario)
{
	if (failures_draw(&scenario->failures.events) ||
	    (scenario_has_jobs(scenario) && schemes_draw(scenario)))
		return true;
	for_enabled_jobs(group, scenario)
		if (job_group_draws(group))
			return true;
	for_enabled_flows(group, scenario)
		if (flow_group_draws(group))
			return true;
	return network_draws(&scenario->topology);
}

/* --- load --- */

struct offered scenario_offered(const struct scenario *scenario)
{
	uint32_t hosts = topology_hosts(&scenario->topology);
	bps rate = topology_host_rate(&scenario->topology);
	struct offered sum = { 0 };

	for_enabled_flows(group, scenario)
		if (group->arrival.form == ARRIVE_POISSON)
			sum.flows += group->arrival.load;
	for_enabled_jobs(group, scenario) {
		double gap_s = job_group_gap_s(group, hosts, rate);

		if (gap_s > 0) {
			struct job_bytes job = job_group_bytes(
				group, machine_gpus(&scenario->machine),
				scenario->schemes[job_group_reduces(group)], &scenario->topology);

			/* bytes to bits, as rates are in bits per second */
			sum.jobs_ring += 8 * job.ring / (gap_s * hosts * (double)rate);
			sum.jobs_own += 8 * job.own / (gap_s * hosts * (double)rate);
		}
	}
	return sum;
}

/* In all topologies but graphs, racks are alike, and the tiers above can carry all that the
 * up-links of racks can. So the up-links of one rack decide. */
struct offered_fabric scenario_offered_fabric(const struct scenario *scenario)
{
	const struct topology_conf *topology = &scenario->topology;
	struct topology_shape shape;
	struct offered_fabric fabric = { 0 };
	double load = 0, hosts = topology_hosts(topology), rack = topology_rack(topology), links;

	for_enabled_flows(group, scenario)
		if (group->arrival.form == ARRIVE_POISSON && group->pairs.form == PAIRS_NAMED &&
		    group->pairs.kind != PAIRS_INCAST)
			load += group->arrival.load;
	if (topology->graph || load <= 0) /* in a graph no single tier decides */
		return fabric;
	topology_shape(topology, &shape);
	links = shape.ports[0] - rack; /* up-links of the first rack's switch */
	topology_shape_release(&shape);
	if (links <= 0)
		return fabric;
	fabric.leaving = (hosts - rack) / (hosts - 1);
	fabric.capacity = links * (double)topology_uplink_rate(topology) /
			  (rack * (double)topology->link.rate);
	fabric.load = load * fabric.leaving / fabric.capacity;
	return fabric;
}
