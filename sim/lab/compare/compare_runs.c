/* Result directories of runs side by side. */
#include "lab/compare/compare_parts.h"

#include "base/mem.h"
#include "data/json_read.h"
#include "data/metrics.h"
#include "lab/json_diff.h"
#include "lab/names.h"
#include "lab/compare/samples.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DIFFERENCES_SHOWN 20

/* ---- Reading ---- */

static bool run_read(struct run *run, const char *dir, char *label, char **error)
{
	*run = (struct run){ .dir = dir, .label = label };
	run->manifest = json_read(dir, "manifest.json", error);
	if (!run->manifest || !summary_read(&run->summary, dir, error))
		return false;
	if (!isnan(summary_value(&run->summary, "seed")))
		return true;
	*error = xasprintf("%s/summary.json has no \"seed\": it is not from a run", dir);
	return false;
}

static void runs_release(struct runs *runs)
{
	for (size_t i = 0; i < runs->count; i++) {
		free(runs->items[i].label);
		cJSON_Delete(runs->items[i].manifest);
		summary_release(&runs->items[i].summary);
	}
	free(runs->items);
}

/* False and *error on failure; release the runs in any case. */
static bool runs_read(struct runs *runs, const char *const *dirs, size_t count, bool by_folder,
		      char **error)
{
	*runs = (struct runs){ .items = xcalloc(count, sizeof(*runs->items)) };
	while (runs->count < count) {
		size_t i = runs->count++;
		char *label = by_folder ? names_directory(dirs, count, i) : compare_label(i);
		if (!run_read(&runs->items[i], dirs[i], label, error))
			return false;
	}
	return true;
}

/* ---- Metrics ---- */

/* The number NAME that stands beside the metric in summary.json: "jobs.jct_s.count" for
 * "jobs.jct_s.mean" and "count". */
static double beside(const struct summary *summary, const char *metric, const char *name)
{
	char *path = xasprintf("%.*s.%s", (int)(strrchr(metric, '.') - metric), metric, name);
	double value = summary_value(summary, path);
	free(path);
	return value;
}

/* Whether the metric is PREFIX.finished and says nothing, since PREFIX.count is 0 in all runs. */
static bool no_work(const struct runs *runs, const char *metric)
{
	const char *end = strrchr(metric, '.');
	bool none = end && strcmp(end, ".finished") == 0;
	for (size_t i = 0; i < runs->count; i++)
		none = none && beside(&runs->items[i].summary, metric, "count") == 0;
	return none;
}

static enum compare_has runs_have(const void *owner, const char *metric)
{
	const struct runs *runs = owner;
	enum compare_has has = METRIC_UNKNOWN;
	for (size_t i = 0; i < runs->count; i++) {
		const struct summary *summary = &runs->items[i].summary;
		if (!isnan(summary_value(summary, metric)))
			return no_work(runs, metric) ? METRIC_EMPTY : METRIC_PRESENT;
		if (summary_find(summary, metric) != SIZE_MAX)
			has = METRIC_EMPTY;
	}
	return has;
}

/* Adds BEGIN GROUP END for each group that some run has, without duplicates (summary_groups()). */
static void add_groups(struct names *names, const struct runs *runs, const char *begin,
		       const char *end)
{
	for (size_t i = 0; i < runs->count; i++)
		summary_groups(&runs->items[i].summary, begin, end, names);
}

/* Whether no run has several groups of jobs. */
static bool jobs_alike(const struct runs *runs)
{
	bool alike = true;
	for (size_t i = 0; i < runs->count; i++) {
		struct names groups = { 0 };
		summary_groups(&runs->items[i].summary, METRIC_OF_JOBS, METRIC_MEAN_JCT, &groups);
		alike = alike && groups.count < 2;
		free(groups.items);
	}
	return alike;
}

/* Adds Jain's index of each group in which two members or more have finished in some run. */
static void add_fairness(struct names *names, const struct runs *runs)
{
	struct names all = { 0 };
	add_groups(&all, runs, METRIC_OF_FLOWS, ".jain");
	add_groups(&all, runs, METRIC_OF_JOBS, ".jain");
	for (size_t i = 0; i < all.count; i++) {
		double max = 0;
		for (size_t r = 0; r < runs->count; r++)
			max = fmax(max, beside(&runs->items[r].summary, all.items[i], "finished"));
		if (max >= 2)
			names_add(names, all.items[i]);
	}
	free(all.items);
}

