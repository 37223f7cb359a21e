/* The figure "packets": what chosen links carry over time, from series/links.csv. One
 * line for each directory and each entry of output.series.links. */
#include "out/plot_data.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CURVES_MAX (2 * PLOT_COLOURS) /* colour and dash tell so many apart */

struct curve {
	char *links, *label; /* owned */
	struct point {
		double time_s, packets;
	} * at;
	size_t count, capacity;
};

struct curves {
	struct curve *all;
	size_t count, capacity;
};

/* The one of these links, new if need be; those before `first` are of other directories. */
static struct curve *curve_of(struct curves *curves, size_t first, const char *links)
{
	for (size_t i = first; i < curves->count; i++)
		if (strcmp(curves->all[i].links, links) == 0)
			return &curves->all[i];
	curves->all =
		array_reserve(curves->all, curves->count, &curves->capacity, sizeof *curves->all);
	curves->all[curves->count] = (struct curve){ .links = xstrdup(links) };
	return &curves->all[curves->count++];
}

static void read_rows(struct csv *csv, struct curves *curves, size_t first)
{
	int time = csv_need(csv, "time_s"), links = csv_need(csv, "links");
	int packets = csv_need(csv, "packets");
	while (csv_next(csv)) {
		struct curve *curve = curve_of(curves, first, csv_text(csv, links));
		curve->at =
			array_reserve(curve->at, curve->count, &curve->capacity, sizeof *curve->at);
		curve->at[curve->count++] =
			(struct point){ csv_real(csv, time), (double)csv_u64(csv, packets) };
	}
}

/* Those of page->dir; `name` of the directory, or NULL when it is the only one. */
static enum plot_outcome read_curves(struct curves *curves, struct plot_page *page,
				     const char *name)
{
	size_t first = curves->count;
	struct csv *csv = plot_table(page, "series/links.csv");
	if (csv == NULL)
		return plot_without(page);
	read_rows(csv, curves, first);
	enum plot_outcome outcome = plot_table_end(page, csv);
	for (size_t i = first; i < curves->count; i++) {
		struct curve *curve = &curves->all[i];
		if (name == NULL)
			curve->label = xstrdup(curve->links);
		else if (curves->count - first == 1)
			curve->label = xstrdup(name);
		else
			curve->label = xasprintf("%s: %s", name, curve->links);
	}
	if (outcome != PLOT_DRAWN)
		return outcome;
	page->why = curves->count == first       ? "there are no samples"
		    : curves->count > CURVES_MAX ? "too many lines to tell apart"
						 : NULL;
	return page->why == NULL ? PLOT_DRAWN : PLOT_NO_DATA;
}

static void write_curve(FILE *data, const struct curve *curve, size_t index)
{
	fputs(index > 0 ? "\n\n# " : "# ", data);
	plot_comment(data, curve->label);
	fputs(": time_s packets\n", data);
	for (size_t i = 0; i < curve->count; i++) {
		plot_real(data, curve->at[i].time_s);
		putc(' ', data);
		plot_real(data, curve->at[i].packets);
		putc('\n', data);
	}
}

static void write_script(struct plot_page *page, const struct curves *curves)
{
	FILE *script = page->script;
	double end_s = 0, every_s = curves->all[0].at[0].time_s, scale, every_scale;
	bool alike = true; /* samples of all directories are as far apart */
	for (size_t i = 0; i < curves->count; i++) {
		const struct curve *curve = &curves->all[i];
		end_s = fmax(end_s, curve->at[curve->count - 1].time_s);
		alike = alike && curve->at[0].time_s == every_s;
	}
	const char *unit = plot_time_unit(end_s, &scale);
	char *time = xasprintf("Simulated time (%s)", unit);
	unit = plot_time_unit(every_s, &every_scale);
	char *packets = alike ? xasprintf("Packets per %g %s", every_s * every_scale, unit)
			      : xstrdup("Packets per sample");
	plot_title(page, "Packets over time", "%s", "All classes of traffic, lost ones included");
	plot_label(page, "x", time);
	plot_label(page, "y", packets);
	fprintf(script, "set xrange [0:%g]\nset yrange [0:*]\n", end_s * scale);
	for (size_t i = 0; i < curves->count; i++) {
		fprintf(script, "%s'%s.dat' index %zu using ($1*%g):2 with lines ",
			i > 0 ? ", \\\n     " : "plot ", page->name, i, scale);
		plot_curve_style(script, i);
		fputs(" title ", script);
		plot_quote(script, curves->all[i].label);
	}
	putc('\n', script);
	free(time);
	free(packets);
}

static void curves_release(struct curves *curves)
{
	for (size_t i = 0; i < curves->count; i++) {
		free(curves->all[i].links);
		free(curves->all[i].label);
		free(curves->all[i].at);
	}
	free(curves->all);
}

enum plot_outcome plot_packets_of(struct plot_page *page, const struct plot_labelled *runs,
				  char *const *labels, size_t count)
{
	struct curves curves = { 0 };
	enum plot_outcome outcome = PLOT_DRAWN;
	for (size_t i = 0; i < count && outcome == PLOT_DRAWN; i++) {
		page->dir = runs[i].dir;
		outcome = read_curves(&curves, page, labels != NULL ? labels[i] : NULL);
	}
	if (outcome == PLOT_DRAWN)
		outcome = plot_page_open(page, PLOT_WIDTH, PLOT_HEIGHT);
	if (outcome == PLOT_DRAWN) {
		for (size_t i = 0; i < curves.count; i++)
			write_curve(page->data, &curves.all[i], i);
		write_script(page, &curves);
	}
	curves_release(&curves);
	return outcome;
}

enum plot_outcome plot_packets(struct plot_page *page)
{
	struct plot_labelled run = { .dir = page->dir };
	return plot_packets_of(page, &run, NULL, 1);
}
