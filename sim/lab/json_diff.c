#include "lab/json_diff.h"

#include "base/mem.h"
#include "base/plain.h"
#include "conf/buf.h"
#include "data/number.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_MAX 40 /* bytes */

char *json_diff_text(const cJSON *value, const char *absent)
{
	char number[NUMBER_TEXT];

	if (!value)
		return xstrdup(absent);
	if (cJSON_IsNumber(value)) { /* cJSON would drop the last digits */
		number_real(number, value->valuedouble);
		return xstrdup(number);
	}
	char *text = cJSON_PrintUnformatted(value);
	char *shown = strlen(text) <= TEXT_MAX
			      ? xstrdup(text)
			      : xasprintf("%.*s...", (int)plain_letter(text, TEXT_MAX - 3), text);

	cJSON_free(text);
	return shown;
}

static void add_member(struct json_diff *diff, const char *pointer, const char *key, const cJSON *a,
		       const cJSON *b)
{
	struct conf_buf longer = { 0 };

	conf_buf_add(&longer, pointer);
	conf_buf_add_step(&longer, key);
	json_diff_add(diff, conf_buf_text(&longer), a, b);
	conf_buf_release(&longer);
}

static void diff_objects(struct json_diff *diff, const char *pointer, const cJSON *a,
			 const cJSON *b)
{
	const cJSON *item;

	cJSON_ArrayForEach(item, a)
		add_member(diff, pointer, item->string, item,
			   cJSON_GetObjectItemCaseSensitive(b, item->string));
	cJSON_ArrayForEach(item, b)
		if (!cJSON_GetObjectItemCaseSensitive(a, item->string))
			add_member(diff, pointer, item->string, NULL, item);
}

static void diff_arrays(struct json_diff *diff, const char *pointer, const cJSON *a, const cJSON *b)
{
	const cJSON *x = a->child, *y = b->child;

	for (size_t i = 0; x || y; i++) {
		char *index = xasprintf("%zu", i);

		add_member(diff, pointer, index, x, y);
		free(index);
		x = x ? x->next : NULL;
		y = y ? y->next : NULL;
	}
}

static bool equal(const cJSON *a, const cJSON *b)
{
	if (cJSON_IsNumber(a) && cJSON_IsNumber(b))
		return a->valuedouble == b->valuedouble; /* cJSON_Compare() allows an epsilon */
	return a == b || cJSON_Compare(a, b, 1);
}

/* Whether `pointer` leads to an object whose members are matched by position. */
static bool goes_by_position(const struct json_diff *diff, const char *pointer)
{
	const char *last = strrchr(pointer, '/');

	return diff->by_position && last && !strcmp(last + 1, diff->by_position);
}

void json_diff_add(struct json_diff *diff, const char *pointer, const cJSON *a, const cJSON *b)
{
	bool objects = cJSON_IsObject(a) && cJSON_IsObject(b);

	if (objects && !goes_by_position(diff, pointer)) {
		diff_objects(diff, pointer, a, b);
	} else if (objects || /* by position: like an array */
		   (cJSON_IsArray(a) && cJSON_IsArray(b))) {
		diff_arrays(diff, pointer, a, b);
	} else if (!equal(a, b)) {
		diff->items = array_reserve(diff->items, diff->count, &diff->capacity,
					    sizeof(*diff->items));
		diff->items[diff->count++] = (struct json_difference){ xstrdup(pointer), a, b };
	}
}

void json_diff_release(struct json_diff *diff)
{
	for (size_t i = 0; i < diff->count; i++)
		free(diff->items[i].pointer);
	free(diff->items);
}
