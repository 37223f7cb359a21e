/* The values of a range or a log, exactly as they will be printed.
 *
 * Numbers are whole numbers of a decimal place, quantities whole numbers of their
 * base unit (ps, B, bps, packets), so that 0.2, 0.4, 0.6 are those and not
 * 0.6000000000000001. A log's inner values are rounded to three significant
 * digits in the unit of `from` ("31.9KB"), unless they are whole numbers of it
 * ("32KiB"); numbers between two whole numbers are rounded to whole numbers. */
#include "lab/sweep/plan_parts.h"

#include "base/fail.h"
#include "base/mem.h"
#include "base/units.h"
#include "conf/buf.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DECIMALS_MAX 15

enum amount_kind { AMOUNT_NUMBER, AMOUNT_TIME, AMOUNT_SIZE, AMOUNT_RATE, AMOUNT_PACKETS };

/* value / 10^decimals for a number, else `value` base units. */
struct amount {
	enum amount_kind kind;
	int64_t value;
	int decimals;
	int64_t unit; /* that it was written in, in base units */
};

static const enum unit_kind unit_kinds[] = {
	[AMOUNT_TIME] = UNIT_TIME,
	[AMOUNT_SIZE] = UNIT_SIZE,
	[AMOUNT_RATE] = UNIT_RATE,
};

static int64_t power_of_ten(int exponent)
{
	int64_t power = 1;

	while (exponent-- > 0)
		power *= 10;
	return power;
}

/* --- reading --- */

/* "1.5e-05" as JSON prints it -> 15 and six decimals. */
static bool read_number(double number, struct amount *amount)
{
	struct conf_buf text = { 0 };
	const char *p;
	int64_t value = 0;
	int decimals = 0;
	bool fraction = false, fits = true;

	conf_buf_add_json_number(&text, number);
	for (p = conf_buf_text(&text) + (number < 0); *p && *p != 'e'; p++) {
		if (*p == '.') {
			fraction = true;
			continue;
		}
		fits = fits && !__builtin_mul_overflow(value, (int64_t)10, &value) &&
		       !__builtin_add_overflow(value, (int64_t)(*p - '0'), &value);
		decimals += fraction;
	}
	if (*p == 'e')
		decimals -= (int)strtol(p + 1, NULL, 10);
	conf_buf_release(&text);
	if (!fits || decimals > DECIMALS_MAX || decimals < -DECIMALS_MAX)
		return false;
	for (; decimals < 0; decimals++)
		if (__builtin_mul_overflow(value, (int64_t)10, &value))
			return false;
	*amount = (struct amount){ AMOUNT_NUMBER, number < 0 ? -value : value, decimals, 1 };
	return true;
}

static bool read_packets(const char *text, struct amount *amount)
{
	size_t digits = strspn(text, "0123456789");

	if (!digits || digits > 15 || strcmp(text + digits + strspn(text + digits, " \t"), "pkt"))
		return false;
	*amount = (struct amount){ AMOUNT_PACKETS, strtoll(text, NULL, 10), 0, 1 };
	return true;
}

static bool read_quantity(const char *text, struct amount *amount)
{
	for (enum amount_kind kind = AMOUNT_TIME; kind <= AMOUNT_RATE; kind++) {
		uint64_t value, unit;
		char *one;

		if (unit_parse(unit_kinds[kind], text, &value) != UNIT_OK)
			continue;
		one = xasprintf("1%s", text + strspn(text, "0123456789. \t"));
		SIM_BUG_ON(unit_parse(unit_kinds[kind], one, &unit) != UNIT_OK);
		free(one);
		*amount = (struct amount){ kind, (int64_t)value, 0, (int64_t)unit };
		return true;
	}
	return read_packets(text, amount);
}

static bool read_bound(const char *json, struct amount *amount)
{
	cJSON *value = cJSON_Parse(json);
	bool good = false;

	if (cJSON_IsNumber(value))
		good = read_number(value->valuedouble, amount);
	else if (cJSON_IsString(value))
		good = read_quantity(value->valuestring, amount);
	cJSON_Delete(value);
	return good;
}

static bool check_bound(struct plan *plan, const char *json, const char *place, const char *key,
			struct amount *amount)
{
	if (read_bound(json, amount))
		return true;
	conf_error(plan->doc, plan_place(plan, place, key),
		   "found %s; allowed: a number (of at most 15 decimals), or a quantity with its "
		   "unit such as \"10us\", \"64KB\", \"10Gbps\", \"85pkt\"",
		   json);
	return false;
}

/* Numbers to the same decimal place. */
static bool align(struct amount *amounts, size_t count)
{
	int decimals = 0;

	for (size_t i = 0; i < count; i++)
		decimals = amounts[i].decimals > decimals ? amounts[i].decimals : decimals;
	for (size_t i = 0; i < count; i++) {
		if (__builtin_mul_overflow(amounts[i].value,
					   power_of_ten(decimals - amounts[i].decimals),
					   &amounts[i].value))
			return false;
		amounts[i].decimals = decimals;
	}
	return true;
}

