/* JSON text -> cJSON tree whose nodes know where they stand.
 *
 * cJSON alone accepts too much: trailing text, "01", raw control characters and \u0000; and it
 * forgets where things stood. So json_scan.c walks the text beside the tree that cJSON has built,
 * refuses whatever RFC 8259 does not allow, and leaves in each node the offset at which it begins.
 * The offset is in `valueint`, which cJSON fills with an integer copy of numbers and which nothing
 * else here reads. */
#ifndef INASIM_CONF_JSON_TEXT_H
#define INASIM_CONF_JSON_TEXT_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define CONF_NOWHERE   ((size_t)-1)
#define CONF_MAX_DEPTH 64 /* levels of nesting; bounds all recursion over a tree */

struct conf_syntax_error {
	size_t offset;
	char text[200];
};

/* The tree, each node with its offset: of the key of a member, else of the value. NULL: see *error.
 * `text` must be followed by a NUL byte at text[length]; the caller deletes the tree. */
cJSON *conf_json_parse(const char *text, size_t length, struct conf_syntax_error *error);

/* Offset of the value of a node that conf_json_parse() made. */
size_t conf_json_value(const char *text, const cJSON *item);

/* The line of an offset, from 1. */
size_t conf_line_of(const char *text, size_t offset);

/* Whether this is a byte of a UTF-8 character behind its first one: 10xxxxxx. */
static inline bool conf_utf8_continues(char byte)
{
	return ((unsigned char)byte & 0xc0) == 0x80;
}

/* Offset of the first byte that is not UTF-8, or CONF_NOWHERE. */
size_t conf_utf8_mistake(const char *text, size_t length);

/* Writes the first character of a text and returns its length in bytes. Control characters, of one
 * byte and of two (U+0080 to U+009F), become blanks; bytes that are no character become a question
 * mark. */
size_t conf_utf8_put(FILE *to, const char *text);

/* Columns that a UTF-8 text takes in a terminal, counting one for each character. */
size_t conf_utf8_columns(const char *text);

#endif
