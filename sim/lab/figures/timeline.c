/* The timeline of jobs: a row of bars for each job, in the order of their arrival. */
#include "lab/figures/figure.h"

#include "base/mem.h"
#include "lab/figures/values.h"
#include "data/result_read.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BARS_MAX      20000 /* with more bars, several iterations share a bar */
#define ROW_PIXELS    20    /* height of a row */
#define FRAME_PIXELS  200   /* height of all but the rows: titles, axis, legend */
#define HEIGHT_MAX    2000  /* pixels */
#define ROWS_LABELLED 100   /* rows that have a label, at most */
#define NAME_BYTES    24    /* leaves room for a number and a state behind the name */

enum phase { PHASE_WAITING, PHASE_COMPUTE, PHASE_COMMUNICATION, PHASES };

static const char *const phases[PHASES] = {
	[PHASE_WAITING] = "waiting",
	[PHASE_COMPUTE] = "computing",
	[PHASE_COMMUNICATION] = "communicating",
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
	size_t finished; /* how many jobs */
	double end_s;    /* the latest time in both tables; the run may have ended later */
};

/* ---- Reading ---- */

static void read_jobs(struct csv *csv, struct jobs *jobs)
{
	int id = csv_need(csv, "job_id");
	int arrival = csv_need(csv, "arrival_s"), start = csv_need(csv, "start_s");
	int finish = csv_need(csv, "finish_s"), finished = csv_need(csv, "finished");

	csv_need(csv, "name"); /* result_job_name() reads it: complain even if there are no rows */
	while (csv_next(csv)) {
		double last;
		struct job *job;

		jobs->jobs = array_reserve(jobs->jobs, jobs->count, &jobs->capacity,
					   sizeof(*jobs->jobs));
		job = &jobs->jobs[jobs->count++];
		job->id = csv_u64(csv, id);
		job->name = result_job_name(csv);
		job->arrival_s = csv_real(csv, arrival);
		job->start_s = csv_empty(csv, start) ? NAN : csv_real(csv, start);
		job->finished = csv_flag(csv, finished);
		jobs->finished += job->finished;
		last = csv_empty(csv, finish) ? job->arrival_s : csv_real(csv, finish);
		jobs->end_s = fmax(jobs->end_s, fmax(last, job->start_s));
	}
}

