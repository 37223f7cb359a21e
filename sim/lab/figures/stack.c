#include "lab/figures/stack.h"

#include "base/mem.h"
#include "lab/figures/values.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define JOBS_SHOWN 24   /* bars of one run; with more jobs, jobs of one name share a bar */
#define SHARE_MIN  0.01 /* a cause below this share in every bar is part of "rest" */
#define GAP        0.12 /* bars of a group are closer by this share of the usual distance */

/* ---- Bars ---- */

double stack_place(size_t first, size_t together, size_t i)
{
	double middle = 0.5 * (double)(together - 1);

	return (double)first + middle + ((double)i - middle) * (together > 1 ? 1 - GAP : 1);
}

double stack_sum(const struct stack_bar *bar)
{
	double sum = 0;

	for (size_t c = 0; c < BREAKDOWN_CAUSES; c++)
		sum += bar->cause[c];
	return sum;
}

/* Whether a cause has a share of SHARE_MIN in some bar. */
static bool is_shown(const struct stack_bar *bars, size_t count, size_t cause)
{
	for (size_t i = 0; i < count; i++)
		if (bars[i].cause[cause] > 0 &&
		    bars[i].cause[cause] >= SHARE_MIN * stack_sum(&bars[i]))
			return true;
	return false;
}

/* The time of a cause, or for BREAKDOWN_CAUSES of all causes that are not shown. */
static double time_of(const struct stack_bar *bar, size_t cause, const bool *shown)
{
	double rest = 0;

	if (cause < BREAKDOWN_CAUSES)
		return bar->cause[cause];
	for (size_t c = 0; c < BREAKDOWN_CAUSES; c++)
		rest += shown[c] ? 0 : bar->cause[c];
	return rest;
}

/* Puts the part of one cause on top of each bar; below[i] is the height of bar i so far. */
static void put_parts(struct figure *f, const struct stack_bar *bars, size_t count, size_t series,
		      size_t cause, const bool *shown, double *below)
{
	static const struct breakdown_cause rest = {
		.name = "rest", .words = "rest", .colour = 8, .fill = 5
	};
	const struct breakdown_cause *look =
		cause < BREAKDOWN_CAUSES ? &breakdown_causes[cause] : &rest;

	figure_legend(f, series, look->colour, look->fill, look->words);
	figure_curve(f, 1, series, look->words);
	for (size_t i = 0; i < count; i++) {
		double time = time_of(&bars[i], cause, shown), from = below[i];

		below[i] += time;
		figure_row(f, (double[]){ bars[i].x, time, from, below[i], bars[i].rows }, 3);
	}
}

void stack_put(struct figure *f, const struct stack_bar *bars, size_t count, const char *x,
	       const char *rows, const char *title, char *subtitle)
{
	bool shown[BREAKDOWN_CAUSES], rest = false;
	double *below = xcalloc(count, sizeof(*below));
	char *columns = xasprintf("bar time_s from_s to_s %s", rows);
	size_t series = 0;

	for (size_t c = 0; c < BREAKDOWN_CAUSES; c++) {
		shown[c] = is_shown(bars, count, c);
		series += shown[c];
	}
	for (size_t i = 0; i < count; i++)
		rest = rest || time_of(&bars[i], BREAKDOWN_CAUSES, shown) > 0;
	figure_begin(f, "stack", 1, series + rest, columns);
	figure_title(f, title, subtitle);
	figure_x(f, x, "", false);
	figure_count(f, "LABELLED", 1);
	figure_tics(f, 'X', count);
	for (size_t i = 0; i < count; i++) {
		figure_tic(f, 'X', i + 1, bars[i].label, bars[i].x, NULL);
		figure_comment(f, xasprintf("bar = %.15g: %s", bars[i].x, bars[i].label));
	}
	figure_panel(f, 1, "Time of an iteration", "s");
	figure_reach(f, 1, 0);
	series = 0;
	for (size_t c = 0; c < BREAKDOWN_CAUSES; c++)
		if (shown[c])
			put_parts(f, bars, count, ++series, c, shown, below);
	if (rest)
		put_parts(f, bars, count, ++series, BREAKDOWN_CAUSES, shown, below);
	free(columns);
	free(below);
}

/* ---- Runs ---- */

struct bars {
	struct stack_bar *at;
	size_t count, capacity;
	size_t first; /* index of the current run's first bar */
	size_t jobs;  /* of all runs */
	bool merged;  /* some bar is of several jobs */
};

