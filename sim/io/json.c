#include "io/json.h"

#include "base/fail.h"
#include "base/mem.h"
#include "io/number.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void put(struct json *json, const char *text, size_t length)
{
	if (json->length + length + 1 > json->capacity) {
		json->capacity = 2 * (json->length + length + 1);
		json->text = xrealloc(json->text, json->capacity, 1);
	}
	memcpy(json->text + json->length, text, length);
	json->length += length;
	json->text[json->length] = '\0';
}

static void put_text(struct json *json, const char *text)
{
	put(json, text, strlen(text));
}

static void put_line(struct json *json)
{
	put_text(json, "\n");
	for (unsigned i = 0; i < json->depth; i++)
		put_text(json, "  ");
}

/* Length of the UTF-8 sequence at `s` (RFC 3629), 0 if it is none. */
static size_t utf8_length(const unsigned char *s)
{
	size_t length = s[0] < 0x80 ? 1 : s[0] < 0xc2 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
	if (s[0] > 0xf4)
		return 0;
	for (size_t i = 1; i < length; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	bool overlong = (s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xf0 && s[1] < 0x90);
	bool surrogate = s[0] == 0xed && s[1] >= 0xa0;
	bool too_large = s[0] == 0xf4 && s[1] >= 0x90;
	return overlong || surrogate || too_large ? 0 : length;
}

static void put_escape(struct json *json, unsigned char c)
{
	static const char *const escapes[] = {
		['\b'] = "\\b", ['\t'] = "\\t", ['\n'] = "\\n",  ['\f'] = "\\f",
		['\r'] = "\\r", ['"'] = "\\\"", ['\\'] = "\\\\",
	};
	if (c < sizeof escapes / sizeof *escapes && escapes[c] != NULL) {
		put_text(json, escapes[c]);
		return;
	}
	char text[8];
	snprintf(text, sizeof text, "\\u%04x", c);
	put_text(json, text);
}

static void put_quoted(struct json *json, const char *value)
{
	put_text(json, "\"");
	for (const unsigned char *s = (const unsigned char *)value; *s != '\0';) {
		size_t length = utf8_length(s);
		if (length == 0)
			put_text(json, "\xef\xbf\xbd");
		else if (*s < 0x20 || *s == 0x7f || *s == '"' || *s == '\\')
			put_escape(json, *s);
		else
			put(json, (const char *)s, length);
		s += length == 0 ? 1 : length;
	}
	put_text(json, "\"");
}

/* What stands before a value: comma, new line, key. */
static void begin(struct json *json, const char *key)
{
	if (json->depth == 0) {
		SIM_BUG_ON(key != NULL || json->length != 0);
		return;
	}
	SIM_BUG_ON((json->open[json->depth - 1].close == '}') != (key != NULL));
	if (json->open[json->depth - 1].used)
		put_text(json, ",");
	json->open[json->depth - 1].used = true;
	put_line(json);
	if (key != NULL) {
		put_quoted(json, key);
		put_text(json, ": ");
	}
}

static void open_level(struct json *json, const char *key, const char *opening, char closing)
{
	begin(json, key);
	SIM_BUG_ON(json->depth == JSON_DEPTH_MAX);
	put_text(json, opening);
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
	put(json, &closing, 1);
}

void json_init(struct json *json)
{
	*json = (struct json){ 0 };
}

void json_release(struct json *json)
{
	free(json->text);
	json_init(json);
}

char *json_finish(struct json *json)
{
	SIM_BUG_ON(json->depth != 0 || json->length == 0);
	put_text(json, "\n");
	char *text = json->text;
	json_init(json);
	return text;
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

void json_null(struct json *json, const char *key)
{
	begin(json, key);
	put_text(json, "null");
}

void json_bool(struct json *json, const char *key, bool value)
{
	begin(json, key);
	put_text(json, value ? "true" : "false");
}

void json_u64(struct json *json, const char *key, uint64_t value)
{
	char text[NUMBER_TEXT];
	begin(json, key);
	put(json, text, number_u64(text, value));
}

void json_i64(struct json *json, const char *key, int64_t value)
{
	char text[NUMBER_TEXT];
	begin(json, key);
	snprintf(text, sizeof text, "%" PRId64, value);
	put_text(json, text);
}

void json_real(struct json *json, const char *key, double value)
{
	if (!isfinite(value)) {
		json_null(json, key);
		return;
	}
	char text[NUMBER_TEXT];
	begin(json, key);
	put(json, text, number_real(text, value));
}

void json_seconds(struct json *json, const char *key, sim_time value)
{
	char text[NUMBER_TEXT];
	SIM_BUG_ON(value == SIM_TIME_MAX);
	begin(json, key);
	put(json, text, number_seconds(text, value));
}

void json_hex64(struct json *json, const char *key, uint64_t value)
{
	char text[NUMBER_TEXT];
	begin(json, key);
	snprintf(text, sizeof text, "\"%016" PRIx64 "\"", value);
	put_text(json, text);
}

void json_string(struct json *json, const char *key, const char *value)
{
	if (value == NULL) {
		json_null(json, key);
		return;
	}
	begin(json, key);
	put_quoted(json, value);
}

void json_raw(struct json *json, const char *key, const char *text)
{
	begin(json, key);
	size_t left = strlen(text);
	while (left > 0 && text[left - 1] == '\n')
		left--;
	SIM_BUG_ON(left == 0);
	while (left > 0) { /* a newline cannot stand inside a JSON string */
		const char *newline = memchr(text, '\n', left);
		size_t length = newline == NULL ? left : (size_t)(newline - text);
		put(json, text, length);
		if (newline == NULL)
			break;
		put_line(json);
		text = newline + 1;
		left -= length + 1;
	}
}
