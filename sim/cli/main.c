/* inasim VERB ...: reads the command line, calls the verb. */
#include "cli/cli.h"

#include "base/mem.h"
#include "build_info.h"

#include <cjson/cJSON.h>
#include <getopt.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_version.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static const struct verb verbs[] = {
	{ "run", "run SCENARIO... [--out DIR] [--seed N] [--set /pointer=value] [--fidelity F]",
	  "simulate", "osSfjq", "a scenario", INT_MAX, verb_run },
	{ "check", "check SCENARIO... [--seed N] [--set /pointer=value] [--fidelity F]",
	  "validate only, all mistakes at once", "sSfjq", "a scenario", INT_MAX, verb_check },
	{ "explain", "explain SCENARIO [--seed N] [--set /pointer=value] [--fidelity F]",
	  "the resolved scenario: every value with its unit and where it came from", "sSfj",
	  "a scenario", 1, verb_explain },
	{ "list", "list [schemes|topologies|transports|models|traces|figures]", "what exists", "j",
	  NULL, 1, verb_list },
	{ "schema", "schema [--plan | --results [--json]]",
	  "JSON Schema of scenarios or sweep plans, or the data dictionary of results", "rjp", NULL,
	  0, verb_schema },
	{ "plot",
	  "plot DIR... [--figure NAME] [--together] | plot SWEEP [--y METRIC]... [--x AXIS] "
	  "[--by AXIS]",
	  "figures of result directories and of sweeps", "tFqogLzxybwklv",
	  "a result directory or a sweep", INT_MAX, verb_plot },
	{ "sweep plan", "sweep plan PLAN [--json]",
	  "check a sweep plan and print its points: number, values, seed, hash, estimated cost",
	  "jq", "a plan", 1, verb_sweep_plan },
	{ "sweep run",
	  "sweep run PLAN N... [--out DIR] [--force] [--retries K] [--time-limit T] "
	  "[--memory-limit M]",
	  "run points of a plan: numbers, or ranges such as 3-7", "oXRTMq", "a plan", INT_MAX,
	  verb_sweep_run },
	{ "sweep status",
	  "sweep status PLAN [--out DIR] [--pending] [--json] [--retries K] [--time-limit T] "
	  "[--memory-limit M]",
	  "how the points of a plan ended", "oPjRTM", "a plan", 1, verb_sweep_status },
	{ "sweep collect", "sweep collect PLAN [--out DIR]",
	  "tables of all points: sweep.csv, costs.csv, groups.csv, sweep.json", "ojq", "a plan", 1,
	  verb_sweep_collect },
};
#define VERBS (sizeof(verbs) / sizeof(verbs[0]))

