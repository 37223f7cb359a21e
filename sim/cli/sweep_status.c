/* The verbs sweep status and sweep collect: what has been run. */
#include "cli/sweep.h"

#include "base/plain.h"
#include "data/json.h"
#include "lab/sweep/groups.h"

#include <inttypes.h>
#include <stdlib.h>

/* --- status --- */

static bool all_done(const struct sweep *sweep)
{
	size_t counts[POINT_STATUSES];

	sweep_count(sweep, counts);
	return counts[POINT_DONE] + counts[POINT_SUBSTITUTED] == sweep->points;
}

/* Prints how many combinations have reached the plan's precision, or a verdict. */
static void print_precision(const struct sweep *sweep)
{
	const struct plan *plan = sweep->plan;
	const struct precision *precision = &sweep->precision;

	if (!plan->precision.of)
		return;
	plain_print(stdout, "  %zu of %zu ", precision->reached, precision->total);
	if (plan->precision.by == SIZE_MAX)
		plain_print(stdout, "combinations have %s within %.3g %%, %zu missed it with all ",
			    plan->precision.of, 100 * plan->precision.within,
			    precision->ended - precision->reached);
	else
		plain_print(stdout,
			    "comparisons of %s with %s are resolved by %s, %zu ended without in at "
			    "most ",
			    plan->axes[plan->precision.by].name,
			    plan->axes[plan->precision.by].levels[plan->precision.baseline].label,
			    plan->precision.of, precision->ended - precision->reached);
	printf("%" PRIu64 " replications%s; %zu of %zu points are needed so far\n",
	       plan->replications, plan->precision.cpu ? " or the budget of CPU time" : "",
	       sweep->points, plan->point_count);
}

static bool has_failed(const struct point_record *record)
{
	return !point_status_is_done(record->status) && record->status != POINT_MISSING;
}

#define TOLD 20 /* at most so many failed points, and running points, are listed */

static void print_running(const struct sweep *sweep)
{
	size_t told = 0;

	for (size_t i = 0; i < sweep->plan->point_count && told < TOLD; i++) {
		const struct sweep_running *running = &sweep->running[i];

		if (!running->holder)
			continue;
		told++;
		plain_print(stdout, "  %s: running for %.0f s by %s\n",
			    sweep_point_name(sweep->plan, i), running->seconds, running->holder);
	}
}

static size_t count_running(const struct sweep *sweep)
{
	size_t count = 0;

	for (size_t i = 0; i < sweep->plan->point_count; i++)
		count += sweep->running[i].holder != NULL;
	return count;
}

static void print_status(const struct sweep *sweep, const size_t *pending, size_t count)
{
	size_t counts[POINT_STATUSES], failed = 0, running = count_running(sweep);
	double left = sweep_cpu_left(sweep, pending, count);

	sweep_count(sweep, counts);
	plain_print(stdout, "%s in %s: %zu point%s", sweep->plan->name, sweep->dir, sweep->points,
		    sweep->points == 1 ? "" : "s");
	for (int s = 0; s < POINT_STATUSES; s++)
		if (counts[s])
			printf(", %zu %s", counts[s], point_status_names[s]);
	printf("; %zu to run", count);
	if (running)
		printf(", %zu of them running", running);
	if (count && left >= 0)
		printf(", about %.3g s of CPU time at the speed of those done", left);
	putchar('\n');
	print_precision(sweep);
	print_running(sweep);
	for (size_t i = 0; i < sweep->plan->point_count; i++) {
		const struct point_record *record = &sweep->records[i];

		if (!has_failed(record) || ++failed > TOLD)
			continue;
		plain_print(stdout, "  %s: %s, attempts: %" PRIu64 "%s%s\n",
			    sweep_point_name(sweep->plan, i), point_status_names[record->status],
			    record->attempts, *record->message ? ": " : "", record->message);
	}
	if (failed > TOLD)
		printf("  and %zu more\n", failed - TOLD);
	if (sweep->others)
		printf("  %zu points of other plans or versions are ignored\n", sweep->others);
}

static void json_failed(struct json *json, const struct sweep *sweep)
{
	json_open_array(json, "failed");
	for (size_t i = 0; i < sweep->plan->point_count; i++) {
		const struct point_record *record = &sweep->records[i];

		if (!has_failed(record))
			continue;
		json_open_object(json, NULL);
		json_u64(json, "point", i);
		json_hex64(json, "hash", sweep->facts[i].hash);
		json_string(json, "status", point_status_names[record->status]);
		json_u64(json, "attempts", record->attempts);
		json_string(json, "message", record->message);
		json_close_object(json);
	}
	json_close_array(json);
}

