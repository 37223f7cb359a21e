/* The verbs of sweeps: plan, run, status, collect. */
#include "cli/cli.h"

#include "base/mem.h"
#include "base/units.h"
#include "build_info.h"
#include "out/json.h"
#include "results.h"
#include "scenario.h"
#include "study/sweep/plan.h"
#include "study/sweep/point.h"
#include "study/sweep/sweep.h"

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
		facts->seed = (uint64_t)scenario.seed;
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
		       plan->points[i].replication, facts[i].seed, facts[i].hash, facts[i].cost);
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
		json_u64(json, "seed", facts[i].seed);
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
	plan_axes_json(plan, &json);
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

/* --- options --- */

/* Where the points of a plan go; the caller frees. */
static char *sweep_dir(const struct cli *cli, const struct plan *plan)
{
	return cli->out ? xstrdup(cli->out) : xasprintf("results/%s", plan->name);
}

struct rules {
	sim_time time_limit; /* 0 = none */
	bytes memory_limit;  /* 0 = none */
	uint64_t retries;
};

#define USUAL_RETRIES 2

/* The plan's limit unless the command line has one. */
static bool read_limit(const char *option, enum unit_kind kind, const char *example,
		       const char *text, uint64_t *limit)
{
	if (!text)
		return true;
	*limit = 0;
	if (!strcmp(text, "none") || (unit_parse(kind, text, limit) == UNIT_OK && *limit))
		return true;
	complain("%s takes a limit with its unit, such as %s, or none; found \"%s\"", option,
		 example, text);
	return false;
}

static bool read_retries(const char *text, uint64_t *retries)
{
	*retries = USUAL_RETRIES;
	if (!text)
		return true;
	*retries = strtoull(text, NULL, 10);
	if (*text && strspn(text, "0123456789") == strlen(text) && strlen(text) < 7)
		return true;
	complain("--retries takes a number, how often a point that was killed is run again; found "
		 "\"%s\"",
		 text);
	return false;
}

static bool read_rules(const struct cli *cli, const struct plan *plan, struct rules *rules)
{
	*rules = (struct rules){ plan->time_limit, plan->memory_limit, 0 };
	return read_limit("--time-limit", UNIT_TIME, "10m", cli->sweep.time_limit,
			  &rules->time_limit) &&
	       read_limit("--memory-limit", UNIT_SIZE, "4GiB", cli->sweep.memory_limit,
			  &rules->memory_limit) &&
	       read_retries(cli->sweep.retries, &rules->retries);
}

/* --- run --- */

/* A valid point: loaded by the parent, simulated by the child. */
struct pointed {
	const struct cli *cli;
	const struct plan *plan;
	const struct conf_doc *doc;
	const struct scenario *scenario;
};

static int simulate_point(void *owner, const char *out)
{
	const struct pointed *point = owner;
	struct cli quiet = *point->cli;

	quiet.quiet = true;
	quiet.json = false;
	return run_scenario(&quiet, point->scenario, point->plan->base, point->doc, out);
}

/* What the user is told of a point. */
static void tell_point(const struct cli *cli, const struct plan *plan, size_t number,
		       enum point_end end, const struct point_record *record, const char *words)
{
	const char *status = point_status_names[record->status];
	char *point = plan_point_words(plan, number);

	if (cli->quiet &&
	    (end == POINT_KEPT || (end == POINT_RAN && record->status == POINT_DONE))) {
		free(point);
		return;
	}
	fprintf(stderr, "point %zu%s%s%s: ", number, *point ? " (" : "", point, *point ? ")" : "");
	free(point);
	switch (end) {
	case POINT_RAN:
		fprintf(stderr, "%s after %.3g s%s%s\n", status, record->wall_s,
			*record->message ? ": " : "", record->message);
		return;
	case POINT_KEPT:
		if (record->status == POINT_DONE)
			fputs("done before, skipped\n", stderr);
		else
			fprintf(stderr,
				"%s before, not run again (attempts: %" PRIu64
				"; --force does)%s%s\n",
				status, record->attempts, *record->message ? ": " : "",
				record->message);
		return;
	case POINT_BUSY:
		fprintf(stderr, "skipped: %s\n", words);
		return;
	case POINT_INTERRUPTED:
		fputs("interrupted\n", stderr);
		return;
	case POINT_FAILED:
		fprintf(stderr, "%s\n", words);
		return;
	}
}

static int code_of_point(enum point_end end, const struct point_record *record)
{
	switch (end) {
	case POINT_RAN:
	case POINT_KEPT:
		return record_exit_code(record);
	case POINT_BUSY:
		return EXIT_UNFINISHED;
	case POINT_INTERRUPTED:
		return EXIT_INTERRUPTED;
	case POINT_FAILED:
		return EXIT_IO;
	}
	return EXIT_IO;
}

