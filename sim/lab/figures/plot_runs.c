/* The figures of one run, and of several side by side. */
#include "base/mem.h"
#include "base/units.h"
#include "core/stats.h"
#include "lab/figures/values.h"
#include "lab/figures/timeline.h"
#include "out/folder.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NAMES_SHOWN   12 /* groups of bars; more jobs are a distribution */
#define SAMPLES_SHOWN 2000

struct runs {
	const struct plot_labelled *at;
	char **labels;
	size_t count;
	bool together; /* else there is one */
};

/* Of each run, in this order; release_all() in any case. */
static bool read_all(struct figure *f, const struct runs *runs, const struct values_query *query,
		     struct values **of)
{
	bool ok = true;
	*of = xcalloc(runs->count, sizeof **of);
	for (size_t r = 0; r < runs->count && ok; r++) {
		f->dir = runs->at[r].dir;
		ok = values_read(&(*of)[r], f, query);
	}
	return ok;
}

static void release_all(struct values *of, const struct runs *runs)
{
	for (size_t r = 0; r < runs->count; r++)
		values_release(&of[r]);
	free(of);
}

/* "6,109 finished flows, 78 unfinished (not shown)" of all runs. */
static const char *tally(const struct values *of, const struct runs *runs, char *buffer,
			 size_t size)
{
	uint64_t finished = 0, unfinished = 0;
	char number[32], other[32];
	for (size_t r = 0; r < runs->count; r++) {
		finished += of[r].finished;
		unfinished += of[r].unfinished;
	}
	snprintf(buffer, size, "%s finished flows, %s unfinished (not shown)",
		 figure_thousands(number, finished), figure_thousands(other, unfinished));
	return buffer;
}

/* ---- Slowdown by size ---- */

static const struct {
	double p;
	const char *name, *panel;
	size_t look, dash;
} percentiles[] = { { 0.99, "99th percentile", "99th percentile", 2, 4 },
		    { 0.95, "95th percentile", NULL, 5, 2 },
		    { 0.50, "median", "Median slowdown", 1, 1 } };

static bool any_percentile(const struct values *of, const struct runs *runs, double p)
{
	for (size_t r = 0; r < runs->count; r++)
		for (size_t c = 0; c < SIZES; c++)
			if (stats_rank(of[r].groups[c].count, p) > 0)
				return true;
	return false;
}

static void slowdown_curve(struct figure *f, const struct values *values, double p)
{
	for (size_t c = 0; c < SIZES; c++) {
		const struct value_group *size = &values->groups[c];
		figure_row(f,
			   (double[]){ (double)c, stats_percentile(size->values, size->count, p),
				       (double)size->count },
			   1);
	}
}

static void size_tics(struct figure *f, const struct values *alone)
{
	figure_x(f, "Flow size", "", false);
	figure_count(f, "LABELLED", 1);
	figure_tics(f, 'X', SIZES);
	for (size_t c = 0; c < SIZES; c++) {
		char number[32], note[40];
		snprintf(note, sizeof note, "n = %s",
			 figure_thousands(number, alone != NULL ? alone->groups[c].count : 0));
		figure_tic(f, 'X', c + 1, size_names[c], (double)c, alone != NULL ? note : NULL);
	}
}

static void slowdown_alone(struct figure *f, const struct values *of)
{
	figure_begin(f, "lines", 1, 3, "size_class slowdown finished_flows");
	figure_text(f, "STYLE", "linespoints");
	size_tics(f, of);
	figure_panel(f, 1, "Slowdown: FCT / ideal FCT", "");
	for (size_t i = 0; i < 3; i++) {
		figure_legend(f, i + 1, percentiles[i].look, percentiles[i].dash, "%s",
			      percentiles[i].name);
		figure_curve(f, 1, i + 1, percentiles[i].name);
		slowdown_curve(f, of, percentiles[i].p);
	}
	figure_reach(f, 1, 1);
	figure_count(f, "LOGY", f->y[0].high > 5 * f->y[0].low);
}

