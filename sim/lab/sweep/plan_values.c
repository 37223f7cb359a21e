/* The values of a range or a log, exactly as they will be printed.
 *
 * Quantities are whole numbers of their base unit (ps, B, bps, packets). Numbers are printed to 15
 * digits: 0.2 + 0.2 + 0.2 is printed as 0.6, not as 0.6000000000000001. The inner values of a log
 * are rounded to three significant digits in the unit of `from` ("31.9KB"), unless they are whole
 * numbers of that unit ("32KiB"); packets are always whole. Where both ends, and the factor if
 * given, are whole numbers without unit, inner values are rounded to whole numbers. */
#include "lab/sweep/plan_parts.h"

#include "base/fail.h"
#include "base/mem.h"
#include "base/units.h"

#include <cjson/cJSON.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DIGITS       15 /* decimal numbers of up to 15 digits survive in a double */
#define DECIMALS_MAX 15 /* digits behind the point that a bound may have */

enum amount_kind { AMOUNT_NUMBER, AMOUNT_TIME, AMOUNT_SIZE, AMOUNT_RATE, AMOUNT_PACKETS };

/* A number, or a quantity in base units. */
struct amount {
	enum amount_kind kind;
	double value;   /* rounded, if a quantity is above 2^53 */
	uint64_t whole; /* exact value of a quantity; 0 for a number */
	double unit;    /* size of the unit as written, in base units; 1 for a number */
};

static const enum unit_kind unit_kinds[] = {
	[AMOUNT_TIME] = UNIT_TIME,
	[AMOUNT_SIZE] = UNIT_SIZE,
	[AMOUNT_RATE] = UNIT_RATE,
};

/* --- printing --- */

/* Returns `digits` without trailing zeros in its fraction, followed by `behind`. */
static const char *print_trimmed(struct plan *plan, const char *digits, const char *behind)
{
	size_t length = strlen(digits);
	bool fraction = strchr(digits, '.');

	while (fraction && digits[length - 1] == '0')
		length--;
	if (fraction && digits[length - 1] == '.')
		length--;
	return conf_at(plan->doc, "%.*s%s", (int)length, digits, behind);
}

/* Prints `value` with as many decimals as `largest` has when printed with DIGITS digits. */
static const char *print_number(struct plan *plan, double value, double largest)
{
	int decimals = largest > 0 ? DIGITS - 1 - (int)floor(log10(largest)) : 0;

	decimals = decimals > 0 ? decimals : 0;
	value = fabs(value) < pow(10, -decimals) / 2 ? 0 : value; /* no "-0" */
	return print_trimmed(plan, conf_at(plan->doc, "%.*f", decimals, value), "");
}

/* The size of a unit in base units. */
static uint64_t unit_of(enum amount_kind kind, const char *name)
{
	char *one = xasprintf("1%s", name);
	uint64_t unit;

	SIM_BUG_ON(unit_parse(unit_kinds[kind], one, &unit) != UNIT_OK);
	free(one);
	return unit;
}

/* Units that values are printed in, largest first. Sizes written in a binary unit stay in one. */
static const char *const spoken_units[][6] = {
	[AMOUNT_TIME] = { "s", "ms", "us", "ns", "ps" },
	[AMOUNT_SIZE] = { "TB", "GB", "MB", "KB", "B" },
	[AMOUNT_RATE] = { "Tbps", "Gbps", "Mbps", "Kbps", "bps" },
};
static const char *const binary_units[] = { "TiB", "GiB", "MiB", "KiB", "B", NULL };

/* Prints in the largest unit that is not above the value and needs at most six decimals: "31.9KB".
 * (unit_format() would print "31900B", which is whole.) */
static const char *print_quantity(struct plan *plan, const struct amount *amount)
{
	uint64_t value = amount->whole, written = (uint64_t)amount->unit, rest;
	/* among units of size only KiB, MiB, ... are powers of 2 above 1 */
	bool binary = amount->kind == AMOUNT_SIZE && written > 1 && !(written & (written - 1));
	const char *const *unit = binary ? binary_units : spoken_units[amount->kind];

	for (; unit[1]; unit++) {
		uint64_t scale = unit_of(amount->kind, *unit);

		rest = value % scale * 1000000; /* the six decimals times `scale`; below 2^60 */
		if (value >= scale && rest % scale == 0)
			return print_trimmed(plan,
					     conf_at(plan->doc, "%" PRIu64 ".%06" PRIu64,
						     value / scale, rest / scale),
					     *unit);
	}
	return conf_at(plan->doc, "%" PRIu64 "%s", value, *unit);
}

