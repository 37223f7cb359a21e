/* The rows of a comparison as text and as JSON, and which of them differ. */
#include "lab/compare/compare_parts.h"

#include "base/mem.h"
#include "data/metrics.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NUMBER 32 /* bytes of a number as text */

#define MARK_PARTIAL     "†"
#define MARK_SUBSTITUTED "‡"

struct compare_row *comparison_add(struct comparison *comparison, const char *metric)
{
	static const struct estimate nothing = { .value = NAN, .low = NAN, .high = NAN };
	struct compare_row *row;

	comparison->rows = array_reserve(comparison->rows, comparison->count, &comparison->capacity,
					 sizeof(*comparison->rows));
	row = &comparison->rows[comparison->count++];
	*row = (struct compare_row){ .metric = metric,
				     .labels = xcalloc(comparison->label_count + 1,
						       sizeof(*row->labels)),
				     .value = nothing,
				     .spread = NAN,
				     .baseline = NAN,
				     .ratio = nothing,
				     .paired = { NAN, NAN },
				     .difference = nothing };
	return row;
}

bool comparison_replicated(const struct comparison *comparison)
{
	bool replicated = false;

	for (size_t i = 0; i < comparison->count; i++) {
		const struct compare_row *row = &comparison->rows[i];

		replicated |= (row->basis == BASIS_PAIRS && row->ratio.n > 1) ||
			      (row->basis == BASIS_INDEPENDENT && row->ratio.n > 2);
	}
	return replicated;
}

char *comparison_verdict(const struct comparison *comparison, const struct compare_row *row)
{
	return verdict_words(&row->verdict, comparison->baseline_label,
			     row->labels[comparison->label_count - 1],
			     !strcmp(metric_unit(row->metric), "s"));
}

/* ---- Text ---- */

/* Four significant digits; whole numbers below 1e12 in full; "-" for NaN. May use `buffer`. */
static const char *number(char *buffer, double value)
{
	if (isnan(value))
		return "-";
	bool whole = value == floor(value) && fabs(value) < 1e12;

	snprintf(buffer, NUMBER, whole ? "%.0f" : "%.4g", value);
	return buffer;
}

static void add_interval(struct grid *grid, const struct estimate *e)
{
	char low[NUMBER], high[NUMBER];

	if (isnan(e->low))
		grid_add(grid, "%s", "");
	else
		grid_add(grid, "[%s, %s]", number(low, e->low), number(high, e->high));
}

/* Shows a symmetric interval as +- half its width, any other by its ends. */
static void add_half_width(struct grid *grid, const struct estimate *e)
{
	double half = estimate_half_width(e);

	if (!isnan(half))
		grid_add(grid, "+- %.3g", half);
	else
		add_interval(grid, e);
}

void comparison_add_basis(struct grid *grid, const struct compare_row *row)
{
	const struct estimate *r = &row->ratio;

	switch (row->basis) {
	case BASIS_NONE:
	case BASIS_QUOTIENT:
		grid_add(grid, "%s", "");
		return;
	case BASIS_COMMON:
		if (r->missing > 0)
			grid_add(grid, "%zu of %zu in both", r->n, r->n + r->missing);
		else
			grid_add(grid, "%zu in both", r->n);
		return;
	case BASIS_PAIRS:
		if (r->missing > 0)
			grid_add(grid, "%zu of %zu pairs", r->n, r->n + r->missing);
		else
			grid_add(grid, "%zu pair%s", r->n, r->n == 1 ? "" : "s");
		return;
	case BASIS_INDEPENDENT:
		grid_add(grid, "%s", "unpaired");
		return;
	}
}

void comparison_add_part(struct grid *grid, uint64_t part, uint64_t whole, bool known)
{
	if (known)
		grid_add(grid, "%" PRIu64 "/%" PRIu64, part, whole);
	else
		grid_add(grid, "%s", "");
}

/* `before`: the row above of the same metric, or NULL. */
static void add_row(struct grid *grid, const struct comparison *comparison,
		    const struct compare_row *row, const struct compare_row *before)
{
	char value[NUMBER], baseline[NUMBER];
	bool same = before; /* labels that repeat those above are left out, except the last */
	char *verdict;

	for (size_t i = 0; i < comparison->label_count; i++) {
		same = same && i + 1 < comparison->label_count &&
		       !strcmp(before->labels[i], row->labels[i]);
		grid_add(grid, "%s%s", i == 0 ? "  " : "", same ? "" : row->labels[i]);
	}
	comparison_add_part(grid, row->done, row->points, row->points);
	comparison_add_part(grid, row->finished, row->count, row->has_work);
	grid_add(grid, "%s%s%s", number(value, row->value.value), row->partial ? MARK_PARTIAL : "",
		 row->substituted ? MARK_SUBSTITUTED : "");
	if (row->same)
		grid_add(grid, "%s", "same");
	else
		add_half_width(grid, &row->value);
	if (isnan(row->spread))
		grid_add(grid, "%s", "");
	else
		grid_add(grid, "%.3g", row->spread);
	grid_add(grid, "%s", row->basis == BASIS_NONE ? "" : number(value, row->ratio.value));
	add_interval(grid, &row->ratio);
	grid_add(grid, "%s",
		 isnan(row->difference.value) ? "" : number(value, row->difference.value));
	add_half_width(grid, &row->difference);
	comparison_add_basis(grid, row);
	verdict = comparison_verdict(comparison, row);
	grid_add(grid, "%s", comparison_replicated(comparison) ? verdict : "");
	free(verdict);
	if (row->ratio.missing > 0 && !isnan(row->paired[0]))
		grid_line(grid, "      of both: %s / %s", number(value, row->paired[1]),
			  number(baseline, row->paired[0]));
}