/* A panel for the median, and one for the 99th percentile where there is any. */
static void slowdown_together(struct figure *f, const struct runs *runs, const struct values *of)
{
	size_t panels = any_percentile(of, runs, 0.99) ? 2 : 1;
	figure_begin(f, "bars", panels, runs->count, "size_class slowdown finished_flows");
	size_tics(f, NULL);
	for (size_t p = 1; p <= panels; p++) {
		size_t i = p == 1 ? 2 : 0;
		figure_panel(f, p, percentiles[i].panel, "");
		figure_reach(f, p, 0);
		for (size_t r = 0; r < runs->count; r++) {
			figure_curve(f, p, r + 1, runs->labels[r]);
			slowdown_curve(f, &of[r], percentiles[i].p);
		}
	}
	for (size_t r = 0; r < runs->count; r++)
		figure_legend(f, r + 1, r + 1, r + 1, "%s", runs->labels[r]);
}

static bool slowdown(struct figure *f, const struct runs *runs)
{
	static const struct values_query query = { .file = "flows.csv",
						   .value = "slowdown",
						   .group = "size_bytes",
						   .work = true,
						   .by_size = true };
	struct values *of;
	bool data = read_all(f, runs, &query, &of);
	if (data && !any_percentile(of, runs, 0.5)) {
		f->why = "a median needs 20 finished flows of one size class";
		data = false;
	}
	if (data) {
		char flows[80], number[32];
		uint64_t below_one = 0;
		for (size_t r = 0; r < runs->count; r++)
			below_one += of[r].below_one;
		if (runs->together)
			slowdown_together(f, runs, of);
		else
			slowdown_alone(f, of);
		figure_title(f, "Flow slowdown by flow size", "%s%s%s%s",
			     tally(of, runs, flows, sizeof flows),
			     runs->together ? "; no bar where the class has too few" : "",
			     below_one > 0 ? "; slowdowns BELOW 1: " : "",
			     below_one > 0 ? figure_thousands(number, below_one) : "");
	}
	release_all(of, runs);
	return data;
}

/* ---- Distributions ---- */

struct distribution {
	const char *name;
	const double *sorted;
	size_t count;
	uint64_t unfinished;
};

/* `what`: "Flow" or "Job". */
static void draw_cdf(struct figure *f, const struct distribution *of, size_t count,
		     const char *what)
{
	char text[80];
	figure_begin(f, "lines", 1, count, "time_s share");
	figure_text(f, "STYLE", "steps");
	snprintf(text, sizeof text, "%s completion time", what);
	figure_x(f, text, "s", true);
	snprintf(text, sizeof text, "Share of finished %s", *what == 'F' ? "flows" : "jobs");
	figure_panel(f, 1, text, "");
	for (size_t i = 0; i < count; i++) {
		char n[32], missing[32];
		figure_thousands(n, of[i].count);
		if (of[i].unfinished > 0)
			figure_legend(f, i + 1, i + 1, i + 1, "%s (n = %s, %s unfinished)",
				      of[i].name, n, figure_thousands(missing, of[i].unfinished));
		else
			figure_legend(f, i + 1, i + 1, i + 1, "%s (n = %s)", of[i].name, n);
		figure_curve(f, 1, i + 1, of[i].name);
		values_cdf(f, of[i].sorted, of[i].count);
	}
}

static int larger_first(const void *a, const void *b)
{
	const struct value_group *x = a, *y = b;
	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	return strcmp(x->name, y->name);
}

/* The values of all groups from the first-th on, sorted; the caller frees. */
static double *pooled_from(const struct values *values, size_t first, size_t *count)
{
	*count = 0;
	for (size_t i = first; i < values->group_count; i++)
		*count += values->groups[i].count;
	double *all = xcalloc(*count + 1, sizeof *all), *to = all;
	for (size_t i = first; i < values->group_count; i++) {
		const struct value_group *group = &values->groups[i];
		for (size_t k = 0; k < group->count; k++)
			*to++ = group->values[k];
	}
	stats_sort(all, *count);
	return all;
}