/* A point whose scenario is valid. */
static int run_valid(const struct cli *cli, const struct plan *plan, const char *folder,
		     const struct rules *rules, size_t number, const struct conf_doc *doc,
		     const struct scenario *scenario, bool *interrupted)
{
	struct pointed pointed = { cli, plan, doc, scenario };
	struct point_order order = {
		.folder = folder,
		.hash = scenario_hash(scenario, doc, BUILD_VERSION),
		.time_limit = rules->time_limit,
		.memory_limit = rules->memory_limit,
		.retries = rules->retries,
		.force = cli->sweep.force,
		.version = BUILD_VERSION,
		.commit = BUILD_COMMIT,
		.simulate = simulate_point,
		.owner = &pointed,
	};
	struct point_record record;
	enum point_end end;
	char *words;
	int code;

	record_init(&record);
	end = point_run(&order, &record, &words);
	tell_point(cli, plan, number, end, &record, words);
	code = code_of_point(end, &record);
	*interrupted = end == POINT_INTERRUPTED;
	record_release(&record);
	free(words);
	return code;
}

static int run_point(const struct cli *cli, struct plan *plan, const char *folder,
		     const struct rules *rules, size_t number, bool *interrupted)
{
	struct scenario scenario;
	size_t count;
	struct conf_override *overrides = plan_overrides(plan, number, &count, NULL);
	struct conf_doc *doc = scenario_load(plan->base, &scenario, overrides, count);
	struct point_facts facts;
	int code = EXIT_INVALID;

	if (!conf_errors(doc))
		code = run_valid(cli, plan, folder, rules, number, doc, &scenario, interrupted);
	else
		plan_check_point(plan, number, &model, &facts); /* to say it in words of the plan */
	conf_doc_free(doc);
	free(overrides);
	return code;
}

/* "7" or "3-7" */
static bool read_numbers(const char *text, size_t points, size_t *first, size_t *last)
{
	const char *dash = strchr(text, '-'), *second = dash ? dash + 1 : text;
	size_t digits = strspn(text, "0123456789");

	*first = (size_t)strtoull(text, NULL, 10);
	*last = (size_t)strtoull(second, NULL, 10);
	if (!digits || text + digits != (dash ? dash : text + strlen(text)) || !*second ||
	    strspn(second, "0123456789") != strlen(second) || strlen(text) > 30 || *first > *last) {
		complain("sweep run takes numbers of points, such as 0 or 3-7; found \"%s\"", text);
		return false;
	}
	if (*last >= points) {
		complain("there is no point %zu: the plan has %zu, from 0 on", *last, points);
		return false;
	}
	return true;
}

static int run_points(const struct cli *cli, struct plan *plan, const char *dir,
		      const struct rules *rules)
{
	char *folder = xasprintf("%s/points", dir);
	size_t first, last;
	bool interrupted = false;
	int worst = EXIT_DONE;

	for (int i = 1; i < cli->argc && !interrupted; i++) {
		read_numbers(cli->argv[i], plan->point_count, &first, &last);
		for (size_t n = first; n <= last && !interrupted; n++) {
			int code = run_point(cli, plan, folder, rules, n, &interrupted);

			worst = code > worst ? code : worst;
		}
	}
	if (conf_errors(plan->doc))
		conf_print_errors(plan->doc, stderr, false);
	free(folder);
	return interrupted ? EXIT_INTERRUPTED : worst;
}

static bool good_numbers(const struct cli *cli, const struct plan *plan)
{
	size_t first, last;

	if (cli->argc < 2)
		complain("sweep run needs numbers of points; see inasim sweep run --help");
	for (int i = 1; i < cli->argc; i++)
		if (!read_numbers(cli->argv[i], plan->point_count, &first, &last))
			return false;
	return cli->argc > 1;
}

int verb_sweep_run(const struct cli *cli)
{
	struct plan *plan = load_plan(cli);
	int code = code_of_plan(plan);
	char *dir = NULL, *error = NULL;
	struct rules rules;

	if (code != EXIT_DONE) {
		conf_print_errors(plan->doc, stderr, false);
	} else if (!good_numbers(cli, plan) || !read_rules(cli, plan, &rules)) {
		code = EXIT_USAGE;
	} else {
		dir = sweep_dir(cli, plan);
		point_hold_signals();
		if (sweep_make(dir, cli->argv[0], &error)) {
			code = run_points(cli, plan, dir, &rules);
		} else {
			complain("%s", error);
			code = EXIT_IO;
		}
	}
	free(error);
	free(dir);
	plan_free(plan);
	return code;
}

/* --- status --- */