/* All of one kind and to one decimal place; complains otherwise. */
static bool fit_together(struct plan *plan, struct amount *amounts, size_t count, const char *place)
{
	for (size_t i = 1; i < count; i++)
		if (amounts[i].kind != amounts[0].kind) {
			conf_error(plan->doc, place,
				   "numbers and quantities of different kinds do not mix");
			return false;
		}
	if (align(amounts, count))
		return true;
	conf_error(plan->doc, place, "the numbers have too many digits for exact steps");
	return false;
}

/* --- printing --- */

/* "WHOLE.FRACTION" without trailing zeros, FRACTION of so many digits. */
static char *print_decimal(uint64_t whole, uint64_t fraction, int digits, const char *behind)
{
	while (digits > 0 && fraction % 10 == 0) {
		fraction /= 10;
		digits--;
	}
	if (!digits)
		return xasprintf("%" PRIu64 "%s", whole, behind);
	return xasprintf("%" PRIu64 ".%0*" PRIu64 "%s", whole, digits, fraction, behind);
}

static char *print_number(int64_t value, int decimals)
{
	uint64_t size = value < 0 ? -(uint64_t)value : (uint64_t)value;
	uint64_t scale = (uint64_t)power_of_ten(decimals);
	char *text = print_decimal(size / scale, size % scale, decimals, ""), *negative;

	if (value >= 0)
		return text;
	negative = xasprintf("-%s", text);
	free(text);
	return negative;
}

/* Units that values are printed in, largest first; binary where `from` is. */
static const char *const spoken_units[][6] = {
	[AMOUNT_TIME] = { "s", "ms", "us", "ns", "ps" },
	[AMOUNT_SIZE] = { "TB", "GB", "MB", "KB", "B" },
	[AMOUNT_RATE] = { "Tbps", "Gbps", "Mbps", "Kbps", "bps" },
};
static const char *const binary_units[] = { "TiB", "GiB", "MiB", "KiB", "B", NULL };

/* In the largest unit that is not above the value and needs at most six decimals:
 * "31.9KB" rather than "31900B", which unit_format() prefers for being whole. */
static char *print_quantity(const struct amount *amount)
{
	bool binary = amount->kind == AMOUNT_SIZE && amount->unit > 1 &&
		      (amount->unit & (amount->unit - 1)) == 0;
	const char *const *unit = binary ? binary_units : spoken_units[amount->kind];

	for (; *unit; unit++) {
		char *one = xasprintf("1%s", *unit);
		uint64_t value = (uint64_t)amount->value, scale, rest;

		SIM_BUG_ON(unit_parse(unit_kinds[amount->kind], one, &scale) != UNIT_OK);
		free(one);
		rest = value % scale;
		if ((value < scale && unit[1]) || rest * 1000000 % scale != 0)
			continue; /* no overflow: rest is below 2^40 */
		return print_decimal(value / scale, rest * 1000000 / scale, 6, *unit);
	}
	return NULL; /* the last unit is the base unit */
}

static char *print_amount(const struct amount *amount)
{
	switch (amount->kind) {
	case AMOUNT_NUMBER:
		return print_number(amount->value, amount->decimals);
	case AMOUNT_PACKETS:
		return xasprintf("%" PRId64 "pkt", amount->value);
	case AMOUNT_TIME:
	case AMOUNT_SIZE:
	case AMOUNT_RATE:
		break;
	}
	return print_quantity(amount);
}

static struct value_list new_list(const struct amount *like, uint64_t count)
{
	return (struct value_list){ .labels = xcalloc(count, sizeof(char *)),
				    .quoted = like->kind != AMOUNT_NUMBER,
				    .count = count };
}

void value_list_release(struct value_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		free(list->labels[i]);
	free(list->labels);
}

/* --- range --- */

uint64_t range_count(struct plan *plan, const struct range_conf *conf, const char *place,
		     uint64_t most)
{
	struct amount amounts[3]; /* from, to, step */
	bool good = check_bound(plan, conf->from, place, "from", &amounts[0]);
	uint64_t count;

	good = check_bound(plan, conf->to, place, "to", &amounts[1]) && good;
	good = check_bound(plan, conf->step, place, "step", &amounts[2]) && good;
	if (!good || !fit_together(plan, amounts, 3, place))
		return 0;
	if (amounts[2].value <= 0) {
		conf_error(plan->doc, plan_place(plan, place, "step"), "a step is above 0");
		return 0;
	}
	if (amounts[1].value < amounts[0].value) {
		conf_error(plan->doc, place, "the axis is empty: \"to\" is below \"from\"");
		return 0;
	}
	count = ((uint64_t)amounts[1].value - (uint64_t)amounts[0].value) /
			(uint64_t)amounts[2].value +
		1;
	return count > most ? most + 1 : count;
}

