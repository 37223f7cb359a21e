#include "conf/doc.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct check {
	struct conf_doc *doc;
	struct conf_json *json;
	size_t override_index;
	const char *prefix;
};

static void add_pointer(const struct conf_json *json, size_t index, struct conf_buf *pointer)
{
	const struct conf_mark *mark = &json->marks[index];

	if (mark->parent == CONF_NOWHERE)
		return;
	add_pointer(json, mark->parent, pointer);
	if (mark->key != CONF_NOWHERE)
		conf_buf_add_step(pointer, mark->item->string);
	else
		conf_buf_addf(pointer, "/%zu", mark->index);
}

__attribute__((format(printf, 4, 5))) static void complain(const struct check *c, size_t index,
							   size_t offset, const char *fmt, ...)
{
	struct conf_place place = { .override_index = c->override_index, .offset = offset };
	struct conf_buf pointer = { 0 };
	va_list args;

	conf_buf_add(&pointer, c->prefix);
	add_pointer(c->json, index, &pointer);
	va_start(args, fmt);
	conf_reportv(c->doc, place, conf_buf_text(&pointer), fmt, args);
	va_end(args);
	conf_buf_release(&pointer);
}

/* A number that a double does not hold is not what the user wrote. */
static void check_number(const struct check *c, size_t index)
{
	struct conf_mark *mark = &c->json->marks[index];
	const char *text = c->json->text + mark->value;
	int length = (int)strspn(text, "-+.eE0123456789");
	int mantissa = (int)strcspn(text, "eE,]} \t\r\n");
	double value = mark->item->valuedouble;
	bool integer = (int)strspn(text, "-0123456789") == length;

	mark->bad = true;
	if (isinf(value))
		complain(c, index, mark->value, "the number %.*s is too large", length, text);
	else if (integer && fabs(value) >= 9007199254740992.0 &&
		 strncmp(text, "9007199254740992", (size_t)length) != 0 &&
		 strncmp(text, "-9007199254740992", (size_t)length) != 0)
		complain(c, index, mark->value, "the integer %.*s is beyond 2^53", length, text);
	else if (value == 0 && (int)strspn(text, "-+.0") < mantissa)
		complain(c, index, mark->value, "the number %.*s is too small", length, text);
	else
		mark->bad = false;
}

static int compare_keys(const void *a, const void *b)
{
	const struct conf_mark *x = *(const struct conf_mark *const *)a;
	const struct conf_mark *y = *(const struct conf_mark *const *)b;
	int order;

	if (x->parent != y->parent)
		return x->parent < y->parent ? -1 : 1;
	order = strcmp(x->item->string, y->item->string);
	if (order != 0)
		return order;
	return (x->key > y->key) - (x->key < y->key);
}

static void complain_twice(const struct check *c, const struct conf_mark *again,
			   const struct conf_mark *first)
{
	struct conf_buf key = { 0 };
	size_t line = 0, column = 0;

	conf_buf_add_json_string(&key, again->item->string);
	if (c->doc->message_count < CONF_MAX_MESSAGES) /* else nobody will see it */
		conf_json_position(c->json, first->key, &line, &column);
	complain(c, (size_t)(again - c->json->marks), again->key,
		 "the key %s is given twice, first in line %zu, column %zu", conf_buf_text(&key),
		 line, column);
	conf_buf_release(&key);
}

/* Sorting brings equal keys of one object together, in the order of the text. */
static void check_keys(const struct check *c)
{
	struct conf_json *json = c->json;
	const struct conf_mark **keys = xcalloc(json->mark_count + 1, sizeof(*keys));
	size_t count = 0;

	for (size_t i = 0; i < json->mark_count; i++)
		if (json->marks[i].key != CONF_NOWHERE && !json->marks[i].comment)
			keys[count++] = &json->marks[i];
	qsort(keys, count, sizeof(*keys), compare_keys);
	for (size_t i = 1, first = 0; i < count; i++) {

		if (keys[i]->parent != keys[first]->parent ||
		    strcmp(keys[i]->item->string, keys[first]->item->string) != 0) {
			first = i;
			continue;
		}
		complain_twice(c, keys[i], keys[first]);
	}
	free(keys);
}

void conf_check_json(struct conf_doc *doc, struct conf_json *json, size_t override_index,
		     const char *prefix)
{
	struct check c = {
		.doc = doc, .json = json, .override_index = override_index, .prefix = prefix
	};

	for (size_t i = 0; i < json->mark_count; i++)
		if (cJSON_IsNumber(json->marks[i].item) && !json->marks[i].comment)
			check_number(&c, i);
	check_keys(&c);
}
