/* Figures of links.csv and series/network.csv. */
#include "out/plot_data.h"

#include "base/mem.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BUNDLES_SHOWN (2 * PLOT_COLOURS)
#define SAMPLES_SHOWN 2000
#define SERIES_HEIGHT 700

/* ---- Utilisation of links ---- */

/* The links of one tier and direction. */
struct bundle {
	char *tier;
	char *direction;
	double *utilization;
	size_t count, capacity;
};

struct bundles {
	struct bundle *at;
	size_t count, capacity;
	uint64_t links;
	double highest;
};

static struct bundle *find_bundle(struct bundles *all, const char *tier, const char *direction)
{
	for (size_t i = all->count; i > 0; i--)
		if (strcmp(all->at[i - 1].tier, tier) == 0 &&
		    strcmp(all->at[i - 1].direction, direction) == 0)
			return &all->at[i - 1];
	all->at = array_reserve(all->at, all->count, &all->capacity, sizeof *all->at);
	struct bundle *bundle = &all->at[all->count++];
	*bundle = (struct bundle){ .tier = xstrdup(tier), .direction = xstrdup(direction) };
	return bundle;
}

static void read_links(struct csv *csv, struct bundles *all)
{
	int tier = csv_need(csv, "tier"), direction = csv_need(csv, "direction");
	int utilization = csv_need(csv, "utilization");
	while (csv_next(csv)) {
		struct bundle *bundle =
			find_bundle(all, csv_text(csv, tier), csv_text(csv, direction));
		double value = csv_real(csv, utilization);
		bundle->utilization = array_reserve(bundle->utilization, bundle->count,
						    &bundle->capacity, sizeof *bundle->utilization);
		bundle->utilization[bundle->count++] = value;
		all->links++;
		all->highest = fmax(all->highest, value);
	}
}

static void bundles_release(struct bundles *all)
{
	for (size_t i = 0; i < all->count; i++) {
		free(all->at[i].tier);
		free(all->at[i].direction);
		free(all->at[i].utilization);
	}
	free(all->at);
}

static int descending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x < y) - (x > y);
}

/* Rank as a share of the bundle, so that tiers of unlike size can be compared;
 * each link is a step of 1/n, the last one is drawn to its end. */
static void write_ranks(FILE *data, struct bundles *all)
{
	for (size_t i = 0; i < all->count; i++) {
		struct bundle *bundle = &all->at[i];
		size_t n = bundle->count;
		qsort(bundle->utilization, n, sizeof *bundle->utilization, descending);
		fprintf(data, "%s# bundle %zu: share_of_links utilization\n", i > 0 ? "\n\n" : "",
			i + 1);
		for (size_t k = 0; k <= n; k++) {
			plot_real(data, (double)k / (double)n);
			putc(' ', data);
			plot_real(data, bundle->utilization[k < n ? k : n - 1]);
			putc('\n', data);
		}
	}
}

/* Colour by tier, dash by direction: index of the first bundle of the tier. */
static size_t tier_number(const struct bundles *all, size_t bundle)
{
	size_t number = 0;
	for (size_t i = 0; i <= bundle; i++) {
		bool first = true;
		for (size_t k = 0; k < i && first; k++)
			first = strcmp(all->at[k].tier, all->at[i].tier) != 0;
		number += first;
		if (strcmp(all->at[i].tier, all->at[bundle].tier) == 0)
			return number - 1;
	}
	return number;
}

static void write_link_script(struct plot_page *page, const struct bundles *all)
{
	FILE *script = page->script;
	char count[32];
	plot_title(page, "Utilisation of links, ranked within tier and direction",
		   "%s links, highest %.1f %%", plot_thousands(count, all->links),
		   100 * all->highest);
	fprintf(script,
		"set xlabel 'Share of links at least as busy (%%)'\nset ylabel 'Utilisation (%%)'\n"
		"set xrange [0:100]\nset yrange [0:%g]\n"
		"plot ",
		fmax(100 * all->highest * 1.08, 1e-3));
	for (size_t i = 0; i < all->count; i++) {
		const struct bundle *bundle = &all->at[i];
		fprintf(script,
			"%s'link_utilization.dat' index %zu using ($1*100):($2*100) with steps "
			"lt %zu lw 2.5 dt %d lc rgb '%s' title ",
			i > 0 ? ", \\\n     " : "", i, i + 1,
			strcmp(bundle->direction, "down") == 0 ? 2 : 1,
			plot_colour(tier_number(all, i)));
		char *title = xasprintf("%s %s (n = %s)", bundle->tier, bundle->direction,
					plot_thousands(count, bundle->count));
		plot_quote(script, title);
		free(title);
	}
	putc('\n', script);
}

enum plot_outcome plot_link_utilization(struct plot_page *page)
{
	struct csv *csv = plot_table(page, "links.csv");
	if (csv == NULL)
		return plot_without(page);
	struct bundles all = { 0 };
	read_links(csv, &all);
	enum plot_outcome outcome = plot_table_end(page, csv);
	if (outcome == PLOT_DRAWN && all.links == 0) {
		page->why = "there are no links";
		outcome = PLOT_NO_DATA;
	}
	if (outcome == PLOT_DRAWN && all.count > BUNDLES_SHOWN) {
		page->why = "too many tiers to tell apart";
		outcome = PLOT_NO_DATA;
	}
	if (outcome == PLOT_DRAWN)
		outcome = plot_page_open(page, PLOT_WIDTH, PLOT_HEIGHT);
	if (outcome == PLOT_DRAWN) {
		write_ranks(page->data, &all);
		write_link_script(page, &all);
	}
	bundles_release(&all);
	return outcome;
}

