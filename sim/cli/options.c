#include "cli/options.h"

#include "base/mem.h"
#include "base/units.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

enum take {
	TAKE_FLAG,     /* bool */
	TAKE_TEXT,     /* const char * */
	TAKE_TEXTS,    /* struct texts; may be repeated */
	TAKE_SET,      /* --set */
	TAKE_SPAN,     /* struct span */
	TAKE_COUNT,    /* long */
	TAKE_UPDATE,   /* --update, with or without a reason */
	TAKE_OVERRIDE, /* a short form of --set; `pointer` says of what */
};

struct option_row {
	const char *name;
	const char *value; /* as help shows it; NULL for a flag */
	unsigned verbs;    /* bits of enum verb_bit */
	enum take take;
	size_t offset; /* into struct cli */
	const char *pointer;
	const char *help;
};

#define SCENARIO_VERBS (VERB_RUN | VERB_CHECK | VERB_EXPLAIN | VERB_EXPORT)
#define SWEEP_VERBS    (VERB_SWEEP_PLAN | VERB_SWEEP_RUN | VERB_SWEEP_STATUS | VERB_SWEEP_COLLECT)

#define TEXT(field)  TAKE_TEXT, offsetof(struct cli, field), NULL
#define TEXTS(field) TAKE_TEXTS, offsetof(struct cli, field), NULL
#define COUNT(field) TAKE_COUNT, offsetof(struct cli, field), NULL
#define FLAG(field)  TAKE_FLAG, offsetof(struct cli, field), NULL

