/* The figures of one run, and of several side by side. */
#include "base/mem.h"
#include "base/plain.h"
#include "base/units.h"
#include "data/metrics.h"
#include "data/stats.h"
#include "lab/figures/stack.h"
#include "lab/figures/values.h"
#include "lab/names.h"
#include "data/result_read.h"
#include "data/folder.h"
#include "lab/summary.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NAMES_SHOWN  12   /* names of jobs shown as bars; more become a distribution */
#define POINTS_SHOWN 2000 /* points of a curve over time, at most */

struct runs {
	const struct plot_labelled *at;
	char **labels;
	size_t count;
	bool together;               /* plot_together(): all runs in each figure; else one run */
	struct values *of;           /* by run: what the figure's query has read; owned */
	const struct metric *metric; /* the metric that the query reads, or NULL */
};

/* ---- Curves, one for each group of each run ---- */

static size_t curves_of(const struct runs *runs)
{
	size_t count = 0;

	for (size_t r = 0; r < runs->count; r++)
		count += runs->of[r].group_count;
	return count;
}

/* Whether there are too many curves to tell apart. Sets f->why, for the case that there are. */
static bool too_many(struct figure *f, const struct runs *runs)
{
	f->why = "there are too many lines to tell apart";
	return curves_of(runs) > FIGURE_CURVES;
}

/* The name of a curve: of the group, of the run, or both. The caller frees. */
static char *name_of(const struct runs *runs, size_t r, const struct value_group *group)
{
	char *own = *group->subname ? xasprintf("%s %s", group->name, group->subname)
				    : xstrdup(group->name);
	char *name = !runs->together                ? xstrdup(own)
		     : runs->of[r].group_count == 1 ? xstrdup(runs->labels[r])
						    : xasprintf("%s: %s", runs->labels[r], own);

	free(own);
	return name;
}

/* Puts all curves, each by put(). With `counted`, the legend has the number of values. */
static void put_curves(struct figure *f, const struct runs *runs, bool counted,
		       void (*put)(struct figure *f, const struct value_group *group))
{
	size_t curve = 0;

	for (size_t r = 0; r < runs->count; r++) {
		for (size_t g = 0; g < runs->of[r].group_count; g++) {
			const struct value_group *group = &runs->of[r].groups[g];
			char *name = name_of(runs, r, group);

			curve++;
			if (counted)
				figure_counted_legend(f, curve, curve, name, group->count,
						      group->unfinished);
			else
				figure_legend(f, curve, curve, curve, name);
			figure_curve(f, 1, curve, name);
			put(f, group);
			free(name);
		}
	}
}

/* "6,109 finished flows, 78 unfinished", counted over all runs. The caller frees. */
static char *tally(const struct runs *runs, const char *what)
{
	uint64_t finished = 0, unfinished = 0;
	char number[32], other[32];

	for (size_t r = 0; r < runs->count; r++) {
		finished += runs->of[r].finished;
		unfinished += runs->of[r].unfinished;
	}
	return xasprintf("%s finished %s, %s unfinished", figure_thousands(number, finished), what,
			 figure_thousands(other, unfinished));
}

/* ---- Slowdown by size ---- */

enum { P99, P95, MEDIAN, PERCENTILES };

static const struct {
	double p;
	const char *name;  /* of a curve, for one run */
	const char *panel; /* label of a panel, for several runs; P95 has no panel */
	size_t look, dash;
} percentiles[PERCENTILES] = {
	[P99] = { 0.99, "99th percentile", "99th percentile", 2, 4 },
	[P95] = { 0.95, "95th percentile", NULL, 5, 2 },
	[MEDIAN] = { 0.50, "median", "Median slowdown", 1, 1 },
};

/* Whether some size class of some run has flows enough for this percentile. */
static bool any_percentile(const struct runs *runs, size_t percentile)
{
	double p = percentiles[percentile].p;

	for (size_t r = 0; r < runs->count; r++)
		for (size_t c = 0; c < runs->of[r].group_count; c++)
			if (stats_rank(runs->of[r].groups[c].count, p) > 0)
				return true;
	return false;
}

/* How many of `percentiles` no size class has enough flows for. They are the first of the list,
 * which need most flows. */
static size_t percentiles_lost(const struct runs *runs)
{
	return (any_percentile(runs, P99) ? 0U : 1U) + (any_percentile(runs, P95) ? 0U : 1U);
}

/* Which percentile a curve shows. Several runs: each panel is a percentile, each curve a run. One
 * run: each curve is a percentile, without the lost ones. */