static void add_header(struct grid *grid, const struct comparison *comparison)
{
	static const char *const names[] = { "value",      "95 %", "spread", "ratio",  "95 %",
					     "difference", "95 %", "over",   "verdict" };

	enum {
		INTERVAL_AT = 1,
		SPREAD_AT,
		RATIO_AT,
		RATIO_INTERVAL_AT,
		DIFFERENCE_AT,
		VERDICT_AT = 8
	};
	bool differences = false, ratios = false, spreads = false, intervals = false;
	bool points = false, work = false;

	for (size_t i = 0; i < comparison->count; i++) {
		const struct compare_row *row = &comparison->rows[i];

		points |= row->points > 0;
		work |= row->has_work;
		spreads |= !isnan(row->spread);
		intervals |= !isnan(row->value.low);
		differences |= !isnan(comparison->rows[i].difference.value);
		ratios |= comparison->rows[i].basis != BASIS_NONE;
	}
	for (size_t i = 0; i < comparison->label_count; i++)
		grid_add(grid, "%s%s", i == 0 ? "  " : "", comparison->label_names[i]);
	grid_add(grid, "%s", points ? "done" : "");
	grid_add(grid, "%s", work ? "finished" : "");
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		bool of_difference = i == DIFFERENCE_AT || i == DIFFERENCE_AT + 1;
		bool of_interval = i == INTERVAL_AT || i == RATIO_INTERVAL_AT;
		bool empty = (!differences && of_difference) || (!ratios && i >= RATIO_AT) ||
			     (!spreads && i == SPREAD_AT) || (!intervals && of_interval) ||
			     (i == VERDICT_AT && !comparison_replicated(comparison));

		grid_add(grid, "%s", empty ? "" : names[i]);
	}
}

void comparison_print(const struct comparison *comparison, FILE *to)
{
	struct grid *grid;

	if (comparison->form != GRID_TEXT || comparison->pivot) {
		comparison_print_table(comparison, to);
		return;
	}
	/* alignment of the columns of work and those in add_header(); the '\0' is copied, too */
	static const char numbers[] = "rrrlrrlrlll";
	char *alignment = xmalloc(comparison->label_count + sizeof(numbers));

	memset(alignment, 'l', comparison->label_count);
	memcpy(alignment + comparison->label_count, numbers, sizeof(numbers));
	grid = grid_new(alignment);
	free(alignment);
	add_header(grid, comparison);
	for (size_t i = 0; i < comparison->count; i++) {
		const struct compare_row *row = &comparison->rows[i], *before = NULL;

		if (i > 0 && !strcmp(row->metric, row[-1].metric))
			before = row - 1;
		else
			grid_line(grid, "%s", row->metric);
		add_row(grid, comparison, row, before);
	}
	grid_print(grid, GRID_TEXT, to);
	grid_free(grid);
}

bool comparison_has_unfinished(const struct comparison *comparison)
{
	for (size_t i = 0; i < comparison->count; i++)
		if (comparison->rows[i].has_work &&
		    comparison->rows[i].finished < comparison->rows[i].count)
			return true;
	return false;
}

void comparison_withhold(struct compare_row *row, bool baseline_partial)
{
	if ((!row->partial && !baseline_partial) || row->basis == BASIS_COMMON)
		return;
	row->ratio.value = row->ratio.low = row->ratio.high = NAN;
	row->difference.value = row->difference.low = row->difference.high = NAN;
	row->paired[0] = row->paired[1] = NAN;
	row->verdict.kind = VERDICT_UNFINISHED;
}

void comparison_print_marks(const struct comparison *comparison, FILE *to)
{
	bool partial = false, substituted = false;

	for (size_t i = 0; i < comparison->count; i++) {
		partial |= comparison->rows[i].partial;
		substituted |= comparison->rows[i].substituted;
	}
	if (partial)
		fputs(MARK_PARTIAL ": over survivors only, since work was refused, failed or left "
				   "unfinished; no ratio\nbut over what finished on both sides "
				   "(--survivors gives one).\n",
		      to);
	if (substituted)
		fputs(MARK_SUBSTITUTED ": some of the jobs ran as another scheme.\n", to);
}

/* ---- JSON ---- */

