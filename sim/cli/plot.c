/* The verb plot: figures of result directories, alone or together, and of sweeps. */
#include "cli/cli.h"

#include "base/mem.h"
#include "out/plot.h"
#include "study/figures/plot_sweep.h"
#include "study/sweep/sweep_table.h"

#include <stdlib.h>
#include <string.h>

static bool term_exists(const char *name)
{
	static const char *const terms[] = { "png", "svg", "pdf", "dumb" };

	for (size_t i = 0; i < sizeof(terms) / sizeof(terms[0]); i++)
		if (!strcmp(name, terms[i]))
			return true;
	complain("--term takes png, svg, pdf or dumb; found \"%s\"", name);
	return false;
}

static bool figure_exists(const char *name, bool together)
{
	size_t count;
	const struct plot_figure *figures =
		together ? plot_together_figures(&count) : plot_figures(&count);

	for (size_t i = 0; i < count; i++)
		if (!strcmp(name, figures[i].name))
			return true;
	complain("there is no figure \"%s\"%s; see inasim list figures", name,
		 together ? " of several directories together" : "");
	return false;
}

static bool asks_for_sweep(const struct cli_plot *plot)
{
	return plot->x || plot->by || plot->kind || plot->log || plot->relative_to ||
	       plot->metrics.count || plot->where.count;
}

static bool all_results(const struct cli *cli, const char *option)
{
	for (int i = 0; i < cli->argc; i++)
		if (sweep_table_exists(cli->argv[i])) {
			complain("%s is for result directories, %s is a sweep", option,
				 cli->argv[i]);
			return false;
		}
	return true;
}

/* Options that do not go together, before anything is drawn. */
static bool options_fit(const struct cli *cli)
{
	const struct cli_plot *plot = &cli->plot;

	if (plot->together && !cli->out) {
		complain("--together needs --out DIR: the figures belong to none of the "
			 "directories");
		return false;
	}
	if (!plot->together && cli->out && cli->argc > 1) {
		complain("--out takes the figures of one directory; for several in one figure add "
			 "--together");
		return false;
	}
	if (plot->labels.count && !plot->together) {
		complain("--label names directories in a figure of several; it needs --together");
		return false;
	}
	if (plot->labels.count && plot->labels.count != (size_t)cli->argc) {
		complain("%d directories need as many --label, found %zu", cli->argc,
			 plot->labels.count);
		return false;
	}
	if (plot->together && asks_for_sweep(plot)) {
		complain("--together is for result directories, --x, --y, --by, --where, --kind, "
			 "--log and --relative-to are for sweeps");
		return false;
	}
	return !plot->together || all_results(cli, "--together");
}

/* A script that asked for figures and got none must not go on as if it had some. */
static int report(int drawn, char *error, const char *dir)
{
	int code = drawn > 0 ? EXIT_DONE : EXIT_IO;

	if (drawn < 0) {
		complain("%s", error);
		code = drawn == PLOT_SWEEP_USAGE ? EXIT_USAGE : EXIT_IO;
	} else if (!drawn) {
		complain("%s has no data for a figure", dir);
	}
	free(error);
	return code;
}

static int plot_one(const struct cli *cli, const char *dir, const struct plot_options *options)
{
	const struct cli_plot *plot = &cli->plot;
	struct plot_sweep_options sweep = {
		.x = plot->x,
		.by = plot->by,
		.metrics = plot->metrics.items,
		.metric_count = plot->metrics.count,
		.where = plot->where.items,
		.where_count = plot->where.count,
		.kind = plot->kind,
		.log = plot->log,
		.relative_to = plot->relative_to,
	};
	char *error = NULL;
	int drawn = sweep_table_exists(dir) || asks_for_sweep(plot)
			    ? plot_sweep(dir, &sweep, options, stdout, &error)
			    : plot_directory(dir, options, stdout, &error);

	return report(drawn, error, dir);
}

static int plot_all_together(const struct cli *cli, const struct plot_options *options)
{
	struct plot_labelled *runs = xcalloc((size_t)cli->argc, sizeof(*runs));
	char *error = NULL;
	int drawn;

	for (int i = 0; i < cli->argc; i++) {
		runs[i].dir = cli->argv[i];
		runs[i].label = cli->plot.labels.count ? cli->plot.labels.items[i] : NULL;
	}
	drawn = plot_together(runs, (size_t)cli->argc, options, stdout, &error);
	free(runs);
	return report(drawn, error, cli->argv[0]);
}

int verb_plot(const struct cli *cli)
{
	struct plot_options options = { .term = cli->plot.term ? cli->plot.term : "png",
					.only = cli->plot.figure,
					.out = cli->out };
	int worst = EXIT_DONE;

	if (!term_exists(options.term) || !options_fit(cli))
		return EXIT_USAGE;
	if (cli->plot.figure &&
	    (!all_results(cli, "--figure") || !figure_exists(cli->plot.figure, cli->plot.together)))
		return EXIT_USAGE;
	if (cli->plot.size && !plot_size(cli->plot.size, &options)) {
		complain("--size takes a width, or width and height, of 1 to 40 inches, as in "
			 "3.5in, 8.5cm or 7x2.5in; found \"%s\"",
			 cli->plot.size);
		return EXIT_USAGE;
	}
	if (cli->plot.together)
		return plot_all_together(cli, &options);
	for (int i = 0; i < cli->argc; i++) {
		int code = plot_one(cli, cli->argv[i], &options);

		worst = code > worst ? code : worst;
	}
	return worst;
}
