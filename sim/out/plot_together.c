/* Figures that show several result directories side by side. */
#include "out/plot_together.h"

#include "base/mem.h"
#include "out/folder.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RUNS_MAX  (2 * PLOT_COLOURS) /* colour, dash and mark tell so many apart */
#define CLUSTER   0.8                /* of the distance of two labels that bars fill */
#define CDF_MARKS 7                  /* on a line */

static plot_together_draw draw_packets;

static const struct plot_figure figures[] = {
	{ "slowdown",
	  "together: median and 99th percentile of the slowdown by flow size, as bars" },
	{ "fct_cdf", "together: distributions of flow completion times, one line a directory" },
	{ "jct", "together: job completion times by job name; of many names, distributions" },
	{ "jct_cdf", "together: distributions of job completion times, one line a directory" },
	{ "series", "together: active flows and mean link utilisation over time" },
	{ "packets", "together: packets over time on the links that the scenarios sample" },
};
#define FIGURES (sizeof figures / sizeof *figures)

static plot_together_draw *const draws[FIGURES] = { plot_together_slowdown, plot_together_fct_cdf,
						    plot_together_jct,      plot_together_jct_cdf,
						    plot_together_series,   draw_packets };

const struct plot_figure *plot_together_figures(size_t *count)
{
	*count = FIGURES;
	return figures;
}

/* ---- Pieces ---- */

void plot_runs_begin(FILE *data, size_t index, const char *label, const char *columns)
{
	fputs(index > 0 ? "\n\n# " : "# ", data);
	plot_comment(data, label);
	fprintf(data, ": %s\n", columns);
}

void plot_runs_bars(const struct plot_page *page, size_t index, size_t count, const char *columns,
		    bool ends)
{
	double width = CLUSTER / (double)count;
	fprintf(page->script, "%s'%s.dat' index %zu using ($1%+g):%s:(%g) with %s ",
		index > 0 ? ", \\\n     " : "plot ", page->name, index,
		((double)index - 0.5 * (double)(count - 1)) * width, columns, width,
		ends ? "boxerrorbars" : "boxes");
	plot_bar_style(page->script, index);
	fputs(" title ", page->script);
}

/* A line in steps, a few marks on it (not at the same heights as its neighbours'),
 * and one entry for both in the legend. */
static void write_distribution(struct plot_page *page, size_t index, size_t points,
			       const char *title)
{
	FILE *script = page->script;
	size_t every = points / CDF_MARKS + 1;
	fprintf(script, "%s'%s.dat' index %zu using 1:2 with steps ",
		index > 0 ? ", \\\n     " : "plot ", page->name, index);
	plot_curve_style(script, index);
	fprintf(script, " notitle, \\\n     '' index %zu using 1:2 every %zu::%zu with points ",
		index, every, every * (1 + index % 3) / 4);
	plot_mark_style(script, index);
	fputs(" notitle, \\\n     keyentry with linespoints ", script);
	plot_line_style(script, index);
	fputs(" title ", script);
	plot_quote(script, title);
}

void plot_runs_distributions(struct plot_page *page, const struct plot_runs *runs,
			     const struct plot_values *values, const uint64_t *unfinished,
			     const char *axis)
{
	double low = INFINITY, high = -INFINITY;
	size_t *points = xcalloc(runs->count, sizeof *points);
	for (size_t i = 0; i < runs->count; i++) {
		plot_runs_begin(page->data, i, runs->labels[i], "seconds share");
		points[i] = plot_cdf(page->data, &values[i]);
		low = fmin(low, values[i].at[0]);
		high = fmax(high, values[i].at[values[i].count - 1]);
	}
	plot_log_axis(page, 'x', low, high);
	plot_label(page, "x", axis);
	fprintf(page->script,
		"set format x '%%.0s %%cs'\nset format y '%%g'\nset yrange [0:1.02]\n"
		"set xrange [%g:%g]\nset key maxcols 2\n",
		low / 1.15, high * 1.15);
	for (size_t i = 0; i < runs->count; i++) {
		char n[32], missing[32], *title;
		plot_thousands(n, values[i].count);
		title = unfinished[i] == 0
				? xasprintf("%s (n = %s)", runs->labels[i], n)
				: xasprintf("%s (n = %s, %s unfinished)", runs->labels[i], n,
					    plot_thousands(missing, unfinished[i]));
		write_distribution(page, i, points[i], title);
		free(title);
	}
	putc('\n', page->script);
	free(points);
}