static bool all_done(const struct sweep *sweep)
{
	size_t counts[POINT_STATUSES];

	sweep_count(sweep, counts);
	return counts[POINT_DONE] == sweep->plan->point_count;
}

static bool has_failed(const struct point_record *record)
{
	return record->status != POINT_DONE && record->status != POINT_MISSING;
}

#define TOLD 20 /* failed points that are told one by one */

static void print_status(const struct sweep *sweep, size_t pending)
{
	size_t counts[POINT_STATUSES], failed = 0;

	sweep_count(sweep, counts);
	printf("%s in %s: %zu points", sweep->plan->name, sweep->dir, sweep->plan->point_count);
	for (int s = 0; s < POINT_STATUSES; s++)
		if (counts[s])
			printf(", %zu %s", counts[s], point_status_names[s]);
	printf("; %zu to run\n", pending);
	for (size_t i = 0; i < sweep->plan->point_count; i++) {
		const struct point_record *record = &sweep->records[i];
		char *words;

		if (!has_failed(record) || ++failed > TOLD)
			continue;
		words = plan_point_words(sweep->plan, i);
		printf("  point %zu (%s): %s, attempts: %" PRIu64 "%s%s\n", i, words,
		       point_status_names[record->status], record->attempts,
		       *record->message ? ": " : "", record->message);
		free(words);
	}
	if (failed > TOLD)
		printf("  and %zu more\n", failed - TOLD);
	if (sweep->others)
		printf("  %zu points of other plans or versions are left alone\n", sweep->others);
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

static void print_status_json(const struct sweep *sweep, const size_t *pending, size_t count)
{
	size_t counts[POINT_STATUSES];
	struct json json;
	char *text;

	sweep_count(sweep, counts);
	json_init(&json);
	json_open_object(&json, NULL);
	json_string(&json, "name", sweep->plan->name);
	json_string(&json, "dir", sweep->dir);
	json_u64(&json, "points", sweep->plan->point_count);
	json_open_object(&json, "status");
	for (int s = 0; s < POINT_STATUSES; s++)
		json_u64(&json, point_status_names[s], counts[s]);
	json_close_object(&json);
	json_failed(&json, sweep);
	json_open_array(&json, "pending");
	for (size_t i = 0; i < count; i++)
		json_u64(&json, NULL, pending[i]);
	json_close_array(&json);
	json_u64(&json, "others", sweep->others);
	json_close_object(&json);
	text = json_finish(&json);
	fputs(text, stdout);
	free(text);
}

static void show_status(const struct cli *cli, const struct sweep *sweep, const struct rules *rules)
{
	size_t count;
	size_t *pending = sweep_pending(sweep, rules->time_limit, rules->memory_limit,
					rules->retries, &count);

	if (cli->json)
		print_status_json(sweep, pending, count);
	else if (cli->sweep.pending)
		for (size_t i = 0; i < count; i++)
			printf("%zu\n", pending[i]);
	else
		print_status(sweep, count);
	free(pending);
}

/* Loads plan and sweep; calls `look`, which returns an exit code. */
static int with_sweep(const struct cli *cli,
		      int (*look)(const struct cli *cli, const struct sweep *sweep,
				  const struct rules *rules))
{
	struct point_facts *facts;
	struct plan *plan;
	struct rules rules;
	struct sweep sweep;
	int code = load_all(cli, &plan, &facts);

	if (code == EXIT_DONE && !read_rules(cli, plan, &rules))
		code = EXIT_USAGE;
	if (code == EXIT_DONE) {
		char *dir = sweep_dir(cli, plan);

		sweep_read(&sweep, dir, plan, facts);
		code = look(cli, &sweep, &rules);
		sweep_release(&sweep);
		free(dir);
	}
	free(facts);
	plan_free(plan);
	return code;
}

static int look_at_status(const struct cli *cli, const struct sweep *sweep,
			  const struct rules *rules)
{
	show_status(cli, sweep, rules);
	return all_done(sweep) || cli->sweep.pending ? EXIT_DONE : EXIT_UNFINISHED;
}

int verb_sweep_status(const struct cli *cli)
{
	return with_sweep(cli, look_at_status);
}

/* --- collect --- */

static int collect(const struct cli *cli, const struct sweep *sweep, const struct rules *rules)
{
	char *error = NULL;

	if (!sweep_make(sweep->dir, cli->argv[0], &error) || !sweep_collect(sweep, &error)) {
		complain("%s", error);
		free(error);
		return EXIT_IO;
	}
	if (!cli->quiet)
		show_status(cli, sweep, rules);
	return all_done(sweep) ? EXIT_DONE : EXIT_UNFINISHED;
}

int verb_sweep_collect(const struct cli *cli)
{
	return with_sweep(cli, collect);
}
