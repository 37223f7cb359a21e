#include "conf/json_text.h"

#include "base/fail.h"
#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct conf_mark *conf_json_add_mark(struct conf_json *json)
{
	struct conf_mark *mark;

	json->marks = array_reserve(json->marks, json->mark_count, &json->mark_capacity,
				    sizeof(json->marks[0]));
	mark = &json->marks[json->mark_count++];
	*mark = (struct conf_mark){ .value = CONF_NOWHERE,
				    .key = CONF_NOWHERE,
				    .parent = CONF_NOWHERE };
	return mark;
}

static void find_lines(struct conf_json *json)
{
	size_t capacity = 0;

	for (size_t at = 0;;) {
		const char *end;

		json->lines = array_reserve(json->lines, json->line_count, &capacity,
					    sizeof(json->lines[0]));
		json->lines[json->line_count++] = at;
		end = memchr(json->text + at, '\n', json->length - at);
		if (end == NULL)
			break;
		at = (size_t)(end - json->text) + 1;
	}
}

void conf_json_position(const struct conf_json *json, size_t offset, size_t *line, size_t *column)
{
	size_t low = 0, high = json->line_count;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (json->lines[middle] <= offset)
			low = middle;
		else
			high = middle;
	}
	*line = low + 1;
	if (column == NULL)
		return;
	*column = 1;
	for (size_t i = json->lines[low]; i < offset; i++)
		*column += ((unsigned char)json->text[i] & 0xc0) != 0x80;
}

/* Bytes of the UTF-8 sequence at `p`, 0 when it is none (RFC 3629, with its
 * limits on overlong forms, surrogates and the end of Unicode). */
static size_t utf8_length(const unsigned char *p, size_t left)
{
	unsigned low = 0x80, high = 0xbf;
	size_t length;

	if (p[0] < 0x80)
		return 1;
	if (p[0] < 0xc2 || p[0] > 0xf4)
		return 0;
	length = p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;
	if (p[0] == 0xe0)
		low = 0xa0;
	else if (p[0] == 0xed)
		high = 0x9f;
	else if (p[0] == 0xf0)
		low = 0x90;
	else if (p[0] == 0xf4)
		high = 0x8f;
	if (length > left || p[1] < low || p[1] > high)
		return 0;
	for (size_t i = 2; i < length; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	return length;
}

size_t conf_utf8_mistake(const char *text, size_t length)
{
	for (size_t at = 0; at < length;) {
		size_t step = utf8_length((const unsigned char *)text + at, length - at);

		if (step == 0)
			return at;
		at += step;
	}
	return CONF_NOWHERE;
}

/* Gives each mark its node: both are in pre-order. */
static void match(struct conf_json *json, const cJSON *item, size_t *next)
{
	struct conf_mark *mark;

	SIM_BUG_ON(*next >= json->mark_count);
	mark = &json->marks[(*next)++];
	mark->item = item;
	if (mark->parent != CONF_NOWHERE)
		mark->comment = json->marks[mark->parent].comment;
	if (mark->key != CONF_NOWHERE && item->string[0] == '_')
		mark->comment = true;
	for (const cJSON *child = item->child; child != NULL; child = child->next)
		match(json, child, next);
}

bool conf_json_parse(struct conf_json *json, const char *text, size_t length,
		     struct conf_syntax_error *error)
{
	const char *end = text;
	size_t matched = 0;

	*json = (struct conf_json){ .text = text, .length = length };
	find_lines(json);
	if (!conf_json_scan(json, error))
		return false;
	json->root = cJSON_ParseWithLengthOpts(text, length + 1, &end, 1);
	if (json->root == NULL) { /* not known to happen after a successful scan */
		error->offset = (size_t)(end - text);
		snprintf(error->text, sizeof(error->text), "this is not valid JSON");
		return false;
	}
	match(json, json->root, &matched);
	SIM_BUG_ON(matched != json->mark_count);
	return true;
}

void conf_json_release(struct conf_json *json)
{
	cJSON_Delete(json->root);
	free(json->lines);
	free(json->marks);
	*json = (struct conf_json){ 0 };
}