static size_t percentile_of(const struct runs *runs, size_t panel, size_t curve)
{
	if (runs->together)
		return panel == 1 ? MEDIAN : P99;
	return curve - 1 + percentiles_lost(runs);
}

static void slowdown_curve(struct figure *f, const struct runs *runs, size_t panel, size_t curve)
{
	size_t i = percentile_of(runs, panel, curve), r = runs->together ? curve - 1 : 0;
	const char *name = runs->together ? runs->labels[r] : percentiles[i].name;

	if (panel == 1)
		figure_legend(f, curve, runs->together ? curve : percentiles[i].look,
			      runs->together ? curve : percentiles[i].dash, name);
	figure_curve(f, panel, curve, name);
	for (size_t c = 0; c < runs->of->group_count; c++) {
		const struct value_group *size = &runs->of[r].groups[c];
		double value = stats_percentile(size->values, size->count, percentiles[i].p);
		/* x, y, and a count that is not drawn */

		figure_row(f, (double[]){ (double)c, value, (double)size->count }, 1);
	}
}

static void size_tics(struct figure *f, const struct runs *runs)
{
	figure_x(f, "Flow size", "", false);
	figure_count(f, "LABELLED", 1);
	figure_tics(f, 'X', runs->of->group_count);
	for (size_t c = 0; c < runs->of->group_count; c++) {
		char number[32];
		char *note =
			xasprintf("n = %s", figure_thousands(number, runs->of->groups[c].count));

		figure_tic(f, 'X', c + 1, runs->of->groups[c].name, (double)c,
			   runs->together ? NULL : note);
		free(note);
	}
}

static void slowdown_title(struct figure *f, const struct runs *runs)
{
	uint64_t below_one = 0;
	char number[32], *flows = tally(runs, "flows");

	for (size_t r = 0; r < runs->count; r++)
		below_one += runs->of[r].below_one;
	figure_title(f, "Flow slowdown by flow size",
		     xasprintf("%s (not shown)%s%s%s", flows,
			       runs->together ? "; no bar where the class has too few" : "",
			       below_one > 0 ? "; slowdowns BELOW 1: " : "",
			       below_one > 0 ? figure_thousands(number, below_one) : ""));
	free(flows);
}

/* Whether all runs have the same size classes as the first. */
static bool same_classes(const struct runs *runs)
{
	bool same = true;

	for (size_t r = 1; r < runs->count; r++) {
		same = same && runs->of[r].group_count == runs->of->group_count;
		for (size_t c = 0; same && c < runs->of->group_count; c++)
			same = runs->of[r].groups[c].from == runs->of->groups[c].from;
	}
	return same;
}

static bool slowdown(struct figure *f, const struct runs *runs)
{
	size_t panels = runs->together && any_percentile(runs, P99) ? 2 : 1;
	size_t curves = runs->together ? runs->count : PERCENTILES - percentiles_lost(runs);

	f->why = "the runs have different size classes (output.flow_classes)";
	if (!same_classes(runs))
		return false;
	f->why = "a median needs 20 finished flows of one size class";
	if (!any_percentile(runs, MEDIAN))
		return false;
	figure_begin(f, runs->together ? "bars" : "lines", panels, curves,
		     "size_class slowdown finished_flows");
	slowdown_title(f, runs);
	figure_text(f, "STYLE", "linespoints");
	size_tics(f, runs);
	for (size_t p = 1; p <= panels; p++) {
		figure_panel(f, p,
			     runs->together ? percentiles[percentile_of(runs, p, 1)].panel
					    : "Slowdown: FCT / ideal FCT",
			     "");
		figure_reach(f, p, runs->together ? 0 : 1);
		for (size_t c = 1; c <= curves; c++)
			slowdown_curve(f, runs, p, c);
	}
	/* only now is the range known; f->log_y is not needed, as slowdowns are above 0 */
	figure_count(f, "LOGY", !runs->together && f->y[0].high > 5 * f->y[0].low);
	return true;
}

/* ---- Completion times ---- */

static void put_cdf(struct figure *f, const struct value_group *group)
{
	values_put_cdf(f, group->values, group->count, group->unfinished, NULL, 0);
}

static void titled(char *buffer, size_t size, const struct runs *runs)
{
	snprintf(buffer, size, "%s", runs->metric->words);
	*buffer = (char)toupper((unsigned char)*buffer);
}

