#include "conf/doc.h"

#include "base/fail.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static int compare_addresses(const void *a, const void *b)
{
	uintptr_t x = (uintptr_t)((const struct conf_mark *)a)->item;
	uintptr_t y = (uintptr_t)((const struct conf_mark *)b)->item;

	return (x > y) - (x < y);
}

void conf_sort_marks(struct conf_doc *doc)
{
	struct conf_json *json = &doc->json;

	if (json->mark_count > 0)
		qsort(json->marks, json->mark_count, sizeof(json->marks[0]), compare_addresses);
	doc->marks_sorted = true;
}

struct conf_mark *conf_mark_of(const struct conf_doc *doc, const cJSON *item)
{
	struct conf_mark wanted = { .item = item };

	SIM_BUG_ON(!doc->marks_sorted);
	return bsearch(&wanted, doc->json.marks, doc->json.mark_count, sizeof(wanted),
		       compare_addresses);
}

struct conf_place conf_place_of(const struct conf_doc *doc, const cJSON *item, bool key)
{
	const struct conf_mark *mark = conf_mark_of(doc, item);

	SIM_BUG_ON(mark == NULL);
	return (struct conf_place){
		.override_index = mark->override_index,
		.offset = key && mark->key != CONF_NOWHERE ? mark->key : mark->value,
	};
}

const char *conf_pointer_step(const char *pointer, struct conf_buf *step)
{
	conf_buf_cut(step, 0);
	for (pointer++; *pointer != '\0' && *pointer != '/'; pointer++) {
		if (*pointer != '~') {
			conf_buf_add_bytes(step, pointer, 1);
			continue;
		}
		pointer++;
		if (*pointer != '0' && *pointer != '1')
			return NULL;
		conf_buf_add(step, *pointer == '0' ? "~" : "/");
	}
	return pointer;
}

bool conf_array_index(const char *text, size_t count, size_t *index)
{
	size_t value = 0;

	if (*text == '\0' || (text[0] == '0' && text[1] != '\0'))
		return false;
	for (; *text != '\0'; text++) {
		if (*text < '0' || *text > '9' || value > count)
			return false;
		value = value * 10 + (size_t)(*text - '0');
	}
	*index = value;
	return value < count;
}

static const cJSON *child_of(const cJSON *item, const char *step)
{
	const cJSON *child = item->child;
	size_t index;

	if (cJSON_IsObject(item))
		return cJSON_GetObjectItemCaseSensitive(item, step);
	if (!cJSON_IsArray(item) || !conf_array_index(step, SIZE_MAX / 16, &index))
		return NULL;
	while (child != NULL && index-- > 0)
		child = child->next;
	return child;
}

struct conf_place conf_place_of_pointer(const struct conf_doc *doc, const char *pointer)
{
	const cJSON *item = doc->json.root;
	struct conf_buf step = { 0 };

	if (item == NULL || !doc->marks_sorted)
		return (struct conf_place){ .offset = CONF_NOWHERE };
	while (pointer != NULL && *pointer == '/') {
		const cJSON *child;

		pointer = conf_pointer_step(pointer, &step);
		if (pointer == NULL)
			break;
		child = child_of(item, conf_buf_text(&step));
		if (child == NULL)
			break;
		item = child;
	}
	conf_buf_release(&step);
	return conf_place_of(doc, item, false);
}
