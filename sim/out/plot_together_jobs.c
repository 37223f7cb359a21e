/* Figures of the jobs of several result directories. */
#include "out/plot_together.h"

#include "base/mem.h"
#include "out/result_read.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NAMES_SHOWN 12 /* groups of bars; more jobs are a distribution */

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
	int jct = csv_need(csv, "jct_s");
	int finished = csv_need(csv, "finished");
	csv_need(csv, "name");
	while (csv_next(csv)) {
		char *name = result_job_name(csv);
		struct job_name *of = find_name(jobs, name, runs);
		free(name);
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
				   const struct plot_runs *runs)
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

static void write_job_bars(FILE *data, const struct jobs *jobs, const struct plot_runs *runs)
{
	for (size_t i = 0; i < runs->count; i++) {
		plot_runs_begin(data, i, runs->labels[i], "name mean_s min_s max_s finished_jobs");
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
			     const struct plot_runs *runs)
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
		plot_runs_bars(page, i, runs->count, columns, true);
		plot_quote(script, title);
		free(title);
	}
	putc('\n', script);
}

static void write_job_distributions(struct plot_page *page, const struct jobs *jobs,
				    const struct plot_runs *runs)
{
	plot_title(page, "Job completion times", "Finished jobs of all names");
	plot_label(page, "y", "Share of finished jobs");
	plot_runs_distributions(page, runs, jobs->all, jobs->unfinished, "Job completion time");
}

enum plot_outcome plot_together_jct_cdf(struct plot_page *page, const struct plot_runs *runs)
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

enum plot_outcome plot_together_jct(struct plot_page *page, const struct plot_runs *runs)
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
