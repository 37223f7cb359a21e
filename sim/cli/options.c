/* The options of all verbs. A row says what an option is called, which verbs take it, and where it
 * goes in struct cli. */
#include "cli/cli.h"

#include "base/mem.h"
#include "base/units.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

enum take {
	TAKE_FLAG,     /* bool */
	TAKE_TEXT,     /* const char * */
	TAKE_PATH,     /* the same, not empty */
	TAKE_NAMES,    /* struct names; may be repeated */
	TAKE_SET,      /* --set */
	TAKE_SPAN,     /* struct time_span */
	TAKE_COUNT,    /* long */
	TAKE_UPDATE,   /* --update, with or without a reason */
	TAKE_OVERRIDE, /* short for --set: --seed 1 is --set /seed=1 */
	TAKE_ESTIMATE, /* short for --set: --fast-forward 1% is --set /stop/estimate=0.01 */
};

struct option_row {
	const char *name;
	const char *value; /* in the help; NULL for a flag */
	const char *verbs; /* verbs that take the option, separated by '|' */
	enum take take;
	size_t offset; /* into struct cli */
	const char *help;
};

#define TEXT(field)  TAKE_TEXT, offsetof(struct cli, field)
#define PATH(field)  TAKE_PATH, offsetof(struct cli, field)
#define NAMES(field) TAKE_NAMES, offsetof(struct cli, field)
#define COUNT(field) TAKE_COUNT, offsetof(struct cli, field)
#define FLAG(field)  TAKE_FLAG, offsetof(struct cli, field)
#define SPAN(field)  TAKE_SPAN, offsetof(struct cli, field)