static struct stack_bar *add_bar(struct bars *bars, const char *name)
{
	bars->at = array_reserve(bars->at, bars->count, &bars->capacity, sizeof(*bars->at));
	bars->at[bars->count] = (struct stack_bar){ .name = xstrdup(name) };
	return &bars->at[bars->count++];
}

/* The bar of the current run for jobs of a name; adds it for the first job. */
static struct stack_bar *bar_of(struct bars *bars, const char *name)
{
	for (size_t i = bars->first; i < bars->count; i++) {
		if (strcmp(bars->at[i].name, name))
			continue;
		bars->merged = true;
		return &bars->at[i];
	}
	return add_bar(bars, name);
}

/* Adds the `count` iterations of a job to the sums of its bar. add_run() makes means of them. */
static void add_job(struct stack_bar *bar, const struct breakdown_iteration *from, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		bar->rows += (double)from[i].workers;
		for (size_t c = 0; c < BREAKDOWN_CAUSES; c++)
			bar->cause[c] += from[i].cause[c];
	}
}

static bool name_is_unique(const struct breakdown *b, const struct breakdown_iteration *of)
{
	for (size_t i = 0; i < b->count; i++)
		if (b->iterations[i].job != of->job && !strcmp(b->iterations[i].name, of->name))
			return false;
	return true;
}

/* Adds the bars of a run: one for each job or, if `by_name`, one for each name of jobs. `label`
 * names the run; "" if there is only one run. */
static void add_run(struct bars *bars, const struct breakdown *b, const char *label, bool by_name)
{
	bars->first = bars->count;
	for (size_t i = 0, end; i < b->count; i = end) {
		const struct breakdown_iteration *it = &b->iterations[i];
		char *name;

		end = breakdown_job_end(b, i);
		name = by_name || name_is_unique(b, it)
			       ? xstrdup(it->name)
			       : xasprintf("%s #%" PRIu64, it->name, it->job);
		add_job(by_name ? bar_of(bars, name) : add_bar(bars, name), it, end - i);
		bars->jobs++;
		free(name);
	}
	size_t own = bars->count - bars->first;

	for (size_t i = bars->first; i < bars->count; i++) {
		struct stack_bar *bar = &bars->at[i];

		bar->label = !*label    ? xstrdup(bar->name)
			     : own == 1 ? xstrdup(label)
					: xasprintf("%s %s", label, bar->name);
		bar->x = !*label ? (double)i : stack_place(bars->first, own, i - bars->first);
		for (size_t c = 0; c < BREAKDOWN_CAUSES; c++)
			bar->cause[c] /= bar->rows;
	}
}

static size_t jobs_in(const struct breakdown *b)
{
	size_t jobs = 0;

	for (size_t i = 0; i < b->count; i = breakdown_job_end(b, i))
		jobs++;
	return jobs;
}

static bool read_run(struct figure *f, struct bars *bars, const char *label)
{
	struct breakdown b;
	bool good = breakdown_read(&b, f->dir, &f->error);

	if (good)
		add_run(bars, &b, label, *label || jobs_in(&b) > JOBS_SHOWN);
	f->why = good ? "no iteration has ended" : "there is no why.csv; run --why writes it";
	good = good && b.count;
	breakdown_release(&b);
	return good;
}

static bool put_runs(struct figure *f, const struct bars *bars)
{
	bool room = bars->count <= STACK_BARS;
	double sum = 0;

	for (size_t i = 0; i < bars->count; i++)
		sum += stack_sum(&bars->at[i]);
	f->why = room ? "iterations took no time" : "there are more job names than room for bars";
	if (!room || sum <= 0)
		return false;
	stack_put(f, bars->at, bars->count, "", "worker_iterations", "What iterations are spent on",
		  xasprintf("Mean over workers and iterations of %zu job%s%s", bars->jobs,
			    bars->jobs > 1 ? "s" : "",
			    bars->merged ? ", those of the same name together" : ""));
	return true;
}

bool stack_runs(struct figure *f, const struct plot_labelled *runs, char *const *labels,
		size_t count)
{
	struct bars bars = { 0 };
	bool good = true;

	for (size_t r = 0; r < count && good; r++) {
		f->dir = runs[r].dir;
		good = read_run(f, &bars, labels[r]);
	}
	good = good && put_runs(f, &bars);
	for (size_t i = 0; i < bars.count; i++) {
		free(bars.at[i].label);
		free(bars.at[i].name);
	}
	free(bars.at);
	return good;
}