/* ---- Series over time ---- */

static void read_samples(struct csv *csv, struct plot_samples *samples)
{
	int time = csv_need(csv, "time_s"), flows = csv_need(csv, "active_flows");
	int jobs = csv_need(csv, "active_jobs"), mean = csv_need(csv, "mean_utilization");
	int max = csv_need(csv, "max_utilization");
	while (csv_next(csv)) {
		samples->at = array_reserve(samples->at, samples->count, &samples->capacity,
					    sizeof *samples->at);
		samples->at[samples->count++] = (struct plot_sample){
			.time_s = csv_real(csv, time),
			.flows = (double)csv_u64(csv, flows),
			.jobs = (double)csv_u64(csv, jobs),
			.mean = csv_real(csv, mean),
			.max = csv_real(csv, max),
		};
	}
}

size_t plot_samples_together(const struct plot_samples *samples)
{
	return 1 + (samples->count - 1) / SAMPLES_SHOWN;
}

void plot_samples_write(FILE *data, const struct plot_samples *samples, size_t together)
{
	for (size_t i = 0; i < samples->count;) {
		struct plot_sample sum = { .max = -INFINITY };
		size_t n = 0;
		for (; n < together && i < samples->count; n++, i++) {
			const struct plot_sample *s = &samples->at[i];
			sum.time_s = s->time_s;
			sum.flows += s->flows;
			sum.jobs += s->jobs;
			sum.mean += s->mean;
			sum.max = fmax(sum.max, s->max);
		}
		double values[] = { sum.time_s, sum.flows / (double)n, sum.jobs / (double)n,
				    sum.mean / (double)n, sum.max };
		for (size_t k = 0; k < sizeof values / sizeof *values; k++) {
			if (k > 0)
				putc(' ', data);
			plot_real(data, values[k]);
		}
		putc('\n', data);
	}
}

/* Two plots over one another, for quantities of unlike kind. */
static void write_series_script(struct plot_page *page, const struct plot_samples *samples,
				size_t together)
{
	FILE *script = page->script;
	double scale;
	double end_s = samples->at[samples->count - 1].time_s;
	const char *unit = plot_time_unit(end_s, &scale);
	char means[64] = "", count[32];
	if (together > 1)
		snprintf(means, sizeof means, ", drawn as means (busiest link: maxima) of %zu",
			 together);
	fputs("set multiplot layout 2,1\n", script);
	plot_title(page, "Load over time", "%s samples%s", plot_thousands(count, samples->count),
		   means);
	fprintf(script,
		"set lmargin 10\nset rmargin 9\nset bmargin 3.8\n"
		"set xrange [0:%g]\nset yrange [0:*]\nset y2range [0:*]\n",
		end_s * scale);
	fprintf(script,
		"set border 11\nset ylabel 'Active flows'\nset y2label 'Active jobs'\n"
		"set y2tics nomirror out\n"
		"plot 'series.dat' using ($1*%g):2 with lines lt 1 lw 2 lc rgb '%s' title 'flows', "
		"\\\n"
		"     '' using ($1*%g):3 axes x1y2 with lines lt 2 dt 2 lw 2 lc rgb '%s' "
		"title 'jobs (right axis)'\n",
		scale, plot_colour(0), scale, plot_colour(1));
	fprintf(script,
		"set key notitle\n"
		"set border 3\nunset y2tics\nunset y2label\n"
		"set xlabel 'Simulated time (%s)'\nset ylabel 'Utilisation (%%)'\n"
		"plot 'series.dat' using ($1*%g):($5*100) with lines lt 2 dt 1 lw 1.2 lc rgb '%s' "
		"title 'busiest link', \\\n"
		"     '' using ($1*%g):($4*100) with lines lt 1 lw 2.5 lc rgb '%s' "
		"title 'mean of all links'\nunset multiplot\n",
		unit, scale, plot_colour(4), scale, plot_colour(2));
}

enum plot_outcome plot_samples_read(struct plot_samples *samples, struct plot_page *page)
{
	*samples = (struct plot_samples){ 0 };
	struct csv *csv = plot_table(page, "series/network.csv");
	if (csv == NULL)
		return plot_without(page);
	read_samples(csv, samples);
	enum plot_outcome outcome = plot_table_end(page, csv);
	double end_s = samples->count > 0 ? samples->at[samples->count - 1].time_s : 0;
	if (outcome == PLOT_DRAWN && !(end_s > 0)) {
		page->why = "there are no samples";
		outcome = PLOT_NO_DATA;
	}
	return outcome;
}

enum plot_outcome plot_series(struct plot_page *page)
{
	struct plot_samples samples;
	enum plot_outcome outcome = plot_samples_read(&samples, page);
	if (outcome == PLOT_DRAWN)
		outcome = plot_page_open(page, PLOT_WIDTH, SERIES_HEIGHT);
	if (outcome == PLOT_DRAWN) {
		size_t together = plot_samples_together(&samples);
		fputs("# time_s active_flows active_jobs mean_utilization max_utilization\n",
		      page->data);
		plot_samples_write(page->data, &samples, together);
		write_series_script(page, &samples, together);
	}
	free(samples.at);
	return outcome;
}