static void read_iterations(struct csv *csv, struct jobs *jobs)
{
	int id = csv_need(csv, "job_id"), number = csv_need(csv, "iteration");
	int start = csv_need(csv, "start_s"), finish = csv_need(csv, "finish_s");
	int compute = csv_need(csv, "compute_s");

	while (csv_next(csv)) {
		struct iteration *it;

		jobs->iterations =
			array_reserve(jobs->iterations, jobs->iteration_count,
				      &jobs->iteration_capacity, sizeof(*jobs->iterations));
		it = &jobs->iterations[jobs->iteration_count++];
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

static bool read_table(struct figure *f, struct jobs *jobs, const char *file,
		       void (*read)(struct csv *csv, struct jobs *jobs))
{
	struct csv *csv = values_table(f, file);

	if (!csv)
		return false;
	read(csv, jobs);
	return csv_close(csv, &f->error);
}

static bool jobs_read(struct jobs *jobs, struct figure *f)
{
	*jobs = (struct jobs){ 0 };
	if (!read_table(f, jobs, "jobs.csv", read_jobs))
		return false;
	if (jobs->count == 0) {
		f->why = "there are no jobs";
		return false;
	}
	if (!read_table(f, jobs, "iterations.csv", read_iterations))
		return false;
	qsort(jobs->jobs, jobs->count, sizeof(*jobs->jobs), by_arrival);
	if (jobs->iteration_count)
		qsort(jobs->iterations, jobs->iteration_count, sizeof(*jobs->iterations),
		      by_job_and_number);
	f->why = "nothing took any time";
	return jobs->end_s > 0;
}

static void jobs_release(struct jobs *jobs)
{
	for (size_t i = 0; i < jobs->count; i++)
		free(jobs->jobs[i].name);
	free(jobs->jobs);
	free(jobs->iterations);
}

/* ---- Bars ---- */

static void put_bar(struct figure *f, size_t row, uint64_t job_id, double from_s, double to_s)
{
	if (to_s > from_s)
		figure_row(f, (double[]){ from_s, to_s, (double)row, (double)job_id }, 0);
}

/* The first iteration of a job; its other iterations follow. If the job has none: an iteration of
 * another job, or the end. */
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

/* Puts the bars of one phase of one job; `together` iterations share a bar. */
static void put_iterations(struct figure *f, const struct jobs *jobs, size_t row, enum phase phase,
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
			put_bar(f, row, id, start_s, start_s + compute_s);
		else
			put_bar(f, row, id, start_s + compute_s, finish_s);
	}
}

static void put_bars(struct figure *f, const struct jobs *jobs, size_t together)
{
	for (enum phase phase = 0; phase < PHASES; phase++) {
		figure_legend(f, phase + 1, phase + 1, 1, phases[phase]);
		figure_curve(f, 1, phase + 1, phases[phase]);
		for (size_t row = 0; row < jobs->count; row++) {
			const struct job *job = &jobs->jobs[row];
			double until_s = isnan(job->start_s) ? jobs->end_s : job->start_s;

			if (phase == PHASE_WAITING)
				put_bar(f, row, job->id, job->arrival_s, until_s);
			else
				put_iterations(f, jobs, row, phase, together);
		}
	}
}

/* ---- Labels ---- */

static bool name_is_unique(const struct jobs *jobs, size_t row)
{
	for (size_t i = 0; i < jobs->count; i++)
		if (i != row && !strcmp(jobs->jobs[i].name, jobs->jobs[row].name))
			return false;
	return true;
}

/* "vgg #3", with a star if the job is unfinished. Short, to leave room in a narrow figure. The
 * caller frees. */
static char *label_of(const struct jobs *jobs, size_t row)
{
	const struct job *job = &jobs->jobs[row];
	const char *state = job->finished ? "" : " *";
	char *name = figure_cut(job->name, NAME_BYTES);
	char *label = name_is_unique(jobs, row)
			      ? xasprintf("%s%s", name, state)
			      : xasprintf("%s #%" PRIu64 "%s", name, job->id, state);

	free(name);
	return label;
}

static void put_labels(struct figure *f, const struct jobs *jobs)
{
	size_t step = (jobs->count + ROWS_LABELLED - 1) / ROWS_LABELLED;

	figure_tics(f, 'Y', (jobs->count + step - 1) / step);
	for (size_t row = 0; row < jobs->count; row += step) {
		char *label = label_of(jobs, row);

		figure_tic(f, 'Y', row / step + 1, label, (double)row, NULL);
		free(label);
	}
	figure_count(f, "ROWS", jobs->count);
}

static void draw(struct figure *f, const struct jobs *jobs)
{
	/* an iteration has two bars, computing and communicating */
	size_t iteration_bars = 2 * jobs->iteration_count;
	size_t together = iteration_bars > 0 ? 1 + (iteration_bars - 1) / BARS_MAX : 1;
	size_t height = FRAME_PIXELS + ROW_PIXELS * jobs->count;
	char bars[64] = "";

	if (together > 1)
		snprintf(bars, sizeof(bars), "; a bar is %zu iterations", together);
	figure_begin(f, "timeline", 1, PHASES, "from_s to_s row job_id");
	figure_title(f, "Jobs over time",
		     xasprintf("%zu jobs, %zu unfinished%s%s", jobs->count,
			       jobs->count - jobs->finished,
			       jobs->finished < jobs->count ? " (*)" : "", bars));
	figure_count(f, "PIXELS_HIGH",
		     height < FIGURE_HEIGHT ? FIGURE_HEIGHT
		     : height > HEIGHT_MAX  ? HEIGHT_MAX
					    : height);
	figure_x(f, "Simulated time", "s", false);
	figure_panel(f, 1, "", "");
	put_labels(f, jobs);
	put_bars(f, jobs, together);
	figure_reach(f, 0, 0);
	figure_reach(f, 0, jobs->end_s * 1.01); /* some room to the right */
}

bool timeline(struct figure *f)
{
	struct jobs jobs;
	bool data = jobs_read(&jobs, f);

	if (data)
		draw(f, &jobs);
	jobs_release(&jobs);
	return data;
}