static const struct option_row rows[] = {
	{ "kind", "KIND", "init", TEXT(init.kind),
	  "a cluster of today: h100-rail, gb200, dgx-a100-ib, tofino-100g" },
	{ "out", "DIR", "run", PATH(out),
	  "write results there; several scenarios get numbered folders" },
	{ "out", "DIR", "plot", PATH(out),
	  "write figures there; default: figures/ in the directory" },
	{ "out", "DIR", "sweep run|sweep status|sweep collect", PATH(out),
	  "directory of the sweep; default: results/NAME-OF-PLAN" },
	{ "out", "FILE", "report", PATH(out),
	  "write the page there; default: report.html in the directory" },
	{ "seed", "N", "run|check|explain", TAKE_OVERRIDE, 0, "set the seed of the scenario" },
	{ "set", "/pointer=VALUE", "run|check|explain|export topology", TAKE_SET, 0,
	  "set a value of the scenario, by JSON pointer" },
	{ "fidelity", "F", "run|check|explain", TAKE_OVERRIDE, 0,
	  "packet, fluid (streams), or analytic (each alone)" },
	{ "events", "FROM..TO", "run", SPAN(run.events),
	  "log the events of this time span, as in 1ms..1.5ms, in events.csv" },
	{ "timeline", "FROM..TO", "run", SPAN(run.timeline),
	  "write a timeline of this time span: timeline.html, and timeline.pftrace for Perfetto" },
	{ "why", NULL, "run|sweep run", FLAG(run.why),
	  "write what each worker spent each iteration on, in why.csv" },
	{ "fast-forward", "SHARE", "run|check|explain", TAKE_ESTIMATE, 0,
	  "stop once the iterations of a lone job are steady, and estimate its end within SHARE, "
	  "such as 1%" },
	{ "no-fast-forward", NULL, "run", FLAG(run.no_fast_forward),
	  "simulate what repeats instead of skipping it: the same results, slower" },
	{ "force", NULL, "run", FLAG(run.force), "replace even the results of another scenario" },
	{ "json", NULL,
	  "run|check|explain|list|schema|formula|why|compare|regress|"
	  "sweep plan|sweep status|sweep collect",
	  FLAG(json), "print JSON" },
	{ "quiet", NULL, "run|check|plot|sweep plan|sweep run|sweep collect|regress", FLAG(quiet),
	  "no progress, no summary, no warnings" },
	{ "summary", NULL, "why", FLAG(why.summary),
	  "the hottest links and who used them, jobs that are alike together, the worst job's "
	  "worst "
	  "iteration with the command that draws its timeline" },
	{ "strict", NULL, "check", FLAG(check.strict), "treat warnings as errors (exit code 3)" },
	{ "results", NULL, "schema", FLAG(schema.results),
	  "explain the columns of the result tables" },
	{ "plan", NULL, "schema", FLAG(schema.plan), "JSON Schema of sweep plans" },

	{ "term", "T", "plot", TEXT(plot.options.term),
	  "png, svg, pdf, eps, tikz, or dumb (text)" },
	{ "figure", "NAME", "plot", NAMES(plot.options.only),
	  "draw only this figure (inasim list figures); may be repeated" },
	{ "size", "W[xH]UNIT", "plot", TEXT(plot.size),
	  "size for print, with text of 8 points: 3.5in, 8.5cm, 7x2.5in" },
	{ "font", "NAME[,SIZE]", "plot", TEXT(plot.font),
	  "font; its SIZE in points (8) needs --size" },
	{ "no-title", NULL, "plot", FLAG(plot.options.no_title),
	  "leave out the title, such as for a figure with a caption" },
	{ "together", NULL, "plot", FLAG(plot.together),
	  "draw all directories in one figure (needs --out)" },
	{ "label", "TEXT", "plot", NAMES(plot.sweep.labels),
	  "name in the legend: once for each directory, in their order; of a sweep: VALUE=TEXT" },
	{ "xlabel", "TEXT", "plot", TEXT(plot.options.x_label), "words below the x axis" },
	{ "ylabel", "TEXT", "plot", NAMES(plot.options.y_labels),
	  "words beside the y axis: once, or once for each --y" },
	{ "panels", NULL, "plot", FLAG(plot.sweep.panels),
	  "of a sweep: all figures on one page, with one legend" },
	{ "x", "AXIS", "plot", TEXT(plot.sweep.x),
	  "axis of a sweep to draw along x; default: the one with most numbers" },
	{ "y", "METRIC", "plot", NAMES(plot.sweep.metrics),
	  "metric of a sweep to draw; may be repeated; default: mean JCT, p99 of FCT" },
	{ "by", "AXIS", "plot", TEXT(plot.sweep.by),
	  "axis with one curve for each value, or none; default: the first other axis" },
	{ "where", "AXIS=VALUE", "plot", NAMES(plot.sweep.where),
	  "draw only these points; may be repeated" },
	{ "kind", "K", "plot", TEXT(plot.sweep.kind), "lines, bars, heat, box, cdf" },
	{ "log", "AXES", "plot", TEXT(plot.sweep.log), "x, y, xy, none" },
	{ "relative-to", "VALUE", "plot", TEXT(plot.sweep.relative_to),
	  "draw ratios to this value of the --by axis, or to AXIS=VALUE" },

	{ "metric", "NAME", "compare", NAMES(compare.options.metrics),
	  "show this metric, such as jobs.jct_s.mean; may be repeated" },
	{ "by", "AXIS", "compare", TEXT(compare.options.by),
	  "the axis along which a sweep is compared" },
	{ "baseline", "VALUE", "compare", TEXT(compare.options.baseline),
	  "the value that the others are compared with; default: the first" },
	{ "margin", "Z", "compare", TEXT(compare.margin),
	  "times that differ by less are the same; default: 0.01, or the plan's" },
	{ "survivors", NULL, "compare", FLAG(compare.options.survivors),
	  "ratios also where work was refused or is unfinished" },
	{ "tolerance", "R", "compare", TEXT(compare.tolerance),
	  "exit code 1 when a ratio leaves [1 - R, 1 + R]" },
	{ "latex", NULL, "compare", FLAG(compare.latex),
	  "print rows as a tabular of LaTeX (booktabs), the rest as comments" },
	{ "markdown", NULL, "compare", FLAG(compare.markdown),
	  "print rows as a table of Markdown, the rest as code" },
	{ "pivot", "AXIS", "compare", TEXT(compare.options.pivot),
	  "a column for each value of this axis (of runs: run); instead of ratios, * marks what is "
	  "not resolved against the baseline" },
	{ "label", "TEXT", "compare", NAMES(compare.options.labels),
	  "name in the table: once for each directory, in their order; of one sweep: VALUE=TEXT" },

	{ "scenario", "NAME", "regress", NAMES(regress.scenarios),
	  "run only this reference; may be repeated" },
	{ "jobs", "N", "regress", COUNT(regress.jobs),
	  "runs at a time (default: one per processor)" },
	{ "update", "REASON", "regress", TAKE_UPDATE, 0,
	  "write new and changed references, and note the reason (asked for on a terminal)" },

	{ "pending", NULL, "sweep status", FLAG(sweep.pending),
	  "print only the numbers of the points to run, longest first" },
	{ "force", NULL, "sweep run", FLAG(sweep.force),
	  "also run points that are finished, or failed and would not be retried" },
	{ "time-limit", "T", "sweep run|sweep status", TEXT(sweep.time_limit),
	  "limit the CPU time of a point, such as 10m, or none; default: the plan's" },
	{ "memory-limit", "M", "sweep run|sweep status", TEXT(sweep.memory_limit),
	  "limit the memory of a point, such as 4GiB, or none; default: the plan's" },
};
#define ROWS (sizeof(rows) / sizeof(rows[0]))

