/* `inasim formula`, and the formulas in `inasim list`. */
#include "cli/cli.h"

#include "base/mem.h"
#include "base/units.h"
#include "formulas/formulas.h"
#include "data/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MANY 128 /* there are fewer formulas */

/* "15.5625 ms", "200 Melements/s", "0.64". */
static char *value_text(double value, const char *unit)
{
	static const char *const prefixes[] = { "p", "n", "u", "m", "", "k", "M", "G", "T", "P" };
	int at = 4; /* no prefix */

	if (!*unit || !strcmp(unit, "mm2"))
		return xasprintf("%.10g%s%s", value, *unit ? " " : "", unit);
	for (; fabs(value) >= 1000 && at < 9; at++)
		value /= 1000;
	for (; fabs(value) < 1 && fabs(value) > 0 && at > 0; at--)
		value *= 1000;
	return xasprintf("%.10g %s%s", value, prefixes[at], unit);
}

static const char *unit_of(enum formula_kind kind)
{
	static const char *const units[] = {
		[FORMULA_TIME] = "s", [FORMULA_SIZE] = "B", [FORMULA_RATE] = "bps",
		[FORMULA_WHOLE] = "", [FORMULA_REAL] = "",  [FORMULA_OCTETS] = "B",
	};

	return units[kind];
}

/* --- list formulas --- */

static void print_formula(const struct formula *formula)
{
	printf("  %-24s %s\n  %-24s of", formula->name, formula->help, "");
	for (const char *const *in = formula->inputs; *in; in++)
		printf(isnan(formula_input_find(*in)->fallback) ? " %s" : " [%s]", *in);
	printf("; %s%s\n  %-24s %s\n", *formula->unit ? "in " : "a number", formula->unit, "",
	       formula->source);
}

static void json_formula(struct json *json, const struct formula *formula)
{
	json_open_object(json, NULL);
	json_string(json, "name", formula->name);
	json_string(json, "help", formula->help);
	json_string(json, "unit", formula->unit);
	json_string(json, "source", formula->source);
	json_open_array(json, "inputs");
	for (const char *const *in = formula->inputs; *in; in++) {
		const struct formula_input *input = formula_input_find(*in);

		json_open_object(json, NULL);
		json_string(json, "name", input->name);
		json_string(json, "unit", unit_of(input->kind));
		json_string(json, "help", input->help);
		json_real(json, "default", input->fallback);
		json_close_object(json);
	}
	json_close_array(json);
	json_close_object(json);
}

int list_formulas(struct json *json)
{
	for (const struct formula *formula = formula_table; formula->name; formula++)
		if (json)
			json_formula(json, formula);
		else
			print_formula(formula);
	if (json)
		return EXIT_DONE;
	puts("  inputs, in brackets if they have a default:");
	for (const struct formula_input *input = formula_input_table; input->name; input++) {
		printf("    %-22s %s", input->name, input->help);
		if (!isnan(input->fallback))
			printf(" (%.10g%s)", input->fallback, unit_of(input->kind));
		putchar('\n');
	}
	return EXIT_DONE;
}

/* --- one formula --- */

/* NULL after a complaint. */
static const struct formula *find(const char *name)
{
	const char *names[MANY] = { 0 };
	const struct formula *formula = formula_find(name);

	if (formula)
		return formula;
	if (strchr(name, '=')) {
		complain("give the name of the formula before %s: formula NAME INPUT=VALUE...; see "
			 "inasim list formulas",
			 name);
		return NULL;
	}
	for (size_t i = 0; formula_table[i].name && i < MANY - 1; i++)
		names[i] = formula_table[i].name;
	complain_unknown("there is no formula", name, names, "; see inasim list formulas");
	return NULL;
}

