/* The verb sweep plan: what would be run. */
#include "cli/sweep.h"

#include "base/plain.h"
#include "data/json.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

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
	printf("  %11s  %16s  %-16s  %5s  %5s  %9s\n", "replication", "seed", "hash", "hosts",
	       "jobs", "cost");
	for (size_t i = 0; i < plan->point_count; i++) {
		printf("%7zu", i);
		for (size_t a = 0; a < plan->axis_count; a++)
			plain_print(stdout, "  %-*s", (int)width_of_axis(&plan->axes[a]),
				    *label_of(plan, i, a) ? label_of(plan, i, a) : "-");
		printf("  %11" PRIu64 "  %16" PRIu64 "  %016" PRIx64 "  %5" PRIu64
		       "  %5.0f  %9.3g\n",
		       plan->points[i].replication, facts[i].seed, facts[i].hash, facts[i].hosts,
		       facts[i].jobs, facts[i].cost);
	}
}

/* How many points each value has; "-": those to which the axis does not apply. */
static void print_values(const struct plan *plan)
{
	puts("points of each value:");
	for (size_t a = 0; a < plan->axis_count; a++) {
		const struct plan_axis *axis = &plan->axes[a];
		size_t *points = plan_level_points(plan, a);

		plain_print(stdout, "  %s:", axis->name);
		for (size_t l = 0; l < axis->count; l++)
			plain_print(stdout, "%s %s %zu", l ? "," : "", axis->levels[l].label,
				    points[l]);
		if (axis->limited)
			printf(", - %zu", points[axis->count]);
		putchar('\n');
		free(points);
	}
}

static void print_summary(const struct plan *plan, const struct point_facts *facts)
{
	double hops = 0; /* of points that simulate packets */
	bool at_least = false;

	for (size_t i = 0; i < plan->point_count; i++) {
		hops += facts[i].streams ? 0 : facts[i].cost;
		at_least |= facts[i].at_least && !facts[i].streams;
	}
	plain_print(stdout, "%s: %zu point%s", plan->name, plan->point_count,
		    plan->point_count == 1 ? "" : "s");
	for (size_t a = 0; a < plan->axis_count; a++)
		printf("%s%zu %s", a ? " x " : " of ", plan->axes[a].count, plan->axes[a].name);
	if (plan->replications > 1)
		printf(", %s%" PRIu64 " replications", plan->precision.of ? "at most " : "",
		       plan->replications);
	if (plan->perturb.count)
		printf(" over %zu perturbations", plan->perturb.count);
	if (hops > 0)
		printf("; about %.2g packet-hops%s, %.2g s of CPU time on this machine%s", hops,
		       at_least ? " or more" : "", hops / speed_hops_per_s(),
		       at_least ? ", since flows go on as long as the jobs do" : "");
	puts("; cost in estimated packet-hops");
}

/* Says how many points depend on the seed for ties alone: most replications of them are a waste. */
static void print_undrawn(const struct plan *plan, const struct point_facts *facts)
{
	size_t undrawn = 0;

	for (size_t i = 0; i < plan->point_count; i++)
		undrawn += !facts[i].draws;
	if (plan->replications > 1 && undrawn)
		printf("nothing drawn at random: %zu of %zu points, whose replications are the "
		       "same but for ties between simultaneous events, which the seed breaks\n",
		       undrawn, plan->point_count);
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
			if (*label_of(plan, i, a))
				json_string(json, plan->axes[a].name, label_of(plan, i, a));
		json_close_object(json);
		json_u64(json, "replication", plan->points[i].replication);
		if (plan->perturb.count)
			json_string(json, "perturb", plan_perturbation(plan, i)->label);
		json_u64(json, "seed", facts[i].seed);
		json_u64(json, "hosts", facts[i].hosts);
		json_real(json, "jobs", facts[i].jobs);
		json_real(json, "cost", facts[i].cost);
		json_real(json, "seconds",
			  facts[i].streams ? NAN : facts[i].cost / speed_hops_per_s());
		json_bool(json, "at_least", facts[i].at_least);
		json_bool(json, "random", facts[i].draws);
		json_close_object(json);
	}
	json_close_array(json);
}

static void print_plan_json(const struct plan *plan, const struct point_facts *facts)
{
	struct json json;

	json_init(&json);
	json_open_object(&json, NULL);
	json_string(&json, "name", plan->name);
	json_string(&json, "base", plan->base);
	plan_axes_json(plan, &json);
	json_u64(&json, "replications", plan->replications);
	json_points(&json, plan, facts);
	json_close_object(&json);
	json_print(&json, stdout);
}

int verb_sweep_plan(const struct cli *cli)
{
	struct point_facts *facts;
	struct plan *plan;
	int code = sweep_load_all(cli, &plan, &facts);

	if (code == EXIT_DONE && cli->json) {
		print_plan_json(plan, facts);
	} else if (code == EXIT_DONE) {
		conf_print_errors(plan->doc, stderr, false); /* warnings, as there are no errors */
		if (!cli->quiet)
			print_points(plan, facts);
		if (plan->axis_count)
			print_values(plan);
		print_summary(plan, facts);
		print_undrawn(plan, facts);
	}
	free(facts);
	plan_free(plan);
	return code;
}