static const struct {
	struct option option;
	const char *help;
} options[] = {
	{ { "out", required_argument, NULL, 'o' },
	  "--out DIR            result directory (a numbered folder in it for several scenarios)" },
	{ { "seed", required_argument, NULL, 's' },
	  "--seed N             the scenario's seed is N" },
	{ { "set", required_argument, NULL, 'S' },
	  "--set /pointer=VALUE a value of the scenario, by JSON pointer" },
	{ { "fidelity", required_argument, NULL, 'f' }, "--fidelity F         packet" },
	{ { "json", no_argument, NULL, 'j' }, "--json               for machines" },
	{ { "quiet", no_argument, NULL, 'q' }, "--quiet              no progress, no summary" },
	{ { "results", no_argument, NULL, 'r' },
	  "--results            columns of the result tables" },
	{ { "term", required_argument, NULL, 't' },
	  "--term T             png, svg, pdf, or dumb (text)" },
	{ { "figure", required_argument, NULL, 'F' },
	  "--figure NAME        only this figure (inasim list figures)" },
	{ { "plan", no_argument, NULL, 'p' }, "--plan               of sweep plans" },
	{ { "pending", no_argument, NULL, 'P' },
	  "--pending            only the numbers of the points to run, longest first" },
	{ { "force", no_argument, NULL, 'X' },
	  "--force              also points that are finished or are not tried again" },
	{ { "retries", required_argument, NULL, 'R' },
	  "--retries K          how often a point that was killed is run again (2)" },
	{ { "time-limit", required_argument, NULL, 'T' },
	  "--time-limit T       wall time of a point, such as 10m, or none (the plan's)" },
	{ { "memory-limit", required_argument, NULL, 'M' },
	  "--memory-limit M     memory of a point, such as 4GiB, or none (the plan's)" },
	{ { "size", required_argument, NULL, 'z' },
	  "--size W[xH]UNIT     for print, letters of 8 points: 3.5in, 8.5cm, 7x2.5in" },
	{ { "together", no_argument, NULL, 'g' },
	  "--together           all directories in one figure (needs --out)" },
	{ { "label", required_argument, NULL, 'L' },
	  "--label TEXT         of a directory in the legend; once for each, in their order" },
	{ { "x", required_argument, NULL, 'x' },
	  "--x AXIS             of a sweep; default: the axis with most numbers" },
	{ { "y", required_argument, NULL, 'y' },
	  "--y METRIC           a figure of it; may be repeated; default: mean JCT, p99 of FCT" },
	{ { "by", required_argument, NULL, 'b' },
	  "--by AXIS            one curve for each value; default: the first other axis; or none" },
	{ { "where", required_argument, NULL, 'w' },
	  "--where AXIS=VALUE   only these points; may be repeated" },
	{ { "kind", required_argument, NULL, 'k' }, "--kind K             lines, bars, heat, box" },
	{ { "log", required_argument, NULL, 'l' }, "--log AXES           x, y, xy, none" },
	{ { "relative-to", required_argument, NULL, 'v' },
	  "--relative-to VALUE  ratio to this value of the --by axis, or to AXIS=VALUE" },
};
#define OPTIONS (sizeof(options) / sizeof(options[0]))

void complain(const char *fmt, ...)
{
	va_list args;

	fputs("inasim: ", stderr);
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fputc('\n', stderr);
}

static void print_version(void)
{
	printf("inasim %s (%s), %s build, %s\n", BUILD_VERSION, BUILD_COMMIT, BUILD_TYPE,
	       BUILD_COMPILER);
	printf("GSL %s, cJSON %s\n", gsl_version, cJSON_Version());
}

static void print_usage(FILE *to)
{
	fputs("inasim simulates machine-learning clusters that aggregate gradients in the "
	      "network.\n\nusage:\n",
	      to);
	for (size_t i = 0; i < VERBS; i++)
		fprintf(to, "  inasim %-13s %s\n", verbs[i].name, verbs[i].help);
	fputs("  inasim VERB --help   options of a verb\n  inasim --version\n\n"
	      "exit codes: 0 all work finished, 1 differs, 2 usage, 3 invalid scenario, 4 "
	      "unfinished work,\n"
	      "            5 a check was violated, 6 input/output failed, 130 interrupted\n",
	      to);
}

static void print_verb_usage(const struct verb *verb, FILE *to)
{
	fprintf(to, "usage: inasim %s\n  %s\n", verb->synopsis, verb->help);
	for (size_t i = 0; i < OPTIONS; i++)
		if (strchr(verb->options, options[i].option.val))
			fprintf(to, "  %s\n", options[i].help);
}

static void add_override(struct cli *cli, const char *pointer, const char *value)
{
	cli->overrides = xrealloc(cli->overrides, cli->override_count + 1, sizeof(*cli->overrides));
	cli->overrides[cli->override_count++] = (struct conf_override){ pointer, value };
}

/* --set /pointer=value: cut at the first '='. */
static bool add_set(struct cli *cli, char *text)
{
	char *equals = strchr(text, '=');

	if (text[0] != '/' || !equals) {
		complain("--set takes /pointer=value, as in --set /jobs/0/workers=8; found \"%s\"",
			 text);
		return false;
	}
	*equals = '\0';
	add_override(cli, text, equals + 1);
	return true;
}

