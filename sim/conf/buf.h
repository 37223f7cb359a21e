/* A growing text: messages, pointers and printed JSON. */
#ifndef INASIM_CONF_BUF_H
#define INASIM_CONF_BUF_H

#include <cjson/cJSON.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* All zero is the empty text. `data` is NUL-terminated once anything was added. */
struct conf_buf {
	char *data;
	size_t length, capacity;
};

void conf_buf_release(struct conf_buf *buf);
void conf_buf_cut(struct conf_buf *buf, size_t length); /* back to a former length */
const char *conf_buf_text(const struct conf_buf *buf);  /* "" when empty */
char *conf_buf_take(struct conf_buf *buf);              /* the caller frees; buf is empty after */

void conf_buf_add(struct conf_buf *buf, const char *text);
void conf_buf_add_bytes(struct conf_buf *buf, const char *text, size_t length);
void conf_buf_addf(struct conf_buf *buf, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void conf_buf_addv(struct conf_buf *buf, const char *fmt, va_list args)
	__attribute__((format(printf, 2, 0)));

/* One step of a JSON pointer (RFC 6901): "/" and the escaped key. */
void conf_buf_add_step(struct conf_buf *buf, const char *key);

/* 2^53 - 1: a double holds all integers up to here, and no larger one rounds to any of them. */
#define CONF_LARGEST_EXACT INT64_C(9007199254740991)

/* Adds JSON as text, indented by tabs if `pretty`. cJSON's own printer loses digits; this one
 * prints all digits of whole numbers up to CONF_LARGEST_EXACT, and of others as few as read back as
 * the same double. */
void conf_buf_add_json(struct conf_buf *buf, const cJSON *item, bool pretty);
void conf_print_json(cJSON *tree, FILE *to); /* pretty; deletes the tree */
void conf_buf_add_json_string(struct conf_buf *buf, const char *text);
void conf_buf_add_json_number(struct conf_buf *buf, double value);

#endif
