/* JSON text -> cJSON tree with the place of every key and value; private to conf/.
 *
 * cJSON alone is too kind: it takes trailing text, "01", raw control characters
 * and \u0000, and forgets where things stood. So json_scan.c walks the text
 * first, refuses whatever RFC 8259 does not allow and records a mark per value
 * in pre-order; only then cJSON builds the tree, in the same order. */
#ifndef INASIM_CONF_JSON_TEXT_H
#define INASIM_CONF_JSON_TEXT_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>

#define CONF_NOWHERE   ((size_t)-1)
#define CONF_MAX_DEPTH 64 /* recursion below is bounded by this */

/* One value of the text. */
struct conf_mark {
	const cJSON *item;
	size_t value, key;     /* offsets; key CONF_NOWHERE outside objects */
	size_t parent, index;  /* mark of the container (CONF_NOWHERE: root), index in it */
	size_t override_index; /* 0: stands in the file; n: came with the n-th --set */
	bool comment;          /* in the value of a key that starts with '_' */
	bool bad;              /* was complained about already */
};

struct conf_json {
	const char *text; /* not owned */
	size_t length;
	size_t *lines; /* offsets at which lines start, at least one */
	size_t line_count;
	cJSON *root; /* NULL after a syntax error */
	struct conf_mark *marks;
	size_t mark_count, mark_capacity;
};

struct conf_syntax_error {
	size_t offset;
	char text[200];
};

/* `text` must be followed by a NUL byte at text[length]. False: see *error. */
bool conf_json_parse(struct conf_json *json, const char *text, size_t length,
		     struct conf_syntax_error *error);
void conf_json_release(struct conf_json *json);

/* Fills json->marks; the first half of conf_json_parse(). */
bool conf_json_scan(struct conf_json *json, struct conf_syntax_error *error);
struct conf_mark *conf_json_add_mark(struct conf_json *json);

/* Line and column, both from 1; columns count code points. NULL for the column
 * spares the walk along the line, which may be the whole file. */
void conf_json_position(const struct conf_json *json, size_t offset, size_t *line, size_t *column);

/* Offset of the first byte that is not UTF-8, or CONF_NOWHERE. */
size_t conf_utf8_mistake(const char *text, size_t length);

#endif
