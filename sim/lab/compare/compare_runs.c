/* Result directories of runs side by side. */
#include "lab/compare/compare_parts.h"

#include "base/mem.h"
#include "data/json_read.h"
#include "data/metrics.h"
#include "data/stats.h"
#include "lab/json_diff.h"
#include "lab/names.h"
#include "lab/compare/samples.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DIFFERENCES_SHOWN 20

/* ---- Reading ---- */

static bool run_read(struct run *run, const char *dir, char **error)
{
	*run = (struct run){ .dir = dir };
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

/* ---- Sides: runs that are replications of one another ---- */

static double seed_of(const struct run *run)
{
	return summary_value(&run->summary, "seed");
}

/* How a run differs from another: in scenario, version or commit. Pointers into the scenario
 * begin at its root, not with "/scenario". */
static struct json_diff difference(const struct run *a, const struct run *b)
{
	static const char *const keys[] = { "scenario", "version", "commit" };
	struct json_diff diff = { 0 };

	for (size_t k = 0; k < sizeof(keys) / sizeof(*keys); k++)
		json_diff_add(&diff, k == 0 ? "" : keys[k],
			      cJSON_GetObjectItemCaseSensitive(a->manifest, keys[k]),
			      cJSON_GetObjectItemCaseSensitive(b->manifest, keys[k]));
	return diff;
}

/* Whether two runs differ in their seed alone. */
static bool differ_in_seed(const struct run *a, const struct run *b)
{
	struct json_diff diff = difference(a, b);
	bool only = diff.count == 1 && !strcmp(diff.items[0].pointer, "/seed");

	json_diff_release(&diff);
	return only && seed_of(a) != seed_of(b);
}

/* The side of the last run: that of the first run whose side it fits into, else a new one. */
static size_t side_of(const struct runs *runs, size_t side_count)
{
	const struct run *run = &runs->items[runs->count - 1];

	for (size_t side = 0; side < side_count; side++) {
		bool fits = true;

		for (const struct run *other = runs->items; other < run; other++)
			fits = fits && (other->side != side || differ_in_seed(other, run));
		if (fits)
			return side;
	}
	return side_count;
}

const struct run *comparison_side(const struct comparison *comparison, size_t side)
{
	const struct run *run = comparison->runs.items;

	while (run->side != side)
		run++;
	return run;
}

double comparison_mean(const struct comparison *comparison, size_t side, const char *metric)
{
	const struct runs *runs = &comparison->runs;
	double sum = 0, count = 0;

	for (size_t i = 0; i < runs->count; i++)
		if (runs->items[i].side == side) {
			sum += summary_value(&runs->items[i].summary, metric);
			count++;
		}
	return sum / count;
}

/* False and *error on failure; release the runs in any case. */
static bool runs_read(struct comparison *comparison, const char *const *dirs, size_t count,
		      const struct compare_options *options, char **error)
{
	struct runs *runs = &comparison->runs;

	*runs = (struct runs){ .items = xcalloc(count, sizeof(*runs->items)) };
	while (runs->count < count) {
		size_t i = runs->count++;
		struct run *run = &runs->items[i];

		if (!run_read(run, dirs[i], error))
			return false;
		run->side = side_of(runs, comparison->side_count);
		run->label = compare_name(dirs, count, options, i, run->side);
		if (run->side == comparison->side_count)
			comparison->side_count++;
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
	bool none = end && !strcmp(end, ".finished");

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
	bool alike = jobs_alike(runs), ok;

	if (!alike)
		add_groups(&usual, runs, METRIC_OF_JOBS, METRIC_MEAN_JCT);
	summary_usual(&usual, alike);
	add_fairness(&usual, runs);
	for (size_t i = 0; i < runs->count; i++)
		for (size_t k = 0; k < runs->items[i].summary.count; k++)
			names_add(&known, runs->items[i].summary.numbers[k].name);
	ok = compare_metrics(metrics, &options->metrics, runs_have, runs, &usual, &known, error);
	free(known.items);
	free(usual.items);
	return ok;
}

/* ---- Rows ---- */

/* One side's values of a metric: one per seed and, of a single seed, what it is computed from. */
struct side {
	double *values, *seeds;
	size_t count;
	struct samples samples; /* empty if there are several seeds, or the metric has none */
};

static bool side_read(struct side *side, const struct comparison *comparison, size_t number,
		      const struct sample_source *source, const char *metric, char **error)
{
	const struct runs *runs = &comparison->runs;

	*side = (struct side){ .values = xcalloc(runs->count, sizeof(*side->values)),
			       .seeds = xcalloc(runs->count, sizeof(*side->seeds)) };
	for (size_t i = 0; i < runs->count; i++)
		if (runs->items[i].side == number) {
			side->values[side->count] = summary_value(&runs->items[i].summary, metric);
			side->seeds[side->count++] = seed_of(&runs->items[i]);
		}
	return side->count > 1 || !source ||
	       samples_read(comparison_side(comparison, number)->dir, source, &side->samples,
			    error);
}

static void side_release(struct side *side)
{
	free(side->values);
	free(side->seeds);
	samples_release(&side->samples);
}

/* Adds `finished` and `count` of the innermost object around the metric that has both. Each round
 * cuts the last part off the path. Ignores numbers that no run writes. */
static void add_work(struct compare_row *row, const struct summary *summary)
{
	char *path = xstrdup(row->metric);
	bool found = false;

	for (char *dot; !found && (dot = strrchr(path, '.')); *dot = '\0') {
		double finished = beside(summary, path, "finished");
		double count = beside(summary, path, "count");

		found = finished >= 0 && finished <= count && count < 0x1p53;
		row->finished += found ? (uint64_t)finished : 0;
		row->count += found ? (uint64_t)count : 0;
	}
	row->has_work |= found;
	free(path);
}

/* A single run: how much of its work the metric covers, and how that scatters. */
static void add_spread(struct compare_row *row, const struct samples *samples,
		       const struct sample_source *source)
{
	size_t finished = 0;

	for (size_t i = 0; i < samples->count; i++)
		finished += isnan(samples->values[i]) ? 0 : 1;
	if (samples->each_is_work) {
		row->has_work = true;
		row->finished = finished;
		row->count = samples->count;
	}
	/* of several populations a mean may be taken, as of all flows, but jobs differ */
	if (isnan(source->quantile) && (source->metric->level == LEVEL_FLOW || !samples->mixed))
		row->spread = infer_sd(samples->values, samples->count);
}

static bool all_equal(const double *values, size_t count)
{
	bool equal = count > 1;

	for (size_t i = 1; i < count; i++)
		equal = equal && values[i] == values[0];
	return equal;
}

static void fill_value(struct compare_row *row, const struct comparison *comparison, size_t number,
		       const struct side *side, const struct sample_source *source)
{
	const struct runs *runs = &comparison->runs;
	bool complete;

	row->value = infer_mean(side->values, side->count, INFERENCE_LEVEL);
	row->same = all_equal(side->values, side->count);
	if (row->same)
		row->value.low = row->value.high = NAN;
	complete = true;
	for (size_t i = 0; i < runs->count; i++) {
		const struct summary *summary = &runs->items[i].summary;

		if (runs->items[i].side != number)
			continue;
		add_work(row, summary);
		complete &= summary_is_complete(summary);
		row->substituted |= summary_value(summary, "jobs.substituted") > 0;
	}
	if (side->count == 1 && source)
		add_spread(row, &side->samples, source);
	if (metric_counts_work(row->metric))
		row->substituted = false;
	else
		row->partial = !complete ||
			       (!strncmp(row->metric, "jobs.", 5) && row->finished < row->count);
}

/* The mean of the values or their quantile, whichever the metric is; NaN of too few. Sorts them. */
static double statistic(const struct sample_source *source, double *values, size_t count)
{
	double p = source->quantile, value;
	size_t n = 0;

	for (size_t i = 0; i < count; i++)
		if (!isnan(values[i]))
			values[n++] = values[i];
	if (isnan(p))
		return stats_mean(values, n);
	stats_sort(values, n);
	value = stats_percentile(values, n, p);
	return isnan(value) && p == 0.5 ? infer_median(values, n, INFERENCE_LEVEL).value : value;
}

/* Two runs of one seed: the ratio is over the jobs, flows or iterations that both finished. */
static void compare_common(struct compare_row *row, const struct sample_source *source,
			   const struct samples *a, const struct samples *b)
{
	double *x, *y;
	size_t pairs = samples_pair(a, b, &x, &y), n = 0;

	infer_complete_pairs(x, y, pairs);
	for (size_t i = 0; i < pairs; i++)
		n += isnan(x[i]) ? 0 : 1;
	row->paired[0] = statistic(source, x, pairs);
	row->paired[1] = statistic(source, y, pairs);
	if (row->paired[0] != 0 && !isnan(row->paired[1] / row->paired[0])) {
		row->basis = BASIS_COMMON;
		row->ratio.value = row->paired[1] / row->paired[0];
		row->ratio.n = n;
		row->ratio.missing = pairs - n;
	}
	free(x);
	free(y);
}

/* Puts values of equal seeds side by side, NaN where one side lacks the seed. Returns how many
 * seeds there are, 0 if none is in both. The caller frees. */
static size_t pair_seeds(const struct side *a, const struct side *b, double **x, double **y)
{
	size_t count = a->count, common = 0;

	*x = xcalloc(a->count + b->count, sizeof(**x));
	*y = xcalloc(a->count + b->count, sizeof(**y));
	for (size_t i = 0; i < a->count; i++) {
		(*x)[i] = a->values[i];
		(*y)[i] = NAN;
	}
	for (size_t k = 0; k < b->count; k++) {
		size_t i = 0;

		while (i < a->count && a->seeds[i] != b->seeds[k])
			i++;
		if (i < a->count) {
			common++;
		} else {
			i = count++;
			(*x)[i] = NAN;
		}
		(*y)[i] = b->values[k];
	}
	return common > 0 ? count : 0;
}

/* Several seeds: the ratio of their means, over pairs of equal seeds if there are any. */
static void compare_seeds(struct compare_row *row, const struct side *a, const struct side *b,
			  const struct verdict_rule *rule)
{
	double *x, *y, level = INFERENCE_LEVEL;
	size_t pairs = pair_seeds(a, b, &x, &y);

	row->basis = pairs > 0 ? BASIS_PAIRS : BASIS_INDEPENDENT;
	row->ratio = pairs > 0 ? infer_ratio_paired(x, y, pairs, level)
			       : infer_ratio(a->values, a->count, b->values, b->count, level);
	row->verdict =
		pairs > 0 ? verdict_paired(x, y, pairs, rule)
			  : verdict_independent(a->values, a->count, b->values, b->count, rule);
	if (row->same && all_equal(a->values, a->count)) /* nothing is random */
		row->ratio.low = row->ratio.high = NAN;
	infer_complete_pairs(x, y, pairs);
	row->paired[0] = infer_mean(x, pairs, level).value;
	row->paired[1] = infer_mean(y, pairs, level).value;
	free(x);
	free(y);
}

static void fill_ratio(struct compare_row *row, const struct sample_source *source,
		       const struct side *a, const struct side *b, const struct verdict_rule *rule)
{
	row->basis = BASIS_QUOTIENT;
	row->verdict = verdict_paired(a->values, b->values, 1, rule); /* of one seed: too few */
	if (a->count > 1 || b->count > 1)
		compare_seeds(row, a, b, rule);
	else if (a->seeds[0] == b->seeds[0] && source && a->samples.count && b->samples.count)
		compare_common(row, source, &a->samples, &b->samples);
	if (isnan(row->ratio.value) && row->baseline != 0)
		row->ratio.value = row->value.value / row->baseline;
}

static bool is_unfinished(const struct compare_row *row)
{
	return row->has_work && row->finished < row->count;
}

/* Adds a row for each side. */
static bool add_metric(struct comparison *comparison, const char *metric, double margin,
		       bool survivors, char **error)
{
	const struct verdict_rule rule = { .margin = isnan(margin) ? VERDICT_MARGIN : margin,
					   .looks = 1 };
	struct sample_source found, *source = sample_source(metric, &found) ? &found : NULL;
	size_t count = comparison->side_count, read = 0;
	struct side *sides = xcalloc(count, sizeof(*sides));
	bool ok = true;

	for (size_t s = 0; ok && s < count; s++) {
		struct compare_row *row = comparison_add(comparison, metric);

		row->labels[0] = comparison_side(comparison, s)->label;
		ok = side_read(&sides[s], comparison, s, source, metric, error);
		read++;
		if (ok)
			fill_value(row, comparison, s, &sides[s], source);
		if (ok && s > 0) {
			const struct compare_row *first = row - s;

			row->baseline = first->value.value;
			fill_ratio(row, source, &sides[0], &sides[s], &rule);
			if (!survivors)
				comparison_withhold(row, first->partial);
			if (is_unfinished(row) || is_unfinished(first))
				row->verdict.kind = VERDICT_UNFINISHED;
		}
	}
	while (read > 0)
		side_release(&sides[--read]);
	free(sides);
	return ok;
}

/* ---- What was run ---- */

static void print_run(const struct comparison *comparison, const struct run *run, FILE *to)
{
	const struct run *first = comparison->runs.items;
	const char *digest = json_text(run->summary.root, "digest");
	double jobs = summary_value(&run->summary, "jobs.count");
	double flows = summary_value(&run->summary, "flows.count");

	fprintf(to, "%s  %s: %s, seed %.0f, %s", comparison_side(comparison, run->side)->label,
		run->dir, json_text(run->summary.root, "scenario"), seed_of(run),
		json_text(run->summary.root, "end_reason"));
	if (jobs > 0)
		fprintf(to, ", jobs %.0f/%.0f", summary_value(&run->summary, "jobs.finished"),
			jobs);
	if (flows > 0)
		fprintf(to, ", flows %.0f/%.0f", summary_value(&run->summary, "flows.finished"),
			flows);
	if (run > first && strcmp(digest, "?") && /* "?": there is none */
	    !strcmp(digest, json_text(first->summary.root, "digest")))
		fprintf(to, " (same digest as %s)", first->label);
	fputc('\n', to);
	summary_print_warnings(&run->summary, "   warning", to);
}

static void print_difference(const struct run *first, const struct run *run, FILE *to)
{
	struct json_diff diff = difference(first, run);

	if (diff.count == 0)
		fprintf(to, "\n%s ran the same scenario as %s\n", run->label, first->label);
	else
		fprintf(to, "\n%s differs from %s in\n", run->label, first->label);
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

static void print_notes(const struct comparison *comparison, FILE *to)
{
	size_t seeds = comparison->runs.count, sides = comparison->side_count;
	bool common = false, pairs = false, apart = false, fairness = false, spreads = false;

	for (size_t i = 0; i < comparison->count; i++) {
		const struct compare_row *row = &comparison->rows[i];

		common |= row->basis == BASIS_COMMON;
		pairs |= row->basis == BASIS_PAIRS;
		apart |= row->basis == BASIS_INDEPENDENT;
		fairness |= strstr(row->metric, ".jain") != NULL;
		spreads |= !isnan(row->spread);
	}
	fputs("\n", to);
	if (sides > 1)
		fprintf(to, "ratio: to %s.\n", comparison->baseline_label);
	if (fairness)
		fputs("jain: Jain's index of throughput over the finished members of a group: size "
		      "/ FCT of flows,\nbytes all-reduced / running time of jobs. Flows of "
		      "different sizes lower it even in a fair network.\n",
		      to);
	if (comparison_has_unfinished(comparison))
		fputs("finished: means and percentiles leave out what did not finish.\n", to);
	comparison_print_marks(comparison, to);
	if (common)
		fputs("in both: the same flows or jobs in both runs. The ratio covers those that "
		      "finished in both;\nif that leaves some out, the line below has the two "
		      "numbers of the ratio.\n",
		      to);
	if (pairs)
		fputs("pairs: runs of the same seed on both sides (common random numbers).\n", to);
	if (apart)
		fputs("unpaired: no seed is on both sides; the means are independent (Welch).\n",
		      to);
	if (spreads)
		fputs("spread: standard deviation among the flows, jobs or iterations of one run. "
		      "They share queues\nand random numbers: it is no error of the value.\n",
		      to);
	if (sides == seeds)
		fputs("One seed each: no intervals, and what is faster is unresolved. Runs that "
		      "differ in their seed\nalone are replications: give three or more, or a "
		      "sweep with \"replications\".\n",
		      to);
}

static size_t print_text(const struct comparison *comparison, double tolerance, FILE *to)
{
	const struct runs *runs = &comparison->runs;

	for (size_t i = 0; i < runs->count; i++)
		print_run(comparison, &runs->items[i], to);
	for (size_t s = 1; s < comparison->side_count; s++)
		print_difference(runs->items, comparison_side(comparison, s), to);
	fputc('\n', to);
	comparison_print(comparison, to);
	print_notes(comparison, to);
	return comparison_outside(comparison, tolerance, to);
}

static void json_run(struct json *json, const struct comparison *comparison, const struct run *run)
{
	char **warnings = summary_warnings(&run->summary);
	struct json_diff diff;

	json_open_object(json, NULL);
	json_string(json, "run", comparison_side(comparison, run->side)->label);
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
	diff = difference(comparison->runs.items, run);
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

static size_t print_json(const struct comparison *comparison, double tolerance, FILE *to)
{
	const struct runs *runs = &comparison->runs;
	struct json json;

	comparison_json_begin(&json, "runs");
	json_open_array(&json, "runs");
	for (size_t i = 0; i < runs->count; i++)
		json_run(&json, comparison, &runs->items[i]);
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
	return compare_labels_unfit(count, options);
}

static char *no_second(const struct comparison *comparison, const struct compare_options *options)
{
	if (comparison->side_count < 2 && !isnan(options->tolerance))
		return xasprintf("--tolerance needs a second run, of another scenario or program");
	return NULL;
}

static void name_label(struct comparison *comparison)
{
	comparison->label_count = 1;
	comparison->label_names = xcalloc(1, sizeof(*comparison->label_names));
	comparison->label_names[0] = "run";
}

enum compare_end compare_runs_read(const char *const *dirs, size_t count,
				   const struct compare_options *options,
				   struct comparison *comparison, char **error)
{
	struct names metrics = { 0 };
	enum compare_end end = COMPARE_ALIKE;

	*comparison = (struct comparison){ .form = options->form, .pivot = options->pivot };
	if ((*error = nonsense(count, options)))
		return COMPARE_USAGE;
	name_label(comparison);
	if (!runs_read(comparison, dirs, count, options, error))
		end = COMPARE_IO;
	else if ((*error = no_second(comparison, options)) ||
		 (*error = comparison_no_pivot(comparison)) ||
		 !choose_metrics(&metrics, &comparison->runs, options, error))
		end = COMPARE_USAGE;
	if (comparison->runs.count)
		comparison->baseline_label = comparison->runs.items->label;
	for (size_t i = 0; i < metrics.count && end == COMPARE_ALIKE; i++)
		if (!add_metric(comparison, metrics.items[i], options->margin, options->survivors,
				error))
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
	    (options->json ? print_json : print_text)(&comparison, options->tolerance, to) > 0)
		end = COMPARE_DIFFERS;
	comparison_release(&comparison);
	return end;
}