/* Reads a quantity with its unit, or a plain number. False after a complaint. */
static bool read_value(const struct formula_input *input, const char *text, double *value)
{
	static const enum unit_kind kinds[] = { [FORMULA_TIME] = UNIT_TIME,
						[FORMULA_SIZE] = UNIT_SIZE,
						[FORMULA_RATE] = UNIT_RATE,
						[FORMULA_OCTETS] = UNIT_SIZE };
	bool only_digits = !text[strspn(text, "0123456789")];
	/* for octets the unit is optional */
	bool with_unit = *unit_of(input->kind) && !(input->kind == FORMULA_OCTETS && only_digits);
	uint64_t units = 0;
	char *end;

	if (with_unit) {
		const char *names = unit_names(kinds[input->kind]); /* that of 1 first */
		enum unit_error error = unit_parse(kinds[input->kind], text, &units);

		if (error == UNIT_FRACTION)
			complain("%s takes a whole number of %.*s; found \"%s\"", input->name,
				 (int)strcspn(names, ","), names, text);
		else if (error != UNIT_OK)
			complain("%s takes a number with a unit (%s); found \"%s\"", input->name,
				 names, text);
		if (error != UNIT_OK)
			return false;
		*value = input->kind == FORMULA_TIME ? seconds_of(units) : (double)units;
	} else {
		*value = strtod(text, &end);
		if (end == text || *end || !isfinite(*value)) {
			complain("%s takes a number; found \"%s\"", input->name, text);
			return false;
		}
	}
	if ((input->kind == FORMULA_WHOLE || input->kind == FORMULA_OCTETS) &&
	    *value != floor(*value)) {
		complain("%s takes a whole number; found \"%s\"", input->name, text);
		return false;
	}
	if (*value >= input->min && *value <= input->max)
		return true;
	complain("%s must be from %.10g to %.10g%s%s; found \"%s\"", input->name, input->min,
		 input->max, *unit_of(input->kind) ? " " : "", unit_of(input->kind), text);
	return false;
}

/* Reads NAME=VALUE into its place in *x. False after a complaint. */
static bool read_input(const struct formula *formula, const char *argument,
		       struct formula_inputs *x, bool *given)
{
	size_t length = strcspn(argument, "=");
	char *name = xstrndup(argument, length);
	const char *near = conf_suggest(name, formula->inputs);
	bool good = false;

	for (size_t i = 0; formula->inputs[i]; i++) {
		const struct formula_input *input = formula_input_find(formula->inputs[i]);

		if (strcmp(name, input->name) || !argument[length])
			continue;
		if (given[i])
			complain("%s is given twice", name);
		else
			good = read_value(input, argument + length + 1, formula_place(x, input));
		given[i] = true;
		free(name);
		return good;
	}
	if (!argument[length])
		complain("inputs are NAME=VALUE; found \"%s\"", argument);
	else
		complain("%s has no input \"%s\"%s%s%s", formula->name, name,
			 near ? " (did you mean \"" : "", near ? near : "", near ? "\"?)" : "");
	free(name);
	return false;
}

/* Fills in defaults. False, after a complaint, when an input without default is missing. */
static bool complete(const struct formula *formula, struct formula_inputs *x, const bool *given)
{
	bool good = true;

	for (size_t i = 0; formula->inputs[i]; i++) {
		const struct formula_input *input = formula_input_find(formula->inputs[i]);

		if (given[i])
			continue;
		*formula_place(x, input) = input->fallback;
		if (isnan(input->fallback)) {
			complain("%s needs %s=...: %s", formula->name, input->name, input->help);
			good = false;
		}
	}
	return good;
}

static void print_json(const struct formula *formula, struct formula_inputs *x, double value)
{
	struct json json;

	json_init(&json);
	json_open_object(&json, NULL);
	json_string(&json, "name", formula->name);
	json_real(&json, "value", value);
	json_string(&json, "unit", formula->unit);
	json_string(&json, "source", formula->source);
	json_open_object(&json, "inputs");
	for (const char *const *in = formula->inputs; *in; in++)
		json_real(&json, *in, *formula_place(x, formula_input_find(*in)));
	json_close_object(&json);
	json_close_object(&json);
	json_print(&json, stdout);
}

int verb_formula(const struct cli *cli)
{
	const struct formula *formula = find(cli->argv[0]);
	bool given[FORMULA_INPUTS] = { false }, good = formula;
	struct formula_inputs x = { 0 };
	double value;
	char *text;

	for (int i = 1; formula && i < cli->argc; i++)
		good = read_input(formula, cli->argv[i], &x, given) && good;
	if (!formula || !complete(formula, &x, given) || !good)
		return EXIT_USAGE;
	value = formula->value(&x);
	if (!isfinite(value)) {
		complain("%s has no value for these inputs%s%s", formula->name,
			 formula->premise ? ": " : "", formula->premise ? formula->premise : "");
		return EXIT_USAGE;
	}
	if (cli->json) {
		print_json(formula, &x, value);
		return EXIT_DONE;
	}
	text = value_text(value, formula->unit);
	printf("%s\n", text);
	free(text);
	return EXIT_DONE;
}