static const struct option_row rows[] = {
	{ "out", "DIR", VERB_RUN, TEXT(out),
	  "result directory (a numbered folder in it for several scenarios)" },
	{ "out", "DIR", VERB_PLOT, TEXT(out),
	  "where figures go; default: figures/ in the directory" },
	{ "out", "DIR", VERB_SWEEP_RUN | VERB_SWEEP_STATUS | VERB_SWEEP_COLLECT, TEXT(out),
	  "directory of the sweep; default: results/NAME-OF-PLAN" },
	{ "out", "FILE", VERB_REPORT, TEXT(out),
	  "where it goes; default: report.html in the directory" },
	{ "out", "FILE", VERB_EXPORT, TEXT(out), "where it goes; default: standard output" },
	{ "seed", "N", SCENARIO_VERBS, TAKE_OVERRIDE, 0, "/seed", "the scenario's seed is N" },
	{ "set", "/pointer=VALUE", SCENARIO_VERBS, TAKE_SET, 0, NULL,
	  "a value of the scenario, by JSON pointer" },
	{ "fidelity", "F", SCENARIO_VERBS, TAKE_OVERRIDE, 0, "/fidelity",
	  "packet, fluid (streams), or analytic (each alone)" },
	{ "events", "FROM..TO", VERB_RUN, TAKE_SPAN, offsetof(struct cli, run.events), NULL,
	  "log the events of this time, as in 1ms..1.5ms, in events.csv" },
	{ "timeline", "FROM..TO", VERB_RUN, TAKE_SPAN, offsetof(struct cli, run.timeline), NULL,
	  "a timeline of this time for Perfetto, timeline.pftrace, of 64 MB at most" },
	{ "why", NULL, VERB_RUN | VERB_SWEEP_RUN, FLAG(run.why),
	  "what each iteration of each worker was spent on, in why.csv" },
	{ "threads", "N", VERB_RUN, COUNT(run.threads),
	  "of a network of flows over TCP, with the same results (default: 1)" },
	{ "force", NULL, VERB_RUN, FLAG(run.force),
	  "replace results of another scenario in the result directory, too" },
	{ "json", NULL,
	  ~(unsigned)(VERB_PLOT | VERB_SWEEP_RUN | VERB_EXPORT | VERB_HELP | VERB_INIT |
		      VERB_MANUAL | VERB_REPORT),
	  FLAG(json), "for machines" },
	{ "quiet", NULL,
	  VERB_RUN | VERB_CHECK | VERB_PLOT | VERB_SWEEP_PLAN | VERB_SWEEP_RUN |
		  VERB_SWEEP_COLLECT | VERB_REGRESS,
	  FLAG(quiet), "no progress, no summary" },
	{ "strict", NULL, VERB_CHECK, FLAG(check.strict),
	  "warnings are errors, too (exit code 3)" },
	{ "results", NULL, VERB_SCHEMA, FLAG(schema.results), "columns of the result tables" },
	{ "plan", NULL, VERB_SCHEMA, FLAG(schema.plan), "JSON Schema of sweep plans" },

	{ "term", "T", VERB_PLOT, TEXT(plot.term), "png, svg, pdf, eps, tikz, or dumb (text)" },
	{ "figure", "NAME", VERB_PLOT, TEXT(plot.figure),
	  "only this figure (inasim list figures)" },
	{ "size", "W[xH]UNIT", VERB_PLOT, TEXT(plot.size),
	  "for print, letters of 8 points: 3.5in, 8.5cm, 7x2.5in" },
	{ "font", "NAME[,SIZE]", VERB_PLOT, TEXT(plot.font),
	  "a font; its size in points (8) goes with --size" },
	{ "no-title", NULL, VERB_PLOT, FLAG(plot.no_title),
	  "without the lines above it, which a caption can say" },
	{ "together", NULL, VERB_PLOT, FLAG(plot.together),
	  "all directories in one figure (needs --out)" },
	{ "label", "TEXT", VERB_PLOT, TEXTS(plot.labels),
	  "of a directory in the legend; once for each, in their order; of a sweep: VALUE=TEXT" },
	{ "xlabel", "TEXT", VERB_PLOT, TEXT(plot.x_label), "words below the x axis" },
	{ "ylabel", "TEXT", VERB_PLOT, TEXTS(plot.y_labels),
	  "words beside the y axis: once, or once for each --y" },
	{ "panels", NULL, VERB_PLOT, FLAG(plot.panels),
	  "of a sweep: all figures on one page, with one legend" },
	{ "x", "AXIS", VERB_PLOT, TEXT(plot.x), "of a sweep; default: the axis with most numbers" },
	{ "y", "METRIC", VERB_PLOT, TEXTS(plot.metrics),
	  "a figure of it; may be repeated; default: mean JCT, p99 of FCT" },
	{ "by", "AXIS", VERB_PLOT, TEXT(plot.by),
	  "one curve for each value; default: the first other axis; or none" },
	{ "where", "AXIS=VALUE", VERB_PLOT, TEXTS(plot.where),
	  "only these points; may be repeated" },
	{ "kind", "K", VERB_PLOT, TEXT(plot.kind), "lines, bars, heat, box" },
	{ "log", "AXES", VERB_PLOT, TEXT(plot.log), "x, y, xy, none" },
	{ "relative-to", "VALUE", VERB_PLOT, TEXT(plot.relative_to),
	  "ratio to this value of the --by axis, or to AXIS=VALUE" },

	{ "metric", "NAME", VERB_COMPARE, TEXTS(compare.metrics),
	  "this metric, as jobs.jct_s.mean; may be repeated" },
	{ "by", "AXIS", VERB_COMPARE, TEXT(compare.by),
	  "the axis along which a sweep is compared" },
	{ "baseline", "VALUE", VERB_COMPARE, TEXT(compare.baseline),
	  "the value of it that the others are compared with (the first)" },
	{ "tolerance", "R", VERB_COMPARE, TEXT(compare.tolerance),
	  "exit code 1 when a ratio leaves [1 - R, 1 + R]" },
	{ "long-run", NULL, VERB_COMPARE, FLAG(compare.long_run),
	  "means of what a run settles to, by batch means" },
	{ "latex", NULL, VERB_COMPARE, FLAG(compare.latex),
	  "rows as a tabular of LaTeX (booktabs), the rest as comments" },
	{ "warmup", "T", VERB_COMPARE, TEXT(compare.warmup),
	  "with --long-run: cut what is before this time, such as 1ms (MSER-5 finds it)" },

	{ "scenario", "NAME", VERB_REGRESS, TEXTS(regress.scenarios),
	  "only this reference; may be repeated" },
	{ "jobs", "N", VERB_REGRESS, COUNT(regress.jobs),
	  "runs at a time (default: one per processor)" },
	{ "update", "REASON", VERB_REGRESS, TAKE_UPDATE, 0, NULL,
	  "write what is new and note why; asks for the reason on a terminal" },

	{ "platform", "FORMAT", VERB_EXPORT, TEXT(export.platform), "simgrid" },

	{ "pending", NULL, VERB_SWEEP_STATUS, FLAG(sweep.pending),
	  "only the numbers of the points to run, longest first" },
	{ "force", NULL, VERB_SWEEP_RUN, FLAG(sweep.force),
	  "also points that are finished or are not tried again" },
	{ "time-limit", "T", VERB_SWEEP_RUN | VERB_SWEEP_STATUS, TEXT(sweep.time_limit),
	  "wall time of a point, such as 10m, or none (the plan's)" },
	{ "memory-limit", "M", VERB_SWEEP_RUN | VERB_SWEEP_STATUS, TEXT(sweep.memory_limit),
	  "memory of a point, such as 4GiB, or none (the plan's)" },
};
#define ROWS (sizeof(rows) / sizeof(rows[0]))

#define HELP    256 /* values of getopt_long(); rows follow */
#define VERSION 257
#define FIRST   258

