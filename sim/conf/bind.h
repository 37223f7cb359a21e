/* Stores JSON values in struct fields and words the messages about them. Private to conf/. */
#ifndef INASIM_CONF_BIND_H
#define INASIM_CONF_BIND_H

#include "conf/doc.h"

#include "base/units.h"

struct binding {
	struct conf_doc *doc;
	struct conf_buf pointer; /* of the value being bound */
	/* The row whose default is being bound; NULL while a value of the user is bound. */
	const struct conf_row *default_row;
	unsigned trial;   /* > 0: only tries whether the value fits, and reports nothing */
	unsigned in_list; /* > 0: inside a list or map that makes one line of `explain` */
	size_t failures;
	/* The ONEOF whose only fitting alternative, a scalar, is being bound; NULL if none is.
	 * Messages then say what the whole ONEOF allows. */
	const struct conf_row *whole;
};

/* bind.c: reports "PROBLEM; allowed: WHAT THE ROW SAYS". */
void conf_bind_fail_allowed(struct binding *b, const struct conf_row *row, const cJSON *item,
			    const char *problem);
/* Reports in this form that `item` was found, with a suggestion if there is one. Returns NULL. */
cJSON *conf_bind_refuse(struct binding *b, const struct conf_row *row, const cJSON *item);

/* scalar.c: properties of all rows of a type. */
struct conf_kind {
	size_t size;         /* bytes of the field; 0: the size of the row's table */
	unsigned shapes;     /* cJSON types that a value may have, as bits; 0: by alternative */
	const char *words;   /* describes a value, for messages */
	const char *usual;   /* an example with its unit; NULL: values have no unit */
	enum unit_kind unit; /* if `usual` is not NULL */
};
extern const struct conf_kind conf_kinds[]; /* by enum conf_type */
bool conf_is_scalar(enum conf_type type);
bool conf_has_unit(enum conf_type type); /* values are written with a unit, such as "1us" */
bool conf_in_bounds(const struct conf_row *row, uint64_t value); /* min..max */

/* scalar.c: stores a value of the row's shape at `dest`. Returns its node of the resolved document,
 * or NULL after a failure. */
cJSON *conf_bind_scalar(struct binding *b, const struct conf_row *row, void *dest,
			const cJSON *item);

/* describe.c */
void conf_describe_found(struct conf_buf *buf, const cJSON *item);
void conf_describe_row(struct conf_buf *buf, const struct conf_row *row); /* what is allowed */
void conf_describe_bounds(struct conf_buf *buf, const struct conf_row *row);
/* The usual amount of the row's type or, if that is out of bounds, the bound nearest to it. For a
 * CONF_QUEUE always the usual amount. */
void conf_describe_amount(struct conf_buf *buf, const struct conf_row *row);
/* The names of units that the row takes; nothing if it takes none. */
void conf_describe_units(struct conf_buf *buf, const struct conf_row *row);
bool conf_wants_unit(const struct conf_row *row); /* the row, or an alternative, has a unit */
/* Names of rows, NULL-terminated; the caller frees the array. */
const char **conf_names(const struct conf_row *rows);

/* oneof.c */
unsigned conf_row_shapes(const struct conf_row *row);               /* bits of cJSON's types */
bool conf_has_shape(const struct conf_row *row, const cJSON *item); /* item has such a type */
cJSON *conf_bind_oneof(struct binding *b, const struct conf_row *row, char *base,
		       const cJSON *item);

/* bind.c: stores a value of any type in the row's field. `base` is the struct of the row's table.
 * Returns the value's node of the resolved document, which the caller owns, or NULL if nothing
 * could be bound. `b` counts failures. */
cJSON *conf_bind_value(struct binding *b, const struct conf_row *row, char *base,
		       const cJSON *item);
/* Sets the bool at the row's `present`, if it has one, unless a default is being bound. */
void conf_set_present(const struct binding *b, const struct conf_row *row, char *base);
size_t conf_row_size(const struct conf_row *row); /* bytes of the field; the row is not `apart` */
bool conf_has_default(const struct conf_row *row);
/* The default of a row that has one. Text that is not JSON is a string, as with --set. The caller
 * deletes the result. */
cJSON *conf_default(const struct conf_row *row);

#endif
