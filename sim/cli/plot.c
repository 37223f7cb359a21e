/* The verb plot: figures of result directories, alone or together, and of sweeps. */
#include "cli/cli.h"

#include "base/mem.h"
#include "base/plain.h"
#include "lab/sweep/sweep_table.h"

#include <stdlib.h>
#include <string.h>

static bool asks_for_sweep(const struct plot_sweep_options *sweep)
{
	return sweep->x || sweep->by || sweep->kind || sweep->log || sweep->relative_to ||
	       sweep->metrics.count || sweep->where.count || sweep->panels;
}

/* Whether only "breakdown" is drawn, the one figure that both runs and sweeps have. */
static bool is_breakdown(const struct cli_plot *plot)
{
	const struct names *only = &plot->options.only;

	return only->count == 1 && !strcmp(only->items[0], "breakdown");
}

/* The first directory that is (not) a sweep, or NULL. */
static const char *first_that(const struct cli *cli, bool is_sweep)
{
	for (int i = 0; i < cli->argc; i++)
		if (sweep_table_exists(cli->argv[i]) == is_sweep)
			return cli->argv[i];
	return NULL;
}

/* Whether all directories are sweeps or, without `sweeps`, none is. False after a complaint. */
static bool all(const struct cli *cli, bool sweeps, const char *option)
{
	const char *other = first_that(cli, !sweeps);

	if (other)
		complain(sweeps ? "%s needs --together for result directories such as %s"
				: "%s is for result directories, %s is a sweep",
			 option, other);
	return !other;
}

/* Whether labels fit the figures: words beside axes are for one figure. False after a complaint. */
static bool labels_fit(const struct cli *cli)
{
	const struct plot_options *options = &cli->plot.options;
	const struct plot_sweep_options *sweep = &cli->plot.sweep;
	size_t metrics = sweep->metrics.count ? sweep->metrics.count : 2; /* the usual metrics */

	if ((options->x_label || options->y_labels.count) && options->only.count != 1 &&
	    (cli->plot.together || first_that(cli, false)))
		complain("--xlabel and --ylabel are for one figure; say which with --figure");
	else if (!options->only.count && options->y_labels.count > metrics)
		complain("%zu --ylabel for %zu metric%s: give at most one for each",
			 options->y_labels.count, metrics, metrics == 1 ? "" : "s");
	else
		return !sweep->labels.count || cli->plot.together || all(cli, true, "--label");
	return false;
}

/* Whether options go together, before anything is drawn. False after a complaint. */
static bool options_fit(const struct cli *cli)
{
	const struct cli_plot *plot = &cli->plot;
	size_t labels = plot->sweep.labels.count;

	if (plot->together && !cli->out)
		complain("--together needs --out DIR: the figures belong to none of the "
			 "directories");
	else if (!plot->together && cli->out && cli->argc > 1)
		complain("--out takes the figures of one directory; for several in one figure add "
			 "--together");
	else if (plot->together && labels && labels != (size_t)cli->argc)
		complain("%d directories need one --label each, found %zu", cli->argc, labels);
	else if (plot->together && asks_for_sweep(&plot->sweep))
		complain("--together is for result directories; --x, --y, --by, --where, --kind, "
			 "--log, --relative-to and --panels are for sweeps");
	else
		return (!plot->together || all(cli, false, "--together")) &&
		       (!plot->options.only.count || is_breakdown(plot) ||
			all(cli, false, "--figure")) &&
		       labels_fit(cli);
	return false;
}

/* Complains if no figure was drawn, and returns the exit code. Without figures it is not 0: a
 * script must not go on as if there were some. */
static int report(int drawn, char *error, const char *dir)
{
	if (drawn < 0)
		complain("%s", error);
	else if (!drawn)
		complain("%s has no data for a figure", dir);
	free(error);
	return drawn > 0 ? EXIT_DONE : drawn == PLOT_USAGE ? EXIT_USAGE : EXIT_IO;
}

static int plot_one(const struct cli *cli, const char *dir, const struct plot_options *options,
		    FILE *to)
{
	struct plot_sweep_options sweep = cli->plot.sweep;
	char *error = NULL;
	int drawn;

	sweep.breakdown = is_breakdown(&cli->plot);
	drawn = sweep_table_exists(dir) || asks_for_sweep(&sweep)
			? plot_sweep(dir, &sweep, options, to, &error)
			: plot_run(dir, options, to, &error);
	return report(drawn, error, dir);
}

static int plot_all_together(const struct cli *cli, const struct plot_options *options, FILE *to)
{
	struct plot_labelled *runs = xcalloc((size_t)cli->argc, sizeof(*runs));
	const struct names *labels = &cli->plot.sweep.labels;
	char *error = NULL;
	int drawn;

	for (int i = 0; i < cli->argc; i++) {
		runs[i].dir = cli->argv[i];
		runs[i].label = labels->count ? labels->items[i] : NULL;
	}
	drawn = plot_together(runs, (size_t)cli->argc, options, to, &error);
	free(runs);
	return report(drawn, error, cli->argv[0]);
}

int verb_plot(const struct cli *cli)
{
	struct plot_options options = cli->plot.options;
	int worst = EXIT_DONE;
	struct plain plain;
	FILE *to;

	if (!options_fit(cli))
		return EXIT_USAGE;
	options.out = cli->out;
	options.quiet = cli->quiet;
	if (!options.term)
		options.term = "png";
	if (cli->plot.size && !plot_size(cli->plot.size, &options)) {
		complain("--size takes a width, or width and height, of 1 to 40 inches, as in "
			 "3.5in, 8.5cm or 7x2.5in; found \"%s\"",
			 cli->plot.size);
		return EXIT_USAGE;
	}
	if (cli->plot.font && (!plot_font(cli->plot.font, &options) ||
			       (options.font_points > 0 && !cli->plot.size))) {
		complain("--font takes NAME, or with --size NAME,POINTS, as in "
			 "\"Times New Roman,9\", of 5 to 40 points; found \"%s\"",
			 cli->plot.font);
		return EXIT_USAGE;
	}
	if (!origin_check(cli->argv, cli->argc, cli->quiet))
		return EXIT_IO;
	plain_open(&plain);
	/* "dumb" prints pictures; the others print paths, which may need plain text */
	to = strcmp(options.term, "dumb") ? plain.to : stdout;
	if (cli->plot.together)
		worst = plot_all_together(cli, &options, to);
	for (int i = 0; i < cli->argc && !cli->plot.together; i++) {
		int code = plot_one(cli, cli->argv[i], &options, to);

		worst = code > worst ? code : worst;
	}
	plain_close(&plain, stdout);
	return worst;
}
