/* Long runs side by side: means of what a run settles to, by batch means. */
#include "lab/compare/compare_parts.h"

#include "base/mem.h"
#include "data/grid.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BY_NAME "jobs.by_name."

char *long_nonsense(const struct compare_options *options)
{
	struct sample_source source;
	const struct names *asked = &options->metrics;
	for (size_t i = 0; options->long_run && i < asked->count; i++)
		if (!sample_source(asked->items[i], &source) || !isnan(source.quantile))
			return xasprintf("--long-run gives means of flows, jobs or iterations, "
					 "such as jobs.iteration_s.mean; \"%s\" is none",
					 asked->items[i]);
	return NULL;
}

/* ---- Which metrics ---- */

static const cJSON *groups_of(const struct run *run)
{
	return cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(run->root, "jobs"),
						"by_name");
}

/* Whether one of the first `count` runs has jobs of this name. */
static bool has_group(const struct runs *runs, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (cJSON_GetObjectItemCaseSensitive(groups_of(&runs->items[i]), name) != NULL)
			return true;
	return false;
}

void long_usual(const struct runs *runs, struct names *usual)
{
	struct names groups = { 0 };
	const cJSON *group;
	names_add(usual, xstrdup("flows.fct_s.mean"));
	names_add(usual, xstrdup("flows.slowdown.mean"));
	for (size_t i = 0; i < runs->count; i++)
		cJSON_ArrayForEach(group, groups_of(&runs->items[i])) {
			if (!has_group(runs, i, group->string))
				names_add(&groups, group->string);
		}
	if (groups.count <= 1) /* the short name means the same, and is in summary.json */
		names_add(usual, xstrdup("jobs.iteration_s.mean"));
	for (size_t i = 0; i < groups.count && groups.count > 1; i++)
		names_add(usual, xasprintf(BY_NAME "%s.iteration_s.mean", groups.items[i]));
	free(groups.items);
}

enum compare_has long_has(const void *owner, const char *metric)
{
	const struct runs *runs = owner;
	struct sample_source source;
	enum compare_has has = METRIC_UNKNOWN;
	if (!sample_source(metric, &source))
		return METRIC_UNKNOWN;
	if (*source.name != '\0')
		return has_group(runs, runs->count, source.name) ? METRIC_PRESENT : METRIC_UNKNOWN;
	for (size_t i = 0; i < runs->count; i++) {
		if (!isnan(summary_value(&runs->items[i].summary, metric)))
			return METRIC_PRESENT;
		if (summary_find(&runs->items[i].summary, metric) != SIZE_MAX)
			has = METRIC_EMPTY;
	}
	return has;
}

/* ---- Rows ---- */

/* Counts the jobs that the iterations are of: one that did not finish has iterations in no row. */
static bool take_jobs(struct compare_row *row, const struct run *run,
		      const struct sample_source *source, char **error)
{
	char *metric = *source->name == '\0' ? xstrdup("jobs.jct_s.mean")
					     : xasprintf(BY_NAME "%s.jct_s.mean", source->name);
	struct sample_source jobs;
	struct samples samples = { 0 };
	bool ok = sample_source(metric, &jobs) && samples_read(run->dir, &jobs, &samples, error);
	row->has_work = samples.count > 0;
	row->count = samples.count;
	for (size_t i = 0; i < samples.count; i++)
		row->finished += isnan(samples.values[i]) ? 0 : 1;
	samples_release(&samples);
	free(metric);
	return ok;
}

static bool take_series(struct compare_row *row, const struct run *run,
			const struct sample_source *source, double warmup_s, char **error)
{
	struct samples samples;
	if (!samples_read(run->dir, source, &samples, error))
		return false;
	struct estimate all = infer_mean(samples.values, samples.count, INFERENCE_LEVEL);
	bool ok = run_tells_truth(run, row->metric, all.value, error);
	row->steady = xmalloc(sizeof *row->steady);
	steady_init(row->steady, &samples, warmup_s);
	row->value = row->steady->batch.mean;
	if (samples.each_is_work) {
		row->has_work = true;
		row->finished = all.n;
		row->count = samples.count;
	} else {
		ok = ok && take_jobs(row, run, source, error);
	}
	samples_release(&samples);
	return ok;
}

static void take_ratio(struct compare_row *row, const struct compare_row *first)
{
	const struct steady *a = first->steady, *b = row->steady;
	row->baseline = first->value.value;
	row->basis = BASIS_QUOTIENT;
	if (a->batch.means != NULL && b->batch.means != NULL) {
		row->basis = BASIS_INDEPENDENT;
		row->ratio = infer_ratio(a->batch.means, a->batch.batches, b->batch.means,
					 b->batch.batches, INFERENCE_LEVEL);
	} else if (row->baseline != 0) {
		row->ratio.value = row->value.value / row->baseline;
	}
}

