/* Parses JSON text into a cJSON tree whose nodes know their offsets in the text.
 *
 * cJSON alone accepts too much (trailing text, "01", raw control characters, \u0000) and keeps no
 * offsets. So json_scan.c walks over the text and the tree of cJSON together, refuses text that RFC
 * 8259 does not allow, and stores in each node the offset at which it begins. The offset is in
 * `valueint`, which cJSON fills with an integer copy of numbers and which inasim does not use
 * otherwise. */
#ifndef INASIM_CONF_JSON_TEXT_H
#define INASIM_CONF_JSON_TEXT_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define CONF_NOWHERE   ((size_t)-1)
#define CONF_MAX_DEPTH 64 /* levels of a text, and steps of a pointer; bounds all recursion */

struct conf_syntax_error {
	size_t offset;
	char text[200];
};

/* Returns the tree, which the caller deletes. The offset of a node is that of the key if the node
 * is a member of an object, else that of the value. On failure returns NULL and fills *error.
 * `text` must be followed by a NUL byte at text[length]. */
cJSON *conf_json_parse(const char *text, size_t length, struct conf_syntax_error *error);

/* Offset of the value of a node that conf_json_parse() made. */
size_t conf_json_value(const char *text, const cJSON *item);

/* The line of an offset, from 1. */
size_t conf_line_of(const char *text, size_t offset);

/* Whether a byte of UTF-8 text is not the first byte of its character: 10xxxxxx. */
static inline bool conf_utf8_continues(char byte)
{
	return ((unsigned char)byte & 0xc0) == 0x80;
}

/* Offset of the first byte that is not UTF-8, or CONF_NOWHERE. */
size_t conf_utf8_mistake(const char *text, size_t length);

/* Writes the first character of a text and returns its length in bytes. A control character,
 * including U+0080 to U+009F, becomes a blank; an invalid sequence of bytes becomes a question
 * mark. */
size_t conf_utf8_put(FILE *to, const char *text);

/* The columns that a UTF-8 text takes in a terminal: one for each character. */
size_t conf_utf8_columns(const char *text);

#endif