static bool choose_metrics(struct names *metrics, const struct runs *runs,
			   const struct compare_options *options, char **error)
{
	struct names known = { 0 }, usual = { 0 };
	bool alike = jobs_alike(runs);
	if (!alike)
		add_groups(&usual, runs, METRIC_OF_JOBS, METRIC_MEAN_JCT);
	summary_usual(&usual, alike);
	add_fairness(&usual, runs);
	for (size_t i = 0; i < runs->count; i++)
		for (size_t k = 0; k < runs->items[i].summary.count; k++)
			names_add(&known, runs->items[i].summary.numbers[k].name);
	bool ok =
		compare_metrics(metrics, &options->metrics, runs_have, runs, &usual, &known, error);
	free(known.items);
	free(usual.items);
	return ok;
}

/* ---- Rows ---- */

/* Takes `finished` and `count` from the innermost object around the metric that has both. Each
 * round cuts the last part off the path. Ignores numbers that no run writes. */
static void fill_work(struct compare_row *row, const struct summary *summary)
{
	char *path = xstrdup(row->metric);
	for (char *dot; !row->has_work && (dot = strrchr(path, '.')); *dot = '\0') {
		double finished = beside(summary, path, "finished");
		double count = beside(summary, path, "count");
		row->has_work = finished >= 0 && finished <= count && count < 0x1p64;
		row->finished = row->has_work ? (uint64_t)finished : 0;
		row->count = row->has_work ? (uint64_t)count : 0;
	}
	free(path);
}

/* The mean of the values or their quantile, whichever the metric is. */
static struct estimate infer(const struct sample_source *source, const double *values, size_t count)
{
	double p = source->quantile;
	return isnan(p) ? infer_mean(values, count, INFERENCE_LEVEL)
			: infer_quantile(values, count, p, INFERENCE_LEVEL);
}

/* Fills in the value from the summary and, if the metric has samples, their interval. */
static void fill_value(struct compare_row *row, const struct run *run,
		       const struct sample_source *source, const struct samples *samples)
{
	row->value.value = summary_value(&run->summary, row->metric);
	fill_work(row, &run->summary);
	if (!source)
		return;
	double stored = row->value.value;
	row->value = infer(source, samples->values, samples->count);
	row->value.value = stored;
	if (source->metric->level != LEVEL_FLOW && samples->mixed)
		row->value.low = row->value.high = NAN; /* no interval over several populations */
	if (samples->each_is_work) {
		row->has_work = true;
		row->finished = row->value.n;
		row->count = row->value.n + row->value.missing;
	}
}

/* The ratio over the pairs of x and y or, if there are none, of a and b as independent samples. */
static struct estimate ratio_of(const struct sample_source *source, const struct samples *a,
				const struct samples *b, size_t pairs, const double *x,
				const double *y, struct rng *rng)
{
	double p = source->quantile, level = INFERENCE_LEVEL;
	if (pairs > 0)
		return isnan(p) ? infer_ratio_paired(x, y, pairs, level)
				: infer_quantile_ratio_paired(x, y, pairs, p, level, rng);
	return isnan(p) ? infer_ratio(a->values, a->count, b->values, b->count, level)
			: infer_quantile_ratio(a->values, a->count, b->values, b->count, p, level,
					       rng);
}

/* Fills in a ratio with an interval if there are samples, else the quotient of the values. Pairs
 * need the same seed: under another seed, a job of the same number is another random experiment. */
static void fill_ratio(struct compare_row *row, const struct sample_source *source,
		       const struct samples *a, const struct samples *b, bool same_seed)
{
	struct estimate e = row->ratio;
	row->basis = BASIS_QUOTIENT;
	if (source && a->count > 0 && b->count > 0) {
		double *x, *y;
		struct rng rng; /* one per metric, so that draws do not depend on other metrics */
		rng_init(&rng, 0, row->metric, 0);
		size_t pairs = samples_pair(a, b, &x, &y);
		if (!same_seed)
			pairs = 0;
		e = ratio_of(source, a, b, pairs, x, y, &rng);
		if (!isnan(e.value))
			row->basis = pairs > 0 ? BASIS_PAIRS : BASIS_INDEPENDENT;
		infer_complete_pairs(x, y, pairs);
		row->paired[0] = infer(source, x, pairs).value;
		row->paired[1] = infer(source, y, pairs).value;
		free(x);
		free(y);
	}
	if (isnan(e.value) && row->baseline != 0)
		e.value = row->value.value / row->baseline;
	row->ratio = e;
}

static double seed_of(const struct run *run)
{
	return summary_value(&run->summary, "seed");
}

