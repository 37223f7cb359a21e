/* Figures of the flows of several result directories. */
#include "out/plot_together.h"

#include "base/mem.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#define SLANTED_BELOW 75 /* letters in the width: size classes overlap */

static void release_flows(struct plot_flows *flows, const struct plot_runs *runs)
{
	for (size_t i = 0; i < runs->count; i++)
		plot_flows_release(&flows[i]);
	free(flows);
}

/* Of each directory; the caller releases them in any case. */
static enum plot_outcome read_flows(struct plot_page *page, const struct plot_runs *runs,
				    struct plot_flows **flows)
{
	*flows = xcalloc(runs->count, sizeof **flows);
	for (size_t i = 0; i < runs->count; i++) {
		page->dir = runs->at[i].dir;
		enum plot_outcome outcome = plot_flows_read(&(*flows)[i], page);
		if (outcome != PLOT_DRAWN)
			return outcome;
	}
	return PLOT_DRAWN;
}

/* Warnings about flows that cannot be; "" if there are none. */
static const char *warning(const struct plot_flows *flows, const struct plot_runs *runs,
			   char *buffer, size_t size)
{
	uint64_t fast = 0;
	for (size_t i = 0; i < runs->count; i++)
		fast += flows[i].too_fast;
	buffer[0] = '\0';
	if (fast > 0)
		snprintf(buffer, size, "; %" PRIu64 " flows with a slowdown BELOW 1", fast);
	return buffer;
}

static uint64_t unfinished_flows(const struct plot_flows *flows, const struct plot_runs *runs)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < runs->count; i++)
		sum += flows[i].unfinished;
	return sum;
}

enum plot_outcome plot_together_fct_cdf(struct plot_page *page, const struct plot_runs *runs)
{
	struct plot_flows *flows;
	char warn[80];
	enum plot_outcome outcome = read_flows(page, runs, &flows);
	struct plot_values *all = xcalloc(runs->count, sizeof *all);
	uint64_t *unfinished = xcalloc(runs->count, sizeof *unfinished);
	if (outcome == PLOT_DRAWN)
		outcome = plot_page_open(page, PLOT_WIDTH, PLOT_HEIGHT);
	for (size_t i = 0; i < runs->count && outcome == PLOT_DRAWN; i++) {
		for (size_t g = 0; g < flows[i].group_count; g++)
			for (size_t k = 0; k < flows[i].groups[g].fct_s.count; k++)
				plot_values_add(&all[i], flows[i].groups[g].fct_s.at[k]);
		plot_values_sort(&all[i]);
		unfinished[i] = flows[i].unfinished;
	}
	if (outcome == PLOT_DRAWN) {
		plot_title(page, "Flow completion times", "Finished flows of all groups%s",
			   warning(flows, runs, warn, sizeof warn));
		plot_label(page, "y", "Share of finished flows");
		plot_runs_distributions(page, runs, all, unfinished, "Flow completion time");
	}
	for (size_t i = 0; i < runs->count; i++)
		free(all[i].at);
	free(all);
	free(unfinished);
	release_flows(flows, runs);
	return outcome;
}

/* Does any directory have a percentile in any class? */
static bool any_percentile(const struct plot_flows *flows, const struct plot_runs *runs,
			   unsigned permille)
{
	for (size_t i = 0; i < runs->count; i++)
		for (size_t c = 0; c < PLOT_CLASSES; c++)
			if (!isnan(plot_percentile(&flows[i].slowdown[c], permille)))
				return true;
	return false;
}

static void write_slowdown_data(FILE *data, const struct plot_flows *flows,
				const struct plot_runs *runs)
{
	for (size_t i = 0; i < runs->count; i++) {
		plot_runs_begin(data, i, runs->labels[i], "class min_bytes finished_flows p50 p99");
		for (size_t c = 0; c < PLOT_CLASSES; c++) {
			const struct plot_values *values = &flows[i].slowdown[c];
			fprintf(data, "%zu %" PRIu64 " %zu ", c, plot_size_classes[c].min_bytes,
				values->count);
			plot_real(data, plot_percentile(values, 500));
			putc(' ', data);
			plot_real(data, plot_percentile(values, 990));
			putc('\n', data);
		}
	}
}

static void write_slowdown_panel(struct plot_page *page, const struct plot_runs *runs,
				 const char *what, const char *column)
{
	plot_label(page, "y", what);
	for (size_t i = 0; i < runs->count; i++) {
		plot_runs_bars(page, i, runs->count, column, false);
		plot_quote(page->script, runs->labels[i]);
	}
	putc('\n', page->script);
}

static void write_slowdown_script(struct plot_page *page, const struct plot_flows *flows,
				  const struct plot_runs *runs)
{
	FILE *script = page->script;
	bool tail = any_percentile(flows, runs, 990);
	char warn[80];
	fputs("set grid noxtics\n", script);
	if (tail)
		fputs("set multiplot layout 2,1\n", script);
	plot_title(page, "Flow slowdown by flow size",
		   "FCT / ideal FCT of finished flows (%" PRIu64 " unfinished); no bar where the "
		   "class has too few%s",
		   unfinished_flows(flows, runs), warning(flows, runs, warn, sizeof warn));
	fprintf(script, "set xrange [-0.5:%g]\nset yrange [0:*]\nset xtics scale 0 %s(",
		PLOT_CLASSES - 0.5,
		plot_columns(page) < SLANTED_BELOW ? "rotate by -30 left " : "");
	for (size_t c = 0; c < PLOT_CLASSES; c++)
		fprintf(script, "%s'%s' %zu", c > 0 ? ", " : "", plot_size_classes[c].label, c);
	fputs(")\n", script);
	if (!tail)
		plot_label(page, "x", "Flow size");
	write_slowdown_panel(page, runs, "Median slowdown", "4");
	if (!tail)
		return;
	fputs("unset key\n", script);
	plot_label(page, "x", "Flow size");
	write_slowdown_panel(page, runs, "99th percentile", "5");
	fputs("unset multiplot\n", script);
}

enum plot_outcome plot_together_slowdown(struct plot_page *page, const struct plot_runs *runs)
{
	struct plot_flows *flows;
	enum plot_outcome outcome = read_flows(page, runs, &flows);
	if (outcome == PLOT_DRAWN && !any_percentile(flows, runs, 500)) {
		page->why = "a median needs 20 finished flows of one size class";
		outcome = PLOT_NO_DATA;
	}
	if (outcome == PLOT_DRAWN)
		outcome = plot_page_open(page, PLOT_WIDTH,
					 any_percentile(flows, runs, 990) ? PLOT_PANELS_HEIGHT
									  : PLOT_HEIGHT);
	if (outcome == PLOT_DRAWN) {
		write_slowdown_data(page->data, flows, runs);
		write_slowdown_script(page, flows, runs);
	}
	release_flows(flows, runs);
	return outcome;
}