static bool any_several(const struct runs *runs)
{
	bool any = false;

	for (size_t r = 0; r < runs->count; r++)
		for (size_t g = 0; g < runs->of[r].group_count; g++)
			any = any || runs->of[r].groups[g].count > 1;
	return any;
}

static bool cdf(struct figure *f, const struct runs *runs)
{
	const char *what = runs->metric->level == LEVEL_FLOW ? "flows" : "jobs";
	char words[64], share[64];

	for (size_t r = 0; r < runs->count; r++)
		values_merge(&runs->of[r], runs->together ? 1 : FIGURE_COLOURS);
	f->why = "a single value has no distribution";
	if (!any_several(runs))
		return false;
	titled(words, sizeof(words), runs);
	snprintf(share, sizeof(share), "Share of %s", what);
	figure_begin(f, "lines", 1, curves_of(runs), "time_s share");
	figure_title(f, words, tally(runs, what));
	figure_text(f, "STYLE", "steps");
	figure_panel(f, 1, share, "");
	figure_reach(f, 1, 1);
	put_curves(f, runs, true, put_cdf);
	figure_x(f, words, metric_unit_of(runs->metric->name, NULL), figure_is_wide(&f->x));
	return true;
}

/* The names of jobs of all runs, each once, in the order of their first jobs. The caller frees the
 * items. */
static struct names job_names(const struct runs *runs)
{
	struct names names = { 0 };

	for (size_t r = 0; r < runs->count; r++)
		for (size_t i = 0; i < runs->of[r].group_count; i++) {
			const char *name = runs->of[r].groups[i].name;

			if (names_find(&names, name) == SIZE_MAX)
				names_add(&names, name);
		}
	return names;
}

/* Puts mean and range of the jobs of a name in a run; `jobs` is NULL if the run has none. */
static void job_row(struct figure *f, size_t name, const struct value_group *jobs)
{
	double row[] = { (double)name, NAN, NAN, NAN, 0 };

	if (jobs && jobs->count) {
		row[1] = stats_mean(jobs->values, jobs->count);
		row[4] = (double)jobs->count;
	}
	if (jobs && jobs->count > 1) {
		row[2] = jobs->values[0];
		row[3] = jobs->values[jobs->count - 1];
	}
	figure_row(f, row, 3);
}

static bool jct(struct figure *f, const struct runs *runs)
{
	bool several = any_several(runs), single = true;

	for (size_t r = 0; r < runs->count; r++)
		single = single && runs->of[r].finished <= 1;
	/* bars of one value for each run would only repeat the caller's table */
	f->why = "each run has only one value, which is in the table";
	if (f->options->sparing && single)
		return false;
	struct names names = job_names(runs);

	if (names.count > NAMES_SHOWN) {
		free(names.items);
		return cdf(f, runs);
	}
	figure_begin(f, "bars", 1, runs->count, "job mean_jct_s min_s max_s finished_jobs");
	figure_title(f, "Job completion time",
		     xstrdup(several ? "Mean and range of the finished jobs of each name"
				     : "The finished job of each name"));
	figure_count(f, "INTERVALS", several);
	figure_x(f, "", "", false);
	figure_count(f, "LABELLED", 1);
	figure_panel(f, 1, "Job completion time", "s");
	figure_reach(f, 1, 0);
	figure_tics(f, 'X', names.count);
	for (size_t n = 0; n < names.count; n++)
		figure_tic(f, 'X', n + 1, names.items[n], (double)n, NULL);
	for (size_t r = 0; r < runs->count; r++) {
		uint64_t unfinished = runs->of[r].unfinished;
		char *legend = unfinished > 0 ? xasprintf("%s (%" PRIu64 " unfinished)",
							  runs->labels[r], unfinished)
					      : xstrdup(runs->labels[r]);

		figure_legend(f, r + 1, r + 1, r + 1, legend);
		free(legend);
		figure_curve(f, 1, r + 1, runs->labels[r]);
		for (size_t n = 0; n < names.count; n++)
			job_row(f, n, values_find(&runs->of[r], names.items[n]));
	}
	free(names.items);
	return true;
}

/* ---- Links ---- */

/* Puts the links of a bundle, busiest first. x is the rank as a share of the bundle, so that tiers
 * of different sizes compare. Each link is a step of 1/n; the least busy is repeated at the end, so
 * that its step is drawn, too. */
