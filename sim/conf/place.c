#include "conf/doc.h"

#include <stdint.h>

/* `valueint` of an item of the file is its offset; of an item of a --set it is minus the number of
 * the --set. */
void conf_mark_set(cJSON *item, size_t number)
{
	item->valueint = -(int)number;
	for (cJSON *child = item->child; child; child = child->next)
		conf_mark_set(child, number);
}

struct conf_place conf_place_of(const struct conf_doc *doc, const cJSON *item, bool key)
{
	if (item->valueint < 0)
		return (struct conf_place){ .override_index = (size_t)-item->valueint };
	return (struct conf_place){ .offset = key ? (size_t)item->valueint
						  : conf_json_value(doc->text, item) };
}

size_t conf_line(const char *text, struct conf_spot *spot, size_t offset)
{
	for (; spot->offset < offset; spot->offset++)
		spot->newlines += text[spot->offset] == '\n';
	while (spot->offset > offset)
		spot->newlines -= text[--spot->offset] == '\n';
	return spot->newlines + 1;
}

const char *conf_position(const char *text, size_t offset, size_t *line, size_t *column)
{
	struct conf_spot spot = { 0 };
	size_t start = offset;

	*line = conf_line(text, &spot, offset);
	for (*column = 1; start > 0 && text[start - 1] != '\n'; start--)
		*column += !conf_utf8_continues(text[start - 1]);
	return text + start;
}

const char *conf_pointer_step(const char *pointer, struct conf_buf *step)
{
	conf_buf_cut(step, 0);
	for (pointer++; *pointer && *pointer != '/'; pointer++) {
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

	if (!*text || (text[0] == '0' && text[1]))
		return false;
	for (; *text; text++) {
		if (*text < '0' || *text > '9' || value > count) /* before it overflows */
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
	/* any index; with a count of SIZE_MAX the index could overflow */
	if (!cJSON_IsArray(item) || !conf_array_index(step, SIZE_MAX / 16, &index))
		return NULL;
	while (child && index-- > 0)
		child = child->next;
	return child;
}

struct conf_place conf_place_of_pointer(const struct conf_doc *doc, const char *pointer)
{
	const cJSON *item = doc->root;
	struct conf_buf step = { 0 };

	if (!item)
		return (struct conf_place){ .offset = CONF_NOWHERE };
	while (pointer && *pointer == '/') {
		const cJSON *child;

		pointer = conf_pointer_step(pointer, &step);
		if (!pointer)
			break;
		child = child_of(item, conf_buf_text(&step));
		if (!child)
			break;
		item = child;
	}
	conf_buf_release(&step);
	return conf_place_of(doc, item, false);
}