static void add_text(const char ***list, size_t *count, const char *text)
{
	*list = xrealloc(*list, *count + 1, sizeof(**list));
	(*list)[(*count)++] = text;
}

static bool take_plot_option(struct cli_plot *plot, int option, const char *argument)
{
	switch (option) {
	case 'z':
		plot->size = argument;
		return true;
	case 'g':
		plot->together = true;
		return true;
	case 'L':
		add_text(&plot->labels, &plot->label_count, argument);
		return true;
	case 'x':
		plot->x = argument;
		return true;
	case 'y':
		add_text(&plot->metrics, &plot->metric_count, argument);
		return true;
	case 'b':
		plot->by = argument;
		return true;
	case 'w':
		add_text(&plot->where, &plot->where_count, argument);
		return true;
	case 'k':
		plot->kind = argument;
		return true;
	case 'l':
		plot->log = argument;
		return true;
	case 'v':
		plot->relative_to = argument;
		return true;
	default:
		return false;
	}
}

static bool take_option(struct cli *cli, int option, char *argument)
{
	switch (option) {
	case 'o':
		cli->out = argument;
		return true;
	case 's':
		add_override(cli, "/seed", argument);
		return true;
	case 'f':
		add_override(cli, "/fidelity", argument);
		return true;
	case 'S':
		return add_set(cli, argument);
	case 'j':
		cli->json = true;
		return true;
	case 'q':
		cli->quiet = true;
		return true;
	case 'r':
		cli->results = true;
		return true;
	case 't':
		cli->term = argument;
		return true;
	case 'F':
		cli->only = argument;
		return true;
	case 'p':
		cli->plan = true;
		return true;
	case 'P':
		cli->pending = true;
		return true;
	case 'X':
		cli->force = true;
		return true;
	case 'R':
		cli->retries = argument;
		return true;
	case 'T':
		cli->time_limit = argument;
		return true;
	case 'M':
		cli->memory_limit = argument;
		return true;
	default:
		return take_plot_option(&cli->plot, option, argument);
	}
}

/* What getopt_long() did not like: it has just passed argv[optind - 1]. */
static void complain_option(const struct verb *verb, const struct option *known, int found,
			    char *const *argv)
{
	const char *names[OPTIONS + 3] = { 0 };
	const char *typed = argv[optind - 1], *near;
	char word[32];

	snprintf(word, sizeof(word), "%.*s", (int)strcspn(typed, "="), typed);
	if (found == ':') {
		complain("%s needs a value; see inasim %s --help", word, verb->name);
		return;
	}
	for (size_t i = 0; known[i].name; i++) {
		names[i] = known[i].name;
		if (!strcmp(word + strspn(word, "-"), known[i].name)) {
			complain("%s takes no value, found \"%s\"", word, typed);
			return;
		}
	}
	near = conf_suggest(word + strspn(word, "-"), names);
	complain("%s has no option \"%s\"%s%s%s; see inasim %s --help", verb->name, word,
		 near ? " (did you mean --" : "", near ? near : "", near ? "?)" : "", verb->name);
}

static int check_arguments(const struct cli *cli, const struct verb *verb)
{
	if (!cli->argc && verb->needs) {
		complain("%s needs %s; see inasim %s --help", verb->name, verb->needs, verb->name);
		return EXIT_USAGE;
	}
	if (cli->argc > verb->most) {
		complain("%s has no use for \"%s\"; see inasim %s --help", verb->name,
			 cli->argv[verb->most], verb->name);
		return EXIT_USAGE;
	}
	return -1;
}