static void put_ranks(struct figure *f, const struct value_group *bundle)
{
	size_t n = bundle->count;

	for (size_t k = 0; k <= n; k++)
		figure_row(
			f,
			(double[]){ (double)k / (double)n, bundle->values[k < n ? n - 1 - k : 0] },
			1);
}

static bool link_utilization(struct figure *f, const struct runs *runs)
{
	char number[32];

	if (too_many(f, runs))
		return false;
	figure_begin(f, "lines", 1, curves_of(runs), "share_of_links utilization");
	figure_text(f, "STYLE", "steps");
	figure_x(f, "Share of links at least as busy", "%", false);
	figure_panel(f, 1, "Utilisation", "%");
	figure_reach(f, 1, 0);
	put_curves(f, runs, true, put_ranks);
	figure_title(f, "Utilisation of links, ranked within tier and direction",
		     xasprintf("%s links, highest %.1f %%",
			       figure_thousands(number, runs->of->finished), 100 * f->y[0].high));
	return true;
}

/* ---- Over time ---- */

/* How many samples share a point, so that there are at most POINTS_SHOWN points. */
static size_t samples_a_point(const struct value_group *group)
{
	return 1 + (group->count - 1) / POINTS_SHOWN;
}

/* Puts points, each the mean or maximum of several samples, at the time of the last sample. */
static void put_thinned(struct figure *f, const struct value_group *group, bool maximum)
{
	size_t together = samples_a_point(group);

	for (size_t i = 0; i < group->count;) {
		double sum = 0, max = -INFINITY;
		size_t n = 0;

		for (; n < together && i < group->count; n++, i++) {
			sum += group->values[i];
			max = fmax(max, group->values[i]);
		}
		figure_row(f, (double[]){ group->at[i - 1], maximum ? max : sum / (double)n }, 1);
	}
}

static void time_axis(struct figure *f)
{
	figure_text(f, "STYLE", "lines");
	figure_x(f, "Simulated time", "s", false);
	figure_reach(f, 0, 0);
}

/* A panel for each column of the query. */
static bool series(struct figure *f, const struct runs *runs)
{
	static const struct {
		const char *label, *unit;
	} loads[] = { { "Active flows", "" },
		      { "Active jobs", "" },
		      { "Mean utilisation", "%" },
		      { "Busiest link", "%" } };
	size_t panels = sizeof(loads) / sizeof(*loads), max = 1;

	figure_begin(f, "lines", panels, runs->count, "time_s value");
	time_axis(f);
	for (size_t p = 1; p <= panels; p++) {
		figure_panel(f, p, loads[p - 1].label, loads[p - 1].unit);
		figure_reach(f, p, 0);
		for (size_t r = 0; r < runs->count; r++) {
			const struct value_group *group = &runs->of[r].groups[p - 1];
			size_t together = samples_a_point(group);

			figure_curve(f, p, r + 1, runs->labels[r]);
			put_thinned(f, group, p == panels); /* the last panel shows maxima */
			max = together > max ? together : max;
		}
	}
	for (size_t r = 0; r < runs->count; r++)
		figure_legend(f, r + 1, r + 1, r + 1, runs->labels[r]);
	figure_title(f, "Load over time",
		     max > 1 ? xasprintf("Means of up to %zu samples (busiest: maxima)", max)
			     : xstrdup("Every sample"));
	return true;
}

static void put_samples(struct figure *f, const struct value_group *group)
{
	for (size_t i = 0; i < group->count; i++)
		figure_row(f, (double[]){ group->at[i], group->values[i] }, 1);
}

/* Sets the label "Packets per 10ms", or "per sample" if runs sample at different intervals. The
 * first sample is taken after one interval, so its time is the interval. */
static void packets_label(struct figure *f, const struct runs *runs)
{
	char time[32], label[64];
	double every_s = runs->of->groups->at[0];
	bool alike = true;

	for (size_t r = 1; r < runs->count; r++)
		alike = alike && runs->of[r].groups->at[0] == every_s;
	unit_format(UNIT_TIME, (uint64_t)llround(every_s * 1e12), time, sizeof(time));
	snprintf(label, sizeof(label), "Packets per %s", alike ? time : "sample");
	figure_panel(f, 1, label, "");
}

static bool packets(struct figure *f, const struct runs *runs)
{
	if (too_many(f, runs))
		return false;
	figure_begin(f, "lines", 1, curves_of(runs), "time_s packets");
	figure_title(f, "Packets over time", xstrdup("All classes of traffic, lost ones included"));
	time_axis(f);
	packets_label(f, runs);
	figure_reach(f, 1, 0);
	put_curves(f, runs, false, put_samples);
	return true;
}

