/* `--set /pointer=value`: changes the tree before anything is bound, so that an
 * override is validated exactly as if it stood in the file. */
#include "conf/doc.h"

#include <string.h>

struct change {
	struct conf_doc *doc;
	size_t number; /* from 1 */
	const char *pointer;
};

/* Reports a bad override. Always returns false. */
__attribute__((format(printf, 2, 3))) static bool complain(const struct change *c, const char *fmt,
							   ...)
{
	struct conf_place place = { .override_index = c->number, .offset = CONF_NOWHERE };
	va_list args;

	va_start(args, fmt);
	conf_reportv(c->doc, place, c->pointer, fmt, args);
	va_end(args);
	return false;
}

/* Parses the value as JSON; if it is not JSON, it is a string. */
static cJSON *parse_value(const struct change *c, const char *value)
{
	struct conf_syntax_error error;
	cJSON *item = conf_json_parse(value, strlen(value), &error);

	if (!item)
		item = conf_node(cJSON_CreateString(value));
	else
		conf_check_json(c->doc, item, value, c->number, c->pointer);
	conf_mark_set(item, c->number);
	return item;
}

/* Reads an index into a list. "-" gives the size of the list, which means "append". */
static bool list_index(const struct change *c, const cJSON *list, const char *text, size_t *index)
{
	size_t count = (size_t)cJSON_GetArraySize(list);

	if (!strcmp(text, "-")) {
		*index = count;
		return true;
	}
	return conf_array_index(text, count, index) ||
	       complain(c, "there is no item \"%s\" in a list of %zu (\"-\" appends one)", text,
			count);
}

static bool put_item(const struct change *c, cJSON *list, const char *text, cJSON *value)
{
	size_t index;

	if (!list_index(c, list, text, &index))
		return false;
	if (index < (size_t)cJSON_GetArraySize(list))
		cJSON_ReplaceItemInArray(list, (int)index, value);
	else
		cJSON_AddItemToArray(list, value);
	return true;
}

/* Puts `value` into `where` at this step. On false the caller still owns `value`. */
static bool put(const struct change *c, cJSON *where, const char *step, cJSON *value)
{
	if (cJSON_IsObject(where)) {
		cJSON_DeleteItemFromObjectCaseSensitive(where, step);
		cJSON_AddItemToObject(where, step, value);
		return true;
	}
	if (cJSON_IsArray(where))
		return put_item(c, where, step, value);
	return complain(c, "the parent of \"%s\" is no object or list", step);
}

/* The child at a step that is not the last. A missing child is created as an object. */
static cJSON *descend(const struct change *c, cJSON *where, const char *step)
{
	cJSON *child = NULL;
	size_t index;

	if (cJSON_IsObject(where)) {
		child = cJSON_GetObjectItemCaseSensitive(where, step);
	} else if (cJSON_IsArray(where)) {
		if (!list_index(c, where, step, &index))
			return NULL;
		child = cJSON_GetArrayItem(where, (int)index);
	}
	if (child)
		return child;
	child = conf_node(cJSON_CreateObject());
	conf_mark_set(child, c->number);
	if (put(c, where, step, child))
		return child;
	cJSON_Delete(child);
	return NULL;
}

static bool good_pointer(const struct change *c)
{
	size_t depth = 0;

	if (c->pointer[0] != '/')
		return complain(c, "a pointer starts with '/', such as /jobs/0/workers");
	if (conf_utf8_mistake(c->pointer, strlen(c->pointer)) != CONF_NOWHERE)
		return complain(c, "the pointer is not valid UTF-8");
	for (const char *p = c->pointer; *p; p++) {
		depth += *p == '/';
		if (*p == '~' && p[1] != '0' && p[1] != '1')
			return complain(c, "in a pointer ~0 stands for ~ and ~1 for /");
	}
	return depth <= CONF_MAX_DEPTH || complain(c, "the pointer is too deep");
}

static void apply(const struct change *c, const char *text)
{
	struct conf_buf step = { 0 };
	cJSON *where = c->doc->root;
	const char *rest = conf_pointer_step(c->pointer, &step);
	cJSON *value;

	while (where && *rest == '/') {
		where = descend(c, where, conf_buf_text(&step));
		rest = conf_pointer_step(rest, &step);
	}
	if (where) {
		value = parse_value(c, text);
		if (!put(c, where, conf_buf_text(&step), value))
			cJSON_Delete(value);
	}
	conf_buf_release(&step);
}

void conf_apply_override(struct conf_doc *doc, size_t number, const struct conf_override *set)
{
	struct change c = { .doc = doc, .number = number, .pointer = set->pointer };

	if (!good_pointer(&c))
		return;
	if (conf_utf8_mistake(set->value, strlen(set->value)) != CONF_NOWHERE)
		complain(&c, "the value is not valid UTF-8");
	else
		apply(&c, set->value);
}