bool long_add_metric(struct report *report, const struct runs *runs, const char *metric,
		     double warmup_s, char **error)
{
	struct sample_source source;
	if (!sample_source(metric, &source)) /* cannot be: long_has() knows the metric */
		return false;
	for (size_t i = 0; i < runs->count; i++) {
		struct compare_row *row = report_add(report, metric);
		row->labels[0] = runs->items[i].label;
		if (!take_series(row, &runs->items[i], &source, warmup_s, error))
			return false;
		if (i > 0)
			take_ratio(row, row - i);
	}
	return true;
}

/* ---- What they rest on ---- */

static bool is_of_flows(const struct compare_row *row)
{
	return strncmp(row->metric, "flows.", strlen("flows.")) == 0;
}

static void add_origin(struct grid *grid, const struct compare_row *row)
{
	const struct steady *steady = row->steady;
	const char *what = is_of_flows(row) ? "flow" : "job";
	char *groups = steady->groups > 1 ? xasprintf(", %zu groups", steady->groups) : xstrdup("");
	grid_add(grid, "%zu %s%s%s", steady->members, what, steady->members == 1 ? "" : "s",
		 groups);
	free(groups);
}

static void add_cut(struct grid *grid, const struct steady *steady)
{
	switch (steady->cut) {
	case STEADY_TOO_FEW:
		grid_add(grid, "%s", "too few to tell");
		return;
	case STEADY_MOVING:
		grid_add(grid, "%s", "too short: not over");
		return;
	case STEADY_FOUND:
	case STEADY_GIVEN:
		if (steady->dropped == 0)
			grid_add(grid, "%s", "none");
		else if (isnan(steady->from_s))
			grid_add(grid, "%zu, all", steady->dropped);
		else
			grid_add(grid, "%zu, to %.4g s", steady->dropped, steady->from_s);
		return;
	}
}

static void add_steady(struct grid *grid, const struct compare_row *row)
{
	const struct steady *steady = row->steady;
	grid_add(grid, "  %s", row->labels[0]);
	add_origin(grid, row);
	add_cut(grid, steady);
	if (steady->kept_unfinished > 0)
		grid_add(grid, "%zu, %zu not", steady->kept, steady->kept_unfinished);
	else
		grid_add(grid, "%zu", steady->kept);
	if (steady->batch.means == NULL)
		grid_add(grid, "%s", "");
	else
		grid_add(grid, "%zu of %zu", steady->batch.batches, steady->batch.size);
	if (isnan(steady->batch.lag1))
		grid_add(grid, "%s", "");
	else
		grid_add(grid, "%.2f", steady->batch.lag1);
	grid_add(grid, "%s", steady_verdict(steady));
}

void long_print(const struct report *report, FILE *to)
{
	static const char *const heads[] = { "  run",   "of",    "warm-up", "rest",
					     "batches", "lag 1", "" };
	struct grid *grid = grid_new("lllrrrl");
	fputc('\n', to);
	for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
		grid_add(grid, "%s", heads[i]);
	for (size_t i = 0; i < report->count; i++) {
		const struct compare_row *row = &report->rows[i];
		if (i == 0 || strcmp(row->metric, row[-1].metric) != 0)
			grid_line(grid, "%s", row->metric);
		add_steady(grid, row);
	}
	grid_print(grid, to);
	grid_free(grid);
}

void long_notes(const struct report *report, FILE *to)
{
	bool correlated = false, jobs = false, flows = false, none = false;
	for (size_t i = 0; i < report->count; i++) {
		const struct steady *steady = report->rows[i].steady;
		none |= steady->batch.means == NULL;
		correlated |= steady->batch.means != NULL && !isnan(steady->batch.p_value) &&
			      !steady->batch.independent;
		if (steady->groups > 1 && is_of_flows(&report->rows[i]))
			flows = true;
		else if (steady->groups > 1)
			jobs = true;
	}
	fputs("warm-up: values in the order of time that are cut, by MSER-5 or --warmup. The mean "
	      "and its\ninterval are of batches of the rest.\n",
	      to);
	if (none)
		fputs("no interval: the run is too short; the mean is over what was not cut.\n",
		      to);
	if (correlated)
		fputs("correlated: neighbouring batches are alike, so the interval is too short; "
		      "run longer.\n",
		      to);
	if (jobs)
		fputs("groups: different jobs in one series; jobs.by_name.NAME.iteration_s.mean is "
		      "of one group.\n",
		      to);
	if (flows)
		fputs("groups: the flows of all groups are one series.\n", to);
}