/* What getopt_long() returns: characters are below HELP; FIRST + i is the i-th row. */
#define HELP    256
#define VERSION 257
#define FIRST   258

static bool takes(const struct verb *verb, const struct option_row *row)
{
	size_t length = strlen(verb->name), next;

	for (const char *name = row->verbs; *name; name += next + (name[next] == '|')) {
		next = strcspn(name, "|");
		if (next == length && !strncmp(name, verb->name, length))
			return true;
	}
	return false;
}

/* --- one option --- */

/* Cuts /pointer=value at the first '='. The override points into `text`, and owns it. */
static bool add_override(struct cli *cli, char *text)
{
	char *equals = strchr(text, '=');

	if (text[0] != '/' || !equals) {
		complain("--set takes /pointer=value, as in --set /jobs/0/workers=8; found \"%s\"",
			 text);
		free(text);
		return false;
	}
	*equals = '\0';
	cli->overrides = xrealloc(cli->overrides, cli->override_count + 1, sizeof(*cli->overrides));
	cli->overrides[cli->override_count++] = (struct conf_override){ text, equals + 1 };
	return true;
}

/* Reads FROM..TO, two times with units. False after a complaint. */
static bool read_span(struct time_span *span, const char *name, const char *text)
{
	const char *dots = strstr(text, "..");
	char *from = xstrndup(text, dots ? (size_t)(dots - text) : 0);

	span->given = dots && unit_parse(UNIT_TIME, from, &span->from) == UNIT_OK &&
		      unit_parse(UNIT_TIME, dots + 2, &span->to) == UNIT_OK &&
		      span->from <= span->to;
	free(from);
	if (!span->given)
		complain("--%s takes FROM..TO, two times with a unit (%s), as in 1ms..1.5ms; "
			 "found \"%s\"",
			 name, unit_names(UNIT_TIME), text);
	return span->given;
}

static bool read_count(long *count, const char *name, const char *text)
{
	char *end;

	*count = strtol(text, &end, 10);
	if (*text && !*end && *count >= 1 && *count <= 4096)
		return true;
	complain("--%s takes a number from 1 to 4096; found \"%s\"", name, text);
	return false;
}

static bool add_estimate(struct cli *cli, const char *text)
{
	char *end;
	double percent = strtod(text, &end);

	if (end > text && !strcmp(end, "%"))
		return add_override(cli, xasprintf("/stop/estimate=%.17g", percent / 100));
	return add_override(cli, xasprintf("/stop/estimate=%s", text));
}

static bool take(struct cli *cli, const struct option_row *row, char *argument)
{
	char *field = (char *)cli + row->offset;
	struct names *names = (struct names *)(void *)field;

	if (row->take == TAKE_PATH && !*argument) {
		complain("--%s needs a path; found \"\"", row->name);
		return false;
	}
	switch (row->take) {
	case TAKE_FLAG:
		*(bool *)field = true;
		return true;
	case TAKE_TEXT:
	case TAKE_PATH:
		*(const char **)(void *)field = argument;
		return true;
	case TAKE_NAMES:
		names_add(names, argument);
		return true;
	case TAKE_SET:
		return add_override(cli, xstrdup(argument));
	case TAKE_SPAN:
		return read_span((struct time_span *)(void *)field, row->name, argument);
	case TAKE_COUNT:
		return read_count((long *)(void *)field, row->name, argument);
	case TAKE_UPDATE:
		cli->regress.update = true;
		cli->regress.reason = argument;
		return true;
	case TAKE_OVERRIDE:
		return add_override(cli, xasprintf("/%s=%s", row->name, argument));
	case TAKE_ESTIMATE:
		return add_estimate(cli, argument);
	}
	return false;
}

/* --- the command line --- */

