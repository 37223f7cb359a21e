/* The timeline of jobs.csv and iterations.csv: one row of bars per job. */
#include "out/plot_page.h"

#include "base/mem.h"
#include "out/result_read.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BARS_MAX      20000 /* above that, iterations of a job are drawn together */
#define ROW_PIXELS    18
#define ROWS_LABELLED 100
#define HEIGHT_MAX    2000
#define NAME_SHOWN    40 /* letters; a longer name would leave no room for the bars */

enum phase { PHASE_WAITING, PHASE_COMPUTE, PHASE_COMMUNICATION, PHASES };

static const struct {
	const char *title;
	const char *colour;
} phases[PHASES] = {
	[PHASE_WAITING] = { "waiting", "#c8c8c8" },
	[PHASE_COMPUTE] = { "computing", "#0072b2" },
	[PHASE_COMMUNICATION] = { "communicating", "#e69f00" },
};

struct job {
	uint64_t id;
	char *name;
	double arrival_s, start_s; /* start NaN: never started */
	bool finished;
};

struct iteration {
	uint64_t job_id, number;
	double start_s, finish_s, compute_s;
};

struct jobs {
	struct job *jobs;
	size_t count, capacity;
	struct iteration *iterations;
	size_t iteration_count, iteration_capacity;
	size_t finished;
	double end_s; /* the last time that any row names */
};

/* ---- Reading ---- */

static void read_jobs(struct csv *csv, struct jobs *jobs)
{
	int id = csv_need(csv, "job_id");
	csv_need(csv, "name");
	int arrival = csv_need(csv, "arrival_s"), start = csv_need(csv, "start_s");
	int finish = csv_need(csv, "finish_s"), finished = csv_need(csv, "finished");
	while (csv_next(csv)) {
		jobs->jobs =
			array_reserve(jobs->jobs, jobs->count, &jobs->capacity, sizeof *jobs->jobs);
		struct job *job = &jobs->jobs[jobs->count++];
		job->id = csv_u64(csv, id);
		job->name = result_job_name(csv);
		job->arrival_s = csv_real(csv, arrival);
		job->start_s = csv_empty(csv, start) ? NAN : csv_real(csv, start);
		job->finished = csv_flag(csv, finished);
		jobs->finished += job->finished;
		double last = csv_empty(csv, finish) ? job->arrival_s : csv_real(csv, finish);
		jobs->end_s = fmax(jobs->end_s, fmax(last, job->start_s));
	}
}

static void read_iterations(struct csv *csv, struct jobs *jobs)
{
	int id = csv_need(csv, "job_id"), number = csv_need(csv, "iteration");
	int start = csv_need(csv, "start_s"), finish = csv_need(csv, "finish_s");
	int compute = csv_need(csv, "compute_s");
	while (csv_next(csv)) {
		if (csv_empty(csv, finish)) /* was under way when the run ended */
			continue;
		jobs->iterations =
			array_reserve(jobs->iterations, jobs->iteration_count,
				      &jobs->iteration_capacity, sizeof *jobs->iterations);
		struct iteration *it = &jobs->iterations[jobs->iteration_count++];
		it->job_id = csv_u64(csv, id);
		it->number = csv_u64(csv, number);
		it->start_s = csv_real(csv, start);
		it->finish_s = csv_real(csv, finish);
		it->compute_s = csv_real(csv, compute);
		if (it->finish_s < it->start_s)
			csv_complain(csv, finish, "is before start_s");
		jobs->end_s = fmax(jobs->end_s, it->finish_s);
	}
}

static int by_arrival(const void *a, const void *b)
{
	const struct job *x = a, *y = b;
	if (x->arrival_s != y->arrival_s)
		return x->arrival_s < y->arrival_s ? -1 : 1;
	return (x->id > y->id) - (x->id < y->id);
}

static int by_job_and_number(const void *a, const void *b)
{
	const struct iteration *x = a, *y = b;
	if (x->job_id != y->job_id)
		return x->job_id < y->job_id ? -1 : 1;
	return (x->number > y->number) - (x->number < y->number);
}

static enum plot_outcome jobs_init(struct jobs *jobs, struct plot_page *page)
{
	*jobs = (struct jobs){ 0 };
	struct csv *csv = plot_table(page, "jobs.csv");
	if (csv == NULL)
		return plot_without(page);
	read_jobs(csv, jobs);
	enum plot_outcome outcome = plot_table_end(page, csv);
	if (outcome == PLOT_DRAWN && jobs->count == 0) {
		page->why = "there are no jobs";
		return PLOT_NO_DATA;
	}
	if (outcome != PLOT_DRAWN)
		return outcome;
	csv = plot_table(page, "iterations.csv");
	if (csv == NULL)
		return plot_without(page);
	read_iterations(csv, jobs);
	qsort(jobs->jobs, jobs->count, sizeof *jobs->jobs, by_arrival);
	if (jobs->iteration_count > 0)
		qsort(jobs->iterations, jobs->iteration_count, sizeof *jobs->iterations,
		      by_job_and_number);
	outcome = plot_table_end(page, csv);
	if (outcome == PLOT_DRAWN && !(jobs->end_s > 0)) {
		page->why = "nothing took any time";
		outcome = PLOT_NO_DATA;
	}
	return outcome;
}

static void jobs_release(struct jobs *jobs)
{
	for (size_t i = 0; i < jobs->count; i++)
		free(jobs->jobs[i].name);
	free(jobs->jobs);
	free(jobs->iterations);
}

/* ---- Bars ---- */

static void write_bar(FILE *data, size_t row, uint64_t job_id, double from_s, double to_s)
{
	if (!(to_s > from_s))
		return;
	fprintf(data, "%zu %" PRIu64 " ", row, job_id);
	plot_real(data, from_s);
	putc(' ', data);
	plot_real(data, to_s);
	putc('\n', data);
}

