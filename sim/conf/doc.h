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

enum conf_severity { CONF_ERROR, CONF_WARNING, CONF_NOTE };

struct conf_message {
	struct conf_place place;
	size_t order; /* of arrival, among messages for one place */
	enum conf_severity severity;
	char *pointer;
	char *text;
};

/* One line of `explain`. */
struct conf_value {
	char *pointer;
	const cJSON *value;                 /* in the resolved document */
	const struct conf_row *default_row; /* NULL: the user gave it */
	struct conf_place place;            /* of the value, when the user gave it */
};

struct conf_doc {
	char *name;
	char *text; /* with a NUL after the end */
	struct conf_json json;
	bool marks_sorted; /* by address of the item, for conf_place_of() */
	bool io_error;

	struct conf_message *messages;
	size_t message_count, message_capacity;
	size_t dropped;  /* messages beyond CONF_MAX_MESSAGES */
	size_t remarks;  /* warnings and notes among the messages: all, or none */
	size_t warnings; /* of these */

	char **override_pointers;
	size_t override_count;

	void **owned; /* what the filled structs point to */
	size_t owned_count, owned_capacity;
	cJSON **replaced; /* by --set; kept so that addresses in the marks stay unique */
	size_t replaced_count, replaced_capacity;

	cJSON *resolved; /* NULL when nothing could be bound */
	struct conf_value *values;
	size_t value_count, value_capacity;
};

/* doc.c */
void conf_keep_replaced(struct conf_doc *doc, cJSON *item);
cJSON *conf_node(cJSON *node); /* ends the program when cJSON is out of memory */

/* place.c */
void conf_sort_marks(struct conf_doc *doc); /* after the last --set */
struct conf_mark *conf_mark_of(const struct conf_doc *doc, const cJSON *item);
struct conf_place conf_place_of(const struct conf_doc *doc, const cJSON *item, bool key);
struct conf_place conf_place_of_pointer(const struct conf_doc *doc, const char *pointer);
/* The next step of a pointer that stands at '/': unescaped into `step`; NULL on bad escapes. */
const char *conf_pointer_step(const char *pointer, struct conf_buf *step);
/* An array index without leading zeros, below `count`. */
bool conf_array_index(const char *text, size_t count, size_t *index);

/* message.c */
void conf_report(struct conf_doc *doc, struct conf_place place, const char *pointer,
		 const char *fmt, ...) __attribute__((format(printf, 4, 5)));
void conf_reportv(struct conf_doc *doc, struct conf_place place, const char *pointer,
		  const char *fmt, va_list args) __attribute__((format(printf, 4, 0)));

/* check.c: what JSON allows and we do not: duplicate keys, numbers that are not
 * read exactly. For marks still in pre-order; `prefix` is the root's pointer. */
void conf_check_json(struct conf_doc *doc, struct conf_json *json, size_t override_index,
		     const char *prefix);

/* override.c */
void conf_apply_override(struct conf_doc *doc, size_t number, const struct conf_override *set);

/* bind.c */
void conf_bind(struct conf_doc *doc, const struct conf_table *table, void *out);

#endif
