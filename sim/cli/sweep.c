/* The verbs of sweeps: plan, run, status, collect. */
#include "cli/cli.h"

#include "base/mem.h"
#include "build_info.h"
#include "out/json.h"
#include "results.h"
#include "scenario.h"
#include "study/plan.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* --- the model, as sim/study/ sees it --- */

static struct conf_doc *load_point(void *owner, const char *base,
				   const struct conf_override *overrides, size_t count,
				   struct point_facts *facts)
{
	struct scenario scenario;
	struct conf_doc *doc = scenario_load(base, &scenario, overrides, count);

	(void)owner;
	if (!conf_errors(doc)) {
		facts->hash = scenario_hash(&scenario, doc, BUILD_VERSION);
		facts->cost = scenario_cost(&scenario, doc);
	}
	return doc;
}

static const struct plan_model model = { .load = load_point };

/* Members of summary.json, which become columns beside the axes. */
static const char **metric_names(void)
{
	const struct out_column *columns = NULL;
	const char **names;
	size_t count = 0;

	for (size_t i = 0; i < results_schema_count; i++)
		if (!strcmp(results_schemas[i]->file, "summary.json"))
			columns = results_schemas[i]->columns;
	while (columns && columns[count].name)
		count++;
	names = xcalloc(count + 1, sizeof(*names));
	for (size_t i = 0; i < count; i++)
		names[i] = columns[i].name;
	return names;
}

static struct plan *load_plan(const struct cli *cli)
{
	const char **taken = metric_names();
	struct plan *plan = plan_load(cli->argv[0], taken);

	free(taken);
	return plan;
}

static int code_of_plan(const struct plan *plan)
{
	if (conf_io_error(plan->doc))
		return EXIT_IO;
	return conf_errors(plan->doc) ? EXIT_INVALID : EXIT_DONE;
}

/* The whole plan, checked; *facts by number. After mistakes, which are printed,
 * the exit code says so. */
static int load_all(const struct cli *cli, struct plan **plan, struct point_facts **facts)
{
	int code;

	*plan = load_plan(cli);
	*facts = NULL;
	code = code_of_plan(*plan);
	if (code == EXIT_DONE) {
		*facts = xcalloc((*plan)->point_count, sizeof(**facts));
		plan_check(*plan, &model, *facts);
		code = code_of_plan(*plan);
	}
	if (code != EXIT_DONE)
		conf_print_errors((*plan)->doc, stderr, false);
	return code;
}

/* --- plan --- */

static const char *label_of(const struct plan *plan, size_t number, size_t axis)
{
	return plan->axes[axis].levels[plan->points[number].levels[axis]].label;
}

static size_t width_of_axis(const struct plan_axis *axis)
{
	size_t width = strlen(axis->name);

	for (size_t l = 0; l < axis->count; l++)
		if (strlen(axis->levels[l].label) > width)
			width = strlen(axis->levels[l].label);
	return width;
}

static void print_points(const struct plan *plan, const struct point_facts *facts)
{
	printf("%7s", "point");
	for (size_t a = 0; a < plan->axis_count; a++)
		printf("  %-*s", (int)width_of_axis(&plan->axes[a]), plan->axes[a].name);
	printf("  %11s  %16s  %-16s  %9s\n", "replication", "seed", "hash", "cost");
	for (size_t i = 0; i < plan->point_count; i++) {
		printf("%7zu", i);
		for (size_t a = 0; a < plan->axis_count; a++)
			printf("  %-*s", (int)width_of_axis(&plan->axes[a]), label_of(plan, i, a));
		printf("  %11" PRIu64 "  %16" PRIu64 "  %016" PRIx64 "  %9.3g\n",
		       plan->points[i].replication, plan->points[i].seed, facts[i].hash,
		       facts[i].cost);
	}
}

static void print_summary(const struct plan *plan)
{
	printf("%s: %zu point%s", plan->name, plan->point_count, plan->point_count == 1 ? "" : "s");
	for (size_t a = 0; a < plan->axis_count; a++)
		printf("%s%zu %s", a ? " x " : " of ", plan->axes[a].count, plan->axes[a].name);
	if (plan->replications > 1)
		printf(", %" PRIu64 " replications", plan->replications);
	puts("; cost in estimated packet-hops");
}

static void json_axes(struct json *json, const struct plan *plan)
{
	json_open_array(json, "axes");
	for (size_t a = 0; a < plan->axis_count; a++) {
		json_open_object(json, NULL);
		json_string(json, "name", plan->axes[a].name);
		json_open_array(json, "values");
		for (size_t l = 0; l < plan->axes[a].count; l++)
			json_string(json, NULL, plan->axes[a].levels[l].label);
		json_close_array(json);
		json_close_object(json);
	}
	json_close_array(json);
}

static void json_points(struct json *json, const struct plan *plan, const struct point_facts *facts)
{
	json_open_array(json, "points");
	for (size_t i = 0; i < plan->point_count; i++) {
		json_open_object(json, NULL);
		json_u64(json, "point", i);
		json_hex64(json, "hash", facts[i].hash);
		json_open_object(json, "axes");
		for (size_t a = 0; a < plan->axis_count; a++)
			json_string(json, plan->axes[a].name, label_of(plan, i, a));
		json_close_object(json);
		json_u64(json, "replication", plan->points[i].replication);
		json_u64(json, "seed", plan->points[i].seed);
		json_real(json, "cost", facts[i].cost);
		json_close_object(json);
	}
	json_close_array(json);
}

static void print_plan_json(const struct plan *plan, const struct point_facts *facts)
{
	struct json json;
	char *text;

	json_init(&json);
	json_open_object(&json, NULL);
	json_string(&json, "name", plan->name);
	json_string(&json, "base", plan->base);
	json_axes(&json, plan);
	json_u64(&json, "replications", plan->replications);
	json_points(&json, plan, facts);
	json_close_object(&json);
	text = json_finish(&json);
	fputs(text, stdout);
	free(text);
}

int verb_sweep_plan(const struct cli *cli)
{
	struct point_facts *facts;
	struct plan *plan;
	int code = load_all(cli, &plan, &facts);

	if (code == EXIT_DONE && cli->json) {
		print_plan_json(plan, facts);
	} else if (code == EXIT_DONE) {
		if (!cli->quiet)
			print_points(plan, facts);
		print_summary(plan);
	}
	free(facts);
	plan_free(plan);
	return code;
}
/* TEMPORARY-VERBS */
int verb_sweep_run(const struct cli *cli)
{
	complain("%s: not yet", cli->verb);
	return EXIT_USAGE;
}
int verb_sweep_status(const struct cli *cli)
{
	complain("%s: not yet", cli->verb);
	return EXIT_USAGE;
}
int verb_sweep_collect(const struct cli *cli)
{
	complain("%s: not yet", cli->verb);
	return EXIT_USAGE;
}