/* Says what is wrong with the option that getopt_long() has just refused. */
static void complain_option(const struct verb *verb, const struct option *known, int found,
			    char *const *argv)
{
	const char *names[ROWS + 3] = { 0 };
	const char letter[] = { '-', (char)optopt, '\0' };
	const char *typed = argv[optind - 1], *near;
	char word[32];

	/* If getopt_long() refuses the first letter of -quiet, optind is still at this word, but it
	 * is past a word of one letter, such as -q. */
	if (optopt && optopt < HELP && strcmp(typed, letter) && argv[optind])
		typed = argv[optind];
	snprintf(word, sizeof(word), "%.*s", (int)strcspn(typed, "="), typed);
	if (found == ':') {
		complain("%s needs a value; see inasim %s --help", word, verb->name);
		return;
	}
	for (size_t i = 0; known[i].name; i++) {
		names[i] = known[i].name;
		if (strchr(typed, '=') && !strcmp(word + strspn(word, "-"), known[i].name)) {
			complain("%s takes no value, found \"%s\"", word, typed);
			return;
		}
	}
	near = conf_suggest(word + strspn(word, "-"), names);
	complain("%s has no option \"%s\"%s%s%s; see inasim %s --help", verb->name, word,
		 near ? " (did you mean --" : "", near ? near : "", near ? "?)" : "", verb->name);
}

/* EXIT_USAGE after a complaint, else -1. */
static int check_arguments(const struct cli *cli, const struct verb *verb)
{
	if (!cli->argc && verb->needs) {
		complain("%s needs %s; see inasim %s --help", verb->name, verb->needs, verb->name);
		return EXIT_USAGE;
	}
	for (int i = 0; i < cli->argc; i++) {
		if (*cli->argv[i])
			continue;
		complain("argument %d of %s is empty; see inasim %s --help", i + 1, verb->name,
			 verb->name);
		return EXIT_USAGE;
	}
	if (cli->argc > verb->max) {
		complain("%s has no use for \"%s\"; see inasim %s --help", verb->name,
			 cli->argv[verb->max], verb->name);
		return EXIT_USAGE;
	}
	return -1;
}

static int argument_of(const struct option_row *row)
{
	if (row->take == TAKE_UPDATE)
		return optional_argument;
	return row->value ? required_argument : no_argument;
}

int options_parse(struct cli *cli, const struct verb *verb, int argc, char **argv)
{
	struct option known[ROWS + 3] = { { "help", no_argument, NULL, HELP },
					  { "version", no_argument, NULL, VERSION } };
	const struct option_row *row;
	size_t count = 2;
	int option;

	for (size_t i = 0; i < ROWS; i++)
		if (takes(verb, &rows[i]))
			known[count++] = (struct option){ rows[i].name, argument_of(&rows[i]), NULL,
							  FIRST + (int)i };
	opterr = 0; /* complain_option() complains instead */
	while ((option = getopt_long(argc, argv, ":h", known, NULL)) != -1) {
		switch (option) {
		case 'h':
		case HELP:
			print_verb_usage(verb);
			return EXIT_DONE;
		case VERSION:
			print_version();
			return EXIT_DONE;
		case '?':
		case ':':
			complain_option(verb, known, option, argv);
			return EXIT_USAGE;
		default:
			row = &rows[option - FIRST];
			if (argument_of(row) == optional_argument && !optarg && optind < argc &&
			    argv[optind][0] != '-')
				optarg = argv[optind++]; /* --update REASON without '=' */
			if (!take(cli, row, optarg))
				return EXIT_USAGE;
		}
	}
	cli->argc = argc - optind;
	cli->argv = argv + optind;
	return check_arguments(cli, verb);
}

void options_release(struct cli *cli)
{
	while (cli->override_count)
		/* pointer and value are one text: see add_override() */
		free((char *)(uintptr_t)cli->overrides[--cli->override_count].pointer);
	free(cli->overrides);
	for (size_t i = 0; i < ROWS; i++) {
		struct names *names = (struct names *)(void *)((char *)cli + rows[i].offset);

		if (rows[i].take != TAKE_NAMES)
			continue;
		free(names->items);
		names->items = NULL; /* another row may have the same field */
	}
}

void options_tell(const struct verb *verb, void (*tell)(const char *form, const char *help))
{
	for (size_t i = 0; i < ROWS; i++) {
		const struct option_row *row = &rows[i];
		char form[64];

		snprintf(form, sizeof(form), "--%s%s%s", row->name, row->value ? " " : "",
			 row->value ? row->value : "");
		if (takes(verb, row))
			tell(form, row->help);
	}
}