/* A curve for each group, largest first; those that no colour is left for become one. */
static void groups_alone(struct figure *f, struct values *values)
{
	struct distribution of[FIGURE_COLOURS];
	size_t count = 0, rest = FIGURE_COLOURS - 1;
	qsort(values->groups, values->group_count, sizeof *values->groups, larger_first);
	while (values->groups[values->group_count - 1].count == 0) { /* nothing finished */
		struct value_group *last = &values->groups[--values->group_count];
		free(last->name);
		free(last->subname);
	}
	for (; count < values->group_count && count < FIGURE_COLOURS; count++)
		of[count] = (struct distribution){ values->groups[count].name,
						   values->groups[count].values,
						   values->groups[count].count, 0 };
	char *others = xasprintf("%zu other groups", values->group_count - rest);
	size_t others_count;
	double *others_values = pooled_from(values, rest, &others_count);
	if (values->group_count > FIGURE_COLOURS)
		of[rest] = (struct distribution){ others, others_values, others_count, 0 };
	draw_cdf(f, of, count, "Flow");
	free(others_values);
	free(others);
}

static void runs_together(struct figure *f, const struct runs *runs, const struct values *of,
			  const char *what)
{
	struct distribution all[FIGURE_CURVES];
	for (size_t r = 0; r < runs->count; r++)
		all[r] = (struct distribution){ runs->labels[r], of[r].groups[0].values,
						of[r].groups[0].count, of[r].unfinished };
	draw_cdf(f, all, runs->count, what);
}

static bool fct_cdf(struct figure *f, const struct runs *runs)
{
	struct values_query query = { .file = "flows.csv", .value = "fct_s", .work = true };
	struct values *of;
	char flows[80];
	if (!runs->together)
		query.group = "group";
	bool data = read_all(f, runs, &query, &of);
	if (data && runs->together)
		runs_together(f, runs, of, "Flow");
	else if (data)
		groups_alone(f, of);
	if (data)
		figure_title(f, "Flow completion times", "%s%s",
			     tally(of, runs, flows, sizeof flows),
			     runs->together ? " of all groups" : "");
	release_all(of, runs);
	return data;
}

static bool jct_cdf(struct figure *f, const struct runs *runs)
{
	static const struct values_query query = { .file = "jobs.csv",
						   .value = "jct_s",
						   .work = true };
	struct values *of;
	bool data = read_all(f, runs, &query, &of);
	if (data) {
		runs_together(f, runs, of, "Job");
		figure_title(f, "Job completion times", "Finished jobs of all names");
	}
	release_all(of, runs);
	return data;
}

/* ---- Job completion times by name ---- */

static const struct value_group *group_of(const struct values *values, const char *name)
{
	for (size_t i = 0; i < values->group_count; i++)
		if (strcmp(values->groups[i].name, name) == 0)
			return &values->groups[i];
	return NULL;
}

/* All names, in the order of their first jobs. The caller frees the array. */
static const char **names_of(const struct values *of, const struct runs *runs, size_t *count)
{
	const char **names = NULL;
	size_t capacity = 0;
	*count = 0;
	for (size_t r = 0; r < runs->count; r++) {
		for (size_t i = 0; i < of[r].group_count; i++) {
			const char *name = of[r].groups[i].name;
			bool known = false;
			for (size_t k = 0; k < r && !known; k++)
				known = group_of(&of[k], name) != NULL;
			if (known)
				continue;
			names = array_reserve(names, *count, &capacity, sizeof *names);
			names[(*count)++] = name;
		}
	}
	return names;
}