/* `largest`: as in print_number(). */
static const char *print_amount(struct plan *plan, const struct amount *amount, double largest)
{
	if (amount->kind == AMOUNT_NUMBER)
		return print_number(plan, amount->value, largest);
	if (amount->kind == AMOUNT_PACKETS)
		return conf_at(plan->doc, "%" PRIu64 "pkt", amount->whole);
	return print_quantity(plan, amount);
}

/* --- reading --- */

/* False if the number has more than DECIMALS_MAX decimals. */
static bool read_number(double number, struct amount *amount)
{
	char text[64];
	int decimals = 0;

	while (snprintf(text, sizeof(text), "%.*f", decimals, number) > 0 &&
	       strtod(text, NULL) != number)
		if (++decimals > DECIMALS_MAX)
			return false;
	*amount = (struct amount){ .kind = AMOUNT_NUMBER, .value = number, .unit = 1 };
	return true;
}

static bool read_quantity(const char *text, struct amount *amount)
{
	size_t digits = strspn(text, "0123456789");
	uint64_t value;

	for (enum amount_kind kind = AMOUNT_TIME; kind <= AMOUNT_RATE; kind++) {
		if (unit_parse(unit_kinds[kind], text, &value) != UNIT_OK)
			continue;
		*amount = (struct amount){ kind, (double)value, value,
					   (double)unit_of(kind,
							   text + strspn(text, "0123456789. \t")) };
		return true;
	}
	if (!digits || digits > 15 || strcmp(text + digits + strspn(text + digits, " \t"), "pkt"))
		return false;
	value = strtoull(text, NULL, 10);
	*amount = (struct amount){ AMOUNT_PACKETS, (double)value, value, 1 };
	return true;
}

static bool read_bound(struct plan *plan, const char *json, const char *place, const char *key,
		       struct amount *amount)
{
	cJSON *value = cJSON_Parse(json);
	bool good = cJSON_IsNumber(value)   ? read_number(value->valuedouble, amount)
		    : cJSON_IsString(value) ? read_quantity(value->valuestring, amount)
					    : false;

	cJSON_Delete(value);
	if (!good)
		conf_error(plan->doc, plan_place(plan, place, key),
			   "found %s; allowed: a number (of at most 15 decimals), or a quantity "
			   "with its unit such as \"10us\", \"64KB\", \"10Gbps\", \"85pkt\"",
			   json);
	return good;
}

static bool of_one_kind(struct plan *plan, const struct amount *amounts, size_t count,
			const char *place)
{
	for (size_t i = 1; i < count; i++)
		if (amounts[i].kind != amounts[0].kind) {
			conf_error(plan->doc, place,
				   "numbers and quantities of different kinds cannot be mixed");
			return false;
		}
	return true;
}

/* Whether the numbers read back exactly when printed with the decimals for `largest`. */
static bool are_exact(struct plan *plan, const struct amount *amounts, size_t count, double largest)
{
	bool exact = true;

	for (size_t i = 0; i < count && amounts->kind == AMOUNT_NUMBER; i++)
		exact = exact && strtod(print_number(plan, amounts[i].value, largest), NULL) ==
					 amounts[i].value;
	return exact;
}

/* Makes a list with room for `count` labels, or without labels if `count` is above `max`. */
static struct value_list new_list(struct plan *plan, const struct amount *like, double count,
				  uint64_t max)
{
	struct value_list list = { .quoted = like->kind != AMOUNT_NUMBER,
				   .count = count > (double)max ? max + 1 : (uint64_t)count };

	if (list.count <= max)
		list.labels = conf_own(plan->doc, list.count, sizeof(char *));
	return list;
}

/* --- range --- */

/* How many values a range has. For numbers, 1e-9 makes up for rounding in the quotient. */
static double range_count(const struct amount *from, const struct amount *to,
			  const struct amount *step)
{
	if (from->kind == AMOUNT_NUMBER)
		return to->value < from->value
			       ? 0
			       : floor((to->value - from->value) / step->value + 1e-9) + 1;
	return to->whole < from->whole ? 0 : (double)((to->whole - from->whole) / step->whole) + 1;
}

