/* Figures that show several result directories side by side. */
#include "out/plot.h"

#include "base/mem.h"
#include "out/folder.h"
#include "out/plot_data.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RUNS_MAX      (2 * PLOT_COLOURS) /* colour, dash and mark tell so many apart */
#define NAMES_SHOWN   12                 /* groups of bars; more jobs are a distribution */
#define CLUSTER       0.8                /* of the distance of two labels that bars fill */
#define SLANTED_BELOW 75                 /* letters in the width: size classes overlap */
#define CDF_MARKS     7                  /* on a line */
#define PANELS_HEIGHT 760                /* of two plots over one another */

/* The directories of a figure; page->dir is the one that is being read. */
struct runs {
	const struct plot_labelled *at;
	char **labels;
	size_t count;
};

typedef enum plot_outcome draw_together(struct plot_page *page, const struct runs *runs);

static draw_together draw_slowdown, draw_fct_cdf, draw_jct, draw_jct_cdf, draw_series;

static const struct plot_figure figures[] = {
	{ "slowdown",
	  "together: median and 99th percentile of the slowdown by flow size, as bars" },
	{ "fct_cdf", "together: distributions of flow completion times, one line a directory" },
	{ "jct", "together: job completion times by job name; of many names, distributions" },
	{ "jct_cdf", "together: distributions of job completion times, one line a directory" },
	{ "series", "together: active flows and mean link utilisation over time" },
};
#define FIGURES (sizeof figures / sizeof *figures)

static draw_together *const draws[FIGURES] = { draw_slowdown, draw_fct_cdf, draw_jct, draw_jct_cdf,
					       draw_series };

const struct plot_figure *plot_together_figures(size_t *count)
{
	*count = FIGURES;
	return figures;
}

/* ---- Pieces ---- */

static void begin_block(FILE *data, size_t index, const char *label, const char *columns)
{
	fputs(index > 0 ? "\n\n# " : "# ", data);
	plot_comment(data, label);
	fprintf(data, ": %s\n", columns);
}

/* The bars of the index-th of `count` directories, in the columns named (with ends
 * of error bars or without); the title follows. */
static void write_bars(const struct plot_page *page, size_t index, size_t count,
		       const char *columns, bool ends)
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

/* One for each directory: its values, sorted, must be there. */
static void write_distributions(struct plot_page *page, const struct runs *runs,
				const struct plot_values *values, const uint64_t *unfinished,
				const char *axis)
{
	double low = INFINITY, high = -INFINITY;
	size_t *points = xcalloc(runs->count, sizeof *points);
	for (size_t i = 0; i < runs->count; i++) {
		begin_block(page->data, i, runs->labels[i], "seconds share");
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

/* ---- Flows ---- */

static void release_flows(struct plot_flows *flows, const struct runs *runs)
{
	for (size_t i = 0; i < runs->count; i++)
		plot_flows_release(&flows[i]);
	free(flows);
}

/* Of each directory; the caller releases them in any case. */
static enum plot_outcome read_flows(struct plot_page *page, const struct runs *runs,
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
static const char *warning(const struct plot_flows *flows, const struct runs *runs, char *buffer,
			   size_t size)
{
	uint64_t fast = 0;
	for (size_t i = 0; i < runs->count; i++)
		fast += flows[i].too_fast;
	buffer[0] = '\0';
	if (fast > 0)
		snprintf(buffer, size, "; %" PRIu64 " flows with a slowdown BELOW 1", fast);
	return buffer;
}

static uint64_t unfinished_flows(const struct plot_flows *flows, const struct runs *runs)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < runs->count; i++)
		sum += flows[i].unfinished;
	return sum;
}

static enum plot_outcome draw_fct_cdf(struct plot_page *page, const struct runs *runs)
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
		write_distributions(page, runs, all, unfinished, "Flow completion time");
	}
	for (size_t i = 0; i < runs->count; i++)
		free(all[i].at);
	free(all);
	free(unfinished);
	release_flows(flows, runs);
	return outcome;
}

/* Does any directory have a percentile in any class? */
static bool any_percentile(const struct plot_flows *flows, const struct runs *runs,
			   unsigned permille)
{
	for (size_t i = 0; i < runs->count; i++)
		for (size_t c = 0; c < PLOT_CLASSES; c++)
			if (!isnan(plot_percentile(&flows[i].slowdown[c], permille)))
				return true;
	return false;
}

