/* The verb crosscheck: a scenario as packets and as fluid, side by side, and against what is
 * promised of its kind. Each run is a process of its own. */
#include "cli/crosscheck.h"

#include "base/child.h"
#include "base/mem.h"
#include "crosscheck/random_scenario.h"
#include "out/folder.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST_RANDOM 100000

/* In this order; the closed form only of jobs that are alone. */
enum { PACKET, FLUID, ANALYTIC, RUNS };
static const char *const fidelities[RUNS] = { "packet", "fluid", "analytic" };

/* --- runs --- */

/* Loads with the options of the command line and, if not NULL, a fidelity. */
static struct conf_doc *load(const struct cli *cli, const char *path, const char *fidelity,
			     struct scenario *scenario)
{
	struct conf_override *overrides = xcalloc(cli->override_count + 1, sizeof(*overrides));
	size_t count = cli->override_count;
	struct conf_doc *doc;

	if (count)
		memcpy(overrides, cli->overrides, count * sizeof(*overrides));
	if (fidelity)
		overrides[count++] = (struct conf_override){ "/fidelity", fidelity };
	doc = scenario_load(path, scenario, overrides, count);
	free(overrides);
	return doc;
}

/* In a process of its own; never returns. */
static _Noreturn void run_child(const struct cli *cli, const char *path, const char *fidelity,
				const char *out)
{
	struct cli quiet = *cli;
	struct scenario scenario;
	struct conf_doc *doc = load(cli, path, fidelity, &scenario);
	int code = EXIT_INVALID;

	quiet.quiet = true;
	quiet.json = false;
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	if (conf_errors(doc))
		conf_print_errors(doc, stderr, false);
	else
		code = run_scenario(&quiet, &scenario, path, doc, out);
	fflush(NULL);
	_exit(code);
}

/* SIGINT or SIGTERM has come: runs under way are told, and what they left is removed. */
static volatile sig_atomic_t interrupted;

static void on_interrupt(int number)
{
	(void)number;
	interrupted = 1;
}

static void catch_interrupts(void)
{
	struct sigaction action = { .sa_handler = on_interrupt }; /* waitpid() returns */

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
}