/* Options and arguments of one verb. Returns an exit code, or -1 to go on. */
static int parse(struct cli *cli, const struct verb *verb, int argc, char **argv)
{
	struct option known[OPTIONS + 3] = { { "help", no_argument, NULL, 'h' },
					     { "version", no_argument, NULL, 'V' } };
	size_t count = 2;
	int option;

	for (size_t i = 0; i < OPTIONS; i++)
		if (strchr(verb->options, options[i].option.val))
			known[count++] = options[i].option;
	while ((option = getopt_long(argc, argv, ":h", known, NULL)) != -1) {
		switch (option) {
		case 'h':
			print_verb_usage(verb, stdout);
			return EXIT_DONE;
		case 'V':
			print_version();
			return EXIT_DONE;
		case '?':
		case ':':
			complain_option(verb, known, option, argv);
			return EXIT_USAGE;
		default:
			if (!take_option(cli, option, optarg))
				return EXIT_USAGE;
		}
	}
	cli->argc = argc - optind;
	cli->argv = argv + optind;
	return check_arguments(cli, verb);
}

/* "sweep" is a family of verbs: the next word says which. */
static bool is_family(const char *name)
{
	size_t length = strlen(name);

	for (size_t i = 0; i < VERBS; i++)
		if (!strncmp(verbs[i].name, name, length) && verbs[i].name[length] == ' ')
			return true;
	return false;
}

static void print_family(const char *name, FILE *to)
{
	size_t length = strlen(name);

	fputs("usage:\n", to);
	for (size_t i = 0; i < VERBS; i++)
		if (!strncmp(verbs[i].name, name, length) && verbs[i].name[length] == ' ')
			fprintf(to, "  inasim %s\n    %s\n", verbs[i].synopsis, verbs[i].help);
	fprintf(to, "  inasim %s VERB --help   options of a verb\n", name);
}

static const struct verb *find_verb(const char *name)
{
	const char *names[VERBS + 1] = { 0 };
	const char *near;

	for (size_t i = 0; i < VERBS; i++) {
		if (!strcmp(verbs[i].name, name))
			return &verbs[i];
		names[i] = verbs[i].name;
	}
	near = conf_suggest(name, names);
	complain("there is no verb \"%s\"%s%s%s", name, near ? "; did you mean \"" : "",
		 near ? near : "", near ? "\"?" : "");
	return NULL;
}

/* Runs one verb; argv[0] is its name, or the last word of it. */
static int run_verb(struct cli *cli, const char *name, int argc, char **argv)
{
	const struct verb *verb = find_verb(name);
	int code;

	if (!verb)
		return EXIT_USAGE;
	cli->verb = verb->name;
	code = parse(cli, verb, argc, argv);
	return code < 0 ? verb->run(cli) : code;
}

static int run_family(struct cli *cli, const char *name, int argc, char **argv)
{
	bool help = argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"));
	char *full;
	int code;

	if (argc < 2 || help) {
		print_family(name, help ? stdout : stderr);
		return help ? EXIT_DONE : EXIT_USAGE;
	}
	full = xasprintf("%s %s", name, argv[1]);
	code = run_verb(cli, full, argc - 1, argv + 1);
	free(full);
	return code;
}

int main(int argc, char **argv)
{
	struct cli cli = { .full_argc = argc, .full_argv = argv };
	int code;

	gsl_set_error_handler_off();
	opterr = 0; /* complain_option() */
	if (argc < 2) {
		print_usage(stderr);
		return EXIT_USAGE;
	}
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "version")) {
		print_version();
		return EXIT_DONE;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")) {
		print_usage(stdout);
		return EXIT_DONE;
	}
	if (is_family(argv[1]))
		code = run_family(&cli, argv[1], argc - 1, argv + 1);
	else
		code = run_verb(&cli, argv[1], argc - 1, argv + 1);
	if ((fflush(stdout) || ferror(stdout)) && code == EXIT_DONE) {
		complain("standard output cannot be written");
		code = EXIT_IO;
	}
	free(cli.overrides);
	free(cli.plot.metrics);
	free(cli.plot.where);
	free(cli.plot.labels);
	return code;
}
