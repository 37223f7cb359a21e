#include "cli/crosscheck.h"

#include "base/mem.h"

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

static double bound_of(const struct crosscheck_report *report, const struct crosscheck *check,
		       const struct outcome_item *item)
{
	const struct promise *promise = &promises[check->kind];

	if (!isnan(report->tolerance))
		return item->what == OUTCOME_END ? INFINITY : report->tolerance;
	return item->what == OUTCOME_END ? promise->end : promise->each;
}

static bool item_kept(const struct crosscheck_report *report, const struct crosscheck *check,
		      const struct outcome_item *item)
{
	double bound = bound_of(report, check, item);

	return isinf(bound) || promise_holds(item->difference, bound);
}

static bool closed_kept(const struct crosscheck *check)
{
	return isnan(check->closed_s) || promise_holds(check->closed_difference, CLOSED_FORM_BOUND);
}

/* --- one scenario --- */

/* What has not finished has no time, and no difference. */
static void print_seconds(double value_s)
{
	if (isnan(value_s))
		printf(" %13s", "-");
	else
		printf(" %11.6f s", value_s);
}

static void print_difference(double difference)
{
	if (isnan(difference))
		printf(" %10s", "-");
	else
		printf(" %+8.2f %%", 100 * difference);
}

static void print_check(const struct crosscheck_report *report, const struct crosscheck *check)
{
	printf("%s: %s\n", check->path, promises[check->kind].kind);
	printf("  %-28s %13s %13s %10s\n", "", "packet", "fluid", "difference");
	for (size_t i = 0; i < check->item_count; i++) {
		const struct outcome_item *item = &check->items[i];
		double bound = bound_of(report, check, item);

		printf("  %-28s", item->name);
		print_seconds(item->packet_s);
		print_seconds(item->fluid_s);
		print_difference(item->difference);
		if (!isinf(bound))
			printf("  %s %.2g %%",
			       item_kept(report, check, item) ? "within" : "BROKEN: promised",
			       100 * bound);
		putchar('\n');
	}
	if (!isnan(check->closed_s)) {
		printf("  %-28s %13s", "closed form", "");
		print_seconds(check->closed_s);
		if (isnan(check->closed_difference))
			printf(" %8s", "-");
		else
			printf(" %+8.1e", check->closed_difference);
		printf("  %s %.0e\n", closed_kept(check) ? "within" : "BROKEN: promised",
		       CLOSED_FORM_BOUND);
	}
}

static void json_check(struct crosscheck_report *report, const struct crosscheck *check)
{
	struct json *json = &report->json;
	static const char *const whats[] = {
		[OUTCOME_JOB] = "job", [OUTCOME_FLOWS] = "flows", [OUTCOME_END] = "end"
	};

	json_open_object(json, NULL);
	json_string(json, "scenario", check->path);
	json_string(json, "kind", promises[check->kind].kind);
	json_open_array(json, "items");
	for (size_t i = 0; i < check->item_count; i++) {
		const struct outcome_item *item = &check->items[i];

		json_open_object(json, NULL);
		json_string(json, "what", whats[item->what]);
		json_string(json, "name", item->name);
		json_real(json, "packet_s", item->packet_s);
		json_real(json, "fluid_s", item->fluid_s);
		json_real(json, "difference", item->difference);
		json_real(json, "promised", bound_of(report, check, item));
		json_bool(json, "kept", item_kept(report, check, item));
		json_close_object(json);
	}
	json_close_array(json);
	json_real(json, "closed_form_s", check->closed_s);
	json_real(json, "closed_form_difference", check->closed_difference);
	json_bool(json, "closed_form_kept", closed_kept(check));
	json_close_object(json);
}

/* --- all of a kind --- */

static void sum_item(struct crosscheck_report *report, const struct crosscheck *check,
		     const struct outcome_item *item)
{
	struct crosscheck_sum *sum = &report->kinds[check->kind];
	double magnitude = fabs(item->difference);

	sum->broken += !item_kept(report, check, item);
	if (item->what == OUTCOME_END || isnan(magnitude))
		return;
	sum->magnitudes = array_reserve(sum->magnitudes, sum->count, &sum->capacity,
					sizeof(*sum->magnitudes));
	sum->magnitudes[sum->count++] = magnitude;
	sum->signed_sum += item->difference;
	if (sum->worst_name && magnitude <= fabs(sum->worst))
		return;
	free(sum->worst_name);
	sum->worst = item->difference;
	sum->worst_name = xasprintf("%s, %s", check->path, item->name);
}