static bool takes(const struct verb *verb, const struct option_row *row)
{
	return row->verbs & (unsigned)verb->bit;
}

/* --- one option --- */

static void add_override(struct cli *cli, const char *pointer, const char *value)
{
	cli->overrides = xrealloc(cli->overrides, cli->override_count + 1, sizeof(*cli->overrides));
	cli->overrides[cli->override_count++] = (struct conf_override){ pointer, value };
}

/* --set /pointer=value: cut at the first '='. */
static bool add_set(struct cli *cli, const char *text)
{
	const char *equals = strchr(text, '=');
	char *pointer;

	if (text[0] != '/' || !equals) {
		complain("--set takes /pointer=value, as in --set /jobs/0/workers=8; found \"%s\"",
			 text);
		return false;
	}
	pointer = xstrndup(text, (size_t)(equals - text));
	cli->cut.items = xrealloc(cli->cut.items, cli->cut.count + 1, sizeof(*cli->cut.items));
	cli->cut.items[cli->cut.count++] = pointer;
	add_override(cli, pointer, equals + 1);
	return true;
}

/* FROM..TO: two times with units. */
static bool take_span(struct span *span, const char *name, char *text)
{
	char *dots = strstr(text, "..");

	if (dots)
		*dots = '\0';
	if (!dots || unit_parse(UNIT_TIME, text, &span->from) != UNIT_OK ||
	    unit_parse(UNIT_TIME, dots + 2, &span->to) != UNIT_OK || span->from > span->to) {
		complain("--%s takes FROM..TO, two times with a unit (%s), as in 1ms..1.5ms; "
			 "found \"%s%s%s\"",
			 name, unit_names(UNIT_TIME), text, dots ? ".." : "", dots ? dots + 2 : "");
		return false;
	}
	span->given = true;
	return true;
}

static bool take_count(long *count, const char *name, const char *text)
{
	char *end;

	*count = strtol(text, &end, 10);
	if (*text && !*end && *count >= 1 && *count <= 4096)
		return true;
	complain("--%s takes a number from 1 to 4096; found \"%s\"", name, text);
	return false;
}

static bool take(struct cli *cli, const struct option_row *row, char *argument)
{
	char *field = (char *)cli + row->offset;
	struct texts *texts = (struct texts *)(void *)field;

	switch (row->take) {
	case TAKE_FLAG:
		*(bool *)field = true;
		return true;
	case TAKE_TEXT:
		*(const char **)(void *)field = argument;
		return true;
	case TAKE_TEXTS:
		texts->items = xrealloc(texts->items, texts->count + 1, sizeof(*texts->items));
		texts->items[texts->count++] = argument;
		return true;
	case TAKE_SET:
		return add_set(cli, argument);
	case TAKE_SPAN:
		return take_span((struct span *)(void *)field, row->name, argument);
	case TAKE_COUNT:
		return take_count((long *)(void *)field, row->name, argument);
	case TAKE_UPDATE:
		cli->regress.update = true;
		cli->regress.reason = argument;
		return true;
	case TAKE_OVERRIDE:
		add_override(cli, row->pointer, argument);
		return true;
	}
	return false;
}

/* --- the command line --- */

/* What getopt_long() did not like: it has just passed argv[optind - 1]. */
static void complain_option(const struct verb *verb, const struct option *known, int found,
			    char *const *argv)
{
	const char *names[ROWS + 3] = { 0 };
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
	opterr = 0; /* complain_option() */
	while ((option = getopt_long(argc, argv, ":h", known, NULL)) != -1) {
		switch (option) {
		case 'h':
		case HELP:
			print_verb_usage(verb, stdout);
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
				optarg = argv[optind++]; /* a blank instead of '=' */
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
	free(cli->overrides);
	while (cli->cut.count)
		free((char *)(uintptr_t)cli->cut.items[--cli->cut.count]);
	free(cli->cut.items);
	for (size_t i = 0; i < ROWS; i++) {
		struct texts *texts = (struct texts *)(void *)((char *)cli + rows[i].offset);

		if (rows[i].take != TAKE_TEXTS)
			continue;
		free(texts->items);
		texts->items = NULL; /* rows may share it */
	}
}

bool options_next(const struct verb *verb, size_t *at, struct option_text *option)
{
	while (*at < ROWS) {
		const struct option_row *row = &rows[(*at)++];

		*option = (struct option_text){ row->name, row->value, row->help };
		if (takes(verb, row))
			return true;
	}
	return false;
}

void options_print(const struct verb *verb, FILE *to)
{
	struct option_text option;

	for (size_t i = 0; options_next(verb, &i, &option);) {
		char form[64];

		snprintf(form, sizeof(form), "--%s %s", option.name,
			 option.value ? option.value : "");
		fprintf(to, "  %-20s %s\n", form, option.help);
	}
}