static void write_slowdown_data(FILE *data, const struct plot_flows *flows, const struct runs *runs)
{
	for (size_t i = 0; i < runs->count; i++) {
		begin_block(data, i, runs->labels[i], "class min_bytes finished_flows p50 p99");
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

static void write_slowdown_panel(struct plot_page *page, const struct runs *runs, const char *what,
				 const char *column)
{
	plot_label(page, "y", what);
	for (size_t i = 0; i < runs->count; i++) {
		write_bars(page, i, runs->count, column, false);
		plot_quote(page->script, runs->labels[i]);
	}
	putc('\n', page->script);
}

static void write_slowdown_script(struct plot_page *page, const struct plot_flows *flows,
				  const struct runs *runs)
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

static enum plot_outcome draw_slowdown(struct plot_page *page, const struct runs *runs)
{
	struct plot_flows *flows;
	enum plot_outcome outcome = read_flows(page, runs, &flows);
	if (outcome == PLOT_DRAWN && !any_percentile(flows, runs, 500)) {
		page->why = "a median needs 20 finished flows of one size class";
		outcome = PLOT_NO_DATA;
	}
	if (outcome == PLOT_DRAWN)
		outcome = plot_page_open(page, PLOT_WIDTH,
					 any_percentile(flows, runs, 990) ? PANELS_HEIGHT
									  : PLOT_HEIGHT);
	if (outcome == PLOT_DRAWN) {
		write_slowdown_data(page->data, flows, runs);
		write_slowdown_script(page, flows, runs);
	}
	release_flows(flows, runs);
	return outcome;
}

/* ---- Jobs ---- */

/* Completion times of the jobs of one name, by directory. */
struct job_name {
	char *name;
	struct plot_values *jct_s;
};

struct jobs {
	struct job_name *names;
	size_t count, capacity;
	struct plot_values *all; /* by directory */
	uint64_t *unfinished;    /* by directory */
};

static struct job_name *find_name(struct jobs *jobs, const char *name, size_t runs)
{
	for (size_t i = 0; i < jobs->count; i++)
		if (strcmp(jobs->names[i].name, name) == 0)
			return &jobs->names[i];
	jobs->names = array_reserve(jobs->names, jobs->count, &jobs->capacity, sizeof *jobs->names);
	struct job_name *new = &jobs->names[jobs->count++];
	*new = (struct job_name){ xstrdup(name), xcalloc(runs, sizeof *new->jct_s) };
	return new;
}

static enum plot_outcome read_jobs_of(struct jobs *jobs, struct plot_page *page, size_t run,
				      size_t runs)
{
	struct csv *csv = plot_table(page, "jobs.csv");
	if (csv == NULL)
		return plot_without(page);
	int name = csv_need(csv, "name"), jct = csv_need(csv, "jct_s");
	int finished = csv_need(csv, "finished");
	while (csv_next(csv)) {
		struct job_name *of = find_name(jobs, csv_text(csv, name), runs);
		if (!csv_flag(csv, finished)) {
			jobs->unfinished[run]++;
			continue;
		}
		double jct_s = csv_real(csv, jct);
		if (jct_s <= 0)
			csv_complain(csv, jct, "is no duration");
		plot_values_add(&of->jct_s[run], jct_s);
		plot_values_add(&jobs->all[run], jct_s);
	}
	enum plot_outcome outcome = plot_table_end(page, csv);
	if (outcome == PLOT_DRAWN && jobs->all[run].count == 0) {
		page->why = "no job has finished";
		outcome = PLOT_NO_DATA;
	}
	plot_values_sort(&jobs->all[run]);
	return outcome;
}

static enum plot_outcome read_jobs(struct jobs *jobs, struct plot_page *page,
				   const struct runs *runs)
{
	enum plot_outcome outcome = PLOT_DRAWN;
	*jobs = (struct jobs){ .all = xcalloc(runs->count, sizeof *jobs->all),
			       .unfinished = xcalloc(runs->count, sizeof *jobs->unfinished) };
	for (size_t i = 0; i < runs->count && outcome == PLOT_DRAWN; i++) {
		page->dir = runs->at[i].dir;
		outcome = read_jobs_of(jobs, page, i, runs->count);
	}
	for (size_t n = 0; n < jobs->count; n++)
		for (size_t i = 0; i < runs->count; i++)
			plot_values_sort(&jobs->names[n].jct_s[i]);
	return outcome;
}

static void jobs_release(struct jobs *jobs, size_t runs)
{
	for (size_t n = 0; n < jobs->count; n++) {
		for (size_t i = 0; i < runs; i++)
			free(jobs->names[n].jct_s[i].at);
		free(jobs->names[n].jct_s);
		free(jobs->names[n].name);
	}
	for (size_t i = 0; i < runs; i++)
		free(jobs->all[i].at);
	free(jobs->names);
	free(jobs->all);
	free(jobs->unfinished);
}

static void write_job_bars(FILE *data, const struct jobs *jobs, const struct runs *runs)
{
	for (size_t i = 0; i < runs->count; i++) {
		begin_block(data, i, runs->labels[i], "name mean_s min_s max_s finished_jobs");
		for (size_t n = 0; n < jobs->count; n++) {
			const struct plot_values *jct = &jobs->names[n].jct_s[i];
			double sum = 0;
			for (size_t k = 0; k < jct->count; k++)
				sum += jct->at[k];
			bool any = jct->count > 0;
			double row[] = { any ? sum / (double)jct->count : NAN,
					 any ? jct->at[0] : NAN,
					 any ? jct->at[jct->count - 1] : NAN };
			fprintf(data, "%zu", n);
			for (size_t k = 0; k < 3; k++) {
				putc(' ', data);
				plot_real(data, row[k]);
			}
			fprintf(data, " %zu\n", jct->count);
		}
	}
}

static void write_job_script(struct plot_page *page, const struct jobs *jobs,
			     const struct runs *runs)
{
	FILE *script = page->script;
	double high = 0, scale;
	for (size_t i = 0; i < runs->count; i++)
		high = fmax(high, jobs->all[i].at[jobs->all[i].count - 1]);
	const char *unit = plot_time_unit(high, &scale);
	char *label = xasprintf("Job completion time (%s)", unit);
	char columns[96];
	snprintf(columns, sizeof columns, "($2*%g):($3*%g):($4*%g)", scale, scale, scale);
	plot_label(page, "y", label);
	free(label);
	fputs("set grid noxtics\n", script);
	fprintf(script, "set xrange [-0.5:%g]\nset yrange [0:*]\nset xtics scale 0 %s(",
		(double)jobs->count - 0.5,
		jobs->count > NAMES_SHOWN / 2 && !plot_is_dumb(page) ? "rotate by -30 left " : "");
	for (size_t n = 0; n < jobs->count; n++) {
		fputs(n > 0 ? ", " : "", script);
		plot_quote(script, jobs->names[n].name);
		fprintf(script, " %zu", n);
	}
	fputs(")\n", script);
	for (size_t i = 0; i < runs->count; i++) {
		char *title = jobs->unfinished[i] == 0
				      ? xstrdup(runs->labels[i])
				      : xasprintf("%s (%" PRIu64 " unfinished)", runs->labels[i],
						  jobs->unfinished[i]);
		write_bars(page, i, runs->count, columns, true);
		plot_quote(script, title);
		free(title);
	}
	putc('\n', script);
}

static void write_job_distributions(struct plot_page *page, const struct jobs *jobs,
				    const struct runs *runs)
{
	plot_title(page, "Job completion times", "Finished jobs of all names");
	plot_label(page, "y", "Share of finished jobs");
	write_distributions(page, runs, jobs->all, jobs->unfinished, "Job completion time");
}

static enum plot_outcome draw_jct_cdf(struct plot_page *page, const struct runs *runs)
{
	struct jobs jobs;
	enum plot_outcome outcome = read_jobs(&jobs, page, runs);
	if (outcome == PLOT_DRAWN)
		outcome = plot_page_open(page, PLOT_WIDTH, PLOT_HEIGHT);
	if (outcome == PLOT_DRAWN)
		write_job_distributions(page, &jobs, runs);
	jobs_release(&jobs, runs->count);
	return outcome;
}

static enum plot_outcome draw_jct(struct plot_page *page, const struct runs *runs)
{
	struct jobs jobs;
	enum plot_outcome outcome = read_jobs(&jobs, page, runs);
	if (outcome == PLOT_DRAWN)
		outcome = plot_page_open(page, PLOT_WIDTH, PLOT_HEIGHT);
	if (outcome == PLOT_DRAWN && jobs.count <= NAMES_SHOWN) {
		plot_title(page, "Job completion times", "%s",
			   "Mean of the finished jobs of a name; from the shortest to the longest");
		write_job_bars(page->data, &jobs, runs);
		write_job_script(page, &jobs, runs);
	} else if (outcome == PLOT_DRAWN) {
		write_job_distributions(page, &jobs, runs);
	}
	jobs_release(&jobs, runs->count);
	return outcome;
}

/* ---- Series ---- */

static void write_series_panel(struct plot_page *page, const struct runs *runs, double scale,
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

static void write_series(struct plot_page *page, const struct runs *runs,
			 const struct plot_samples *samples)
{
	FILE *script = page->script;
	double end_s = 0, scale;
	size_t most = 1;
	char means[64] = "Every sample";
	for (size_t i = 0; i < runs->count; i++) {
		size_t together = plot_samples_together(&samples[i]);
		begin_block(page->data, i, runs->labels[i],
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

static enum plot_outcome draw_series(struct plot_page *page, const struct runs *runs)
{
	struct plot_samples *samples = xcalloc(runs->count, sizeof *samples);
	enum plot_outcome outcome = PLOT_DRAWN;
	for (size_t i = 0; i < runs->count && outcome == PLOT_DRAWN; i++) {
		page->dir = runs->at[i].dir;
		outcome = plot_samples_read(&samples[i], page);
	}
	if (outcome == PLOT_DRAWN)
		outcome = plot_page_open(page, PLOT_WIDTH, PANELS_HEIGHT);
	if (outcome == PLOT_DRAWN)
		write_series(page, runs, samples);
	for (size_t i = 0; i < runs->count; i++)
		free(samples[i].at);
	free(samples);
	return outcome;
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
static bool draw_figure(size_t figure, const struct runs *runs, const char *folder,
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
	struct runs runs = { list, labels_of(list, count), count };
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