/* First iteration of a job; the others follow. */
static const struct iteration *first_of(const struct jobs *jobs, uint64_t job_id)
{
	size_t low = 0, high = jobs->iteration_count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (jobs->iterations[middle].job_id < job_id)
			low = middle + 1;
		else
			high = middle;
	}
	return jobs->iterations + low;
}

/* The bars of one phase of one job, `together` iterations to a bar. */
static void write_iterations(FILE *data, const struct jobs *jobs, size_t row, enum phase phase,
			     size_t together)
{
	uint64_t id = jobs->jobs[row].id;
	const struct iteration *end = jobs->iterations + jobs->iteration_count;
	for (const struct iteration *it = first_of(jobs, id); it < end && it->job_id == id;) {
		double start_s = it->start_s, finish_s = 0, compute_s = 0;
		for (size_t i = 0; i < together && it < end && it->job_id == id; i++, it++) {
			compute_s += it->compute_s;
			finish_s = it->finish_s;
		}
		if (phase == PHASE_COMPUTE)
			write_bar(data, row, id, start_s, start_s + compute_s);
		else
			write_bar(data, row, id, start_s + compute_s, finish_s);
	}
}

static void write_data(FILE *data, const struct jobs *jobs, size_t together)
{
	for (enum phase phase = 0; phase < PHASES; phase++) {
		fprintf(data, "%s# %s: row job_id from_s to_s\n", phase > 0 ? "\n\n" : "",
			phases[phase].title);
		/* Keeps a block that would be empty, and its place in the key. */
		fputs("nan nan nan nan\n", data);
		for (size_t row = 0; row < jobs->count; row++) {
			const struct job *job = &jobs->jobs[row];
			double until_s = isnan(job->start_s) ? jobs->end_s : job->start_s;
			if (phase == PHASE_WAITING)
				write_bar(data, row, job->id, job->arrival_s, until_s);
			else
				write_iterations(data, jobs, row, phase, together);
		}
	}
}

/* ---- Script ---- */

static bool name_is_unique(const struct jobs *jobs, size_t row)
{
	for (size_t i = 0; i < jobs->count; i++)
		if (i != row && strcmp(jobs->jobs[i].name, jobs->jobs[row].name) == 0)
			return false;
	return true;
}

/* Returns the length of the longest label. */
static size_t write_labels(FILE *script, const struct jobs *jobs)
{
	size_t longest = 0;
	size_t step = (jobs->count + ROWS_LABELLED - 1) / ROWS_LABELLED;
	fputs("set ytics scale 0 (", script);
	for (size_t row = 0; row < jobs->count; row += step) {
		const struct job *job = &jobs->jobs[row];
		const char *state = job->finished ? "" : " (unfinished)";
		char *label = name_is_unique(jobs, row)
				      ? xasprintf("%.*s%s", NAME_SHOWN, job->name, state)
				      : xasprintf("%.*s #%" PRIu64 "%s", NAME_SHOWN, job->name,
						  job->id, state);
		fputs(row > 0 ? ", \\\n  " : "", script);
		plot_quote(script, label);
		fprintf(script, " %zu", row);
		longest = strlen(label) > longest ? strlen(label) : longest;
		free(label);
	}
	fputs(")\n", script);
	return longest;
}

static void write_script(struct plot_page *page, const struct jobs *jobs, size_t together)
{
	FILE *script = page->script;
	double scale;
	const char *unit = plot_time_unit(jobs->end_s, &scale);
	char blocks[64] = "";
	if (together > 1)
		snprintf(blocks, sizeof blocks, "; a bar is %zu iterations", together);
	plot_title(page, "Jobs over time", "%zu jobs, %zu unfinished%s", jobs->count,
		   jobs->count - jobs->finished, blocks);
	size_t longest = write_labels(script, jobs);
	if (!plot_is_dumb(page)) /* gnuplot takes every letter for an m */
		fprintf(script, "set lmargin %.1f\nset key width -3\n", 2 + 0.82 * (double)longest);
	fprintf(script,
		"set xlabel 'Simulated time (%s)'\nset xrange [0:%g]\nset yrange [%g:-0.6]\n"
		"set grid xtics noytics\n"
		"set border 1\nplot ",
		unit, jobs->end_s * scale * 1.01, (double)jobs->count - 0.4);
	for (enum phase phase = 0; phase < PHASES; phase++)
		fprintf(script,
			"%s'job_timeline.dat' index %d using ($3*%g):1:($3*%g):($4*%g):($1-0.36):"
			"($1+0.36) with boxxyerror lt %d lc rgb '%s' title '%s'",
			phase > 0 ? ", \\\n     " : "", (int)phase, scale, scale, scale,
			(int)phase + 1, phases[phase].colour, phases[phase].title);
	putc('\n', script);
}

enum plot_outcome plot_job_timeline(struct plot_page *page)
{
	struct jobs jobs;
	enum plot_outcome outcome = jobs_init(&jobs, page);
	size_t height = 200 + ROW_PIXELS * jobs.count;
	height = height < PLOT_HEIGHT ? PLOT_HEIGHT : height > HEIGHT_MAX ? HEIGHT_MAX : height;
	if (outcome == PLOT_DRAWN)
		outcome = plot_page_open(page, PLOT_WIDTH, (int)height);
	if (outcome == PLOT_DRAWN) {
		size_t together = 1 + 2 * jobs.iteration_count / BARS_MAX;
		write_data(page->data, &jobs, together);
		write_script(page, &jobs, together);
	}
	jobs_release(&jobs);
	return outcome;
}