static bool job_timeline(struct figure *f, const struct runs *runs)
{
	f->dir = runs->at->dir;
	return timeline(f);
}

static bool network_map(struct figure *f, const struct runs *runs)
{
	f->dir = runs->at->dir;
	return network(f);
}

static bool breakdown(struct figure *f, const struct runs *runs)
{
	return stack_runs(f, runs->at, runs->labels, runs->count);
}

/* ---- All of them ---- */

struct kind {
	struct plot_figure figure;
	bool (*draw)(struct figure *f, const struct runs *runs);
	const char *of, *metric;   /* as in metric_find(); NULL: the query is complete */
	struct values_query query; /* without file and metric: draw() reads by itself */
};

static const struct kind kinds[] = {
	{ .figure = { "breakdown", "what iterations were spent on, stacked by cause (run --why)",
		      "what iterations were spent on, stacked by cause (run --why)" },
	  .draw = breakdown },
	{ .figure = { "slowdown", "FCT slowdown by flow size: median, 95th and 99th percentile",
		      "median and 99th percentile of the slowdown by flow size, as bars" },
	  .draw = slowdown,
	  .of = "flows",
	  .metric = "slowdown",
	  .query = { .group = "size_bytes", .by_size = true } },
	{ .figure = { "fct_cdf", "distribution of flow completion times, one line per flow group",
		      "distributions of flow completion times, one line per directory" },
	  .draw = cdf,
	  .of = "flows",
	  .metric = "fct_s" },
	{ .figure = { "job_timeline", "when jobs wait, compute and wait for communication", NULL },
	  .draw = job_timeline },
	{ .figure = { "jct", NULL,
		      "job completion times by job name; of many names, distributions" },
	  .draw = jct,
	  .of = "jobs",
	  .metric = "jct_s",
	  .query = { .name = result_job_name } },
	{ .figure = { "jct_cdf", NULL,
		      "distributions of job completion times, one line per directory" },
	  .draw = cdf,
	  .of = "jobs",
	  .metric = "jct_s",
	  .query = { .name = result_job_name } },
	{ .figure = { "link_utilization", "utilisation of all links, ranked, by tier and direction",
		      NULL },
	  .draw = link_utilization,
	  .of = "links",
	  .metric = "utilization",
	  .query = { .subgroup = "direction" } },
	{ .figure = { "network", "nodes by tier, links coloured by how busy they were", NULL },
	  .draw = network_map },
	{ .figure = { "series", "active flows and jobs and link utilisation over time",
		      "active flows and jobs and link utilisation over time" },
	  .draw = series,
	  .query = { .file = "series/network.csv",
		     .columns = { "active_flows", "active_jobs", "mean_utilization",
				  "max_utilization" },
		     .at = "time_s" } },
	{ .figure = { "packets", "packets over time on the links that the scenario samples",
		      "packets over time on the links that the scenarios sample" },
	  .draw = packets,
	  .query = { .file = "series/links.csv",
		     .columns = { "packets" },
		     .group = "links",
		     .at = "time_s" } },
};

#define KINDS (sizeof(kinds) / sizeof(*kinds))

const struct plot_figure *plot_figure(size_t i)
{
	return i < KINDS ? &kinds[i].figure : NULL;
}

static bool wanted(const struct plot_figure *figure, const struct runs *runs,
		   const struct names *only)
{
	const char *help = runs->together ? figure->together : figure->alone;

	return help && (only->count == 0 || names_find(only, figure->name) != SIZE_MAX);
}

/* The first name of `only` that no figure has, or NULL. */
static const char *no_figure(const struct names *only, const struct runs *runs)
{
	for (size_t o = 0; o < only->count; o++) {
		const struct names one = { &only->items[o], 1, 1 };
		bool any = false;

		for (size_t i = 0; i < KINDS; i++)
			any = any || wanted(&kinds[i].figure, runs, &one);
		if (!any)
			return only->items[o];
	}
	return NULL;
}

