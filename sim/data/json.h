/* Writes JSON into memory, value by value (summary.json, manifest.json).
 *
 * Members stand in the order of the calls, indented by two blanks per level. `key` is the name of a
 * member of an object; it is NULL in an array and for the outermost value. A call that does not fit
 * is a bug of the caller and stops the program. Doubles read back as the same double.
 *
 *     struct json j;
 *     json_init(&j);
 *     json_open_object(&j, NULL);
 *     json_u64(&j, "seed", 1);
 *     json_close_object(&j);
 *     char *text = json_finish(&j);   // caller frees
 */
#ifndef INASIM_DATA_JSON_H
#define INASIM_DATA_JSON_H

#include "base/types.h"
#include "conf/buf.h"

#include <stdbool.h>
#include <stdio.h>

#define JSON_DEPTH_MAX 32

struct json {
	struct conf_buf text;
	unsigned depth;
	struct {
		char close; /* '}' or ']' */
		bool used;  /* holds a value already */
	} open[JSON_DEPTH_MAX];
};

void json_init(struct json *json);

/* Returns the text, ended by a newline; the caller frees. All objects and arrays must be closed. */
char *json_finish(struct json *json);

/* Like json_finish(), but writes the text to `to` and frees it. */
void json_print(struct json *json, FILE *to);

void json_open_object(struct json *json, const char *key);
void json_close_object(struct json *json);
void json_open_array(struct json *json, const char *key);
void json_close_array(struct json *json);

void json_null(struct json *json, const char *key);
void json_bool(struct json *json, const char *key, bool value);
void json_u64(struct json *json, const char *key, uint64_t value);
void json_i64(struct json *json, const char *key, int64_t value);

/* NaN and infinite values become null: JSON has no word for them. */
void json_real(struct json *json, const char *key, double value);

/* Writes 16 hexadecimal digits in quotes: many readers keep only 53 bits of a number. */
void json_hex64(struct json *json, const char *key, uint64_t value);

/* NULL becomes null. Bytes that are not UTF-8 (file names) become U+FFFD. */
void json_string(struct json *json, const char *key, const char *value);

/* Writes a value that is JSON text already (the resolved scenario); indents its lines. */
void json_raw(struct json *json, const char *key, const char *text);

#endif
