/* Any bytes as a scenario, with the checks of all models: no crash, no leak. What
 * is accepted resolves to itself, and, if it is small, is built and run for a
 * few thousand events. Build and run: tests/fuzz/build
 * Covers: models/scenario/check.c models/workload/flows/flows_conf.c
 * models/workload/jobs/jobs_conf.c models/workload/cluster_conf.c
 * models/workload/jobs/servers_conf.c models/scenario/topology_conf.c
 * models/ina/switchml/switchml_conf.c models/ina/panama/panama_conf.c
 * models/ina/common/pool_conf.c */
#include "scenario/scenario.h"
#include "run/simulation_state.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define EVENTS 3000
#define BESIDE "build-fuzz/seeds/scenario/fuzz" /* data files that seeds name are there */

static void print_all(const struct conf_doc *doc, FILE *sink)
{
	conf_print_errors(doc, sink, false);
	conf_print_errors(doc, sink, true);
	conf_explain(doc, sink, false);
}

static void check_round_trip(const struct conf_doc *doc)
{
	struct scenario scenario;
	char *first = conf_resolved_json(doc, true);
	struct conf_doc *again = scenario_parse(BESIDE, first, strlen(first), &scenario);
	char *second = conf_resolved_json(again, true);

	if (conf_errors(again) > 0 || strcmp(first, second))
		abort();
	free(first);
	free(second);
	conf_doc_free(again);
}

/* A fuzzer finds large networks in no time; they are valid and slow. */
static bool is_small(const struct scenario *scenario)
{
	if (topology_hosts(&scenario->topology) > 64 || scenario->topology.k > 8 ||
	    scenario->topology.leaves + scenario->topology.spines > 64)
		return false;
	for (size_t i = 0; i < scenario->jobs.count; i++) {
		const struct job_group_conf *job = &scenario_jobs(scenario)[i];

		if (job->count > 16 || (job->arrival.form == JOBS_TRACE &&
					(job->arrival.limit == 0 || job->arrival.limit > 16)))
			return false;
	}
	for (size_t i = 0; i < scenario->flows.count; i++)
		if (scenario_flows(scenario)[i].count > 1000)
			return false;
	return scenario->jobs.count + scenario->flows.count <= 16;
}

static void run_shortly(const struct scenario *scenario)
{
	char *error = NULL;
	struct simulation *simulation = simulation_build(scenario, NULL, &error);

	if (!simulation)
		abort(); /* what the checks accept can be built */
	sim_run(&simulation->sim, EVENTS);
	simulation_free(simulation);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct scenario scenario;
	struct conf_doc *doc = scenario_parse(BESIDE, (const char *)data, size, &scenario);
	FILE *sink = fopen("/dev/null", "w");

	if (!sink)
		abort();
	print_all(doc, sink);
	if (conf_errors(doc) == 0) {
		check_round_trip(doc);
		if (is_small(&scenario))
			run_shortly(&scenario);
	}
	conf_doc_free(doc);
	fclose(sink);
	return 0;
}
