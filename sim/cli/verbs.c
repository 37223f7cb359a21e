/* The verbs check and schema. */
#include "cli/cli.h"

#include "base/mem.h"
#include "base/plain.h"
#include "run/results.h"
#include "run/simulation.h"
#include "scenario/scenario.h"
#include "lab/sweep/plan.h"

#include <inttypes.h>
#include <stdlib.h>

static void print_cost(const struct scenario *scenario)
{
	struct scenario_cost cost = scenario_cost(scenario);

	printf(": %" PRIu32 " hosts, %.0f job%s", cost.hosts, cost.jobs,
	       cost.jobs >= 0.5 && cost.jobs < 1.5 ? "" : "s");
	if (scenario->fidelity == FIDELITY_PACKET)
		printf(", about %.2g packet-hops%s, %.2g s on this machine%s", cost.hops,
		       cost.at_least ? " or more" : "", cost.hops / speed_hops_per_s(),
		       cost.at_least ? ": flows go on as long as the jobs do" : "");
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
			print_cost(&scenario);
			putchar('\n');
		}
	}
	if (cli->json)
		conf_print_errors_json(docs, (size_t)cli->argc, stdout);
	for (int i = 0; i < cli->argc; i++)
		conf_doc_free((struct conf_doc *)(uintptr_t)docs[i]); /* const only for printing */
	free(docs);
	return worst;
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