static int code_of_child(pid_t child)
{
	int status;

	do {
		if (interrupted)
			kill(child, SIGTERM);
		if (waitpid(child, &status, 0) == child)
			break;
		if (errno != EINTR)
			return EXIT_IO;
	} while (true);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* The first `runs` fidelities at a time; `folder` gets their results. Returns the largest exit
 * code. */
static int run_all(const struct cli *cli, const char *path, const char *folder, int runs)
{
	pid_t children[RUNS];
	int worst = EXIT_DONE;

	fflush(NULL);
	for (int i = 0; i < runs; i++) {
		children[i] = child_fork();
		if (children[i] == 0)
			run_child(cli, path, fidelities[i], folder_join(folder, fidelities[i]));
	}
	for (int i = 0; i < runs; i++) {
		int code = children[i] < 0 ? EXIT_IO : code_of_child(children[i]);

		if (code && !interrupted)
			complain("%s as %s ended with exit code %d", path, fidelities[i], code);
		worst = code > worst ? code : worst;
	}
	return interrupted ? EXIT_INTERRUPTED : worst;
}

/* --- one scenario --- */

static void compare(const struct outcome outcomes[RUNS], struct crosscheck *check)
{
	check->items = outcome_pair(&outcomes[PACKET], &outcomes[FLUID], &check->item_count);
	check->closed_s = check->closed_difference = NAN;
	if (outcomes[ANALYTIC].job_count == 1 && outcomes[FLUID].job_count == 1 &&
	    outcomes[ANALYTIC].jobs[0].workers > 1) {
		check->closed_s = outcomes[ANALYTIC].jobs[0].exchange_s;
		check->closed_difference = outcomes[FLUID].jobs[0].exchange_s / check->closed_s - 1;
	}
}

static int read_and_compare(const char *folder, int runs, struct crosscheck *check)
{
	struct outcome outcomes[RUNS] = { 0 };
	char *error = NULL;
	bool good = true;

	for (int i = 0; i < runs && good; i++) {
		char *dir = folder_join(folder, fidelities[i]);

		good = outcome_read(dir, &outcomes[i], &error);
		free(dir);
	}
	if (good)
		compare(outcomes, check);
	else
		complain("%s", error);
	free(error);
	for (int i = 0; i < runs; i++)
		outcome_release(&outcomes[i]);
	return good ? EXIT_DONE : EXIT_IO;
}

static int check_in(const struct cli *cli, const char *path, const char *folder,
		    struct crosscheck *check)
{
	int runs = crosscheck_is_alone(check->kind) ? RUNS : ANALYTIC,
	    code = run_all(cli, path, folder, runs);

	return code == EXIT_DONE ? read_and_compare(folder, runs, check) : code;
}

/* What kind it is; EXIT_DONE, or what is wrong with it. */
static int look_at(const struct cli *cli, const char *path, enum crosscheck_kind *kind)
{
	struct scenario scenario;
	struct conf_doc *doc = load(cli, path, "packet", &scenario);
	int code = EXIT_DONE;

	if (conf_errors(doc)) {
		conf_print_errors(doc, stderr, false);
		code = conf_io_error(doc) ? EXIT_IO : EXIT_INVALID;
	} else {
		*kind = crosscheck_kind(&scenario);
	}
	conf_doc_free(doc);
	return code;
}

int crosscheck_scenario(const struct cli *cli, const char *path, struct crosscheck *check)
{
	const char *temporary = getenv("TMPDIR");
	char *folder = xasprintf("%s/inasim-crosscheck-XXXXXX",
				 temporary && *temporary ? temporary : "/tmp");
	int code;

	*check = (struct crosscheck){ .path = path };
	code = look_at(cli, path, &check->kind);
	if (code == EXIT_DONE && !mkdtemp(folder)) {
		complain("no temporary folder can be made: %s", strerror(errno));
		code = EXIT_IO;
	} else if (code == EXIT_DONE) {
		code = check_in(cli, path, folder, check);
		folder_remove(folder);
	}
	free(folder);
	return code;
}

/* --- random scenarios --- */

static bool whole_number(const char *option, const char *text, uint64_t least, uint64_t most,
			 uint64_t *number)
{
	char *end;

	errno = 0;
	*number = strtoull(text, &end, 10);
	if (*text >= '0' && *text <= '9' && !*end && !errno && *number >= least && *number <= most)
		return true;
	complain("--%s takes a whole number from %" PRIu64 " to %" PRIu64 "; found \"%s\"", option,
		 least, most, text);
	return false;
}

/* DIR/NAME.json; NULL when it cannot be written. The caller frees. */
static char *write_random(const char *dir, uint64_t seed, uint64_t number)
{
	char *path = xasprintf("%s/random-%" PRIu64 "-%" PRIu64 ".json", dir, seed, number);
	char *part = xasprintf("%s.part", path), *text = random_scenario(seed, number);

	if (!folder_make_parents(path) || !folder_replace(path, part, text)) {
		complain("%s cannot be written: %s", path, strerror(errno));
		free(path);
		path = NULL;
	}
	free(part);
	free(text);
	return path;
}

/* The command line becomes that of the scenarios. False: told. */
static int make_random(const struct cli *cli, struct cli *made)
{
	uint64_t count, seed = 1;
	char *dir;
	int code = EXIT_DONE;

	if (!whole_number("random", cli->crosscheck.count, 1, MOST_RANDOM, &count) ||
	    (cli->crosscheck.seed &&
	     !whole_number("seed", cli->crosscheck.seed, 0, UINT64_C(9007199254740991), &seed)))
		return EXIT_USAGE;
	dir = cli->out ? xstrdup(cli->out) : xasprintf("results/crosscheck-%" PRIu64, seed);
	made->argv = xcalloc(count + 1, sizeof(*made->argv));
	for (made->argc = 0; (uint64_t)made->argc < count && code == EXIT_DONE;) {
		char *path = write_random(dir, seed, (uint64_t)made->argc);

		if (path)
			made->argv[made->argc++] = path;
		else
			code = EXIT_IO;
	}
	if (code == EXIT_DONE && !cli->quiet)
		fprintf(stderr, "%" PRIu64 " scenarios in %s\n", count, dir);
	free(dir);
	return code;
}

static void release_random(struct cli *made)
{
	for (int i = 0; i < made->argc; i++)
		free(made->argv[i]);
	free(made->argv);
}

/* --- the verb --- */

/* NAN when none was given. */
static bool tolerance_of(const struct cli *cli, double *tolerance)
{
	const char *text = cli->crosscheck.tolerance;
	char *end;

	*tolerance = NAN;
	if (!text)
		return true;
	*tolerance = strtod(text, &end);
	if (end != text && !*end && *tolerance >= 0 && *tolerance <= 1)
		return true;
	complain("--tolerance takes a number from 0 to 1; found \"%s\"", text);
	return false;
}

static int check_all(const struct cli *cli)
{
	struct crosscheck_report report;
	int worst = EXIT_DONE;
	double tolerance;

	if (!tolerance_of(cli, &tolerance))
		return EXIT_USAGE;
	crosscheck_report_open(&report, cli, tolerance);
	catch_interrupts();
	for (int i = 0; i < cli->argc && !interrupted; i++) {
		struct crosscheck check;
		int code = crosscheck_scenario(cli, cli->argv[i], &check);

		if (code == EXIT_DONE)
			crosscheck_report_add(&report, &check);
		worst = code > worst ? code : worst;
		outcome_items_free(check.items, check.item_count);
	}
	if (!crosscheck_report_close(&report) && worst == EXIT_DONE)
		worst = EXIT_DIFFERS;
	return interrupted ? EXIT_INTERRUPTED : worst;
}

int verb_crosscheck(const struct cli *cli)
{
	struct cli made = *cli;
	int code;

	if (!cli->crosscheck.count) {
		if (cli->argc && !cli->crosscheck.seed && !cli->out)
			return check_all(cli);
		complain(cli->argc ? "--seed and --out belong to --random"
				   : "crosscheck needs scenarios, or --random N");
		return EXIT_USAGE;
	}
	if (cli->argc) {
		complain("crosscheck takes scenarios or --random, not both");
		return EXIT_USAGE;
	}
	made.argv = NULL;
	code = make_random(cli, &made);
	if (code == EXIT_DONE)
		code = check_all(&made);
	if (made.argv)
		release_random(&made);
	return code;
}