static bool add_metric(struct comparison *comparison, const struct runs *runs, const char *metric,
		       char **error)
{
	struct sample_source found, *source = sample_source(metric, &found) ? &found : NULL;
	struct samples *samples = xcalloc(runs->count, sizeof(*samples));
	bool ok = true;
	for (size_t i = 0; ok && i < runs->count; i++) {
		const struct run *run = &runs->items[i];
		struct compare_row *row = comparison_add(comparison, metric);
		row->labels[0] = run->label;
		ok = !source || samples_read(run->dir, source, &samples[i], error);
		if (ok)
			fill_value(row, run, source, &samples[i]);
		if (ok && i > 0) {
			row->baseline = row[-(ptrdiff_t)i].value.value; /* row of the first run */
			fill_ratio(row, source, &samples[0], &samples[i],
				   seed_of(run) == seed_of(&runs->items[0]));
		}
	}
	for (size_t i = 0; i < runs->count; i++)
		samples_release(&samples[i]);
	free(samples);
	return ok;
}

/* ---- What was run ---- */

static void print_run(const struct runs *runs, size_t index, FILE *to)
{
	const struct run *run = &runs->items[index];
	const char *digest = json_text(run->summary.root, "digest");
	double jobs = summary_value(&run->summary, "jobs.count");
	double flows = summary_value(&run->summary, "flows.count");
	fprintf(to, "%s  %s: %s, seed %.0f, %s", run->label, run->dir,
		json_text(run->summary.root, "scenario"), seed_of(run),
		json_text(run->summary.root, "end_reason"));
	if (jobs > 0)
		fprintf(to, ", jobs %.0f/%.0f", summary_value(&run->summary, "jobs.finished"),
			jobs);
	if (flows > 0)
		fprintf(to, ", flows %.0f/%.0f", summary_value(&run->summary, "flows.finished"),
			flows);
	if (index > 0 && strcmp(digest, "?") != 0 && /* "?": there is none */
	    strcmp(digest, json_text(runs->items[0].summary.root, "digest")) == 0)
		fprintf(to, " (same digest as %s)", runs->items[0].label);
	fputc('\n', to);
	summary_print_warnings(&run->summary, "   warning", to);
}

/* How a run differs from the first one: in scenario, version or commit. Pointers into the scenario
 * begin at its root, not with "/scenario". */
static struct json_diff difference(const struct runs *runs, size_t index)
{
	static const char *const keys[] = { "scenario", "version", "commit" };
	struct json_diff diff = { 0 };
	for (size_t k = 0; k < sizeof(keys) / sizeof(*keys); k++)
		json_diff_add(
			&diff, k == 0 ? "" : keys[k],
			cJSON_GetObjectItemCaseSensitive(runs->items[0].manifest, keys[k]),
			cJSON_GetObjectItemCaseSensitive(runs->items[index].manifest, keys[k]));
	return diff;
}

static void print_difference(const struct runs *runs, size_t index, FILE *to)
{
	struct json_diff diff = difference(runs, index);
	if (diff.count == 0)
		fprintf(to, "\n%s ran the same scenario as %s\n", runs->items[index].label,
			runs->items[0].label);
	else
		fprintf(to, "\n%s differs from %s in\n", runs->items[index].label,
			runs->items[0].label);
	for (size_t i = 0; i < diff.count && i < DIFFERENCES_SHOWN; i++) {
		char *a = json_diff_text(diff.items[i].a, "nothing");
		char *b = json_diff_text(diff.items[i].b, "nothing");
		fprintf(to, "  %s: %s -> %s\n", diff.items[i].pointer, a, b);
		free(a);
		free(b);
	}
	if (diff.count > DIFFERENCES_SHOWN)
		fprintf(to, "  and %zu more\n", diff.count - DIFFERENCES_SHOWN);
	json_diff_release(&diff);
}

/* ---- Output ---- */

static void print_notes(const struct runs *runs, const struct comparison *comparison, FILE *to)
{
	bool ratios = false, pairs = false, fairness = false, intervals = false;
	for (size_t i = 0; i < comparison->count; i++) {
		const struct compare_row *row = &comparison->rows[i];
		ratios |= row->basis != BASIS_NONE;
		pairs |= row->basis == BASIS_PAIRS;
		fairness |= strstr(row->metric, ".jain") != NULL;
		intervals |= !isnan(row->value.low);
	}
	fputs("\n", to);
	if (ratios)
		fprintf(to, "ratio: to %s. *: the interval excludes 1.\n", runs->items[0].label);
	if (fairness)
		fputs("jain: Jain's index of throughput over the finished members of a group: size "
		      "/ FCT of flows,\nbytes all-reduced / running time of jobs. Flows of "
		      "different sizes lower it even in a fair network.\n",
		      to);
	if (comparison_has_unfinished(comparison))
		fputs("finished: means and percentiles leave out what did not finish.\n", to);
	if (pairs)
		fputs("pairs: the same flows or jobs in both runs. The ratio covers those that "
		      "finished in both;\nif that leaves some out, the line below has the two "
		      "numbers of the ratio.\n",
		      to);
	if (intervals)
		fputs("The intervals assume that flows, jobs and iterations of a run are "
		      "independent. With shared\nqueues that holds only roughly; intervals over "
		      "replications (a sweep) do not need it.\n",
		      to);
}