static enum plot_outcome draw_packets(struct plot_page *page, const struct plot_runs *runs)
{
	return plot_packets_of(page, runs->at, runs->labels, runs->count);
}

/* ---- All of them ---- */

static char *last_part(const char *dir)
{
	char *trimmed = folder_trim(dir);
	const char *slash = strrchr(trimmed, '/');
	char *part = xstrdup(slash != NULL && slash[1] != '\0' ? slash + 1 : trimmed);
	free(trimmed);
	return part;
}

/* Given ones, else the last parts of the paths, else, where those are equal, paths. */
static char **labels_of(const struct plot_labelled *runs, size_t count)
{
	char **labels = xcalloc(count + 1, sizeof *labels);
	for (size_t i = 0; i < count; i++)
		labels[i] = runs[i].label != NULL ? xstrdup(runs[i].label) : last_part(runs[i].dir);
	for (size_t i = 0; i < count; i++) {
		bool twice = false;
		for (size_t k = 0; k < count && runs[i].label == NULL && !twice; k++) {
			char *other = last_part(runs[k].dir);
			twice = k != i && strcmp(other, labels[i]) == 0;
			free(other);
		}
		if (twice) {
			free(labels[i]);
			labels[i] = folder_trim(runs[i].dir);
		}
	}
	return labels;
}

/* NULL, or why not (caller frees). */
static char *why_not(const struct plot_labelled *runs, size_t count,
		     const struct plot_options *options)
{
	char *error = plot_no_such(options, figures, FIGURES);
	if (error == NULL && options->out == NULL)
		error = xstrdup("figures of several directories need a folder of their own");
	if (error == NULL && count > RUNS_MAX)
		error = xasprintf(
			"%zu directories are more than can be told apart in a figure (%d)", count,
			RUNS_MAX);
	for (size_t i = 0; i < count && error == NULL; i++)
		error = plot_no_results(runs[i].dir);
	return error;
}

/* True when drawn; false with or without *error. */
static bool draw_figure(size_t figure, const struct plot_runs *runs, const char *folder,
			const struct plot_options *options, FILE *to, char **error)
{
	struct plot_page page = { .name = figures[figure].name,
				  .folder = folder,
				  .options = options };
	enum plot_outcome outcome = plot_page_render(&page, draws[figure](&page, runs), to);
	if (outcome == PLOT_NO_DATA && options->only != NULL)
		page.error = xasprintf("no figure %s: %s: %s", page.name, page.dir, page.why);
	else if (outcome == PLOT_NO_DATA)
		fprintf(stderr, "no figure %s: %s: %s\n", page.name, page.dir, page.why);
	*error = page.error;
	return outcome == PLOT_DRAWN;
}

int plot_together(const struct plot_labelled *list, size_t count,
		  const struct plot_options *options, FILE *to, char **error)
{
	*error = why_not(list, count, options);
	if (*error != NULL)
		return -1;
	struct plot_runs runs = { list, labels_of(list, count), count };
	char *folder = folder_trim(options->out);
	int drawn = 0;
	for (size_t i = 0; i < FIGURES && *error == NULL; i++)
		if (options->only == NULL || strcmp(options->only, figures[i].name) == 0)
			drawn += draw_figure(i, &runs, folder, options, to, error);
	for (size_t i = 0; i < count; i++)
		free(runs.labels[i]);
	free(runs.labels);
	free(folder);
	return *error == NULL ? drawn : -1;
}
