/* What the verbs of sweeps share: the model, loading a plan, limits. */
#include "cli/sweep.h"

#include "base/mem.h"
#include "base/units.h"
#include "build_info.h"
#include "run/results.h"
#include "scenario/scenario.h"

#include <stdlib.h>
#include <string.h>

/* --- the model, as sim/lab/ sees it --- */

struct conf_doc *sweep_model(const char *base, const struct conf_override *overrides, size_t count,
			     struct point_facts *facts)
{
	struct scenario scenario;
	struct scenario_cost cost;
	struct conf_doc *doc = scenario_load(base, &scenario, overrides, count);

	if (!conf_errors(doc)) {
		facts->hash = scenario_hash(&scenario, doc, BUILD_VERSION);
		facts->seed = (uint64_t)scenario.seed;
		cost = scenario_cost(&scenario);
		facts->cost = cost.hops;
		facts->at_least = cost.at_least;
		facts->jobs = cost.jobs;
		facts->hosts = cost.hosts;
		facts->streams = scenario.fidelity != FIDELITY_PACKET;
		facts->draws = scenario_draws(&scenario);
	}
	return doc;
}

/* The members of summary.json, ended by NULL. No axis may have the name of one: both are columns of
 * a sweep's tables. */
static struct names metric_names(void)
{
	struct names names = { 0 };

	for (size_t i = 0; i < results_schema_count; i++) {
		const struct out_column *column = results_schemas[i]->columns;

		for (; !strcmp(results_schemas[i]->file, "summary.json") && column->name; column++)
			names_add(&names, column->name);
	}
	names_add(&names, NULL);
	return names;
}

struct plan *sweep_load_plan(const struct cli *cli)
{
	struct names taken = metric_names();
	struct plan *plan = plan_load(cli->argv[0], taken.items);

	free(taken.items);
	return plan;
}

int sweep_load_all(const struct cli *cli, struct plan **plan, struct point_facts **facts)
{
	int code;

	*plan = sweep_load_plan(cli);
	*facts = NULL;
	code = exit_code_of((*plan)->doc);
	if (code == EXIT_DONE) {
		*facts = xcalloc((*plan)->point_count, sizeof(**facts));
		plan_check(*plan, sweep_model, *facts);
		code = exit_code_of((*plan)->doc);
	}
	if (code != EXIT_DONE)
		conf_print_errors((*plan)->doc, stderr, false);
	return code;
}

/* --- options --- */

const char *sweep_dir(const struct cli *cli, const struct plan *plan)
{
	return cli->out ? cli->out : conf_at(plan->doc, "results/%s", plan->name);
}

const char *sweep_point_name(const struct plan *plan, size_t number)
{
	const char *words = plan_point_words(plan, number);

	return conf_at(plan->doc, *words ? "point %zu (%s)" : "point %zu%s", number, words);
}

/* Replaces the plan's limit by that of the command line, if any. False after a complaint. */
static bool read_limit(const char *option, enum unit_kind kind, const char *example,
		       const char *text, uint64_t *limit)
{
	if (!text)
		return true;
	*limit = 0; /* none */
	if (!strcmp(text, "none") || (unit_parse(kind, text, limit) == UNIT_OK && *limit))
		return true;
	complain("%s takes a limit with its unit, such as %s, or none; found \"%s\"", option,
		 example, text);
	return false;
}

bool sweep_read_limits(const struct cli *cli, const struct plan *plan, struct point_limits *limits)
{
	*limits = plan->limits;
	return read_limit("--time-limit", UNIT_TIME, "10m", cli->sweep.time_limit, &limits->time) &&
	       read_limit("--memory-limit", UNIT_SIZE, "4GiB", cli->sweep.memory_limit,
			  &limits->memory);
}
