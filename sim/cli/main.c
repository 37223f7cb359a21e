/* inasim VERB ...: reads the command line, calls the verb. */
#include "cli/cli.h"

#include "base/mem.h"
#include "base/plain.h"
#include "build_info.h"
#include "scenario/scenario.h"

#include <cjson/cJSON.h>
#include <fcntl.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_version.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct verb verbs[] = {
	{ "init", "init [FILE] [--kind KIND]",
	  "write a scenario to start from, with comments (scenario.json)", NULL, 1, verb_init },
	{ "run",
	  "run SCENARIO... [--out DIR [--force] [--why] [--timeline FROM..TO] "
	  "[--events FROM..TO]] [--seed N] [--set /pointer=value] "
	  "[--fidelity F] [--fast-forward SHARE] [--no-fast-forward]",
	  "simulate", "a scenario", INT_MAX, verb_run },
	{ "check", "check SCENARIO... [--strict] [--seed N] [--set /pointer=value] [--fidelity F]",
	  "validate only, and report all mistakes at once", "a scenario", INT_MAX, verb_check },
	{ "explain", "explain SCENARIO [--seed N] [--set /pointer=value] [--fidelity F]",
	  "print the resolved scenario: every value with its unit and where it came from",
	  "a scenario", 1, verb_explain },
	{ "help", "help [KEY|VERB]",
	  "explain a key of scenarios or sweep plans, by its name or path, or a verb", NULL, 2,
	  verb_help },
	{ "list",
	  "list [schemes|topologies|transports|models|traces|figures|formulas|keys|metrics]",
	  "list what exists", NULL, 1, verb_list },
	{ "formula", "formula NAME [INPUT=VALUE]... [--json]",
	  "compute a closed form of the papers (inasim list formulas)", "the name of a formula",
	  INT_MAX, verb_formula },
	{ "schema", "schema [--plan | --results [--json]]",
	  "print the JSON Schema of scenarios or sweep plans, or the data dictionary of results",
	  NULL, 0, verb_schema },
	{ "plot",
	  "plot DIR... [--figure NAME] [--together] | plot SWEEP [--y METRIC]... [--x AXIS] "
	  "[--by AXIS]",
	  "draw figures of result directories and of sweeps", "a result directory or a sweep",
	  INT_MAX, verb_plot },
	{ "compare",
	  "compare DIR... [--metric NAME]... [--by AXIS [--baseline VALUE]] [--margin Z] "
	  "[--tolerance R]",
	  "show results side by side, with ratios, intervals and verdicts", "result directories",
	  INT_MAX, verb_compare },
	{ "why", "why DIR... [--summary] [--json]",
	  "show what jobs spent their time on, in runs with --why",
	  "a result directory of run --why", INT_MAX, verb_why },
	{ "report", "report DIR|SWEEP... [--out FILE]",
	  "write one page of HTML: what was run, warnings, tables, figures, how to run it again",
	  "a result directory or a sweep", INT_MAX, verb_report },
	{ "regress", "regress [DIR] [--scenario NAME]... [--jobs N] [--update REASON]",
	  "run reference scenarios again (of DIR or traces/reference); report what differs, and "
	  "the first event that does",
	  NULL, 1, verb_regress },
	{ "manual", "manual inasim.1|inasim-scenario.5|inasim-sweep.1|bash|zsh|fish",
	  "print a page of the manual, or the completion for a shell", "a page or a shell", 1,
	  verb_manual },
	{ "export topology", "export topology SCENARIO [--set /pointer=value]",
	  "print the network of a scenario as a graph, as a start for your own", "a scenario", 1,
	  verb_export_topology },
	{ "export fct", "export fct DIR",
	  "print finished flows as HPCC's fct.txt, with their FCT alone by its formula",
	  "a result directory", 1, verb_export_fct },
	{ "import topology", "import topology FILE",
	  "print a topology of HPCC, SimAI (topology.txt) or csg-htsim (.topo) as a graph",
	  "a file", 1, verb_import_topology },
	{ "sweep plan", "sweep plan PLAN [--json]",
	  "check a sweep plan and print its points: number, values, seed, hash, estimated cost",
	  "a plan", 1, verb_sweep_plan },
	{ "sweep run",
	  "sweep run PLAN N... [--out DIR] [--force] [--why] [--time-limit T] [--memory-limit M]",
	  "run points of a plan: numbers, or ranges such as 3-7", "a plan", INT_MAX,
	  verb_sweep_run },
	{ "sweep status",
	  "sweep status PLAN [--out DIR] [--pending] [--json] [--time-limit T] [--memory-limit M]",
	  "show how the points of a plan ended", "a plan", 1, verb_sweep_status },
	{ "sweep collect", "sweep collect PLAN [--out DIR]",
	  "write tables of all points: sweep.csv, costs.csv, groups.csv, sweep.json", "a plan", 1,
	  verb_sweep_collect },
};
#define VERBS (sizeof(verbs) / sizeof(verbs[0]))

void complain(const char *fmt, ...)
{
	char text[4096]; /* one write, so that messages of several processes do not mix */
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	plain_text(text);
	fprintf(stderr, "inasim: %s\n", text);
}

void complain_unknown(const char *what, const char *word, const char *const *names,
		      const char *rest)
{
	const char *near = conf_suggest(word, names);

	if (near)
		complain("%s \"%s\" (did you mean \"%s\"?)%s", what, word, near, rest);
	else
		complain("%s \"%s\"%s", what, word, rest);
}

struct conf_doc *load_scenario(const struct cli *cli, const char *path, struct scenario *scenario)
{
	return scenario_load(path, scenario, cli->overrides, cli->override_count);
}

