#include "lab/figures/axis_scale.h"

#include "base/mem.h"
#include "base/units.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LABEL_LETTERS  8   /* a number with more letters is rounded */
#define FACTOR_MIN     1.6 /* least ratio of neighbours on a geometric axis: not 1, 2, 3 */
#define FACTOR_SPREAD  1.8 /* largest over smallest of these ratios: 1, 2, 5, 10 is geometric */
#define GEOMETRIC_FROM 3   /* fewest values: two have only one ratio */

enum kind { KIND_PLAIN, KIND_TIME, KIND_SIZE, KIND_RATE, KIND_PACKETS, KIND_NONE };

/* Reads a number that is followed by `suffix` and nothing else. */
static bool read_plain(const char *text, const char *suffix, double *value)
{
	char *end;

	if (!*text || !strchr("+-.0123456789", *text))
		return false;
	*value = strtod(text, &end);
	return end != text && !strcmp(end, suffix) && isfinite(*value);
}

static const struct {
	enum unit_kind unit;
	enum kind kind;
} units[] = { { UNIT_TIME, KIND_TIME }, { UNIT_SIZE, KIND_SIZE }, { UNIT_RATE, KIND_RATE } };

/* Reads a value in base units. KIND_NONE if it is not a number. */
static enum kind read_value(const char *text, double *value)
{
	uint64_t whole;

	if (read_plain(text, "", value))
		return KIND_PLAIN;
	if (read_plain(text, "pkt", value))
		return KIND_PACKETS;
	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++) {
		if (unit_parse(units[i].unit, text, &whole) != UNIT_OK)
			continue;
		*value = (double)whole;
		return units[i].kind;
	}
	return KIND_NONE;
}

/* Whether the values, two or more, are different numbers of one kind. */
static bool read_values(const struct sweep_axis *axis, double *at)
{
	enum kind kind = KIND_NONE;

	for (size_t i = 0; i < axis->count; i++) {
		enum kind found = read_value(axis->values[i], &at[i]);

		if (found == KIND_NONE || (i > 0 && found != kind))
			return false;
		kind = found;
		for (size_t k = 0; k < i; k++)
			if (at[k] == at[i])
				return false;
	}
	return axis->count > 1;
}

bool axis_is_named(const struct sweep_axis *axis)
{
	double *at = xcalloc(axis->count + 1, sizeof(*at));
	bool named = axis->count > 1 && !read_values(axis, at);

	free(at);
	return named;
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Whether sorted numbers are in nearly equal ratios (the constants above say how nearly). */
static bool is_geometric(const double *sorted, size_t count)
{
	double low = INFINITY, high = 0;

	if (count < GEOMETRIC_FROM || sorted[0] <= 0)
		return false;
	for (size_t i = 1; i < count; i++) {
		low = fmin(low, sorted[i] / sorted[i - 1]);
		high = fmax(high, sorted[i] / sorted[i - 1]);
	}
	return low >= FACTOR_MIN && high <= FACTOR_SPREAD * low;
}

void axis_scale_init(struct axis_scale *scale, const struct sweep_axis *axis)
{
	size_t count = axis->count;

	*scale = (struct axis_scale){ .axis = axis,
				      .at = xcalloc(count + 1, sizeof(double)),
				      .called = xcalloc(count + 1, sizeof(char *)) };
	scale->numeric = read_values(axis, scale->at);
	if (!scale->numeric) {
		axis_scale_as_labels(scale);
		return;
	}
	double *sorted = xcalloc(count, sizeof(*sorted));

	memcpy(sorted, scale->at, count * sizeof(*sorted));
	qsort(sorted, count, sizeof(*sorted), ascending);
	scale->geometric = is_geometric(sorted, count);
	if (sorted[0] == 0 && is_geometric(sorted + 1, count - 1))
		axis_scale_as_labels(scale);
	free(sorted);
}

void axis_scale_release(struct axis_scale *scale)
{
	free(scale->at);
	free(scale->called);
}

void axis_scale_as_labels(struct axis_scale *scale)
{
	scale->numeric = scale->geometric = false;
	for (size_t i = 0; i < scale->axis->count; i++)
		scale->at[i] = (double)i;
}

const char *axis_scale_label(const struct axis_scale *scale, size_t level, char *buffer)
{
	const char *text = scale->axis->values[level];
	double value;
	enum kind kind = read_value(text, &value);

	if (scale->called[level])
		return scale->called[level];
	if (kind == KIND_NONE || strlen(text) <= LABEL_LETTERS)
		return text;
	snprintf(buffer, AXIS_LABEL, "%.3g%s", value, kind == KIND_PACKETS ? "pkt" : "");
	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (units[i].kind == kind) /* from the rounded number in the buffer */
			unit_format(units[i].unit, (uint64_t)strtod(buffer, NULL), buffer,
				    AXIS_LABEL);
	return buffer;
}
