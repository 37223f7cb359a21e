#include "data/json.h"

#include "base/fail.h"
#include "conf/json_text.h"
#include "data/number.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void put_line(struct json *json)
{
	conf_buf_add(&json->text, "\n");
	for (unsigned i = 0; i < json->depth; i++)
		conf_buf_add(&json->text, "  ");
}

/* Replaces each byte that is not UTF-8 by U+FFFD. */
static void put_quoted(struct json *json, const char *value)
{
	struct conf_buf text = { 0 };
	size_t left = strlen(value), good;

	while ((good = conf_utf8_mistake(value, left)) != CONF_NOWHERE) {
		conf_buf_add_bytes(&text, value, good);
		conf_buf_add(&text, "\xef\xbf\xbd");
		value += good + 1;
		left -= good + 1;
	}
	conf_buf_add(&text, value);
	conf_buf_add_json_string(&json->text, conf_buf_text(&text));
	conf_buf_release(&text);
}

/* Writes what stands before a value: comma, new line, key. */
static void begin(struct json *json, const char *key)
{
	if (json->depth == 0) {
		SIM_BUG_ON(key || json->text.length != 0);
		return;
	}
	/* values in objects have keys, others have none */
	SIM_BUG_ON((json->open[json->depth - 1].close == '}') != (key != NULL));
	if (json->open[json->depth - 1].used)
		conf_buf_add(&json->text, ",");
	json->open[json->depth - 1].used = true;
	put_line(json);
	if (key) {
		put_quoted(json, key);
		conf_buf_add(&json->text, ": ");
	}
}

static void open_level(struct json *json, const char *key, const char *opening, char closing)
{
	begin(json, key);
	SIM_BUG_ON(json->depth == JSON_DEPTH_MAX);
	conf_buf_add(&json->text, opening);
	json->open[json->depth].close = closing;
	json->open[json->depth].used = false;
	json->depth++;
}

static void close_level(struct json *json, char closing)
{
	SIM_BUG_ON(json->depth == 0 || json->open[json->depth - 1].close != closing);
	json->depth--;
	if (json->open[json->depth].used)
		put_line(json);
	conf_buf_add_bytes(&json->text, &closing, 1);
}

void json_init(struct json *json)
{
	*json = (struct json){ 0 };
}

char *json_finish(struct json *json)
{
	SIM_BUG_ON(json->depth != 0 || json->text.length == 0);
	conf_buf_add(&json->text, "\n");
	return conf_buf_take(&json->text);
}

void json_print(struct json *json, FILE *to)
{
	char *text = json_finish(json);

	fputs(text, to);
	free(text);
}

void json_open_object(struct json *json, const char *key)
{
	open_level(json, key, "{", '}');
}

void json_close_object(struct json *json)
{
	close_level(json, '}');
}

void json_open_array(struct json *json, const char *key)
{
	open_level(json, key, "[", ']');
}

void json_close_array(struct json *json)
{
	close_level(json, ']');
}

static void put(struct json *json, const char *key, const char *value)
{
	begin(json, key);
	conf_buf_add(&json->text, value);
}

void json_null(struct json *json, const char *key)
{
	put(json, key, "null");
}

void json_bool(struct json *json, const char *key, bool value)
{
	put(json, key, value ? "true" : "false");
}

void json_u64(struct json *json, const char *key, uint64_t value)
{
	char text[NUMBER_TEXT];

	number_u64(text, value);
	put(json, key, text);
}

void json_i64(struct json *json, const char *key, int64_t value)
{
	char text[NUMBER_TEXT];

	snprintf(text, sizeof(text), "%" PRId64, value);
	put(json, key, text);
}

void json_real(struct json *json, const char *key, double value)
{
	char text[NUMBER_TEXT];

	number_real(text, value);
	put(json, key, isfinite(value) ? text : "null");
}

void json_hex64(struct json *json, const char *key, uint64_t value)
{
	char text[NUMBER_TEXT];

	snprintf(text, sizeof(text), "\"%016" PRIx64 "\"", value);
	put(json, key, text);
}

void json_string(struct json *json, const char *key, const char *value)
{
	if (!value) {
		json_null(json, key);
		return;
	}
	begin(json, key);
	put_quoted(json, value);
}

void json_raw(struct json *json, const char *key, const char *text)
{
	size_t left;

	begin(json, key);
	left = strlen(text);
	while (left > 0 && text[left - 1] == '\n')
		left--;
	SIM_BUG_ON(left == 0);
	while (left > 0) { /* a newline cannot stand inside a JSON string */
		const char *newline = memchr(text, '\n', left);
		size_t length = !newline ? left : (size_t)(newline - text);

		conf_buf_add_bytes(&json->text, text, length);
		if (!newline)
			break;
		put_line(json);
		text = newline + 1;
		left -= length + 1;
	}
}
