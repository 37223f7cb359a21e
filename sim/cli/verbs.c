/* The verbs that only look: check, explain, list, schema. */
#include "cli/cli.h"

#include "base/mem.h"
#include "base/plain.h"
#include "data/json.h"
#include "run/results.h"
#include "scenario/scenario.h"
#include "lab/sweep/plan.h"
#include "workload/data_file.h"
#include "workload/dnn.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Prints how large a run will be. */
static void print_cost(const struct scenario *scenario, const struct conf_doc *doc)
{
	struct scenario_cost cost = scenario_cost(scenario, doc);

	printf(": %" PRIu32 " hosts, %.0f job%s", cost.hosts, cost.jobs,
	       cost.jobs < 1.5 ? "" : "s");
	if (scenario->fidelity == FIDELITY_PACKET)
		printf(", %s %.2g packet-hops, %.2g s on this machine%s",
		       cost.least ? "at least" : "about", cost.hops, cost.hops / speed_hops_per_s(),
		       cost.least ? ": flows go on as long as the jobs do" : "");
}

int verb_check(const struct cli *cli)
{
	const struct conf_doc **docs = xcalloc((size_t)cli->argc, sizeof(*docs));
	int worst = EXIT_DONE;

	for (int i = 0; i < cli->argc; i++) {
		struct scenario scenario;
		struct conf_doc *doc = load_scenario(cli, cli->argv[i], &scenario);
		int code = exit_code_of(doc);

		docs[i] = doc;
		if (cli->check.strict && code == EXIT_DONE && conf_warnings(doc))
			code = EXIT_INVALID;
		worst = code > worst ? code : worst;
		if (cli->json)
			continue;
		if (code != EXIT_DONE || !cli->quiet)
			conf_print_errors(doc, stderr, false);
		if (code == EXIT_DONE && !cli->quiet) {
			plain_print(stdout, "%s: valid", cli->argv[i]);
			print_cost(&scenario, doc);
			putchar('\n');
		}
	}
	if (cli->json)
		conf_print_errors_json(docs, (size_t)cli->argc, stdout);
	for (int i = 0; i < cli->argc; i++)
		conf_doc_free((struct conf_doc *)(uintptr_t)docs[i]); /* ours, const for others */
	free(docs);
	return worst;
}

/* Prints the load that follows from the values together. */
static void explain_load(const struct scenario *scenario)
{
	struct offered offered = scenario_offered(scenario);
	struct offered_fabric fabric = scenario_offered_fabric(scenario);

	if (offered.flows > 0)
		printf("offered load of flows: %.4g (payload over hosts x link rate)\n",
		       offered.flows);
	if (fabric.load > 0)
		printf("offered load of flows to the links between racks: %.4g (%.4g of it leaves "
		       "its rack, whose up-links have %.4g of the rate of its hosts)\n",
		       fabric.load, fabric.leaving, fabric.capacity);
	if (offered.jobs_ring > 0)
		printf("offered load of jobs: %.4g by ring, %.4g by their own schemes\n",
		       offered.jobs_ring, offered.jobs_own);
}

static void explain_pause(const struct topology_conf *conf, bool fabric)
{
	struct pause_params pause = topology_pause(conf, fabric);

	printf("PAUSE, links %s: a port of %" PRIu64 " bytes stops its neighbour at ",
	       fabric ? "between switches" : "of hosts", pause.memory);
	if (pause.alpha)
		printf("%g x the free shared memory, lets it go on %" PRIu64 " below that",
		       (double)pause.alpha / (double)ALPHA_ONE, pause.hysteresis);
	else
		printf("%" PRIu64 " and lets it go on at %" PRIu64, pause.xoff, pause.xon);
	printf("; then room for a frame of %" PRIu32 " and headroom of %" PRIu64
	       " (needed: %" PRIu64 ")\n",
	       pause.mtu, pause.headroom, topology_headroom(conf, fabric, &pause));
}

static void explain_network(const struct topology_conf *conf)
{
	if (!topology_pause(conf, false).on)
		return;
	explain_pause(conf, false);
	if (topology_tiers(conf) > 1)
		explain_pause(conf, true);
}

/* Whether a group of jobs, enabled or not, has the scheme or may fall back to it. */
static bool may_run(const struct scenario *scenario, unsigned scheme)
{
	for (size_t i = 0; i < scenario->jobs.count; i++) {
		int own = scenario_jobs(scenario)[i].all_reduce;
		const struct collective_ops *ops = scheme_ops((unsigned)own);
		const char *other = NULL;

		if (ops->runs_as)
			other = ops->runs_as(scenario->schemes[own], &scenario->topology, 0).scheme;
		if (job_group_uses(&scenario_jobs(scenario)[i], scheme) ||
		    (other && !strcmp(other, scheme_names[scheme])))
			return true;
	}
	return false;
}

/* Leaves out schemes that no job has: their defaults would bury the others. */
static void leave_out_schemes(const struct scenario *scenario, struct conf_doc *doc)
{
	for (unsigned s = 0; s < SCHEME_COUNT; s++) {
		const char *pointer = conf_at(doc, "/schemes/%s", scheme_names[s]);

		if (!may_run(scenario, s) && !conf_given(doc, pointer))
			conf_leave_out(doc, pointer);
	}
}

int verb_explain(const struct cli *cli)
{
	struct scenario scenario;
	struct conf_doc *doc = load_scenario(cli, cli->argv[0], &scenario);
	int code = exit_code_of(doc);

	conf_print_errors(doc, stderr, false);
	if (code == EXIT_DONE) {
		leave_out_schemes(&scenario, doc);
		conf_explain(doc, stdout, cli->json);
		if (!cli->json) {
			explain_network(&scenario.topology);
			explain_load(&scenario);
		}
	}
	conf_doc_free(doc);
	return code;
}

