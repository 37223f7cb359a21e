#include "scenario/graph_names.h"

#include "base/mem.h"
#include "topo/graph.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define NAMES_MAX  (GRAPH_HOSTS_MAX + GRAPH_SWITCHES_MAX)
#define DIGITS_MAX 9 /* so that any number fits into a uint32_t */

/* The expanded beginning of a name. */
struct begun {
	char text[GRAPH_NAME_MAX + 1];
	size_t length;
};

static const char *append(struct begun *name, const char *text)
{
	size_t length = strlen(text);

	if (name->length + length > GRAPH_NAME_MAX)
		return "a name has at most 23 characters";
	memcpy(name->text + name->length, text, length + 1);
	name->length += length;
	return NULL;
}

/* Reads a number. Sets *width to the number of digits if the first is 0, else to 0. Returns the end
 * of the number, or NULL if there is none. */
static const char *read_number(const char *text, uint32_t *number, int *width)
{
	const char *end = text;

	while (isdigit((unsigned char)*end))
		end++;
	if (end == text || end - text > DIGITS_MAX)
		return NULL;
	*number = (uint32_t)strtoul(text, NULL, 10);
	*width = *text == '0' ? (int)(end - text) : 0;
	return end;
}

static const char *expand(struct names *names, struct begun name, const char *text);

/* For each number from `from` to `to`: appends it to a copy of the name, padded with zeros to
 * `width`, and expands `rest`, the text after the bracket. */
static const char *expand_numbers(struct names *names, const struct begun *name, uint32_t from,
				  uint32_t to, int width, const char *rest)
{
	for (uint32_t i = from; i <= to; i++) {
		struct begun longer = *name;
		const char *mistake;
		char number[16];

		snprintf(number, sizeof(number), "%0*" PRIu32, width, i);
		mistake = append(&longer, number);
		if (!mistake)
			mistake = expand(names, longer, rest);
		if (mistake)
			return mistake;
	}
	return NULL;
}

/* `text` begins after the opening bracket. */
static const char *expand_bracket(struct names *names, const struct begun *name, const char *text)
{
	static const char form[] = "a range is of numbers, as in \"h[0-15]\" or \"h[0-3,8]\"";
	const char *close = strchr(text, ']');

	if (!close)
		return form;
	for (;; text++) { /* past the comma */
		uint32_t from, to;
		int width, unused; /* the first number of a range decides the width */
		const char *mistake;

		text = read_number(text, &from, &width);
		to = from;
		if (text && *text == '-')
			text = read_number(text + 1, &to, &unused);
		if (!text || (*text != ',' && *text != ']'))
			return form;
		if (to < from)
			return "a range goes up, as in \"h[0-15]\"";
		mistake = expand_numbers(names, name, from, to, width, close + 1);
		if (mistake || *text == ']')
			return mistake;
	}
}

/* Adds all names that begin with `name` and continue with an expansion of `text`. */
static const char *expand(struct names *names, struct begun name, const char *text)
{
	for (; *text && *text != '['; text++) {
		const char *mistake = append(&name, (char[]){ *text, '\0' });

		if (!isalnum((unsigned char)*text) && !strchr("-_.:/", *text))
			return "a name has letters, digits and - _ . : / only";
		if (mistake)
			return mistake;
	}
	if (*text)
		return expand_bracket(names, &name, text + 1);
	if (!name.length)
		return "a name is not empty";
	if (names->count == NAMES_MAX)
		return "stands for too many names, more than 131072";
	names->items =
		array_reserve(names->items, names->count, &names->capacity, sizeof(*names->items));
	names->items[names->count++] = xstrdup(name.text);
	return NULL;
}

const char *names_expand(struct names *names, const char *text)
{
	return expand(names, (struct begun){ .length = 0 }, text);
}

void names_release(struct names *names)
{
	for (size_t i = 0; i < names->count; i++)
		free(names->items[i]);
	free(names->items);
	*names = (struct names){ 0 };
}