static void jct_bars(struct figure *f, const struct runs *runs, const struct values *of,
		     const char **names, size_t count)
{
	figure_begin(f, "bars", 1, runs->count, "job mean_jct_s min_s max_s finished_jobs");
	figure_title(f, "Job completion times",
		     "Mean of the finished jobs of a name; from the shortest to the longest");
	figure_count(f, "INTERVALS", 1);
	figure_x(f, "", "", false);
	figure_count(f, "LABELLED", 1);
	figure_panel(f, 1, "Job completion time", "s");
	figure_reach(f, 1, 0);
	figure_tics(f, 'X', count);
	for (size_t n = 0; n < count; n++)
		figure_tic(f, 'X', n + 1, names[n], (double)n, NULL);
	for (size_t r = 0; r < runs->count; r++) {
		char unfinished[48] = "";
		if (of[r].unfinished > 0)
			snprintf(unfinished, sizeof unfinished, " (%" PRIu64 " unfinished)",
				 of[r].unfinished);
		figure_legend(f, r + 1, r + 1, r + 1, "%s%s", runs->labels[r], unfinished);
		figure_curve(f, 1, r + 1, runs->labels[r]);
		for (size_t n = 0; n < count; n++) {
			const struct value_group *jobs = group_of(&of[r], names[n]);
			size_t k = jobs != NULL ? jobs->count : 0;
			double row[] = { (double)n, NAN, NAN, NAN, (double)k };
			if (k > 0) {
				row[1] = stats_mean(jobs->values, k);
				row[2] = jobs->values[0];
				row[3] = jobs->values[k - 1];
			}
			figure_row(f, row, 3);
		}
	}
}

static bool jct(struct figure *f, const struct runs *runs)
{
	static const struct values_query query = {
		.file = "jobs.csv", .value = "jct_s", .group = "name", .work = true
	};
	struct values *of;
	size_t count = 0;
	bool data = read_all(f, runs, &query, &of);
	const char **names = data ? names_of(of, runs, &count) : NULL;
	if (count > NAMES_SHOWN)
		data = jct_cdf(f, runs);
	else if (data)
		jct_bars(f, runs, of, names, count);
	free(names);
	release_all(of, runs);
	return data;
}

/* ---- Links ---- */

/* Colour by tier: the number of the tier of the group-th bundle, from 1. */
static size_t tier_number(const struct values *bundles, size_t bundle)
{
	size_t number = 1;
	for (size_t i = 0; i < bundle; i++) {
		if (strcmp(bundles->groups[i].name, bundles->groups[bundle].name) == 0)
			return tier_number(bundles, i);
		number =
			tier_number(bundles, i) + 1 > number ? tier_number(bundles, i) + 1 : number;
	}
	return number;
}

/* Rank as a share of the bundle, so that tiers of unlike size can be compared;
 * each link is a step of 1/n, the last one is drawn to its end. */
static void bundle_curve(struct figure *f, const struct values *bundles, size_t i)
{
	const struct value_group *bundle = &bundles->groups[i];
	size_t n = bundle->count;
	char number[32], *name = xasprintf("%s %s", bundle->name, bundle->subname);
	figure_legend(f, i + 1, tier_number(bundles, i),
		      strcmp(bundle->subname, "down") == 0 ? 2 : 1, "%s (n = %s)", name,
		      figure_thousands(number, n));
	figure_curve(f, 1, i + 1, name);
	for (size_t k = 0; k <= n; k++)
		figure_row(
			f,
			(double[]){ (double)k / (double)n, bundle->values[k < n ? n - 1 - k : 0] },
			1);
	free(name);
}

static bool link_utilization(struct figure *f, const struct runs *runs)
{
	static const struct values_query query = { .file = "links.csv",
						   .value = "utilization",
						   .group = "tier",
						   .subgroup = "direction" };
	struct values *of;
	char number[32];
	bool data = read_all(f, runs, &query, &of);
	if (data && of->group_count > FIGURE_CURVES) {
		f->why = "too many tiers to tell apart";
		data = false;
	}
	if (data) {
		figure_begin(f, "lines", 1, of->group_count, "share_of_links utilization");
		figure_text(f, "STYLE", "steps");
		figure_x(f, "Share of links at least as busy", "%", false);
		figure_panel(f, 1, "Utilisation", "%");
		figure_reach(f, 1, 0);
		for (size_t i = 0; i < of->group_count; i++)
			bundle_curve(f, of, i);
		figure_title(f, "Utilisation of links, ranked within tier and direction",
			     "%s links, highest %.1f %%", figure_thousands(number, of->finished),
			     100 * f->y[0].high);
	}
	release_all(of, runs);
	return data;
}