struct value_list range_values(struct plan *plan, const struct range_conf *conf, const char *place,
			       uint64_t max)
{
	struct value_list list = { 0 };
	struct amount amounts[3], value;
	bool good = read_bound(plan, conf->from, place, "from", &amounts[0]);
	double largest, count = 0;

	good = read_bound(plan, conf->to, place, "to", &amounts[1]) && good;
	good = read_bound(plan, conf->step, place, "step", &amounts[2]) && good;
	if (!good || !of_one_kind(plan, amounts, 3, place))
		return list;
	largest = fmax(fabs(amounts[0].value), fabs(amounts[1].value));
	if (!are_exact(plan, amounts, 3, largest))
		conf_error(plan->doc, place, "the numbers have too many digits for exact steps");
	else if (amounts[2].value <= 0)
		conf_error(plan->doc, plan_place(plan, place, "step"), "a step must be above 0");
	else if (!(count = range_count(&amounts[0], &amounts[1], &amounts[2])))
		conf_error(plan->doc, place, "the axis is empty: \"to\" is below \"from\"");
	else
		list = new_list(plan, amounts, count, max);
	value = amounts[0];
	for (uint64_t i = 0; list.labels && i < list.count; i++) {
		value.value = amounts[0].value + (double)i * amounts[2].value;
		value.whole = amounts[0].whole + i * amounts[2].whole;
		list.labels[i] = print_amount(plan, &value, largest);
	}
	return list;
}

/* --- log --- */

/* Returns NULL, or what is wrong. *key is then the wrong key, or NULL for the log as a whole. */
static const char *log_mistake(const struct log_conf *conf, const struct amount ends[2],
			       const char **key)
{
	*key = NULL;
	if (!conf->points == !(conf->factor > 0)) /* both, or neither */
		return "give either \"points\" or \"factor\"";
	if (ends[0].value <= 0) {
		*key = "from";
		return "must be above 0: ratios are not defined below";
	}
	if (ends[1].value < ends[0].value || (ends[1].value == ends[0].value && conf->points))
		return "the axis is empty: \"to\" is not above \"from\"";
	return NULL;
}

/* Rounds `value` to three digits in the unit. A value that is a whole number of units stays. With
 * `whole`, rounds to a whole number of units instead. */
static double round_amount(double value, double unit, bool whole)
{
	double in_unit = value / unit;
	/* decimals that leave three digits; negative: zeros before the point */
	double digits = 2 - floor(log10(in_unit)), scale = pow(10, fabs(digits));

	if (whole || fabs(in_unit - round(in_unit)) <= 1e-9 * in_unit)
		return round(in_unit) * unit;
	return (digits > 0 ? round(in_unit * scale) / scale : round(in_unit / scale) * scale) *
	       unit;
}

/* Makes the labels: value i is the first one times factor^i, rounded. */
static void make_log(struct plan *plan, const struct log_conf *conf, const struct amount ends[2],
		     double factor, struct value_list *list)
{
	bool number = ends[0].kind == AMOUNT_NUMBER;
	bool whole = ends[0].kind == AMOUNT_PACKETS ||
		     (number && ends[0].value == floor(ends[0].value) &&
		      ends[1].value == floor(ends[1].value) &&
		      (conf->points || conf->factor == floor(conf->factor)));

	for (uint64_t i = 0; list->labels && i < list->count; i++) {
		struct amount value = ends[0]; /* the ends are not rounded */

		if (i > 0)
			value.value = round_amount(ends[0].value * pow(factor, (double)i),
						   ends[0].unit, whole);
		if (i > 0 && !number)
			value.whole = (uint64_t)round(value.value);
		/* rounding may lead beyond an end; a value that is then there twice is reported */
		if ((conf->points && i + 1 == list->count) || value.value > ends[1].value)
			value = ends[1];
		if (value.value < ends[0].value)
			value = ends[0];
		list->labels[i] = print_amount(plan, &value, value.value);
	}
}

struct value_list log_values(struct plan *plan, const struct log_conf *conf, const char *place,
			     uint64_t max)
{
	struct value_list list = { 0 };
	struct amount ends[2];
	bool good = read_bound(plan, conf->from, place, "from", &ends[0]);
	const char *mistake, *key;
	double ratio, count;

	good = read_bound(plan, conf->to, place, "to", &ends[1]) && good;
	if (!good || !of_one_kind(plan, ends, 2, place))
		return list;
	mistake = log_mistake(conf, ends, &key);
	if (mistake) {
		conf_error(plan->doc, key ? plan_place(plan, place, key) : place, "%s", mistake);
		return list;
	}
	ratio = ends[1].value / ends[0].value;
	count = conf->points ? (double)conf->points
			     : floor(log(ratio) / log(conf->factor) + 1e-9) + 1;
	list = new_list(plan, ends, count, max);
	list.unmet = conf->points || fabs(pow(conf->factor, count - 1) / ratio - 1) < 1e-9
			     ? NULL
			     : plan_label(plan, conf->to);
	make_log(plan, conf, ends, conf->points ? pow(ratio, 1 / (count - 1)) : conf->factor,
		 &list);
	return list;
}