/* --- list --- */

/* Prints an item, or (`json` not NULL) opens its object in a list. */
static void open_item(struct json *json, const char *name, const char *help)
{
	if (!json) {
		printf("  %-24s %s\n", name, help);
		return;
	}
	json_open_object(json, NULL);
	json_string(json, "name", name);
	json_string(json, "help", help);
}

static void list_item(struct json *json, const char *name, const char *help)
{
	open_item(json, name, help);
	if (json)
		json_close_object(json);
}

/* Writes null where the scheme states nothing. */
static void json_tolerance(struct json *json, const struct fluid_tolerance *tolerance)
{
	json_open_object(json, "fluid_tolerance");
	json_real(json, "one_switch", tolerance->one_switch > 0 ? tolerance->one_switch : NAN);
	json_real(json, "tiers", tolerance->tiers > 0 ? tolerance->tiers : NAN);
	json_real(json, "together", tolerance->together > 0 ? tolerance->together : NAN);
	json_close_object(json);
}

static int list_schemes(struct json *json)
{
	for (unsigned i = 0; scheme_ops(i); i++) {
		const struct collective_ops *ops = scheme_ops(i);

		open_item(json, ops->name, ops->help);
		if (!json)
			continue;
		json_tolerance(json, &ops->tolerance);
		json_close_object(json);
	}
	return EXIT_DONE;
}

static int list_topologies(struct json *json)
{
	for (size_t i = 0; topology_kind(i); i++)
		list_item(json, topology_kind(i)->name, topology_kind(i)->help);
	return EXIT_DONE;
}

static int list_transports(struct json *json)
{
	for (unsigned i = 0; transport_kind(i); i++)
		list_item(json, transport_names[i], transport_kind(i)->cc->help);
	return EXIT_DONE;
}

static int list_models(struct json *json)
{
	struct dnn_list list;
	char *error;

	if (!dnn_list_load(&list, &error)) {
		complain("%s", error);
		free(error);
		return EXIT_IO;
	}
	for (size_t i = 0; i < list.count; i++) {
		char text[160];

		snprintf(text, sizeof(text), "%s, batch %" PRId64 ": %.1f ms per iteration (%s)",
			 list.profiles[i].gpu, list.profiles[i].batch,
			 seconds_of(list.profiles[i].compute) * 1e3, list.profiles[i].quality);
		list_item(json, list.profiles[i].model, text);
	}
	dnn_list_release(&list);
	return EXIT_DONE;
}

static int list_traces(struct json *json)
{
	static const struct {
		enum data_kind kind;
		const char *help;
	} kinds[] = { { DATA_CDF, "flow sizes" }, { DATA_JOBS, "arrivals of jobs" } };

	for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
		char **names = data_file_list(kinds[k].kind);

		for (char **name = names; *name; name++)
			list_item(json, *name, kinds[k].help);
		data_file_list_free(names);
	}
	return EXIT_DONE;
}

static int list_figures(struct json *json)
{
	const struct plot_figure *figure;

	for (size_t i = 0; (figure = plot_figure(i)); i++)
		if (figure->alone)
			list_item(json, figure->name, figure->alone);
	for (size_t i = 0; (figure = plot_figure(i)); i++)
		if (figure->together) {
			char *help = xasprintf("together: %s", figure->together);

			list_item(json, figure->name, help);
			free(help);
		}
	return EXIT_DONE;
}

static const struct {
	const char *name;
	int (*list)(struct json *json);
} lists[] = {
	{ "schemes", list_schemes },       { "topologies", list_topologies },
	{ "transports", list_transports }, { "models", list_models },
	{ "traces", list_traces },         { "figures", list_figures },
	{ "formulas", list_formulas },
};
#define LISTS (sizeof(lists) / sizeof(lists[0]))

static bool list_exists(const char *name)
{
	const char *names[LISTS + 1] = { 0 };

	for (size_t i = 0; i < LISTS; i++) {
		names[i] = lists[i].name;
		if (!strcmp(name, lists[i].name))
			return true;
	}
	complain_unknown("there is no list of", name, names,
			 "; there are schemes, topologies, transports, models, traces, figures, "
			 "formulas");
	return false;
}

/* Prints one list, or all (`only` NULL). */
static int print_lists(struct json *json, const char *only)
{
	int code = EXIT_DONE;

	for (size_t i = 0; i < LISTS && code == EXIT_DONE; i++) {
		if (only && strcmp(only, lists[i].name))
			continue;
		if (json)
			json_open_array(json, lists[i].name);
		else
			printf("%s\n", lists[i].name);
		code = lists[i].list(json);
		if (json)
			json_close_array(json);
	}
	return code;
}

int verb_list(const struct cli *cli)
{
	const char *only = cli->argc ? cli->argv[0] : NULL;
	struct json json;
	char *text;
	int code;

	if (only && !list_exists(only))
		return EXIT_USAGE;
	if (!cli->json)
		return print_lists(NULL, only);
	json_init(&json);
	json_open_object(&json, NULL);
	code = print_lists(&json, only);
	json_close_object(&json);
	text = json_finish(&json);
	if (code == EXIT_DONE)
		fputs(text, stdout);
	free(text);
	return code;
}

int verb_schema(const struct cli *cli)
{
	if (cli->schema.plan && cli->schema.results) {
		complain("schema takes --plan or --results, not both");
		return EXIT_USAGE;
	}
	if (cli->schema.plan)
		conf_schema(&plan_table, "Sweep plan of inasim", stdout);
	else if (cli->schema.results)
		out_dictionary(results_schemas, results_schema_count, stdout, cli->json);
	else
		conf_schema(&scenario_table, "Scenario of inasim", stdout);
	return EXIT_DONE;
}