/* ---- Over time ---- */

/* Points of `together` samples each: their mean, or maximum, at the last one's time. */
static void thinned_curve(struct figure *f, const struct value_group *group, size_t together,
			  bool maximum)
{
	for (size_t i = 0; i < group->count;) {
		double sum = 0, most = -INFINITY;
		size_t n = 0;
		for (; n < together && i < group->count; n++, i++) {
			sum += group->values[i];
			most = fmax(most, group->values[i]);
		}
		figure_row(f, (double[]){ group->at[i - 1], maximum ? most : sum / (double)n }, 1);
	}
}

static const struct {
	const char *column, *label, *unit;
	bool maximum;
} loads[] = { { "active_flows", "Active flows", "", false },
	      { "active_jobs", "Active jobs", "", false },
	      { "mean_utilization", "Mean utilisation", "%", false },
	      { "max_utilization", "Busiest link", "%", true } };

#define LOADS (sizeof loads / sizeof *loads)

/* One panel; returns how many samples share a point at most, 0 when there is no data. */
static size_t load_panel(struct figure *f, const struct runs *runs, size_t panel)
{
	struct values_query query = { .file = "series/network.csv",
				      .value = loads[panel - 1].column,
				      .at = "time_s" };
	struct values *of;
	size_t most = 0;
	bool data = read_all(f, runs, &query, &of);
	if (data && panel == 1)
		figure_begin(f, "lines", LOADS, runs->count, "time_s value");
	if (data) {
		figure_panel(f, panel, loads[panel - 1].label, loads[panel - 1].unit);
		figure_reach(f, panel, 0);
	}
	for (size_t r = 0; r < runs->count && data; r++) {
		size_t together = 1 + (of[r].groups->count - 1) / SAMPLES_SHOWN;
		figure_curve(f, panel, r + 1, runs->labels[r]);
		thinned_curve(f, of[r].groups, together, loads[panel - 1].maximum);
		most = together > most ? together : most;
	}
	release_all(of, runs);
	return most;
}

static bool series(struct figure *f, const struct runs *runs)
{
	size_t most = 1;
	for (size_t p = 1; p <= LOADS && most > 0; p++)
		most = load_panel(f, runs, p);
	if (most == 0)
		return false;
	for (size_t r = 0; r < runs->count; r++)
		figure_legend(f, r + 1, r + 1, r + 1, "%s", runs->together ? runs->labels[r] : "");
	figure_text(f, "STYLE", "lines");
	figure_x(f, "Simulated time", "s", false);
	figure_reach(f, 0, 0);
	if (most > 1)
		figure_title(f, "Load over time", "Means of up to %zu samples (busiest: maxima)",
			     most);
	else
		figure_title(f, "Load over time", "Every sample");
	return true;
}

/* Name of a curve: the entry of output.series.links, the run, or both. The caller frees. */
static char *links_name(const struct runs *runs, const struct values *of, size_t r, size_t g)
{
	const char *links = of[r].groups[g].name;
	if (!runs->together)
		return xstrdup(links);
	return of[r].group_count == 1 ? xstrdup(runs->labels[r])
				      : xasprintf("%s: %s", runs->labels[r], links);
}

/* "Packets per 10ms", if the samples of all runs are as far apart. The caller frees. */
static char *packets_label(const struct runs *runs, const struct values *of)
{
	char time[32];
	for (size_t r = 1; r < runs->count; r++)
		if (of[r].groups->at[0] != of[0].groups->at[0])
			return xstrdup("Packets per sample");
	unit_format(UNIT_TIME, (uint64_t)llround(of[0].groups->at[0] * 1e12), time, sizeof time);
	return xasprintf("Packets per %s", time);
}