static void json_running(struct json *json, const struct sweep *sweep)
{
	json_open_array(json, "running");
	for (size_t i = 0; i < sweep->plan->point_count; i++) {
		if (!sweep->running[i].holder)
			continue;
		json_open_object(json, NULL);
		json_u64(json, "point", i);
		json_string(json, "holder", sweep->running[i].holder);
		json_real(json, "seconds", sweep->running[i].seconds);
		json_close_object(json);
	}
	json_close_array(json);
}

static void print_status_json(const struct sweep *sweep, const size_t *pending, size_t count)
{
	size_t counts[POINT_STATUSES];
	struct json json;

	sweep_count(sweep, counts);
	json_init(&json);
	json_open_object(&json, NULL);
	json_string(&json, "name", sweep->plan->name);
	json_string(&json, "dir", sweep->dir);
	json_u64(&json, "points", sweep->points);
	if (sweep->plan->precision.of)
		json_u64(&json, "precise", sweep->precision.reached);
	json_open_object(&json, "status");
	for (int s = 0; s < POINT_STATUSES; s++)
		json_u64(&json, point_status_names[s], counts[s]);
	json_close_object(&json);
	json_failed(&json, sweep);
	json_running(&json, sweep);
	json_open_array(&json, "pending");
	for (size_t i = 0; i < count; i++)
		json_u64(&json, NULL, pending[i]);
	json_close_array(&json);
	json_real(&json, "cpu_left_s", sweep_cpu_left(sweep, pending, count));
	json_u64(&json, "others", sweep->others);
	json_close_object(&json);
	json_print(&json, stdout);
}

static void show_status(const struct cli *cli, const struct sweep *sweep,
			const struct point_limits *limits)
{
	size_t count;
	size_t *pending = sweep_pending(sweep, limits, &count);

	if (cli->json)
		print_status_json(sweep, pending, count);
	else if (cli->sweep.pending)
		for (size_t i = 0; i < count; i++)
			printf("%zu\n", pending[i]);
	else
		print_status(sweep, pending, count);
	free(pending);
}

/* Loads plan and sweep, then calls `look`. Returns the exit code of `look`, or of a mistake. */
static int with_sweep(const struct cli *cli,
		      int (*look)(const struct cli *cli, const struct sweep *sweep,
				  const struct point_limits *limits))
{
	struct point_facts *facts;
	struct plan *plan;
	struct point_limits limits;
	struct sweep sweep;
	int code = sweep_load_all(cli, &plan, &facts);

	if (code == EXIT_DONE && !sweep_read_limits(cli, plan, &limits))
		code = EXIT_USAGE;
	if (code == EXIT_DONE) {
		sweep_read(&sweep, sweep_dir(cli, plan), plan, facts);
		if (sweep.precision.lacking)
			conf_error(plan->doc, "/precision/of",
				   "results have no number \"%s\"; see inasim list metrics",
				   plan->precision.of);
		code = exit_code_of(plan->doc);
		if (code == EXIT_DONE)
			code = look(cli, &sweep, &limits);
		else
			conf_print_errors(plan->doc, stderr, false);
		sweep_release(&sweep);
	}
	free(facts);
	plan_free(plan);
	return code;
}

static int look_at_status(const struct cli *cli, const struct sweep *sweep,
			  const struct point_limits *limits)
{
	show_status(cli, sweep, limits);
	return all_done(sweep) || cli->sweep.pending ? EXIT_DONE : EXIT_UNFINISHED;
}

int verb_sweep_status(const struct cli *cli)
{
	return with_sweep(cli, look_at_status);
}

/* --- collect --- */

/* Says how many groups have equal results in every replication. Intervals of +-0 would suggest that
 * the mean is known exactly, but nothing random was drawn. */
static void report_same(const struct sweep *sweep)
{
	char *error = NULL;
	struct sweep_table *table = sweep_table_read(sweep->dir, &error);
	size_t same = 0, count = table ? groups_replicated(table, &same) : 0;

	if (same)
		printf("the same in every replication: %zu of %zu groups (\"same\" in groups.csv); "
		       "they have no intervals\n",
		       same, count);
	sweep_table_free(table);
	free(error);
}

static int collect(const struct cli *cli, const struct sweep *sweep,
		   const struct point_limits *limits)
{
	char *error = NULL;

	if (!sweep_make(sweep->dir, cli->argv[0], &error) || !sweep_collect(sweep, &error)) {
		complain("%s", error);
		free(error);
		return EXIT_IO;
	}
	if (!cli->quiet)
		show_status(cli, sweep, limits);
	if (!cli->quiet && !cli->json)
		report_same(sweep);
	return all_done(sweep) ? EXIT_DONE : EXIT_UNFINISHED;
}

int verb_sweep_collect(const struct cli *cli)
{
	return with_sweep(cli, collect);
}