static double mean_of(const struct crosscheck_sum *sum)
{
	return gsl_stats_mean(sum->magnitudes, 1, sum->count);
}

/* A mean of few says little. */
static bool mean_kept(const struct crosscheck_sum *sum, const struct promise *promise)
{
	return isinf(promise->mean) || sum->count < MEAN_OF_LEAST ||
	       promise_holds(mean_of(sum), promise->mean);
}

/* Sorted for it. */
static double quantile_of(const struct crosscheck_sum *sum, double p)
{
	return gsl_stats_quantile_from_sorted_data(sum->magnitudes, 1, sum->count, p);
}

static void print_sum(const struct crosscheck_sum *sum, const struct promise *promise)
{
	printf("\n%s: %zu scenarios, %zu jobs and groups of flows\n  why: %s\n", promise->kind,
	       sum->scenarios, sum->count, promise->reason);
	printf("  magnitude of differences: mean %.2f %%, median %.2f %%, 90 %% below %.2f %%\n",
	       100 * mean_of(sum), 100 * quantile_of(sum, 0.5), 100 * quantile_of(sum, 0.9));
	printf("  mean with sign %+.2f %%, worst %+.2f %% (%s)\n",
	       100 * sum->signed_sum / (double)sum->count, 100 * sum->worst, sum->worst_name);
	if (!isinf(promise->mean) && sum->count >= MEAN_OF_LEAST)
		printf("  mean: %s %.2g %%\n",
		       mean_kept(sum, promise) ? "within" : "BROKEN: promised",
		       100 * promise->mean);
	if (sum->broken)
		printf("  %zu promises BROKEN\n", sum->broken);
}

static void json_sum(struct json *json, const struct crosscheck_sum *sum,
		     const struct promise *promise)
{
	json_open_object(json, NULL);
	json_string(json, "kind", promise->kind);
	json_string(json, "reason", promise->reason);
	json_u64(json, "scenarios", sum->scenarios);
	json_u64(json, "items", sum->count);
	json_real(json, "mean", mean_of(sum));
	json_real(json, "mean_promised", promise->mean);
	json_bool(json, "mean_kept", mean_kept(sum, promise));
	json_real(json, "mean_signed", sum->signed_sum / (double)sum->count);
	json_real(json, "p50", quantile_of(sum, 0.5));
	json_real(json, "p90", quantile_of(sum, 0.9));
	json_real(json, "worst", sum->worst);
	json_string(json, "worst_of", sum->worst_name);
	json_u64(json, "broken", sum->broken);
	json_close_object(json);
}

/* --- the report --- */

void crosscheck_report_open(struct crosscheck_report *report, const struct cli *cli,
			    double tolerance)
{
	*report = (struct crosscheck_report){ .as_json = cli->json,
					      .quiet = cli->quiet,
					      .tolerance = tolerance };
	if (!cli->json)
		return;
	json_init(&report->json);
	json_open_object(&report->json, NULL);
	json_open_array(&report->json, "scenarios");
}

void crosscheck_report_add(struct crosscheck_report *report, const struct crosscheck *check)
{
	struct crosscheck_sum *sum = &report->kinds[check->kind];

	sum->scenarios++;
	sum->broken += !closed_kept(check);
	for (size_t i = 0; i < check->item_count; i++)
		sum_item(report, check, &check->items[i]);
	if (report->as_json)
		json_check(report, check);
	else if (!report->quiet)
		print_check(report, check);
	fflush(stdout);
}

static void close_json(struct crosscheck_report *report, bool kept)
{
	char *text;

	json_bool(&report->json, "kept", kept);
	json_close_object(&report->json);
	text = json_finish(&report->json);
	fputs(text, stdout);
	free(text);
}

bool crosscheck_report_close(struct crosscheck_report *report)
{
	bool kept = true;

	if (report->as_json) {
		json_close_array(&report->json);
		json_open_array(&report->json, "kinds");
	}
	for (size_t k = 0; k < CROSSCHECK_KINDS; k++) {
		struct crosscheck_sum *sum = &report->kinds[k];

		kept = kept && !sum->broken;
		if (sum->count) {
			gsl_sort(sum->magnitudes, 1, sum->count);
			kept = kept && mean_kept(sum, &promises[k]);
			if (report->as_json)
				json_sum(&report->json, sum, &promises[k]);
			else
				print_sum(sum, &promises[k]);
		}
		free(sum->magnitudes);
		free(sum->worst_name);
	}
	if (report->as_json) {
		json_close_array(&report->json);
		close_json(report, kept);
	}
	return kept;
}