static void packets_curves(struct figure *f, const struct runs *runs, const struct values *of)
{
	size_t curve = 0;
	char *label = packets_label(runs, of);
	figure_text(f, "STYLE", "lines");
	figure_title(f, "Packets over time", "All classes of traffic, lost ones included");
	figure_x(f, "Simulated time", "s", false);
	figure_panel(f, 1, label, "");
	figure_reach(f, 0, 0);
	figure_reach(f, 1, 0);
	for (size_t r = 0; r < runs->count; r++) {
		for (size_t g = 0; g < of[r].group_count; g++) {
			char *name = links_name(runs, of, r, g);
			curve++;
			figure_legend(f, curve, curve, curve, "%s", name);
			figure_curve(f, 1, curve, name);
			thinned_curve(f, &of[r].groups[g], 1, false);
			free(name);
		}
	}
	free(label);
}

static bool packets(struct figure *f, const struct runs *runs)
{
	static const struct values_query query = {
		.file = "series/links.csv", .value = "packets", .group = "links", .at = "time_s"
	};
	struct values *of;
	size_t curves = 0;
	bool data = read_all(f, runs, &query, &of);
	for (size_t r = 0; r < runs->count && data; r++)
		curves += of[r].group_count;
	if (data && curves > FIGURE_CURVES) {
		f->why = "too many lines to tell apart";
		data = false;
	}
	if (data) {
		figure_begin(f, "lines", 1, curves, "time_s packets");
		packets_curves(f, runs, of);
	}
	release_all(of, runs);
	return data;
}

static bool job_timeline(struct figure *f, const struct runs *runs)
{
	f->dir = runs->at->dir;
	return timeline(f);
}

/* ---- All of them ---- */

struct kind {
	struct plot_figure figure;
	bool (*draw)(struct figure *f, const struct runs *runs);
};

static const struct kind alone[] = {
	{ { "slowdown", "FCT slowdown by flow size: median, 95th and 99th percentile" }, slowdown },
	{ { "fct_cdf", "distribution of flow completion times, one line per flow group" },
	  fct_cdf },
	{ { "job_timeline", "when jobs wait, compute and wait for communication" }, job_timeline },
	{ { "link_utilization", "utilisation of all links, ranked, by tier and direction" },
	  link_utilization },
	{ { "series", "active flows and jobs and link utilisation over time" }, series },
	{ { "packets", "packets over time on the links that the scenario samples" }, packets },
};

static const struct kind together[] = {
	{ { "slowdown",
	    "together: median and 99th percentile of the slowdown by flow size, as bars" },
	  slowdown },
	{ { "fct_cdf", "together: distributions of flow completion times, one line a directory" },
	  fct_cdf },
	{ { "jct", "together: job completion times by job name; of many names, distributions" },
	  jct },
	{ { "jct_cdf", "together: distributions of job completion times, one line a directory" },
	  jct_cdf },
	{ { "series", "together: active flows and jobs and link utilisation over time" }, series },
	{ { "packets", "together: packets over time on the links that the scenarios sample" },
	  packets },
};

static const struct kind *kind_at(bool of_several, size_t i)
{
	if (of_several)
		return i < sizeof together / sizeof *together ? &together[i] : NULL;
	return i < sizeof alone / sizeof *alone ? &alone[i] : NULL;
}

const struct plot_figure *plot_figure(bool of_several, size_t i)
{
	const struct kind *kind = kind_at(of_several, i);
	return kind != NULL ? &kind->figure : NULL;
}

/* NULL, or what is wrong with the options (caller frees). */
static char *why_not(const struct plot_options *options, const struct runs *runs)
{
	char *error = figure_no_terminal(options);
	const struct plot_figure *figure;
	for (size_t i = 0; error == NULL && options->only != NULL; i++) {
		figure = plot_figure(runs->together, i);
		if (figure == NULL)
			error = xasprintf("there is no figure \"%s\"%s; see inasim list figures",
					  options->only,
					  runs->together ? " of several directories together" : "");
		else if (strcmp(figure->name, options->only) == 0)
			break;
	}
	if (error == NULL && runs->together && options->out == NULL)
		error = xstrdup("figures of several directories need a folder of their own");
	if (error == NULL && runs->count > FIGURE_CURVES)
		error = xasprintf(
			"%zu directories are more than can be told apart in a figure (%d)",
			runs->count, FIGURE_CURVES);
	return error;
}

