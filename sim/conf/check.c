#include "conf/doc.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct check {
	struct conf_doc *doc;
	const char *text;
	size_t override_index;
	struct conf_buf pointer; /* of the value being looked at */
};

__attribute__((format(printf, 3, 4))) static void complain(const struct check *c, size_t offset,
							   const char *fmt, ...)
{
	struct conf_place place = { .override_index = c->override_index, .offset = offset };
	va_list args;

	va_start(args, fmt);
	conf_reportv(c->doc, place, conf_buf_text(&c->pointer), fmt, args);
	va_end(args);
}

/* Refuses a number that a double cannot hold. Its node becomes cJSON_Invalid, so that there are no
 * further messages about it. */
static void check_number(const struct check *c, cJSON *item)
{
	size_t at = conf_json_value(c->text, item);
	const char *text = c->text + at;
	int length = (int)strspn(text, "-+.eE0123456789");
	int mantissa = (int)strcspn(text, "eE,]} \t\r\n");
	double value = item->valuedouble;
	bool integer = (int)strspn(text, "-0123456789") == length;

	if (isinf(value))
		complain(c, at, "the number %.*s is too large", length, text);
	else if (integer && fabs(value) > (double)CONF_LARGEST_EXACT)
		complain(c, at, "the integer %.*s is beyond 2^53 - 1", length, text);
	else if (value == 0 && (int)strspn(text, "-+.0") < mantissa) /* has a digit other than 0 */
		complain(c, at, "the number %.*s is too small", length, text);
	else
		return;
	item->type = cJSON_Invalid;
}

/* By name, then by place in the text: `valueint` is an offset (json_text.h). */
static int compare_keys(const void *a, const void *b)
{
	const cJSON *x = *(const cJSON *const *)a, *y = *(const cJSON *const *)b;
	int order = strcmp(x->string, y->string);

	return order != 0 ? order : (x->valueint > y->valueint) - (x->valueint < y->valueint);
}

static void complain_twice(struct check *c, const cJSON *again, const cJSON *first)
{
	struct conf_buf key = { 0 };
	size_t line = 0, column = 0, length = c->pointer.length;

	conf_buf_add_json_string(&key, again->string);
	conf_buf_add_step(&c->pointer, again->string);
	if (c->doc->message_count < CONF_MAX_MESSAGES) /* else the message is dropped */
		conf_position(c->text, (size_t)first->valueint, &line, &column);
	complain(c, (size_t)again->valueint,
		 "the key %s is given twice, first in line %zu, column %zu", conf_buf_text(&key),
		 line, column);
	conf_buf_cut(&c->pointer, length);
	conf_buf_release(&key);
}

static bool is_comment(const cJSON *item)
{
	return item->string && item->string[0] == '_';
}

/* Sorting brings equal keys together, in the order of the text. */
static void check_keys(struct check *c, const cJSON *object)
{
	size_t count = 0;
	const cJSON **keys = xcalloc((size_t)cJSON_GetArraySize(object) + 1, sizeof(*keys));

	for (const cJSON *child = object->child; child; child = child->next)
		if (!is_comment(child))
			keys[count++] = child;
	qsort(keys, count, sizeof(*keys), compare_keys);
	for (size_t i = 1, first = 0; i < count; i++)
		if (strcmp(keys[i]->string, keys[first]->string))
			first = i;
		else
			complain_twice(c, keys[i], keys[first]);
	free(keys);
}

static void check(struct check *c, cJSON *item)
{
	size_t length = c->pointer.length, index = 0;

	if (cJSON_IsNumber(item))
		check_number(c, item);
	if (cJSON_IsObject(item))
		check_keys(c, item);
	for (cJSON *child = item->child; child; child = child->next, index++) {
		if (is_comment(child))
			continue;
		if (child->string)
			conf_buf_add_step(&c->pointer, child->string);
		else
			conf_buf_addf(&c->pointer, "/%zu", index);
		check(c, child);
		conf_buf_cut(&c->pointer, length);
	}
}

void conf_check_json(struct conf_doc *doc, cJSON *root, const char *text, size_t override_index,
		     const char *pointer)
{
	struct check c = { .doc = doc, .text = text, .override_index = override_index };

	conf_buf_add(&c.pointer, pointer);
	check(&c, root);
	conf_buf_release(&c.pointer);
}
