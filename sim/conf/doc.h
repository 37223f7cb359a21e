/* The inside of a document, shared by the files of conf/ only. */
#ifndef INASIM_CONF_DOC_H
#define INASIM_CONF_DOC_H

#include "conf/conf.h"

#include "conf/buf.h"
#include "conf/json_text.h"

/* More messages are counted but not kept: nobody reads them. */
#define CONF_MAX_MESSAGES 100

struct conf_place {
	size_t override_index; /* 0: in the file, at `offset`; n: the n-th --set */
	size_t offset;         /* CONF_NOWHERE: the file as a whole */
};

struct conf_message {
	struct conf_place place;
	size_t order; /* of arrival: sorts messages with the same place */
	enum conf_severity severity;
	char *pointer;
	char *text;
};

/* One line of `explain`. */
struct conf_value {
	char *pointer;
	const cJSON *value;                 /* in the resolved document */
	const struct conf_row *default_row; /* NULL: the user gave the value */
	struct conf_place place;            /* of the value, when the user gave it */
};

struct conf_owned {
	void *item;
	void (*release)(void *item);
};

struct conf_doc {
	char *name;
	char *text;  /* with a NUL after the end */
	cJSON *root; /* NULL after a syntax error, or if the file cannot be read */
	bool io_error;

	struct conf_message *messages;
	size_t message_count, message_capacity;
	size_t dropped;  /* messages beyond CONF_MAX_MESSAGES */
	size_t remarks;  /* number of warnings and notes, including dropped ones */
	size_t warnings; /* number of warnings, including dropped ones */

	char **override_pointers;
	size_t override_count;

	struct conf_owned *owned; /* what the filled structs point to */
	size_t owned_count, owned_capacity;

	cJSON *resolved; /* NULL when nothing could be bound */
	struct conf_value *values;
	size_t value_count, value_capacity;
};

/* doc.c */
bool conf_is_at(const struct conf_value *value, const char *pointer); /* at `pointer` or below */
const char *conf_own_text(struct conf_doc *doc, const char *text);    /* a copy that doc owns */
cJSON *conf_node(cJSON *node); /* ends the program when cJSON is out of memory */

/* place.c */
/* Notes that `item` and all items in it came with the --set of this number, from 1. */
void conf_mark_set(cJSON *item, size_t number);
/* The place of an item's value or, if `key`, of its key. */
struct conf_place conf_place_of(const struct conf_doc *doc, const cJSON *item, bool key);
/* Line and column of an offset, from 1, in code points. Returns where the line begins. */
const char *conf_position(const char *text, size_t offset, size_t *line, size_t *column);
/* Only the line of an offset, from 1. Counts from `spot`, where the last call ended; all zero is
 * the beginning of the text. */
struct conf_spot {
	size_t offset, newlines;
};
size_t conf_line(const char *text, struct conf_spot *spot, size_t offset);
/* The place of the value at `pointer` or, if there is none, of its nearest parent. */
struct conf_place conf_place_of_pointer(const struct conf_doc *doc, const char *pointer);
/* `pointer` begins with '/'. Stores the step after the '/', without escapes, in `step`. Returns the
 * rest of the pointer, or NULL on a bad escape. */
const char *conf_pointer_step(const char *pointer, struct conf_buf *step);
/* Reads an array index. False if it is no number below `count`, or has leading zeros. */
bool conf_array_index(const char *text, size_t count, size_t *index);

/* message.c */
void conf_report(struct conf_doc *doc, struct conf_place place, const char *pointer,
		 const char *fmt, ...) __attribute__((format(printf, 4, 5)));
void conf_reportv(struct conf_doc *doc, struct conf_place place, const char *pointer,
		  const char *fmt, va_list args) __attribute__((format(printf, 4, 0)));

/* check.c: reports duplicate keys and numbers that a double does not hold, which JSON allows.
 * `root` was parsed from `text` and stands at `pointer`. */
void conf_check_json(struct conf_doc *doc, cJSON *root, const char *text, size_t override_index,
		     const char *pointer);

/* override.c: `number` from 1 */
void conf_apply_override(struct conf_doc *doc, size_t number, const struct conf_override *set);

/* bind.c */
void conf_bind(struct conf_doc *doc, const struct conf_table *table, void *out);

#endif
