/* The verb sweep run: points by number, each in a process of its own (lab/sweep/point.h). */
#include "cli/sweep.h"

#include "base/plain.h"
#include "build_info.h"
#include "run/simulation.h"
#include "scenario/scenario.h"
#include "lab/sweep/point.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A valid point: loaded by the parent, simulated by the child. */
struct loaded_point {
	const struct cli *cli;
	const struct conf_doc *doc;
	const struct scenario *scenario;
};

static int simulate_point(void *owner, const char *out)
{
	const struct loaded_point *point = owner;
	struct cli quiet = *point->cli;

	quiet.quiet = true;
	quiet.json = false;
	/* if --why is impossible, the point runs without it */
	quiet.run.why = quiet.run.why && point->scenario->fidelity == FIDELITY_PACKET;
	return run_scenario(&quiet, point->scenario, point->doc, out);
}

static void report_point(const struct cli *cli, const struct plan *plan, size_t number,
			 enum point_end end, const struct point_record *record, const char *words)
{
	const char *status = point_status_names[record->status];
	bool done = point_status_is_done(record->status);

	if (cli->quiet && (end == POINT_KEPT || (end == POINT_RAN && done)))
		return;
	plain_print(stderr, "%s: ", sweep_point_name(plan, number));
	switch (end) {
	case POINT_RAN:
		plain_print(stderr, "%s after %.3g s%s%s\n", status, record->wall_s,
			    *record->message ? ": " : "", record->message);
		return;
	case POINT_KEPT:
		if (done)
			plain_print(stderr, "%s before, skipped\n", status);
		else
			plain_print(stderr,
				    "%s before, not run again without --force (attempts: %" PRIu64
				    ")%s%s\n",
				    status, record->attempts, *record->message ? ": " : "",
				    record->message);
		return;
	case POINT_BUSY:
		plain_print(stderr, "skipped: %s\n", words);
		return;
	case POINT_FAILED:
		plain_print(stderr, "%s\n", words);
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
	case POINT_FAILED:
		return EXIT_IO;
	}
	return EXIT_IO;
}

static int run_valid(const struct cli *cli, const struct plan *plan, const char *folder,
		     const struct point_limits *limits, size_t number, const struct conf_doc *doc,
		     const struct scenario *scenario)
{
	struct loaded_point point = { .cli = cli, .doc = doc, .scenario = scenario };
	struct point_order order = {
		.folder = folder,
		.hash = scenario_hash(scenario, doc, BUILD_VERSION),
		.limits = *limits,
		.force = cli->sweep.force,
		.version = BUILD_VERSION,
		.commit = BUILD_COMMIT,
		.simulate = simulate_point,
		.owner = &point,
	};
	struct point_record record;
	enum point_end end;
	char *words;
	int code;

	record_init(&record);
	end = point_run(&order, &record, &words);
	report_point(cli, plan, number, end, &record, words);
	code = code_of_point(end, &record);
	record_release(&record);
	free(words);
	return code;
}

static int run_point(const struct cli *cli, struct plan *plan, const char *folder,
		     const struct point_limits *limits, size_t number)
{
	struct scenario scenario;
	size_t count;
	struct conf_override *overrides = plan_overrides(plan, number, &count, NULL);
	struct conf_doc *doc = scenario_load(plan->base, &scenario, overrides, count);
	int code = EXIT_INVALID;

	if (!conf_errors(doc))
		code = run_valid(cli, plan, folder, limits, number, doc, &scenario);
	else
		plan_check_point(plan, number, sweep_model); /* adds the mistakes to plan->doc */
	conf_doc_free(doc);
	free(overrides);
	return code;
}

/* Reads "7" or "3-7". False after a complaint. */
static bool read_numbers(const char *text, size_t points, size_t *first, size_t *last)
{
	const char *dash = strchr(text, '-'), *second = dash ? dash + 1 : text;
	size_t digits = strspn(text, "0123456789");

	*first = (size_t)strtoull(text, NULL, 10);
	*last = (size_t)strtoull(second, NULL, 10);
	if (!digits || text + digits != (dash ? dash : text + strlen(text)) || !*second ||
	    strspn(second, "0123456789") != strlen(second) || *first > *last) {
		complain("sweep run takes numbers of points, such as 0 or 3-7; found \"%s\"", text);
		return false;
	}
	if (*last >= points) {
		complain("there is no point %zu: the plan has %zu, numbered from 0", *last, points);
		return false;
	}
	return true;
}

static int run_points(const struct cli *cli, struct plan *plan, const char *dir,
		      const struct point_limits *limits)
{
	const char *folder = conf_at(plan->doc, "%s/points", dir);
	size_t first, last;
	int worst = EXIT_DONE;

	for (int i = 1; i < cli->argc; i++) {
		read_numbers(cli->argv[i], plan->point_count, &first, &last); /* checked before */
		for (size_t n = first; n <= last; n++) {
			int code = run_point(cli, plan, folder, limits, n);

			worst = code > worst ? code : worst;
		}
	}
	if (conf_errors(plan->doc))
		conf_print_errors(plan->doc, stderr, false);
	return worst;
}

/* False after a complaint. */
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
	struct plan *plan = sweep_load_plan(cli);
	int code = exit_code_of(plan->doc);
	const char *dir;
	char *error = NULL;
	struct point_limits limits;

	if (code != EXIT_DONE) {
		conf_print_errors(plan->doc, stderr, false);
	} else if (!good_numbers(cli, plan) || !sweep_read_limits(cli, plan, &limits)) {
		code = EXIT_USAGE;
	} else {
		dir = sweep_dir(cli, plan);
		if (sweep_make(dir, cli->argv[0], &error)) {
			code = run_points(cli, plan, dir, &limits);
		} else {
			complain("%s", error);
			code = EXIT_IO;
		}
	}
	free(error);
	plan_free(plan);
	return code;
}