struct value_list range_values(const struct range_conf *conf, uint64_t count)
{
	struct amount amounts[3];
	struct value_list list;

	SIM_BUG_ON(!read_bound(conf->from, &amounts[0]) || !read_bound(conf->to, &amounts[1]) ||
		   !read_bound(conf->step, &amounts[2]) || !align(amounts, 3));
	list = new_list(&amounts[0], count);
	for (uint64_t i = 0; i < count; i++) {
		struct amount value = amounts[0];

		value.value += (int64_t)i * amounts[2].value; /* at most `to` */
		list.labels[i] = print_amount(&value);
	}
	return list;
}

/* --- log --- */

static double factor_of(const struct log_conf *conf, const struct amount ends[2])
{
	if (conf->factor > 0)
		return conf->factor;
	return pow((double)ends[1].value / (double)ends[0].value, 1 / (double)(conf->points - 1));
}

uint64_t log_count(struct plan *plan, const struct log_conf *conf, const char *place, uint64_t most)
{
	struct amount ends[2];
	bool good = check_bound(plan, conf->from, place, "from", &ends[0]);
	double steps;

	good = check_bound(plan, conf->to, place, "to", &ends[1]) && good;
	if (!good || !fit_together(plan, ends, 2, place))
		return 0;
	if (!conf->points == !(conf->factor > 0)) {
		conf_error(plan->doc, place, "takes either \"points\" or \"factor\"");
		return 0;
	}
	if (ends[0].value <= 0) {
		conf_error(plan->doc, plan_place(plan, place, "from"),
			   "must be above 0: ratios are not defined below");
		return 0;
	}
	if (ends[1].value < ends[0].value || (ends[1].value == ends[0].value && conf->points)) {
		conf_error(plan->doc, place, "the axis is empty: \"to\" is not above \"from\"");
		return 0;
	}
	if (conf->points)
		return (uint64_t)conf->points > most ? most + 1 : (uint64_t)conf->points;
	steps = log((double)ends[1].value / (double)ends[0].value) / log(conf->factor);
	return steps >= (double)most ? most + 1 : (uint64_t)(steps + 1e-9) + 1;
}

/* Three significant digits, in units of `unit`. */
static int64_t three_digits(double value, int64_t unit)
{
	double in_unit = value / (double)unit;
	int exponent = (int)floor(log10(in_unit)) - 2; /* of the last of three digits */
	int64_t digits;

	if (exponent >= 0)
		return llround(in_unit / (double)power_of_ten(exponent)) * power_of_ten(exponent) *
		       unit;
	if (exponent < -DECIMALS_MAX)
		return llround(value);
	digits = llround(in_unit * (double)power_of_ten(-exponent));
	return llround((double)digits * (double)unit / (double)power_of_ten(-exponent));
}

/* The readable amount next to `value`. `whole`: a number that must be one. */
static int64_t round_amount(double value, const struct amount *like, bool whole)
{
	int64_t unit = like->kind == AMOUNT_NUMBER ? power_of_ten(like->decimals) : like->unit;
	double in_unit = value / (double)unit;

	if (whole || fabs(in_unit - round(in_unit)) <= 1e-9 * in_unit)
		return llround(in_unit) * unit;
	return three_digits(value, unit);
}

/* A number needs decimals for its rounded values: three digits of the smallest. */
static void add_decimals(struct amount ends[2])
{
	while (ends[0].kind == AMOUNT_NUMBER && ends[0].decimals < DECIMALS_MAX &&
	       ends[0].value < 1000 && ends[1].value < INT64_MAX / 10)
		for (int i = 0; i < 2; i++) {
			ends[i].value *= 10;
			ends[i].decimals++;
		}
}

struct value_list log_values(const struct log_conf *conf, uint64_t count)
{
	struct amount ends[2];
	struct value_list list;
	double factor;
	bool whole;

	SIM_BUG_ON(!read_bound(conf->from, &ends[0]) || !read_bound(conf->to, &ends[1]) ||
		   !align(ends, 2));
	whole = ends[0].kind == AMOUNT_PACKETS ||
		(ends[0].kind == AMOUNT_NUMBER && ends[0].decimals == 0 &&
		 (conf->points || conf->factor == floor(conf->factor)));
	if (!whole)
		add_decimals(ends);
	factor = factor_of(conf, ends);
	list = new_list(&ends[0], count);
	for (uint64_t i = 0; i < count; i++) {
		struct amount value = ends[0];

		if (i > 0)
			value.value = round_amount((double)ends[0].value * pow(factor, (double)i),
						   &ends[0], whole);
		if (conf->points && i + 1 == count)
			value.value = ends[1].value;
		list.labels[i] = print_amount(&value);
	}
	return list;
}