static size_t print_text(const struct runs *runs, const struct comparison *comparison,
			 double tolerance, FILE *to)
{
	for (size_t i = 0; i < runs->count; i++)
		print_run(runs, i, to);
	for (size_t i = 1; i < runs->count; i++)
		print_difference(runs, i, to);
	fputc('\n', to);
	comparison_print(comparison, to);
	print_notes(runs, comparison, to);
	return comparison_outside(comparison, tolerance, to);
}

static void json_run(struct json *json, const struct runs *runs, size_t index)
{
	const struct run *run = &runs->items[index];
	char **warnings = summary_warnings(&run->summary);
	json_open_object(json, NULL);
	json_string(json, "run", run->label);
	json_string(json, "directory", run->dir);
	json_string(json, "scenario", json_text(run->summary.root, "scenario"));
	json_real(json, "seed", seed_of(run));
	json_string(json, "end_reason", json_text(run->summary.root, "end_reason"));
	json_string(json, "digest", json_text(run->summary.root, "digest"));
	json_open_array(json, "warnings");
	for (size_t i = 0; warnings[i]; i++)
		json_string(json, NULL, warnings[i]);
	summary_warnings_free(warnings);
	json_close_array(json);
	json_open_array(json, "differences");
	struct json_diff diff = difference(runs, index);
	for (size_t i = 0; i < diff.count; i++) {
		char *a = json_diff_text(diff.items[i].a, "nothing");
		char *b = json_diff_text(diff.items[i].b, "nothing");
		json_open_object(json, NULL);
		json_string(json, "pointer", diff.items[i].pointer);
		json_string(json, "baseline", a);
		json_string(json, "value", b);
		json_close_object(json);
		free(a);
		free(b);
	}
	json_diff_release(&diff);
	json_close_array(json);
	json_close_object(json);
}

static size_t print_json(const struct runs *runs, const struct comparison *comparison,
			 double tolerance, FILE *to)
{
	struct json json;
	comparison_json_begin(&json, "runs");
	json_open_array(&json, "runs");
	for (size_t i = 0; i < runs->count; i++)
		json_run(&json, runs, i);
	json_close_array(&json);
	return comparison_json_end(&json, comparison, tolerance, to);
}

/* Returns NULL, or what is wrong with the options (caller frees). */
static char *nonsense(size_t count, const struct compare_options *options)
{
	if (options->by || options->baseline)
		return xasprintf(
			"--by and --baseline are for one sweep; runs are compared with the "
			"first");
	if (count < 2 && !isnan(options->tolerance))
		return xasprintf("--tolerance needs a second run");
	return NULL;
}

static void name_label(struct comparison *comparison)
{
	comparison->label_count = 1;
	comparison->work_name = "finished";
	comparison->label_names = xcalloc(1, sizeof(*comparison->label_names));
	comparison->label_names[0] = "run";
}

enum compare_end compare_runs_read(const char *const *dirs, size_t count,
				   const struct compare_options *options,
				   struct comparison *comparison, char **error)
{
	struct names metrics = { 0 };
	struct runs *runs = &comparison->runs;
	enum compare_end end = COMPARE_ALIKE;
	*comparison = (struct comparison){ .latex = options->latex };
	if ((*error = nonsense(count, options)))
		return COMPARE_USAGE;
	name_label(comparison);
	/* with latex, by folder: readers of a paper do not know what A and B are */
	if (!runs_read(runs, dirs, count, options->by_folder || options->latex, error))
		end = COMPARE_IO;
	else if (!choose_metrics(&metrics, runs, options, error))
		end = COMPARE_USAGE;
	for (size_t i = 0; i < metrics.count && end == COMPARE_ALIKE; i++)
		if (!add_metric(comparison, runs, metrics.items[i], error))
			end = COMPARE_IO;
	free(metrics.items);
	if (end != COMPARE_ALIKE)
		comparison_release(comparison);
	return end;
}

void comparison_release(struct comparison *comparison)
{
	for (size_t i = 0; i < comparison->count; i++)
		free(comparison->rows[i].labels);
	free(comparison->rows);
	free(comparison->label_names);
	runs_release(&comparison->runs);
	*comparison = (struct comparison){ 0 };
}

enum compare_end compare_runs(const char *const *dirs, size_t count,
			      const struct compare_options *options, FILE *to, char **error)
{
	struct comparison comparison;
	enum compare_end end = compare_runs_read(dirs, count, options, &comparison, error);
	if (end == COMPARE_ALIKE &&
	    (options->json ? print_json : print_text)(&comparison.runs, &comparison,
						      options->tolerance, to) > 0)
		end = COMPARE_DIFFERS;
	comparison_release(&comparison);
	return end;
}