static void json_estimate(struct json *json, const char *key, const struct estimate *e)
{
	json_open_object(json, key);
	json_real(json, "value", e->value);
	json_real(json, "low", e->low);
	json_real(json, "high", e->high);
	json_u64(json, "n", e->n);
	json_u64(json, "missing", e->missing);
	json_close_object(json);
}

static void json_labels(struct json *json, const struct comparison *comparison,
			const struct compare_row *row)
{
	json_string(json, "metric", row->metric);
	json_open_object(json, "of");
	for (size_t i = 0; i < comparison->label_count; i++)
		json_string(json, comparison->label_names[i], row->labels[i]);
	json_close_object(json);
}

static void json_rows(struct json *json, const struct comparison *comparison)
{
	static const char *const bases[] = { [BASIS_NONE] = NULL,
					     [BASIS_QUOTIENT] = "quotient",
					     [BASIS_COMMON] = "common",
					     [BASIS_PAIRS] = "pairs",
					     [BASIS_INDEPENDENT] = "independent" };

	json_open_array(json, "rows");
	for (size_t i = 0; i < comparison->count; i++) {
		const struct compare_row *row = &comparison->rows[i];

		json_open_object(json, NULL);
		json_labels(json, comparison, row);
		if (row->has_work) {
			json_u64(json, "finished", row->finished);
			json_u64(json, "count", row->count);
		}
		if (row->points) {
			json_u64(json, "points_done", row->done);
			json_u64(json, "points", row->points);
		}
		json_bool(json, "partial", row->partial);
		json_bool(json, "substituted", row->substituted);
		json_estimate(json, "value", &row->value);
		if (!isnan(row->spread))
			json_real(json, "spread", row->spread);
		if (row->has_work || row->points)
			json_bool(json, "same", row->same);
		json_string(json, "basis", bases[row->basis]);
		if (row->basis != BASIS_NONE) {
			char *verdict;

			json_real(json, "baseline", row->baseline);
			json_estimate(json, "ratio", &row->ratio);
			if (row->ratio.missing > 0 && !isnan(row->paired[0])) {
				json_open_object(json, "paired");
				json_real(json, "baseline", row->paired[0]);
				json_real(json, "value", row->paired[1]);
				json_close_object(json);
			}
			json_bool(json, "excludes_1", estimate_excludes(&row->ratio, 1));
			verdict = comparison_verdict(comparison, row);
			json_string(json, "verdict", *verdict ? verdict : NULL);
			free(verdict);
			if (!isnan(row->difference.value))
				json_estimate(json, "difference", &row->difference);
		}
		json_close_object(json);
	}
	json_close_array(json);
}

/* ---- Tolerance ---- */

/* Whether a row leaves the tolerance. If the ratio has no value (the baseline is 0, or a number is
 * missing), the row leaves it unless both numbers are equal or both are missing. */
static bool outside(const struct compare_row *row, double tolerance)
{
	double a = row->baseline, b = row->value.value, ratio = row->ratio.value;

	if (row->basis == BASIS_NONE)
		return false;
	if (!isnan(ratio))
		return ratio < 1 - tolerance || ratio > 1 + tolerance;
	return a != b && !(isnan(a) && isnan(b));
}

/* Writes the rows that leave the tolerance to `json`, or as text to `to` if `json` is NULL. Returns
 * their number. */
static size_t put_outside(const struct comparison *comparison, double tolerance, FILE *to,
			  struct json *json)
{
	size_t count = 0;

	for (size_t i = 0; i < comparison->count; i++) {
		const struct compare_row *row = &comparison->rows[i];
		char value[NUMBER], baseline[NUMBER];

		if (!outside(row, tolerance))
			continue;
		count++;
		if (json) {
			json_open_object(json, NULL);
			json_labels(json, comparison, row);
			json_close_object(json);
			continue;
		}
		fprintf(to, "outside 1 +- %g: %s", tolerance, row->metric);
		for (size_t l = 0; l < comparison->label_count; l++)
			fprintf(to, ", %s %s", comparison->label_names[l], row->labels[l]);
		fprintf(to, ": %s, baseline %s\n", number(value, row->value.value),
			number(baseline, row->baseline));
	}
	return count;
}

size_t comparison_outside(const struct comparison *comparison, double tolerance, FILE *to)
{
	return isnan(tolerance) ? 0 : put_outside(comparison, tolerance, to, NULL);
}

/* ---- The whole as JSON ---- */

void comparison_json_begin(struct json *json, const char *kind)
{
	json_init(json);
	json_open_object(json, NULL);
	json_string(json, "kind", kind);
	json_real(json, "level", INFERENCE_LEVEL);
}

size_t comparison_json_end(struct json *json, const struct comparison *comparison, double tolerance,
			   FILE *to)
{
	size_t outside_count = 0;

	json_rows(json, comparison);
	if (!isnan(tolerance)) {
		json_real(json, "tolerance", tolerance);
		json_open_array(json, "outside");
		outside_count = put_outside(comparison, tolerance, to, json);
		json_close_array(json);
	}
	json_close_object(json);
	json_print(json, to);
	return outside_count;
}
