/* The load of several result directories over time. */
#include "out/plot_together.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>

static void write_series_panel(struct plot_page *page, const struct plot_runs *runs, double scale,
			       const char *column)
{
	for (size_t i = 0; i < runs->count; i++) {
		fprintf(page->script,
			"%s'%s.dat' index %zu using ($1*%g):%s with lines lt %zu dt %zu lw 2 lc "
			"rgb "
			"'%s' title ",
			i > 0 ? ", \\\n     " : "plot ", page->name, i, scale, column, i + 1,
			i % 5 + 1, plot_colour(i));
		plot_quote(page->script, runs->labels[i]);
	}
	putc('\n', page->script);
}

static void write_series(struct plot_page *page, const struct plot_runs *runs,
			 const struct plot_samples *samples)
{
	FILE *script = page->script;
	double end_s = 0, scale;
	size_t most = 1;
	char means[64] = "Every sample";
	for (size_t i = 0; i < runs->count; i++) {
		size_t together = plot_samples_together(&samples[i]);
		plot_runs_begin(page->data, i, runs->labels[i],
				"time_s active_flows active_jobs mean_utilization max_utilization");
		plot_samples_write(page->data, &samples[i], together);
		end_s = fmax(end_s, samples[i].at[samples[i].count - 1].time_s);
		most = together > most ? together : most;
	}
	if (most > 1)
		snprintf(means, sizeof means, "Means of up to %zu samples", most);
	const char *unit = plot_time_unit(end_s, &scale);
	char *label = xasprintf("Simulated time (%s)", unit);
	fputs("set multiplot layout 2,1\n", script);
	plot_title(page, "Load over time", "%s", means);
	fprintf(script, "set lmargin 10\nset xrange [0:%g]\nset yrange [0:*]\n", end_s * scale);
	plot_label(page, "y", "Active flows");
	write_series_panel(page, runs, scale, "2");
	fputs("unset key\n", script);
	plot_label(page, "x", label);
	plot_label(page, "y", "Mean link utilisation (%)");
	write_series_panel(page, runs, scale, "($4*100)");
	fputs("unset multiplot\n", script);
	free(label);
}

enum plot_outcome plot_together_series(struct plot_page *page, const struct plot_runs *runs)
{
	struct plot_samples *samples = xcalloc(runs->count, sizeof *samples);
	enum plot_outcome outcome = PLOT_DRAWN;
	for (size_t i = 0; i < runs->count && outcome == PLOT_DRAWN; i++) {
		page->dir = runs->at[i].dir;
		outcome = plot_samples_read(&samples[i], page);
	}
	if (outcome == PLOT_DRAWN)
		outcome = plot_page_open(page, PLOT_WIDTH, PLOT_PANELS_HEIGHT);
	if (outcome == PLOT_DRAWN)
		write_series(page, runs, samples);
	for (size_t i = 0; i < runs->count; i++)
		free(samples[i].at);
	free(samples);
	return outcome;
}