enum exit_code exit_code_of(const struct conf_doc *doc)
{
	if (conf_io_error(doc))
		return EXIT_IO;
	return conf_errors(doc) ? EXIT_INVALID : EXIT_DONE;
}

void print_version(void)
{
	printf("inasim %s (%s), %s build, %s\n", BUILD_VERSION, BUILD_COMMIT, BUILD_TYPE,
	       BUILD_COMPILER);
	printf("GSL %s, cJSON %s\n", gsl_version, cJSON_Version());
}

const struct verb *verb_at(size_t i)
{
	return i < VERBS ? &verbs[i] : NULL;
}

const struct exit_meaning exit_meanings[] = {
	{ EXIT_DONE, "all work finished" },
	{ EXIT_DIFFERS, "differs" },
	{ EXIT_USAGE, "usage" },
	{ EXIT_INVALID, "invalid scenario or plan" },
	{ EXIT_UNFINISHED, "unfinished work" },
	{ EXIT_VIOLATED, "a check was violated" },
	{ EXIT_IO, "input/output failed" },
	{ EXIT_MEMORY, "out of memory" },
	{ EXIT_INTERRUPTED, "interrupted" },
	{ 0 },
};

void print_usage(FILE *to)
{
	fputs("inasim simulates machine-learning clusters that aggregate gradients in the "
	      "network.\n\nusage:\n",
	      to);
	for (size_t i = 0; i < VERBS; i++)
		fprintf(to, "  inasim %-15s  %s\n", verbs[i].name, verbs[i].help);
	fputs("  inasim VERB --help      options of a verb\n  inasim --version\n\nexit codes:\n",
	      to);
	for (const struct exit_meaning *m = exit_meanings; m->meaning; m++)
		fprintf(to, "  %3d  %s\n", m->code, m->meaning);
}

static void print_option(const char *form, const char *help)
{
	printf("  %-20s  %s\n", form, help);
}

void print_verb_usage(const struct verb *verb)
{
	printf("usage: inasim %s\n  %s\n", verb->synopsis, verb->help);
	options_tell(verb, print_option);
}

/* Whether a verb's name is `name` and a second word. "sweep" is a family of verbs. */
static bool is_of_family(const struct verb *verb, const char *name)
{
	size_t length = strlen(name);

	return !strncmp(verb->name, name, length) && verb->name[length] == ' ';
}

static bool is_family(const char *name)
{
	size_t i = 0;

	while (i < VERBS && !is_of_family(&verbs[i], name))
		i++;
	return i < VERBS;
}

static void print_family(const char *name, FILE *to)
{
	fputs("usage:\n", to);
	for (size_t i = 0; i < VERBS; i++)
		if (is_of_family(&verbs[i], name))
			fprintf(to, "  inasim %s\n    %s\n", verbs[i].synopsis, verbs[i].help);
	fprintf(to, "  inasim %s VERB --help   options of a verb\n", name);
}

static const struct verb *find_verb(const char *name)
{
	const char *names[VERBS + 1] = { 0 };

	for (size_t i = 0; i < VERBS; i++) {
		if (!strcmp(verbs[i].name, name))
			return &verbs[i];
		names[i] = verbs[i].name;
	}
	complain_unknown("there is no verb", name, names, "");
	return NULL;
}

/* Runs a verb. If it is NULL, find_verb() has complained. argv[0] is the last word of its name. */
static int run_verb(struct cli *cli, const struct verb *verb, int argc, char **argv)
{
	int code;

	if (!verb)
		return EXIT_USAGE;
	code = options_parse(cli, verb, argc, argv);
	return code < 0 ? verb->run(cli) : code;
}

static int run_family(struct cli *cli, const char *name, int argc, char **argv)
{
	bool help = argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"));
	const struct verb *verb;
	char *full;

	if (argc > 1 && !strcmp(argv[1], "--version")) {
		print_version();
		return EXIT_DONE;
	}
	if (argc < 2 || help) {
		print_family(name, help ? stdout : stderr);
		return help ? EXIT_DONE : EXIT_USAGE;
	}
	full = xasprintf("%s %s", name, argv[1]);
	verb = find_verb(full);
	free(full);
	if (!verb) /* perhaps "sweep FILE", without a verb */
		print_family(name, stderr);
	return run_verb(cli, verb, argc - 1, argv + 1);
}

static int run_program(struct cli *cli, int argc, char **argv)
{
	if (argc < 2) {
		print_usage(stderr);
		return EXIT_USAGE;
	}
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "version")) {
		print_version();
		return EXIT_DONE;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
		print_usage(stdout);
		return EXIT_DONE;
	}
	if (is_family(argv[1]))
		return run_family(cli, argv[1], argc - 1, argv + 1);
	return run_verb(cli, find_verb(argv[1]), argc - 1, argv + 1);
}

/* Opens /dev/null under the numbers of standard streams that the caller has closed. Else the next
 * file to be opened, such as a result table, would get such a number, and messages would go into
 * it. As it is opened for reading, writing to it fails. */
static void keep_streams_apart(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDONLY);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
}

int main(int argc, char **argv)
{
	struct cli cli = { .full_argc = argc, .full_argv = argv };
	int code;

	keep_streams_apart();
	signal(SIGXFSZ, SIG_IGN); /* a write beyond ulimit -f fails, as on a full disk */
	signal(SIGUSR1, SIG_IGN); /* only `run` answers it; it must not end other verbs */
	gsl_set_error_handler_off();
	cJSON_InitHooks(&(cJSON_Hooks){ .malloc_fn = xmalloc, .free_fn = free });
	code = run_program(&cli, argc, argv);
	if (fflush(stdout) || ferror(stdout)) {
		complain("cannot write standard output");
		if (code < EXIT_IO)
			code = EXIT_IO;
	}
	options_release(&cli);
	return code;
}