/* NULL, or why there are no figures of DIR (caller frees). */
static char *no_results(const char *dir)
{
	if (!folder_exists(dir))
		return xasprintf("there is no directory %s", dir);
	if (!folder_is_folder(dir))
		return xasprintf("%s is not a directory", dir);
	bool finished = folder_has(dir, "manifest.json");
	if (!finished && !folder_has(dir, "flows.csv") && !folder_has(dir, "jobs.csv"))
		return xasprintf("%s is not a result directory: no manifest.json, no tables", dir);
	if (!finished)
		fprintf(stderr, "%s: no manifest.json, the run was not finished\n", dir);
	return NULL;
}

static bool draw_one(const struct kind *kind, const struct runs *runs, const char *folder,
		     const struct plot_options *options, FILE *to, char **error)
{
	struct figure f = { .name = kind->figure.name, .folder = folder, .options = options };
	bool drawn = figure_finish(&f, kind->draw(&f, runs), to);
	if (!drawn && f.error == NULL) {
		char *text = xasprintf("%s: no figure %s: %s", f.dir, f.name, f.why);
		if (options->only != NULL)
			f.error = text;
		else
			fprintf(stderr, "%s\n", text);
		if (options->only == NULL)
			free(text);
	}
	*error = f.error;
	return drawn;
}

static int draw_all(const struct runs *runs, const struct plot_options *options, FILE *to,
		    char **error)
{
	const struct kind *kind;
	int drawn = 0;
	*error = why_not(options, runs);
	if (*error != NULL)
		return PLOT_USAGE;
	for (size_t r = 0; r < runs->count && *error == NULL; r++)
		*error = no_results(runs->at[r].dir);
	char *folder = *error == NULL ? figure_folder(options, runs->at->dir, error) : NULL;
	for (size_t i = 0; (kind = kind_at(runs->together, i)) != NULL && *error == NULL; i++)
		if (options->only == NULL || strcmp(options->only, kind->figure.name) == 0)
			drawn += draw_one(kind, runs, folder, options, to, error);
	free(folder);
	return *error == NULL ? drawn : PLOT_IO;
}

int plot_run(const char *dir, const struct plot_options *options, FILE *to, char **error)
{
	char *trimmed = folder_trim(dir), *label = "";
	struct plot_labelled run = { trimmed, NULL };
	int drawn = draw_all(&(struct runs){ &run, &label, 1, false }, options, to, error);
	free(trimmed);
	return drawn;
}

static char *last_part(const char *dir)
{
	char *trimmed = folder_trim(dir);
	const char *slash = strrchr(trimmed, '/');
	char *part = xstrdup(slash != NULL && slash[1] != '\0' ? slash + 1 : trimmed);
	free(trimmed);
	return part;
}

/* Given ones, else the last parts of the paths, else, where those are equal, paths. */
static char *label_of(const struct plot_labelled *runs, size_t count, size_t r)
{
	if (runs[r].label != NULL)
		return xstrdup(runs[r].label);
	char *label = last_part(runs[r].dir);
	for (size_t k = 0; k < count; k++) {
		char *other = last_part(runs[k].dir);
		bool twice = k != r && strcmp(other, label) == 0;
		free(other);
		if (twice) {
			free(label);
			return folder_trim(runs[r].dir);
		}
	}
	return label;
}

int plot_together(const struct plot_labelled *list, size_t count,
		  const struct plot_options *options, FILE *to, char **error)
{
	char **labels = xcalloc(count + 1, sizeof *labels);
	for (size_t r = 0; r < count; r++)
		labels[r] = label_of(list, count, r);
	int drawn = draw_all(&(struct runs){ list, labels, count, true }, options, to, error);
	for (size_t r = 0; r < count; r++)
		free(labels[r]);
	free(labels);
	return drawn;
}