/* NULL, or what is wrong with the options (caller frees). */
static char *why_not(const struct plot_options *options, const struct runs *runs)
{
	char *error = figure_no_terminal(options);
	const char *unknown = no_figure(&options->only, runs);

	if (!error && unknown)
		error = xasprintf("there is no figure \"%s\"%s; see inasim list figures", unknown,
				  runs->together ? " of several directories together" : "");
	if (!error && runs->together && !options->out)
		error = xstrdup("figures of several directories need a folder of their own");
	if (!error && runs->count > FIGURE_CURVES)
		error = xasprintf(
			"%zu directories are too many to tell apart in one figure (at most %d)",
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
		plain_print(stderr, "%s: no manifest.json, the run was not finished\n", dir);
	return NULL;
}

/* Prints the warnings of a run; nothing for a run that was cut off and has no summary. */
static void print_warnings(const char *dir)
{
	struct summary summary;
	char *error = NULL;

	summary_read(&summary, dir, &error);
	summary_print_warnings(&summary, dir, stderr);
	summary_release(&summary);
	free(error);
}

/* The query of a figure; if the figure is of a metric, it reads the metric's column. */
static struct values_query query_of(const struct kind *kind, const struct metric *metric)
{
	struct values_query query = kind->query;

	if (!metric)
		return query;
	query.file = metric_sources[metric->level].file;
	query.columns[0] = metric->column;
	query.work = metric_sources[metric->level].finished;
	if (!query.group)
		query.group = metric_sources[metric->level].group;
	return query;
}

static bool read_and_draw(struct figure *f, const struct kind *kind, struct runs *runs)
{
	bool ok = true;
	struct values_query query;

	runs->metric = !kind->of ? NULL : metric_find(kind->of, kind->metric, strlen(kind->metric));
	query = query_of(kind, runs->metric);
	runs->of = xcalloc(runs->count, sizeof(*runs->of));
	for (size_t r = 0; r < runs->count && ok && query.file; r++) {
		f->dir = runs->at[r].dir;
		ok = values_read(&runs->of[r], f, &query);
	}
	ok = ok && kind->draw(f, runs);
	for (size_t r = 0; r < runs->count; r++)
		values_release(&runs->of[r]);
	free(runs->of);
	return ok;
}

static bool draw_one(const struct kind *kind, struct runs *runs, const char *folder,
		     const struct plot_options *options, FILE *to, char **error)
{
	struct figure f = { .name = kind->figure.name, .folder = folder, .options = options };
	bool data = read_and_draw(&f, kind, runs), drawn = figure_finish(&f, data, to);

	*error = f.error;
	if (data || f.error)
		return drawn;
	if (options->only.count)
		*error = xasprintf("%s: no figure %s: %s", f.dir, f.name, f.why);
	else if (!options->quiet)
		plain_print(stderr, "%s: no figure %s: %s\n", f.dir, f.name, f.why);
	return false;
}

static int draw_all(struct runs *runs, const struct plot_options *options, FILE *to, char **error)
{
	int drawn = 0;
	char *folder;

	*error = why_not(options, runs);
	if (*error)
		return PLOT_USAGE;
	for (size_t r = 0; r < runs->count && !*error; r++)
		*error = no_results(runs->at[r].dir);
	folder = !*error ? figure_folder(options, runs->at->dir, error) : NULL;
	for (size_t r = 0; r < runs->count && folder && !options->quiet; r++)
		print_warnings(runs->at[r].dir);
	for (size_t i = 0; i < KINDS && !*error; i++)
		if (wanted(&kinds[i].figure, runs, &options->only))
			drawn += draw_one(&kinds[i], runs, folder, options, to, error);
	free(folder);
	return !*error ? drawn : PLOT_IO;
}

int plot_run(const char *dir, const struct plot_options *options, FILE *to, char **error)
{
	char *trimmed = folder_trim(dir), *label = "";
	struct plot_labelled run = { trimmed, NULL };
	struct runs runs = { .at = &run, .labels = &label, .count = 1 };
	int drawn = draw_all(&runs, options, to, error);

	free(trimmed);
	return drawn;
}

int plot_together(const struct plot_labelled *list, size_t count,
		  const struct plot_options *options, FILE *to, char **error)
{
	const char **dirs = xcalloc(count + 1, sizeof(*dirs));
	char **labels = xcalloc(count + 1, sizeof(*labels));
	struct runs runs;
	int drawn;

	for (size_t r = 0; r < count; r++)
		dirs[r] = list[r].dir;
	for (size_t r = 0; r < count; r++)
		labels[r] =
			list[r].label ? xstrdup(list[r].label) : names_directory(dirs, count, r);
	runs = (struct runs){ .at = list, .labels = labels, .count = count, .together = true };
	drawn = draw_all(&runs, options, to, error);
	for (size_t r = 0; r < count; r++)
		free(labels[r]);
	free(labels);
	free(dirs);
	return drawn;
}
